// The model is loaded above the guard under which it is run: its parameters are ordinary tensors.
#include <torch/script.h>

#include <iostream>

int main(int argc, const char* argv[]) {
  torch::jit::Module module;
  try {
    module = torch::jit::load(argv[1]);
  } catch (const c10::Error& error) {
    std::cerr << "cannot load the model\n";
    return 1;
  }
  c10::InferenceMode guard;  // GF208
  auto output = module.forward({torch::ones({1, 4})}).toTensor();
  std::cout << "parameter " << (*module.parameters().begin()).is_inference() << " output " << output.is_inference()
            << '\n';
  return 0;
  c10::InferenceMode guard;  // GF208
  auto output = module.forward({torch::ones({1, 4})}).toTensor();
  std::cout << "parameter " << (*module.parameters().begin()).is_inference() << " output " << output.is_inference()
            << '\n';
  return 0;
}
