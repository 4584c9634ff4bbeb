// Options of the losses and distances.
#pragma once

#include <torch/nn/options/common.h>

namespace torch::nn {

struct LossOptions {
  TORCH_REDUCTION(LossOptions);
};
using MSELossOptions = LossOptions;
using L1LossOptions = LossOptions;

struct KLDivLossOptions {
  using Reduction = enumtype::OneOf<enumtype::kNone, enumtype::kBatchMean, enumtype::kSum, enumtype::kMean>;
  TORCH_REDUCTION(KLDivLossOptions);
  TORCH_ARG(bool, log_target) = false;
};
struct ClassLossOptions {
  TORCH_ARG(Tensor, weight) = {};
  TORCH_ARG(int64_t, ignore_index) = -100;
  TORCH_ARG(Reduction, reduction) = torch::kMean;
};
using NLLLossOptions = ClassLossOptions;
struct CrossEntropyLossOptions {
  TORCH_ARG(Tensor, weight) = {};
  TORCH_ARG(int64_t, ignore_index) = -100;
  TORCH_ARG(Reduction, reduction) = torch::kMean;
  TORCH_ARG(double, label_smoothing) = 0.0;
};
struct WeightedLossOptions {
  TORCH_ARG(Tensor, weight) = {};
  TORCH_ARG(Reduction, reduction) = torch::kMean;
};
using BCELossOptions = WeightedLossOptions;
struct BCEWithLogitsLossOptions {
  TORCH_ARG(Tensor, weight) = {};
  TORCH_ARG(Reduction, reduction) = torch::kMean;
  TORCH_ARG(Tensor, pos_weight) = {};
};
struct MarginRankingLossOptions {
  TORCH_ARG(double, margin) = 0;
  TORCH_ARG(Reduction, reduction) = torch::kMean;
};
using CosineEmbeddingLossOptions = MarginRankingLossOptions;
struct TripletMarginLossOptions {
  TORCH_ARG(double, margin) = 1.0;
  TORCH_ARG(double, p) = 2.0;
  TORCH_ARG(double, eps) = 1e-6;
  TORCH_ARG(bool, swap) = false;
  TORCH_ARG(Reduction, reduction) = torch::kMean;
};
struct CTCLossOptions {
  TORCH_ARG(int64_t, blank) = 0;
  TORCH_ARG(Reduction, reduction) = torch::kMean;
  TORCH_ARG(bool, zero_infinity) = false;
};
struct SmoothL1LossOptions {
  TORCH_REDUCTION(SmoothL1LossOptions);
  TORCH_ARG(std::optional<double>, beta) = std::nullopt;
};
struct HuberLossOptions {
  TORCH_REDUCTION(HuberLossOptions);
  TORCH_ARG(double, delta) = 1.0;
};
struct CosineSimilarityOptions {
  TORCH_ARG(int64_t, dim) = 1;
  TORCH_ARG(double, eps) = 1e-8;
};
struct PairwiseDistanceOptions {
  TORCH_ARG(double, p) = 2.0;
  TORCH_ARG(double, eps) = 1e-6;
  TORCH_ARG(bool, keepdim) = false;
};

namespace functional {

using MSELossFuncOptions = MSELossOptions;
using L1LossFuncOptions = L1LossOptions;
using KLDivFuncOptions = KLDivLossOptions;
using NLLLossFuncOptions = NLLLossOptions;
using CrossEntropyFuncOptions = CrossEntropyLossOptions;
using BinaryCrossEntropyFuncOptions = BCELossOptions;
using BinaryCrossEntropyWithLogitsFuncOptions = BCEWithLogitsLossOptions;
using MarginRankingLossFuncOptions = MarginRankingLossOptions;
using CosineEmbeddingLossFuncOptions = CosineEmbeddingLossOptions;
using TripletMarginLossFuncOptions = TripletMarginLossOptions;
using CTCLossFuncOptions = CTCLossOptions;
using SmoothL1LossFuncOptions = SmoothL1LossOptions;
using HuberLossFuncOptions = HuberLossOptions;
using CosineSimilarityFuncOptions = CosineSimilarityOptions;
using PairwiseDistanceFuncOptions = PairwiseDistanceOptions;

}  // namespace functional
}  // namespace torch::nn
