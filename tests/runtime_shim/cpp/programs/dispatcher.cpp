// Ops of the program's own: kernels for each key, and which of them run under which guard.
#include <torch/torch.h>
#include <torch/library.h>
#include <ATen/core/op_registration/op_registration.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/csrc/autograd/engine.h>

#include <iostream>

namespace {

using Signature = at::Tensor(const at::Tensor&);

const c10::TypedOperatorHandle<Signature>& visit() {
  static const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("layers::visit", "").typed<Signature>();
  return op;
}
at::Tensor cpu(const at::Tensor& x) {
  std::cout << "CPU\n";
  return x + 1;
}
at::Tensor in_place_or_view(c10::DispatchKeySet keys, const at::Tensor& x) {
  std::cout << "ADInplaceOrView ";
  at::AutoDispatchBelowADInplaceOrView guard;
  return visit().redispatch(keys & c10::after_ADInplaceOrView_keyset, x);
}
at::Tensor autograd(const at::Tensor& x) {
  std::cout << "Autograd ";
  at::AutoDispatchBelowAutograd guard;
  return visit().call(x);
}
at::Tensor twice(const at::Tensor& x) { return x * 2; }

std::optional<c10::OperatorHandle> found(const char* name) { return c10::Dispatcher::singleton().findSchema({name, ""}); }
/// Prints the first line of the error, if there is one.
template <typename Function>
void refused(Function function) {
  try {
    function();
    std::cout << "fine\n";
  } catch (const c10::Error& e) {
    const std::string text = e.what_without_backtrace();
    const size_t start = text.find_first_not_of('\n');
    std::cout << text.substr(start, text.find_first_of("\n.", start) - start) << "\n";
  }
}

struct Counting : c10::OperatorKernel {
  explicit Counting(int* calls) : calls(calls) {}
  at::Tensor operator()(const at::Tensor& x) {
    ++*calls;
    return x + *calls;
  }
  int* calls;
};
void negated(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  std::cout << op.schema().name() << " ";
  const at::Tensor x = torch::jit::pop(*stack).toTensor();
  torch::jit::push(*stack, x.neg());
}

// Which of several kernels runs, for a tensor that requires grad and one in inference mode.
void precedence() {
  auto m = MAKE_TORCH_LIBRARY(order);
  std::string ran;
  const auto kernel = [&ran](const char* name) {
    return [&ran, name](const at::Tensor& x) {
      ran += std::string(name) + " ";
      return x;
    };
  };
  m.def("f(Tensor x) -> Tensor");
  m.impl("f", c10::DispatchKey::Autograd, kernel("Autograd"));
  const auto f = found("order::f")->typed<Signature>();
  const auto run = [&] {
    ran.clear();
    f.call(torch::ones({1}, torch::requires_grad()));
    try {
      c10::InferenceMode guard;
      f.call(torch::ones({1}));
    } catch (const c10::Error&) {
      ran += "none";
    }
    std::cout << ran << "\n";
  };
  run();
  m.impl("f", c10::DispatchKey::CompositeImplicitAutograd, kernel("composite"));
  run();
  m.impl("f", c10::DispatchKey::AutogradCPU, kernel("AutogradCPU"));
  run();
  {
    auto cpu = MAKE_TORCH_LIBRARY_IMPL(order, CPU);
    cpu.impl("f", kernel("CPU"));
    run();
  }
  run();
}

// What lasts as long as an object, and calls with a stack.
void registrations() {
  int calls = 0;
  {
    auto registry = c10::RegisterOperators()
                        .op("old::count", c10::RegisterOperators::options().catchAllKernel<Counting>(&calls))
                        .op("old::negate(Tensor x) -> Tensor",
                            c10::RegisterOperators::options().kernel<&negated>(c10::DispatchKey::CPU));
    torch::jit::Stack stack{"below", torch::ones({2})};
    found("old::count")->callBoxed(&stack);
    found("old::negate")->callBoxed(stack);
    std::cout << stack.size() << stack[0].toStringRef() << stack[1].toTensor().sum().item<float>() << " " << calls << "\n";
    std::cout << found("old::negate")->typed<Signature>().call(torch::ones({2})).sum().item<float>() << " "
              << found("old::count")->schema().arguments().size() << "\n";
    refused([] { c10::RegisterOperators().op("old::count(Tensor x) -> Tensor"); });
  }
  std::cout << found("old::count").has_value() << "\n";
  refused([] { c10::RegisterOperators().op("old::nothing"); });
  refused([] { c10::RegisterOperators().op(c10::RegisterOperators::options().catchAllKernel([](int64_t) {})); });
  refused([] {
    auto m = MAKE_TORCH_LIBRARY(kinds);
    m.def("f(int a) -> ()");
    m.impl("f", c10::DispatchKey::CPU, [](int64_t) {});
    m.impl("f", c10::DispatchKey::CUDA, [](const int64_t&) {});
  });
  auto m = MAKE_TORCH_LIBRARY(more);
  refused([&] { m.def("f(int a) -> int", [](int64_t a, int64_t) { return a; }); });
  refused([&] { m.def("g(int a) -> int", [](double) { return int64_t{1}; }); });
  refused([&] { m.def("h.default(int a) -> int"); });
  refused([&] {
    m.def("i(int? a, float[2] b) -> (str, bool)",
          [](std::optional<int64_t>, std::array<double, 2>) { return std::tuple<std::string, bool>("a", true); });
  });
  auto fallback = MAKE_TORCH_LIBRARY_IMPL(_, CPU);
  fallback.fallback(torch::CppFunction::makeFromBoxedFunction<&negated>());
  std::cout << found("layers::lonely")->typed<Signature>().call(torch::ones({2})).sum().item<float>() << "\n";
}

// Ops without a derivative.
void without_derivative() {
  auto m = MAKE_TORCH_LIBRARY(bare);
  m.def("sum(Tensor x, Tensor[] more, Tensor? last) -> Tensor");
  m.def("window(Tensor(a) x) -> Tensor(a)");
  m.def("raise_(Tensor(a!) x, Tensor by) -> Tensor(a!)");
  m.def("swap(Tensor(a) x, Tensor(b) y) -> (Tensor(a), Tensor(b))");
  m.def("second(Tensor x, Tensor(b) y) -> (Tensor, Tensor(b))");
  auto cpu = MAKE_TORCH_LIBRARY_IMPL(bare, CPU);
  cpu.impl("sum", [](const at::Tensor& x, at::TensorList more, const std::optional<at::Tensor>& last) {
    at::Tensor all = x.clone();
    for (const at::Tensor& one : more) all.add_(one);
    return last.has_value() ? all + *last : all;
  });
  cpu.impl("window", [](const at::Tensor& x) { return x.alias(); });
  cpu.impl("raise_", [](const at::Tensor& x, const at::Tensor& by) { return x.add_(by); });
  const auto pair = [](const at::Tensor& x, const at::Tensor& y) { return std::tuple<at::Tensor, at::Tensor>(x, y); };
  cpu.impl("swap", pair);
  cpu.impl("second", pair);
  auto autograd = MAKE_TORCH_LIBRARY_IMPL(bare, Autograd), views = MAKE_TORCH_LIBRARY_IMPL(bare, ADInplaceOrView);
  for (const char* name : {"sum", "window", "raise_", "swap", "second"}) {
    autograd.impl(name, torch::autograd::autogradNotImplementedFallback());
    views.impl(name, torch::autograd::autogradNotImplementedInplaceOrViewFallback());
  }
  const auto sum = found("bare::sum")
                       ->typed<at::Tensor(const at::Tensor&, at::TensorList, const std::optional<at::Tensor>&)>();
  const auto window = found("bare::window")->typed<Signature>();
  const auto raise = found("bare::raise_")->typed<at::Tensor(const at::Tensor&, const at::Tensor&)>();
  const at::Tensor plain = torch::ones({2}), leaf = torch::ones({2}, torch::requires_grad());

  std::cout << sum.call(plain, {plain}, {}).requires_grad() << sum.call(plain, {leaf}, {}).grad_fn()->name()
            << sum.call(plain, {}, leaf).grad_fn()->next_edges().size() << "\n";
  refused([&] { sum.call(leaf, {plain}, plain).sum().backward(); });
  {
    torch::NoGradGuard guard;
    std::cout << sum.call(leaf, {leaf}, {}).requires_grad() << "\n";
  }
  refused([&] { raise.call(leaf, plain); });
  const at::Tensor own = leaf.clone();
  std::cout << raise.call(own, plain).is_same(own) << own._version() << own.grad_fn()->name() << "\n";
  const at::Tensor view = window.call(plain), recorded = window.call(own);
  std::cout << view.is_view() << view._base().is_same(plain) << view._version() << recorded.grad_fn()->name() << "\n";
  raise.call(view, plain);
  std::cout << plain._version() << view._version() << "\n";
  torch::Tensor changed = window.call(own);
  changed.add_(leaf);
  std::cout << changed.grad_fn()->name() << own.grad_fn()->name() << own._version() << "\n";
  refused([&] { changed.sum().backward(); });
  const auto two = [](const char* name) {
    return found(name)->typed<std::tuple<at::Tensor, at::Tensor>(const at::Tensor&, const at::Tensor&)>();
  };
  refused([&] { two("bare::swap").call(plain, plain); });
  refused([&] { two("bare::second").call(plain, plain); });
  refused([&] { torch::autograd::grad({own.sum()}, {leaf, plain}); });

  std::vector<std::optional<torch::autograd::InputMetadata>> wanted{torch::autograd::InputMetadata(torch::ones({1, 3})),
                                                                    std::nullopt,
                                                                    torch::autograd::InputMetadata(torch::ones({}))};
  const auto as_it_is = [](const std::string& text) { return text; };
  torch::autograd::variable_list grads{torch::ones({2, 3}, torch::kDouble), {}, torch::ones({2})};
  torch::autograd::validate_outputs(wanted, grads, as_it_is);
  std::cout << grads[0].sizes() << grads[0].dtype() << grads[0].sum().item<float>() << grads[2].sizes() << "\n";
  refused([&] {
    grads[0] = torch::ones({2});
    torch::autograd::validate_outputs(wanted, grads, as_it_is);
  });
  refused([&] {
    grads.pop_back();
    torch::autograd::validate_outputs(wanted, grads, as_it_is);
  });
}

}  // namespace

