// torch::autograd::InputMetadata: what the gradient for a tensor has to look like.
#pragma once

#include <ATen/ATen.h>

#include <vector>

namespace torch::autograd {

struct InputMetadata {
  InputMetadata() = default;
  InputMetadata(const at::Tensor& tensor) : shape_(tensor.sizes().vec()), options_(tensor.options()) {}

  const at::TensorOptions& options() const { return options_; }
  caffe2::TypeMeta dtype() const { return options_.dtype(); }
  at::Device device() const { return options_.device(); }
  at::Layout layout() const { return options_.layout(); }
  at::IntArrayRef shape() const { return shape_; }
  at::Tensor zeros_like() const { return at::zeros(shape_, options_); }
  bool is_same_shape(const at::Tensor& grad) const { return grad.sizes() == shape(); }
  /// Whether a tensor of this shape is broadcast to that of `grad`.
  bool is_expandable_to_shape(const at::Tensor& grad) const {
    const at::IntArrayRef wanted = grad.sizes();
    if (shape_.size() > wanted.size()) return false;
    for (size_t i = 1; i <= shape_.size(); ++i)
      if (shape_[shape_.size() - i] != wanted[wanted.size() - i] && shape_[shape_.size() - i] != 1) return false;
    return true;
  }
  /// `grad`, summed over what was broadcast.
  at::Tensor reduce_grad(const at::Tensor& grad) const {
    std::vector<int64_t> summed;
    const int64_t fewer = grad.dim() - static_cast<int64_t>(shape_.size());
    for (int64_t i = 0; i < grad.dim(); ++i)
      if (i < fewer || shape_[static_cast<size_t>(i - fewer)] != grad.size(i)) summed.push_back(i);
    return summed.empty() ? grad : grad.sum(summed, /*keepdim=*/true).view(shape_);
  }

 private:
  std::vector<int64_t> shape_;
  at::TensorOptions options_;
};

}  // namespace torch::autograd
