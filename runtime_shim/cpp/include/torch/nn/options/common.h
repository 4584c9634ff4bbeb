// What the options of layers and functions share.
#pragma once

#include <torch/arg.h>
#include <torch/enum.h>
#include <torch/expanding_array.h>
#include <torch/types.h>

namespace torch::nn {

/// How the losses of the elements become one: torch::kMean, torch::kSum or torch::kNone.
using Reduction = enumtype::OneOf<enumtype::kNone, enumtype::kMean, enumtype::kSum>;

// Options with one value, which may be made from that value alone, and options with none but `reduction`.
#define TORCH_OPTIONS_OF_ONE(Name, type, option, default_value) \
  struct Name {                                                 \
    Name(type option = default_value) : option##_(option) {}    \
    TORCH_ARG(type, option);                                    \
  }
#define TORCH_OPTIONS_OF_REQUIRED(Name, type, option)       \
  struct Name {                                             \
    Name(type option) : option##_(std::move(option)) {}     \
    TORCH_ARG(type, option);                                \
  }
#define TORCH_REDUCTION(Name)                                                                             \
  using reduction_t = Reduction;                                                                          \
  Name(Reduction reduction) : reduction_(reduction) {}                                                    \
  template <typename Kind, typename = std::enable_if_t<std::is_constructible_v<Reduction, Kind>>>         \
  Name(Kind reduction) : reduction_(reduction) {}                                                         \
  Name() = default;                                                                                       \
  TORCH_ARG(Reduction, reduction) = torch::kMean

}  // namespace torch::nn
