// Recurrent networks, containers, adaptive layers, optimizers and their schedulers, and what is saved of them.
#include <torch/torch.h>

#include <iostream>
#include <sstream>

namespace F = torch::nn::functional;
using namespace torch::nn;

void fill(Module& module, double value) {
  const torch::NoGradGuard no_grad;
  for (torch::Tensor& parameter : module.parameters()) parameter.fill_(value);
}

// A layer whose forward has an argument with a default.
struct ScaledImpl : Module {
  torch::Tensor forward(torch::Tensor x, double by = 2.0) { return x * by; }

 protected:
  FORWARD_HAS_DEFAULT_ARGS({1, AnyValue(2.0)})
};
TORCH_MODULE(Scaled);

void recurrent() {
  LSTM lstm(LSTMOptions(1, 2).num_layers(2).bidirectional(true));
  fill(*lstm, 0.0);
  const auto [output, state] = lstm->forward(torch::ones({3, 1, 1}));
  std::cout << lstm << ' ' << output.sizes() << ' ' << std::get<1>(state).sizes() << ' '
            << output.abs().sum().item<float>() << '\n';
  GRUCell cell(1, 1);
  fill(*cell, 0.0);
  std::cout << cell << ' ' << cell->forward(torch::ones({1, 1}), torch::full({1, 1}, 8.0)).item<float>() << '\n';
  RNN rnn(RNNOptions(1, 1).nonlinearity(torch::kReLU));
  fill(*rnn, 1.0);
  const auto packed = utils::rnn::pack_sequence({torch::ones({2, 1}), torch::ones({1, 1})});
  const auto [data, last] = rnn->forward_with_packed_input(packed);
  const auto [padded, lengths] = utils::rnn::pad_packed_sequence(data, /*batch_first=*/true);
  std::cout << data.data().view(-1) << '\n' << padded.squeeze(-1) << '\n' << lengths << '\n';
}

void containers() {
  AnyModule any(Scaled{});
  std::cout << any.forward(torch::ones(1)).item<float>() << ' ' << any.forward(torch::ones(1), 5.0).item<float>() << '\n';
  try {
    any.forward(torch::ones(1), 5);
  } catch (const c10::Error& error) {
    std::cout << error.what_without_backtrace() << '\n';
  }
  ModuleDict dict;
  dict->update(std::vector<std::pair<std::string, std::shared_ptr<Module>>>{{"a", Identity().ptr()}, {"b", ReLU().ptr()}});
  dict->pop("a");
  std::cout << dict << ' ' << dict->contains("a") << '\n';
  ModuleList list(Linear(1, 2), Tanh());
  list->insert(1, Dropout(0.25));
  std::cout << list << '\n';
  ParameterDict parameters;
  parameters->insert("scale", torch::ones({2}, torch::requires_grad()));
  std::cout << parameters << ' ' << parameters->parameters().size() << '\n';
}

void layers() {
  std::cout << AdaptiveMaxPool2d(AdaptiveMaxPool2dOptions({2, std::nullopt})) << '\n'
            << Conv2d(Conv2dOptions(1, 1, 3).padding(torch::kSame).padding_mode(torch::kReflect)) << '\n'
            << ConvTranspose1d(1, 2, 3) << '\n'
            << MaxPool1d(2) << '\n'
            << ConstantPad1d(ConstantPad1dOptions({1, 2}, 3.5)) << '\n'
            << Upsample(UpsampleOptions().scale_factor(std::vector<double>({2.0})).mode(torch::kLinear)) << '\n'
            << Threshold(ThresholdOptions(0.5, 2).inplace(true)) << '\n';
  ConvTranspose1d back(ConvTranspose1dOptions(1, 1, 2).stride(2).bias(false));
  fill(*back, 1.0);
  const torch::Tensor row = torch::arange(1, 3, torch::kFloat).view({1, 1, 2});
  std::cout << back(row).view(-1) << '\n' << back(row, torch::IntArrayRef({5})).view(-1) << '\n';
  std::cout << F::pad(row, F::PadFuncOptions({1, 1}).mode(torch::kReplicate)).view(-1) << '\n';
  std::cout << F::huber_loss(row, row * 3, F::HuberLossFuncOptions().reduction(torch::kSum)).item<float>() << ' '
            << F::cross_entropy(torch::zeros({1, 2}), torch::tensor({1}),
                                F::CrossEntropyFuncOptions().reduction(torch::kSum)).item<float>() << '\n';
  MultiheadAttention attention(2, 1);
  fill(*attention, 0.0);
  const torch::Tensor seen = torch::ones({3, 1, 2});
  const auto [mixed, weights] = attention->forward(seen.slice(0, 0, 1), seen, seen);
  std::cout << mixed.sizes() << ' ' << weights << '\n';
}

