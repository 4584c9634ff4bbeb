// torch::nn::BatchNorm1d to BatchNorm3d and InstanceNorm1d to InstanceNorm3d.
#pragma once

#include <torch/nn/cloneable.h>
#include <torch/nn/functional/normalization.h>
#include <torch/nn/init.h>

namespace torch::nn {

/// What normalisation by statistics of the channels has, whatever the rank of its input.
template <typename Derived, typename Options>
class NormImplBase : public Cloneable<Derived> {
 public:
  explicit NormImplBase(const Options& options_) : options(options_) { NormImplBase::reset(); }
  void reset() override {
    const int64_t size = options.num_features();
    weight = this->register_parameter("weight", options.affine() ? torch::empty(size) : Tensor(), options.affine());
    bias = this->register_parameter("bias", options.affine() ? torch::empty(size) : Tensor(), options.affine());
    const bool tracks = options.track_running_stats();
    running_mean = this->register_buffer("running_mean", tracks ? torch::zeros(size) : Tensor());
    running_var = this->register_buffer("running_var", tracks ? torch::ones(size) : Tensor());
    num_batches_tracked =
        this->register_buffer("num_batches_tracked", tracks ? torch::tensor(0, torch::kLong) : Tensor());
    reset_parameters();
  }
  void reset_running_stats() {
    if (!options.track_running_stats()) return;
    running_mean.zero_();
    running_var.fill_(1);
    num_batches_tracked.zero_();
  }
  void reset_parameters() {
    reset_running_stats();
    if (!options.affine()) return;
    init::ones_(weight);
    init::zeros_(bias);
  }

  Options options;
  Tensor weight;
  Tensor bias;
  Tensor running_mean;
  Tensor running_var;
  Tensor num_batches_tracked;

 protected:
  void print(std::ostream& stream, const char* name, size_t rank) const {
    stream << std::boolalpha << "torch::nn::" << name << rank << "d(" << options.num_features()
           << ", eps=" << options.eps() << ", momentum=";
    if constexpr (std::is_same_v<decltype(options.momentum()), double>) {
      stream << options.momentum();
    } else {
      if (std::optional<double> momentum = options.momentum()) stream << *momentum;
    }
    stream << ", affine=" << options.affine() << ", track_running_stats=" << options.track_running_stats() << ')';
  }
};

template <size_t D, typename Derived>
class BatchNormImplBase : public NormImplBase<Derived, BatchNormOptions> {
 public:
  using NormImplBase<Derived, BatchNormOptions>::NormImplBase;
  void pretty_print(std::ostream& stream) const override { this->print(stream, "BatchNorm", D); }
  Tensor forward(const Tensor& input) {
    if constexpr (D == 1) {
      TORCH_CHECK(input.dim() == 2 || input.dim() == 3, "expected 2D or 3D input (got ", input.dim(), "D input)");
    } else {
      TORCH_CHECK(input.dim() == D + 2, "expected ", D + 2, "D input (got ", input.dim(), "D input)");
    }
    std::optional<double> average = this->options.momentum();
    if (this->is_training() && this->num_batches_tracked.defined()) {
      this->num_batches_tracked += 1;
      if (!average.has_value()) average = 1.0 / this->num_batches_tracked.template item<double>();
    }
    return functional::batch_norm(input, this->running_mean, this->running_var,
                                  functional::BatchNormFuncOptions()
                                      .weight(this->weight)
                                      .bias(this->bias)
                                      .training(this->is_training() || !this->options.track_running_stats())
                                      .momentum(average)
                                      .eps(this->options.eps()));
  }
};

template <size_t D, typename Derived>
class InstanceNormImplBase : public NormImplBase<Derived, InstanceNormOptions> {
 public:
  using NormImplBase<Derived, InstanceNormOptions>::NormImplBase;
  void pretty_print(std::ostream& stream) const override { this->print(stream, "InstanceNorm", D); }
  Tensor forward(const Tensor& input) {
    const bool batched = input.dim() == D + 2;
    TORCH_CHECK(batched || input.dim() == D + 1, "expected ", D + 1, "D or ", D + 2, "D input (got ", input.dim(),
                "D input)");
    const Tensor found = functional::instance_norm(
        batched ? input : input.unsqueeze(0),
        functional::InstanceNormFuncOptions()
            .running_mean(this->running_mean)
            .running_var(this->running_var)
            .weight(this->weight)
            .bias(this->bias)
            .use_input_stats(this->is_training() || !this->options.track_running_stats())
            .momentum(this->options.momentum())
            .eps(this->options.eps()));
    return batched ? found : found.squeeze(0);
  }
};

#define TORCH_NORM(Kind, D)                                                                        \
  class Kind##D##dImpl : public Kind##ImplBase<D, Kind##D##dImpl> {                                \
   public:                                                                                         \
    explicit Kind##D##dImpl(int64_t num_features) : Kind##D##dImpl(Kind##Options(num_features)) {} \
    explicit Kind##D##dImpl(const Kind##Options& options_) : Kind##ImplBase(options_) {}           \
  };                                                                                               \
  TORCH_MODULE(Kind##D##d)
TORCH_NORM(BatchNorm, 1);
TORCH_NORM(BatchNorm, 2);
TORCH_NORM(BatchNorm, 3);
TORCH_NORM(InstanceNorm, 1);
TORCH_NORM(InstanceNorm, 2);
TORCH_NORM(InstanceNorm, 3);
#undef TORCH_NORM

}  // namespace torch::nn
