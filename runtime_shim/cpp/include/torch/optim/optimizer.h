// torch::optim::Optimizer: groups of parameters with their options, and what an algorithm keeps for each parameter.
#pragma once

#include <c10/util/flat_hash_map.h>
#include <torch/arg.h>
#include <torch/optim/fields.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <functional>
#include <memory>
#include <vector>

namespace torch::optim {

class OptimizerParamState {
 public:
  OptimizerParamState() = default;
  OptimizerParamState(const OptimizerParamState&) = default;
  virtual ~OptimizerParamState() = default;
  virtual std::unique_ptr<OptimizerParamState> clone() const = 0;
  virtual void serialize(serialize::InputArchive& archive) = 0;
  virtual void serialize(serialize::OutputArchive& archive) const = 0;
};
template <typename Derived>
class OptimizerCloneableParamState : public detail::WithFields<Derived, OptimizerParamState> {};

class OptimizerOptions {
 public:
  OptimizerOptions() = default;
  OptimizerOptions(const OptimizerOptions&) = default;
  OptimizerOptions& operator=(const OptimizerOptions&) = default;
  virtual ~OptimizerOptions() = default;
  virtual std::unique_ptr<OptimizerOptions> clone() const = 0;
  virtual void serialize(serialize::InputArchive& archive) = 0;
  virtual void serialize(serialize::OutputArchive& archive) const = 0;
  virtual double get_lr() const = 0;
  virtual void set_lr(double lr) = 0;
};

/// What options of a class of its own have in common: they can be copied, and have a learning rate `lr`.
template <typename Derived>
class OptimizerCloneableOptions : public detail::WithFields<Derived, OptimizerOptions> {
 public:
  double get_lr() const override { return rate(static_cast<const Derived&>(*this), 0); }
  void set_lr(double lr) override { set_rate(static_cast<Derived&>(*this), lr, 0); }

 private:
  template <typename T>
  static auto rate(const T& options, int) -> decltype(double(options.lr())) {
    return options.lr();
  }
  template <typename T>
  static double rate(const T&, long) {
    TORCH_CHECK(false, "double get_lr() has not been overidden and implemented in subclass of "
                       "torch::optim::OptimizerOptions, you must override it in your subclass.");
  }
  template <typename T>
  static auto set_rate(T& options, double lr, int) -> decltype(void(options.lr(lr))) {
    options.lr(lr);
  }
  template <typename T>
  static void set_rate(T&, double, long) {
    TORCH_CHECK(false, "double set_lr() has not been overidden and implemented in subclass of "
                       "torch::optim::OptimizerOptions, you must override it in your subclass.");
  }
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
  using State = ska::flat_hash_map<void*, std::unique_ptr<OptimizerParamState>>;

  Optimizer(const Optimizer&) = delete;
  Optimizer(Optimizer&&) = default;
  explicit Optimizer(const std::vector<OptimizerParamGroup>& groups, std::unique_ptr<OptimizerOptions> defaults)
      : defaults_(std::move(defaults)) {
    for (const OptimizerParamGroup& group : groups) add_param_group(group);
  }
  explicit Optimizer(std::vector<Tensor> parameters, std::unique_ptr<OptimizerOptions> defaults)
      : Optimizer({OptimizerParamGroup(std::move(parameters))}, std::move(defaults)) {}
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
  const OptimizerOptions& defaults() const noexcept { return *defaults_; }
  State& state() noexcept { return state_; }
  const State& state() const noexcept { return state_; }

  // What the first versions had.
  void add_parameters(const std::vector<Tensor>& parameters) {
    TORCH_WARN("Optimizer::add_parameters() will be removed in PyTorch 1.6");
    std::vector<Tensor>& first = param_groups_.at(0).params();
    first.insert(first.end(), parameters.begin(), parameters.end());
  }
  const std::vector<Tensor>& parameters() const noexcept {
    TORCH_WARN("Optimizer::parameters() will be removed in PyTorch 1.6");
    return param_groups_.at(0).params();
  }
  std::vector<Tensor>& parameters() noexcept {
    TORCH_WARN("Optimizer::parameters() will be removed in PyTorch 1.6");
    return param_groups_.at(0).params();
  }
  size_t size() const noexcept {
    TORCH_WARN("Optimizer::size() will be removed in PyTorch 1.6");
    return all_parameters().size();
  }

