// SPDX-License-Identifier: Apache-2.0
//
// What the programs that fused.cc writes for NVRTC stand on. They define
//
//   struct Element { type_f32::Value in0, ...; type_f32::Value out0, ...; };
//   compute(p, point, element)             fills the outputs of one element
//   for_inputs(body), for_outputs(body)    call body(number, type_f32{}, &Element::in0) for each
#ifndef BACKPLANE_PLUGINS_CUDA_KERNELS_FUSED_CUH_
#define BACKPLANE_PLUGINS_CUDA_KERNELS_FUSED_CUH_

#include "heavy.cuh"
#include "walk.cuh"

namespace backplane::cuda {

template <typename Element, int N>
struct alignas(N * sizeof(Element) < 16 ? N * sizeof(Element) : 16) Packed {
  Element elements[N];
};

// N elements from `first` on of a contiguous operand, or the one element of one with stride 0.
template <typename Type, int N, typename Element>
BPC_DEVICE void load_packed(const View& view, i64 first, Element (&batch)[N],
                            typename Type::Value Element::*member) {
  using Memory = typename Type::Memory;
  const Memory* memory = reinterpret_cast<const Memory*>(view.address);
  if (view.strides[0] == 0) {
    const typename Type::Value value = Type::load(*memory);
#pragma unroll
    for (int k = 0; k < N; ++k) batch[k].*member = value;
  } else {
    const Packed<Memory, N> packed = *reinterpret_cast<const Packed<Memory, N>*>(memory + first);
#pragma unroll
    for (int k = 0; k < N; ++k) batch[k].*member = Type::load(packed.elements[k]);
  }
}

template <typename Type, int N, typename Element>
BPC_DEVICE void store_packed(const View& view, i64 first, const Element (&batch)[N],
                             typename Type::Value Element::*member) {
  using Memory = typename Type::Memory;
  Packed<Memory, N> packed;
#pragma unroll
  for (int k = 0; k < N; ++k) packed.elements[k] = Type::store(batch[k].*member);
  *reinterpret_cast<Packed<Memory, N>*>(reinterpret_cast<Memory*>(view.address) + first) = packed;
}

// A scalar from its slot bits: see program.cu.
template <typename Type>
BPC_DEVICE typename Type::Value scalar(u64 bits) {
  if constexpr (Type::kId == type_f64::kId) {
    return bp_from_bits_f64(static_cast<bp_i64>(bits));
  } else if constexpr (Type::kId >= type_f16::kId) {
    return bp_from_bits_f32(static_cast<bp_i32>(bits));
  } else {
    return static_cast<typename Type::Value>(bits);
  }
}

}  // namespace backplane::cuda

#endif  // BACKPLANE_PLUGINS_CUDA_KERNELS_FUSED_CUH_
