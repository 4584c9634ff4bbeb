// torch::nn::utils: the norm of gradients.
#pragma once

#include <torch/utils.h>

namespace torch::nn::utils {

/// Scales the gradients in place so that their common 2-norm is `max_norm` at most; gives what it was.
inline double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type = 2.0) {
  const NoGradGuard no_grad;
  std::vector<Tensor> norms;
  for (const Tensor& parameter : parameters)
    if (parameter.grad().defined()) norms.push_back(parameter.grad().norm(norm_type));
  if (norms.empty()) return 0.0;
  const double total = (norms.size() == 1 ? norms[0] : at::stack(norms).norm(norm_type)).item().toDouble();
  const double scale = max_norm / (total + 1e-6);
  if (scale < 1)
    for (const Tensor& parameter : parameters)
      if (parameter.grad().defined()) parameter.mutable_grad().mul_(scale);
  return total;
}
inline double clip_grad_norm_(Tensor parameter, double max_norm, double norm_type = 2.0) {
  return clip_grad_norm_(std::vector<Tensor>{std::move(parameter)}, max_norm, norm_type);
}

}  // namespace torch::nn::utils
