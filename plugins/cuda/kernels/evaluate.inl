// SPDX-License-Identifier: Apache-2.0
//
// Every operation for one type, an element at a time: evaluate_<type>(op, a, b, c) and
// evaluate_truth_<type>(op, a, b). Before inclusion: BPC_TYPE, BPC_KIND, and BPC_WANTED(number), which
// operations are wanted.
#include "domains.cuh"

namespace backplane::cuda {

#define BPC_RESULT_Free(number, name, arity)
#define BPC_RESULT_Truth(number, name, arity)
#define BPC_RESULT_Same(number, name, arity)                     \
  case number:                                                   \
    if constexpr (BPC_WANTED(number) && !is_special(number))     \
      result = BPC_FORMULA(name) BPC_ARGUMENTS_##arity(a, b, c); \
    break;
#define BACKPLANE_SCALAR_OP(number, name, arity, domain, result) \
  BPC_DOMAIN_##domain(BPC_RESULT_##result(number, name, arity))

static __device__ BPC_PASTE(type, _, BPC_TYPE)::Value
    BPC_PASTE(evaluate, _, BPC_TYPE)(u32 op, BPC_PASTE(type, _, BPC_TYPE)::Value a,
                                     BPC_PASTE(type, _, BPC_TYPE)::Value b,
                                     BPC_PASTE(type, _, BPC_TYPE)::Value c) {
  BPC_PASTE(type, _, BPC_TYPE)::Value result = a;
  switch (op) {
#include "backplane/plugin/scalar_ops.def"
  }
  return result;
}
#undef BPC_RESULT_Truth
#undef BPC_RESULT_Same

#define BPC_RESULT_Same(number, name, arity)
#define BPC_RESULT_Truth(number, name, arity)                  \
  case number:                                                 \
    result = BPC_FORMULA(name) BPC_ARGUMENTS_##arity(a, b, 0); \
    break;
static __device__ bp_bool BPC_PASTE(evaluate_truth, _, BPC_TYPE)(u32 op,
                                                                 BPC_PASTE(type, _, BPC_TYPE)::Value a,
                                                                 BPC_PASTE(type, _, BPC_TYPE)::Value b) {
  bp_bool result = 0;
  switch (op) {
#include "backplane/plugin/scalar_ops.def"
  }
  return result;
}
#undef BPC_RESULT_Free
#undef BPC_RESULT_Truth
#undef BPC_RESULT_Same
#undef BACKPLANE_SCALAR_OP

}  // namespace backplane::cuda
