// Options of pooling.
#pragma once

#include <torch/nn/options/common.h>

namespace torch::nn {

// The stride is the size of the window unless it is given.
#define TORCH_WINDOW_OPTIONS(Name)                                                       \
  Name(ExpandingArray<D> kernel_size) : kernel_size_(kernel_size), stride_(kernel_size) {} \
  TORCH_ARG(ExpandingArray<D>, kernel_size);                                             \
  TORCH_ARG(ExpandingArray<D>, stride)
#define TORCH_OF_EACH_RANK(Name, Suffix)  \
  using Name##1d##Suffix = Name##Suffix<1>; \
  using Name##2d##Suffix = Name##Suffix<2>; \
  using Name##3d##Suffix = Name##Suffix<3>
#define TORCH_FUNC_OPTIONS_OF_EACH_RANK(Name)        \
  using Name##1dFuncOptions = Name##Options<1>; \
  using Name##2dFuncOptions = Name##Options<2>; \
  using Name##3dFuncOptions = Name##Options<3>

template <size_t D>
struct MaxPoolOptions {
  TORCH_WINDOW_OPTIONS(MaxPoolOptions);
  TORCH_ARG(ExpandingArray<D>, padding) = 0;
  TORCH_ARG(ExpandingArray<D>, dilation) = 1;
  TORCH_ARG(bool, ceil_mode) = false;
};
TORCH_OF_EACH_RANK(MaxPool, Options);

template <size_t D>
struct AvgPoolOptions {
  TORCH_WINDOW_OPTIONS(AvgPoolOptions);
  TORCH_ARG(ExpandingArray<D>, padding) = 0;
  TORCH_ARG(bool, ceil_mode) = false;
  TORCH_ARG(bool, count_include_pad) = true;
  TORCH_ARG(std::optional<int64_t>, divisor_override) = std::nullopt;
};
TORCH_OF_EACH_RANK(AvgPool, Options);

template <size_t D>
struct MaxUnpoolOptions {
  TORCH_WINDOW_OPTIONS(MaxUnpoolOptions);
  TORCH_ARG(ExpandingArray<D>, padding) = 0;
};
TORCH_OF_EACH_RANK(MaxUnpool, Options);

template <typename OutputSize>
struct AdaptivePoolOptions {
  AdaptivePoolOptions(OutputSize output_size) : output_size_(output_size) {}
  TORCH_ARG(OutputSize, output_size);
};
using AdaptiveMaxPool1dOptions = AdaptivePoolOptions<ExpandingArray<1>>;
using AdaptiveMaxPool2dOptions = AdaptivePoolOptions<ExpandingArrayWithOptionalElem<2>>;
using AdaptiveMaxPool3dOptions = AdaptivePoolOptions<ExpandingArrayWithOptionalElem<3>>;
using AdaptiveAvgPool1dOptions = AdaptiveMaxPool1dOptions;
using AdaptiveAvgPool2dOptions = AdaptiveMaxPool2dOptions;
using AdaptiveAvgPool3dOptions = AdaptiveMaxPool3dOptions;

namespace functional {

TORCH_FUNC_OPTIONS_OF_EACH_RANK(MaxPool);
TORCH_FUNC_OPTIONS_OF_EACH_RANK(AvgPool);
template <size_t D>
struct MaxUnpoolFuncOptions {
  TORCH_WINDOW_OPTIONS(MaxUnpoolFuncOptions);
  TORCH_ARG(ExpandingArray<D>, padding) = 0;
  TORCH_ARG(std::optional<std::vector<int64_t>>, output_size) = std::nullopt;
};
TORCH_OF_EACH_RANK(MaxUnpool, FuncOptions);
using AdaptiveMaxPool1dFuncOptions = AdaptiveMaxPool1dOptions;
using AdaptiveMaxPool2dFuncOptions = AdaptiveMaxPool2dOptions;
using AdaptiveMaxPool3dFuncOptions = AdaptiveMaxPool3dOptions;
using AdaptiveAvgPool1dFuncOptions = AdaptiveAvgPool1dOptions;
using AdaptiveAvgPool2dFuncOptions = AdaptiveAvgPool2dOptions;
using AdaptiveAvgPool3dFuncOptions = AdaptiveAvgPool3dOptions;

}  // namespace functional

#undef TORCH_WINDOW_OPTIONS
#undef TORCH_OF_EACH_RANK
#undef TORCH_FUNC_OPTIONS_OF_EACH_RANK

}  // namespace torch::nn
