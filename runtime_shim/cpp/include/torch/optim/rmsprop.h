// torch::optim::RMSprop.
#pragma once

#include <torch/optim/optimizer.h>

namespace torch::optim {

struct RMSpropOptions : public OptimizerCloneableOptions<RMSpropOptions> {
  RMSpropOptions(double lr = 1e-2) : lr_(lr) {}
  TORCH_ARG(double, lr);
  TORCH_ARG(double, alpha) = 0.99;
  TORCH_ARG(double, eps) = 1e-8;
  TORCH_ARG(double, weight_decay) = 0;
  TORCH_ARG(double, momentum) = 0;
  TORCH_ARG(bool, centered) = false;
  TORCH_FIELDS(RMSpropOptions, lr, alpha, eps, weight_decay, momentum, centered)
};
struct RMSpropParamState : public OptimizerCloneableParamState<RMSpropParamState> {
  TORCH_ARG(int64_t, step) = 0;
  TORCH_ARG(Tensor, square_avg);
  TORCH_ARG(Tensor, momentum_buffer) = {};
  TORCH_ARG(Tensor, grad_avg) = {};
  TORCH_FIELDS(RMSpropParamState, step, square_avg, momentum_buffer, grad_avg)
};

class RMSprop : public AlgorithmOf<RMSpropOptions, RMSpropParamState> {
 public:
  explicit RMSprop(const std::vector<OptimizerParamGroup>& param_groups, RMSpropOptions defaults = {})
      : AlgorithmOf(param_groups, std::make_unique<RMSpropOptions>(defaults)) {
    TORCH_CHECK(defaults.lr() >= 0, "Invalid learning rate: ", defaults.lr());
    TORCH_CHECK(defaults.eps() >= 0, "Invalid epsilon value: ", defaults.eps());
    TORCH_CHECK(defaults.momentum() >= 0, "Invalid momentum value: ", defaults.momentum());
    TORCH_CHECK(defaults.weight_decay() >= 0, "Invalid weight_decay value: ", defaults.weight_decay());
    TORCH_CHECK(defaults.alpha() >= 0, "Invalid alpha value: ", defaults.alpha());
  }
  explicit RMSprop(std::vector<Tensor> params, RMSpropOptions defaults = {})
      : RMSprop({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}

  Tensor step(LossClosure closure = nullptr) override {
    return each_parameter(closure, [this](Tensor& parameter, Tensor grad, const RMSpropOptions& options) {
      bool is_new = false;
      auto& state = state_of<RMSpropParamState>(parameter, &is_new);
      if (is_new) {
        state.square_avg(torch::zeros_like(parameter));
        if (options.momentum() > 0) state.momentum_buffer(torch::zeros_like(parameter));
        if (options.centered()) state.grad_avg(torch::zeros_like(parameter));
      }
      ++state.step();
      if (options.weight_decay() != 0) grad = grad.add(parameter, options.weight_decay());
      state.square_avg().mul_(options.alpha()).addcmul_(grad, grad, 1 - options.alpha());
      Tensor spread = state.square_avg();
      if (options.centered()) {
        state.grad_avg().mul_(options.alpha()).add_(grad, 1 - options.alpha());
        spread = spread.addcmul(state.grad_avg(), state.grad_avg(), -1);
      }
      const Tensor average = spread.sqrt().add_(options.eps());
      if (options.momentum() > 0) {
        state.momentum_buffer().mul_(options.momentum()).addcdiv_(grad, average);
        parameter.add_(state.momentum_buffer(), -options.lr());
      } else {
        parameter.addcdiv_(grad, average, -options.lr());
      }
    });
  }
};

}  // namespace torch::optim
