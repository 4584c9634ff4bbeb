// The names that options take in place of strings: torch::kMean, torch::kReLU, torch::kFanIn.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

namespace torch {
namespace enumtype {

#define TORCH_ENUM_DECLARE(name_, text)                      \
  struct k##name_ {                                          \
    static constexpr const char* name = "k" #name_;          \
    constexpr operator const char*() const { return text; }  \
  };
#define TORCH_ENUM_FORALL(_)             \
  _(Linear, "linear")                    \
  _(Conv1D, "conv1d")                    \
  _(Conv2D, "conv2d")                    \
  _(Conv3D, "conv3d")                    \
  _(ConvTranspose1D, "conv_transpose1d") \
  _(ConvTranspose2D, "conv_transpose2d") \
  _(ConvTranspose3D, "conv_transpose3d") \
  _(Sigmoid, "sigmoid")                  \
  _(Tanh, "tanh")                        \
  _(ReLU, "relu")                        \
  _(GELU, "gelu")                        \
  _(SiLU, "silu")                        \
  _(Mish, "mish")                        \
  _(LeakyReLU, "leaky_relu")             \
  _(FanIn, "fan_in")                     \
  _(FanOut, "fan_out")                   \
  _(Constant, "constant")                \
  _(Reflect, "reflect")                  \
  _(Replicate, "replicate")              \
  _(Circular, "circular")                \
  _(Nearest, "nearest")                  \
  _(NearestExact, "nearest-exact")       \
  _(Bilinear, "bilinear")                \
  _(Bicubic, "bicubic")                  \
  _(Trilinear, "trilinear")              \
  _(Area, "area")                        \
  _(Zeros, "zeros")                      \
  _(Border, "border")                    \
  _(Reflection, "reflection")            \
  _(Mean, "mean")                        \
  _(Sum, "sum")                          \
  _(Max, "max")                          \
  _(None, "none")                        \
  _(BatchMean, "batchmean")              \
  _(RNN_TANH, "rnn_tanh")                \
  _(RNN_RELU, "rnn_relu")                \
  _(LSTM, "lstm")                        \
  _(GRU, "gru")                          \
  _(Valid, "valid")                      \
  _(Same, "same")
TORCH_ENUM_FORALL(TORCH_ENUM_DECLARE)
#undef TORCH_ENUM_DECLARE

/// One of several of these names: what PyTorch has a std::variant for.
template <typename... Kinds>
class OneOf {
 public:
  template <typename Kind, typename = std::enable_if_t<(std::is_same_v<Kind, Kinds> || ...)>>
  constexpr OneOf(Kind kind) : text_(kind), name_(Kind::name) {}
  /// As Python writes it: "mean".
  constexpr const char* text() const { return text_; }
  /// As C++ writes it: "kMean".
  constexpr const char* name() const { return name_; }
  template <typename Kind>
  constexpr bool is() const {
    return name_ == std::string_view(Kind::name);  // each source of a program has a copy of the text
  }

 private:
  const char* text_;
  const char* name_;
};

/// "kMean" for torch::kMean, whatever holds it: a OneOf, or a std::variant of a program's own.
template <typename... Kinds>
std::string get_enum_name(const OneOf<Kinds...>& value) {
  return value.name();
}
template <typename Variant>
std::string get_enum_name(const Variant& value) {
  return visit([](auto kind) { return std::string(decltype(kind)::name); }, value);
}

}  // namespace enumtype

#define TORCH_ENUM_CONSTANT(name, text) constexpr enumtype::k##name k##name;
TORCH_ENUM_FORALL(TORCH_ENUM_CONSTANT)
#undef TORCH_ENUM_CONSTANT
#undef TORCH_ENUM_FORALL

}  // namespace torch
