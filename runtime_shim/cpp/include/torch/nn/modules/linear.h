// torch::nn::Linear, Bilinear, Flatten, Unflatten, Identity.
#pragma once

#include <torch/nn/functional/activation.h>
#include <torch/nn/init.h>
#include <torch/nn/modules/common.h>

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

class BilinearImpl : public Cloneable<BilinearImpl> {
 public:
  BilinearImpl(int64_t in1_features, int64_t in2_features, int64_t out_features)
      : BilinearImpl(BilinearOptions(in1_features, in2_features, out_features)) {}
  explicit BilinearImpl(const BilinearOptions& options_) : options(options_) { BilinearImpl::reset(); }
  void reset() override {
    weight = register_parameter(
        "weight", torch::empty({options.out_features(), options.in1_features(), options.in2_features()}));
    bias = register_parameter("bias", options.bias() ? torch::empty(options.out_features()) : Tensor(), options.bias());
    reset_parameters();
  }
  void reset_parameters() {
    const double bound = 1 / std::sqrt(static_cast<double>(weight.size(1)));
    init::uniform_(weight, -bound, bound);
    if (bias.defined()) init::uniform_(bias, -bound, bound);
  }
  void pretty_print(std::ostream& stream) const override {
    stream << std::boolalpha << "torch::nn::Bilinear(in1_features=" << options.in1_features()
           << ", in2_features=" << options.in2_features() << ", out_features=" << options.out_features()
           << ", bias=" << options.bias() << ')';
  }
  Tensor forward(const Tensor& input1, const Tensor& input2) {
    return functional::bilinear(input1, input2, weight, bias);
  }

  BilinearOptions options;
  Tensor weight;
  Tensor bias;
};
TORCH_MODULE(Bilinear);

TORCH_LAYER(Flatten, "start_dim=" << options.start_dim() << ", end_dim=" << options.end_dim(), (const Tensor& input),
            input.flatten(options.start_dim(), options.end_dim()));

class UnflattenImpl : public OptionsModule<UnflattenImpl, UnflattenOptions> {
 public:
  using OptionsModule::OptionsModule;
  UnflattenImpl(int64_t dim, std::vector<int64_t> sizes) : OptionsModule(UnflattenOptions(dim, std::move(sizes))) {}
  UnflattenImpl(std::string dimname, UnflattenOptions::namedshape_t namedshape)
      : OptionsModule(UnflattenOptions(dimname, std::move(namedshape))) {}
  void pretty_print(std::ostream& stream) const override {
    if (options.namedshape().empty()) {
      stream << "torch::nn::Unflatten(dim=" << options.dim() << ", unflattened_size={";
      for (size_t i = 0; i < options.sizes().size(); ++i) stream << (i ? ", " : "") << options.sizes()[i];
      stream << "})";
      return;
    }
    stream << "torch::nn::Unflatten(dim=\"" << options.dimname() << "\", unflattened_size={";
    for (size_t i = 0; i < options.namedshape().size(); ++i)
      stream << (i ? ", " : "") << "{\"" << options.namedshape()[i].first << "\", " << options.namedshape()[i].second
             << '}';
    stream << "})";
  }
  Tensor forward(const Tensor& input) {
    TORCH_CHECK_NOT_IMPLEMENTED(options.namedshape().empty(), "the shim has no named dimensions");
    return input.unflatten(options.dim(), options.sizes());
  }
};
TORCH_MODULE(Unflatten);

class IdentityImpl : public Cloneable<IdentityImpl> {
 public:
  IdentityImpl() = default;
  /// What the layer that it stands for was made with is ignored.
  template <typename Head, typename... Tail,
            typename = std::enable_if_t<!std::is_base_of_v<Module, std::decay_t<Head>>>>
  explicit IdentityImpl(Head&&, Tail&&...) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override { stream << "torch::nn::Identity()"; }
  Tensor forward(const Tensor& input) { return input; }
};
TORCH_MODULE(Identity);

}  // namespace torch::nn
