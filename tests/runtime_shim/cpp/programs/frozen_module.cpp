// A frozen TorchScript module: its parameters are constants, and gradients reach the inputs alone.
#include <torch/script.h>

#include <iostream>

template <typename F>
void shows_error(F&& call) {
  try {
    call();
    std::cout << "no error\n";
  } catch (const c10::Error& error) {
    std::cout << error.what_without_backtrace() << "\n";
  }
}

int main(int argc, char** argv) {
  auto model = torch::jit::load(argv[argc - 1]);
  model.train();
  shows_error([&] { torch::jit::freeze(model); });
  shows_error([&] { torch::jit::optimize_for_inference(model); });
  model.eval();
  const auto plain = torch::ones({1, 4});
  const auto input = torch::ones({1, 4}).set_requires_grad(true);
  const auto expected = model.forward({plain}).toTensor();

  auto frozen = torch::jit::freeze(model);
  const auto output = frozen.forward({plain}).toTensor();
  std::cout << output.allclose(expected) << expected.requires_grad() << output.requires_grad()
            << frozen.forward({input}).toTensor().requires_grad() << "\n";
  std::cout << frozen.parameters().size() << frozen.hasattr("training") << frozen.hasattr("scores") << "\n";
  std::cout << torch::jit::freeze(frozen).forward({plain}).toTensor().allclose(expected) << "\n";

  auto optimized = torch::jit::optimize_for_inference(model);
  std::cout << optimized.forward({plain}).toTensor().allclose(expected)
            << optimized.get_method("forward")({plain}).toTensor().requires_grad() << "\n";
  {
    c10::InferenceMode guard;
    std::cout << optimized.forward({torch::ones({1, 4})}).toTensor().is_inference() << "\n";
  }
  std::cout << torch::jit::freeze(model, std::vector<std::string>{"training"}).hasattr("training") << "\n";
  shows_error([&] { torch::jit::freeze(model, std::vector<std::string>{"nothing"}); });
}
