// torch::nn::Conv1d and Conv2d.
#pragma once

#include <torch/nn/cloneable.h>
#include <torch/nn/functional.h>
#include <torch/nn/init.h>

#include <cmath>

namespace torch::nn {

/// What the convolutions have in common; Derived is the one of D dimensions.
template <size_t D, typename Derived>
class ConvNdImpl : public Cloneable<Derived> {
 public:
  explicit ConvNdImpl(ConvOptions<D> options_) : options(std::move(options_)) { ConvNdImpl::reset(); }
  void reset() override {
    TORCH_CHECK(options.in_channels() > 0 && options.groups() > 0 && options.out_channels() > 0,
                "in_channels, groups and out_channels must be a positive integer.");
    TORCH_CHECK(options.in_channels() % options.groups() == 0, "in_channels must be divisible by groups");
    TORCH_CHECK(options.out_channels() % options.groups() == 0, "out_channels must be divisible by groups");
    std::vector<int64_t> sizes = {options.out_channels(), options.in_channels() / options.groups()};
    for (const int64_t size : *options.kernel_size()) sizes.push_back(size);
    weight = this->register_parameter("weight", torch::empty(sizes));
    bias = this->register_parameter("bias", options.bias() ? torch::empty(options.out_channels()) : Tensor(),
                                    options.bias());
    init::kaiming_uniform_(weight, std::sqrt(5));
    if (!bias.defined()) return;
    const double bound = 1 / std::sqrt(static_cast<double>(weight.numel() / options.out_channels()));
    init::uniform_(bias, -bound, bound);
  }
  void pretty_print(std::ostream& stream) const override {
    stream << "torch::nn::Conv" << D << "d(" << options.in_channels() << ", " << options.out_channels()
           << ", kernel_size=" << options.kernel_size() << ", stride=" << options.stride();
    if (*options.padding() != *ExpandingArray<D>(0)) stream << ", padding=" << options.padding();
    if (*options.dilation() != *ExpandingArray<D>(1)) stream << ", dilation=" << options.dilation();
    if (options.groups() != 1) stream << ", groups=" << options.groups();
    if (!options.bias()) stream << ", bias=" << std::boolalpha << false;
    stream << ')';
  }

  ConvOptions<D> options;
  Tensor weight;
  Tensor bias;

 protected:
  functional::ConvFuncOptions<D> func_options() const {
    return functional::ConvFuncOptions<D>()
        .bias(bias)
        .stride(options.stride())
        .padding(options.padding())
        .dilation(options.dilation())
        .groups(options.groups());
  }
};

#define TORCH_CONVOLUTION(D)                                                                                  \
  class Conv##D##dImpl : public ConvNdImpl<D, Conv##D##dImpl> {                                               \
   public:                                                                                                    \
    Conv##D##dImpl(int64_t input_channels, int64_t output_channels, ExpandingArray<D> kernel_size)            \
        : Conv##D##dImpl(Conv##D##dOptions(input_channels, output_channels, kernel_size)) {}                  \
    explicit Conv##D##dImpl(Conv##D##dOptions options_) : ConvNdImpl(std::move(options_)) {}                  \
    Tensor forward(const Tensor& input) { return functional::conv##D##d(input, weight, func_options()); }     \
  };                                                                                                          \
  TORCH_MODULE(Conv##D##d)
TORCH_CONVOLUTION(1);
TORCH_CONVOLUTION(2);
#undef TORCH_CONVOLUTION

}  // namespace torch::nn
