// torch::nn::Embedding and EmbeddingBag.
#pragma once

#include <torch/nn/functional/normalization.h>
#include <torch/nn/init.h>
#include <torch/nn/modules/common.h>

namespace torch::nn {

/// The table of both, and what is printed of it.
template <typename Derived, typename Options>
class EmbeddingImplBase : public Cloneable<Derived> {
 public:
  void reset() override {
    const int64_t rows = options.num_embeddings();
    if (options.padding_idx().has_value()) {
      const int64_t padding = *options.padding_idx();
      TORCH_CHECK(padding < rows && padding >= -rows, "Padding_idx must be within num_embeddings");
      if (padding < 0) options.padding_idx(rows + padding);
    }
    if (options._weight().defined()) {
      TORCH_CHECK(options._weight().sizes() == std::vector<int64_t>({rows, options.embedding_dim()}),
                  "Shape of _weight does not match num_embeddings and embedding_dim");
      weight = this->register_parameter("weight", options._weight());
      return;
    }
    weight = this->register_parameter("weight", torch::empty({rows, options.embedding_dim()}));
    reset_parameters();
  }
  void reset_parameters() {
    init::normal_(weight);
    if (!options.padding_idx().has_value()) return;
    const NoGradGuard no_grad;
    weight[*options.padding_idx()].fill_(0);
  }

  Options options;
  Tensor weight;

 protected:
  explicit EmbeddingImplBase(Options options_) : options(std::move(options_)) {}
  void print(std::ostream& stream, const char* name, bool padding_after) const {
    stream << std::boolalpha << "torch::nn::" << name << "(num_embeddings=" << options.num_embeddings()
           << ", embedding_dim=" << options.embedding_dim();
    if (!padding_after) print_padding(stream);
    if (options.max_norm().has_value()) stream << ", max_norm=" << *options.max_norm();
    if (options.norm_type() != 2) stream << ", norm_type=" << options.norm_type();
    if (options.scale_grad_by_freq()) stream << ", scale_grad_by_freq=" << options.scale_grad_by_freq();
    if (options.sparse()) stream << ", sparse=" << options.sparse();
  }
  void print_padding(std::ostream& stream) const {
    if (options.padding_idx().has_value()) stream << ", padding_idx=" << *options.padding_idx();
  }
};

class EmbeddingImpl : public EmbeddingImplBase<EmbeddingImpl, EmbeddingOptions> {
 public:
  EmbeddingImpl(int64_t num_embeddings, int64_t embedding_dim)
      : EmbeddingImpl(EmbeddingOptions(num_embeddings, embedding_dim)) {}
  explicit EmbeddingImpl(EmbeddingOptions options_) : EmbeddingImplBase(std::move(options_)) { reset(); }
  void pretty_print(std::ostream& stream) const override {
    print(stream, "Embedding", false);
    stream << ')';
  }
  Tensor forward(const Tensor& indices) {
    return functional::embedding(indices, weight,
                                 functional::EmbeddingFuncOptions()
                                     .padding_idx(options.padding_idx())
                                     .max_norm(options.max_norm())
                                     .norm_type(options.norm_type())
                                     .scale_grad_by_freq(options.scale_grad_by_freq())
                                     .sparse(options.sparse()));
  }
};

class EmbeddingBagImpl : public EmbeddingImplBase<EmbeddingBagImpl, EmbeddingBagOptions> {
 public:
  EmbeddingBagImpl(int64_t num_embeddings, int64_t embedding_dim)
      : EmbeddingBagImpl(EmbeddingBagOptions(num_embeddings, embedding_dim)) {}
  explicit EmbeddingBagImpl(EmbeddingBagOptions options_) : EmbeddingImplBase(std::move(options_)) { reset(); }
  void pretty_print(std::ostream& stream) const override {
    print(stream, "EmbeddingBag", true);
    if (!options.mode().is<enumtype::kMean>()) stream << ", mode=" << options.mode().name();
    if (options.include_last_offset()) stream << ", include_last_offset=" << options.include_last_offset();
    print_padding(stream);
    stream << ')';
  }
  Tensor forward(const Tensor& input, const Tensor& offsets = {}, const Tensor& per_sample_weights = {}) {
    return functional::embedding_bag(input, weight,
                                     functional::EmbeddingBagFuncOptions()
                                         .offsets(offsets)
                                         .max_norm(options.max_norm())
                                         .norm_type(options.norm_type())
                                         .scale_grad_by_freq(options.scale_grad_by_freq())
                                         .mode(options.mode())
                                         .sparse(options.sparse())
                                         .per_sample_weights(per_sample_weights)
                                         .include_last_offset(options.include_last_offset())
                                         .padding_idx(options.padding_idx()));
  }

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())}, {2, AnyValue(Tensor())})
};

// The holders can be made from a table as well; it is kept as it is if `freeze` says so.
#define TORCH_EMBEDDING_HOLDER(Name, lookups)                                                             \
  class Name : public ModuleHolder<Name##Impl> {                                                          \
   public:                                                                                                \
    using ModuleHolder<Name##Impl>::ModuleHolder;                                                         \
    using Impl [[maybe_unused]] = Name##Impl;                                                             \
    static Name from_pretrained(const Tensor& embeddings, const Name##FromPretrainedOptions& options = {}) { \
      TORCH_CHECK(embeddings.dim() == 2, "Embeddings parameter is expected to be 2-dimensional");         \
      Name made(Name##Options(embeddings.size(0), embeddings.size(1))                                     \
                    ._weight(embeddings)                                                                  \
                    .padding_idx(options.padding_idx())                                                   \
                    .max_norm(options.max_norm())                                                         \
                    .norm_type(options.norm_type())                                                       \
                    .scale_grad_by_freq(options.scale_grad_by_freq())                                     \
                    .sparse(options.sparse()) lookups);                                                   \
      made->weight.set_requires_grad(!options.freeze());                                                  \
      return made;                                                                                        \
    }                                                                                                     \
  }
TORCH_EMBEDDING_HOLDER(Embedding, );
TORCH_EMBEDDING_HOLDER(EmbeddingBag, .mode(options.mode()).include_last_offset(options.include_last_offset()));
#undef TORCH_EMBEDDING_HOLDER

}  // namespace torch::nn
