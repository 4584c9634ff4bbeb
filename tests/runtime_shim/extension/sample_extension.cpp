// An extension module with a bit of everything: functions that pybind11 binds, ops under several keys, a class.
#include <torch/extension.h>

#include <ATen/Parallel.h>
#include <c10/util/Logging.h>

namespace sample {

// ---- values of all kinds, across the border and back

at::Tensor same(const at::Tensor& x) { return x; }
bool is_missing(const std::optional<at::Tensor>& x) { return !x.has_value(); }
int64_t total(at::IntArrayRef values) {
  int64_t sum = 0;
  for (const int64_t value : values) sum += value;
  return sum;
}
std::tuple<at::Tensor, std::vector<at::Tensor>> halves(const at::Tensor& x) {
  const std::vector<at::Tensor> parts = x.chunk(2);
  return {parts[0], parts};
}
at::Tensor filled(at::IntArrayRef size, const at::Scalar& value, at::ScalarType dtype, at::Device device) {
  return at::full(size, value, at::TensorOptions().dtype(dtype).device(device));
}
c10::List<int64_t> sizes_of(const c10::List<at::Tensor>& tensors) {
  c10::List<int64_t> sizes;
  for (const at::Tensor& tensor : tensors) sizes.push_back(tensor.numel());
  return sizes;
}
at::Tensor drawn(const std::optional<at::Generator>& generator) { return at::rand({2}, generator, at::TensorOptions()); }
void fail(const std::string& kind) {
  TORCH_CHECK_INDEX(kind != "index", "no such index");
  TORCH_CHECK_VALUE(kind != "value", "no such value");
  TORCH_CHECK_NOT_IMPLEMENTED(kind != "missing", "no such function");
  TORCH_CHECK(false, "failed: ", kind);
}

// ---- thread-local modes

std::tuple<bool, bool> modes() { return {at::GradMode::is_enabled(), c10::InferenceMode::is_enabled()}; }
at::Tensor doubled_in_inference_mode(const at::Tensor& x) {
  const c10::InferenceMode guard;
  return x * 2;
}

// ---- kernels

template <typename scalar_t>
void add_rows(at::TensorAccessor<scalar_t, 2> rows, at::TensorAccessor<scalar_t, 1> sums) {
  at::parallel_for(0, rows.size(0), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      for (int64_t j = 0; j < rows.size(1); ++j) sums[i] += rows[i][j];
  });
}
at::Tensor row_sums(const at::Tensor& x) {
  at::Tensor sums = at::zeros({x.size(0)}, x.options());
  AT_DISPATCH_ALL_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "row_sums", [&] {
    add_rows<scalar_t>(x.accessor<scalar_t, 2>(), sums.accessor<scalar_t, 1>());
  });
  return sums;
}
// Each piece of the loop makes tensors: it needs the interpreter, which the caller must not keep for itself.
int64_t tensors_made_in_parallel(int64_t count) {
  std::atomic<int64_t> sum{0};
  at::parallel_for(0, count, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) sum += at::ones({i}).numel();
  });
  return sum;
}

// ---- ops

at::Tensor scale(const at::Tensor& x, double by, at::IntArrayRef, std::optional<std::string_view> mode) {
  C10_LOG_API_USAGE_ONCE("sample.scale");
  return mode.has_value() && *mode == "twice" ? x * by * by : x * by;
}
at::Tensor call_scale(const at::Tensor& x, double by, at::IntArrayRef dims, std::optional<std::string_view> mode) {
  static const auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("sample::scale", "").typed<decltype(call_scale)>();
  return op.call(x, by, dims, mode);
}
class Scale : public torch::autograd::Function<Scale> {
 public:
  static torch::autograd::Variable forward(torch::autograd::AutogradContext* context, const at::Tensor& x, double by,
                                           at::IntArrayRef dims, std::optional<std::string_view> mode) {
    context->saved_data["by"] = by;
    const at::AutoDispatchBelowADInplaceOrView guard;
    return call_scale(x, by, dims, mode);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list grads) {
    return {grads[0] * context->saved_data["by"].toDouble(), {}, {}, {}};
  }
};
at::Tensor scale_autograd(const at::Tensor& x, double by, at::IntArrayRef dims, std::optional<std::string_view> mode) {
  return Scale::apply(x, by, dims, mode);
}
at::Tensor scale_by_tensor(const at::Tensor& x, const at::Tensor& by) { return x * by; }
void reverse_stack(const c10::OperatorHandle&, torch::jit::Stack* stack) { std::reverse(stack->begin(), stack->end()); }
std::tuple<at::Tensor, int64_t, std::vector<int64_t>> described(const at::Tensor& x, c10::SymInt n) {
  return {x, n.expect_int(), x.sizes().vec()};
}
at::Tensor made(at::IntArrayRef size, std::optional<at::ScalarType> dtype, std::optional<at::Layout> layout,
                std::optional<at::Device> device, std::optional<bool> pin_memory) {
  return at::zeros(size, at::TensorOptions().dtype(dtype).layout(layout).device(device).pinned_memory(pin_memory));
}
at::Tensor& add_one_(at::Tensor& x) { return x.add_(1); }
// Calls an op of which only the other language has the kernel.
at::Tensor through_python(const at::Tensor& x) {
  static const auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("sample::in_python", "").typed<at::Tensor(const at::Tensor&)>();
  return op.call(x);
}

