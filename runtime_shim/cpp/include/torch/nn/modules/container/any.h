// torch::nn::AnyModule: a module of any class, called with values of any types.
#pragma once

#include <torch/nn/module.h>

namespace torch::nn {

namespace detail {

/// The one form of a forward that is not a template.
template <typename Class, typename Result, typename... Args>
struct ForwardOf {
  static constexpr size_t count = sizeof...(Args);

  template <size_t... Indices>
  static AnyValue call(Class& module, std::vector<AnyValue>& values, std::index_sequence<Indices...>) {
    if constexpr (std::is_void_v<Result>) {
      module.forward(argument<Args>(values[Indices], Indices)...);
      return AnyValue(nullptr);
    } else {
      return AnyValue(module.forward(argument<Args>(values[Indices], Indices)...));
    }
  }
  template <typename Arg>
  static decltype(auto) argument(AnyValue& value, size_t index) {
    using Plain = std::decay_t<Arg>;
    Plain* found = value.try_get<Plain>();
    TORCH_CHECK(found != nullptr, "Expected argument #", index, " to be of type ", c10::demangle(typeid(Arg).name()),
                ", but received value of type ", c10::demangle(value.type_info().name()));
    if constexpr (std::is_rvalue_reference_v<Arg>) {
      return static_cast<Plain&&>(*found);
    } else {
      return static_cast<Plain&>(*found);
    }
  }
};
template <typename Class, typename Base, typename Result, typename... Args>
ForwardOf<Class, Result, Args...> forward_of(Result (Base::*)(Args...));
template <typename Class, typename Base, typename Result, typename... Args>
ForwardOf<Class, Result, Args...> forward_of(Result (Base::*)(Args...) const);

template <typename T>
auto has_forward(int) -> decltype(&T::forward, std::true_type());
template <typename T>
std::false_type has_forward(long);

}  // namespace detail

/// Named by classes that befriend it, for the arguments with defaults.
template <typename ModuleType, typename... ArgumentTypes>
struct AnyModuleHolder;

class AnyModule {
 public:
  AnyModule() = default;
  template <typename ModuleType, typename = std::enable_if_t<std::is_base_of_v<Module, ModuleType>>>
  AnyModule(std::shared_ptr<ModuleType> module) : module_(module), type_(&typeid(ModuleType)), run_(&run<ModuleType>) {
    static_assert(decltype(detail::has_forward<ModuleType>(0))::value,
                  "Can only store object with a non-template forward method into AnyModule");
  }
  template <typename ModuleType,
            typename = std::enable_if_t<std::is_base_of_v<Module, std::remove_reference_t<ModuleType>>>>
  explicit AnyModule(ModuleType&& module)
      : AnyModule(std::make_shared<std::decay_t<ModuleType>>(std::forward<ModuleType>(module))) {}
  template <typename ModuleType>
  explicit AnyModule(const ModuleHolder<ModuleType>& module_holder) : AnyModule(module_holder.ptr()) {}

  AnyModule clone(const std::optional<Device>& device = std::nullopt) const {
    AnyModule copy = *this;
    if (module_ != nullptr) copy.module_ = module_->clone(device);
    return copy;
  }
  template <typename ModuleType>
  AnyModule& operator=(std::shared_ptr<ModuleType> module) {
    return *this = AnyModule(std::move(module));
  }

  /// What forward returns, as an AnyValue.
  template <typename... Args>
  AnyValue any_forward(Args&&... args) {
    TORCH_CHECK(!is_empty(), "Cannot call forward() on an empty AnyModule");
    std::vector<AnyValue> values;
    values.reserve(sizeof...(Args));
    (values.push_back(as_value(std::forward<Args>(args))), ...);
    return run_(*module_, values);
  }
  template <typename ReturnType = Tensor, typename... Args>
  ReturnType forward(Args&&... args) {
    return any_forward(std::forward<Args>(args)...).template get<ReturnType>();
  }
  std::shared_ptr<Module> ptr() const {
    TORCH_CHECK(!is_empty(), "Cannot call ptr() on an empty AnyModule");
    return module_;
  }
  template <typename T, typename = std::enable_if_t<std::is_base_of_v<Module, T>>>
  std::shared_ptr<T> ptr() const {
    TORCH_CHECK(!is_empty(), "Cannot call ptr() on an empty AnyModule");
    check_type<T>();
    return std::static_pointer_cast<T>(module_);
  }
  /// The module itself, as one of its class; a holder's class gives what the holder holds.
  template <typename T, typename = std::enable_if_t<!torch::detail::is_module_holder<T>>>
  T& get() const {
    TORCH_CHECK(!is_empty(), "Cannot call get() on an empty AnyModule");
    check_type<T>();
    return static_cast<T&>(*module_);
  }
  template <typename T, typename Contained = typename T::ContainedType>
  T get() const {
    return T(ptr<Contained>());
  }
  const std::type_info& type_info() const {
    TORCH_CHECK(!is_empty(), "Cannot call type_info() on an empty AnyModule");
    return *type_;
  }
  bool is_empty() const noexcept { return module_ == nullptr; }

 private:
  template <typename T>
  static AnyValue as_value(T&& value) {
    if constexpr (std::is_same_v<std::decay_t<T>, AnyValue>) {
      return std::forward<T>(value);
    } else {
      return AnyValue(std::forward<T>(value));
    }
  }
  template <typename T>
  void check_type() const {
    TORCH_CHECK(typeid(T) == *type_, "Attempted to cast module of type ", c10::demangle(type_->name()), " to type ",
                c10::demangle(typeid(T).name()));
  }
  template <typename ModuleType>
  static AnyValue run(Module& module, std::vector<AnyValue>& values) {
    using Forward = decltype(detail::forward_of<ModuleType>(&ModuleType::forward));
    complete(module, values, Forward::count);
    return Forward::call(static_cast<ModuleType&>(module), values, std::make_index_sequence<Forward::count>());
  }
  /// Adds the defaults of the arguments that were not given.
  static void complete(Module& module, std::vector<AnyValue>& values, size_t count) {
    const auto defaults = module.default_arguments();
    if (defaults.empty()) {
      TORCH_CHECK(values.size() == count, c10::demangle(typeid(module).name()), "'s forward() method expects ", count,
                  " argument(s), but received ", values.size(), ".",
                  values.size() > count
                      ? std::string()
                      : c10::str(" If ", c10::demangle(typeid(module).name()),
                                 "'s forward() method has default arguments, please make sure the forward() method is "
                                 "declared with a corresponding `FORWARD_HAS_DEFAULT_ARGS` macro."));
      return;
    }
    const size_t required = count - defaults.size();
    TORCH_CHECK(values.size() >= required && values.size() <= count, c10::demangle(typeid(module).name()),
                "'s forward() method expects at least ", required, " argument(s) and at most ", count,
                " argument(s), but received ", values.size(), ".");
    for (const auto& [position, value] : defaults)
      if (position == values.size()) values.push_back(value);
  }

  std::shared_ptr<Module> module_;
  const std::type_info* type_ = nullptr;
  AnyValue (*run_)(Module&, std::vector<AnyValue>&) = nullptr;
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
