// SPDX-License-Identifier: Apache-2.0
#include "memory/magazine.h"

#include <memory>
#include <mutex>
#include <new>
#include <vector>

namespace backplane::internal {
namespace {

// The magazine used last, which is nearly always the one that is wanted.
[[gnu::tls_model("initial-exec")]] thread_local constinit Magazine* last_used = nullptr;
[[gnu::tls_model("initial-exec")]] thread_local constinit bool finished = false;

struct Magazines {
  std::vector<std::unique_ptr<Magazine>> all;
  ~Magazines() {
    finished = true;
    last_used = nullptr;
    for (const auto& magazine : all)
      if (magazine->pool != nullptr) magazine->pool->detach(*magazine);
  }
};
thread_local Magazines magazines;

Magazine* find_or_make(Pool& pool) noexcept {
  if (finished) return nullptr;
  for (const auto& magazine : magazines.all)
    if (magazine->pool == &pool) return last_used = magazine.get();
  try {
    auto magazine = std::make_unique<Magazine>();
    magazine->pool = &pool;
    magazines.all.push_back(std::move(magazine));
    pool.attach(*magazines.all.back());
    return last_used = magazines.all.back().get();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace

Magazine* magazine_for(Pool& pool) noexcept {
  if (last_used != nullptr && last_used->pool == &pool) [[likely]]
    return last_used;
  return find_or_make(pool);
}

}  // namespace backplane::internal
