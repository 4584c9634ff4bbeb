// Layers, functions and optimizers of the C++ frontend: what they compute and how they print.
#include <torch/nn.h>
#include <torch/optim.h>
#include <torch/torch.h>

#include <iostream>

namespace F = torch::nn::functional;

/// The same values in each run, and on each implementation.
static void fill(torch::nn::Module& module) {
  torch::NoGradGuard no_grad;
  double k = 1;
  for (auto& entry : module.named_parameters()) {
    auto& parameter = entry.value();
    parameter.copy_((torch::arange(parameter.numel(), torch::kFloat) * (0.03 * k)).sin().view(parameter.sizes()));
    k += 1;
  }
}

static void rounded(const torch::Tensor& t) { std::cout << (t.detach() * 1000).round() << '\n'; }

template <typename Optimizer>
static void train(const char* name, torch::nn::Sequential net, Optimizer&& optimizer) {
  const auto x = (torch::arange(8, torch::kFloat) * 0.5).sin().view({2, 4});
  const auto y = torch::tensor({0, 1}, torch::kLong);
  for (int i = 0; i < 3; ++i) {
    optimizer.zero_grad();
    auto loss = F::nll_loss(net->forward(x), y);
    loss.backward();
    optimizer.step();
  }
  auto closure = [&] {
    optimizer.zero_grad();
    auto loss = F::nll_loss(net->forward(x), y);
    loss.backward();
    return loss;
  };
  std::cout << name << '\n';
  rounded(optimizer.step(closure));
  rounded(net->parameters().back());
}

static torch::nn::Sequential classifier() {
  torch::nn::Sequential net(torch::nn::Linear(4, 3), torch::nn::Functional(torch::relu), torch::nn::Linear(3, 2),
                            torch::nn::Functional(torch::log_softmax, 1, torch::nullopt));
  fill(*net);
  return net;
}

