// Options of recurrent layers and of transformers.
#pragma once

#include <torch/nn/modules/container/any.h>
#include <torch/nn/options/common.h>

#include <functional>

namespace torch::nn {

#define TORCH_RECURRENT_OPTIONS(Name)                                                                      \
  Name(int64_t input_size, int64_t hidden_size) : input_size_(input_size), hidden_size_(hidden_size) {}    \
  TORCH_ARG(int64_t, input_size);                                                                          \
  TORCH_ARG(int64_t, hidden_size);                                                                         \
  TORCH_ARG(bool, bias) = true
#define TORCH_LAYERS_OPTIONS(Name)          \
  TORCH_RECURRENT_OPTIONS(Name);            \
  TORCH_ARG(int64_t, num_layers) = 1;       \
  TORCH_ARG(bool, batch_first) = false;     \
  TORCH_ARG(double, dropout) = 0.0;         \
  TORCH_ARG(bool, bidirectional) = false

using RNNNonlinearity = enumtype::OneOf<enumtype::kTanh, enumtype::kReLU>;

struct RNNOptions {
  using nonlinearity_t = RNNNonlinearity;
  TORCH_LAYERS_OPTIONS(RNNOptions);
  TORCH_ARG(nonlinearity_t, nonlinearity) = torch::kTanh;
};
struct LSTMOptions {
  TORCH_LAYERS_OPTIONS(LSTMOptions);
  TORCH_ARG(int64_t, proj_size) = 0;
};
struct GRUOptions {
  TORCH_LAYERS_OPTIONS(GRUOptions);
};
struct RNNCellOptions {
  using nonlinearity_t = RNNNonlinearity;
  TORCH_RECURRENT_OPTIONS(RNNCellOptions);
  TORCH_ARG(nonlinearity_t, nonlinearity) = torch::kTanh;
};
struct LSTMCellOptions {
  TORCH_RECURRENT_OPTIONS(LSTMCellOptions);
};
struct GRUCellOptions {
  TORCH_RECURRENT_OPTIONS(GRUCellOptions);
};
#undef TORCH_RECURRENT_OPTIONS
#undef TORCH_LAYERS_OPTIONS

/// The activation of a transformer: torch::kReLU, torch::kGELU, or a function of a tensor.
class TransformerActivation {
 public:
  TransformerActivation(enumtype::kReLU) : name_("relu") {}
  TransformerActivation(enumtype::kGELU) : name_("gelu") {}
  template <typename Function, typename = std::enable_if_t<std::is_invocable_r_v<Tensor, Function, const Tensor&>>>
  TransformerActivation(Function function) : function_(std::move(function)) {}
  Tensor operator()(const Tensor& input) const {
    if (function_ != nullptr) return function_(input);
    return name_ == std::string_view("relu") ? input.relu() : at::gelu(input);
  }

 private:
  const char* name_ = "";
  std::function<Tensor(const Tensor&)> function_;
};

struct TransformerEncoderLayerOptions {
  TransformerEncoderLayerOptions(int64_t d_model, int64_t nhead) : d_model_(d_model), nhead_(nhead) {}
  TORCH_ARG(int64_t, d_model);
  TORCH_ARG(int64_t, nhead);
  TORCH_ARG(int64_t, dim_feedforward) = 2048;
  TORCH_ARG(double, dropout) = 0.1;
  TORCH_ARG(TransformerActivation, activation) = torch::kReLU;
};
struct TransformerDecoderLayerOptions {
  TransformerDecoderLayerOptions(int64_t d_model, int64_t nhead) : d_model_(d_model), nhead_(nhead) {}
  TORCH_ARG(int64_t, d_model);
  TORCH_ARG(int64_t, nhead);
  TORCH_ARG(int64_t, dim_feedforward) = 2048;
  TORCH_ARG(double, dropout) = 0.1;
  TORCH_ARG(TransformerActivation, activation) = torch::kReLU;
};
struct TransformerOptions {
  TransformerOptions() = default;
  TransformerOptions(int64_t d_model, int64_t nhead) : d_model_(d_model), nhead_(nhead) {}
  TransformerOptions(int64_t d_model, int64_t nhead, int64_t num_encoder_layers, int64_t num_decoder_layers)
      : d_model_(d_model),
        nhead_(nhead),
        num_encoder_layers_(num_encoder_layers),
        num_decoder_layers_(num_decoder_layers) {}
  TORCH_ARG(int64_t, d_model) = 512;
  TORCH_ARG(int64_t, nhead) = 8;
  TORCH_ARG(int64_t, num_encoder_layers) = 6;
  TORCH_ARG(int64_t, num_decoder_layers) = 6;
  TORCH_ARG(int64_t, dim_feedforward) = 2048;
  TORCH_ARG(double, dropout) = 0.1;
  TORCH_ARG(TransformerActivation, activation) = torch::kReLU;
  TORCH_ARG(AnyModule, custom_encoder) = {};
  TORCH_ARG(AnyModule, custom_decoder) = {};
};

}  // namespace torch::nn
