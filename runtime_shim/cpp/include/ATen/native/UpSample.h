// Sizes and scales of interpolation, as kernels outside PyTorch use them.
#pragma once

#include <ATen/TensorUtils.h>
#include <c10/util/ArrayRef.h>

#include <array>
#include <cmath>
#include <vector>

namespace at::native {

namespace upsample {

/// The size of the result without batch and channels: given, or from the factors.
inline std::vector<int64_t> compute_output_size(IntArrayRef input_size, OptionalIntArrayRef output_size,
                                                std::optional<ArrayRef<double>> scale_factors) {
  const size_t dims = input_size.size() - 2;
  if (output_size.has_value()) {
    TORCH_CHECK(!scale_factors.has_value(), "Must specify exactly one of output_size and scale_factors");
    TORCH_CHECK(output_size->size() == dims);
    return output_size->vec();
  }
  TORCH_CHECK(scale_factors.has_value(), "Must specify exactly one of output_size and scale_factors");
  TORCH_CHECK(scale_factors->size() == dims);
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < dims; ++i)
    sizes.push_back(static_cast<int64_t>(static_cast<double>(input_size[i + 2]) * (*scale_factors)[i]));
  return sizes;
}
inline std::optional<double> get_scale_value(std::optional<ArrayRef<double>> scales, int index) {
  if (!scales.has_value()) return std::nullopt;
  return scales->at(static_cast<size_t>(index));
}

}  // namespace upsample

/// N, C and the sizes of the result.
inline std::array<int64_t, 4> upsample_2d_common_check(IntArrayRef input_size, IntArrayRef output_size) {
  TORCH_CHECK(output_size.size() == 2, "It is expected output_size equals to 2, but got size ", output_size.size());
  TORCH_CHECK(input_size.size() == 4, "It is expected input_size equals to 4, but got size ", input_size.size());
  TORCH_CHECK(input_size[2] > 0 && input_size[3] > 0 && output_size[0] > 0 && output_size[1] > 0,
              "Input and output sizes should be greater than 0, but got input (H: ", input_size[2], ", W: ", input_size[3],
              ") output (H: ", output_size[0], ", W: ", output_size[1], ")");
  return {input_size[0], input_size[1], output_size[0], output_size[1]};
}

template <typename scalar_t>
scalar_t area_pixel_compute_scale(int64_t input_size, int64_t output_size, bool align_corners,
                                  std::optional<double> scale) {
  if (align_corners)
    return output_size > 1 ? static_cast<scalar_t>(input_size - 1) / static_cast<scalar_t>(output_size - 1) : scalar_t(0);
  if (scale.has_value() && *scale > 0) return static_cast<scalar_t>(1.0 / *scale);
  return static_cast<scalar_t>(input_size) / static_cast<scalar_t>(output_size);
}
template <typename scalar_t>
scalar_t area_pixel_compute_source_index(scalar_t scale, int64_t dst_index, bool align_corners, bool cubic) {
  if (align_corners) return scale * static_cast<scalar_t>(dst_index);
  const scalar_t source = scale * (static_cast<scalar_t>(dst_index) + scalar_t(0.5)) - scalar_t(0.5);
  return !cubic && source < scalar_t(0) ? scalar_t(0) : source;
}

}  // namespace at::native
