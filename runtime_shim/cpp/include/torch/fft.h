// torch::fft: the Fourier transforms under the names that they have in Python.
#pragma once

#include <torch/types.h>

namespace torch::fft {

#define TORCH_TRANSFORM(name)                                                                        \
  inline Tensor name(const Tensor& self, std::optional<int64_t> n = std::nullopt, int64_t dim = -1,  \
                     std::optional<std::string_view> norm = std::nullopt) {                          \
    return at::fft_##name(self, n, dim, norm);                                                       \
  }
TORCH_TRANSFORM(fft)
TORCH_TRANSFORM(ifft)
TORCH_TRANSFORM(rfft)
TORCH_TRANSFORM(irfft)
#undef TORCH_TRANSFORM

#define TORCH_TRANSFORMS(name, name2)                                                                     \
  inline Tensor name(const Tensor& self, at::OptionalIntArrayRef s = std::nullopt,                        \
                     at::OptionalIntArrayRef dim = std::nullopt,                                          \
                     std::optional<std::string_view> norm = std::nullopt) {                               \
    return at::fft_##name(self, s, dim, norm);                                                            \
  }                                                                                                       \
  inline Tensor name2(const Tensor& self, at::OptionalIntArrayRef s = std::nullopt,                       \
                      at::IntArrayRef dim = {-2, -1}, std::optional<std::string_view> norm = std::nullopt) { \
    return at::fft_##name(self, s, at::OptionalIntArrayRef(dim), norm);                                   \
  }
TORCH_TRANSFORMS(fftn, fft2)
TORCH_TRANSFORMS(ifftn, ifft2)
TORCH_TRANSFORMS(rfftn, rfft2)
TORCH_TRANSFORMS(irfftn, irfft2)
#undef TORCH_TRANSFORMS

inline Tensor fftshift(const Tensor& self, at::OptionalIntArrayRef dim = std::nullopt) {
  return at::fft_fftshift(self, dim);
}
inline Tensor ifftshift(const Tensor& self, at::OptionalIntArrayRef dim = std::nullopt) {
  return at::fft_ifftshift(self, dim);
}

}  // namespace torch::fft
