// The activations as layers: torch::nn::ReLU, Softmax, …
#pragma once

#include <torch/nn/cloneable.h>
#include <torch/nn/functional.h>

namespace torch::nn {

class ReLUImpl : public Cloneable<ReLUImpl> {
 public:
  explicit ReLUImpl(const ReLUOptions& options_ = {}) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override {
    stream << "torch::nn::ReLU(" << (options.inplace() ? "inplace=true" : "") << ')';
  }
  Tensor forward(Tensor input) { return functional::relu(std::move(input), options); }

  ReLUOptions options;
};
TORCH_MODULE(ReLU);

class LeakyReLUImpl : public Cloneable<LeakyReLUImpl> {
 public:
  explicit LeakyReLUImpl(const LeakyReLUOptions& options_ = {}) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override {
    stream << "torch::nn::LeakyReLU(negative_slope=" << options.negative_slope()
           << (options.inplace() ? ", inplace=true" : "") << ')';
  }
  Tensor forward(Tensor input) { return functional::leaky_relu(std::move(input), options); }

  LeakyReLUOptions options;
};
TORCH_MODULE(LeakyReLU);

class ELUImpl : public Cloneable<ELUImpl> {
 public:
  explicit ELUImpl(const ELUOptions& options_ = {}) : options(options_) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override {
    stream << "torch::nn::ELU(alpha=" << options.alpha() << (options.inplace() ? ", inplace=true" : "") << ')';
  }
  Tensor forward(Tensor input) { return functional::elu(std::move(input), options); }

  ELUOptions options;
};
TORCH_MODULE(ELU);

class GELUImpl : public Cloneable<GELUImpl> {
 public:
  explicit GELUImpl(GELUOptions options_ = {}) : options(std::move(options_)) {}
  void reset() override {}
  void pretty_print(std::ostream& stream) const override { stream << "torch::nn::GELU()"; }
  Tensor forward(const Tensor& input) { return functional::gelu(input, options); }

  GELUOptions options;
};
TORCH_MODULE(GELU);

#define TORCH_SOFTMAX(Name, function)                                                            \
  class Name##Impl : public Cloneable<Name##Impl> {                                              \
   public:                                                                                       \
    explicit Name##Impl(int64_t dim) : Name##Impl(Name##Options(dim)) {}                         \
    explicit Name##Impl(const Name##Options& options_) : options(options_) {}                    \
    void reset() override {}                                                                     \
    void pretty_print(std::ostream& stream) const override {                                     \
      stream << "torch::nn::" #Name "(dim=" << options.dim() << ')';                             \
    }                                                                                            \
    Tensor forward(const Tensor& input) { return functional::function(input, options); }         \
                                                                                                 \
    Name##Options options;                                                                       \
  };                                                                                             \
  TORCH_MODULE(Name)
TORCH_SOFTMAX(Softmax, softmax);
TORCH_SOFTMAX(LogSoftmax, log_softmax);
#undef TORCH_SOFTMAX

#define TORCH_ACTIVATION(Name, function)                                                                \
  class Name##Impl : public Cloneable<Name##Impl> {                                                     \
   public:                                                                                              \
    void reset() override {}                                                                            \
    void pretty_print(std::ostream& stream) const override { stream << "torch::nn::" #Name "()"; }       \
    Tensor forward(const Tensor& input) { return at::function(input); }                                 \
  };                                                                                                    \
  TORCH_MODULE(Name)
TORCH_ACTIVATION(Sigmoid, sigmoid);
TORCH_ACTIVATION(SiLU, silu);
TORCH_ACTIVATION(Tanh, tanh);
#undef TORCH_ACTIVATION

}  // namespace torch::nn
