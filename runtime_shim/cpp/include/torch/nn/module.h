// torch::nn::Module: parameters, buffers and submodules under names.
#pragma once

#include <torch/nn/modules/container/any_value.h>
#include <torch/nn/pimpl.h>
#include <torch/ordered_dict.h>
#include <torch/serialize/archive.h>
#include <torch/types.h>

#include <functional>
#include <memory>
#include <string>
#include <typeinfo>

namespace torch::nn {

class Module : public std::enable_shared_from_this<Module> {
 public:
  using ModuleApplyFunction = std::function<void(Module&)>;
  using ConstModuleApplyFunction = std::function<void(const Module&)>;
  using NamedModuleApplyFunction = std::function<void(const std::string&, Module&)>;

  Module() = default;
  explicit Module(std::string name) : name_(std::move(name)) {}
  Module(const Module&) = default;
  Module& operator=(const Module&) = default;
  Module(Module&&) noexcept = default;
  Module& operator=(Module&&) noexcept = default;
  virtual ~Module() = default;

  /// What the constructor was given, else the name of the class.
  const std::string& name() const noexcept {
    if (!name_.has_value()) name_ = c10::demangle(typeid(*this).name());
    return *name_;
  }
  virtual std::shared_ptr<Module> clone(const std::optional<Device>& = std::nullopt) const {
    TORCH_CHECK(false, "clone() has not been implemented for ", name(), ". Subclass torch::nn::Cloneable<", name(),
                "> instead of torch::nn::Module to inherit the ability to clone.");
  }

  // ---- what it has: its own and, with `recurse`, that of its submodules
  std::vector<Tensor> parameters(bool recurse = true) const { return named_parameters(recurse).values(); }
  OrderedDict<std::string, Tensor> named_parameters(bool recurse = true) const {
    OrderedDict<std::string, Tensor> all;
    collect(&Module::parameters_, recurse, "", all);
    return all;
  }
  std::vector<Tensor> buffers(bool recurse = true) const { return named_buffers(recurse).values(); }
  OrderedDict<std::string, Tensor> named_buffers(bool recurse = true) const {
    OrderedDict<std::string, Tensor> all;
    collect(&Module::buffers_, recurse, "", all);
    return all;
  }
  std::vector<std::shared_ptr<Module>> children() const { return children_.values(); }
  OrderedDict<std::string, std::shared_ptr<Module>> named_children() const { return children_; }
  std::vector<std::shared_ptr<Module>> modules(bool include_self = true) const {
    return named_modules("", include_self).values();
  }
  OrderedDict<std::string, std::shared_ptr<Module>> named_modules(const std::string& name_prefix = std::string(),
                                                                  bool include_self = true) const {
    OrderedDict<std::string, std::shared_ptr<Module>> all;
    if (include_self) all.insert(name_prefix, shared_from_this_checked());
    collect_modules(name_prefix, all);
    return all;
  }

  // ---- each of the modules, itself first
  void apply(const ModuleApplyFunction& function) {
    function(*this);
    for (auto& child : children_) child.value()->apply(function);
  }
  void apply(const ConstModuleApplyFunction& function) const {
    function(*this);
    for (const auto& child : children_) std::as_const(*child.value()).apply(function);
  }
  void apply(const NamedModuleApplyFunction& function, const std::string& name_prefix = std::string()) {
    function(name_prefix, *this);
    for (auto& child : children_) child.value()->apply(function, joined(name_prefix, child.key()));
  }

  virtual void train(bool on = true) {
    for (auto& child : children_) child.value()->train(on);
    is_training_ = on;
  }
  void eval() { train(false); }
  virtual bool is_training() const noexcept { return is_training_; }

  virtual void to(torch::Device device, torch::Dtype dtype, bool non_blocking = false) {
    convert(device, dtype, non_blocking);
  }
  virtual void to(torch::Dtype dtype, bool non_blocking = false) { convert(dtype, non_blocking); }
  virtual void to(torch::Device device, bool non_blocking = false) { convert(device, non_blocking); }

