// Losses and distances as functions.
#pragma once

#include <torch/nn/functional/call.h>
#include <torch/nn/options/loss.h>

namespace torch::nn::functional {

TORCH_NN_FUNCTION(mse_loss, (const Tensor& input, const Tensor& target, const MSELossFuncOptions& options = {}), input,
                  target, detail::reduction(options))
TORCH_NN_FUNCTION(l1_loss, (const Tensor& input, const Tensor& target, const L1LossFuncOptions& options = {}), input,
                  target, detail::reduction(options))
TORCH_NN_FUNCTION(kl_div, (const Tensor& input, const Tensor& target, const KLDivFuncOptions& options = {}), input,
                  target, detail::reduction(options), kw("log_target", options.log_target()))
TORCH_NN_FUNCTION(nll_loss, (const Tensor& input, const Tensor& target, const NLLLossFuncOptions& options = {}), input,
                  target, detail::optional("weight", options.weight()), kw("ignore_index", options.ignore_index()),
                  detail::reduction(options))
TORCH_NN_FUNCTION(cross_entropy,
                  (const Tensor& input, const Tensor& target, const CrossEntropyFuncOptions& options = {}), input,
                  target, detail::optional("weight", options.weight()), kw("ignore_index", options.ignore_index()),
                  detail::reduction(options), kw("label_smoothing", options.label_smoothing()))
TORCH_NN_FUNCTION(binary_cross_entropy,
                  (const Tensor& input, const Tensor& target, const BinaryCrossEntropyFuncOptions& options = {}),
                  input, target, detail::optional("weight", options.weight()), detail::reduction(options))
TORCH_NN_FUNCTION(binary_cross_entropy_with_logits,
                  (const Tensor& input, const Tensor& target,
                   const BinaryCrossEntropyWithLogitsFuncOptions& options = {}),
                  input, target, detail::optional("weight", options.weight()), detail::reduction(options),
                  detail::optional("pos_weight", options.pos_weight()))
TORCH_NN_FUNCTION(smooth_l1_loss,
                  (const Tensor& input, const Tensor& target, const SmoothL1LossFuncOptions& options = {}), input,
                  target, detail::reduction(options), kw("beta", options.beta()))
inline Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, const SmoothL1LossFuncOptions& options,
                             double beta) {
  TORCH_CHECK(!options.beta().has_value(),
              "expected beta not to be provided in 'options', but got ", options.beta().value_or(0));
  return smooth_l1_loss(input, target, SmoothL1LossFuncOptions(options.reduction()).beta(beta));
}
TORCH_NN_FUNCTION(huber_loss, (const Tensor& input, const Tensor& target, const HuberLossFuncOptions& options = {}),
                  input, target, detail::reduction(options), kw("delta", options.delta()))
TORCH_NN_FUNCTION(margin_ranking_loss,
                  (const Tensor& input1, const Tensor& input2, const Tensor& target,
                   const MarginRankingLossFuncOptions& options = {}),
                  input1, input2, target, kw("margin", options.margin()), detail::reduction(options))
TORCH_NN_FUNCTION(cosine_embedding_loss,
                  (const Tensor& input1, const Tensor& input2, const Tensor& target,
                   const CosineEmbeddingLossFuncOptions& options = {}),
                  input1, input2, target, kw("margin", options.margin()), detail::reduction(options))
TORCH_NN_FUNCTION(triplet_margin_loss,
                  (const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                   const TripletMarginLossFuncOptions& options = {}),
                  anchor, positive, negative, kw("margin", options.margin()), kw("p", options.p()),
                  kw("eps", options.eps()), kw("swap", options.swap()), detail::reduction(options))
TORCH_NN_FUNCTION(ctc_loss,
                  (const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                   const Tensor& target_lengths, const CTCLossFuncOptions& options = {}),
                  log_probs, targets, input_lengths, target_lengths, kw("blank", options.blank()),
                  detail::reduction(options), kw("zero_infinity", options.zero_infinity()))

TORCH_NN_FUNCTION(cosine_similarity,
                  (const Tensor& x1, const Tensor& x2, const CosineSimilarityFuncOptions& options = {}), x1, x2,
                  options.dim(), options.eps())
TORCH_NN_FUNCTION(pairwise_distance,
                  (const Tensor& x1, const Tensor& x2, const PairwiseDistanceFuncOptions& options = {}), x1, x2,
                  options.p(), options.eps(), options.keepdim())
TORCH_NN_FUNCTION(pdist, (const Tensor& input, double p = 2.0), input, p)

}  // namespace torch::nn::functional
