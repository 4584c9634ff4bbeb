// torch::nn::Cloneable: a module whose reset() makes its parameters, so that clone() can make them anew.
#pragma once

#include <torch/nn/module.h>
#include <torch/utils.h>

namespace torch::nn {

/// What of Cloneable does not depend on the class: compiled once, not once for each of the layers.
class CloneableModule : public Module {
 public:
  using Module::Module;

  /// Makes all parameters, buffers and submodules, and their values.
  virtual void reset() = 0;

  /// A module with copies of all parameters and buffers.
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override {
    const NoGradGuard no_grad;
    const std::shared_ptr<CloneableModule> copy(copied());
    copy->parameters_.clear();
    copy->buffers_.clear();
    copy->children_.clear();
    copy->reset();
    check_same_size("parameters", "register_parameter", copy->parameters_.size(), parameters_.size());
    copy_data(parameters_, copy->parameters_, device);
    check_same_size("buffers", "register_buffer", copy->buffers_.size(), buffers_.size());
    copy_data(buffers_, copy->buffers_, device);
    check_same_size("child modules", "register_module", copy->children_.size(), children_.size());
    for (const auto& child : children_) copy->children_[child.key()]->clone_(*child.value(), device);
    return copy;
  }

 private:
  /// A copy that shares everything, owned by the caller.
  virtual CloneableModule* copied() const = 0;
  /// Becomes such a copy of `other`; false when that is of another class.
  virtual bool assign(const Module& other) = 0;

  static void check_same_size(const char* what, const char* registering, size_t copied, size_t original) {
    TORCH_CHECK(copied == original, "The cloned module does not have the same number of ", what,
                " as the original module after calling reset(). Are you sure you called ", registering,
                "() inside reset() and not the constructor?");
  }
  static void copy_data(const OrderedDict<std::string, Tensor>& from, OrderedDict<std::string, Tensor>& to,
                        const std::optional<Device>& device) {
    for (const auto& entry : from) {
      if (!entry->defined()) continue;
      to[entry.key()].set_data(device && entry->device() != *device ? entry->to(*device) : entry->clone());
    }
  }
  void clone_(Module& other, const std::optional<Device>& device) final {
    TORCH_CHECK(assign(*other.clone(device)),
                "Attempted to clone submodule, but it is of a different type than the submodule it was to be cloned "
                "into");
  }
};

template <typename Derived>
class Cloneable : public CloneableModule {
 public:
  using CloneableModule::CloneableModule;

 private:
  CloneableModule* copied() const final { return new Derived(static_cast<const Derived&>(*this)); }
  bool assign(const Module& other) final {
    const auto* same = dynamic_cast<const Derived*>(&other);
    if (same != nullptr) static_cast<Derived&>(*this) = *same;
    return same != nullptr;
  }
};

}  // namespace torch::nn
