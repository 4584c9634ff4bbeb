// Options of padding.
#pragma once

#include <torch/nn/options/common.h>

namespace torch::nn {

template <size_t D>
struct PaddingOptions {
  PaddingOptions(ExpandingArray<D * 2> padding) : padding_(padding) {}
  TORCH_ARG(ExpandingArray<D * 2>, padding);
};
template <size_t D>
struct ConstantPadOptions {
  ConstantPadOptions(ExpandingArray<D * 2> padding, double value) : padding_(padding), value_(value) {}
  TORCH_ARG(ExpandingArray<D * 2>, padding);
  TORCH_ARG(double, value);
};
#define TORCH_PADDING_OPTIONS(D)                      \
  using ReflectionPad##D##dOptions = PaddingOptions<D>;  \
  using ReplicationPad##D##dOptions = PaddingOptions<D>; \
  using ZeroPad##D##dOptions = PaddingOptions<D>;        \
  using ConstantPad##D##dOptions = ConstantPadOptions<D>
TORCH_PADDING_OPTIONS(1);
TORCH_PADDING_OPTIONS(2);
TORCH_PADDING_OPTIONS(3);
#undef TORCH_PADDING_OPTIONS

namespace functional {

struct PadFuncOptions {
  using mode_t = enumtype::OneOf<enumtype::kConstant, enumtype::kReflect, enumtype::kReplicate, enumtype::kCircular>;
  PadFuncOptions(std::vector<int64_t> pad) : pad_(std::move(pad)) {}
  TORCH_ARG(std::vector<int64_t>, pad);
  TORCH_ARG(mode_t, mode) = torch::kConstant;
  TORCH_ARG(double, value) = 0;
};

}  // namespace functional
}  // namespace torch::nn
