// The activations as layers: torch::nn::ReLU, Softmax, …, and attention of many heads.
#pragma once

#include <torch/nn/functional/activation.h>
#include <torch/nn/init.h>
#include <torch/nn/modules/common.h>
#include <torch/nn/modules/linear.h>

namespace torch::nn {

#define TORCH_INPLACE (options.inplace() ? "inplace=true" : "")
#define TORCH_AND_INPLACE (options.inplace() ? ", inplace=true" : "")

TORCH_LAYER(ReLU, TORCH_INPLACE, (Tensor input), functional::relu(std::move(input), options));
TORCH_LAYER(ReLU6, TORCH_INPLACE, (Tensor input), functional::relu6(std::move(input), options));
TORCH_LAYER(SELU, TORCH_INPLACE, (Tensor input), functional::selu(std::move(input), options));
TORCH_LAYER(LeakyReLU, "negative_slope=" << options.negative_slope() << TORCH_AND_INPLACE, (Tensor input),
            functional::leaky_relu(std::move(input), options));
TORCH_LAYER(ELU, "alpha=" << options.alpha() << TORCH_AND_INPLACE, (Tensor input),
            functional::elu(std::move(input), options));
TORCH_LAYER(CELU, "alpha=" << options.alpha() << TORCH_AND_INPLACE, (Tensor input),
            functional::celu(std::move(input), options));
TORCH_LAYER(Hardtanh, "min_val=" << options.min_val() << ", max_val=" << options.max_val() << TORCH_AND_INPLACE,
            (Tensor input), functional::hardtanh(std::move(input), options));
TORCH_LAYER(Threshold, "threshold=" << options.threshold() << ", value=" << options.value() << TORCH_AND_INPLACE,
            (Tensor input), functional::threshold(std::move(input), options));
TORCH_LAYER(GELU, "", (const Tensor& input), functional::gelu(input, options));
TORCH_LAYER(GLU, "dim=" << options.dim(), (const Tensor& input), functional::glu(input, options));
TORCH_LAYER(Hardshrink, options.lambda(), (const Tensor& input), functional::hardshrink(input, options));
TORCH_LAYER(Softshrink, options.lambda(), (const Tensor& input), functional::softshrink(input, options));
TORCH_LAYER(Softplus, "beta=" << options.beta() << ", threshold=" << options.threshold(), (const Tensor& input),
            functional::softplus(input, options));
TORCH_LAYER(Softmax, "dim=" << options.dim(), (const Tensor& input), functional::softmax(input, options.dim()));
TORCH_LAYER(Softmin, "dim=" << options.dim(), (const Tensor& input), functional::softmin(input, options.dim()));
TORCH_LAYER(LogSoftmax, "dim=" << options.dim(), (const Tensor& input),
            functional::log_softmax(input, options.dim()));
#undef TORCH_INPLACE
#undef TORCH_AND_INPLACE

TORCH_LAYER_WITHOUT_OPTIONS(Sigmoid, (const Tensor& input), input.sigmoid());
TORCH_LAYER_WITHOUT_OPTIONS(Tanh, (const Tensor& input), input.tanh());
TORCH_LAYER_WITHOUT_OPTIONS(SiLU, (const Tensor& input), functional::silu(input));
TORCH_LAYER_WITHOUT_OPTIONS(Mish, (const Tensor& input), functional::mish(input));
TORCH_LAYER_WITHOUT_OPTIONS(LogSigmoid, (const Tensor& input), functional::logsigmoid(input));
TORCH_LAYER_WITHOUT_OPTIONS(Softsign, (const Tensor& input), functional::softsign(input));
TORCH_LAYER_WITHOUT_OPTIONS(Tanhshrink, (const Tensor& input), functional::tanhshrink(input));


class PReLUImpl : public Cloneable<PReLUImpl> {
 public:
  explicit PReLUImpl(const PReLUOptions& options_ = {}) : options(options_) { PReLUImpl::reset(); }
  void reset() override {
    weight = register_parameter("weight", torch::full(options.num_parameters(), options.init()));
  }
  void pretty_print(std::ostream& stream) const override {
    stream << "torch::nn::PReLU(num_parameters=" << options.num_parameters() << ')';
  }
  Tensor forward(const Tensor& input) { return functional::prelu(input, weight); }

