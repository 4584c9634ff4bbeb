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
};

class SGD : public Optimizer {
 public:
  explicit SGD(const std::vector<OptimizerParamGroup>& param_groups, SGDOptions defaults)
      : Optimizer(param_groups, std::make_unique<SGDOptions>(defaults)) {
    TORCH_CHECK(defaults.lr() >= 0, "Invalid learning rate: ", defaults.lr());
    TORCH_CHECK(defaults.momentum() >= 0, "Invalid momentum value: ", defaults.momentum());
    TORCH_CHECK(defaults.weight_decay() >= 0, "Invalid weight_decay value: ", defaults.weight_decay());
    TORCH_CHECK(!defaults.nesterov() || (defaults.momentum() > 0 && defaults.dampening() == 0),
                "Nesterov momentum requires a momentum and zero dampening");
  }
  explicit SGD(std::vector<Tensor> params, SGDOptions defaults)
      : SGD({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}

  Tensor step(LossClosure closure = nullptr) override {
    const NoGradGuard no_grad;
    Tensor loss = loss_of(closure);
    for (OptimizerParamGroup& group : param_groups_) {
      const auto& options = static_cast<const SGDOptions&>(group.options());
      for (Tensor& parameter : group.params()) {
        if (!parameter.grad().defined()) continue;
        Tensor direction = parameter.grad();
        if (options.weight_decay() != 0) direction = direction.add(parameter, options.weight_decay());
        if (options.momentum() != 0) {
          Tensor& buffer = momentum_[parameter];
          if (!buffer.defined()) {
            buffer = direction.detach().clone();
          } else {
            buffer.mul_(options.momentum()).add_(direction, 1 - options.dampening());
          }
          direction = options.nesterov() ? direction.add(buffer, options.momentum()) : buffer;
        }
        parameter.add_(direction, -options.lr());
      }
    }
    return loss;
  }

 private:
  StateOf<Tensor> momentum_;
};

}  // namespace torch::optim
