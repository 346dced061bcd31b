// SPDX-License-Identifier: Apache-2.0
//
// One operation on operands of one type, compiled once a type (BPC_TYPE, BPC_KIND). The choice of the
// operation is the same for the whole grid and is made once for as many elements as 16 bytes hold, so that
// one kernel serves every operation at the speed of memory; where an operand is strided, once an element.
// Long formulas are in heavy.cu.
#include "domains.cuh"
#include "heavy.cuh"
#include "walk.cuh"

namespace backplane::cuda {

using Type = BPC_PASTE(type, _, BPC_TYPE);
using Memory = Type::Memory;
using Value = Type::Value;
constexpr int kVector = 16 / sizeof(Memory);

// V elements from `first` on, of which some may lie past the end.
template <int V>
struct Batch {
  i64 first;
  i64 count;
  BPC_METHOD bool whole() const { return first + V <= count; }
  BPC_METHOD bool has(int k) const { return first + k < count; }
};

template <int V>
BPC_DEVICE void load_contiguous(const Memory* memory, bool aligned, const Batch<V>& batch, Value (&out)[V]) {
  if (aligned && batch.whole()) {
    const uint4 words = *reinterpret_cast<const uint4*>(memory + batch.first);
    Memory elements[V];
    memcpy(elements, &words, sizeof words);
#pragma unroll
    for (int k = 0; k < V; ++k) out[k] = Type::load(elements[k]);
  } else {
#pragma unroll
    for (int k = 0; k < V; ++k) out[k] = batch.has(k) ? Type::load(memory[batch.first + k]) : Value{};
  }
}

template <int V>
BPC_DEVICE void load(const ElementwiseParams& p, const Input& in, const Batch<V>& batch, Value (&out)[V]) {
  const Memory* memory = reinterpret_cast<const Memory*>(in.view.address);
  if (V == 1 && in.mode == kModeStrided) {
    out[0] = Type::load(memory[locate(p.space, batch.first, in.view)]);
  } else if (V == 1 && in.mode == kModeContiguous) {
    out[0] = Type::load(memory[batch.first]);
  } else if (in.mode == kModeContiguous) {
    if constexpr (V > 1) load_contiguous<V>(memory, p.vector, batch, out);
  } else {
    Memory element;
    memcpy(&element, &in.bits, sizeof element);
    if (in.mode == kModeOne) element = *memory;
#pragma unroll
    for (int k = 0; k < V; ++k) out[k] = Type::load(element);
  }
}

template <typename Element, int V>
struct alignas(V * sizeof(Element)) Packed {
  Element elements[V];
};

template <typename Element, int V>
BPC_DEVICE void store(const ElementwiseParams& p, const Batch<V>& batch, const Packed<Element, V>& values) {
  Element* memory = reinterpret_cast<Element*>(p.out.address);
  if constexpr (V == 1) {
    memory[p.out_contiguous ? batch.first : locate(p.space, batch.first, p.out)] = values.elements[0];
  } else if (p.vector && batch.whole()) {
    *reinterpret_cast<Packed<Element, V>*>(memory + batch.first) = values;
  } else {
#pragma unroll
    for (int k = 0; k < V; ++k)
      if (batch.has(k)) memory[batch.first + k] = values.elements[k];
  }
}

#define BPC_FOR_EACH(statement) \
  _Pragma("unroll") for (int k = 0; k < V; ++k) { statement; }

template <int V>
BPC_DEVICE void apply(u32 op, const Value (&a)[V], const Value (&b)[V], const Value (&c)[V],
                      Value (&result)[V]) {
#define BPC_RESULT_Free(number, name, arity)
#define BPC_RESULT_Truth(number, name, arity)
#define BPC_RESULT_Same(number, name, arity)                                              \
  case number:                                                                            \
    if constexpr (!is_heavy(number) && !is_special(number))                               \
      BPC_FOR_EACH(result[k] = BPC_FORMULA(name) BPC_ARGUMENTS_##arity(a[k], b[k], c[k])) \
    break;
#define BACKPLANE_SCALAR_OP(number, name, arity, domain, result) \
  BPC_DOMAIN_##domain(BPC_RESULT_##result(number, name, arity))
  switch (op) {
#include "backplane/plugin/scalar_ops.def"
  }
#undef BPC_RESULT_Truth
#undef BPC_RESULT_Same
}

template <int V>
BPC_DEVICE void apply_truth(u32 op, const Value (&a)[V], const Value (&b)[V], bp_bool (&result)[V]) {
#define BPC_RESULT_Same(number, name, arity)
#define BPC_RESULT_Truth(number, name, arity)                                        \
  case number:                                                                       \
    BPC_FOR_EACH(result[k] = BPC_FORMULA(name) BPC_ARGUMENTS_##arity(a[k], b[k], 0)) \
    break;
  switch (op) {
#include "backplane/plugin/scalar_ops.def"
  }
#undef BACKPLANE_SCALAR_OP
#undef BPC_RESULT_Free
#undef BPC_RESULT_Truth
#undef BPC_RESULT_Same
}

template <int V>
BPC_DEVICE void run_same(const ElementwiseParams& p) {
  for (i64 first = thread_index() * V; first < p.space.count; first += thread_count() * V) {
    const Batch<V> batch{first, p.space.count};
    Value a[V] = {}, b[V] = {}, c[V] = {}, result[V] = {};
    load<V>(p, p.in[0], batch, a);
    if (p.arity > 1) load<V>(p, p.in[1], batch, b);
    if (p.arity > 2) load<V>(p, p.in[2], batch, c);
    apply<V>(p.op, a, b, c, result);
    Packed<Memory, V> packed;
    BPC_FOR_EACH(packed.elements[k] = Type::store(result[k]))
    store(p, batch, packed);
  }
}

template <int V>
BPC_DEVICE void run_truth(const ElementwiseParams& p) {
  for (i64 first = thread_index() * V; first < p.space.count; first += thread_count() * V) {
    const Batch<V> batch{first, p.space.count};
    Value a[V] = {}, b[V] = {};
    bp_bool result[V] = {};
    load<V>(p, p.in[0], batch, a);
    if (p.arity > 1) load<V>(p, p.in[1], batch, b);
    apply_truth<V>(p.op, a, b, result);
    Packed<bp_bool, V> packed;
    BPC_FOR_EACH(packed.elements[k] = result[k])
    store(p, batch, packed);
  }
}

}  // namespace backplane::cuda

using namespace backplane::cuda;

#define BPC_KERNEL extern "C" __global__ void __launch_bounds__(kBlockThreads)

BPC_KERNEL same(const __grid_constant__ ElementwiseParams p) { run_same<kVector>(p); }
BPC_KERNEL same_strided(const __grid_constant__ ElementwiseParams p) { run_same<1>(p); }
BPC_KERNEL truth(const __grid_constant__ ElementwiseParams p) { run_truth<kVector>(p); }
BPC_KERNEL truth_strided(const __grid_constant__ ElementwiseParams p) { run_truth<1>(p); }
