// Pooling as layers.
#pragma once

#include <torch/nn/functional/pooling.h>
#include <torch/nn/modules/common.h>

namespace torch::nn {

#define TORCH_POOLING(D)                                                                                             \
  class MaxPool##D##dImpl : public OptionsModule<MaxPool##D##dImpl, MaxPool##D##dOptions> {                          \
   public:                                                                                                           \
    using OptionsModule::OptionsModule;                                                                              \
    MaxPool##D##dImpl(ExpandingArray<D> kernel_size) : OptionsModule(MaxPool##D##dOptions(kernel_size)) {}           \
    void pretty_print(std::ostream& stream) const override {                                                         \
      stream << std::boolalpha << "torch::nn::MaxPool" #D "d(kernel_size=" << options.kernel_size()                  \
             << ", stride=" << options.stride() << ", padding=" << options.padding()                                 \
             << ", dilation=" << options.dilation() << ", ceil_mode=" << options.ceil_mode() << ')';                 \
    }                                                                                                                \
    Tensor forward(const Tensor& input) { return functional::max_pool##D##d(input, options); }                       \
    std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input) {                                           \
      return functional::max_pool##D##d_with_indices(input, options);                                                \
    }                                                                                                                \
  };                                                                                                                 \
  TORCH_MODULE(MaxPool##D##d);                                                                                       \
  class AvgPool##D##dImpl : public OptionsModule<AvgPool##D##dImpl, AvgPool##D##dOptions> {                          \
   public:                                                                                                           \
    using OptionsModule::OptionsModule;                                                                              \
    AvgPool##D##dImpl(ExpandingArray<D> kernel_size) : OptionsModule(AvgPool##D##dOptions(kernel_size)) {}           \
    void pretty_print(std::ostream& stream) const override {                                                         \
      stream << "torch::nn::AvgPool" #D "d(kernel_size=" << options.kernel_size() << ", stride=" << options.stride() \
             << ", padding=" << options.padding() << ')';                                                            \
    }                                                                                                                \
    Tensor forward(const Tensor& input) { return functional::avg_pool##D##d(input, options); }                       \
  };                                                                                                                 \
  TORCH_MODULE(AvgPool##D##d);                                                                                       \
  class AdaptiveMaxPool##D##dImpl : public OptionsModule<AdaptiveMaxPool##D##dImpl, AdaptiveMaxPool##D##dOptions> {  \
   public:                                                                                                           \
    using OptionsModule::OptionsModule;                                                                              \
    void pretty_print(std::ostream& stream) const override {                                                         \
      stream << "torch::nn::AdaptiveMaxPool" #D "d(output_size=" << options.output_size() << ')';                    \
    }                                                                                                                \
    Tensor forward(const Tensor& input) { return functional::adaptive_max_pool##D##d(input, options); }              \
    std::tuple<Tensor, Tensor> forward_with_indices(const Tensor& input) {                                           \
      return functional::adaptive_max_pool##D##d_with_indices(input, options);                                       \
    }                                                                                                                \
  };                                                                                                                 \
  TORCH_MODULE(AdaptiveMaxPool##D##d);                                                                               \
  TORCH_LAYER(AdaptiveAvgPool##D##d, "output_size=" << options.output_size(), (const Tensor& input),                 \
              functional::adaptive_avg_pool##D##d(input, options));                                                  \
  class MaxUnpool##D##dImpl : public OptionsModule<MaxUnpool##D##dImpl, MaxUnpool##D##dOptions> {                    \
   public:                                                                                                           \
    using OptionsModule::OptionsModule;                                                                              \
    void pretty_print(std::ostream& stream) const override {                                                         \
      stream << "torch::nn::MaxUnpool" #D "d(kernel_size=" << options.kernel_size()                                  \
             << ", stride=" << options.stride() << ", padding=" << options.padding() << ')';                         \
    }                                                                                                                \
    Tensor forward(const Tensor& input, const Tensor& indices,                                                       \
                   const std::optional<std::vector<int64_t>>& output_size = std::nullopt) {                          \
      return functional::max_unpool##D##d(input, indices,                                                            \
                                          functional::MaxUnpool##D##dFuncOptions(options.kernel_size())              \
                                              .stride(options.stride())                                              \
                                              .padding(options.padding())                                            \
                                              .output_size(output_size));                                            \
    }                                                                                                                \
                                                                                                                     \
   protected:                                                                                                        \
    FORWARD_HAS_DEFAULT_ARGS({2, AnyValue(std::optional<std::vector<int64_t>>())})                                   \
  };                                                                                                                 \
  TORCH_MODULE(MaxUnpool##D##d);
TORCH_POOLING(1);
TORCH_POOLING(2);
TORCH_POOLING(3);
#undef TORCH_POOLING

}  // namespace torch::nn
