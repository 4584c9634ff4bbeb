// torch::nn::init: values for parameters, written in place and not recorded.
#pragma once

#include <torch/nn/options.h>
#include <torch/utils.h>

namespace torch::nn::init {

using NonlinearityType = const char*;
using FanModeType = const char*;

namespace detail {

/// A function of the Python module's nn.init.
inline Tensor fill(const char* name, const Tensor& tensor, std::initializer_list<guardfix::Arg> args) {
  const NoGradGuard no_grad;
  const guardfix::Gil gil;
  const guardfix::Object function = guardfix::ask("initializer", {name});
  guardfix::call(function.get(), name, args);
  return tensor;
}

}  // namespace detail

inline Tensor constant_(Tensor tensor, Scalar value) { return detail::fill("constant_", tensor, {tensor, value}); }
inline Tensor ones_(Tensor tensor) { return detail::fill("ones_", tensor, {tensor}); }
inline Tensor zeros_(Tensor tensor) { return detail::fill("zeros_", tensor, {tensor}); }
inline Tensor normal_(Tensor tensor, double mean = 0, double std = 1) {
  return detail::fill("normal_", tensor, {tensor, mean, std});
}
inline Tensor uniform_(Tensor tensor, double low = 0, double high = 1) {
  return detail::fill("uniform_", tensor, {tensor, low, high});
}
inline Tensor xavier_normal_(Tensor tensor, double gain = 1.0) {
  return detail::fill("xavier_normal_", tensor, {tensor, gain});
}
inline Tensor xavier_uniform_(Tensor tensor, double gain = 1.0) {
  return detail::fill("xavier_uniform_", tensor, {tensor, gain});
}
inline Tensor kaiming_normal_(Tensor tensor, double a = 0, FanModeType mode = torch::kFanIn,
                              NonlinearityType nonlinearity = torch::kLeakyReLU) {
  return detail::fill("kaiming_normal_", tensor, {tensor, a, mode, nonlinearity});
}
inline Tensor kaiming_uniform_(Tensor tensor, double a = 0, FanModeType mode = torch::kFanIn,
                               NonlinearityType nonlinearity = torch::kLeakyReLU) {
  return detail::fill("kaiming_uniform_", tensor, {tensor, a, mode, nonlinearity});
}

}  // namespace torch::nn::init