  /// The options of the groups, and the states by the places of their parameters.
  virtual void save(serialize::OutputArchive& archive) const {
    serialize::OutputArchive groups, states;
    size_t number = 0;
    for (size_t g = 0; g < param_groups_.size(); ++g) {
      serialize::OutputArchive options;
      param_groups_[g].options().serialize(options);
      groups.write(std::to_string(g), options);
    }
    for (const Tensor& parameter : all_parameters()) {
      const auto found = state_.find(parameter.unsafeGetTensorImpl());
      const std::string key = std::to_string(number++);
      if (found == state_.end()) continue;
      serialize::OutputArchive one;
      found->second->serialize(one);
      states.write(key, one);
    }
    archive.write("param_groups", groups);
    archive.write("state", states);
  }
  virtual void load(serialize::InputArchive& archive) {
    serialize::InputArchive groups, states;
    archive.read("param_groups", groups);
    archive.read("state", states);
    TORCH_CHECK(groups.keys().size() == param_groups_.size(),
                "loaded state dict has a different number of parameter groups");
    for (size_t g = 0; g < param_groups_.size(); ++g) {
      serialize::InputArchive options;
      groups.read(std::to_string(g), options);
      param_groups_[g].options().serialize(options);
    }
    state_.clear();
    size_t number = 0;
    for (const Tensor& parameter : all_parameters()) {
      serialize::InputArchive one;
      if (!states.try_read(std::to_string(number++), one)) continue;
      std::unique_ptr<OptimizerParamState> state = new_state();
      TORCH_CHECK(state != nullptr, "load() has not been implemented for this optimizer");
      state->serialize(one);
      state_[parameter.unsafeGetTensorImpl()] = std::move(state);
    }
  }

 protected:
  /// The loss, computed with gradients whatever the mode is outside.
  static Tensor loss_of(const LossClosure& closure) {
    if (closure == nullptr) return {};
    const at::AutoGradMode enable_grad(true);
    return closure();
  }
  /// A state of the class that the algorithm keeps, for `load`.
  virtual std::unique_ptr<OptimizerParamState> new_state() const { return nullptr; }
  /// What is kept for `parameter`; made the first time, when `is_new` is set.
  template <typename ParamState>
  ParamState& state_of(const Tensor& parameter, bool* is_new = nullptr) {
    std::unique_ptr<OptimizerParamState>& slot = state_[parameter.unsafeGetTensorImpl()];
    if (is_new != nullptr) *is_new = slot == nullptr;
    if (slot == nullptr) slot = std::make_unique<ParamState>();
    return static_cast<ParamState&>(*slot);
  }

  std::vector<OptimizerParamGroup> param_groups_;
  State state_;
  std::unique_ptr<OptimizerOptions> defaults_;

 private:
  std::vector<Tensor> all_parameters() const {
    std::vector<Tensor> all;
    for (const OptimizerParamGroup& group : param_groups_)
      all.insert(all.end(), group.params().begin(), group.params().end());
    return all;
  }
};

inline serialize::OutputArchive& operator<<(serialize::OutputArchive& archive, const Optimizer& optimizer) {
  optimizer.save(archive);
  return archive;
}
inline serialize::InputArchive& operator>>(serialize::InputArchive& archive, Optimizer& optimizer) {
  optimizer.load(archive);
  return archive;
}

/// An algorithm with its options and what it keeps for a parameter; `step` goes through the parameters with gradients.
template <typename Options, typename ParamState>
class AlgorithmOf : public Optimizer {
 public:
  using Optimizer::Optimizer;

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override { return std::make_unique<ParamState>(); }
  template <typename Update>
  Tensor each_parameter(const LossClosure& closure, Update&& update) {
    const NoGradGuard no_grad;
    Tensor loss = loss_of(closure);
    for (OptimizerParamGroup& group : param_groups_)
      for (Tensor& parameter : group.params()) {
        const Tensor grad = parameter.mutable_grad();
        if (grad.defined()) update(parameter, grad, static_cast<Options&>(group.options()));
      }
    return loss;
  }
};

}  // namespace torch::optim
