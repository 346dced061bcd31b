// SPDX-License-Identifier: Apache-2.0
// Extended-precision arithmetic through the carry flag, of which each lane has one.
#include "ops/decode.h"
#include "ops/lanes.h"

namespace cuda_double {
namespace {

__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

enum Mode : uint8_t { kCarryIn = 1, kCarryOut = 2 };

void put_carry(Warp& warp, int lane, bool carry) {
  warp.carry = (warp.carry & ~(1u << lane)) | static_cast<uint32_t>(carry) << lane;
}

template <class T>
void add(Warp& warp, const Instr& instr) {
  T* dst = warp.at<T>(instr.dst);
  const T *a = warp.at<T>(instr.a), *b = warp.at<T>(instr.b);
  for_lanes(warp.mask, [&](int lane) {
    const T carry = (instr.mode & kCarryIn) != 0 ? warp.carry >> lane & 1 : 0;
    T sum = 0;
    bool out = __builtin_add_overflow(a[lane], b[lane], &sum);
    out |= __builtin_add_overflow(sum, carry, &sum);
    dst[lane] = sum;
    if ((instr.mode & kCarryOut) != 0) put_carry(warp, lane, out);
  });
}

// The flag holds the borrow. PTX leaves open whether a borrow is kept inverted; only subc may read it.
template <class T>
void subtract(Warp& warp, const Instr& instr) {
  T* dst = warp.at<T>(instr.dst);
  const T *a = warp.at<T>(instr.a), *b = warp.at<T>(instr.b);
  for_lanes(warp.mask, [&](int lane) {
    const T borrow = (instr.mode & kCarryIn) != 0 ? warp.carry >> lane & 1 : 0;
    T difference = 0;
    bool out = __builtin_sub_overflow(a[lane], b[lane], &difference);
    out |= __builtin_sub_overflow(difference, borrow, &difference);
    dst[lane] = difference;
    if ((instr.mode & kCarryOut) != 0) put_carry(warp, lane, out);
  });
}

template <class T, class Wide>
void multiply_add(Warp& warp, const Instr& instr) {  // flag: the upper half of the product
  T* dst = warp.at<T>(instr.dst);
  const T *a = warp.at<T>(instr.a), *b = warp.at<T>(instr.b), *c = warp.at<T>(instr.c);
  for_lanes(warp.mask, [&](int lane) {
    const Wide product = static_cast<Wide>(a[lane]) * static_cast<Wide>(b[lane]);
    const T part = static_cast<T>(instr.flag ? product >> (8 * sizeof(T)) : product);
    const T carry = (instr.mode & kCarryIn) != 0 ? warp.carry >> lane & 1 : 0;
    T sum = 0;
    bool out = __builtin_add_overflow(part, c[lane], &sum);
    out |= __builtin_add_overflow(sum, carry, &sum);
    dst[lane] = sum;
    if ((instr.mode & kCarryOut) != 0) put_carry(warp, lane, out);
  });
}

template <class T, class Wide>
void multiply_add_signed_high(Warp& warp, const Instr& instr) {
  using S = std::make_signed_t<T>;
  T* dst = warp.at<T>(instr.dst);
  const T *a = warp.at<T>(instr.a), *b = warp.at<T>(instr.b), *c = warp.at<T>(instr.c);
  for_lanes(warp.mask, [&](int lane) {
    const Wide product =
        static_cast<Wide>(static_cast<S>(a[lane])) * static_cast<Wide>(static_cast<S>(b[lane]));
    const T part = static_cast<T>(product >> (8 * sizeof(T)));
    const T carry = (instr.mode & kCarryIn) != 0 ? warp.carry >> lane & 1 : 0;
    T sum = 0;
    bool out = __builtin_add_overflow(part, c[lane], &sum);
    out |= __builtin_add_overflow(sum, carry, &sum);
    dst[lane] = sum;
    if ((instr.mode & kCarryOut) != 0) put_carry(warp, lane, out);
  });
}

void decode_add(Decoding& decoding) {
  const Type type = decoding.type();
  const bool minus = decoding.statement.parts.front().substr(0, 3) == "sub";
  decoding.expect_operands(3, 3);
  decoding.instr.dst = decoding.destination(0, type);
  decoding.instr.a = decoding.source(1, type);
  decoding.instr.b = decoding.source(2, type);
  const uint8_t size = info(type).size;
  if (size == 4) decoding.instr.run = minus ? subtract<uint32_t> : add<uint32_t>;
  if (size == 8) decoding.instr.run = minus ? subtract<uint64_t> : add<uint64_t>;
}

void decode_mad(Decoding& decoding) {
  const bool high = decoding.choose({"lo", "hi"}) == 1;
  const Type type = decoding.type();
  decoding.expect_operands(4, 4);
  decoding.instr.flag = high;
  decoding.instr.dst = decoding.destination(0, type);
  decoding.instr.a = decoding.source(1, type);
  decoding.instr.b = decoding.source(2, type);
  decoding.instr.c = decoding.source(3, type);
  const uint8_t size = info(type).size;
  const bool is_signed = info(type).kind == TypeKind::kSigned && high;
  if (size == 4)
    decoding.instr.run =
        is_signed ? multiply_add_signed_high<uint32_t, int64_t> : multiply_add<uint32_t, uint64_t>;
  if (size == 8)
    decoding.instr.run =
        is_signed ? multiply_add_signed_high<uint64_t, Int128> : multiply_add<uint64_t, Uint128>;
}

void decode_with_carry_in(Decoding& decoding) {
  decoding.instr.mode = static_cast<uint8_t>(kCarryIn | (decoding.accept("cc") ? kCarryOut : 0));
  if (decoding.statement.parts.front() == "madc") return decode_mad(decoding);
  decode_add(decoding);
}

constexpr OpcodeRow kRows[] = {
    {"addc", decode_with_carry_in},
    {"subc", decode_with_carry_in},
    {"madc", decode_with_carry_in},
};

}  // namespace

void decode_carry_out(Decoding& decoding) {
  decoding.instr.mode = kCarryOut;
  if (decoding.statement.parts.front() == "mad") return decode_mad(decoding);
  decode_add(decoding);
}

std::span<const OpcodeRow> carry_opcodes() { return kRows; }

}  // namespace cuda_double