  virtual void zero_grad(bool set_to_none = true) {
    for (auto& child : children_) child.value()->zero_grad(set_to_none);
    for (Tensor& parameter : parameters(false)) {
      if (!parameter.mutable_grad().defined()) continue;
      if (set_to_none) {
        parameter.mutable_grad().reset();
      } else {
        parameter.mutable_grad().detach_().zero_();
      }
    }
  }

  /// This module as one of a class of its own, or null.
  template <typename ModuleType>
  auto* as() noexcept {
    if constexpr (torch::detail::is_module_holder<ModuleType>) {
      return dynamic_cast<typename ModuleType::ContainedType*>(this);
    } else {
      return dynamic_cast<ModuleType*>(this);
    }
  }
  template <typename ModuleType>
  const auto* as() const noexcept {
    return const_cast<Module*>(this)->as<ModuleType>();
  }

  virtual void pretty_print(std::ostream& stream) const { stream << name(); }
  virtual bool is_serializable() const { return true; }
  virtual void save(serialize::OutputArchive& archive) const {
    for (const auto& parameter : named_parameters(false)) archive.write(parameter.key(), parameter.value());
    for (const auto& buffer : named_buffers(false)) archive.write(buffer.key(), buffer.value(), /*is_buffer=*/true);
    for (const auto& child : children_) {
      if (!child.value()->is_serializable()) continue;
      serialize::OutputArchive nested;
      child.value()->save(nested);
      archive.write(child.key(), nested);
    }
  }
  virtual void load(serialize::InputArchive& archive) {
    for (auto& parameter : named_parameters(false)) archive.read(parameter.key(), parameter.value());
    for (auto& buffer : named_buffers(false)) archive.read(buffer.key(), buffer.value(), /*is_buffer=*/true);
    for (auto& child : children_) {
      if (!child.value()->is_serializable()) continue;
      serialize::InputArchive nested;
      archive.read(child.key(), nested);
      child.value()->load(nested);
    }
  }

  // ---- giving it something
  /// A tensor that is not of floating point does not get to require gradients.
  Tensor& register_parameter(std::string name, Tensor tensor, bool requires_grad = true) {
    check_name("Parameter", name);
    if (!tensor.defined()) {
      if (requires_grad)
        TORCH_WARN("An undefined tensor cannot require grad. Ignoring the `requires_grad=true` function parameter.");
    } else {
      tensor.set_requires_grad(requires_grad);
    }
    return parameters_.insert(std::move(name), std::move(tensor));
  }
  Tensor& register_buffer(std::string name, Tensor tensor) {
    check_name("Buffer", name);
    return buffers_.insert(std::move(name), std::move(tensor));
  }
  template <typename ModuleType>
  std::shared_ptr<ModuleType> register_module(std::string name, std::shared_ptr<ModuleType> module) {
    check_name("Submodule", name);
    auto& kept = children_.insert(std::move(name), std::move(module));
    return std::dynamic_pointer_cast<ModuleType>(kept);
  }
  template <typename ModuleType>
  std::shared_ptr<ModuleType> register_module(std::string name, ModuleHolder<ModuleType> module_holder) {
    return register_module(std::move(name), module_holder.ptr());
  }
  template <typename ModuleType>
  std::shared_ptr<ModuleType> replace_module(const std::string& name, std::shared_ptr<ModuleType> module) {
    auto& kept = (children_[name] = std::move(module));
    return std::dynamic_pointer_cast<ModuleType>(kept);
  }
  template <typename ModuleType>
  std::shared_ptr<ModuleType> replace_module(const std::string& name, ModuleHolder<ModuleType> module_holder) {
    return replace_module(name, module_holder.ptr());
  }
  void unregister_module(const std::string& name) {
    TORCH_CHECK(children_.contains(name), "No Module with name `", name, "` is registered");
    children_.erase(name);
  }

