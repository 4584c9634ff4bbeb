// torch::nn::LayerNorm, GroupNorm, LocalResponseNorm, CrossMapLRN2d.
#pragma once

#include <torch/nn/functional/normalization.h>
#include <torch/nn/modules/common.h>

namespace torch::nn {

class LayerNormImpl : public Cloneable<LayerNormImpl> {
 public:
  LayerNormImpl(std::vector<int64_t> normalized_shape) : LayerNormImpl(LayerNormOptions(std::move(normalized_shape))) {}
  explicit LayerNormImpl(LayerNormOptions options_) : options(std::move(options_)) { LayerNormImpl::reset(); }
  void reset() override {
    const bool affine = options.elementwise_affine();
    weight = register_parameter("weight", affine ? torch::empty(options.normalized_shape()) : Tensor(), affine);
    bias = register_parameter("bias", affine ? torch::empty(options.normalized_shape()) : Tensor(), affine);
    reset_parameters();
  }
  void reset_parameters() {
    if (!options.elementwise_affine()) return;
    const NoGradGuard no_grad;
    weight.fill_(1);
    bias.zero_();
  }
  void pretty_print(std::ostream& stream) const override {
    stream << std::boolalpha << "torch::nn::LayerNorm(" << IntArrayRef(options.normalized_shape())
           << ", eps=" << options.eps() << ", elementwise_affine=" << options.elementwise_affine() << ')';
  }
  Tensor forward(const Tensor& input) {
    return functional::layer_norm(
        input, functional::LayerNormFuncOptions(options.normalized_shape()).weight(weight).bias(bias).eps(options.eps()));
  }

  LayerNormOptions options;
  Tensor weight;
  Tensor bias;
};
TORCH_MODULE(LayerNorm);

class GroupNormImpl : public Cloneable<GroupNormImpl> {
 public:
  GroupNormImpl(int64_t num_groups, int64_t num_channels) : GroupNormImpl(GroupNormOptions(num_groups, num_channels)) {}
  explicit GroupNormImpl(const GroupNormOptions& options_) : options(options_) { GroupNormImpl::reset(); }
  void reset() override {
    const bool affine = options.affine();
    weight = register_parameter("weight", affine ? torch::empty(options.num_channels()) : Tensor(), affine);
    bias = register_parameter("bias", affine ? torch::empty(options.num_channels()) : Tensor(), affine);
    reset_parameters();
  }
  void reset_parameters() {
    if (!options.affine()) return;
    const NoGradGuard no_grad;
    weight.fill_(1);
    bias.zero_();
  }
  void pretty_print(std::ostream& stream) const override {
    stream << std::boolalpha << "torch::nn::GroupNorm(" << options.num_groups() << ", " << options.num_channels()
           << ", eps=" << options.eps() << ", affine=" << options.affine() << ')';
  }
  Tensor forward(const Tensor& input) {
    return functional::group_norm(
        input, functional::GroupNormFuncOptions(options.num_groups()).weight(weight).bias(bias).eps(options.eps()));
  }

  GroupNormOptions options;
  Tensor weight;
  Tensor bias;
};
TORCH_MODULE(GroupNorm);

TORCH_LAYER(LocalResponseNorm,
            options.size() << ", alpha=" << options.alpha() << ", beta=" << options.beta() << ", k=" << options.k(),
            (const Tensor& input), functional::local_response_norm(input, options));

class CrossMapLRN2dImpl : public OptionsModule<CrossMapLRN2dImpl, CrossMapLRN2dOptions> {
 public:
  using OptionsModule::OptionsModule;
  void pretty_print(std::ostream& stream) const override {
    stream << "torch::nn::CrossMapLRN2d(" << options.size() << ", alpha=" << options.alpha()
           << ", beta=" << options.beta() << ", k=" << options.k() << ')';
  }
  Tensor forward(const Tensor& input) {
    TORCH_CHECK(input.dim() == 4, "CrossMapLRN2d: Expected input to be 4D, got ", input.dim(), "D instead.");
    return functional::local_response_norm(input, functional::LocalResponseNormFuncOptions(options.size())
                                                      .alpha(options.alpha())
                                                      .beta(options.beta())
                                                      .k(static_cast<double>(options.k())));
  }
};
TORCH_MODULE(CrossMapLRN2d);

}  // namespace torch::nn
