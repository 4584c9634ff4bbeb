// Gradients, hooks, the graph, and functions with gradients of their own.
#include <torch/torch.h>

#include <iostream>

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::Variable;
using torch::autograd::variable_list;

// x * scale, in place when asked; counts what it is given.
struct Scale : public Function<Scale> {
  static variable_list forward(AutogradContext* ctx, Variable x, const std::optional<Variable>& bias, double scale,
                               std::string name, bool in_place) {
    ctx->saved_data["scale"] = scale;
    ctx->saved_data["name"] = name;
    ctx->saved_data["bias"] = bias.has_value();
    ctx->save_for_backward({x});
    if (in_place) {
      x.mul_(scale);
      ctx->mark_dirty({x});
      return {x};
    }
    auto y = x * scale;
    if (bias) y = y + *bias;
    auto steps = torch::arange(2);
    ctx->mark_non_differentiable({steps});
    return {y, steps};
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    std::cout << ctx->saved_data["name"].toStringRef() << " got " << grads.size() << " gradients\n";
    Variable none;
    return {grads[0] * ctx->saved_data["scale"].toDouble(), ctx->saved_data["bias"].toBool() ? grads[0] : none, none,
            none, none};
  }
};

struct Wrong : public Function<Wrong> {
  static Variable forward(AutogradContext*, Variable x) { return x.clone(); }
  static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0], grads[0]}; }
};

int main() {
  const auto x = torch::tensor({1.0, 2.0}, torch::requires_grad());
  const auto y = x * x;
  std::cout << y.grad_fn()->name() << " " << (x.grad_fn() == nullptr) << y.is_leaf() << y.output_nr()
            << y.grad_fn()->next_edges().size() << "\n";
  y.retain_grad();
  y.register_hook([](torch::Tensor grad) { return grad * 10; });
  x.register_hook([](torch::Tensor grad) { std::cout << "hook saw " << grad.sizes() << "\n"; });
  y.sum().backward();
  std::cout << x.grad() << y.grad() << "\n";
  x.mutable_grad().zero_();
  std::cout << x.grad().sum().item<float>();
  x.mutable_grad() = torch::ones({2});
  std::cout << x.grad().sum().item<float>();
  x.mutable_grad().reset();
  std::cout << x.grad().defined() << "\n";

  const auto first = torch::autograd::grad({x.pow(3).sum()}, {x}, {}, true, true)[0];
  std::cout << first << torch::autograd::grad({first.sum()}, {x})[0] << "\n";
  torch::autograd::backward({(x * 3).sum()});
  std::cout << x.grad() << "\n";

  const auto bias = torch::zeros({2}, torch::requires_grad());
  const auto outputs = Scale::apply(x, bias, 3.0, "scale", false);
  std::cout << outputs[0].grad_fn()->name() << " " << outputs[1].requires_grad() << "\n";
  outputs[0].sum().backward();
  std::cout << x.grad() << bias.grad() << "\n";
  const auto changed = Scale::apply(x.clone(), torch::nullopt, 2.0, "in place", true)[0];
  std::cout << changed << changed._version() << "\n";
  changed.sum().backward();
  try {
    Wrong::apply(x).sum().backward();
  } catch (const c10::Error& e) {
    std::cout << e.what_without_backtrace() << "\n";
  }
  try {
    auto saved = x.clone();
    const auto z = Scale::apply(saved, torch::nullopt, 1.0, "never", false)[0];
    const auto square = saved * saved;
    saved.add_(1);
    square.sum().backward();
  } catch (const c10::Error& e) {
    std::cout << e.what_without_backtrace() << "\n";
  }

  // An overload for a number saves the number, which backward does not free; a tensor it does.
  const auto w = torch::ones({2}, torch::requires_grad());
  for (const auto& made : {w * 2, w / 2, w + 2, w - 2, 2 * w, w.mul(2).div(2), w.clone().mul_(2), w * torch::ones({2}), w.pow(2)}) {
    const auto total = made.sum();
    total.backward();
    std::cout << made.grad_fn()->name();
    try {
      total.backward();
      std::cout << " twice\n";
    } catch (const c10::Error& e) {
      std::cout << " once\n";
    }
  }
}
