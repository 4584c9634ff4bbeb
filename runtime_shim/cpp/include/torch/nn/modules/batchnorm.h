// torch::nn::BatchNorm1d and BatchNorm2d.
#pragma once

#include <torch/nn/cloneable.h>
#include <torch/nn/functional.h>
#include <torch/nn/init.h>

namespace torch::nn {

/// What the two have in common: which inputs they take differs.
template <size_t D, typename Derived>
class BatchNormImplBase : public Cloneable<Derived> {
 public:
  explicit BatchNormImplBase(const BatchNormOptions& options_) : options(options_) { BatchNormImplBase::reset(); }
  void reset() override {
    const int64_t size = options.num_features();
    weight = this->register_parameter("weight", options.affine() ? torch::ones(size) : Tensor(), options.affine());
    bias = this->register_parameter("bias", options.affine() ? torch::zeros(size) : Tensor(), options.affine());
    const bool tracks = options.track_running_stats();
    running_mean = this->register_buffer("running_mean", tracks ? torch::zeros(size) : Tensor());
    running_var = this->register_buffer("running_var", tracks ? torch::ones(size) : Tensor());
    num_batches_tracked =
        this->register_buffer("num_batches_tracked", tracks ? torch::tensor(0, torch::kLong) : Tensor());
  }
  void reset_running_stats() {
    if (!options.track_running_stats()) return;
    running_mean.zero_();
    running_var.fill_(1);
    num_batches_tracked.zero_();
  }
  void pretty_print(std::ostream& stream) const override {
    stream << std::boolalpha << "torch::nn::BatchNorm" << D << "d(" << options.num_features()
           << ", eps=" << options.eps() << ", momentum=";
    if (options.momentum().has_value()) stream << *options.momentum();
    stream << ", affine=" << options.affine() << ", track_running_stats=" << options.track_running_stats() << ')';
  }
  Tensor forward(const Tensor& input) {
    if constexpr (D == 1) {
      TORCH_CHECK(input.dim() == 2 || input.dim() == 3, "expected 2D or 3D input (got ", input.dim(), "D input)");
    } else {
      TORCH_CHECK(input.dim() == D + 2, "expected ", D + 2, "D input (got ", input.dim(), "D input)");
    }
    std::optional<double> average = options.momentum();
    if (this->is_training() && num_batches_tracked.defined()) {
      num_batches_tracked += 1;
      if (!average.has_value()) average = 1.0 / num_batches_tracked.template item<double>();
    }
    return functional::batch_norm(input, running_mean, running_var,
                                  functional::BatchNormFuncOptions()
                                      .weight(weight)
                                      .bias(bias)
                                      .training(this->is_training() || !options.track_running_stats())
                                      .momentum(average)
                                      .eps(options.eps()));
  }

  BatchNormOptions options;
  Tensor weight;
  Tensor bias;
  Tensor running_mean;
  Tensor running_var;
  Tensor num_batches_tracked;
};

#define TORCH_BATCH_NORM(D)                                                                                \
  class BatchNorm##D##dImpl : public BatchNormImplBase<D, BatchNorm##D##dImpl> {                           \
   public:                                                                                                 \
    explicit BatchNorm##D##dImpl(int64_t num_features) : BatchNorm##D##dImpl(BatchNormOptions(num_features)) {} \
    explicit BatchNorm##D##dImpl(const BatchNormOptions& options_) : BatchNormImplBase(options_) {}        \
  };                                                                                                       \
  TORCH_MODULE(BatchNorm##D##d)
TORCH_BATCH_NORM(1);
TORCH_BATCH_NORM(2);
#undef TORCH_BATCH_NORM

}  // namespace torch::nn
