// torch::RegisterOperators: the way to register ops that came before TORCH_LIBRARY.
#pragma once

#include <torch/library.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace c10 {

/// `static auto registry = torch::RegisterOperators().op("mine::f", &f).op("mine::g(Tensor x) -> Tensor", &g);`
class RegisterOperators final {
 public:
  /// An op and its kernels: `RegisterOperators::options().schema("…").kernel<decltype(f), &f>(DispatchKey::CPU)`.
  class Options final {
   public:
    Options&& schema(std::string schema) && {
      schema_ = std::move(schema);
      return std::move(*this);
    }
    template <typename Function, Function* function>
    Options&& kernel(DispatchKey key) && {
      return std::move(*this).add(key, Kernel::make(function));
    }
    template <typename Lambda>
    Options&& kernel(DispatchKey key, Lambda&& lambda) && {
      return std::move(*this).add(key, Kernel::make(std::forward<Lambda>(lambda)));
    }
    /// A function of a stack.
    template <void (*function)(const OperatorHandle&, Stack*)>
    Options&& kernel(DispatchKey key) && {
      return std::move(*this).add(key, Kernel::makeFromBoxedFunction<function>());
    }
    /// An object of a class derived from OperatorKernel, made from the arguments.
    template <typename Class, typename... Args>
    std::enable_if_t<std::is_base_of_v<OperatorKernel, Class>, Options&&> kernel(DispatchKey key, Args... args) && {
      return std::move(*this).add(key, Kernel::make(Class(std::move(args)...)));
    }
    template <typename Function, Function* function>
    Options&& catchAllKernel() && {
      return std::move(*this).add(DispatchKey::CompositeImplicitAutograd, Kernel::make(function));
    }
    template <typename Lambda>
    Options&& catchAllKernel(Lambda&& lambda) && {
      return std::move(*this).add(DispatchKey::CompositeImplicitAutograd, Kernel::make(std::forward<Lambda>(lambda)));
    }
    template <void (*function)(const OperatorHandle&, Stack*)>
    Options&& catchAllKernel() && {
      return std::move(*this).add(DispatchKey::CompositeImplicitAutograd, Kernel::makeFromBoxedFunction<function>());
    }
    template <typename Class, typename... Args>
    std::enable_if_t<std::is_base_of_v<OperatorKernel, Class>, Options&&> catchAllKernel(Args... args) && {
      return std::move(*this).add(DispatchKey::CompositeImplicitAutograd, Kernel::make(Class(std::move(args)...)));
    }

   private:
    friend class RegisterOperators;
    Options&& add(DispatchKey key, const Kernel& kernel) && {
      kernels_.emplace_back(key, kernel);
      return std::move(*this);
    }
    std::string schema_;
    std::vector<std::pair<DispatchKey, Kernel>> kernels_;
  };

  RegisterOperators() = default;
  template <typename Function>
  RegisterOperators(const std::string& schema, Function&& function) {
    std::move(*this).op(schema, std::forward<Function>(function));
  }
  /// What was registered lasts as long as this object.
  RegisterOperators(RegisterOperators&&) noexcept = default;
  RegisterOperators& operator=(RegisterOperators&&) noexcept = default;
  static Options options() { return {}; }

  RegisterOperators&& op(const std::string& schema) && { return std::move(*this).op(options().schema(schema)); }
  RegisterOperators&& op(Options&& options) && {
    guardfix::registering([&] {
      const std::string schema = full_schema(options);
      const std::string name = schema.substr(0, schema.find('('));
      auto& dispatcher = Dispatcher::singleton();
      handles_.push_back(dispatcher.define(name, schema));
      for (const auto& [key, kernel] : options.kernels_) handles_.push_back(dispatcher.implement(name, key, kernel));
    });
    return std::move(*this);
  }
  RegisterOperators&& op(const std::string& schema, Options&& options) && {
    return std::move(*this).op(std::move(options).schema(schema));
  }
  /// With a function, or a lambda that captures nothing, as the kernel for all keys.
  template <typename Function, typename = std::enable_if_t<!std::is_same_v<std::decay_t<Function>, Options>>>
  RegisterOperators&& op(const std::string& schema, Function&& function, Options&& options = {}) && {
    return std::move(*this).op(
        std::move(options).schema(schema).catchAllKernel(std::forward<Function>(function)));
  }

 private:
  /// The schema of the options; if they name the op alone, with what a kernel's signature says.
  static std::string full_schema(const Options& options) {
    const std::string& given = options.schema_;
    TORCH_CHECK(!given.empty(), "In operator registration: Tried to register an operator without specifying a schema or "
                                "operator name.");
    for (size_t i = 0; i < options.kernels_.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        if (options.kernels_[i].first == options.kernels_[j].first) {
          const bool catch_all = options.kernels_[i].first == DispatchKey::CompositeImplicitAutograd;
          TORCH_CHECK(!catch_all, "Tried to register multiple catch-all kernels for operator schema ", given);
          TORCH_CHECK(false, "In operator registration: Tried to register multiple kernels with same dispatch key ",
                      options.kernels_[i].first, " for operator schema ", given);
        }
    if (given.find('(') != std::string::npos) return given;
    TORCH_CHECK(!options.kernels_.empty(), "Cannot infer operator schema in registration of operator ", given,
                " because there is no kernel specified.");
    for (const auto& [key, kernel] : options.kernels_)
      if (!kernel.schema().empty()) return given + kernel.schema();
    TORCH_CHECK(false, "Cannot infer operator schema for this kind of kernel in registration of operator ", given,
                ". Please explicitly specify the operator schema or specify at least one kernel for which we can infer "
                "the schema.");
  }
  std::vector<RegistrationHandleRAII> handles_;
};

}  // namespace c10

namespace torch {
using RegisterOperators = c10::RegisterOperators;
}  // namespace torch
