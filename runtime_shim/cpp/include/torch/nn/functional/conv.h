// Convolutions, padding and what moves pixels, as functions.
#pragma once

#include <torch/nn/functional/call.h>
#include <torch/nn/options/conv.h>
#include <torch/nn/options/padding.h>
#include <torch/nn/options/vision.h>

namespace torch::nn::functional {

#define TORCH_CONVOLUTION(D)                                                                                         \
  TORCH_NN_FUNCTION(conv##D##d, (const Tensor& input, const Tensor& weight, const Conv##D##dFuncOptions& options = {}), \
                    input, weight, detail::optional("bias", options.bias()), kw("stride", detail::ints(options.stride())), \
                    kw("padding", options.padding().arg()), kw("dilation", detail::ints(options.dilation())),        \
                    kw("groups", options.groups()))                                                                  \
  TORCH_NN_FUNCTION(conv_transpose##D##d,                                                                            \
                    (const Tensor& input, const Tensor& weight, const ConvTranspose##D##dFuncOptions& options = {}), \
                    input, weight, detail::optional("bias", options.bias()), kw("stride", detail::ints(options.stride())), \
                    kw("padding", detail::ints(options.padding())),                                                  \
                    kw("output_padding", detail::ints(options.output_padding())), kw("groups", options.groups()),    \
                    kw("dilation", detail::ints(options.dilation())))
TORCH_CONVOLUTION(1)
TORCH_CONVOLUTION(2)
TORCH_CONVOLUTION(3)
#undef TORCH_CONVOLUTION

TORCH_NN_FUNCTION(fold, (const Tensor& input, const FoldFuncOptions& options), input,
                  detail::ints(options.output_size()), detail::ints(options.kernel_size()),
                  detail::ints(options.dilation()), detail::ints(options.padding()), detail::ints(options.stride()))
TORCH_NN_FUNCTION(unfold, (const Tensor& input, const UnfoldFuncOptions& options), input,
                  detail::ints(options.kernel_size()), detail::ints(options.dilation()),
                  detail::ints(options.padding()), detail::ints(options.stride()))

namespace detail {

inline Tensor padded(const Tensor& input, IntArrayRef pad, const char* mode, double value) {
  static const Function call{"pad"};
  return call({input, pad, mode, std::string_view(mode) == "constant" ? guardfix::Arg(value) : guardfix::Arg(std::nullopt)});
}

}  // namespace detail

inline Tensor pad(const Tensor& input, const PadFuncOptions& options) {
  return detail::padded(input, options.pad(), options.mode().text(), options.value());
}
TORCH_NN_FUNCTION(pixel_shuffle, (const Tensor& input, const PixelShuffleFuncOptions& options), input,
                  options.upscale_factor())
TORCH_NN_FUNCTION(pixel_unshuffle, (const Tensor& input, const PixelUnshuffleFuncOptions& options), input,
                  options.downscale_factor())
TORCH_NN_FUNCTION(affine_grid, (const Tensor& theta, const IntArrayRef& size, bool align_corners = false), theta, size,
                  align_corners)
TORCH_NN_FUNCTION(grid_sample, (const Tensor& input, const Tensor& grid, const GridSampleFuncOptions& options = {}),
                  input, grid, options.mode().text(), options.padding_mode().text(), options.align_corners())

inline Tensor interpolate(const Tensor& input, const InterpolateFuncOptions& options = {}) {
  static const detail::Function call{"interpolate"};
  using guardfix::kw;
  // A list of one number stands for all dimensions.
  const auto& size = options.size();
  const auto& scale = options.scale_factor();
  guardfix::Arg sizes = std::nullopt, scales = std::nullopt;
  if (size.has_value()) sizes = IntArrayRef(*size);
  if (scale.has_value()) scales = ArrayRef<double>(*scale);
  return call({input, kw("size", sizes), kw("scale_factor", scales), kw("mode", options.mode().text()),
               kw("align_corners", options.align_corners()),
               kw("recompute_scale_factor", options.recompute_scale_factor()),
               kw("antialias", options.antialias() ? std::optional<bool>(true) : std::nullopt)});
}

}  // namespace torch::nn::functional
