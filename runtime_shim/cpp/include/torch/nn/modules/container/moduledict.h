// torch::nn::ModuleDict, ParameterList and ParameterDict.
#pragma once

#include <torch/nn/cloneable.h>

namespace torch::nn {

/// Modules under names of one's own, in the order in which they were added.
class ModuleDictImpl : public Cloneable<ModuleDictImpl> {
 public:
  using Iterator = OrderedDict<std::string, std::shared_ptr<Module>>::Iterator;
  using ConstIterator = OrderedDict<std::string, std::shared_ptr<Module>>::ConstIterator;

  ModuleDictImpl() = default;
  explicit ModuleDictImpl(const std::vector<std::pair<std::string, std::shared_ptr<Module>>>& modules) {
    update(modules);
  }
  explicit ModuleDictImpl(const OrderedDict<std::string, std::shared_ptr<Module>>& modules) { update(modules); }

  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override {
    auto copy = std::make_shared<ModuleDictImpl>();
    for (const auto& entry : modules_) copy->insert(entry.key(), entry.value()->clone(device));
    return copy;
  }
  void reset() override {}
  void pretty_print(std::ostream& stream) const override { stream << "torch::nn::ModuleDict"; }

  std::vector<std::pair<std::string, std::shared_ptr<Module>>> items() const { return modules_.pairs(); }
  std::vector<std::string> keys() const { return modules_.keys(); }
  std::vector<std::shared_ptr<Module>> values() const { return modules_.values(); }
  Iterator begin() { return modules_.begin(); }
  Iterator end() { return modules_.end(); }
  ConstIterator begin() const { return modules_.begin(); }
  ConstIterator end() const { return modules_.end(); }
  size_t size() const noexcept { return modules_.size(); }
  bool empty() const noexcept { return modules_.is_empty(); }
  bool contains(const std::string& key) const noexcept { return modules_.contains(key); }
  /// Empties the dictionary; the modules stay registered, as in PyTorch.
  void clear() { modules_.clear(); }
  std::shared_ptr<Module> operator[](const std::string& key) const { return modules_[key]; }
  template <typename T>
  T& at(const std::string& key) {
    auto* module = modules_[key]->as<T>();
    TORCH_CHECK(module != nullptr, "Unable to cast module[ ", key, " ] to ", c10::demangle(typeid(T).name()));
    return *module;
  }
  /// Takes the module out; it stays registered, as in PyTorch.
  std::shared_ptr<Module> pop(const std::string& key) {
    auto module = modules_[key];
    modules_.erase(key);
    return module;
  }
  template <typename Container>
  void update(const Container& container) {
    for (const auto& item : container) insert(key_of(item), value_of(item));
  }

 private:
  template <typename Item>
  static auto key_of(const Item& item) -> decltype(item.key()) {
    return item.key();
  }
  template <typename Item>
  static auto key_of(const Item& item) -> decltype((item.first)) {
    return item.first;
  }
  template <typename Item>
  static auto value_of(const Item& item) -> decltype(item.value()) {
    return item.value();
  }
  template <typename Item>
  static auto value_of(const Item& item) -> decltype((item.second)) {
    return item.second;
  }
  void insert(const std::string& key, std::shared_ptr<Module> module) {
    if (contains(key)) {
      modules_[key] = replace_module(key, std::move(module));
    } else {
      modules_.insert(key, register_module(key, std::move(module)));
    }
  }
  OrderedDict<std::string, std::shared_ptr<Module>> modules_;
};
TORCH_MODULE(ModuleDict);

/// Parameters under their numbers.
class ParameterListImpl : public Cloneable<ParameterListImpl> {
 public:
  using Iterator = OrderedDict<std::string, Tensor>::Iterator;
  using ConstIterator = OrderedDict<std::string, Tensor>::ConstIterator;

  ParameterListImpl() = default;
  template <typename... Tensors, typename = std::enable_if_t<(std::is_convertible_v<Tensors, Tensor> && ...)>>
  explicit ParameterListImpl(Tensors&&... parameters) {
    (append(Tensor(std::forward<Tensors>(parameters))), ...);
  }
  template <typename... Tensors>
  explicit ParameterListImpl(const Tensors&... parameters) {
    (append(parameters), ...);
  }
  void reset() override {}
  void pretty_print(std::ostream& stream) const override { print(stream, *this, "ParameterList"); }

