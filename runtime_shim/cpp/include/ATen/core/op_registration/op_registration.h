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
      return std::move(*this).add(key, Kernel::make(lambda));
    }
    template <typename Function, Function* function>
    Options&& catchAllKernel() && {
      return std::move(*this).add(DispatchKey::CompositeImplicitAutograd, Kernel::make(function));
    }
    template <typename Lambda>
    Options&& catchAllKernel(Lambda&& lambda) && {
      return std::move(*this).add(DispatchKey::CompositeImplicitAutograd, Kernel::make(lambda));
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
  static Options options() { return {}; }

  RegisterOperators&& op(const std::string& schema) && { return std::move(*this).op(options().schema(schema)); }
  RegisterOperators&& op(Options&& options) && {
    guardfix::registering([&] {
      const std::string schema = options.schema_.find('(') != std::string::npos || options.kernels_.empty()
                                     ? options.schema_
                                     : options.schema_ + options.kernels_.front().second.schema();
      const std::string name = schema.substr(0, schema.find('('));
      Dispatcher::singleton().define(name, schema);
      for (const auto& [key, kernel] : options.kernels_) Dispatcher::singleton().implement(name, key, kernel);
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
};

}  // namespace c10

namespace torch {
using RegisterOperators = c10::RegisterOperators;
}  // namespace torch
