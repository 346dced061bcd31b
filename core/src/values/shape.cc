// SPDX-License-Identifier: Apache-2.0
#include "backplane/shape.h"

#include <fmt/format.h>

#include "backplane/error.h"

namespace backplane::inline v0 {
namespace {

void check_rank(size_t rank) {
  if (rank > static_cast<size_t>(kMaxTensorRank))
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("{} dimensions: a tensor has at most {}", rank, kMaxTensorRank));
}

void check_position(int position, int end) {
  if (position < 0 || position >= end)
    throw Error(ErrorCode::InvalidArgument,
                fmt::format("position {} in a shape: it must be in [0, {})", position, end));
}

}  // namespace

Shape::Shape(std::span<const int64_t> sizes) {
  check_rank(sizes.size());
  std::copy(sizes.begin(), sizes.end(), sizes_);
  rank_ = static_cast<int>(sizes.size());
}

void Shape::push_back(int64_t size) { insert(rank_, size); }

void Shape::insert(int position, int64_t size) {
  check_position(position, rank_ + 1);
  check_rank(static_cast<size_t>(rank_) + 1);
  std::copy_backward(sizes_ + position, sizes_ + rank_, sizes_ + rank_ + 1);
  sizes_[position] = size;
  ++rank_;
}

void Shape::erase(int position) {
  check_position(position, rank_);
  std::copy(sizes_ + position + 1, sizes_ + rank_, sizes_ + position);
  --rank_;
}

void Shape::resize(int rank, int64_t value) {
  check_rank(static_cast<size_t>(rank));
  for (int i = rank_; i < rank; ++i) sizes_[i] = value;
  rank_ = rank;
}

std::string Shape::str() const {
  if (rank_ == 1) return fmt::format("({},)", sizes_[0]);
  return fmt::format("({})", fmt::join(begin(), end(), ", "));
}

}  // namespace backplane::inline v0
