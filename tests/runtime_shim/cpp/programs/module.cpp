// A TorchScript module: parameters, attributes, modes, methods.
#include <torch/script.h>

#include <iostream>
#include <sstream>

int main(int argc, char** argv) {
  auto model = torch::jit::load(argv[argc - 1]);
  for (const auto& parameter : model.named_parameters())
    std::cout << parameter.name << " " << parameter.value.sizes() << parameter.value.requires_grad() << "\n";
  size_t count = 0;
  for (const auto& parameter : model.parameters()) count += static_cast<size_t>(parameter.numel());
  std::cout << count << " numbers\n";
  model.train();
  std::cout << model.is_training();
  model.eval();
  std::cout << model.is_training() << model.attr("training").toBool() << "\n";
  const auto input = torch::ones({1, 4});
  const auto output = model.forward({input}).toTensor();
  std::cout << output << output.requires_grad() << output.allclose(model.run_method("forward", input).toTensor())
            << output.allclose(model.get_method("forward")({input}).toTensor()) << "\n";
  output.sum().backward();
  for (const auto& parameter : model.named_parameters())
    if (parameter.name == "scores.bias") std::cout << parameter.value.grad() << "\n";
  model.to(torch::kDouble);
  std::cout << model.forward({input.to(torch::kDouble)}).toTensor().dtype() << "\n";
  try {
    torch::jit::load("no/such/file.pt");
  } catch (const c10::Error&) {
    std::cout << "no such file\n";
  }
  std::cout << model.type()->name()->name() << "\n";

  {
    torch::NoGradGuard guard;
    for (const auto& parameter : model.parameters()) parameter.fill_(2);
  }
  std::stringstream stream;
  model.save(stream, {{"labels", "cat dog"}});
  torch::jit::ExtraFilesMap files{{"labels", ""}};
  auto loaded = torch::jit::load(stream, torch::kCPU, files);
  std::cout << loaded.forward({input.to(torch::kDouble)}).toTensor() << files["labels"] << "\n";
  try {
    model.save("no/such/folder/model.pt");
  } catch (const c10::Error&) {
    std::cout << "no such folder\n";
  }
}
