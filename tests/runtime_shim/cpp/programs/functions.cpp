#include <torch/torch.h>
#include <iostream>
using namespace torch::autograd;
struct MulConst : Function<MulConst> {
  static variable_list forward(AutogradContext* ctx, Variable a, Variable b, std::string tag, std::vector<int64_t> dims, bool flip) {
    ctx->saved_data["tag"] = tag;
    ctx->saved_data["dims"] = dims;
    ctx->saved_data["flip"] = flip;
    ctx->save_for_backward({a, b});
    auto mask = (a > 0);
    ctx->mark_non_differentiable({mask});
    return {a * b, mask};
  }
  static variable_list backward(AutogradContext* ctx, variable_list g) {
    auto saved = ctx->get_saved_variables();
    std::cout << ctx->saved_data["tag"].toStringRef() << ctx->saved_data["dims"].toIntVector().size() << ctx->saved_data["flip"].toBool() << g.size() << g[1].defined() << ctx->needs_input_grad(0) << ctx->needs_input_grad(1) << std::endl;
    return {g[0] * saved[1], g[0] * saved[0], Variable(), Variable(), Variable()};
  }
};
struct InplaceAdd : Function<InplaceAdd> {
  static Variable forward(AutogradContext* ctx, Variable x) { x.add_(1); ctx->mark_dirty({x}); return x; }
  static variable_list backward(AutogradContext*, variable_list g) { return {g[0]}; }
};
struct NoMaterialize : Function<NoMaterialize> {
  static variable_list forward(AutogradContext* ctx, Variable x) { ctx->set_materialize_grads(false); return {x * 2, x * 3}; }
  static variable_list backward(AutogradContext*, variable_list g) { std::cout << g[0].defined() << g[1].defined() << std::endl; return {g[0].defined() ? g[0] * 2 : g[1] * 3}; }
};
struct Throws : Function<Throws> {
  static Variable forward(AutogradContext*, Variable x) { return x.clone(); }
  static variable_list backward(AutogradContext*, variable_list) { throw std::runtime_error("backward failed"); }
};
struct Wrong : Function<Wrong> {
  static Variable forward(AutogradContext*, Variable x, int64_t) { return x.clone(); }
  static variable_list backward(AutogradContext*, variable_list g) { return {g[0], g[0], g[0]}; }
};
int main() {
  auto a = torch::tensor({1., -2.}, torch::requires_grad());
  auto b = torch::tensor({3., 4.});
  auto out = MulConst::apply(a, b, std::string("tag"), std::vector<int64_t>{1, 2}, true);
  std::cout << out[0].requires_grad() << out[1].requires_grad() << out[0].grad_fn()->name().substr(0, 20) << std::endl;
  out[0].sum().backward();
  std::cout << a.grad() << std::endl;
  auto y = a.clone();
  auto z = InplaceAdd::apply(y);
  std::cout << z.is_same(y) << y._version() << y.grad_fn()->name().substr(0, 30) << std::endl;
  auto n = NoMaterialize::apply(a);
  n[1].sum().backward();
  std::cout << a.grad() << std::endl;
  try { Throws::apply(a).sum().backward(); } catch (const std::exception& e) { std::cout << e.what() << std::endl; }
  try { Wrong::apply(a, 3).sum().backward(); } catch (const c10::Error& e) { std::cout << e.what_without_backtrace() << std::endl; }
  { torch::NoGradGuard g; std::cout << Throws::apply(a).requires_grad() << std::endl; }
  { c10::InferenceMode g; auto r = Throws::apply(a); std::cout << r.requires_grad() << r.is_inference() << std::endl; }
  auto i = [] { c10::InferenceMode g; return torch::ones({2}, torch::kDouble); }();
  try { MulConst::apply(a, i, std::string("t"), std::vector<int64_t>{}, false); } catch (const c10::Error& e) { std::cout << e.what_without_backtrace() << std::endl; }
  auto h = a.register_hook([](torch::Tensor g) { return g * 10; });
  a.mutable_grad() = torch::Tensor();
  (a * 2).sum().backward();
  std::cout << a.grad() << h << std::endl;
  auto gg = grad({(a * a * a).sum()}, {a}, {}, c10::nullopt, true)[0];
  std::cout << grad({gg.sum()}, {a})[0] << std::endl;
  try { (a * 2).backward(); } catch (const c10::Error& e) { std::cout << e.what_without_backtrace() << std::endl; }
  auto s = (a * 2).sum(); s.backward();
  try { auto q = a.exp().sum(); q.backward(); q.backward(); } catch (const c10::Error& e) { std::cout << std::string(e.what_without_backtrace()).substr(0, 60) << std::endl; }
  // What the running backward doesn't need is not wanted.
  auto c = torch::tensor({1., 2.}, torch::requires_grad()), d = c.clone();
  const auto product = [&] { return MulConst::apply(c, d, std::string("p"), std::vector<int64_t>{}, false)[0].sum(); };
  std::cout << grad({product()}, {d})[0] << grad({product()}, {c})[0] << std::endl;
  product().backward({}, c10::nullopt, false, std::vector<torch::Tensor>{d});
  product().backward();
}
