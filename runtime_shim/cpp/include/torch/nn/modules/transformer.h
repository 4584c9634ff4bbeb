// torch::nn::Transformer, its encoder and its decoder, and their layers.
#pragma once

#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>
#include <torch/nn/options/rnn.h>

namespace torch::nn {

class TransformerEncoderLayerImpl : public Cloneable<TransformerEncoderLayerImpl> {
 public:
  TransformerEncoderLayerImpl(int64_t d_model, int64_t nhead)
      : TransformerEncoderLayerImpl(TransformerEncoderLayerOptions(d_model, nhead)) {}
  explicit TransformerEncoderLayerImpl(TransformerEncoderLayerOptions options_) : options(std::move(options_)) {
    TransformerEncoderLayerImpl::reset();
  }
  void reset() override {
    const int64_t size = options.d_model();
    self_attn = register_module(
        "self_attn", MultiheadAttention(MultiheadAttentionOptions(size, options.nhead()).dropout(options.dropout())));
    linear1 = register_module("linear1", Linear(size, options.dim_feedforward()));
    dropout = register_module("dropout", Dropout(options.dropout()));
    linear2 = register_module("linear2", Linear(options.dim_feedforward(), size));
    norm1 = register_module("norm1", LayerNorm(LayerNormOptions({size})));
    norm2 = register_module("norm2", LayerNorm(LayerNormOptions({size})));
    dropout1 = register_module("dropout1", Dropout(options.dropout()));
    dropout2 = register_module("dropout2", Dropout(options.dropout()));
  }
  void reset_parameters() {}
  Tensor forward(const Tensor& src, const Tensor& src_mask = {}, const Tensor& src_key_padding_mask = {}) {
    Tensor x = std::get<0>(self_attn->forward(src, src, src, src_key_padding_mask, /*need_weights=*/true, src_mask));
    x = norm1->forward(src + dropout1->forward(x));
    const Tensor fed = linear2->forward(dropout->forward(options.activation()(linear1->forward(x))));
    return norm2->forward(x + dropout2->forward(fed));
  }

  TransformerEncoderLayerOptions options;
  MultiheadAttention self_attn = nullptr;
  Linear linear1 = nullptr;
  Dropout dropout = nullptr;
  Linear linear2 = nullptr;
  LayerNorm norm1 = nullptr;
  LayerNorm norm2 = nullptr;
  Dropout dropout1 = nullptr;
  Dropout dropout2 = nullptr;

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())}, {2, AnyValue(Tensor())})
};
TORCH_MODULE(TransformerEncoderLayer);

class TransformerDecoderLayerImpl : public Cloneable<TransformerDecoderLayerImpl> {
 public:
  TransformerDecoderLayerImpl(int64_t d_model, int64_t nhead)
      : TransformerDecoderLayerImpl(TransformerDecoderLayerOptions(d_model, nhead)) {}
  explicit TransformerDecoderLayerImpl(TransformerDecoderLayerOptions options_) : options(std::move(options_)) {
    TransformerDecoderLayerImpl::reset();
  }
  void reset() override {
    const int64_t size = options.d_model();
    const auto attention = MultiheadAttentionOptions(size, options.nhead()).dropout(options.dropout());
    self_attn = register_module("self_attn", MultiheadAttention(attention));
    dropout1 = register_module("dropout1", Dropout(options.dropout()));
    norm1 = register_module("norm1", LayerNorm(LayerNormOptions({size})));
    multihead_attn = register_module("multihead_attn", MultiheadAttention(attention));
    dropout2 = register_module("dropout2", Dropout(options.dropout()));
    norm2 = register_module("norm2", LayerNorm(LayerNormOptions({size})));
    linear1 = register_module("linear1", Linear(size, options.dim_feedforward()));
    dropout = register_module("dropout", Dropout(options.dropout()));
    linear2 = register_module("linear2", Linear(options.dim_feedforward(), size));
    dropout3 = register_module("dropout3", Dropout(options.dropout()));
    norm3 = register_module("norm3", LayerNorm(LayerNormOptions({size})));
  }
  void reset_parameters() {}
  Tensor forward(Tensor tgt, const Tensor& memory, const Tensor& tgt_mask = {}, const Tensor& memory_mask = {},
                 const Tensor& tgt_key_padding_mask = {}, const Tensor& memory_key_padding_mask = {}) {
    Tensor x = std::get<0>(self_attn->forward(tgt, tgt, tgt, tgt_key_padding_mask, /*need_weights=*/false, tgt_mask));
    tgt = norm1->forward(tgt + dropout1->forward(x));
    x = std::get<0>(
        multihead_attn->forward(tgt, memory, memory, memory_key_padding_mask, /*need_weights=*/false, memory_mask));
    tgt = norm2->forward(tgt + dropout2->forward(x));
    x = linear2->forward(dropout->forward(activation(linear1->forward(tgt))));
    return norm3->forward(tgt + dropout3->forward(x));
  }

