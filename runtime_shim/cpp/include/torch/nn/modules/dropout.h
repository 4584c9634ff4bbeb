// torch::nn::Dropout and Dropout2d.
#pragma once

#include <torch/nn/cloneable.h>
#include <torch/nn/functional.h>

namespace torch::nn {

#define TORCH_DROPOUT(Name, function)                                                                          \
  class Name##Impl : public Cloneable<Name##Impl> {                                                            \
   public:                                                                                                     \
    explicit Name##Impl(double p) : Name##Impl(DropoutOptions(p)) {}                                           \
    explicit Name##Impl(const DropoutOptions& options_ = {}) : options(options_) { Name##Impl::reset(); }      \
    void reset() override {                                                                                    \
      TORCH_CHECK(options.p() >= 0. && options.p() <= 1.,                                                      \
                  "dropout probability has to be between 0 and 1, but got ", options.p());                     \
    }                                                                                                          \
    void pretty_print(std::ostream& stream) const override {                                                   \
      stream << std::boolalpha << "torch::nn::" #Name "(p=" << options.p() << ", inplace=" << options.inplace() \
             << ')';                                                                                           \
    }                                                                                                          \
    Tensor forward(Tensor input) {                                                                             \
      return functional::function(                                                                             \
          std::move(input),                                                                                    \
          functional::DropoutFuncOptions().p(options.p()).training(is_training()).inplace(options.inplace())); \
    }                                                                                                          \
                                                                                                               \
    DropoutOptions options;                                                                                    \
  };                                                                                                           \
  TORCH_MODULE(Name)
TORCH_DROPOUT(Dropout, dropout);
TORCH_DROPOUT(Dropout2d, dropout2d);
#undef TORCH_DROPOUT

}  // namespace torch::nn
