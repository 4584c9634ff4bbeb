// Options of embeddings.
#pragma once

#include <torch/nn/options/common.h>

namespace torch::nn {

using EmbeddingBagMode = enumtype::OneOf<enumtype::kSum, enumtype::kMean, enumtype::kMax>;

// How rows are looked up.
#define TORCH_EMBEDDING_LOOKUP                                   \
  TORCH_ARG(std::optional<int64_t>, padding_idx) = std::nullopt; \
  TORCH_ARG(std::optional<double>, max_norm) = std::nullopt;     \
  TORCH_ARG(double, norm_type) = 2.;                             \
  TORCH_ARG(bool, scale_grad_by_freq) = false;                   \
  TORCH_ARG(bool, sparse) = false
#define TORCH_EMBEDDING_BAG_LOOKUP                   \
  TORCH_EMBEDDING_LOOKUP;                            \
  TORCH_ARG(EmbeddingBagMode, mode) = torch::kMean;  \
  TORCH_ARG(bool, include_last_offset) = false

struct EmbeddingOptions {
  EmbeddingOptions(int64_t num_embeddings, int64_t embedding_dim)
      : num_embeddings_(num_embeddings), embedding_dim_(embedding_dim) {}
  TORCH_ARG(int64_t, num_embeddings);
  TORCH_ARG(int64_t, embedding_dim);
  TORCH_EMBEDDING_LOOKUP;
  TORCH_ARG(Tensor, _weight) = {};
};
struct EmbeddingFromPretrainedOptions {
  TORCH_ARG(bool, freeze) = true;
  TORCH_EMBEDDING_LOOKUP;
};
struct EmbeddingBagOptions {
  EmbeddingBagOptions(int64_t num_embeddings, int64_t embedding_dim)
      : num_embeddings_(num_embeddings), embedding_dim_(embedding_dim) {}
  TORCH_ARG(int64_t, num_embeddings);
  TORCH_ARG(int64_t, embedding_dim);
  TORCH_EMBEDDING_BAG_LOOKUP;
  TORCH_ARG(Tensor, _weight) = {};
};
struct EmbeddingBagFromPretrainedOptions {
  TORCH_ARG(bool, freeze) = true;
  TORCH_EMBEDDING_BAG_LOOKUP;
};

namespace functional {

struct EmbeddingFuncOptions {
  TORCH_EMBEDDING_LOOKUP;
};
struct EmbeddingBagFuncOptions {
  TORCH_ARG(Tensor, offsets) = {};
  TORCH_EMBEDDING_BAG_LOOKUP;
  TORCH_ARG(Tensor, per_sample_weights) = {};
};

}  // namespace functional

#undef TORCH_EMBEDDING_LOOKUP
#undef TORCH_EMBEDDING_BAG_LOOKUP

}  // namespace torch::nn
