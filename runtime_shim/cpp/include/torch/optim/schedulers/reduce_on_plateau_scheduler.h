// torch::optim::ReduceLROnPlateauScheduler: lower rates when a metric has stopped improving.
#pragma once

#include <torch/optim/optimizer.h>

#include <cmath>
#include <iostream>
#include <limits>

namespace torch::optim {

class ReduceLROnPlateauScheduler {
 public:
  enum SchedulerMode { min, max };
  enum ThresholdMode { rel, abs };
  ReduceLROnPlateauScheduler(Optimizer& optimizer, SchedulerMode mode = min, float factor = 0.1, int patience = 10,
                             double threshold = 1e-4, ThresholdMode threshold_mode = rel, int cooldown = 0,
                             const std::vector<float>& min_lr = {}, double eps = 1e-8, bool verbose = false)
      : optimizer_(optimizer),
        min_lrs_(min_lr),
        mode_(mode),
        factor_(factor),
        patience_(patience),
        threshold_(threshold),
        threshold_mode_(threshold_mode),
        cooldown_(cooldown),
        eps_(eps),
        verbose_(verbose) {
    TORCH_CHECK(factor < 1.0, "Factor should be < 1.0.");
    if (min_lrs_.empty()) min_lrs_.assign(optimizer_.param_groups().size(), 0.f);
    TORCH_CHECK(min_lrs_.size() == optimizer_.param_groups().size(), "Number of learning rates not equal to the number "
                "of param groups\nNumber of learning rates given: ", min_lrs_.size(), "\nNumber of param groups: ",
                optimizer_.param_groups().size());
    reset();
  }
  virtual ~ReduceLROnPlateauScheduler() = default;

  void step(float metric) {
    ++last_epoch_;
    if (is_better(metric)) {
      best_ = metric;
      bad_epochs_ = 0;
    } else {
      ++bad_epochs_;
    }
    if (cooldown_left_ > 0) {
      --cooldown_left_;
      bad_epochs_ = 0;
    }
    if (bad_epochs_ <= patience_) return;
    reduce();
    cooldown_left_ = cooldown_;
    bad_epochs_ = 0;
  }

 private:
  void reset() {
    best_ = mode_ == min ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
  }
  bool is_better(double metric) const {
    const double margin = threshold_mode_ == rel ? std::abs(best_) * threshold_ : threshold_;
    if (std::isinf(best_)) return mode_ == min ? metric < best_ : metric > best_;
    return mode_ == min ? metric < best_ - margin : metric > best_ + margin;
  }
  void reduce() {
    for (size_t i = 0; i < min_lrs_.size(); ++i) {
      OptimizerOptions& options = optimizer_.param_groups()[i].options();
      const double before = options.get_lr(), after = std::max(before * factor_, static_cast<double>(min_lrs_[i]));
      if (before - after <= eps_) continue;
      options.set_lr(after);
      if (verbose_)
        std::cout << "Epoch " << last_epoch_ << ": reducing learning rate of group " << i << " to " << after << '\n';
    }
  }

  Optimizer& optimizer_;
  std::vector<float> min_lrs_;
  SchedulerMode mode_;
  float factor_;
  int patience_;
  double threshold_;
  ThresholdMode threshold_mode_;
  int cooldown_;
  double eps_;
  bool verbose_;
  double best_ = 0;
  int bad_epochs_ = 0, cooldown_left_ = 0, last_epoch_ = 0;
};

}  // namespace torch::optim
