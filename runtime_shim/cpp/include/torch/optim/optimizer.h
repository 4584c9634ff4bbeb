// torch::optim::Optimizer: groups of parameters with their options, and what an algorithm keeps for each parameter.
#pragma once

#include <torch/arg.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <functional>
#include <memory>
#include <vector>

namespace torch::optim {

class OptimizerOptions {
 public:
  virtual ~OptimizerOptions() = default;
  virtual std::unique_ptr<OptimizerOptions> clone() const = 0;
  virtual double get_lr() const = 0;
  virtual void set_lr(double lr) = 0;
};

/// What options of a class of its own have in common: they can be copied, and have a learning rate `lr`.
template <typename Derived>
class OptimizerCloneableOptions : public OptimizerOptions {
 public:
  std::unique_ptr<OptimizerOptions> clone() const override {
    return std::make_unique<Derived>(static_cast<const Derived&>(*this));
  }
  double get_lr() const override { return static_cast<const Derived&>(*this).lr(); }
  void set_lr(double lr) override { static_cast<Derived&>(*this).lr(lr); }
};

class OptimizerParamGroup {
 public:
  OptimizerParamGroup(std::vector<Tensor> params) : params_(std::move(params)) {}
  OptimizerParamGroup(std::vector<Tensor> params, std::unique_ptr<OptimizerOptions> options)
      : params_(std::move(params)), options_(std::move(options)) {}
  OptimizerParamGroup(const OptimizerParamGroup& other)
      : params_(other.params_), options_(other.has_options() ? other.options_->clone() : nullptr) {}
  OptimizerParamGroup& operator=(const OptimizerParamGroup& other) { return *this = OptimizerParamGroup(other); }
  OptimizerParamGroup(OptimizerParamGroup&&) = default;
  OptimizerParamGroup& operator=(OptimizerParamGroup&&) = default;

  bool has_options() const { return options_ != nullptr; }
  OptimizerOptions& options() const {
    TORCH_CHECK(has_options(), "the parameter group has no options");
    return *options_;
  }
  void set_options(std::unique_ptr<OptimizerOptions> options) { options_ = std::move(options); }
  std::vector<Tensor>& params() { return params_; }
  const std::vector<Tensor>& params() const { return params_; }

 private:
  std::vector<Tensor> params_;
  std::unique_ptr<OptimizerOptions> options_;
};

class Optimizer {
 public:
  using LossClosure = std::function<Tensor()>;

  Optimizer(const Optimizer&) = delete;
  Optimizer(Optimizer&&) = default;
  virtual ~Optimizer() = default;

  /// One step of the algorithm, for the parameters that have a gradient. What `closure` gives, which computes the loss
  /// and its gradients anew, is given back.
  virtual Tensor step(LossClosure closure = nullptr) = 0;

  void zero_grad(bool set_to_none = true) {
    for (OptimizerParamGroup& group : param_groups_) {
      for (Tensor& parameter : group.params()) {
        if (!parameter.mutable_grad().defined()) continue;
        if (set_to_none) {
          parameter.mutable_grad().reset();
        } else {
          parameter.mutable_grad().detach_().zero_();
        }
      }
    }
  }
  /// A group without options gets the defaults.
  void add_param_group(const OptimizerParamGroup& group) {
    OptimizerParamGroup added(group);
    if (!added.has_options()) added.set_options(defaults_->clone());
    for (const Tensor& parameter : added.params()) {
      TORCH_CHECK(parameter.is_leaf(), "can't optimize a non-leaf Tensor");
      for (const Tensor& known : all_parameters())
        TORCH_CHECK(!known.is_same(parameter), "some parameters appear in more than one parameter group");
    }
    param_groups_.push_back(std::move(added));
  }
  std::vector<OptimizerParamGroup>& param_groups() noexcept { return param_groups_; }
  const std::vector<OptimizerParamGroup>& param_groups() const noexcept { return param_groups_; }
  OptimizerOptions& defaults() noexcept { return *defaults_; }
  std::vector<Tensor>& parameters() noexcept {
    TORCH_WARN("Optimizer::parameters() will be removed in PyTorch 1.6");
    return param_groups_.at(0).params();
  }
  size_t size() const noexcept { return all_parameters().size(); }

 protected:
  Optimizer(const std::vector<OptimizerParamGroup>& groups, std::unique_ptr<OptimizerOptions> defaults)
      : defaults_(std::move(defaults)) {
    for (const OptimizerParamGroup& group : groups) add_param_group(group);
  }

  /// The loss, computed with gradients whatever the mode is outside.
  static Tensor loss_of(const LossClosure& closure) {
    if (closure == nullptr) return {};
    const at::AutoGradMode enable_grad(true);
    return closure();
  }

  std::vector<OptimizerParamGroup> param_groups_;
  std::unique_ptr<OptimizerOptions> defaults_;

 private:
  std::vector<Tensor> all_parameters() const {
    std::vector<Tensor> all;
    for (const OptimizerParamGroup& group : param_groups_)
      all.insert(all.end(), group.params().begin(), group.params().end());
    return all;
  }
};

/// What an algorithm keeps for each parameter, by the parameter. Few enough to look for one after the other.
template <typename State>
class StateOf {
 public:
  /// What is kept for `parameter`; made anew the first time.
  State& operator[](const Tensor& parameter) {
    for (auto& [known, state] : states_)
      if (known.is_same(parameter)) return state;
    return states_.emplace_back(parameter, State()).second;
  }

 private:
  std::vector<std::pair<Tensor, State>> states_;
};

}  // namespace torch::optim