TORCH_LIBRARY(layers, m) {
  m.def("visit(Tensor x) -> Tensor");
  m.def("twice(Tensor x) -> Tensor", &twice);
  m.def("lonely(Tensor x) -> Tensor");
  m.def("join(Tensor[] all, Tensor? last) -> Tensor");
}
TORCH_LIBRARY_IMPL(layers, CPU, m) { m.impl("visit", TORCH_FN(cpu)); }
TORCH_LIBRARY_IMPL(layers, ADInplaceOrView, m) { m.impl("visit", in_place_or_view); }
TORCH_LIBRARY_IMPL(layers, Autograd, m) { m.impl("visit", autograd); }
TORCH_LIBRARY_FRAGMENT(layers, m) { m.def("later(Tensor x) -> Tensor"); }
TORCH_LIBRARY_IMPL(layers, CompositeImplicitAutograd, m) {
  m.impl("later", [](const at::Tensor& x) { return x.exp(); });
  m.impl("join", [](at::TensorList all, const std::optional<at::Tensor>& last) {
    return last.has_value() ? at::cat({at::cat(all), *last}) : at::cat(all);
  });
}

int main() {
  auto& dispatcher = c10::Dispatcher::singleton();
  const auto x = torch::zeros({2}, torch::requires_grad());
  visit().call(x);
  {
    at::AutoDispatchBelowAutograd guard;
    visit().call(x);
  }
  {
    at::AutoDispatchBelowADInplaceOrView guard;
    visit().call(x);
  }
  {
    c10::InferenceMode guard;
    visit().call(x);
    visit().call(torch::zeros({2}));
  }
  {
    c10::impl::ExcludeDispatchKeyGuard guard(c10::DispatchKey::ADInplaceOrView);
    visit().call(x);
  }
  visit().redispatch(c10::DispatchKeySet(c10::DispatchKey::CPU), x);
  std::cout << dispatcher.findSchemaOrThrow("layers::twice", "").typed<Signature>().call(x).requires_grad()
            << dispatcher.findSchemaOrThrow("layers::later", "").typed<Signature>().call(x).requires_grad() << "\n";
  const auto join = dispatcher.findSchemaOrThrow("layers::join", "")
                        .typed<at::Tensor(at::TensorList, const std::optional<at::Tensor>&)>();
  std::cout << join.call({x, x}, x).sizes() << join.call({x, x}, {}).sizes() << "\n";
  const auto mul = dispatcher.findSchemaOrThrow("aten::mul", "Tensor")
                       .typed<at::Tensor(const at::Tensor&, const at::Tensor&)>();
  std::cout << mul.call(x, x).requires_grad()
            << mul.redispatch(c10::DispatchKeySet(c10::DispatchKey::CPU), x, x).requires_grad() << "\n";
  try {
    dispatcher.findSchemaOrThrow("layers::unknown", "");
  } catch (const c10::Error& e) {
    std::cout << e.what_without_backtrace() << "\n";
  }
  try {
    dispatcher.findSchemaOrThrow("layers::lonely", "").typed<Signature>().call(x);
  } catch (const c10::NotImplementedError&) {
    std::cout << "no kernel\n";
  }
  try {
    dispatcher.findSchemaOrThrow("layers::visit", "").typed<at::Tensor(at::Tensor)>();
  } catch (const c10::Error&) {
    std::cout << "wrong signature\n";
  }
  precedence();
  registrations();
  without_derivative();
}
