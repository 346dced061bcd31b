// SPDX-License-Identifier: Apache-2.0
// Handlers that apply a function of one to four values to every lane.
#pragma once

#include <cstdint>
#include <type_traits>

#include "exec/warp.h"

namespace cuda_double {

// Op::apply is a static function of the operands' values. Sources a, b, c, d, in this order.
template <class Op, class D, class A>
void map1(Warp& warp, const Instr& instr) {
  D* dst = warp.at<D>(instr.dst);
  const A* a = warp.at<A>(instr.a);
  for_lanes(warp.mask, [=](int lane) { dst[lane] = static_cast<D>(Op::apply(a[lane])); });
}

template <class Op, class D, class A, class B>
void map2(Warp& warp, const Instr& instr) {
  D* dst = warp.at<D>(instr.dst);
  const A* a = warp.at<A>(instr.a);
  const B* b = warp.at<B>(instr.b);
  for_lanes(warp.mask, [=](int lane) { dst[lane] = static_cast<D>(Op::apply(a[lane], b[lane])); });
}

template <class Op, class D, class A, class B, class C>
void map3(Warp& warp, const Instr& instr) {
  D* dst = warp.at<D>(instr.dst);
  const A* a = warp.at<A>(instr.a);
  const B* b = warp.at<B>(instr.b);
  const C* c = warp.at<C>(instr.c);
  for_lanes(warp.mask, [=](int lane) { dst[lane] = static_cast<D>(Op::apply(a[lane], b[lane], c[lane])); });
}

template <class Op, class T>
void same1(Warp& warp, const Instr& instr) {
  map1<Op, T, T>(warp, instr);
}
template <class Op, class T>
void same2(Warp& warp, const Instr& instr) {
  map2<Op, T, T, T>(warp, instr);
}
template <class Op, class T>
void same3(Warp& warp, const Instr& instr) {
  map3<Op, T, T, T, T>(warp, instr);
}

template <class Op>
Handler integer1(Type type) {
  switch (type) {
    case Type::kU16:
      return same1<Op, uint16_t>;
    case Type::kS16:
      return same1<Op, int16_t>;
    case Type::kU32:
      return same1<Op, uint32_t>;
    case Type::kS32:
      return same1<Op, int32_t>;
    case Type::kU64:
      return same1<Op, uint64_t>;
    case Type::kS64:
      return same1<Op, int64_t>;
    default:
      return nullptr;
  }
}

template <class Op>
Handler integer2(Type type) {
  switch (type) {
    case Type::kU16:
      return same2<Op, uint16_t>;
    case Type::kS16:
      return same2<Op, int16_t>;
    case Type::kU32:
      return same2<Op, uint32_t>;
    case Type::kS32:
      return same2<Op, int32_t>;
    case Type::kU64:
      return same2<Op, uint64_t>;
    case Type::kS64:
      return same2<Op, int64_t>;
    default:
      return nullptr;
  }
}

template <class Op>
Handler integer3(Type type) {
  switch (type) {
    case Type::kU16:
      return same3<Op, uint16_t>;
    case Type::kS16:
      return same3<Op, int16_t>;
    case Type::kU32:
      return same3<Op, uint32_t>;
    case Type::kS32:
      return same3<Op, int32_t>;
    case Type::kU64:
      return same3<Op, uint64_t>;
    case Type::kS64:
      return same3<Op, int64_t>;
    default:
      return nullptr;
  }
}

template <class Op>
Handler bits1(Type type) {
  switch (type) {
    case Type::kB16:
      return same1<Op, uint16_t>;
    case Type::kB32:
      return same1<Op, uint32_t>;
    case Type::kB64:
      return same1<Op, uint64_t>;
    default:
      return nullptr;
  }
}

template <class Op>
Handler bits2(Type type) {
  switch (type) {
    case Type::kB16:
      return same2<Op, uint16_t>;
    case Type::kB32:
      return same2<Op, uint32_t>;
    case Type::kB64:
      return same2<Op, uint64_t>;
    default:
      return nullptr;
  }
}

}  // namespace cuda_double
