// SPDX-License-Identifier: Apache-2.0
#include "opencl/space_text.h"

#include <algorithm>
#include <bit>

#include "opencl/device.h"
#include "opencl/generate.h"

namespace backplane::opencl {

OperandText operand_text(plugin::DType type, bool is_output) {
  return {type_row(type).memory, is_output, plugin::size_of(type)};
}

int64_t Space::stride(uint32_t operand, uint32_t dimension) const noexcept {
  if (dimension >= args->rank) return 1;
  // Where there is nothing to step over, any stride will do, and 1 is the one with the fastest code.
  return dimension + 1 == rank && shape[dimension] == 1 ? 1 : args->operand(operand).strides[dimension];
}

int64_t Space::points(uint32_t first, uint32_t last) const noexcept {
  int64_t count = 1;
  for (uint32_t d = first; d < last; ++d) count *= shape[d];
  return count;
}

Space read_space(const plugin::LaunchArgs& args) {
  Space space;
  space.args = &args;
  space.rank = args.rank == 0 ? 1 : args.rank;
  space.operand_count = args.operand_count;
  space.shape[0] = 1;
  for (uint32_t d = 0; d < args.rank; ++d) space.shape[d] = args.shape[d];
  for (uint32_t k = 0; k < args.operand_count; ++k) {
    const int64_t stride = space.stride(k, space.rank - 1);
    space.inner += stride == 0 ? '0' : stride == 1 ? '1' : 's';
  }
  return space;
}

namespace {

constexpr uint32_t kVector = 16;  // longs in the widest vector

// Longs in the vector that holds what is left: 2, 4, 8 or 16.
uint32_t vector_width(uint32_t left) noexcept {
  return left >= kVector ? kVector : std::bit_ceil(std::max(2u, left));
}

}  // namespace

SpaceText::SpaceText(const Facts& facts, std::vector<OperandText> operands, uint32_t rank, std::string inner,
                     uint32_t extras)
    : operands_(std::move(operands)), rank_(rank), inner_(std::move(inner)), extras_(extras) {
  // 200 bytes are left for whatever else the kernel takes.
  const size_t needed = operands_.size() * sizeof(cl_mem) + (count() + kVector - 1) / kVector * 128 + 200;
  in_memory_ = needed > facts.largest_parameters;
}

std::string SpaceText::key() const { return std::to_string(rank_) + inner_; }

uint32_t SpaceText::count() const {
  return static_cast<uint32_t>(operands_.size()) * (rank_ + 1) + rank_ + extras_;
}

std::string SpaceText::parameters() const {
  std::string text;
  for (size_t k = 0; k < operands_.size(); ++k)
    text += std::string(k == 0 ? "" : ", ") + "__global " + (operands_[k].is_output ? "" : "const ") +
            operands_[k].memory_type + "* b" + std::to_string(k);
  if (in_memory_) return text + ", __global const long* geometry";
  for (uint32_t first = 0; first < count(); first += kVector)
    text += ", const long" + std::to_string(vector_width(count() - first)) + " g" +
            std::to_string(first / kVector);
  return text;
}

std::string SpaceText::number(uint32_t index) const {
  constexpr char kHex[] = "0123456789abcdef";
  if (in_memory_) return "geometry[" + std::to_string(index) + "]";
  return "g" + std::to_string(index / kVector) + ".s" + kHex[index % kVector];
}

std::string SpaceText::extent(uint32_t dimension) const {
  return number(static_cast<uint32_t>(operands_.size()) * (rank_ + 1) + dimension);
}
std::string SpaceText::extra(uint32_t index) const { return number(count() - extras_ + index); }
std::string SpaceText::offset(uint32_t operand) const { return number(operand * (rank_ + 1)); }
std::string SpaceText::stride(uint32_t operand, uint32_t dimension) const {
  if (dimension + 1 == rank_ && inner_[operand] != 's') return std::string(1, inner_[operand]);
  return number(operand * (rank_ + 1) + 1 + dimension);
}

std::string SpaceText::take_apart(uint32_t first, uint32_t last, const std::string& index,
                                  const std::string& type) const {
  if (first >= last) return {};
  std::string text;
  const std::string rest = "rest" + std::to_string(first);
  if (last - first > 1) text += "    " + type + " " + rest + " = " + index + ";\n";
  for (uint32_t d = last; d-- > first;) {
    const std::string extent_text = "(" + type + ")" + extent(d);
    const std::string source = last - first > 1 ? rest : index;
    if (d == first) {
      text += joined({"    const ", type, " i", std::to_string(d), " = ", source, ";\n"});
    } else {
      text += joined({"    const ", type, " i", std::to_string(d), " = ", rest, " % ", extent_text, ";\n    ",
                      rest, " /= ", extent_text, ";\n"});
    }
  }
  return text;
}

std::string SpaceText::position(uint32_t operand, uint32_t first, uint32_t last) const {
  std::string text = offset(operand);
  for (uint32_t d = first; d < last; ++d) {
    const std::string step = stride(operand, d);
    if (step != "0") text += " + (long)i" + std::to_string(d) + (step == "1" ? "" : " * " + step);
  }
  return text;
}

std::string SpaceText::pointers(uint32_t first, uint32_t last) const {
  std::string text;
  for (uint32_t k = 0; k < operands_.size(); ++k)
    text += std::string("    __global ") + (operands_[k].is_output ? "" : "const ") +
            operands_[k].memory_type + "* p" + std::to_string(k) + " = b" + std::to_string(k) + " + (" +
            position(k, first, last) + ");\n";
  return text;
}

std::string SpaceText::element(uint32_t operand, const std::string& index) const {
  const std::string step = stride(operand, rank_ - 1);
  const std::string at = step == "0" ? "0" : step == "1" ? index : index + " * " + step;
  return "p" + std::to_string(operand) + "[" + at + "]";
}

Status SpaceText::pass(const ClDevice& device, const Space& space, Invocation* invocation,
                       MemoryHandle* spill, std::initializer_list<int64_t> extras) const {
  constexpr size_t kMost = 32 * (plugin::kMaxRank + 2) + 2 * kVector;
  int64_t numbers[kMost];  // of a launch that is on its way: no allocation
  int64_t* at = numbers;
  for (uint32_t k = 0; k < operands_.size(); ++k) {
    const plugin::Operand& operand = space.args->operand(k);
    *at++ = static_cast<int64_t>(operand.offset / operands_[k].element_size);
    for (uint32_t d = 0; d < rank_; ++d) *at++ = space.stride(k, d);
    invocation->buffer(operand.buffer == nullptr ? nullptr
                                                 : static_cast<ClBuffer*>(operand.buffer)->memory());
  }
  for (uint32_t d = 0; d < rank_; ++d) *at++ = space.shape[d];
  for (const int64_t extra : extras) *at++ = extra;
  if (!in_memory_) {
    std::fill_n(at, kVector, 0);  // the last vector may be wider than what is left
    for (uint32_t first = 0; first < count(); first += kVector)
      invocation->bytes(numbers + first, vector_width(count() - first) * sizeof(int64_t));
    return kOk;
  }
  cl_int code = CL_SUCCESS;
  *spill = MemoryHandle(api().clCreateBuffer(device.context(), CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                                             count() * sizeof(int64_t), numbers, &code));
  invocation->buffer(spill->get());
  return cl_status(code, "clCreateBuffer");
}

}  // namespace backplane::opencl