 protected:
  /// The arguments of forward that have a default, by position: what `FORWARD_HAS_DEFAULT_ARGS` says.
  virtual std::vector<std::pair<unsigned int, AnyValue>> default_arguments() const { return {}; }

  OrderedDict<std::string, Tensor> parameters_{"Parameter"};

 private:
  friend class AnyModule;
  friend class CloneableModule;
  friend std::ostream& operator<<(std::ostream& stream, const Module& module) {
    module.print_below(stream, "");
    return stream;
  }

  static std::string joined(const std::string& prefix, const std::string& name) {
    return prefix.empty() ? name : prefix + "." + name;
  }
  static void check_name(const char* kind, const std::string& name) {
    TORCH_CHECK(!name.empty(), kind, " name must not be empty");
    TORCH_CHECK(name.find('.') == std::string::npos, kind, " name must not contain a dot (got '", name, "')");
  }
  void collect(OrderedDict<std::string, Tensor> Module::*kind, bool recurse, const std::string& prefix,
               OrderedDict<std::string, Tensor>& all) const {
    for (const auto& entry : this->*kind)
      if (entry.value().defined()) all.insert(joined(prefix, entry.key()), entry.value());
    if (!recurse) return;
    for (const auto& child : children_) child.value()->collect(kind, true, joined(prefix, child.key()), all);
  }
  void collect_modules(const std::string& prefix, OrderedDict<std::string, std::shared_ptr<Module>>& all) const {
    for (const auto& child : children_) {
      const std::string name = joined(prefix, child.key());
      all.insert(name, child.value());
      child.value()->collect_modules(name, all);
    }
  }
  template <typename... Where>
  void convert(Where... where) {
    for (auto& child : children_) child.value()->to(where...);
    for (auto& parameter : named_parameters(false)) parameter->set_data(parameter->to(where...));
    for (auto& buffer : named_buffers(false)) buffer->set_data(buffer->to(where...));
  }
  void print_below(std::ostream& stream, const std::string& indentation) const {
    pretty_print(stream);
    if (children_.is_empty()) return;
    stream << "(\n";
    for (const auto& child : children_) {
      stream << indentation << "  (" << child.key() << "): ";
      child.value()->print_below(stream, indentation + "  ");
      stream << '\n';
    }
    stream << indentation << ')';
  }
  std::shared_ptr<Module> shared_from_this_checked() const {
    std::shared_ptr<const Module> shared = weak_from_this().lock();
    TORCH_CHECK(shared != nullptr,
                "It looks like you attempted to retrieve your top-level module as a shared_ptr, but it is not stored "
                "in a shared_ptr. Use std::make_shared<", name(), "> instead of creating your module on the stack, or "
                "alternatively do not try to access your top-level module at all by passing /*include_self=*/false to "
                "modules() or named_modules()");
    return std::const_pointer_cast<Module>(shared);
  }
  /// Takes over what `other`, of the same class, has.
  virtual void clone_(Module&, const std::optional<Device>&) {}

  OrderedDict<std::string, Tensor> buffers_{"Buffer"};
  OrderedDict<std::string, std::shared_ptr<Module>> children_{"Submodule"};
  mutable std::optional<std::string> name_;
  bool is_training_ = true;
};

inline serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const std::shared_ptr<Module>& module) {
  TORCH_CHECK(module != nullptr, "Cannot serialize empty module");
  module->save(archive);
  return archive;
}
inline serialize::InputArchive& operator>>(serialize::InputArchive& archive, const std::shared_ptr<Module>& module) {
  TORCH_CHECK(module != nullptr, "Cannot deserialize empty module");
  module->load(archive);
  return archive;
}
template <typename Contained>
serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const ModuleHolder<Contained>& module) {
  return archive << std::static_pointer_cast<Module>(module.ptr());
}
template <typename Contained>
serialize::InputArchive& operator>>(serialize::InputArchive& archive, ModuleHolder<Contained>& module) {
  return archive >> std::static_pointer_cast<Module>(module.ptr());
}

}  // namespace torch::nn
