// torch::optim::Adagrad.
#pragma once

#include <torch/optim/optimizer.h>

namespace torch::optim {

struct AdagradOptions : public OptimizerCloneableOptions<AdagradOptions> {
  AdagradOptions(double lr = 1e-2) : lr_(lr) {}
  TORCH_ARG(double, lr);
  TORCH_ARG(double, lr_decay) = 0;
  TORCH_ARG(double, weight_decay) = 0;
  TORCH_ARG(double, initial_accumulator_value) = 0;
  TORCH_ARG(double, eps) = 1e-10;
  TORCH_FIELDS(AdagradOptions, lr, lr_decay, weight_decay, initial_accumulator_value, eps)
};
struct AdagradParamState : public OptimizerCloneableParamState<AdagradParamState> {
  TORCH_ARG(Tensor, sum);
  TORCH_ARG(int64_t, step) = 0;
  TORCH_FIELDS(AdagradParamState, sum, step)
};

class Adagrad : public AlgorithmOf<AdagradOptions, AdagradParamState> {
 public:
  explicit Adagrad(const std::vector<OptimizerParamGroup>& param_groups, AdagradOptions defaults = {})
      : AlgorithmOf(param_groups, std::make_unique<AdagradOptions>(defaults)) {
    TORCH_CHECK(defaults.lr() >= 0, "Invalid learning rate: ", defaults.lr());
    TORCH_CHECK(defaults.lr_decay() >= 0, "Invalid lr_decay value: ", defaults.lr_decay());
    TORCH_CHECK(defaults.weight_decay() >= 0, "Invalid weight_decay value: ", defaults.weight_decay());
    TORCH_CHECK(defaults.initial_accumulator_value() >= 0,
                "Invalid initial_accumulator_value value: ", defaults.initial_accumulator_value());
    TORCH_CHECK(defaults.eps() >= 0, "Invalid epsilon value: ", defaults.eps());
    for (const OptimizerParamGroup& group : param_groups_)
      for (const Tensor& parameter : group.params())
        state_of<AdagradParamState>(parameter).sum(
            torch::full_like(parameter.data(), defaults.initial_accumulator_value()));
  }
  explicit Adagrad(std::vector<Tensor> params, AdagradOptions defaults = {})
      : Adagrad({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}

  Tensor step(LossClosure closure = nullptr) override {
    return each_parameter(closure, [this](Tensor& parameter, Tensor grad, const AdagradOptions& options) {
      bool is_new = false;
      auto& state = state_of<AdagradParamState>(parameter, &is_new);
      if (is_new) state.sum(torch::full_like(parameter.data(), options.initial_accumulator_value()));
      const int64_t step = ++state.step();
      if (options.weight_decay() != 0) grad = grad.add(parameter, options.weight_decay());
      const double rate = options.lr() / (1 + static_cast<double>(step - 1) * options.lr_decay());
      state.sum().addcmul_(grad, grad, 1.0);
      parameter.addcdiv_(grad, state.sum().sqrt().add_(options.eps()), -rate);
    });
  }
};

}  // namespace torch::optim
