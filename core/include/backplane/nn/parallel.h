// SPDX-License-Identifier: Apache-2.0
//
// One network on several devices: the forward half of TensorFlow's MirroredStrategy.
#ifndef BACKPLANE_NN_PARALLEL_H_
#define BACKPLANE_NN_PARALLEL_H_

#include <memory>
#include <vector>

#include "backplane/nn/module.h"

namespace backplane::inline v0::nn::parallel {

// Copies of a network, one a device. A batch is split along its first dimension into parts as equal as can
// be, the devices compute at the same time, and the outputs are gathered, in order, on the device that the
// batch came from.
class BACKPLANE_API Replicas {
 public:
  Replicas(const Module& network, const std::vector<Device>& devices);
  Tensor operator()(const Tensor& batch) const;

  int size() const noexcept { return static_cast<int>(replicas_.size()); }
  Module& operator[](int i) const { return *replicas_[static_cast<size_t>(i)]; }
  const std::vector<Device>& devices() const noexcept { return devices_; }

 private:
  std::vector<std::unique_ptr<Module>> replicas_;
  std::vector<Device> devices_;
};

// Every replica has parameters of its own, also on the network's device. InvalidArgument without devices.
BACKPLANE_API Replicas replicate(const Module& network, const std::vector<Device>& devices);

}  // namespace backplane::inline v0::nn::parallel

#endif  // BACKPLANE_NN_PARALLEL_H_
