// torch::nn::functional: what the layers compute, as functions with options.
#pragma once

#include <torch/nn/options.h>

namespace torch::nn::functional {

namespace detail {

/// A function of the Python module's nn.functional, looked up once.
class Function : public guardfix::Op {
 public:
  constexpr explicit Function(const char* name) : Op(name, "functional") {}
  Tensor operator()(std::initializer_list<guardfix::Arg> args) const {
    return Tensor::from_python(Op::operator()(args));
  }
};
/// An optional tensor is undefined in C++ and None in Python.
inline guardfix::Arg optional(const char* name, const Tensor& tensor) {
  return guardfix::kw(name, tensor.defined() ? guardfix::Arg(tensor) : guardfix::Arg(std::nullopt));
}
inline guardfix::Arg in_place(bool inplace) { return guardfix::kw("inplace", inplace ? guardfix::Arg(true) : guardfix::Arg(std::nullopt)); }

}  // namespace detail

inline Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias = {}) {
  static const detail::Function call{"linear"};
  return call({input, weight, detail::optional("bias", bias)});
}
inline Tensor conv1d(const Tensor& input, const Tensor& weight, const Conv1dFuncOptions& options = {}) {
  static const detail::Function call{"conv1d"};
  return call({input, weight, detail::optional("bias", options.bias()), guardfix::kw("stride", IntArrayRef(options.stride())),
               guardfix::kw("padding", IntArrayRef(options.padding())),
               guardfix::kw("dilation", IntArrayRef(options.dilation())), guardfix::kw("groups", options.groups())});
}
inline Tensor conv2d(const Tensor& input, const Tensor& weight, const Conv2dFuncOptions& options = {}) {
  static const detail::Function call{"conv2d"};
  return call({input, weight, detail::optional("bias", options.bias()), guardfix::kw("stride", IntArrayRef(options.stride())),
               guardfix::kw("padding", IntArrayRef(options.padding())),
               guardfix::kw("dilation", IntArrayRef(options.dilation())), guardfix::kw("groups", options.groups())});
}
inline Tensor embedding(const Tensor& input, const Tensor& weight, const EmbeddingFuncOptions& options = {}) {
  static const detail::Function call{"embedding"};
  return call({input, weight, guardfix::kw("padding_idx", options.padding_idx())});
}

// ---- activations
inline Tensor relu(Tensor input, const ReLUFuncOptions& options = {}) {
  static const detail::Function call{"relu"};
  return call({input, detail::in_place(options.inplace())});
}
inline Tensor leaky_relu(Tensor input, const LeakyReLUFuncOptions& options = {}) {
  static const detail::Function call{"leaky_relu"};
  return call({input, options.negative_slope(), detail::in_place(options.inplace())});
}
inline Tensor elu(Tensor input, const ELUFuncOptions& options = {}) {
  static const detail::Function call{"elu"};
  return call({input, options.alpha(), detail::in_place(options.inplace())});
}
inline Tensor gelu(const Tensor& input, const GELUFuncOptions& options = {}) {
  return at::gelu(input, options.approximate());
}
inline Tensor silu(const Tensor& input) { return at::silu(input); }
inline Tensor softmax(const Tensor& input, const SoftmaxFuncOptions& options) { return input.softmax(options.dim()); }
inline Tensor log_softmax(const Tensor& input, const LogSoftmaxFuncOptions& options) {
  return input.log_softmax(options.dim());
}
inline Tensor softplus(const Tensor& input) { return at::softplus(input); }
inline Tensor dropout(Tensor input, const DropoutFuncOptions& options = {}) {
  static const detail::Function call{"dropout"};
  TORCH_CHECK(options.p() >= 0. && options.p() <= 1., "dropout probability has to be between 0 and 1, but got ",
              options.p());
  return call({input, options.p(), options.training(), detail::in_place(options.inplace())});
}
inline Tensor dropout2d(Tensor input, const Dropout2dFuncOptions& options = {}) {
  static const detail::Function call{"dropout2d"};
  return call({input, options.p(), options.training(), detail::in_place(options.inplace())});
}

// ---- pooling
inline Tensor max_pool2d(const Tensor& input, const MaxPool2dFuncOptions& options) {
  return at::max_pool2d(input, options.kernel_size(), options.stride(), options.padding());
}
inline Tensor avg_pool2d(const Tensor& input, const AvgPool2dFuncOptions& options) {
  return at::avg_pool2d(input, options.kernel_size(), options.stride(), options.padding());
}
inline Tensor adaptive_avg_pool2d(const Tensor& input, const AdaptiveAvgPool2dFuncOptions& options) {
  return at::adaptive_avg_pool2d(input, options.output_size());
}

// ---- normalisation
inline Tensor batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                         const BatchNormFuncOptions& options = {}) {
  static const detail::Function call{"batch_norm"};
  return call({input, running_mean, running_var, detail::optional("weight", options.weight()),
               detail::optional("bias", options.bias()), guardfix::kw("training", options.training()),
               guardfix::kw("momentum", options.momentum().value_or(0.0)), guardfix::kw("eps", options.eps())});
}
inline Tensor layer_norm(const Tensor& input, const LayerNormFuncOptions& options) {
  static const detail::Function call{"layer_norm"};
  return call({input, IntArrayRef(options.normalized_shape()), detail::optional("weight", options.weight()),
               detail::optional("bias", options.bias()), guardfix::kw("eps", options.eps())});
}
inline Tensor normalize(const Tensor& input, const NormalizeFuncOptions& options = {}) {
  const Tensor norm = input.norm(options.p(), options.dim(), /*keepdim=*/true).clamp_min(options.eps());
  return input / norm.expand_as(input);
}

// ---- losses
inline Tensor mse_loss(const Tensor& input, const Tensor& target, const MSELossFuncOptions& options = {}) {
  static const detail::Function call{"mse_loss"};
  return call({input, target, guardfix::kw("reduction", options.reduction().name())});
}
inline Tensor l1_loss(const Tensor& input, const Tensor& target, const L1LossFuncOptions& options = {}) {
  static const detail::Function call{"l1_loss"};
  return call({input, target, guardfix::kw("reduction", options.reduction().name())});
}
inline Tensor nll_loss(const Tensor& input, const Tensor& target, const NLLLossFuncOptions& options = {}) {
  static const detail::Function call{"nll_loss"};
  return call({input, target, detail::optional("weight", options.weight()),
               guardfix::kw("ignore_index", options.ignore_index()),
               guardfix::kw("reduction", options.reduction().name())});
}
inline Tensor cross_entropy(const Tensor& input, const Tensor& target, const CrossEntropyFuncOptions& options = {}) {
  static const detail::Function call{"cross_entropy"};
  return call({input, target, detail::optional("weight", options.weight()),
               guardfix::kw("ignore_index", options.ignore_index()),
               guardfix::kw("reduction", options.reduction().name())});
}
inline Tensor binary_cross_entropy(const Tensor& input, const Tensor& target,
                                   const BinaryCrossEntropyFuncOptions& options = {}) {
  static const detail::Function call{"binary_cross_entropy"};
  return call({input, target, detail::optional("weight", options.weight()),
               guardfix::kw("reduction", options.reduction().name())});
}
inline Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                               const BinaryCrossEntropyWithLogitsFuncOptions& options = {}) {
  static const detail::Function call{"binary_cross_entropy_with_logits"};
  return call({input, target, detail::optional("weight", options.weight()),
               guardfix::kw("reduction", options.reduction().name()),
               detail::optional("pos_weight", options.pos_weight())});
}

}  // namespace torch::nn::functional
