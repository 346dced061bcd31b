// SPDX-License-Identifier: Apache-2.0
#include "cpu/families.h"

#include <cstddef>

namespace backplane::cpu {
namespace {

// In the order of plugin::Family.
constexpr FamilyRow kFamilies[] = {
    {supports_elementwise, create_elementwise},
    {supports_reduce, create_reduce},
    {supports_scan, create_scan},
    {supports_matmul, create_matmul},
    {supports_copy, create_copy},
    {supports_index, create_index},
    {supports_sort, create_sort},
    {supports_random, create_random},
    {supports_rowwise, create_rowwise},
    {supports_source, create_source},
};

}  // namespace

const FamilyRow* find_family(plugin::Family family) noexcept {
  const size_t index = static_cast<size_t>(family);
  return index < sizeof kFamilies / sizeof kFamilies[0] ? &kFamilies[index] : nullptr;
}

}  // namespace backplane::cpu
