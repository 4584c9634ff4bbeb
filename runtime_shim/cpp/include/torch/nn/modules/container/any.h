// torch::nn::AnyModule: a module of any class whose forward takes tensors and gives one.
#pragma once

#include <torch/nn/module.h>

namespace torch::nn {

namespace detail {

/// The number of arguments of a forward, which is not a template and has one form.
template <typename Class, typename Result, typename... Args>
constexpr size_t arity(Result (Class::*)(Args...)) {
  return sizeof...(Args);
}
template <typename Class, typename Result, typename... Args>
constexpr size_t arity(Result (Class::*)(Args...) const) {
  return sizeof...(Args);
}

}  // namespace detail

class AnyModule {
 public:
  AnyModule() = default;
  template <typename ModuleType, typename = std::enable_if_t<std::is_base_of_v<Module, ModuleType>>>
  explicit AnyModule(std::shared_ptr<ModuleType> module) : module_(module), run_(&run<ModuleType>) {}
  template <typename ModuleType, typename = std::enable_if_t<std::is_base_of_v<Module, ModuleType>>>
  explicit AnyModule(ModuleType&& module)
      : AnyModule(std::make_shared<std::decay_t<ModuleType>>(std::forward<ModuleType>(module))) {}
  template <typename ModuleType>
  explicit AnyModule(const ModuleHolder<ModuleType>& module_holder) : AnyModule(module_holder.ptr()) {}

  AnyModule clone(const std::optional<Device>& device = std::nullopt) const {
    AnyModule copy = *this;
    if (module_ != nullptr) copy.module_ = module_->clone(device);
    return copy;
  }
  /// PyTorch lets a forward give anything; here it gives a tensor.
  template <typename ReturnType = Tensor, typename... Args>
  ReturnType forward(Args&&... args) {
    static_assert(std::is_same_v<ReturnType, Tensor>, "the shim's AnyModule and Sequential give tensors only");
    TORCH_CHECK(!is_empty(), "Cannot call forward() on an empty AnyModule");
    const Tensor tensors[] = {Tensor(std::forward<Args>(args))...};
    return run_(*module_, ArrayRef<Tensor>(tensors, sizeof...(Args)));
  }
  std::shared_ptr<Module> ptr() const {
    TORCH_CHECK(!is_empty(), "Cannot call ptr() on an empty AnyModule");
    return module_;
  }
  template <typename T>
  std::shared_ptr<T> ptr() const {
    auto typed = std::dynamic_pointer_cast<T>(ptr());
    TORCH_CHECK(typed != nullptr, "Attempted to cast module of type ", module_->name(), " to another type");
    return typed;
  }
  /// The module itself, as one of its class.
  template <typename T>
  auto& get() const {
    if constexpr (torch::detail::is_module_holder<T>) {
      return *ptr<typename T::ContainedType>();
    } else {
      return *ptr<T>();
    }
  }
  bool is_empty() const noexcept { return module_ == nullptr; }

 private:
  template <typename ModuleType>
  static Tensor run(Module& module, ArrayRef<Tensor> args) {
    constexpr size_t count = detail::arity(&ModuleType::forward);
    TORCH_CHECK(args.size() == count, module.name(), "'s forward() method expects ", count,
                " argument(s), but received ", args.size(),
                ". If ", module.name(), "'s forward() method has default arguments, please make sure the forward() "
                "method is declared with a corresponding `FORWARD_HAS_DEFAULT_ARGS` macro.");
    return called(static_cast<ModuleType&>(module), args, std::make_index_sequence<count>());
  }
  template <typename ModuleType, size_t... Indices>
  static Tensor called(ModuleType& module, ArrayRef<Tensor> args, std::index_sequence<Indices...>) {
    return module.forward(Tensor(args[Indices])...);
  }

  std::shared_ptr<Module> module_;
  Tensor (*run_)(Module&, ArrayRef<Tensor>) = nullptr;
};

/// A module with the name under which a Sequential keeps it.
class NamedAnyModule {
 public:
  template <typename ModuleType>
  NamedAnyModule(std::string name, ModuleType&& module)
      : name_(std::move(name)), module_(std::forward<ModuleType>(module)) {}
  NamedAnyModule(std::string name, AnyModule module) : name_(std::move(name)), module_(std::move(module)) {}
  const std::string& name() const noexcept { return name_; }
  AnyModule& module() noexcept { return module_; }
  const AnyModule& module() const noexcept { return module_; }

 private:
  std::string name_;
  AnyModule module_;
};

}  // namespace torch::nn
