// torch::autograd::UndefinedGrad: passes its inputs on; none of them gets a gradient.
#pragma once

#include <torch/csrc/autograd/custom_function.h>

namespace torch::autograd {

class UndefinedGrad {
 public:
  variable_list apply(const variable_list& inputs) { return Passing::apply(inputs); }
  variable_list operator()(const variable_list& inputs) { return apply(inputs); }

 private:
  struct Passing : public Function<Passing> {
    static variable_list forward(AutogradContext*, const variable_list& inputs) {
      variable_list outputs;
      for (const Variable& input : inputs) outputs.push_back(input.clone());
      return outputs;
    }
    static variable_list backward(AutogradContext*, const variable_list& gradients) {
      return variable_list(gradients.size());
    }
  };
};

}  // namespace torch::autograd
