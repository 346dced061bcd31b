// SPDX-License-Identifier: Apache-2.0
#include "opencl/accumulate.h"

namespace backplane::opencl {

using plugin::DType;
using plugin::ReduceOp;

namespace {

// $T the value type, $S the suffix of the formulas, $F the formula, $I the identity.
constexpr char kPlain[] = R"(
typedef $T acc_t;
static inline acc_t acc_none(void) { return bp_identity_$I_$S(); }
static inline acc_t acc_add(acc_t a, $T x, long position) { return bp_$F_$S(a, x); }
static inline acc_t acc_merge(acc_t a, acc_t b) { return bp_$F_$S(a, b); }
static inline $T acc_value(acc_t a) { return a; }
)";

// An infinite sum has no error to carry: inf - inf would make it NaN.
constexpr char kCompensated[] = R"(
typedef struct { float high, low; } acc_t;
static inline acc_t acc_none(void) { acc_t a; a.high = 0.0f; a.low = 0.0f; return a; }
static inline acc_t acc_add(acc_t a, float x, long position) {
  const float sum = a.high + x;
  const float part = sum - a.high;
  acc_t r;
  r.low = a.low + ((a.high - (sum - part)) + (x - part));
  r.high = sum;
  return r;
}
static inline acc_t acc_merge(acc_t a, acc_t b) {
  acc_t r = acc_add(a, b.high, 0);
  r.low += b.low;
  return r;
}
static inline float acc_value(acc_t a) { return isfinite(a.high) ? a.high + a.low : a.high; }
)";

constexpr char kPositioned[] = R"(
typedef struct { long at; $T x; } acc_t;
static inline acc_t acc_none(void) { acc_t a; a.at = 0x7fffffffffffffffL; a.x = bp_identity_$I_$S(); return a; }
static inline acc_t acc_add(acc_t a, $T x, long position) {
  const bool takes = bp_arg$I_takes_$S(a.x, a.at, x, position);
  acc_t r;
  r.at = takes ? position : a.at;
  r.x = takes ? x : a.x;
  return r;
}
static inline acc_t acc_merge(acc_t a, acc_t b) { return acc_add(a, b.x, b.at); }
static inline long acc_value(acc_t a) { return a.at; }
)";

struct OpRow {
  const char* formula;
  const char* identity;
  bool has_position;
};
constexpr OpRow kOps[] = {{"add", "sum", false},     {"multiply", "prod", false}, {"maximum", "max", false},
                          {"minimum", "min", false}, {"maximum", "max", true},    {"minimum", "min", true}};

std::string replaced(std::string text, const char* what, const char* by) {
  const std::string name(what);
  for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at))
    text.replace(at, name.size(), by);
  return text;
}

}  // namespace

Accumulator accumulator(ReduceOp op, DType type) {
  const bool is_half = type == DType::Float16 || type == DType::BFloat16;
  if (is_half && op <= ReduceOp::Prod) {
    const Accumulator wide = accumulator(op, DType::Float32);
    return {replaced(wide.text, "acc_value", "acc_wide") +
                "static inline float acc_value(acc_t a) { return " +
                cast_text(DType::Float32, type, "acc_wide(a)") + "; }\n",
            wide.size, type};
  }
  const OpRow& row = kOps[static_cast<size_t>(op)];
  const TypeRow& types = type_row(type);
  if (op == ReduceOp::Sum && type == DType::Float32) return {kCompensated, 8, type};
  std::string text = row.has_position ? kPositioned : kPlain;
  text = replaced(text, "$T", types.value);
  text = replaced(text, "$S", types.suffix);
  text = replaced(text, "$F", row.formula);
  text = replaced(text, "$I", row.identity);
  return {text, row.has_position ? 16 : types.value_size, row.has_position ? DType::Int64 : type};
}

std::string renamed(const Accumulator& accumulator, const char* prefix) {
  return replaced(accumulator.text, "acc_", (std::string(prefix) + "_").c_str());
}

}  // namespace backplane::opencl
