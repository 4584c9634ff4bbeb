// torch::optim::LRScheduler: changes the learning rates of an optimizer from step to step.
#pragma once

#include <torch/optim/optimizer.h>

namespace torch::optim {

class LRScheduler {
 public:
  explicit LRScheduler(Optimizer& optimizer) : step_count_(0), optimizer_(optimizer) {}
  virtual ~LRScheduler() = default;
  void step() {
    std::vector<double> rates = get_lrs();
    TORCH_CHECK(rates.size() == optimizer_.param_groups().size(), "Number of learning rates not equal to the number of "
                "param groups\nNumber of learning rates given: ", rates.size(), "\nNumber of param groups: ",
                optimizer_.param_groups().size());
    for (size_t i = 0; i < rates.size(); ++i) optimizer_.param_groups()[i].options().set_lr(rates[i]);
    ++step_count_;
  }

 protected:
  /// The rate of each group for the step to come.
  virtual std::vector<double> get_lrs() = 0;
  std::vector<double> get_current_lrs() const {
    std::vector<double> rates;
    for (const OptimizerParamGroup& group : optimizer_.param_groups()) rates.push_back(group.options().get_lr());
    return rates;
  }
  unsigned step_count_;

 private:
  Optimizer& optimizer_;
};

}  // namespace torch::optim
