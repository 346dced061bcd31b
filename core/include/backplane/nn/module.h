// SPDX-License-Identifier: Apache-2.0
//
// Module: a network or a part of one, with named parameters that live on a device.
//
// A module computes where its input is; its parameters must be there too, else the operator's InvalidArgument
// names both devices. Copying a module copies handles: both then share parameters. Running a module from
// several threads at once is safe as long as nobody changes its parameters or its mode meanwhile.
#ifndef BACKPLANE_NN_MODULE_H_
#define BACKPLANE_NN_MODULE_H_

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backplane/tensor.h"

namespace backplane::inline v0::nn {

// Parameters by name, as PyTorch's state_dict: "0.weight", "2.bias".
using StateDict = std::map<std::string, Tensor>;

class BACKPLANE_API Module {
 public:
  virtual ~Module();

  virtual Tensor forward(const Tensor& x) const = 0;
  Tensor operator()(const Tensor& x) const { return forward(x); }

  // Calls `visitor` with the name and the handle of every parameter, in order; a visitor may put another
  // tensor in its place. A module with parameters or parts of its own overrides this; names start with
  // `prefix`.
  using Visitor = std::function<void(const std::string& name, Tensor& parameter)>;
  virtual void visit(const std::string& prefix, const Visitor& visitor);

  // A module with the same parts; parameters are shared.
  virtual std::unique_ptr<Module> clone() const = 0;

  // Training mode concerns Dropout alone; modules start in evaluation mode.
  virtual void train(bool on = true);
  void eval() { train(false); }

  std::vector<std::pair<std::string, Tensor>> named_parameters() const;
  std::vector<Tensor> parameters() const;
  int64_t parameter_count() const;  // elements

  // Moves every parameter that is elsewhere (or has another floating type); handles taken before keep the old
  // ones.
  void move_to(const Device& device);
  void convert_to(DType type);

  StateDict state_dict() const;

  // Copies values into the parameters, from whatever device. InvalidArgument, listing every name that is
  // missing or not known and every shape and type that differs, changes nothing.
  void load_state_dict(const StateDict& state);

  // A safetensors file with the names and layouts of PyTorch. Errors as load_safetensors and load_state_dict.
  void save(const std::filesystem::path& file) const;
  void load(const std::filesystem::path& file);
};

// What every layer derives from: clone(), and to() that gives the layer itself back, so that calls chain.
template <typename Derived>
class ModuleOf : public Module {
 public:
  std::unique_ptr<Module> clone() const override {
    return std::make_unique<Derived>(static_cast<const Derived&>(*this));
  }
  Derived& to(const Device& device) & {
    move_to(device);
    return static_cast<Derived&>(*this);
  }
  Derived& to(DType type) & {
    convert_to(type);
    return static_cast<Derived&>(*this);
  }
  Derived to(const Device& device) && {
    move_to(device);
    return std::move(static_cast<Derived&>(*this));
  }
  Derived to(DType type) && {
    convert_to(type);
    return std::move(static_cast<Derived&>(*this));
  }
};

// Modules one after the other; parameters are named by position: "0.weight".
class BACKPLANE_API Sequential : public ModuleOf<Sequential> {
 public:
  template <typename... Layers,
            typename = std::enable_if_t<(std::is_base_of_v<Module, std::decay_t<Layers>> && ...)>,
            typename = std::enable_if_t<!(sizeof...(Layers) == 1 &&
                                          (std::is_same_v<Sequential, std::decay_t<Layers>> && ...))>>
  explicit Sequential(Layers&&... layers) {
    (add(std::forward<Layers>(layers)), ...);
  }
  Sequential(const Sequential& other);
  Sequential& operator=(const Sequential& other);
  Sequential(Sequential&&) noexcept = default;
  Sequential& operator=(Sequential&&) noexcept = default;
  ~Sequential() override;

  template <typename Layer>
  Sequential& add(Layer&& layer) {
    layers_.push_back(std::make_unique<std::decay_t<Layer>>(std::forward<Layer>(layer)));
    return *this;
  }

  Tensor forward(const Tensor& x) const override;
  void visit(const std::string& prefix, const Visitor& visitor) override;
  void train(bool on = true) override;

  int size() const noexcept { return static_cast<int>(layers_.size()); }
  // InvalidArgument out of range, or for another type of layer.
  Module& operator[](int i) const;
  template <typename Layer>
  Layer& at(int i) const {
    auto* layer = dynamic_cast<Layer*>(&(*this)[i]);
    if (layer == nullptr)
      throw Error(ErrorCode::InvalidArgument,
                  "Sequential: layer " + std::to_string(i) + " is of another type");
    return *layer;
  }

 private:
  std::vector<std::unique_ptr<Module>> layers_;
};

}  // namespace backplane::inline v0::nn

#endif  // BACKPLANE_NN_MODULE_H_
