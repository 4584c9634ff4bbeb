// What at::Tensor needs the rest of the interface for: its attributes, autograd members and conversions.
#pragma once

#include <ATen/core/TensorIndex.h>
#include <guardfix/python_warnings.h>
#include <torch/csrc/autograd/node.h>

namespace at {

namespace detail {

/// The dispatch keys that the three flags of the Python side stand for.
inline DispatchKeySet keys_of(int64_t flags, DispatchKeySet backend, DispatchKeySet autograd) {
  DispatchKeySet keys;
  if ((flags & 1) != 0) keys = keys | backend;
  if ((flags & 2) != 0) keys = keys | autograd;
  if ((flags & 4) != 0) keys = keys.add(DispatchKey::ADInplaceOrView);
  return keys;
}

/// The ScalarType of a dtype's Python name.
inline ScalarType scalar_type_named(const std::string& text) {
#define AT_SAME_NAME(type, cpp, python, printed) \
  if (text == python) return ScalarType::cpp;
  AT_FORALL_SCALAR_TYPES_OF_THE_SHIM(AT_SAME_NAME)
#undef AT_SAME_NAME
  C10_THROW_ERROR(NotImplementedError, "the shim's headers have no ScalarType for torch." + text);
}
inline ScalarType scalar_type_named(const guardfix::Object& name) {
  const guardfix::Gil gil;
  return scalar_type_named(guardfix::text_of(name.get()));
}

/// A Python callable that hands its argument, a gradient, to a copy of `hook`; what it returns replaces the gradient.
template <typename Callable>
guardfix::Object gradient_hook(Callable hook) {
  static PyMethodDef definition = {
      "gradient_hook",
      [](PyObject* capsule, PyObject* grad) -> PyObject* {
        try {
          auto& function = *static_cast<Callable*>(PyCapsule_GetPointer(capsule, nullptr));
          const Tensor gradient = Tensor::from_python(guardfix::Object::borrow(grad));
          Tensor result;
          {
            const guardfix::GilReleased released;
            if constexpr (std::is_void_v<decltype(function(gradient))>) {
              function(gradient);
            } else {
              result = function(gradient);
            }
          }
          PyObject* object = guardfix::object_of(result);
          return guardfix::Object::borrow(object == nullptr ? Py_None : object).release();
        } catch (...) {
          guardfix::set_python_error();
          return nullptr;
        }
      },
      METH_O, nullptr};
  const guardfix::Gil gil;
  const guardfix::Object capsule = guardfix::checked(
      PyCapsule_New(new Callable(std::move(hook)), nullptr,
                    [](PyObject* c) { delete static_cast<Callable*>(PyCapsule_GetPointer(c, nullptr)); }),
      "register_hook");
  return guardfix::checked(PyCFunction_New(&definition, capsule.get()), "register_hook");
}

}  // namespace detail

inline TensorImpl::~TensorImpl() {
  delete grad_;
  Py_XDECREF(array_.load());
  Py_DECREF(object_);
}

namespace detail {
/// Tensors that say they have other keys than theirs, for tests of ops: see test_helpers.h. Each is kept.
inline std::vector<std::pair<Tensor, DispatchKeySet>>& tensors_with_keys() {
  static auto& tensors = *new std::vector<std::pair<Tensor, DispatchKeySet>>;
  return tensors;
}
}  // namespace detail

inline DispatchKeySet TensorImpl::key_set() const {
  for (const auto& [tensor, keys] : detail::tensors_with_keys())
    if (guardfix::object_of(tensor) == object_) return keys;
  static const guardfix::Hook read{"key_set"};
  const guardfix::Object flags = read({object_});
  const guardfix::Gil gil;
  return detail::keys_of(guardfix::as_integer(flags.get(), "key_set"),
                         DispatchKeySet({DispatchKey::CPU, DispatchKey::AutocastCPU}),
                         DispatchKeySet(DispatchKey::AutogradCPU));
}

inline torch::autograd::DifferentiableViewMeta* TensorImpl::autograd_meta() const {
  static const guardfix::Hook is_view{"is_view"};
  if (!guardfix::truth_of(is_view({object_}))) return nullptr;
  return &view_meta_;
}

inline bool Tensor::truth(const char* hook) const {
  return guardfix::truth_of(guardfix::ask(hook, {impl().object()}));
}

inline bool Tensor::truth(const char* hook, const Tensor& other) const {
  return guardfix::truth_of(guardfix::ask(hook, {impl().object(), other}));
}

inline int64_t Tensor::integer(const char* hook) const {
  const guardfix::Object value = guardfix::ask(hook, {impl().object()});
  const guardfix::Gil gil;
  return guardfix::as_integer(value.get(), hook);
}

inline ScalarType Tensor::scalar_type() const { return defined() ? impl().scalar_type() : ScalarType::Undefined; }

inline ScalarType TensorImpl::scalar_type() const {
  if (knows(kType)) return type_;
  static const guardfix::Hook read{"dtype_name"};
  const guardfix::Gil gil;
  learn(kType, [&] { type_ = detail::scalar_type_named(read({object_})); });
  return type_;
}

inline void* TensorImpl::address() const {
  if (knows(kAddress)) return address_;
  static const guardfix::Hook read{"data_ptr"};
  const guardfix::Gil gil;
  learn(kAddress, [&] { address_ = reinterpret_cast<void*>(guardfix::as_integer(read({object_}).get(), "data_ptr")); });
  return address_;
}

inline Scalar Tensor::item() const {
  TORCH_CHECK(defined(), "a Tensor with 0 elements cannot be converted to Scalar");
  static const guardfix::Hook read{"item"};
  const guardfix::Object value = read({impl().object()});
  const guardfix::Gil gil;
  return guardfix::scalar_of(value.get(), "item");
}

inline const Tensor& Tensor::set_requires_grad(bool requires_grad) const {
  static const guardfix::Hook set{"set_requires_grad"};
  set({impl().object(), requires_grad});
  return *this;
}

inline void Tensor::retain_grad() const {
  static const guardfix::Op op{"retain_grad"};
  op({*this});
}

inline Tensor Tensor::_base() const {
  static const guardfix::Hook read{"base"};
  TORCH_CHECK(is_view(), "Can't get base of non-view Tensor");
  return from_python(read({impl().object()}));
}

inline std::shared_ptr<torch::autograd::Node> Tensor::grad_fn() const {
  static const guardfix::Hook read{"grad_fn"};
  return torch::autograd::node_of(read({impl().object()}));
}

inline const Tensor& Tensor::grad() const {
  static const guardfix::Hook read{"grad"};
  Tensor now = from_python(read({check_autograd_meta().impl().object()}));
  if (!now.defined() && !is_leaf() && !retains_grad())
    TORCH_WARN(
        "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be "
        "populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf "
        "Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure "
        "you access the leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more information.");
  Tensor*& slot = impl_->grad_;
  if (slot == nullptr) slot = new Tensor;
  if (!slot->is_same(now)) *slot = std::move(now);
  return *slot;
}

inline GradSlot Tensor::mutable_grad() const {
  static const guardfix::Hook read{"grad"};
  return GradSlot(*this, defined() ? from_python(read({impl().object()})) : Tensor());
}

inline void GradSlot::store() const {
  if (!owner_.defined()) return;
  static const guardfix::Hook write{"set_grad"};
  write({owner_, static_cast<const Tensor&>(*this)});
}

inline void Tensor::backward(const Tensor& gradient, std::optional<bool> retain_graph, bool create_graph,
                             std::optional<TensorList> inputs) const {
  static const guardfix::Op op{"backward"};
  if (inputs.has_value()) TORCH_CHECK(!inputs->empty(), "'inputs' argument to backward cannot be empty");
  TORCH_CHECK(gradient.defined() || numel() != 1 || !is_complex() || !requires_grad(),
              "grad can be computed only for real scalar outputs but got ", scalar_type());
  guardfix::with_warnings_of_backward(create_graph, [&] {
    return op({*this, gradient, retain_graph, create_graph, guardfix::kw("inputs", inputs)});
  });
}

inline Storage Tensor::storage() const {
  const auto offset = static_cast<size_t>(storage_offset()) * itemsize();
  static const guardfix::Hook find{"storage"};
  return Storage(find({*this}), static_cast<char*>(data_ptr()) - offset, static_cast<size_t>(integer("storage_nbytes")));
}

inline Tensor Tensor::data() const {
  static const guardfix::Hook read{"data"};
  return from_python(read({impl().object()}));
}

inline void Tensor::set_data(const Tensor& new_data) const {
  static const guardfix::Hook write{"set_data"};
  write({impl().object(), new_data});
}

template <typename Callable>
unsigned Tensor::register_hook(Callable&& hook) const {
  static const guardfix::Op op{"register_hook"};
  const guardfix::Object position = op({*this, detail::gradient_hook<std::decay_t<Callable>>(std::forward<Callable>(hook))});
  const guardfix::Gil gil;
  return static_cast<unsigned>(guardfix::as_integer(position.get(), "register_hook"));
}

inline void Tensor::remove_hook(unsigned position) const {
  static const guardfix::Op op{"remove_hook"};
  op({*this, static_cast<int64_t>(position)});
}

// ---- indexing

inline Tensor Tensor::operator[](const Scalar& index) const {
  TORCH_CHECK_INDEX(index.isIntegral(false), "Can only index tensors with integral scalars");
  return (*this)[index.toLong()];
}
inline Tensor Tensor::operator[](const Tensor& index) const {
  TORCH_CHECK_INDEX(index.defined(), "Can only index with tensors that are defined");
  TORCH_CHECK_INDEX(index.dim() == 0, "Can only index with tensors that are scalars (zero-dim)");
  return (*this)[index.item()];
}
inline Tensor Tensor::index(ArrayRef<indexing::TensorIndex> indices) const {
  TORCH_CHECK_INDEX(!indices.empty(), "Passing an empty index list to Tensor::index() is not valid syntax");
  static const guardfix::Hook get{"index"};
  return from_python(get({impl().object(), indexing::as_tuple(indices)}));
}
inline Tensor Tensor::index(std::initializer_list<indexing::TensorIndex> indices) const {
  return index(ArrayRef<indexing::TensorIndex>(indices));
}
inline Tensor& Tensor::index_put_(ArrayRef<indexing::TensorIndex> indices, const Tensor& values) {
  TORCH_CHECK_INDEX(!indices.empty(), "Passing an empty index list to Tensor::index_put_() is not valid syntax");
  static const guardfix::Hook set{"index_put_"};
  set({impl().object(), indexing::as_tuple(indices), values});
  return *this;
}
inline Tensor& Tensor::index_put_(std::initializer_list<indexing::TensorIndex> indices, const Tensor& values) {
  return index_put_(ArrayRef<indexing::TensorIndex>(indices), values);
}
inline Tensor& Tensor::index_put_(ArrayRef<indexing::TensorIndex> indices, const Scalar& value) {
  TORCH_CHECK_INDEX(!indices.empty(), "Passing an empty index list to Tensor::index_put_() is not valid syntax");
  static const guardfix::Hook set{"index_put_"};
  set({impl().object(), indexing::as_tuple(indices), value});
  return *this;
}
inline Tensor& Tensor::index_put_(std::initializer_list<indexing::TensorIndex> indices, const Scalar& value) {
  return index_put_(ArrayRef<indexing::TensorIndex>(indices), value);
}

inline Tensor Tensor::where(const Tensor& condition, const Tensor& other) const {
  static const guardfix::Op op{"where", "function"};
  return from_python(op({condition, *this, other}));
}
inline Tensor Tensor::where(const Tensor& condition, const Scalar& other) const {
  static const guardfix::Op op{"where", "function"};
  return from_python(op({condition, *this, other}));
}

// ---- memory

inline Tensor Tensor::contiguous(MemoryFormat format) const {
  if (!defined()) return *this;
  static const guardfix::Op op{"contiguous"};
  return from_python(op({*this, guardfix::kw_unless("memory_format", MemoryFormat::Contiguous, format)}));
}

inline bool Tensor::is_contiguous(MemoryFormat format) const {
  if (!defined()) return true;
  if (format == MemoryFormat::Contiguous || format == MemoryFormat::Preserve) return truth("is_contiguous");
  static const guardfix::Op op{"is_contiguous"};
  return guardfix::truth_of(op({*this, guardfix::kw("memory_format", format)}));
}
inline MemoryFormat Tensor::suggest_memory_format(bool) const {
  const bool is_image = dim() == 4 || dim() == 5;
  const auto last = dim() == 4 ? MemoryFormat::ChannelsLast : MemoryFormat::ChannelsLast3d;
  return is_image && !is_contiguous() && is_contiguous(last) ? last : MemoryFormat::Contiguous;
}

// ---- conversion

// What new_ones and its kin return never requires grad: libtorch passes over that option, where Python's methods have it.
inline Tensor Tensor::made(const char* factory, IntArrayRef size, const TensorOptions& options) const {
  const guardfix::Op op(factory);
  return from_python(op({size, guardfix::kw("dtype", options.dtype_opt().value_or(scalar_type())),
                         guardfix::kw("device", options.device_opt())}));
}
inline Tensor Tensor::new_full(IntArrayRef size, const Scalar& value, const TensorOptions& options) const {
  static const guardfix::Op op{"full"};
  return from_python(op({size, value, guardfix::kw("dtype", options.dtype_opt().value_or(scalar_type())),
                         guardfix::kw("device", options.device_opt())}));
}
inline Tensor Tensor::to(ScalarType type, bool, bool copy, std::optional<MemoryFormat> format) const {
  static const guardfix::Op op{"to"};
  return from_python(op({*this, type, guardfix::kw("copy", copy ? std::optional<bool>(true) : std::nullopt),
                         guardfix::kw("memory_format", format)}));
}
inline Tensor Tensor::to(Device device, ScalarType type, bool, bool copy, std::optional<MemoryFormat> format) const {
  static const guardfix::Op op{"to"};
  return from_python(op({*this, device, type, guardfix::kw("copy", copy ? std::optional<bool>(true) : std::nullopt),
                         guardfix::kw("memory_format", format)}));
}
inline Tensor Tensor::to(TensorOptions options, bool, bool copy, std::optional<MemoryFormat> format) const {
  TORCH_CHECK(!options.requires_grad(), "to(options) expects unset requires_grad flag, but got options.requires_grad set as true");
  return to(options.device_opt().value_or(device()), options.dtype_opt().value_or(scalar_type()), false, copy,
            format.has_value() ? format : options.memory_format_opt());
}
inline Tensor Tensor::to(const Tensor& other, bool, bool copy, std::optional<MemoryFormat> format) const {
  return to(other.device(), other.scalar_type(), false, copy, format);
}

}  // namespace at
