// The forms of ops that write into a given tensor, also of ops whose Python function takes no `out`.
#include <torch/torch.h>

#include <iostream>

template <typename Call>
void attempt(const char* name, const at::Tensor& out, Call call) {
  try {
    call();
    std::cout << name << ' ' << out.sizes() << " version " << out._version() << " requires_grad " << out.requires_grad() << '\n';
  } catch (const c10::Error& error) {
    const std::string text = error.what_without_backtrace();
    std::cout << name << ": " << text.substr(0, 80) << '\n';
  }
}

int main() {
  const auto x = torch::arange(6, torch::kFloat).view({2, 3});
  const auto recorded = torch::ones({2, 3}, torch::requires_grad());
  auto out = at::empty({0});
#define ATTEMPT(name, ...) attempt(#name, out, [&] { at::name##_out(out, __VA_ARGS__); }); out = at::empty({0});
#define SHOW(name, ...) at::name##_out(out, __VA_ARGS__); std::cout << #name << '\n' << out << '\n'; out.resize_({0});
  SHOW(sum, x, {1})
  SHOW(mean, x, {0}, true)
  SHOW(clamp, x, 1, 4)
  SHOW(add, x, x, 2)
  SHOW(index_select, x, 1, torch::tensor({0, 2}))
  SHOW(cumsum, x, 1)
  SHOW(flip, x, {0})
  SHOW(masked_fill, x, x > 2, 7)
  SHOW(relu, -x)
  SHOW(stack, {x, x}, 0)
  SHOW(addmm, torch::ones({2, 2}), x, x.t())
  SHOW(arange, 3)
  SHOW(full, {2}, 5)
  SHOW(linalg_vector_norm, x, 2)
  SHOW(frobenius_norm, x, at::IntArrayRef{1})
  SHOW(median, x)
  SHOW(silu, torch::zeros({2}))
  auto values = at::empty({0}), places = at::empty({0}, torch::kLong);
  at::max_out(values, places, x, 1);
  std::cout << values << places << '\n';
  values.resize_({0}), places.resize_({0});
  at::sort_out(values, places, x, 1, true);
  std::cout << values << places << '\n';
  // Where PyTorch has declared the form, it refuses what would be recorded; a form that it has generated writes the values.
  ATTEMPT(exp, recorded)
  ATTEMPT(relu, recorded)
  ATTEMPT(flip, recorded, {0})
  ATTEMPT(isnan, x)
  {
    c10::InferenceMode mode;
    auto made = at::zeros({2, 3});
    attempt("in inference mode", at::empty({0}), [&] { at::relu_out(made, x); });
    out = made;
  }
  attempt("on an inference tensor", at::empty({0}), [&] { at::relu_out(out, x); });
  attempt("on an inference tensor", at::empty({0}), [&] { at::add_out(out, x, x); });
}
