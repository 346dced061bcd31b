// SPDX-License-Identifier: Apache-2.0
//
// Shape: the sizes (or strides) of a tensor's dimensions, stored in place, outermost first.
#ifndef BACKPLANE_SHAPE_H_
#define BACKPLANE_SHAPE_H_

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "backplane/export.h"

namespace backplane::inline v0 {

// A tensor has at most this many dimensions.
inline constexpr int kMaxTensorRank = 16;

class BACKPLANE_API Shape {
 public:
  Shape() noexcept = default;
  // InvalidArgument beyond kMaxTensorRank dimensions. Negative sizes are caught where a tensor is made.
  Shape(std::initializer_list<int64_t> sizes)
      : Shape(std::span<const int64_t>(sizes.begin(), sizes.size())) {}
  explicit Shape(std::span<const int64_t> sizes);
  Shape(const Shape& other) noexcept : rank_(other.rank_) { std::copy_n(other.sizes_, rank_, sizes_); }
  Shape& operator=(const Shape& other) noexcept {
    if (this == &other) return *this;
    rank_ = other.rank_;
    std::copy_n(other.sizes_, rank_, sizes_);
    return *this;
  }

  int rank() const noexcept { return rank_; }
  bool empty() const noexcept { return rank_ == 0; }
  int64_t operator[](int i) const noexcept { return sizes_[i]; }
  int64_t& operator[](int i) noexcept { return sizes_[i]; }
  const int64_t* begin() const noexcept { return sizes_; }
  const int64_t* end() const noexcept { return sizes_ + rank_; }
  int64_t* begin() noexcept { return sizes_; }
  int64_t* end() noexcept { return sizes_ + rank_; }
  const int64_t* data() const noexcept { return sizes_; }
  operator std::span<const int64_t>() const noexcept { return {sizes_, static_cast<size_t>(rank_)}; }

  // InvalidArgument when the shape is full, or for a position outside it.
  void push_back(int64_t size);
  void insert(int position, int64_t size);
  void erase(int position);
  void resize(int rank, int64_t value = 0);

  // Product of all sizes; 1 for no dimensions. Meaningful only for a shape that a tensor has.
  int64_t size() const noexcept {
    int64_t product = 1;
    for (int64_t s : *this) product *= s;
    return product;
  }

  // "(2, 3)", "(3,)", "()".
  std::string str() const;

  friend bool operator==(const Shape& a, const Shape& b) noexcept {
    return a.rank_ == b.rank_ && std::equal(a.begin(), a.end(), b.begin());
  }

 private:
  int rank_ = 0;
  int64_t sizes_[kMaxTensorRank];
};

using Strides = Shape;  // in elements; may be 0 or negative

}  // namespace backplane::inline v0

#endif  // BACKPLANE_SHAPE_H_
