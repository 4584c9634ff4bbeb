// A layer that is its options and a function: what most layers are.
#pragma once

#include <torch/nn/cloneable.h>

namespace torch::nn {

/// A module with options and nothing else; made from them, or from what they are made from.
template <typename Derived, typename Options>
class OptionsModule : public Cloneable<Derived> {
 public:
  OptionsModule() = default;
  template <typename... Args, typename = std::enable_if_t<(sizeof...(Args) > 0) &&
                                                          std::is_constructible_v<Options, Args&&...>>>
  explicit OptionsModule(Args&&... args) : options(std::forward<Args>(args)...) {}
  void reset() override {}

  Options options;
};

/// The same without options.
template <typename Derived>
class PlainModule : public Cloneable<Derived> {
 public:
  void reset() override {}
};

}  // namespace torch::nn

// torch::nn::Name with NameOptions: what it prints between its parentheses, its forward's parameters, its value.
#define TORCH_LAYER(Name, printed, parameters, ...)                            \
  class Name##Impl : public OptionsModule<Name##Impl, Name##Options> {         \
   public:                                                                     \
    using OptionsModule::OptionsModule;                                        \
    Name##Impl() = default;                                                    \
    void pretty_print(std::ostream& stream) const override {                   \
      stream << std::boolalpha << "torch::nn::" #Name "(" << printed << ')';   \
    }                                                                          \
    Tensor forward parameters { return __VA_ARGS__; }                          \
  };                                                                           \
  TORCH_MODULE(Name)
#define TORCH_LAYER_WITHOUT_OPTIONS(Name, parameters, ...)                                              \
  class Name##Impl : public PlainModule<Name##Impl> {                                                   \
   public:                                                                                              \
    void pretty_print(std::ostream& stream) const override { stream << "torch::nn::" #Name "()"; }       \
    Tensor forward parameters { return __VA_ARGS__; }                                                   \
  };                                                                                                    \
  TORCH_MODULE(Name)
// In a layer with parameters: its constructors, which make them.
#define TORCH_LAYER_CONSTRUCTORS(Name)                                                                       \
  template <typename... Args,                                                                                \
            typename = std::enable_if_t<(sizeof...(Args) > 0) && std::is_constructible_v<Name##Options, Args&&...>>> \
  explicit Name##Impl(Args&&... args) : options(std::forward<Args>(args)...) {                               \
    Name##Impl::reset();                                                                                     \
  }
