// The losses as modules: torch::nn::MSELoss, CrossEntropyLoss, …
#pragma once

#include <torch/nn/functional/loss.h>
#include <torch/nn/modules/common.h>

namespace torch::nn {

#define TORCH_LOSS(Name, function)                          \
  TORCH_LAYER(Name, "", (const Tensor& input, const Tensor& target), functional::function(input, target, options))
TORCH_LOSS(L1Loss, l1_loss);
TORCH_LOSS(MSELoss, mse_loss);
TORCH_LOSS(KLDivLoss, kl_div);
TORCH_LOSS(NLLLoss, nll_loss);
TORCH_LOSS(CrossEntropyLoss, cross_entropy);
TORCH_LOSS(BCELoss, binary_cross_entropy);
TORCH_LOSS(BCEWithLogitsLoss, binary_cross_entropy_with_logits);
TORCH_LOSS(SmoothL1Loss, smooth_l1_loss);
TORCH_LOSS(HuberLoss, huber_loss);
#undef TORCH_LOSS

TORCH_LAYER(CosineEmbeddingLoss, "margin=" << options.margin(),
            (const Tensor& input1, const Tensor& input2, const Tensor& target),
            functional::cosine_embedding_loss(input1, input2, target, options));
TORCH_LAYER(MarginRankingLoss, "", (const Tensor& input1, const Tensor& input2, const Tensor& target),
            functional::margin_ranking_loss(input1, input2, target, options));
TORCH_LAYER(TripletMarginLoss,
            "margin=" << options.margin() << ", p=" << options.p() << ", eps=" << options.eps()
                      << ", swap=" << options.swap(),
            (const Tensor& anchor, const Tensor& positive, const Tensor& negative),
            functional::triplet_margin_loss(anchor, positive, negative, options));
TORCH_LAYER(CTCLoss, "",
            (const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths, const Tensor& target_lengths),
            functional::ctc_loss(log_probs, targets, input_lengths, target_lengths, options));

TORCH_LAYER(CosineSimilarity, "dim=" << options.dim() << ", eps=" << options.eps(),
            (const Tensor& input1, const Tensor& input2), functional::cosine_similarity(input1, input2, options));
TORCH_LAYER(PairwiseDistance,
            "p=" << options.p() << ", eps=" << options.eps() << ", keepdim=" << options.keepdim(),
            (const Tensor& input1, const Tensor& input2), functional::pairwise_distance(input1, input2, options));

}  // namespace torch::nn