// ---- a class

struct Counter : torch::CustomClassHolder {
  explicit Counter(int64_t start) : count(start) {}
  int64_t add(int64_t n) { return count += n; }
  c10::intrusive_ptr<Counter> copy() const { return c10::make_intrusive<Counter>(count); }
  at::Device device() { return at::kCPU; }
  int64_t count;
};
struct NetImpl : torch::nn::Module {
  NetImpl(int64_t in, int64_t out) : linear(register_module("linear", torch::nn::Linear(in, out))) {
    scale = register_parameter("scale", torch::full({out}, 2.0));
    calls = register_buffer("calls", torch::zeros({1}));
  }
  at::Tensor forward(const at::Tensor& x) {
    calls.add_(is_training());
    return linear(x) * scale;
  }
  torch::nn::Linear linear;
  at::Tensor scale, calls;
};
int64_t count_of(const c10::intrusive_ptr<Counter>& counter) { return counter->count; }

}  // namespace sample

TORCH_LIBRARY(sample, m) {
  m.class_<sample::Counter>("Counter")
      .def(torch::init<int64_t>(), "", {torch::arg("start") = 0})
      .def("add", &sample::Counter::add)
      .def("copy", &sample::Counter::copy)
      .def("device", &sample::Counter::device)
      .def("__len__", [](const c10::intrusive_ptr<sample::Counter>& self) { return self->count; })
      .def_readwrite("count", &sample::Counter::count)
      .def_pickle([](const c10::intrusive_ptr<sample::Counter>& self) { return self->count; },
                  [](int64_t count) { return c10::make_intrusive<sample::Counter>(count); });
  m.def("scale(Tensor x, float by = 2, int[] dims = [1, 2], *, str? mode = None) -> Tensor");
  m.def("scale.Tensor(Tensor x, Tensor by) -> Tensor", &sample::scale_by_tensor);
  m.def("swapped(Tensor a, Tensor b) -> (Tensor, Tensor)");
  m.def("described", &sample::described);
  m.def("made(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
        "bool? pin_memory=None) -> Tensor", &sample::made);
  m.def("add_one_(Tensor(a!) x) -> Tensor(a!)", &sample::add_one_);
  m.def("in_python(Tensor x) -> Tensor");
  m.def("through_python", &sample::through_python);
  m.def("count_of", &sample::count_of);
}
TORCH_LIBRARY_IMPL(sample, CPU, m) {
  m.impl("scale", &sample::scale);
  m.impl("swapped", torch::CppFunction::makeFromBoxedFunction<&sample::reverse_stack>());
}
TORCH_LIBRARY_IMPL(sample, Autograd, m) { m.impl("scale", TORCH_FN(sample::scale_autograd)); }
static auto registry = torch::RegisterOperators().op("sample::old_total", &sample::total);

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("same", &sample::same);
  m.def("is_missing", &sample::is_missing, py::arg("x") = py::none());
  m.def("total", &sample::total);
  m.def("halves", &sample::halves);
  m.def("filled", &sample::filled);
  m.def("sizes_of", &sample::sizes_of);
  m.def("drawn", &sample::drawn, py::arg("generator") = py::none());
  m.def("fail", &sample::fail);
  m.def("modes", &sample::modes);
  m.def("doubled_in_inference_mode", &sample::doubled_in_inference_mode);
  m.def("row_sums", &sample::row_sums);
  torch::python::bind_module<sample::NetImpl>(m, "Net").def(py::init<int64_t, int64_t>(), py::arg("i"), py::arg("o"));
  m.def("tensors_made_in_parallel", &sample::tensors_made_in_parallel);
}
