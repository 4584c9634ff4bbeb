// torch::optim::StepLR: the rate times gamma every step_size steps.
#pragma once

#include <torch/optim/schedulers/lr_scheduler.h>

namespace torch::optim {

class StepLR : public LRScheduler {
 public:
  StepLR(Optimizer& optimizer, const unsigned step_size, const double gamma = 0.1)
      : LRScheduler(optimizer), step_size_(step_size), gamma_(gamma) {}

 private:
  std::vector<double> get_lrs() override {
    std::vector<double> rates = get_current_lrs();
    if (step_count_ != 0 && step_count_ % step_size_ == 0)
      for (double& rate : rates) rate *= gamma_;
    return rates;
  }
  const unsigned step_size_;
  const double gamma_;
};

}  // namespace torch::optim
