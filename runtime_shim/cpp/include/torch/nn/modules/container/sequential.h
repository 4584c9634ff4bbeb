// torch::nn::Sequential: modules one after the other, each given what the one before it gave.
#pragma once

#include <torch/nn/cloneable.h>
#include <torch/nn/modules/container/any.h>

namespace torch::nn {

class SequentialImpl : public Cloneable<SequentialImpl> {
 public:
  using Iterator = std::vector<AnyModule>::iterator;
  using ConstIterator = std::vector<AnyModule>::const_iterator;

  SequentialImpl() = default;
  template <typename... Modules>
  explicit SequentialImpl(Modules&&... modules) {
    (push_back(std::forward<Modules>(modules)), ...);
  }
  explicit SequentialImpl(std::initializer_list<NamedAnyModule> named_modules) {
    for (const NamedAnyModule& entry : named_modules) push_back(entry.name(), entry.module());
  }

  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override {
    auto copy = std::make_shared<SequentialImpl>();
    for (const AnyModule& module : modules_) copy->push_back(module.clone(device));
    return copy;
  }
  void reset() override {}
  void pretty_print(std::ostream& stream) const override { stream << "torch::nn::Sequential"; }

  /// What the last module gives.
  template <typename ReturnType = Tensor, typename... Inputs>
  ReturnType forward(Inputs&&... inputs) {
    TORCH_CHECK(!is_empty(), "Cannot call forward() on an empty Sequential");
    auto module = modules_.begin();
    AnyValue value = module->any_forward(std::forward<Inputs>(inputs)...);
    while (++module != modules_.end()) value = module->any_forward(std::move(value));
    if (auto* result = value.template try_get<ReturnType>()) return std::move(*result);
    TORCH_CHECK(false, "The type of the return value is ", c10::demangle(value.type_info().name()),
                ", but you asked for type ", c10::demangle(typeid(ReturnType).name()));
  }

  void push_back(AnyModule any_module) { push_back(std::to_string(size()), std::move(any_module)); }
  void push_back(std::string name, AnyModule any_module) {
    register_module(std::move(name), any_module.ptr());
    modules_.push_back(std::move(any_module));
  }
  /// A module, a shared pointer to one, or what holds one.
  template <typename ModuleType, typename = std::enable_if_t<std::is_constructible_v<AnyModule, ModuleType&&>>>
  void push_back(ModuleType&& module) {
    push_back(AnyModule(std::forward<ModuleType>(module)));
  }
  template <typename ModuleType, typename = std::enable_if_t<std::is_constructible_v<AnyModule, ModuleType&&>>>
  void push_back(std::string name, ModuleType&& module) {
    push_back(std::move(name), AnyModule(std::forward<ModuleType>(module)));
  }
  template <typename Container>
  void extend(const Container& container) {
    for (const auto& module : container) push_back(module);
  }

  Iterator begin() { return modules_.begin(); }
  Iterator end() { return modules_.end(); }
  ConstIterator begin() const { return modules_.begin(); }
  ConstIterator end() const { return modules_.end(); }
  template <typename T>
  T& at(size_t index) const {
    return checked(index).get<T>();
  }
  std::shared_ptr<Module> ptr(size_t index) const { return checked(index).ptr(); }
  template <typename T>
  std::shared_ptr<T> ptr(size_t index) const {
    return checked(index).ptr<T>();
  }
  std::shared_ptr<Module> operator[](size_t index) const { return ptr(index); }
  size_t size() const noexcept { return modules_.size(); }
  bool is_empty() const noexcept { return modules_.empty(); }

 private:
  const AnyModule& checked(size_t index) const {
    TORCH_CHECK(index < size(), "Index out of range");
    return modules_[index];
  }
  std::vector<AnyModule> modules_;
};

class Sequential : public ModuleHolder<SequentialImpl> {
 public:
  using ModuleHolder<SequentialImpl>::ModuleHolder;
  using Impl [[maybe_unused]] = SequentialImpl;
  Sequential() = default;
  Sequential(std::initializer_list<NamedAnyModule> named_modules)
      : ModuleHolder(std::make_shared<SequentialImpl>(named_modules)) {}
};

}  // namespace torch::nn
