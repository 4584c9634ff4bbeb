// Ops of the program's own: kernels for each key, and which of them run under which guard.
#include <torch/torch.h>
#include <torch/library.h>

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
}
