// SPDX-License-Identifier: Apache-2.0
// Every vector loop of every instruction set of this processor against the shared formulas, one value at a
// time.
#include <gtest/gtest.h>

#include "cpu/vector_loops.h"
#include "scalar_rows.h"
#include "test_values.h"

namespace backplane::cpu_vector_test {
namespace {

using plugin::ScalarOp;

const cpu::Loop* find_loop(ScalarOp op, DType type) {
  for (const cpu::LoopTable* table : {&cpu::active_float32_loops(), &cpu::active_float64_loops(),
                                      &cpu::active_integer_loops(), &cpu::active_truth_loops()}) {
    for (int i = 0; i < table->count; ++i) {
      if (table->rows[i].op == op && table->rows[i].type == type) return &table->rows[i];
    }
  }
  return nullptr;
}

// Functions that may differ in the last place; theirs are special values alone.
bool is_approximate(const ScalarRow& row) {
  const bool activation =
      row.op == ScalarOp::relu || row.op == ScalarOp::leaky_relu || row.op == ScalarOp::clip;
  return is_float(row.type) && !activation &&
         (row.op >= ScalarOp::exp || row.op == ScalarOp::pow || row.op == ScalarOp::atan2 ||
          row.op == ScalarOp::hypot || row.op == ScalarOp::logaddexp);
}

template <typename T>
bool same_kind(const void* a, const void* b) {
  T x, y;
  std::memcpy(&x, a, sizeof x);
  std::memcpy(&y, b, sizeof y);
  if (x != x || y != y) return x != x && y != y;
  if (std::isinf(x) || std::isinf(y)) return x == y;
  if (x == 0 || y == 0)
    return std::abs(x - y) <= 4 * std::numeric_limits<T>::denorm_min() && std::signbit(x) == std::signbit(y);
  return std::abs(x - y) <=
         256 * std::numeric_limits<T>::epsilon() * std::abs(x) + 4 * std::numeric_limits<T>::denorm_min();
}

bool agree(const ScalarRow& row, DType result, const void* got, const void* want) {
  if (!is_approximate(row)) return same_register(result, got, want);
  return row.type == DType::Float64 ? same_kind<double>(got, want) : same_kind<float>(got, want);
}

class EveryIsa : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { ASSERT_TRUE(cpu::select_isa(GetParam().c_str())); }
};
INSTANTIATE_TEST_SUITE_P(Loops, EveryIsa, testing::ValuesIn(isa_names()),
                         [](const auto& info) { return info.param; });

std::vector<char> arguments(const ScalarRow& row, int k, int64_t n) {
  const DType type = row.op == ScalarOp::where && k == 0 ? DType::Bool : row.type;
  if (!is_approximate(row)) return random_values(type, n, static_cast<uint64_t>(k) + 1);
  std::vector<char> values(static_cast<size_t>(n) * 8 + 64);
  for (int64_t i = 0; i < n; ++i) {
    // Every pair of special values.
    const uint64_t value = special_value(type, static_cast<size_t>(k == 0 ? i % 29 : i / 29 % 29));
    std::memcpy(values.data() + static_cast<size_t>(i) * register_size(type), &value, register_size(type));
  }
  return values;
}

void compare(const ScalarRow& row, int64_t n) {
  const cpu::Loop* loop = find_loop(row.op, row.type);
  ASSERT_NE(loop, nullptr) << row.name << " has no loop for type " << static_cast<int>(row.type);
  std::vector<std::vector<char>> in;
  const void* arrays[3] = {};
  for (int k = 0; k < row.arity; ++k) in.push_back(arguments(row, k, n));
  for (int k = 0; k < row.arity; ++k) arrays[k] = in[static_cast<size_t>(k)].data();
  const DType result = row.truth ? DType::Bool : row.type;
  const size_t size = register_size(result);
  std::vector<char> out(static_cast<size_t>(n + 1) * size, 0x55);
  constexpr int64_t kSteps[3] = {1, 1, 1};
  loop->run(out.data(), arrays, kSteps, n);
  for (int64_t i = 0; i < n; ++i) {
    const void* at[3] = {};
    for (int k = 0; k < row.arity; ++k) {
      const DType type = row.op == ScalarOp::where && k == 0 ? DType::Bool : row.type;
      at[k] = in[static_cast<size_t>(k)].data() + static_cast<size_t>(i) * register_size(type);
    }
    char want[8] = {};
    row.apply(want, at);
    const void* got = out.data() + static_cast<size_t>(i) * size;
    if (agree(row, result, got, want)) continue;
    ADD_FAILURE() << row.name << " of type " << static_cast<int>(row.type) << " at " << i << " of " << n
                  << ": "
                  << (at[0] != nullptr ? show(row.op == ScalarOp::where ? DType::Bool : row.type, at[0]) : "")
                  << ", " << (at[1] != nullptr ? show(row.type, at[1]) : "") << " gave " << show(result, got)
                  << ", not " << show(result, want);
    return;
  }
  for (size_t i = 0; i < size; ++i)
    EXPECT_EQ(out[static_cast<size_t>(n) * size + i], 0x55) << row.name << " wrote past n";
}

TEST_P(EveryIsa, EveryLoopAgreesWithItsFormula) {
  for (const ScalarRow& row : scalar_rows()) {
    compare(row, is_approximate(row) ? 29 * 29 : 5000);
    for (int64_t n = 0; n < 67; n += n < 18 ? 1 : 7) compare(row, n);
  }
}

// Past the caches go the same bits.
TEST_P(EveryIsa, LoopsThatStreamStoreWhatTheOthersDo) {
  constexpr int64_t kMost = 203;
  constexpr int64_t kSteps[3] = {1, 1, 1};
  int streaming = 0;
  for (const ScalarRow& row : scalar_rows()) {
    const cpu::Loop* loop = find_loop(row.op, row.type);
    ASSERT_NE(loop, nullptr);
    if (loop->stream == nullptr) continue;
    ++streaming;
    for (const int64_t n : {int64_t{1}, int64_t{16}, kMost}) {
      std::vector<std::vector<char>> in;
      const void* arrays[3] = {};
      for (int k = 0; k < row.arity; ++k) in.push_back(arguments(row, k, n));
      for (int k = 0; k < row.arity; ++k) arrays[k] = in[static_cast<size_t>(k)].data();
      alignas(64) char want[8 * (kMost + 1)], got[8 * (kMost + 1)];
      std::memset(want, 0x55, sizeof want);
      std::memset(got, 0x55, sizeof got);
      loop->run(want, arrays, kSteps, n);
      loop->stream(got, arrays, kSteps, n);
      cpu::active_stride_loops().fence();
      EXPECT_EQ(std::memcmp(want, got, sizeof want), 0) << row.name << " of " << n;
    }
  }
  EXPECT_GT(streaming, 0);
}

TEST_P(EveryIsa, LoopsWorkInPlace) {
  constexpr int64_t n = 203;
  for (const ScalarRow& row : scalar_rows()) {
    if (row.truth && register_size(row.type) != 1) continue;
    const cpu::Loop* loop = find_loop(row.op, row.type);
    ASSERT_NE(loop, nullptr);
    std::vector<std::vector<char>> in;
    const void* arrays[3] = {};
    for (int k = 0; k < row.arity; ++k) in.push_back(arguments(row, k, n));
    for (int k = 0; k < row.arity; ++k) arrays[k] = in[static_cast<size_t>(k)].data();
    std::vector<char> apart(static_cast<size_t>(n) * 8);
    constexpr int64_t kSteps[3] = {1, 1, 1};
    loop->run(apart.data(), arrays, kSteps, n);
    std::vector<char>& last = in.back();
    loop->run(last.data(), arrays, kSteps, n);
    const DType result = row.truth ? DType::Bool : row.type;
    EXPECT_EQ(std::memcmp(last.data(), apart.data(), static_cast<size_t>(n) * register_size(result)), 0)
        << row.name;
  }
}

TEST_P(EveryIsa, SplatsGiveWhatArraysOfOneValueGive) {
  constexpr int64_t n = 131;
  for (const ScalarRow& row : scalar_rows()) {
    const cpu::Loop* loop = find_loop(row.op, row.type);
    ASSERT_NE(loop, nullptr);
    if ((loop->flags & cpu::kLoopTakesSplat) == 0 || row.arity < 2) continue;
    const std::vector<char> array = random_values(row.type, n, 5);
    const uint64_t value = special_value(row.type, 6);
    std::vector<char> full(static_cast<size_t>(n) * 8), splat(64), one(static_cast<size_t>(n) * 8), two(one);
    const int log2 = cpu::register_log2(row.type);
    cpu::active_stride_loops().fill[log2](full.data(), &value, n);
    cpu::active_stride_loops().fill[log2](splat.data(), &value, 64 >> log2);
    const void* arrays[3] = {array.data(), full.data(), full.data()};
    const void* splats[3] = {array.data(), splat.data(), splat.data()};
    constexpr int64_t kArrays[3] = {1, 1, 1}, kSplats[3] = {1, 0, 0};
    loop->run(one.data(), arrays, kArrays, n);
    loop->run(two.data(), splats, kSplats, n);
    EXPECT_EQ(std::memcmp(one.data(), two.data(), static_cast<size_t>(n) << log2), 0) << row.name;
  }
}

// A result must depend neither on the values beside it nor on where the array was cut.
TEST_P(EveryIsa, ResultsDependOnTheirOwnArgumentsAlone) {
  constexpr int64_t n = 4096;
  for (const ScalarRow& row : scalar_rows()) {
    if (!is_approximate(row)) continue;
    const cpu::Loop* loop = find_loop(row.op, row.type);
    ASSERT_NE(loop, nullptr);
    std::vector<char> a = random_values(row.type, n, 7), b = random_values(row.type, n, 8);
    const size_t size = register_size(row.type);
    std::vector<char> together(static_cast<size_t>(n) * size), alone(64);
    constexpr int64_t kSteps[3] = {1, 1, 1};
    const void* arrays[3] = {a.data(), b.data(), nullptr};
    loop->run(together.data(), arrays, kSteps, n);
    for (size_t i = 0; i < n; ++i) {
      const void* at[3] = {a.data() + i * size, b.data() + i * size, nullptr};
      loop->run(alone.data(), at, kSteps, 1);
      ASSERT_TRUE(same_register(row.type, alone.data(), together.data() + i * size))
          << row.name << " of " << show(row.type, at[0]) << ", " << show(row.type, at[1]);
    }
  }
}

TEST_P(EveryIsa, EveryCastAgreesWithItsFormula) {
  constexpr int64_t n = 20011;
  for (uint32_t f = 0; f < plugin::kDTypeCount; ++f) {
    for (uint32_t t = 0; t < plugin::kDTypeCount; ++t) {
      const DType from = static_cast<DType>(f), to = static_cast<DType>(t);
      const std::vector<char> in = random_values(from, n, 9);
      std::vector<char> out(static_cast<size_t>(n) * 8);
      cpu::active_convert_loops().cast[f][t](out.data(), in.data(), n);
      for (size_t i = 0; i < n; ++i) {
        char want[8] = {};
        scalar_cast(from, to)(want, in.data() + i * register_size(from));
        ASSERT_TRUE(same_register(to, out.data() + i * register_size(to), want))
            << f << " to " << t << ": " << show(from, in.data() + i * register_size(from));
      }
    }
  }
}

TEST_P(EveryIsa, HalvesLoadStoreAndRoundAsTheFormulasDo) {
  const cpu::ConvertTable& convert = cpu::active_convert_loops();
  std::vector<uint16_t> halves(65536), back(65536);
  std::vector<float> wide(65536);
  for (size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<uint16_t>(i);
  for (const DType type : {DType::Float16, DType::BFloat16}) {
    const int t = static_cast<int>(type);
    convert.load[t](wide.data(), halves.data(), 65536);
    convert.store[t](back.data(), wide.data(), 65536);
    const bool half = type == DType::Float16;
    for (size_t i = 0; i < halves.size(); ++i) {
      const bool nan = (i & 0x7fff) > (half ? 0x7c00 : 0x7f80);
      EXPECT_EQ(back[i], nan ? i | (half ? 0x200 : 0x40) : i);
    }
    // All float32 whose lower bits are near a tie, in steps.
    for (uint32_t upper = 0; upper < 65536; ++upper) {
      for (const uint32_t lower :
           {0x0000u, 0x0001u, 0x0fffu, 0x1000u, 0x1001u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
        const float value = std::bit_cast<float>(upper << 16 | lower);
        char want[8] = {};
        scalar_cast(DType::Float32, type)(want, &value);
        float rounded = value;
        convert.round[t](&rounded, &rounded, 1);
        ASSERT_TRUE(same_float<float>(&rounded, want)) << std::hex << (upper << 16 | lower);
      }
    }
    std::vector<float> many(1u << 16), rounded(1u << 16);
    for (size_t i = 0; i < many.size(); ++i)
      many[i] = std::bit_cast<float>(static_cast<uint32_t>(i << 16 | (i * 40503u & 0xffff)));
    convert.round[t](rounded.data(), many.data(), 65536);
    for (size_t i = 0; i < many.size(); ++i) {
      char want[8] = {};
      scalar_cast(DType::Float32, type)(want, &many[i]);
      ASSERT_TRUE(same_float<float>(&rounded[i], want)) << many[i];
    }
  }
}

}  // namespace
}  // namespace backplane::cpu_vector_test