  TransformerDecoderLayerOptions options;
  MultiheadAttention self_attn = nullptr;
  Dropout dropout1 = nullptr;
  LayerNorm norm1 = nullptr;
  MultiheadAttention multihead_attn = nullptr;
  Dropout dropout2 = nullptr;
  LayerNorm norm2 = nullptr;
  Linear linear1 = nullptr;
  Dropout dropout = nullptr;
  Linear linear2 = nullptr;
  Dropout dropout3 = nullptr;
  LayerNorm norm3 = nullptr;

 protected:
  FORWARD_HAS_DEFAULT_ARGS({2, AnyValue(Tensor())}, {3, AnyValue(Tensor())}, {4, AnyValue(Tensor())},
                           {5, AnyValue(Tensor())})
  Tensor activation(const Tensor& input) { return options.activation()(input); }
};
TORCH_MODULE(TransformerDecoderLayer);

#define TORCH_TRANSFORMER_CODER_OPTIONS(Name, Layer)                                                    \
  struct Name##Options {                                                                                \
    Name##Options(Layer layer, int64_t num_layers) : layer_(std::move(layer)), num_layers_(num_layers) {} \
    Name##Options(const Layer##Options& options, int64_t num_layers)                                    \
        : Name##Options(Layer(options), num_layers) {}                                                  \
    TORCH_ARG(Layer, layer) = nullptr;                                                                  \
    TORCH_ARG(int64_t, num_layers);                                                                     \
    TORCH_ARG(AnyModule, norm) = {};                                                                    \
  }
TORCH_TRANSFORMER_CODER_OPTIONS(TransformerEncoder, TransformerEncoderLayer);
TORCH_TRANSFORMER_CODER_OPTIONS(TransformerDecoder, TransformerDecoderLayer);
#undef TORCH_TRANSFORMER_CODER_OPTIONS

namespace detail {

/// Copies of one layer, and a module for the end if there is one.
template <typename Derived, typename Options, typename Layer>
class TransformerCoderImplBase : public Cloneable<Derived> {
 public:
  void reset() override {
    layers = this->register_module("layers", ModuleList());
    for (int64_t i = 0; i < options.num_layers(); ++i) layers->push_back(options.layer()->clone());
    if (!options.norm().is_empty()) {
      options.norm(options.norm().clone());
      this->register_module("norm", options.norm().ptr());
    }
  }
  void reset_parameters() {}

  Options options;
  ModuleList layers = nullptr;

 protected:
  explicit TransformerCoderImplBase(Options options_) : options(std::move(options_)) {
    TransformerCoderImplBase::reset();
  }
  Tensor normed(Tensor output) {
    if (options.norm().is_empty()) return output;
    if (options.num_layers() == 0) return output;
    return options.norm().template forward<Tensor>(output);
  }
};

}  // namespace detail

class TransformerEncoderImpl
    : public detail::TransformerCoderImplBase<TransformerEncoderImpl, TransformerEncoderOptions,
                                              TransformerEncoderLayer> {
 public:
  TransformerEncoderImpl(TransformerEncoderLayer layer, int64_t num_layers)
      : TransformerEncoderImpl(TransformerEncoderOptions(std::move(layer), num_layers)) {}
  explicit TransformerEncoderImpl(TransformerEncoderOptions options_)
      : TransformerCoderImplBase(std::move(options_)) {}
  Tensor forward(const Tensor& src, const Tensor& src_mask = {}, const Tensor& src_key_padding_mask = {}) {
    Tensor output = src;
    for (const auto& layer : *layers)
      output = layer->as<TransformerEncoderLayer>()->forward(output, src_mask, src_key_padding_mask);
    return normed(output);
  }

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(Tensor())}, {2, AnyValue(Tensor())})
};
TORCH_MODULE(TransformerEncoder);

