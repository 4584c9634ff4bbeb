// torch::nn::Dropout and its kin.
#pragma once

#include <torch/nn/functional/activation.h>
#include <torch/nn/modules/common.h>

namespace torch::nn {

#define TORCH_DROPOUT(Name, function, FuncOptions)                                                             \
  class Name##Impl : public Cloneable<Name##Impl> {                                                            \
   public:                                                                                                     \
    explicit Name##Impl(double p) : Name##Impl(DropoutOptions(p)) {}                                           \
    explicit Name##Impl(const DropoutOptions& options_ = {}) : options(options_) { Name##Impl::reset(); }      \
    void reset() override { functional::detail::check_probability(options.p()); }                              \
    void pretty_print(std::ostream& stream) const override {                                                   \
      stream << std::boolalpha << "torch::nn::" #Name "(p=" << options.p() << ", inplace=" << options.inplace() \
             << ')';                                                                                           \
    }                                                                                                          \
    Tensor forward(Tensor input) {                                                                             \
      return functional::function(std::move(input), functional::FuncOptions()                                  \
                                                        .p(options.p())                                        \
                                                        .training(is_training())                               \
                                                        .inplace(options.inplace()));                          \
    }                                                                                                          \
                                                                                                               \
    DropoutOptions options;                                                                                    \
  };                                                                                                           \
  TORCH_MODULE(Name)
TORCH_DROPOUT(Dropout, dropout, DropoutFuncOptions);
TORCH_DROPOUT(Dropout2d, dropout2d, DropoutFuncOptions);
TORCH_DROPOUT(Dropout3d, dropout3d, DropoutFuncOptions);
TORCH_DROPOUT(AlphaDropout, alpha_dropout, AlphaDropoutFuncOptions);
#undef TORCH_DROPOUT

}  // namespace torch::nn
