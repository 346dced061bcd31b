// SPDX-License-Identifier: Apache-2.0
#include "backplane/random.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "backplane/ops/elementwise.h"
#include "backplane/ops/sorting.h"
#include "stream/launch.h"
#include "tensor/program.h"
#include "tensor/tensor_impl.h"

namespace backplane::internal {
namespace {

using plugin::RandomOp;

struct Draw {
  const char* label;
  RandomOp op;
  Seed seed;
  plugin::Scalar first{}, second{};
};

plugin::Scalar real(double value) {
  plugin::Scalar raw{};
  raw.f = value;
  return raw;
}

void draw_into(const TensorImpl& result, const Draw& draw) {
  if (result.size == 0) return;
  DeviceState& device = result.device();
  device.ensure_ready();
  plugin::KernelDesc desc{};
  desc.struct_size = sizeof desc;
  desc.family = plugin::Family::Random;
  desc.op = static_cast<uint8_t>(draw.op);
  desc.layout = plugin::Layout::Contiguous;
  desc.types[0] = result.dtype;
  Launch launch(draw.label);
  launch.add_operand(*result.storage, result.byte_offset()).strides[0] = 1;
  launch.add_scalar(draw.first);
  launch.add_scalar(draw.second);
  launch.args.rank = 1;
  launch.args.shape[0] = result.size;
  launch.args.seed = draw.seed.seed;
  launch.args.block_offset = draw.seed.offset;
  launch.run(device, device.kernels->get(desc, draw.label), plugin::Family::Random);
}

void draw_anywhere(const Tensor& result, const Draw& draw) {
  const TensorImpl& r = impl_of(result, draw.label);
  check_writable(r, draw.label);
  if (r.contiguous) return draw_into(r, draw);
  const Tensor packed = make_tensor(r.device(), r.shape, r.dtype, draw.label);
  draw_into(*packed.impl(), draw);
  copy_strided(r, *packed.impl(), draw.label);
}

void require(bool condition, const char* what, const std::string& why) {
  if (!condition) throw Error(ErrorCode::InvalidArgument, fmt::format("{}: {}", what, why));
}

double largest(DType type) {
  if (type == DType::Float16) return 65504;
  if (type == DType::BFloat16) return 0x1.fep127;
  return type == DType::Float32 ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
}

Draw uniform_draw(DType type, Seed seed, double low, double high) {
  require(is_floating(type), "uniform", fmt::format("{} is not a floating type", to_string(type)));
  require(std::isfinite(high - low) && low <= high, "uniform",
          fmt::format("no numbers in [{}, {})", low, high));
  // The width is computed in the type (float32 for narrower ones): an infinite one would give one number
  // only.
  const double most = largest(type), widest = largest(type == DType::Float64 ? type : DType::Float32);
  require(low >= -most && high <= most && high - low <= widest, "uniform",
          fmt::format("[{}, {}) is wider than {}", low, high, to_string(type)));
  return {"uniform", RandomOp::Uniform, seed, real(low), real(high)};
}

Draw normal_draw(DType type, Seed seed, double mean, double deviation) {
  require(is_floating(type), "normal", fmt::format("{} is not a floating type", to_string(type)));
  require(deviation >= 0 && std::isfinite(deviation) && std::isfinite(mean), "normal",
          fmt::format("mean {} and deviation {}", mean, deviation));
  return {"normal", RandomOp::Normal, seed, real(mean), real(deviation)};
}

Draw integer_draw(DType type, Seed seed, int64_t low, int64_t high) {
  require(is_integer(type), "integers", fmt::format("{} is not an integer type", to_string(type)));
  require(low < high, "integers", fmt::format("no numbers in [{}, {})", low, high));
  Draw draw{"integers", RandomOp::Integers, seed};
  draw.first = element_of(low, type, "integers");
  element_of(high - 1, type, "integers");
  draw.second.u = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  return draw;
}

}  // namespace
}  // namespace backplane::internal

namespace backplane::inline v0 {

using internal::draw_anywhere;
using internal::draw_into;
using internal::impl_of;

Tensor uniform(const Shape& shape, Seed seed, double low, double high, DType type, const Device& device) {
  const auto draw = internal::uniform_draw(type, seed, low, high);
  Tensor result = internal::make_tensor(*device.state(), shape, type, "uniform");
  draw_into(*result.impl(), draw);
  return result;
}
const Tensor& uniform_out(const Tensor& result, Seed seed, double low, double high) {
  draw_anywhere(result, internal::uniform_draw(impl_of(result, "uniform").dtype, seed, low, high));
  return result;
}

Tensor normal(const Shape& shape, Seed seed, double mean, double deviation, DType type,
              const Device& device) {
  const auto draw = internal::normal_draw(type, seed, mean, deviation);
  Tensor result = internal::make_tensor(*device.state(), shape, type, "normal");
  draw_into(*result.impl(), draw);
  return result;
}
const Tensor& normal_out(const Tensor& result, Seed seed, double mean, double deviation) {
  draw_anywhere(result, internal::normal_draw(impl_of(result, "normal").dtype, seed, mean, deviation));
  return result;
}

Tensor integers(const Shape& shape, Seed seed, int64_t low, int64_t high, DType type, const Device& device) {
  const auto draw = internal::integer_draw(type, seed, low, high);
  Tensor result = internal::make_tensor(*device.state(), shape, type, "integers");
  draw_into(*result.impl(), draw);
  return result;
}
const Tensor& integers_out(const Tensor& result, Seed seed, int64_t low, int64_t high) {
  draw_anywhere(result, internal::integer_draw(impl_of(result, "integers").dtype, seed, low, high));
  return result;
}

Tensor bernoulli(const Shape& shape, Seed seed, double probability, const Device& device) {
  internal::require(probability >= 0 && probability <= 1, "bernoulli",
                    fmt::format("probability {}", probability));
  return less(uniform(shape, seed, 0, 1, float32, device), probability);
}
const Tensor& bernoulli_out(const Tensor& result, Seed seed, double probability) {
  internal::require(probability >= 0 && probability <= 1, "bernoulli",
                    fmt::format("probability {}", probability));
  const internal::TensorImpl& r = impl_of(result, "bernoulli");
  return less_out(result, uniform(r.shape, seed, 0, 1, float32, result.device()), probability);
}

Tensor permutation(int64_t n, Seed seed, const Device& device) {
  const Tensor words = internal::make_tensor(*device.state(), {n}, DType::UInt64, "permutation");
  draw_into(*words.impl(), {"permutation", plugin::RandomOp::Bits, seed});
  return argsort(words);
}

}  // namespace backplane::inline v0
