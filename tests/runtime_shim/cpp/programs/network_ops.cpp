// The ops that networks are made of.
#include <torch/torch.h>

#include <iostream>

int main() {
  const auto x = torch::tensor({{1.0, -2.0}, {3.0, 0.5}});
  std::cout << torch::linear(x, x, torch::ones({2})) << torch::einsum("ij,jk->k", {x, x}) << "\n";
  const auto image = torch::arange(16, torch::kFloat).view({1, 1, 4, 4});
  std::cout << torch::conv2d(image, torch::ones({1, 1, 2, 2})) << torch::conv2d(image, torch::ones({2, 1, 3, 3}), {}, 1, 1)
            << torch::max_pool2d(image, 2) << torch::avg_pool2d(image, {2, 2}, {1, 1}) << "\n";
  std::cout << torch::layer_norm(x, {2}) << torch::embedding(x, torch::tensor({1, 0})) << torch::gelu(x[0])
            << torch::dropout(x, 0.5, false) << torch::mse_loss(x, x + 1) << "\n";
  const auto weight = torch::ones({1, 1, 2, 2}, torch::requires_grad());
  torch::conv2d(image, weight).sum().backward();
  std::cout << weight.grad() << "\n";
}
