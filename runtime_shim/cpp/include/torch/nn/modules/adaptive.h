// torch::nn::AdaptiveLogSoftmaxWithLoss: a softmax over many classes, in which rare ones have clusters of their own.
#pragma once

#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>

namespace torch::nn {

/// The log-likelihood of each target, and their mean with the sign turned.
struct ASMoutput {
  ASMoutput(Tensor output_, double loss_) : output(std::move(output_)), loss(loss_) {}
  Tensor output;
  double loss;
};

class AdaptiveLogSoftmaxWithLossImpl : public Cloneable<AdaptiveLogSoftmaxWithLossImpl> {
 public:
  AdaptiveLogSoftmaxWithLossImpl(int64_t in_features, int64_t n_classes, std::vector<int64_t> cutoffs)
      : AdaptiveLogSoftmaxWithLossImpl(AdaptiveLogSoftmaxWithLossOptions(in_features, n_classes, std::move(cutoffs))) {}
  explicit AdaptiveLogSoftmaxWithLossImpl(AdaptiveLogSoftmaxWithLossOptions options_)
      : options(std::move(options_)),
        shortlist_size(0),
        n_clusters(0),
        head_size(0) {
    AdaptiveLogSoftmaxWithLossImpl::reset();
  }
  void reset() override {
    cutoffs = options.cutoffs();
    const bool rises = [&] {
      for (size_t i = 0; i < cutoffs.size(); ++i)
        if (cutoffs[i] <= (i == 0 ? 0 : cutoffs[i - 1])) return false;
      return !cutoffs.empty() && cutoffs.back() <= options.n_classes() - 1;
    }();
    TORCH_CHECK(rises,
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each "
                "value is between 1 and n_classes-1");
    cutoffs.push_back(options.n_classes());
    shortlist_size = cutoffs[0];
    n_clusters = static_cast<int64_t>(cutoffs.size()) - 1;
    head_size = shortlist_size + n_clusters;
    head = register_module("head", Linear(LinearOptions(options.in_features(), head_size).bias(options.head_bias())));
    tail = register_module("tail", ModuleList());
    double shrink = options.div_value();
    for (int64_t i = 0; i < n_clusters; ++i, shrink *= options.div_value()) {
      const auto hidden = static_cast<int64_t>(static_cast<double>(options.in_features()) / shrink);
      const int64_t size = cutoffs[static_cast<size_t>(i) + 1] - cutoffs[static_cast<size_t>(i)];
      tail->push_back(Sequential(Linear(LinearOptions(options.in_features(), hidden).bias(false)),
                                 Linear(LinearOptions(hidden, size).bias(false))));
    }
  }
  void reset_parameters() {
    head->reset_parameters();
    for (const auto& cluster : *tail)
      for (const auto& layer : cluster->children()) layer->as<LinearImpl>()->reset_parameters();
  }
  void pretty_print(std::ostream& stream) const override { stream << "torch::nn::AdaptiveLogSoftmaxWithLoss"; }

  ASMoutput forward(const Tensor& input, const Tensor& target) {
    TORCH_CHECK(input.size(0) == target.size(0), "Input and target should have the same size in the batch dimension");
    const Tensor all = log_prob(input);
    TORCH_CHECK(target.numel() == 0 || (target.min().item<int64_t>() >= 0 &&
                                        target.max().item<int64_t>() < options.n_classes()),
                "Target values should be in [0, n_classes - 1], but values in range [", target.min().item<int64_t>(),
                ", ", target.max().item<int64_t>(), "] were found. ");
    const Tensor output = all.gather(1, target.unsqueeze(1)).squeeze(1);
    return ASMoutput(output, (-output).mean().item<double>());
  }
  /// The logarithm of the probability of each class: (batch, classes).
  Tensor log_prob(const Tensor& input) { return all_of(input, head->forward(input).log_softmax(1)); }
  /// The most probable class of each row.
  Tensor predict(const Tensor& input) { return log_prob(input).argmax(1); }

  AdaptiveLogSoftmaxWithLossOptions options;
  std::vector<int64_t> cutoffs;
  int64_t shortlist_size;
  int64_t n_clusters;
  int64_t head_size;
  Linear head = nullptr;
  ModuleList tail = nullptr;

 private:
  Tensor all_of(const Tensor& input, const Tensor& head_logs) {
    std::vector<Tensor> parts = {head_logs.slice(1, 0, shortlist_size)};
    for (int64_t i = 0; i < n_clusters; ++i) {
      const Tensor logs = tail[static_cast<size_t>(i)]->as<SequentialImpl>()->forward(input).log_softmax(1);
      parts.push_back(logs + head_logs.slice(1, shortlist_size + i, shortlist_size + i + 1));
    }
    return at::cat(parts, 1);
  }
};
TORCH_MODULE(AdaptiveLogSoftmaxWithLoss);

}  // namespace torch::nn