  PReLUOptions options;
  Tensor weight;
};
TORCH_MODULE(PReLU);

class MultiheadAttentionImpl : public Cloneable<MultiheadAttentionImpl> {
 public:
  TORCH_LAYER_CONSTRUCTORS(MultiheadAttention)
  void reset() override {
    const int64_t size = options.embed_dim();
    _qkv_same_embed_dim = options.kdim() == size && options.vdim() == size;
    head_dim = size / options.num_heads();
    TORCH_CHECK(head_dim * options.num_heads() == size, "embed_dim must be divisible by num_heads");
    if (_qkv_same_embed_dim) {
      in_proj_weight = register_parameter("in_proj_weight", torch::empty({3 * size, size}));
      for (const char* name : {"q_proj_weight", "k_proj_weight", "v_proj_weight"})
        register_parameter(name, {}, /*requires_grad=*/false);
    } else {
      q_proj_weight = register_parameter("q_proj_weight", torch::empty({size, size}));
      k_proj_weight = register_parameter("k_proj_weight", torch::empty({size, options.kdim()}));
      v_proj_weight = register_parameter("v_proj_weight", torch::empty({size, options.vdim()}));
      register_parameter("in_proj_weight", {}, /*requires_grad=*/false);
    }
    if (options.bias()) {
      in_proj_bias = register_parameter("in_proj_bias", torch::empty(3 * size));
    } else {
      register_parameter("in_proj_bias", {}, /*requires_grad=*/false);
    }
    out_proj = register_module("out_proj", Linear(LinearOptions(size, size).bias(options.bias())));
    if (options.add_bias_kv()) {
      bias_k = register_parameter("bias_k", torch::empty({1, 1, size}));
      bias_v = register_parameter("bias_v", torch::empty({1, 1, size}));
    } else {
      bias_k = {};
      bias_v = {};
    }
    _reset_parameters();
  }
  void _reset_parameters() {
    for (Tensor weight : {in_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight})
      if (weight.defined()) init::xavier_uniform_(weight);
    if (in_proj_bias.defined()) {
      init::constant_(in_proj_bias, 0.);
      init::constant_(out_proj->bias, 0.);
    }
    for (Tensor bias : {bias_k, bias_v})
      if (bias.defined()) init::xavier_normal_(bias);
  }
  void pretty_print(std::ostream& stream) const override { stream << "torch::nn::MultiheadAttention"; }
  /// The output, and the weights averaged over the heads if they are asked for.
  std::tuple<Tensor, Tensor> forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                     const Tensor& key_padding_mask = {}, bool need_weights = true,
                                     const Tensor& attn_mask = {}, bool average_attn_weights = true) {
    auto how = functional::MultiheadAttentionForwardFuncOptions(
                   options.embed_dim(), options.num_heads(), in_proj_weight, in_proj_bias, bias_k, bias_v,
                   options.add_zero_attn(), options.dropout(), out_proj->weight, out_proj->bias)
                   .training(is_training())
                   .key_padding_mask(key_padding_mask)
                   .need_weights(need_weights)
                   .attn_mask(attn_mask)
                   .average_attn_weights(average_attn_weights);
    if (!_qkv_same_embed_dim)
      how.use_separate_proj_weight(true)
          .q_proj_weight(q_proj_weight)
          .k_proj_weight(k_proj_weight)
          .v_proj_weight(v_proj_weight);
    return functional::multi_head_attention_forward(query, key, value, how);
  }

  MultiheadAttentionOptions options;
  bool _qkv_same_embed_dim = true;
  Tensor in_proj_weight;
  Tensor in_proj_bias;
  Linear out_proj = nullptr;
  Tensor bias_k;
  Tensor bias_v;
  int64_t head_dim = 0;
  Tensor q_proj_weight;
  Tensor k_proj_weight;
  Tensor v_proj_weight;

 protected:
  FORWARD_HAS_DEFAULT_ARGS({3, AnyValue(Tensor())}, {4, AnyValue(true)}, {5, AnyValue(Tensor())}, {6, AnyValue(true)})
};
TORCH_MODULE(MultiheadAttention);

}  // namespace torch::nn