  void append(Tensor&& parameter) { add(parameter, parameter.requires_grad()); }
  void append(const Tensor& parameter) { add(parameter, parameter.requires_grad()); }
  void append(const OrderedDict<std::string, Tensor>::Item& pair) {
    register_parameter(pair.key(), pair.value(), pair.value().requires_grad());
  }
  template <typename Container>
  void extend(const Container& container) {
    for (const auto& parameter : container) append(parameter);
  }
  Iterator begin() { return parameters_.begin(); }
  Iterator end() { return parameters_.end(); }
  ConstIterator begin() const { return parameters_.begin(); }
  ConstIterator end() const { return parameters_.end(); }
  Tensor& at(size_t index) { return parameters_[index].value(); }
  const Tensor& at(size_t index) const { return parameters_[index].value(); }
  Tensor& operator[](size_t index) { return at(index); }
  const Tensor& operator[](size_t index) const { return at(index); }
  size_t size() const noexcept { return parameters_.size(); }
  bool is_empty() const noexcept { return parameters_.is_empty(); }

  /// The entries of a container of parameters, one a line.
  template <typename Container>
  static void print(std::ostream& stream, const Container& container, const char* name) {
    stream << "torch::nn::" << name << "(\n";
    for (const auto& entry : container) {
      const Tensor& tensor = entry.value();
      stream << '(' << entry.key() << "): Parameter containing: [" << tensor.scalar_type() << " of size "
             << tensor.sizes() << "]\n";
    }
    stream << ')';
  }

 private:
  void add(const Tensor& parameter, bool requires_grad) {
    register_parameter(std::to_string(size()), parameter, requires_grad);
  }
};
TORCH_MODULE(ParameterList);

/// Parameters under names of one's own.
class ParameterDictImpl : public Cloneable<ParameterDictImpl> {
 public:
  using Iterator = OrderedDict<std::string, Tensor>::Iterator;
  using ConstIterator = OrderedDict<std::string, Tensor>::ConstIterator;

  ParameterDictImpl() = default;
  explicit ParameterDictImpl(const OrderedDict<std::string, Tensor>& parameters) : initial_(parameters) {
    ParameterDictImpl::reset();
  }
  void reset() override {
    for (const auto& entry : initial_) insert(entry.key(), entry.value());
  }
  void pretty_print(std::ostream& stream) const override {
    ParameterListImpl::print(stream, parameters_, "ParameterDict");
  }

  Tensor& insert(std::string key, Tensor parameter) {
    const bool requires_grad = parameter.requires_grad();
    return register_parameter(std::move(key), std::move(parameter), requires_grad);
  }
  /// Takes the parameter out.
  Tensor pop(const std::string& key) {
    Tensor parameter = parameters_[key];
    parameters_.erase(key);
    return parameter;
  }
  template <typename Container>
  void update(const Container& container) {
    for (const auto& entry : container) parameters_.contains(entry.key())
        ? void(parameters_[entry.key()] = entry.value())
        : void(insert(entry.key(), entry.value()));
  }
  void update(const ParameterDictImpl& other) { update(other.parameters_); }
  std::vector<std::string> keys() const { return parameters_.keys(); }
  std::vector<Tensor> values() const { return parameters_.values(); }
  Iterator begin() { return parameters_.begin(); }
  Iterator end() { return parameters_.end(); }
  ConstIterator begin() const { return parameters_.begin(); }
  ConstIterator end() const { return parameters_.end(); }
  size_t size() const noexcept { return parameters_.size(); }
  bool empty() const noexcept { return parameters_.is_empty(); }
  bool contains(const std::string& key) const noexcept { return parameters_.contains(key); }
  void clear() { parameters_.clear(); }
  Tensor& get(const std::string& key) { return parameters_[key]; }
  const Tensor& get(const std::string& key) const { return parameters_[key]; }
  Tensor& operator[](const std::string& key) { return parameters_[key]; }
  const Tensor& operator[](const std::string& key) const { return parameters_[key]; }

 private:
  OrderedDict<std::string, Tensor> initial_;
};
TORCH_MODULE(ParameterDict);

}  // namespace torch::nn