class TransformerDecoderImpl
    : public detail::TransformerCoderImplBase<TransformerDecoderImpl, TransformerDecoderOptions,
                                              TransformerDecoderLayer> {
 public:
  TransformerDecoderImpl(TransformerDecoderLayer layer, int64_t num_layers)
      : TransformerDecoderImpl(TransformerDecoderOptions(std::move(layer), num_layers)) {}
  explicit TransformerDecoderImpl(TransformerDecoderOptions options_)
      : TransformerCoderImplBase(std::move(options_)) {}
  Tensor forward(const Tensor& tgt, const Tensor& memory, const Tensor& tgt_mask = {}, const Tensor& memory_mask = {},
                 const Tensor& tgt_key_padding_mask = {}, const Tensor& memory_key_padding_mask = {}) {
    Tensor output = tgt;
    for (const auto& layer : *layers)
      output = layer->as<TransformerDecoderLayer>()->forward(output, memory, tgt_mask, memory_mask,
                                                             tgt_key_padding_mask, memory_key_padding_mask);
    return normed(output);
  }

 protected:
  FORWARD_HAS_DEFAULT_ARGS({2, AnyValue(Tensor())}, {3, AnyValue(Tensor())}, {4, AnyValue(Tensor())},
                           {5, AnyValue(Tensor())})
};
TORCH_MODULE(TransformerDecoder);

class TransformerImpl : public Cloneable<TransformerImpl> {
 public:
  explicit TransformerImpl(TransformerOptions options_ = {}) : options(std::move(options_)) {
    TransformerImpl::reset();
  }
  TransformerImpl(int64_t d_model, int64_t nhead) : TransformerImpl(TransformerOptions(d_model, nhead)) {}
  void reset() override {
    const int64_t size = options.d_model();
    const auto norm = [&] { return AnyModule(LayerNorm(LayerNormOptions({size}))); };
    const auto layer = [&](auto layer_options) {
      return layer_options.dim_feedforward(options.dim_feedforward())
          .dropout(options.dropout())
          .activation(options.activation());
    };
    if (options.custom_encoder().is_empty()) {
      encoder = AnyModule(TransformerEncoder(
          TransformerEncoderOptions(TransformerEncoderLayer(layer(TransformerEncoderLayerOptions(size, options.nhead()))),
                                    options.num_encoder_layers())
              .norm(norm())));
    } else {
      encoder = options.custom_encoder().clone();
    }
    register_module("encoder", encoder.ptr());
    if (options.custom_decoder().is_empty()) {
      decoder = AnyModule(TransformerDecoder(
          TransformerDecoderOptions(TransformerDecoderLayer(layer(TransformerDecoderLayerOptions(size, options.nhead()))),
                                    options.num_decoder_layers())
              .norm(norm())));
    } else {
      decoder = options.custom_decoder().clone();
    }
    register_module("decoder", decoder.ptr());
    reset_parameters();
  }
  void reset_parameters() {
    for (Tensor& parameter : parameters())
      if (parameter.dim() > 1) init::xavier_uniform_(parameter);
  }
  Tensor forward(const Tensor& src, const Tensor& tgt, const Tensor& src_mask = {}, const Tensor& tgt_mask = {},
                 const Tensor& memory_mask = {}, const Tensor& src_key_padding_mask = {},
                 const Tensor& tgt_key_padding_mask = {}, const Tensor& memory_key_padding_mask = {}) {
    TORCH_CHECK(src.dim() == 3 && tgt.dim() == 3, "src and tgt should have 3 dimensions, but got ", src.dim(), " and ",
                tgt.dim());
    TORCH_CHECK(src.size(1) == tgt.size(1), "src and tgt should have equal batch size (at dim 1), but got ",
                src.size(1), " and ", tgt.size(1));
    TORCH_CHECK(src.size(2) == options.d_model() && tgt.size(2) == options.d_model(),
                "src and tgt should have same feature size as d_model (at dim 2), but got ", src.size(2), " and ",
                tgt.size(2), " while d_model is ", options.d_model());
    const auto memory = encoder.forward<Tensor>(src, src_mask, src_key_padding_mask);
    return decoder.forward<Tensor>(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask);
  }
  /// A mask that lets each position see itself and those before it.
  static Tensor generate_square_subsequent_mask(int64_t size) {
    return at::triu(torch::full({size, size}, -std::numeric_limits<float>::infinity()), 1);
  }

  TransformerOptions options;
  AnyModule encoder;
  AnyModule decoder;

 protected:
  FORWARD_HAS_DEFAULT_ARGS({2, AnyValue(Tensor())}, {3, AnyValue(Tensor())}, {4, AnyValue(Tensor())},
                           {5, AnyValue(Tensor())}, {6, AnyValue(Tensor())}, {7, AnyValue(Tensor())})
};
TORCH_MODULE(Transformer);

}  // namespace torch::nn
