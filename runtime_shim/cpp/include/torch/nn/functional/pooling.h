// Pooling as functions.
#pragma once

#include <torch/nn/functional/call.h>
#include <torch/nn/options/pooling.h>

namespace torch::nn::functional {

#define TORCH_POOLING(D)                                                                                               \
  TORCH_NN_FUNCTION(max_pool##D##d, (const Tensor& input, const MaxPool##D##dFuncOptions& options), input,             \
                    detail::ints(options.kernel_size()), detail::ints(options.stride()), detail::ints(options.padding()), \
                    detail::ints(options.dilation()), options.ceil_mode())                                             \
  TORCH_NN_PAIR_FUNCTION(max_pool##D##d_with_indices, (const Tensor& input, const MaxPool##D##dFuncOptions& options),  \
                         input, detail::ints(options.kernel_size()), detail::ints(options.stride()),                   \
                         detail::ints(options.padding()), detail::ints(options.dilation()), options.ceil_mode())       \
  TORCH_NN_FUNCTION(max_unpool##D##d,                                                                                  \
                    (const Tensor& input, const Tensor& indices, const MaxUnpool##D##dFuncOptions& options), input,    \
                    indices, detail::ints(options.kernel_size()), detail::ints(options.stride()),                      \
                    detail::ints(options.padding()), options.output_size())                                            \
  TORCH_NN_FUNCTION(adaptive_max_pool##D##d, (const Tensor& input, const AdaptiveMaxPool##D##dFuncOptions& options),   \
                    input, detail::sizes(options.output_size()))                                                       \
  TORCH_NN_PAIR_FUNCTION(adaptive_max_pool##D##d_with_indices,                                                         \
                         (const Tensor& input, const AdaptiveMaxPool##D##dFuncOptions& options), input,                \
                         detail::sizes(options.output_size()))                                                         \
  TORCH_NN_FUNCTION(adaptive_avg_pool##D##d, (const Tensor& input, const AdaptiveAvgPool##D##dFuncOptions& options),   \
                    input, detail::sizes(options.output_size()))
TORCH_POOLING(1)
TORCH_POOLING(2)
TORCH_POOLING(3)
#undef TORCH_POOLING

TORCH_NN_FUNCTION(avg_pool1d, (const Tensor& input, const AvgPool1dFuncOptions& options), input,
                  detail::ints(options.kernel_size()), detail::ints(options.stride()), detail::ints(options.padding()),
                  options.ceil_mode(), options.count_include_pad())
#define TORCH_AVERAGE(D)                                                                                               \
  TORCH_NN_FUNCTION(avg_pool##D##d, (const Tensor& input, const AvgPool##D##dFuncOptions& options), input,             \
                    detail::ints(options.kernel_size()), detail::ints(options.stride()), detail::ints(options.padding()), \
                    options.ceil_mode(), options.count_include_pad(), options.divisor_override())
TORCH_AVERAGE(2)
TORCH_AVERAGE(3)
#undef TORCH_AVERAGE

}  // namespace torch::nn::functional
