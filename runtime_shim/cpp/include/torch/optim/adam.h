// torch::optim::Adam and AdamW.
#pragma once

#include <torch/optim/optimizer.h>

#include <cmath>
#include <tuple>

namespace torch::optim {

#define TORCH_ADAM_CLASSES(Name, default_weight_decay)                                              \
  struct Name##Options : public OptimizerCloneableOptions<Name##Options> {                          \
    Name##Options(double lr = 1e-3) : lr_(lr) {}                                                    \
    using betas_t = std::tuple<double, double>;                                                     \
    TORCH_ARG(double, lr);                                                                          \
    TORCH_ARG(betas_t, betas) = std::make_tuple(0.9, 0.999);                                        \
    TORCH_ARG(double, eps) = 1e-8;                                                                  \
    TORCH_ARG(double, weight_decay) = default_weight_decay;                                         \
    TORCH_ARG(bool, amsgrad) = false;                                                               \
    TORCH_FIELDS(Name##Options, lr, betas, eps, weight_decay, amsgrad)                              \
  };                                                                                                \
  struct Name##ParamState : public OptimizerCloneableParamState<Name##ParamState> {                 \
    TORCH_ARG(int64_t, step) = 0;                                                                   \
    TORCH_ARG(Tensor, exp_avg);                                                                     \
    TORCH_ARG(Tensor, exp_avg_sq);                                                                  \
    TORCH_ARG(Tensor, max_exp_avg_sq) = {};                                                         \
    TORCH_FIELDS(Name##ParamState, step, exp_avg, exp_avg_sq, max_exp_avg_sq)                       \
  }
TORCH_ADAM_CLASSES(Adam, 0);
TORCH_ADAM_CLASSES(AdamW, 1e-2);
#undef TORCH_ADAM_CLASSES

namespace detail {

/// Both: weight decay is part of the gradient, or (`decoupled`) shrinks the parameter by itself.
template <typename Options, typename ParamState, bool decoupled>
class AdamBase : public AlgorithmOf<Options, ParamState> {
 public:
  explicit AdamBase(const std::vector<OptimizerParamGroup>& param_groups, Options defaults = {})
      : AlgorithmOf<Options, ParamState>(param_groups, std::make_unique<Options>(defaults)) {
    TORCH_CHECK(defaults.lr() >= 0, "Invalid learning rate: ", defaults.lr());
    TORCH_CHECK(defaults.eps() >= 0, "Invalid epsilon value: ", defaults.eps());
    const auto [beta1, beta2] = defaults.betas();
    TORCH_CHECK(0 <= beta1 && beta1 < 1.0, "Invalid beta parameter at index 0: ", beta1);
    TORCH_CHECK(0 <= beta2 && beta2 < 1.0, "Invalid beta parameter at index 1: ", beta2);
    TORCH_CHECK(defaults.weight_decay() >= 0, "Invalid weight_decay value: ", defaults.weight_decay());
  }
  explicit AdamBase(std::vector<Tensor> params, Options defaults = {})
      : AdamBase({OptimizerParamGroup(std::move(params))}, std::move(defaults)) {}

  Tensor step(Optimizer::LossClosure closure = nullptr) override {
    return this->each_parameter(closure, [this](Tensor& parameter, const Tensor& grad, const Options& options) {
      update(parameter, grad, options);
    });
  }

 private:
  void update(Tensor& parameter, Tensor grad, const Options& options) {
    bool is_new = false;
    auto& state = this->template state_of<ParamState>(parameter, &is_new);
    if (is_new) {
      state.exp_avg(torch::zeros_like(parameter));
      state.exp_avg_sq(torch::zeros_like(parameter));
      if (options.amsgrad()) state.max_exp_avg_sq(torch::zeros_like(parameter));
    }
    const int64_t step = ++state.step();
    const auto [beta1, beta2] = options.betas();
    if (options.weight_decay() != 0) {
      if constexpr (decoupled) {
        parameter.mul_(1 - options.lr() * options.weight_decay());
      } else {
        grad = grad.add(parameter, options.weight_decay());
      }
    }
    state.exp_avg().mul_(beta1).add_(grad, 1 - beta1);
    state.exp_avg_sq().mul_(beta2).addcmul_(grad, grad, 1 - beta2);
    Tensor squares = state.exp_avg_sq();
    if (options.amsgrad()) squares = state.max_exp_avg_sq() = at::maximum(state.max_exp_avg_sq(), squares);
    const double correction1 = 1 - std::pow(beta1, step), correction2 = 1 - std::pow(beta2, step);
    const Tensor denominator = (squares.sqrt() / std::sqrt(correction2)).add_(options.eps());
    parameter.addcdiv_(state.exp_avg(), denominator, -options.lr() / correction1);
  }
};

}  // namespace detail

class Adam : public detail::AdamBase<AdamOptions, AdamParamState, false> {
 public:
  using AdamBase::AdamBase;
};
class AdamW : public detail::AdamBase<AdamWOptions, AdamWParamState, true> {
 public:
  using AdamBase::AdamBase;
};

}  // namespace torch::optim
