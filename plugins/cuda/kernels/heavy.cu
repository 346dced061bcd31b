// SPDX-License-Identifier: Apache-2.0
//
// The operations with long formulas, an element a thread, compiled once a class of types: BPC_TYPE is f32
// (for float16 and bfloat16 too, which are float32's results rounded), f64, i64 or u64 (for every integer:
// the results of narrower ones are theirs, cut).
#include "heavy.cuh"
#include "walk.cuh"

#define BPC_WANTED(number) is_heavy(number)
#include "evaluate.inl"

namespace backplane::cuda {

using Class = BPC_PASTE(type, _, BPC_TYPE);

BPC_DEVICE Class::Value load(const ElementwiseParams& p, const Input& in, i64 point) {
  if (in.mode == kModeStrided)
    return load_as<Class>(in.type, in.view.address, locate(p.space, point, in.view));
  if (in.mode == kModeContiguous) return load_as<Class>(in.type, in.view.address, point);
  if (in.mode == kModeOne) return load_as<Class>(in.type, in.view.address, 0);
  return load_as<Class>(in.type, reinterpret_cast<u64>(&in.bits), 0);
}

}  // namespace backplane::cuda

using namespace backplane::cuda;

extern "C" __global__ void __launch_bounds__(kBlockThreads)
    heavy(const __grid_constant__ ElementwiseParams p) {
  for (i64 point = thread_index(); point < p.space.count; point += thread_count()) {
    const Class::Value a = load(p, p.in[0], point);
    const Class::Value b = p.arity > 1 ? load(p, p.in[1], point) : Class::Value{};
    const Class::Value result = BPC_PASTE(evaluate, _, BPC_TYPE)(p.op, a, b, Class::Value{});
    store_as<Class>(p.out_type, p.out.address, p.out_contiguous ? point : locate(p.space, point, p.out),
                    result);
  }
}