int main() {
  const auto image = (torch::arange(2 * 64, torch::kFloat) * 0.1).cos().view({2, 1, 8, 8});
  torch::nn::Sequential seq(
      torch::nn::Conv2d(torch::nn::Conv2dOptions(1, 4, {3, 5}).stride({1, 2}).padding(1)), torch::nn::BatchNorm2d(4),
      torch::nn::ReLU(torch::nn::ReLUOptions(true)), torch::nn::MaxPool2d(torch::nn::MaxPool2dOptions({2, 1}).stride(2)),
      torch::nn::GroupNorm(2, 4), torch::nn::AdaptiveAvgPool2d(torch::nn::AdaptiveAvgPool2dOptions({2, 1})),
      torch::nn::Flatten(), torch::nn::LayerNorm(std::vector<int64_t>{8}), torch::nn::Dropout(0.0),
      torch::nn::Linear(torch::nn::LinearOptions(8, 3).bias(false)));
  fill(*seq);
  std::cout << seq << '\n';
  rounded(seq->forward(image));
  seq->eval();
  rounded(seq->forward(image));
  {
    c10::InferenceMode guard;
    const auto output = seq->forward(image);
    std::cout << output.is_inference() << output.requires_grad() << '\n';
  }
  std::cout << seq[1]->as<torch::nn::BatchNorm2d>()->num_batches_tracked.item<int64_t>() << seq->size() << '\n';
  rounded(seq[1]->as<torch::nn::BatchNorm2d>()->running_mean);

  torch::nn::Sequential named({{"a", torch::nn::Linear(4, 4)}, {"act", torch::nn::Tanh()}, {"id", torch::nn::Identity()}});
  named->push_back("last", torch::nn::Softmax(1));
  std::cout << named << '\n';
  auto copy = std::dynamic_pointer_cast<torch::nn::SequentialImpl>(named->clone());
  std::cout << copy->named_parameters().keys().back() << (copy->parameters()[0].data_ptr() == named->parameters()[0].data_ptr())
            << torch::equal(copy->parameters()[0], named->parameters()[0]) << '\n';

  torch::nn::ModuleList list(torch::nn::Linear(2, 2), torch::nn::Sigmoid());
  std::cout << list << list->size() << list->at<torch::nn::LinearImpl>(0).options.in_features() << '\n';

  std::cout << torch::nn::Conv1d(1, 2, 3) << torch::nn::Conv2d(torch::nn::Conv2dOptions(2, 4, 3).dilation(2).groups(2))
            << torch::nn::AvgPool2d(2) << torch::nn::BatchNorm1d(3) << torch::nn::LeakyReLU() << torch::nn::ELU()
            << torch::nn::GELU() << torch::nn::SiLU() << torch::nn::LogSoftmax(1) << torch::nn::Dropout2d(0.5)
            << torch::nn::MSELoss() << torch::nn::CrossEntropyLoss() << '\n';
  torch::nn::Embedding embedding(torch::nn::EmbeddingOptions(5, 3).padding_idx(0));
  std::cout << embedding << embedding(torch::tensor({0, 0})).sum().item<float>() << '\n';

  const auto a = torch::arange(4, torch::kFloat).view({2, 2}) / 4, b = torch::ones({2, 2});
  rounded(F::mse_loss(a, b, F::MSELossFuncOptions(torch::kSum)));
  rounded(F::cross_entropy(a, torch::tensor({0, 1}), F::CrossEntropyFuncOptions().reduction(torch::kNone)));
  rounded(torch::nn::CrossEntropyLoss(torch::nn::CrossEntropyLossOptions().ignore_index(1))(a, torch::tensor({0, 1})));
  rounded(torch::nn::L1Loss()(a, b));
  rounded(F::binary_cross_entropy(a, b * 0.5, F::BinaryCrossEntropyFuncOptions().reduction(torch::kSum)).clamp(-9, 9));
  rounded(torch::nn::BCEWithLogitsLoss()(a, b));
  rounded(F::normalize(a + 1, F::NormalizeFuncOptions().p(1).dim(0)));
  rounded(F::softmax(a, F::SoftmaxFuncOptions(1)));
  rounded(F::leaky_relu(a - 0.5, F::LeakyReLUFuncOptions().negative_slope(0.2)));
  rounded(F::dropout(a, F::DropoutFuncOptions().p(0.3).training(false)));
  rounded(F::avg_pool2d(image, F::AvgPool2dFuncOptions(4)));
  rounded(F::conv2d(image, torch::ones({1, 1, 3, 3}), F::Conv2dFuncOptions().stride(3)));
  rounded(F::linear(a, b));
  rounded(torch::nn::init::constant_(torch::empty({2}), 0.5));
  auto eye = torch::empty({30, 30});
  torch::nn::init::kaiming_uniform_(eye, 0, torch::kFanIn, torch::kReLU);
  std::cout << (eye.abs().max().item<double>() <= std::sqrt(6.0 / 30)) << '\n';

  auto net = classifier();
  train("SGD", net, torch::optim::SGD(net->parameters(), 0.1));
  net = classifier();
  train("SGD with momentum", net,
        torch::optim::SGD(net->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9).weight_decay(0.1).nesterov(true)));
  net = classifier();
  train("Adam", net, torch::optim::Adam(net->parameters(), torch::optim::AdamOptions(0.1).betas({0.8, 0.9}).amsgrad(true)));
  net = classifier();
  train("AdamW", net, torch::optim::AdamW(net->parameters(), torch::optim::AdamWOptions(0.1).weight_decay(0.2)));
  net = classifier();
  torch::optim::SGD sgd({torch::optim::OptimizerParamGroup({net->parameters()[0]}),
                         torch::optim::OptimizerParamGroup({net->parameters()[3]},
                                                           std::make_unique<torch::optim::SGDOptions>(1.0))},
                        torch::optim::SGDOptions(0.5));
  for (auto& group : sgd.param_groups()) {
    auto& options = static_cast<torch::optim::SGDOptions&>(group.options());
    options.lr(options.lr() / 2);
    std::cout << options.lr() << group.params().size() << '\n';
  }
  train("groups", net, sgd);
  std::cout << (torch::nn::utils::clip_grad_norm_(net->parameters(), 0.01) > 0.01) << '\n';
  std::cout << (net->parameters()[0].grad().norm().item<float>() <= 0.011f) << '\n';
  try {
    torch::optim::SGD refused(net->parameters(), torch::optim::SGDOptions(-1));
  } catch (const c10::Error& error) {
    std::cout << error.what_without_backtrace() << '\n';
  }
}
