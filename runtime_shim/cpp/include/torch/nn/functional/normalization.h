// Normalisation and embeddings as functions.
#pragma once

#include <torch/nn/functional/call.h>
#include <torch/nn/options/embedding.h>
#include <torch/nn/options/normalization.h>

namespace torch::nn::functional {

namespace detail {
inline const Tensor& with_a_batch(const Tensor& input, bool training) {
  TORCH_CHECK(input.dim() >= 2, "Expected at least 2 input dimensions, but got ", input.dim());
  TORCH_CHECK(!training || input.numel() == 0 || input.numel() != input.size(1),
              "Expected more than 1 value per channel when training, got input size ", input.sizes());
  return input;
}
}  // namespace detail
TORCH_NN_FUNCTION(batch_norm,
                  (const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                   const BatchNormFuncOptions& options = {}),
                  detail::with_a_batch(input, options.training()), running_mean, running_var, detail::optional("weight", options.weight()),
                  detail::optional("bias", options.bias()), kw("training", options.training()),
                  kw("momentum", options.momentum().value_or(0.0)), kw("eps", options.eps()))
TORCH_NN_FUNCTION(instance_norm, (const Tensor& input, const InstanceNormFuncOptions& options = {}), input,
                  detail::optional(options.running_mean()), detail::optional(options.running_var()),
                  detail::optional(options.weight()), detail::optional(options.bias()), options.use_input_stats(),
                  options.momentum(), options.eps())
TORCH_NN_FUNCTION(layer_norm, (const Tensor& input, const LayerNormFuncOptions& options), input,
                  IntArrayRef(options.normalized_shape()), detail::optional("weight", options.weight()),
                  detail::optional("bias", options.bias()), kw("eps", options.eps()))
TORCH_NN_FUNCTION(group_norm, (const Tensor& input, const GroupNormFuncOptions& options), input, options.num_groups(),
                  detail::optional("weight", options.weight()), detail::optional("bias", options.bias()),
                  kw("eps", options.eps()))
TORCH_NN_FUNCTION(local_response_norm, (const Tensor& input, const LocalResponseNormFuncOptions& options), input,
                  options.size(), options.alpha(), options.beta(), options.k())
inline Tensor normalize(const Tensor& input, const NormalizeFuncOptions& options = {}) {
  const Tensor norm = input.norm(options.p(), options.dim(), /*keepdim=*/true).clamp_min(options.eps());
  if (!options.out().has_value()) return input / norm.expand_as(input);
  Tensor out = *options.out();
  return at::div_out(out, input, norm.expand_as(input));
}

TORCH_NN_FUNCTION(one_hot, (const Tensor& tensor, int64_t num_classes = -1), tensor, num_classes)
TORCH_NN_FUNCTION(embedding, (const Tensor& input, const Tensor& weight, const EmbeddingFuncOptions& options = {}),
                  input, weight, kw("padding_idx", options.padding_idx()), kw("max_norm", options.max_norm()),
                  kw("norm_type", options.norm_type()), kw("scale_grad_by_freq", options.scale_grad_by_freq()),
                  kw("sparse", options.sparse()))
TORCH_NN_FUNCTION(embedding_bag,
                  (const Tensor& input, const Tensor& weight, const EmbeddingBagFuncOptions& options = {}), input,
                  weight, detail::optional(options.offsets()), kw("max_norm", options.max_norm()),
                  kw("norm_type", options.norm_type()), kw("scale_grad_by_freq", options.scale_grad_by_freq()),
                  kw("mode", options.mode().text()), kw("sparse", options.sparse()),
                  detail::optional("per_sample_weights", options.per_sample_weights()),
                  kw("include_last_offset", options.include_last_offset()), kw("padding_idx", options.padding_idx()))

}  // namespace torch::nn::functional
