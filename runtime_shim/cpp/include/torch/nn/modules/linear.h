// torch::nn::Linear, Flatten, Identity.
#pragma once

#include <torch/nn/cloneable.h>
#include <torch/nn/functional.h>
#include <torch/nn/init.h>

#include <cmath>

namespace torch::nn {

class LinearImpl : public Cloneable<LinearImpl> {
 public:
  LinearImpl(int64_t in_features, int64_t out_features) : LinearImpl(LinearOptions(in_features, out_features)) {}
  explicit LinearImpl(const LinearOptions& options_) : options(options_) { LinearImpl::reset(); }
  void reset() override {
    weight = register_parameter("weight", torch::empty({options.out_features(), options.in_features()}));
    bias = options.bias() ? register_parameter("bias", torch::empty(options.out_features()))
                          : register_parameter("bias", {}, /*requires_grad=*/false);
    reset_parameters();
  }
  void reset_parameters() {
    init::kaiming_uniform_(weight, std::sqrt(5));
    if (!bias.defined()) return;
    const double bound = 1 / std::sqrt(static_cast<double>(options.in_features()));
    init::uniform_(bias, -bound, bound);
  }
  void pretty_print(std::ostream& stream) const override {
    stream << std::boolalpha << "torch::nn::Linear(in_features=" << options.in_features()
           << ", out_features=" << options.out_features() << ", bias=" << options.bias() << ')';
  }
  Tensor forward(const Tensor& input) { return functional::linear(input, weight, bias); }

  LinearOptions options;
  Tensor weight;
  Tensor bias;
};
TORCH_MODULE(Linear);

class FlattenImpl : public Cloneable<FlattenImpl> {
 public:
  explicit FlattenImpl(const FlattenOptions& options_ = {}) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override {
    stream << "torch::nn::Flatten(start_dim=" << options.start_dim() << ", end_dim=" << options.end_dim() << ')';
  }
  Tensor forward(const Tensor& input) { return input.flatten(options.start_dim(), options.end_dim()); }

  FlattenOptions options;
};
TORCH_MODULE(Flatten);

class IdentityImpl : public Cloneable<IdentityImpl> {
 public:
  void reset() override {}
  void pretty_print(std::ostream& stream) const override { stream << "torch::nn::Identity()"; }
  Tensor forward(const Tensor& input) { return input; }
};
TORCH_MODULE(Identity);

}  // namespace torch::nn
