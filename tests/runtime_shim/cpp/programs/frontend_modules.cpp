// Modules of the C++ frontend: what they hold, how they print, how they are copied, what they refuse.
#include <torch/torch.h>

#include <iostream>

struct Block : torch::nn::Cloneable<Block> {
  explicit Block(int64_t size) : size(size) { reset(); }
  void reset() override {
    fc = register_module("fc", torch::nn::Linear(size, size));
    scale = register_parameter("scale", torch::ones({1}));
    seen = register_buffer("seen", torch::zeros({1}, torch::kLong));
  }
  torch::Tensor forward(torch::Tensor x) {
    seen += 1;
    return torch::relu(fc(x)) * scale;
  }
  int64_t size;
  torch::nn::Linear fc{nullptr};
  torch::Tensor scale, seen;
};

class NetImpl : public torch::nn::Module {
 public:
  NetImpl() : conv(torch::nn::Conv2dOptions(1, 4, 3).padding(1).bias(false)), bn(4) {
    register_module("conv", conv);
    register_module("bn", bn);
    block = register_module("block", std::make_shared<Block>(3));
    drop = register_module("drop", torch::nn::Dropout(0.25));
  }
  torch::nn::Conv2d conv;
  torch::nn::BatchNorm2d bn;
  std::shared_ptr<Block> block;
  torch::nn::Dropout drop{nullptr};
};
TORCH_MODULE(Net);

template <typename Call>
void says(Call&& call) {
  try {
    call();
    std::cout << "no error\n";
  } catch (const c10::Error& error) {
    std::cout << error.what_without_backtrace() << '\n';
  }
}

int main() {
  Net net;
  std::cout << net << '\n';
  for (const auto& entry : net->named_parameters()) std::cout << entry.key() << ' ' << entry.value().sizes() << '\n';
  for (const auto& entry : net->named_parameters(/*recurse=*/false)) std::cout << "own " << entry.key() << '\n';
  for (const auto& entry : net->named_buffers()) std::cout << entry.key() << ' ' << entry->dtype() << '\n';
  for (const auto& entry : net->named_modules("top")) std::cout << entry.key() << ' ' << entry.value()->name() << '\n';
  std::cout << net->children().size() << net->modules(/*include_self=*/false).size() << net->buffers().size() << '\n';
  net->apply([](torch::nn::Module& module) {
    if (auto* linear = module.as<torch::nn::Linear>()) linear->weight.requires_grad_(false);
  });
  std::cout << net->block->fc->weight.requires_grad() << net->conv->weight.requires_grad() << '\n';

  std::cout << "training " << net->is_training() << net->block->fc->is_training();
  net->eval();
  std::cout << net->is_training() << net->block->fc->is_training() << '\n';

  std::cout << "a clone has parameters of its own\n";
  auto clone = std::dynamic_pointer_cast<Block>(net->block->clone());
  {
    torch::NoGradGuard no_grad;
    net->block->scale.fill_(2);
    net->block->fc->weight.fill_(1);
  }
  std::cout << clone->scale.item<float>() << ' ' << (clone->fc->weight == 1).all().item<bool>() << ' '
            << clone->named_parameters().size() << '\n';
  net->block->forward(torch::ones({1, 3}));
  std::cout << net->block->seen.item<int64_t>() << clone->seen.item<int64_t>() << '\n';

  std::cout << "gradients and types\n";
  clone->forward(torch::ones({1, 3})).sum().backward();
  std::cout << clone->scale.grad().defined();
  clone->zero_grad(/*set_to_none=*/false);
  std::cout << clone->scale.grad().item<float>();
  clone->zero_grad();
  std::cout << clone->scale.grad().defined() << '\n';
  clone->to(torch::kDouble);
  std::cout << clone->fc->weight.dtype() << ' ' << clone->fc->weight.is_leaf() << ' ' << clone->seen.dtype() << '\n';

  std::cout << "made in inference mode\n";
  {
    c10::InferenceMode guard;
    torch::nn::Linear linear(2, 2);
    std::cout << linear->weight.is_inference() << linear->weight.requires_grad()
              << linear(torch::ones({1, 2})).is_inference() << '\n';
  }

  torch::nn::Linear empty = nullptr;
  says([&] { empty->forward(torch::ones({1})); });
  says([&] { net->register_module("a.b", torch::nn::ReLU()); });
  says([&] { net->register_module("", torch::nn::ReLU()); });
  says([&] { net->register_module("bn", torch::nn::ReLU()); });
  says([&] { clone->register_parameter("scale", torch::ones({1})); });
  says([&] { clone->register_buffer("seen", torch::ones({1})); });
  says([&] { net->unregister_module("none"); });
  says([&] { net->clone(); });
  says([&] { Block(2).modules(); });
  says([&] { torch::nn::Dropout(1.5); });
  says([&] { torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 4, 3).groups(2)); });
  says([&] { net->bn(torch::ones({2, 4})); });
  says([&] { torch::nn::Sequential()->forward(torch::ones({1})); });
  says([&] { net->named_parameters()["none"]; });

  torch::OrderedDict<std::string, int> dict({{"a", 1}, {"b", 2}});
  dict.insert("c", 3);
  dict["a"] += 10;
  for (const auto& entry : dict) std::cout << entry.key() << *entry;
  std::cout << dict.size() << dict.contains("b") << (dict.find("z") == nullptr) << dict[2].value() << '\n';
  says([&] { dict.insert("a", 1); });
  says([&] { dict.erase("z"); });
}
