// SPDX-License-Identifier: Apache-2.0
//
// Conversions from one type (BPC_TYPE) to every other: as elementwise.cu, with the target type in the place
// of the operation.
#include "domains.cuh"
#include "heavy.cuh"
#include "walk.cuh"

namespace backplane::cuda {

using Source = BPC_PASTE(type, _, BPC_TYPE);
using Memory = Source::Memory;
constexpr int kVector = sizeof(Memory) == 1 ? 8 : 16 / sizeof(Memory);

template <typename Element>
struct alignas(kVector * sizeof(Element) < 16 ? kVector * sizeof(Element) : 16) Packed {
  Element elements[kVector];
};

template <typename Target>
BPC_DEVICE void convert_batch(const ElementwiseParams& p, Target target, i64 first) {
  const Packed<Memory> in =
      *reinterpret_cast<const Packed<Memory>*>(p.in[0].view.address + first * sizeof(Memory));
  Packed<typename Target::Memory> out;
#pragma unroll
  for (int k = 0; k < kVector; ++k)
    out.elements[k] = Target::store(cast(Source{}, target, Source::load(in.elements[k])));
  *reinterpret_cast<Packed<typename Target::Memory>*>(p.out.address +
                                                      first * sizeof(typename Target::Memory)) = out;
}

BPC_DEVICE void convert_one(const ElementwiseParams& p, i64 point) {
  const Input& in = p.in[0];
  Source::Value value;
  if (in.mode == kModeScalar) {
    value = load_at<Source>(reinterpret_cast<u64>(&in.bits), 0);
  } else {
    const i64 index = in.mode == kModeStrided ? locate(p.space, point, in.view)
                      : in.mode == kModeOne   ? 0
                                              : point;
    value = load_at<Source>(in.view.address, index);
  }
  store_as<Source>(p.out_type, p.out.address, p.out_contiguous ? point : locate(p.space, point, p.out),
                   value);
}

}  // namespace backplane::cuda

using namespace backplane::cuda;

// Contiguous and aligned.
extern "C" __global__ void __launch_bounds__(kBlockThreads)
    convert(const __grid_constant__ ElementwiseParams p) {
  for (i64 first = thread_index() * kVector; first < p.space.count; first += thread_count() * kVector) {
    if (first + kVector <= p.space.count) {
      with_type(p.out_type, [&](auto target) { convert_batch(p, target, first); });
    } else {
      for (i64 point = first; point < p.space.count; ++point) convert_one(p, point);
    }
  }
}

extern "C" __global__ void __launch_bounds__(kBlockThreads)
    convert_strided(const __grid_constant__ ElementwiseParams p) {
  for (i64 point = thread_index(); point < p.space.count; point += thread_count()) convert_one(p, point);
}
