// torch::nn::Embedding.
#pragma once

#include <torch/nn/cloneable.h>
#include <torch/nn/functional.h>
#include <torch/nn/init.h>

namespace torch::nn {

class EmbeddingImpl : public Cloneable<EmbeddingImpl> {
 public:
  EmbeddingImpl(int64_t num_embeddings, int64_t embedding_dim)
      : EmbeddingImpl(EmbeddingOptions(num_embeddings, embedding_dim)) {}
  explicit EmbeddingImpl(EmbeddingOptions options_) : options(std::move(options_)) { EmbeddingImpl::reset(); }
  void reset() override {
    weight = register_parameter("weight", torch::empty({options.num_embeddings(), options.embedding_dim()}));
    init::normal_(weight);
    if (!options.padding_idx().has_value()) return;
    const int64_t padding = *options.padding_idx();
    TORCH_CHECK(padding < options.num_embeddings() && padding >= -options.num_embeddings(),
                "Padding_idx must be within num_embeddings");
    if (padding < 0) options.padding_idx(options.num_embeddings() + padding);
    const NoGradGuard no_grad;
    weight[*options.padding_idx()].fill_(0);
  }
  void pretty_print(std::ostream& stream) const override {
    stream << "torch::nn::Embedding(num_embeddings=" << options.num_embeddings()
           << ", embedding_dim=" << options.embedding_dim();
    if (options.padding_idx().has_value()) stream << ", padding_idx=" << *options.padding_idx();
    stream << ')';
  }
  Tensor forward(const Tensor& indices) {
    return functional::embedding(indices, weight,
                                 functional::EmbeddingFuncOptions().padding_idx(options.padding_idx()));
  }

  EmbeddingOptions options;
  Tensor weight;
};
TORCH_MODULE(Embedding);

}  // namespace torch::nn
