// A class for TorchScript and an op, registered by a program that includes torch/script.h alone.
#include <torch/script.h>

#include <iostream>

struct Pile : torch::CustomClassHolder {
  std::vector<int64_t> items;
  void push(int64_t item) { items.push_back(item); }
  int64_t size() const { return static_cast<int64_t>(items.size()); }
};

TORCH_LIBRARY(piles, m) {
  m.class_<Pile>("Pile").def(torch::init<>()).def("push", &Pile::push).def("size", &Pile::size);
}

static auto registry = torch::RegisterOperators().op("arithmetic::twice", [](at::Tensor x) { return x * 2; });

int main() {
  const auto pile = c10::make_intrusive<Pile>();
  pile->push(3);
  std::cout << pile->size() << "\n";
  const auto twice =
      c10::Dispatcher::singleton().findSchemaOrThrow("arithmetic::twice", "").typed<at::Tensor(at::Tensor)>();
  std::cout << twice.call(torch::ones(2)) << "\n";
  const auto line = torch::tensor({1., 2.}).view({1, 1, 2});
  std::cout << torch::upsample_nearest1d(line, {4}) << torch::upsample_nearest1d(line, std::nullopt, {{2.0}}) << "\n";
}
