// SPDX-License-Identifier: Apache-2.0
#include "stream/kernel_cache.h"

#include "backplane/error.h"
#include "trace/trace.h"

namespace backplane::internal {
namespace {

constexpr size_t kOperations = 128;  // numbers in scalar_ops.def are below this

std::string key_of(const plugin::KernelDesc& desc) {
  std::string key(reinterpret_cast<const char*>(&desc), offsetof(plugin::KernelDesc, source));
  if (desc.source == nullptr) return key;
  const plugin::SourceDesc& source = *desc.source;
  for (const char* text : {source.text, source.entry, source.options})
    key.append(text == nullptr ? "" : text).push_back('\0');
  key.append(reinterpret_cast<const char*>(&source.native), sizeof source.native);
  key.append(reinterpret_cast<const char*>(source.scalar_types), sizeof source.scalar_types);
  key.push_back(static_cast<char>(source.language));
  return key;
}

}  // namespace

KernelCache::KernelCache(DeviceState& device)
    : device_(device),
      table_(new std::atomic<plugin::Kernel*>[kOperations * plugin::kDTypeCount * 2 * kForms]()) {}

KernelCache::~KernelCache() {
  for (auto& [key, entry] : entries_)
    if (entry->kernel != nullptr) entry->kernel->destroy();
}

plugin::Kernel* KernelCache::get(const plugin::KernelDesc& desc, const char* what) {
  const std::string key = key_of(desc);
  Entry* entry = nullptr;
  {
    const std::shared_lock lock(mutex_);
    const auto found = entries_.find(key);
    if (found != entries_.end()) entry = found->second.get();
  }
  if (entry == nullptr) {
    const std::unique_lock lock(mutex_);
    auto& place = entries_[key];
    if (place == nullptr) place = std::make_unique<Entry>();
    entry = place.get();
  }
  const std::lock_guard lock(entry->mutex);
  if (entry->kernel == nullptr) {
    const TracedCall call(device_.trace_process, "build", what);
    device_.check(device_.device->create_kernel(&desc, &entry->kernel), what);
  }
  return entry->kernel;
}

}  // namespace backplane::internal
