// The losses as modules: torch::nn::MSELoss, CrossEntropyLoss, …
#pragma once

#include <torch/nn/cloneable.h>
#include <torch/nn/functional.h>

namespace torch::nn {

#define TORCH_LOSS(Name, function)                                                                     \
  class Name##Impl : public Cloneable<Name##Impl> {                                                    \
   public:                                                                                             \
    explicit Name##Impl(Name##Options options_ = {}) : options(std::move(options_)) {}                 \
    void reset() override {}                                                                           \
    void pretty_print(std::ostream& stream) const override { stream << "torch::nn::" #Name "()"; }      \
    Tensor forward(const Tensor& input, const Tensor& target) {                                        \
      return functional::function(input, target, options);                                             \
    }                                                                                                  \
                                                                                                       \
    Name##Options options;                                                                             \
  };                                                                                                   \
  TORCH_MODULE(Name)
TORCH_LOSS(L1Loss, l1_loss);
TORCH_LOSS(MSELoss, mse_loss);
TORCH_LOSS(NLLLoss, nll_loss);
TORCH_LOSS(CrossEntropyLoss, cross_entropy);
TORCH_LOSS(BCELoss, binary_cross_entropy);
TORCH_LOSS(BCEWithLogitsLoss, binary_cross_entropy_with_logits);
#undef TORCH_LOSS

}  // namespace torch::nn
