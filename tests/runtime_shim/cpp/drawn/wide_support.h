// What programs of the profile "wide" call: Functions with guards inside, ops with kernels of their own, threads,
// layers and optimizers.
#include <torch/csrc/autograd/VariableTypeUtils.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/library.h>

#include <stdexcept>
#include <thread>

using torch::autograd::tensor_list;

struct ProductBelow : public Function<ProductBelow> {
  static Variable forward(AutogradContext* ctx, Variable x, Variable y) {
    at::AutoDispatchBelowADInplaceOrView guard;
    ctx->save_for_backward({x, y});
    return x.mul(y);
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    return {grads[0] * saved[1], grads[0] * saved[0]};
  }
};

struct SavesItsResult : public Function<SavesItsResult> {
  static Variable forward(AutogradContext* ctx, Variable x) {
    auto result = x.exp();
    ctx->save_for_backward({result});
    ctx->saved_data["times"] = 2;
    return result;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    return {grads[0] * ctx->get_saved_variables()[0] * ctx->saved_data["times"].toInt()};
  }
};

struct ReturnsItsInput : public Function<ReturnsItsInput> {
  static Variable forward(AutogradContext*, Variable x) { return x; }
  static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0] * 5}; }
};

struct ReturnsAView : public Function<ReturnsAView> {
  static Variable forward(AutogradContext*, Variable x) { return x.view({-1}); }
  static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0] * 2}; }
};

struct WritesBelow : public Function<WritesBelow> {
  static Variable forward(AutogradContext* ctx, Variable x) {
    at::AutoDispatchBelowADInplaceOrView guard;
    x.mul_(2);
    ctx->mark_dirty({x});
    return x;
  }
  static variable_list backward(AutogradContext*, variable_list grads) { return {grads[0] * 2}; }
};

struct InInferenceMode : public Function<InInferenceMode> {
  static Variable forward(AutogradContext*, Variable x) {
    c10::InferenceMode guard;
    return x * 2;
  }
  static variable_list backward(AutogradContext*, variable_list grads) {
    at::AutoGradMode guard(true);
    return {grads[0] * 2};
  }
};

struct SumAndProduct : public Function<SumAndProduct> {
  static variable_list forward(AutogradContext* ctx, Variable x, Variable y) {
    ctx->set_materialize_grads(false);
    ctx->save_for_backward({x, y});
    return {x + y, x * y};
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    Variable first, second;
    if (grads[0].defined()) first = second = grads[0];
    if (grads[1].defined()) {
      first = first.defined() ? first + grads[1] * saved[1] : grads[1] * saved[1];
      second = second.defined() ? second + grads[1] * saved[0] : grads[1] * saved[0];
    }
    return {first, second};
  }
};

struct Throws : public Function<Throws> {
  static Variable forward(AutogradContext*, Variable x) {
    at::AutoDispatchBelowADInplaceOrView guard;
    c10::InferenceMode inference;
    if (x.numel() > 2) throw std::runtime_error("more than two");
    return x.clone();
  }
  static variable_list backward(AutogradContext*, variable_list) { throw std::runtime_error("no way back"); }
};

// ---- ops

template <typename Signature>
c10::TypedOperatorHandle<Signature> op_named(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Signature>();
}

using ScaleSignature = at::Tensor(const at::Tensor&, double);
using WriteSignature = at::Tensor&(at::Tensor&);
using OneSignature = at::Tensor(const at::Tensor&);

at::Tensor scale(const at::Tensor& x, double by) {
  static const auto op = op_named<ScaleSignature>("drawn::scale");
  return op.call(x, by);
}
at::Tensor scale_cpu(const at::Tensor& x, double by) { return x * by; }

struct ScaleFunction : public Function<ScaleFunction> {
  static Variable forward(AutogradContext* ctx, Variable x, double by) {
    at::AutoDispatchBelowADInplaceOrView guard;
    ctx->saved_data["by"] = by;
    return scale(x, by);
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    return {scale(grads[0], ctx->saved_data["by"].toDouble()), Variable()};
  }
};
at::Tensor scale_autograd(const at::Tensor& x, double by) { return ScaleFunction::apply(x, by); }

