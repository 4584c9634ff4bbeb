// torch::nn::Functional: a function as a layer, as in Functional(torch::relu).
#pragma once

#include <torch/nn/cloneable.h>

namespace torch::nn {

class FunctionalImpl : public Cloneable<FunctionalImpl> {
 public:
  using Function = std::function<Tensor(Tensor)>;

  explicit FunctionalImpl(Function function) : function_(std::move(function)) {}
  /// With the arguments that come after the tensor: Functional(torch::elu, /*alpha=*/1).
  template <typename SomeFunction, typename... Args, typename = std::enable_if_t<(sizeof...(Args) > 0)>>
  explicit FunctionalImpl(SomeFunction original, Args&&... args)
      : function_([original, args...](Tensor input) { return original(std::move(input), args...); }) {}

  void reset() override {}
  void pretty_print(std::ostream& stream) const override { stream << "torch::nn::Functional()"; }
  Tensor forward(Tensor input) { return function_(std::move(input)); }
  Tensor operator()(Tensor input) { return forward(std::move(input)); }
  bool is_serializable() const override { return false; }

 private:
  Function function_;
};
TORCH_MODULE(Functional);

}  // namespace torch::nn
