// What a Function saves beside tensors, among it objects of a class of the program's own.
#include <torch/custom_class.h>
#include <torch/script.h>
#include <torch/torch.h>

#include <iostream>

struct Counter : torch::CustomClassHolder {
  int64_t n;
  explicit Counter(int64_t n) : n(n) {}
  int64_t up() { return ++n; }
};
static auto registered = torch::class_<Counter>("my", "Counter").def(torch::init<int64_t>()).def("up", &Counter::up);

struct Twice : torch::autograd::Function<Twice> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor x) {
    auto& saved = ctx->saved_data;
    saved["factor"] = 2;
    saved["counter"] = c10::IValue(c10::make_intrusive<Counter>(5));
    saved["gone"] = true;
    std::cout << saved.erase("gone") << saved.erase("gone") << saved.count("gone") << saved.size() << '\n';
    std::cout << saved.emplace("factor", c10::IValue(3)).second << saved["factor"].toInt() << '\n';
    return x * 2;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx, torch::autograd::variable_list g) {
    auto& saved = ctx->saved_data;
    std::cout << saved["counter"].toCustomClass<Counter>()->n << (saved.find("gone") == saved.end()) << '\n';
    saved.erase(saved.find("counter"));
    std::cout << saved.size();
    saved.clear();
    std::cout << saved.empty() << '\n';
    return {g[0] * 2};
  }
};

int main() {
  auto counter = c10::make_intrusive<Counter>(3);
  const c10::IValue value(counter);
  auto same = value.toCustomClass<Counter>();
  same->up();
  std::cout << value.isCustomClass() << value.isObject() << ' ' << counter->n << ' ' << (same.get() == counter.get()) << '\n';
  for (const c10::IValue& other : {c10::IValue(3), c10::IValue(torch::ones({1})), c10::IValue()}) {
    std::cout << other.isCustomClass() << other.isObject();
    try {
      other.toCustomClass<Counter>();
    } catch (const c10::Error&) {
      std::cout << " refused\n";
    }
  }
  auto x = torch::ones({2}, torch::requires_grad());
  Twice::apply(x).sum().backward();
  std::cout << x.grad() << '\n';
}