at::Tensor& halve_(at::Tensor& x) {
  static const auto op = op_named<WriteSignature>("drawn::halve_");
  return op.call(x);
}
at::Tensor& halve_cpu(at::Tensor& x) { return x.mul_(0.5); }
at::Tensor& halve_in_place_or_view(c10::DispatchKeySet keys, at::Tensor& x) {
  static const auto op = op_named<WriteSignature>("drawn::halve_");
  {
    at::AutoDispatchBelowADInplaceOrView guard;
    op.redispatch(keys & c10::after_ADInplaceOrView_keyset, x);
  }
  torch::autograd::increment_version(x);
  return x;
}
at::Tensor& halve_autograd(c10::DispatchKeySet keys, at::Tensor& x) {
  static const auto op = op_named<WriteSignature>("drawn::halve_");
  at::AutoDispatchBelowAutograd guard;
  return op.redispatch(keys & c10::after_autograd_keyset, x);
}

#define GUARDFIX_DRAWN_OP(name)                                     \
  at::Tensor name(const at::Tensor& x) {                            \
    static const auto op = op_named<OneSignature>("drawn::" #name); \
    return op.call(x);                                              \
  }
GUARDFIX_DRAWN_OP(twice)
GUARDFIX_DRAWN_OP(cpu_alone)
GUARDFIX_DRAWN_OP(no_derivative)
GUARDFIX_DRAWN_OP(first_row)

TORCH_LIBRARY(drawn, m) {
  m.def("scale(Tensor x, float by) -> Tensor");
  m.def("halve_(Tensor(a!) x) -> Tensor(a!)");
  m.def("twice(Tensor x) -> Tensor", [](const at::Tensor& x) { return x + x; });
  m.def("cpu_alone(Tensor x) -> Tensor");
  m.def("no_derivative(Tensor x) -> Tensor");
  m.def("first_row(Tensor(a) x) -> Tensor(a)");
}
TORCH_LIBRARY_IMPL(drawn, CPU, m) {
  m.impl("scale", scale_cpu);
  m.impl("halve_", halve_cpu);
  m.impl("cpu_alone", [](const at::Tensor& x) { return x.exp().mul_(2); });
  m.impl("no_derivative", [](const at::Tensor& x) { return x.sin(); });
  m.impl("first_row", [](const at::Tensor& x) { return x.select(0, 0); });
}
TORCH_LIBRARY_IMPL(drawn, ADInplaceOrView, m) {
  m.impl("halve_", halve_in_place_or_view);
  m.impl("first_row", torch::autograd::autogradNotImplementedInplaceOrViewFallback());
}
TORCH_LIBRARY_IMPL(drawn, Autograd, m) {
  m.impl("scale", scale_autograd);
  m.impl("halve_", halve_autograd);
  m.impl("no_derivative", torch::autograd::autogradNotImplementedFallback());
  m.impl("first_row", torch::autograd::autogradNotImplementedFallback());
}

// ---- threads, layers, optimizers

// Runs in another thread, and raises here what it raised there.
template <typename F>
void in_thread(F&& body) {
  std::exception_ptr raised;
  std::thread([&] {
    try {
      body();
    } catch (...) {
      raised = std::current_exception();
    }
  }).join();
  if (raised) std::rethrow_exception(raised);
}

// Runs with a guard that ends by an exception.
template <typename Guard, typename F, typename... Arguments>
void thrown_out_of(F&& body, Arguments... arguments) {
  Guard guard(arguments...);
  body();
  throw std::runtime_error("thrown");
}

template <typename Layer>
Layer with_halves(Layer layer) {
  torch::NoGradGuard guard;
  for (auto& parameter : layer->parameters()) parameter.fill_(0.5);
  return layer;
}
at::Tensor linear(const at::Tensor& x) { return with_halves(torch::nn::Linear(x.size(-1), 2))->forward(x); }
at::Tensor normalized(const at::Tensor& x) {
  torch::nn::BatchNorm1d layer(x.size(-1));
  layer->forward(x);
  return layer->running_mean;
}
at::Tensor weight_after_step(const at::Tensor& x) {
  auto layer = with_halves(torch::nn::Linear(x.size(-1), 1));
  torch::optim::SGD optimizer(layer->parameters(), torch::optim::SGDOptions(0.1).momentum(0.5));
  for (int i = 0; i < 2; ++i) {
    optimizer.zero_grad();
    layer->forward(x).sum().backward();
    optimizer.step();
  }
  return layer->weight;
}
template <typename Optimizer, typename Options>
void step(at::Tensor& parameter, Options options) {
  Optimizer optimizer({parameter}, options);
  optimizer.step([&] {
    optimizer.zero_grad();
    auto loss = (parameter * parameter).sum();
    loss.backward();
    return loss;
  });
}
