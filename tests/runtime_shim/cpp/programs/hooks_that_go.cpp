// Hooks that are taken away again, and what a gradient that nothing leads to says.
#include <torch/torch.h>

#include <iostream>

int main() {
  auto x = torch::tensor({1.0, 5.0, 2.0}, torch::requires_grad());
  int calls = 0;
  const unsigned first = x.register_hook([&](torch::Tensor grad) {
    ++calls;
    return grad * 2;
  });
  const unsigned second = x.register_hook([&](torch::Tensor) { calls += 10; });
  std::cout << first << " " << second << "\n";
  (x * 3).sum().backward();
  std::cout << x.grad() << "\n" << calls << "\n";

  x.remove_hook(first);
  x.mutable_grad().reset();
  (x * 3).sum().backward();
  std::cout << x.grad() << "\n" << calls << "\n";
  try {
    x.remove_hook(7);
  } catch (const c10::Error& error) {
    std::cout << error.what_without_backtrace() << "\n";
  }

  auto z = torch::tensor({2.0, 3.0}, torch::requires_grad());
  try {
    torch::autograd::grad({(z * 2).sum()}, {z, x});
  } catch (const c10::Error& error) {
    std::cout << error.what_without_backtrace() << "\n";
  }
  auto grads = torch::autograd::grad({(z * 2).sum()}, {z, x}, {}, c10::nullopt, false, true);
  std::cout << grads[0] << grads[1].defined() << "\n";
}
