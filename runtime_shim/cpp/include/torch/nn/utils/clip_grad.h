// torch::nn::utils::clip_grad_norm_ and clip_grad_value_.
#pragma once

#include <torch/utils.h>

#include <cmath>
#include <limits>

namespace torch::nn::utils {

/// Scales the gradients in place so that their common norm is `max_norm` at most; gives what it was.
inline double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type = 2.0,
                              bool error_if_nonfinite = false) {
  const NoGradGuard no_grad;
  std::vector<Tensor> norms;
  for (const Tensor& parameter : parameters) {
    const Tensor grad = parameter.mutable_grad();
    if (!grad.defined()) continue;
    norms.push_back(std::isinf(norm_type) ? grad.abs().max() : grad.norm(norm_type));
  }
  if (norms.empty()) return 0.0;
  Tensor joined = norms.size() == 1 ? norms[0] : at::stack(norms);
  if (norms.size() > 1) joined = std::isinf(norm_type) ? joined.max() : joined.norm(norm_type);
  const double total = joined.item().toDouble();
  TORCH_CHECK(!error_if_nonfinite || std::isfinite(total), "The total norm of order ", norm_type,
              " for gradients from `parameters` is non-finite, so it cannot be clipped. To disable this error and scale "
              "the gradients with the non-finite norm anyway, set `error_if_nonfinite=false`");
  const double scale = max_norm / (total + 1e-6);
  if (scale < 1)
    for (const Tensor& parameter : parameters)
      if (parameter.mutable_grad().defined()) parameter.mutable_grad().mul_(scale);
  return total;
}
inline double clip_grad_norm_(Tensor parameter, double max_norm, double norm_type = 2.0,
                              bool error_if_nonfinite = false) {
  return clip_grad_norm_(std::vector<Tensor>{std::move(parameter)}, max_norm, norm_type, error_if_nonfinite);
}

/// Limits each element of the gradients to [-clip_value, clip_value], in place.
inline void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value) {
  const NoGradGuard no_grad;
  for (const Tensor& parameter : parameters)
    if (parameter.mutable_grad().defined()) parameter.mutable_grad().clamp_(-clip_value, clip_value);
}
inline void clip_grad_value_(Tensor parameter, double clip_value) {
  clip_grad_value_(std::vector<Tensor>{std::move(parameter)}, clip_value);
}

}  // namespace torch::nn::utils
