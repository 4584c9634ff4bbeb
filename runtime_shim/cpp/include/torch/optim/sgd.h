// torch::optim::SGD.
#pragma once

#include <torch/optim/optimizer.h>

namespace torch::optim {

struct SGDOptions : public OptimizerCloneableOptions<SGDOptions> {
  SGDOptions(double lr) : lr_(lr) {}
  TORCH_ARG(double, lr);
  TORCH_ARG(double, momentum) = 0;
  TORCH_ARG(double, dampening) = 0;
  TORCH_ARG(double, weight_decay) = 0;
  TORCH_ARG(bool, nesterov) = false;
  TORCH_FIELDS(SGDOptions, lr, momentum, dampening, weight_decay, nesterov)
};
struct SGDParamState : public OptimizerCloneableParamState<SGDParamState> {
  TORCH_ARG(Tensor, momentum_buffer);
  TORCH_FIELDS(SGDParamState, momentum_buffer)
};

class SGD : public AlgorithmOf<SGDOptions, SGDParamState> {
 public:
  explicit SGD(const std::vector<OptimizerParamGroup>& param_groups, SGDOptions defaults)
      : AlgorithmOf(param_groups, std::make_unique<SGDOptions>(defaults)) {
    TORCH_CHECK(defaults.lr() >= 0, "Invalid learning rate: ", defaults.lr());
    TORCH_CHECK(defaults.momentum() >= 0, "Invalid momentum value: ", defaults.momentum());
    TORCH_CHECK(defaults.weight_decay() >= 0, "Invalid weight_decay value: ", defaults.weight_decay());
    TORCH_CHECK(!defaults.nesterov() || (defaults.momentum() > 0 && defaults.dampening() == 0),
                "Nesterov momentum requires a momentum and zero dampening");
  }
  explicit SGD(std::vector<Tensor> params, SGDOptions defaults)
      : SGD({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}

  Tensor step(LossClosure closure = nullptr) override {
    return each_parameter(closure, [this](Tensor& parameter, const Tensor& grad, const SGDOptions& options) {
      Tensor direction = grad.data();
      if (options.weight_decay() != 0) direction = direction.add(parameter.data(), options.weight_decay());
      if (options.momentum() != 0) {
        bool is_new = false;
        Tensor& buffer = state_of<SGDParamState>(parameter, &is_new).momentum_buffer();
        if (is_new) {
          buffer = direction.clone().detach();
        } else {
          buffer.mul_(options.momentum()).add_(direction, 1 - options.dampening());
        }
        direction = options.nesterov() ? direction.add(buffer, options.momentum()) : buffer;
      }
      parameter.data().add_(direction, -options.lr());  // as in PyTorch, which no version shows
    });
  }
};

}  // namespace torch::optim
