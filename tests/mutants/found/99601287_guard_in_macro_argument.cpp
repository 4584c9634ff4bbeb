#include <torch/script.h>

#define PROTECT(statements)            \
  try {                                \
    statements                         \
  } catch (const std::exception& e) {  \
    keep_error(e.what());              \:}

// Statements that are a macro's argument are read as the block statements the macro makes of them.
void ts_forward(torch::jit::Module* module, at::Tensor* input, at::Tensor* output) {
  PROTECT(
    at::AutoNonVariableTypeMode guard(true);  // GF101 inference
    *output = module->forward({*input}).toTensor();
  )
}

void ts_load(torch::jit::Module** module, const char* path) {
  PROTECT(at::AutoNonVariableTypeMode (true); *module = new torch::jit::Module(torch::jit::load(path));)  // GF101 inference
}
