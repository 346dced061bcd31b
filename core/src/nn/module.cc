// SPDX-License-Identifier: Apache-2.0
#include "backplane/nn/module.h"

#include <fmt/format.h>

#include "backplane/io.h"

namespace backplane::inline v0::nn {

Module::~Module() = default;

void Module::visit(const std::string&, const Visitor&) {}
void Module::train(bool) {}

std::vector<std::pair<std::string, Tensor>> Module::named_parameters() const {
  std::vector<std::pair<std::string, Tensor>> found;
  // Only a visitor that writes changes anything.
  const_cast<Module*>(this)->visit("",
                                   [&](const std::string& name, Tensor& t) { found.emplace_back(name, t); });
  return found;
}

std::vector<Tensor> Module::parameters() const {
  std::vector<Tensor> found;
  for (const auto& [name, tensor] : named_parameters()) found.push_back(tensor);
  return found;
}

int64_t Module::parameter_count() const {
  int64_t count = 0;
  for (const Tensor& t : parameters()) count += t.size();
  return count;
}

void Module::move_to(const Device& device) {
  visit("", [&](const std::string&, Tensor& t) { t = t.to(device); });
}

void Module::convert_to(DType type) {
  if (!is_floating(type))
    throw Error(ErrorCode::InvalidArgument, fmt::format("to: parameters cannot be {}", to_string(type)));
  visit("", [&](const std::string&, Tensor& t) { t = t.astype(type, false); });
}

StateDict Module::state_dict() const {
  const auto parameters = named_parameters();
  return {parameters.begin(), parameters.end()};
}

void Module::load_state_dict(const StateDict& state) {
  const StateDict own = state_dict();
  std::string differences;
  const auto add = [&](const std::string& line) { differences += "\n  " + line; };
  for (const auto& [name, tensor] : own) {
    const auto found = state.find(name);
    if (found == state.end()) {
      add(fmt::format("missing: {}", name));
      continue;
    }
    const Tensor& given = found->second;
    if (!given.defined()) {
      add(fmt::format("{}: an undefined tensor given", name));
      continue;
    }
    if (!(given.shape() == tensor.shape()))
      add(fmt::format("{}: shape {} in the network, {} given", name, tensor.shape().str(),
                      given.shape().str()));
    if (given.dtype() != tensor.dtype())
      add(fmt::format("{}: {} in the network, {} given", name, to_string(tensor.dtype()),
                      to_string(given.dtype())));
  }
  for (const auto& [name, tensor] : state)
    if (own.count(name) == 0) add(fmt::format("not known: {}", name));
  if (!differences.empty())
    throw Error(ErrorCode::InvalidArgument,
                "load_state_dict: the network and the state differ:" + differences);
  for (const auto& [name, tensor] : own) tensor.assign(state.at(name));
}

void Module::save(const std::filesystem::path& file) const { save_safetensors(file, state_dict()); }

void Module::load(const std::filesystem::path& file) {
  load_state_dict(load_safetensors(file, "cpu").tensors);
}

Sequential::Sequential(const Sequential& other) : ModuleOf(other) {
  for (const auto& layer : other.layers_) layers_.push_back(layer->clone());
}

Sequential& Sequential::operator=(const Sequential& other) {
  Sequential copy(other);
  layers_.swap(copy.layers_);
  return *this;
}

Sequential::~Sequential() = default;

Tensor Sequential::forward(const Tensor& x) const {
  Tensor value = x;
  for (const auto& layer : layers_) value = (*layer)(value);
  return value;
}

void Sequential::visit(const std::string& prefix, const Visitor& visitor) {
  for (size_t i = 0; i < layers_.size(); ++i) layers_[i]->visit(fmt::format("{}{}.", prefix, i), visitor);
}

void Sequential::train(bool on) {
  for (const auto& layer : layers_) layer->train(on);
}

Module& Sequential::operator[](int i) const {
  if (i < 0 || i >= size())
    throw Error(ErrorCode::InvalidArgument, fmt::format("Sequential: layer {} of {}", i, size()));
  return *layers_[static_cast<size_t>(i)];
}

}  // namespace backplane::inline v0::nn
