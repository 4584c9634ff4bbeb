// A raw string that nothing ends goes up to the end of the file.
#include <torch/torch.h>

const char* program = 'u8R"code(
void run(torch::jit::Module& module, const torch::Tensor& input) {   at::AutoNonVariableTypeMode guard(true);   module.forward({input});   )"code"; void walk(torch::jit::Module& module, const torch::Tensor& input) {
  at::AutoNonVariableTypeMode guard(true);
  module.forward({input});
}
