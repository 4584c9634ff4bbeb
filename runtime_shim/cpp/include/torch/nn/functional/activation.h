// Activations, dropout and attention as functions.
#pragma once

#include <torch/nn/functional/call.h>
#include <torch/nn/options/activation.h>
#include <torch/nn/options/linear.h>

namespace torch::nn::functional {

/// Made of other ops than at::linear.
inline Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias = {}) {
  if (input.dim() == 2 && bias.defined()) return torch::addmm(bias, input, weight.t());
  Tensor output = input.matmul(weight.t());
  if (bias.defined()) output += bias;
  return output;
}
TORCH_NN_FUNCTION(bilinear,
                  (const Tensor& input1, const Tensor& input2, const Tensor& weight, const Tensor& bias = {}), input1,
                  input2, weight, detail::optional("bias", bias))

// ---- with options
TORCH_NN_FUNCTION(relu, (Tensor input, const ReLUFuncOptions& options = {}), input,
                  detail::in_place(options.inplace()))
TORCH_NN_FUNCTION(relu6, (Tensor input, const ReLU6FuncOptions& options = {}), input,
                  detail::in_place(options.inplace()))
TORCH_NN_FUNCTION(leaky_relu, (Tensor input, const LeakyReLUFuncOptions& options = {}), input,
                  options.negative_slope(), detail::in_place(options.inplace()))
TORCH_NN_FUNCTION(elu, (Tensor input, const ELUFuncOptions& options = {}), input, options.alpha(),
                  detail::in_place(options.inplace()))
TORCH_NN_FUNCTION(celu, (Tensor input, const CELUFuncOptions& options = {}), input, options.alpha(),
                  detail::in_place(options.inplace()))
TORCH_NN_FUNCTION(selu, (Tensor input, const SELUFuncOptions& options = {}), input,
                  detail::in_place(options.inplace()))
TORCH_NN_FUNCTION(hardtanh, (Tensor input, const HardtanhFuncOptions& options = {}), input, options.min_val(),
                  options.max_val(), detail::in_place(options.inplace()))
TORCH_NN_FUNCTION(threshold, (Tensor input, const ThresholdFuncOptions& options), input, options.threshold(),
                  options.value(), detail::in_place(options.inplace()))
TORCH_NN_FUNCTION(glu, (const Tensor& input, const GLUFuncOptions& options = {}), input, options.dim())
TORCH_NN_FUNCTION(hardshrink, (const Tensor& input, const HardshrinkFuncOptions& options = {}), input,
                  options.lambda())
TORCH_NN_FUNCTION(softshrink, (const Tensor& input, const SoftshrinkFuncOptions& options = {}), input,
                  options.lambda())
TORCH_NN_FUNCTION(softplus, (const Tensor& input, const SoftplusFuncOptions& options = {}), input, options.beta(),
                  options.threshold())
TORCH_NN_FUNCTION(gelu, (const Tensor& input, const GELUFuncOptions& options = {}), input,
                  kw("approximate", options.approximate()))
TORCH_NN_FUNCTION(gumbel_softmax, (const Tensor& logits, const GumbelSoftmaxFuncOptions& options = {}), logits,
                  options.tau(), options.hard(), kw("dim", options.dim()))
TORCH_NN_FUNCTION(softmax, (const Tensor& input, const SoftmaxFuncOptions& options), input, options.dim(),
                  kw("dtype", options.dtype()))
TORCH_NN_FUNCTION(softmin, (const Tensor& input, const SoftminFuncOptions& options), input, options.dim(),
                  kw("dtype", options.dtype()))
TORCH_NN_FUNCTION(log_softmax, (const Tensor& input, const LogSoftmaxFuncOptions& options), input, options.dim(),
                  kw("dtype", options.dtype()))

// ---- without
TORCH_NN_FUNCTION(silu, (const Tensor& input), input)
TORCH_NN_FUNCTION(mish, (const Tensor& input), input)
TORCH_NN_FUNCTION(logsigmoid, (const Tensor& input), input)
TORCH_NN_FUNCTION(softsign, (const Tensor& input), input)
TORCH_NN_FUNCTION(tanhshrink, (const Tensor& input), input)
TORCH_NN_FUNCTION(hardsigmoid, (const Tensor& input), input)
TORCH_NN_FUNCTION(hardswish, (const Tensor& input), input)
TORCH_NN_FUNCTION(prelu, (const Tensor& input, const Tensor& weight), input, weight)

// ---- dropout
namespace detail {

inline void check_probability(double p) {
  TORCH_CHECK(p >= 0. && p <= 1., "dropout probability has to be between 0 and 1, but got ", p);
}

}  // namespace detail

#define TORCH_DROPOUT_FUNCTION(name, Options)                                                    \
  namespace detail {                                                                             \
  inline Tensor name(Tensor input, double p, bool training, bool inplace) {                      \
    static const Function call{#name};                                                           \
    check_probability(p);                                                                        \
    return call({input, p, training, in_place(inplace)});                                        \
  }                                                                                              \
  }                                                                                              \
  inline Tensor name(Tensor input, const Options& options = {}) {                                \
    return detail::name(std::move(input), options.p(), options.training(), options.inplace());   \
  }
TORCH_DROPOUT_FUNCTION(dropout, DropoutFuncOptions)
TORCH_DROPOUT_FUNCTION(dropout2d, Dropout2dFuncOptions)
TORCH_DROPOUT_FUNCTION(dropout3d, Dropout3dFuncOptions)
TORCH_DROPOUT_FUNCTION(alpha_dropout, AlphaDropoutFuncOptions)
#undef TORCH_DROPOUT_FUNCTION

// ---- attention
TORCH_NN_PAIR_FUNCTION(multi_head_attention_forward,
                       (const Tensor& query, const Tensor& key, const Tensor& value,
                        const MultiheadAttentionForwardFuncOptions& options),
                       query, key, value, options.embed_dim_to_check(), options.num_heads(),
                       detail::optional(options.in_proj_weight()), detail::optional(options.in_proj_bias()),
                       detail::optional(options.bias_k()), detail::optional(options.bias_v()),
                       options.add_zero_attn(), options.dropout_p(), options.out_proj_weight(),
                       detail::optional(options.out_proj_bias()), options.training(),
                       detail::optional(options.key_padding_mask()), options.need_weights(),
                       detail::optional(options.attn_mask()), options.use_separate_proj_weight(),
                       detail::optional(options.q_proj_weight()), detail::optional(options.k_proj_weight()),
                       detail::optional(options.v_proj_weight()), detail::optional(options.static_k()),
                       detail::optional(options.static_v()), options.average_attn_weights())

}  // namespace torch::nn::functional