void optimizers() {
  torch::Tensor x = torch::ones({1}, torch::requires_grad());
  torch::optim::RMSprop rmsprop({x}, torch::optim::RMSpropOptions(0.1).alpha(0));
  torch::optim::StepLR schedule(rmsprop, /*step_size=*/1, /*gamma=*/0.5);
  for (int i = 0; i < 3; ++i) {
    rmsprop.zero_grad();
    (2 * x).sum().backward();
    rmsprop.step();
    schedule.step();
    std::cout << x.item<float>() << ' ' << rmsprop.param_groups()[0].options().get_lr() << '\n';
  }
  torch::Tensor y = torch::full({2}, 3.0, torch::requires_grad());
  for (const char* search : {"", "strong_wolfe"}) {
    torch::optim::LBFGSOptions options(1);
    if (*search != '\0') options.line_search_fn(search);
    const torch::NoGradGuard no_grad;
    y.fill_(3.0);
    torch::optim::LBFGS lbfgs({y}, options);
    lbfgs.step([&] {
      lbfgs.zero_grad();
      torch::Tensor loss = ((y - 1) * (y - 1)).sum();
      loss.backward();
      return loss;
    });
    std::cout << (y - 1).abs().max().item<double>() / 1e-3 << '\n';
  }
}

void saved() {
  Sequential model(Linear(1, 1), BatchNorm1d(1));
  fill(*model, 0.5);
  torch::optim::Adam adam(model->parameters(), torch::optim::AdamOptions(0.5));
  model->forward(torch::ones({2, 1})).sum().backward();
  adam.step();
  std::stringstream file, optimizer_file, tensors_file;
  torch::save(model, file);
  torch::save(adam, optimizer_file);
  Sequential copy(Linear(1, 1), BatchNorm1d(1));
  torch::load(copy, file);
  for (const auto& entry : copy->named_parameters())
    std::cout << entry.key() << ' ' << torch::equal(entry.value(), model->named_parameters()[entry.key()]) << '\n';
  torch::optim::Adam other(copy->parameters(), torch::optim::AdamOptions(0.1));
  torch::load(other, optimizer_file);
  const auto& state = static_cast<torch::optim::AdamParamState&>(
      *other.state().at(copy->parameters()[0].unsafeGetTensorImpl()));
  std::cout << other.param_groups()[0].options().get_lr() << ' ' << state.step() << '\n';
  torch::save(std::vector<torch::Tensor>{torch::ones(2), torch::zeros(1)}, tensors_file);
  std::vector<torch::Tensor> tensors;
  torch::load(tensors, tensors_file);
  std::cout << tensors.size() << ' ' << tensors[0] << '\n';
  try {
    std::stringstream again(file.str());
    Sequential longer(Linear(1, 1), BatchNorm1d(1), Linear(1, 1));
    torch::load(longer, again);
  } catch (const c10::Error& error) {
    std::cout << error.what_without_backtrace() << '\n';
  }
}

int main() {
  recurrent();
  containers();
  layers();
  optimizers();
  saved();
}
