// torch::nn::MaxPool2d, AvgPool2d, AdaptiveAvgPool2d.
#pragma once

#include <torch/nn/cloneable.h>
#include <torch/nn/functional.h>

namespace torch::nn {

class MaxPool2dImpl : public Cloneable<MaxPool2dImpl> {
 public:
  MaxPool2dImpl(ExpandingArray<2> kernel_size) : MaxPool2dImpl(MaxPool2dOptions(kernel_size)) {}
  explicit MaxPool2dImpl(const MaxPool2dOptions& options_) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override {
    stream << "torch::nn::MaxPool2d(kernel_size=" << options.kernel_size() << ", stride=" << options.stride()
           << ", padding=" << options.padding() << ", dilation=" << ExpandingArray<2>(1) << ", ceil_mode=false)";
  }
  Tensor forward(const Tensor& input) { return functional::max_pool2d(input, options); }

  MaxPool2dOptions options;
};
TORCH_MODULE(MaxPool2d);

class AvgPool2dImpl : public Cloneable<AvgPool2dImpl> {
 public:
  AvgPool2dImpl(ExpandingArray<2> kernel_size) : AvgPool2dImpl(AvgPool2dOptions(kernel_size)) {}
  explicit AvgPool2dImpl(const AvgPool2dOptions& options_) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override {
    stream << "torch::nn::AvgPool2d(kernel_size=" << options.kernel_size() << ", stride=" << options.stride()
           << ", padding=" << options.padding() << ')';
  }
  Tensor forward(const Tensor& input) { return functional::avg_pool2d(input, options); }

  AvgPool2dOptions options;
};
TORCH_MODULE(AvgPool2d);

class AdaptiveAvgPool2dImpl : public Cloneable<AdaptiveAvgPool2dImpl> {
 public:
  AdaptiveAvgPool2dImpl(ExpandingArray<2> output_size) : AdaptiveAvgPool2dImpl(AdaptiveAvgPool2dOptions(output_size)) {}
  explicit AdaptiveAvgPool2dImpl(const AdaptiveAvgPool2dOptions& options_) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override {
    stream << "torch::nn::AdaptiveAvgPool2d(output_size=" << options.output_size() << ')';
  }
  Tensor forward(const Tensor& input) { return functional::adaptive_avg_pool2d(input, options); }

  AdaptiveAvgPool2dOptions options;
};
TORCH_MODULE(AdaptiveAvgPool2d);

}  // namespace torch::nn
