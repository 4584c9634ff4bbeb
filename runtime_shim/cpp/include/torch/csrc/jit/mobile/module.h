// Modules of the lite interpreter. Their files bring the TorchScript as well, and that is what runs here.
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace torch::jit::mobile {

class Method {
 public:
  Method(std::string name, torch::jit::Method method) : name_(std::move(name)), method_(std::move(method)) {}
  c10::IValue operator()(std::vector<c10::IValue> stack) const { return method_(stack); }
  /// Puts the result in the place of the arguments.
  void run(std::vector<c10::IValue>& stack) const { stack = {method_(stack)}; }
  void run(std::vector<c10::IValue>&& stack) const { run(stack); }
  const std::string& name() const { return name_; }

 private:
  std::string name_;
  torch::jit::Method method_;
};

class Module {
 public:
  Module() = default;
  explicit Module(torch::jit::Module module) : module_(std::move(module)) {}

  c10::IValue forward(std::vector<c10::IValue> inputs) { return module_.forward(inputs); }
  Method get_method(const std::string& method_name) const { return {method_name, module_.get_method(method_name)}; }
  template <typename... Types>
  c10::IValue run_method(const std::string& method_name, Types&&... args) {
    return module_.run_method(method_name, std::forward<Types>(args)...);
  }
  std::optional<Method> find_method(const std::string& basename) const {
    if (!module_.find_method(basename)) return std::nullopt;
    return get_method(basename);
  }
  std::string name() const { return module_.type()->str(); }
  std::vector<at::Tensor> parameters() const { return module_.parameters(); }
  std::map<std::string, at::Tensor> named_parameters() const {
    std::map<std::string, at::Tensor> found;
    for (const auto& entry : module_.named_parameters()) found.emplace(entry.name, entry.value);
    return found;
  }
  void train(bool on = true) { module_.train(on); }
  void eval() { module_.eval(); }
  bool is_training() const { return module_.is_training(); }
  c10::IValue attr(const std::string& name, c10::IValue or_else) const {
    return module_.hasattr(name) ? module_.attr(name) : std::move(or_else);
  }

 private:
  torch::jit::Module module_;
};

}  // namespace torch::jit::mobile
