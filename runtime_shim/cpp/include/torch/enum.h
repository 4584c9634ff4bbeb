// The names that options take in place of strings: torch::kMean, torch::kReLU, torch::kFanIn.
#pragma once

namespace torch {
namespace enumtype {

#define TORCH_ENUM_DECLARE(name, text)          \
  struct k##name {                              \
    constexpr operator const char*() const {    \
      return text;                              \
    }                                           \
  };
#define TORCH_ENUM_FORALL(_)    \
  _(Linear, "linear")           \
  _(Conv1D, "conv1d")           \
  _(Conv2D, "conv2d")           \
  _(Sigmoid, "sigmoid")         \
  _(Tanh, "tanh")               \
  _(ReLU, "relu")               \
  _(GELU, "gelu")               \
  _(SiLU, "silu")               \
  _(LeakyReLU, "leaky_relu")    \
  _(FanIn, "fan_in")            \
  _(FanOut, "fan_out")          \
  _(Zeros, "zeros")             \
  _(Mean, "mean")               \
  _(Sum, "sum")                 \
  _(None, "none")
TORCH_ENUM_FORALL(TORCH_ENUM_DECLARE)
#undef TORCH_ENUM_DECLARE

}  // namespace enumtype

#define TORCH_ENUM_CONSTANT(name, text) constexpr enumtype::k##name k##name;
TORCH_ENUM_FORALL(TORCH_ENUM_CONSTANT)
#undef TORCH_ENUM_CONSTANT
#undef TORCH_ENUM_FORALL

}  // namespace torch
