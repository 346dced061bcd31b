// SPDX-License-Identifier: Apache-2.0
#include "memory/magazine.h"

#include <memory>
#include <mutex>
#include <new>
#include <vector>

namespace backplane::internal {
namespace {

[[gnu::tls_model("initial-exec")]] thread_local constinit bool finished = false;

struct Magazines {
  std::vector<std::unique_ptr<Magazine>> all;
  ~Magazines() {
    finished = true;
    last_magazine = nullptr;
    for (const auto& magazine : all)
      if (magazine->pool != nullptr) magazine->pool->detach(*magazine);
  }
};
thread_local Magazines magazines;

}  // namespace

constinit thread_local Magazine* last_magazine = nullptr;

Magazine* find_or_make_magazine(Pool& pool) noexcept {
  if (finished) return nullptr;
  for (const auto& magazine : magazines.all)
    if (magazine->pool == &pool) return last_magazine = magazine.get();
  try {
    auto magazine = std::make_unique<Magazine>();
    magazine->pool = &pool;
    magazines.all.push_back(std::move(magazine));
    pool.attach(*magazines.all.back());
    return last_magazine = magazines.all.back().get();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

}  // namespace backplane::internal
