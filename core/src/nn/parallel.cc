// SPDX-License-Identifier: Apache-2.0
#include "backplane/nn/parallel.h"

#include <fmt/format.h>

#include <exception>
#include <thread>

#include "backplane/ops.h"
#include "backplane/stream.h"

namespace backplane::inline v0::nn::parallel {

Replicas::Replicas(const Module& network, const std::vector<Device>& devices) : devices_(devices) {
  if (devices.empty()) throw Error(ErrorCode::InvalidArgument, "replicate: no devices");
  for (const Device& device : devices) {
    replicas_.push_back(network.clone());
    replicas_.back()->visit("", [&](const std::string&, Tensor& t) { t = t.copy_to(device); });
  }
}

// A thread a device: some devices compute in the thread that calls them.
Tensor Replicas::operator()(const Tensor& batch) const {
  if (batch.rank() == 0)
    throw Error(ErrorCode::InvalidArgument, "Replicas: a 0-dimensional batch cannot be split");
  const auto count = static_cast<int64_t>(replicas_.size());
  const int64_t rows = batch.size(0);
  std::vector<Tensor> outputs(replicas_.size());
  std::vector<std::exception_ptr> failures(replicas_.size());
  std::vector<std::thread> threads;
  for (int64_t i = 0; i < count; ++i) {
    const Slice part{rows * i / count, rows * (i + 1) / count};
    if (*part.start == *part.stop && i > 0) continue;
    threads.emplace_back([this, &batch, &outputs, &failures, i, part] {
      const auto at = static_cast<size_t>(i);
      try {
        outputs[at] = (*replicas_[at])(batch.slice(0, part).to(devices_[at]));
        // Not the device: its failures of other work are none of this call's.
        outputs[at].ready().wait();
      } catch (...) {
        failures[at] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& failure : failures)
    if (failure != nullptr) std::rethrow_exception(failure);
  std::vector<Tensor> gathered;
  for (const Tensor& output : outputs)
    if (output.defined()) gathered.push_back(output.to(batch.device()));
  return gathered.size() == 1 ? gathered[0] : concat(gathered, 0);
}

Replicas replicate(const Module& network, const std::vector<Device>& devices) { return {network, devices}; }

}  // namespace backplane::inline v0::nn::parallel
