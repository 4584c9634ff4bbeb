// at::Tensor: a handle to a tensor of the Python module. Long because it is one class.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/TensorAccessor.h>
#include <c10/core/Backend.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/core/SymInt.h>
#include <c10/core/TensorOptions.h>
#include <c10/util/Type.h>
#include <c10/util/accumulate.h>
#include <c10/util/intrusive_ptr.h>
#include <c10/util/irange.h>
#include <c10/util/llvmMathExtras.h>
#include <guardfix/call.h>
#include <torch/csrc/autograd/view_meta.h>

#include <atomic>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>

namespace c10 {
using TensorList = ArrayRef<at::Tensor>;
template <typename T>
class List;
}  // namespace c10

namespace torch::autograd {
class Node;
}

namespace at {
using namespace c10;  // NOLINT: as in PyTorch, at:: has everything that c10:: has
using TensorList = c10::TensorList;

namespace indexing {
class TensorIndex;
}

/// The version counter of a tensor, as `unsafeGetTensorImpl()->version_counter()` gives it.
class VersionCounter {
 public:
  explicit VersionCounter(guardfix::Object tensor) : tensor_(std::move(tensor)) {}
  /// Errors for an inference tensor, which has no version.
  uint32_t current_version() const {
    static const guardfix::Hook version{"version"};
    const guardfix::Object value = version({tensor_});
    const guardfix::Gil gil;
    return static_cast<uint32_t>(guardfix::as_integer(value.get(), "_version"));
  }

 private:
  guardfix::Object tensor_;
};

/// A pointer to the elements; they are Python's, so that there is no context of an allocator.
class DataPtr {
 public:
  explicit DataPtr(void* data) : data_(data) {}
  void* get() const { return data_; }
  void* mutable_get() const { return data_; }
  void* get_context() const { return nullptr; }
  Device device() const { return Device(kCPU); }
  explicit operator bool() const { return data_ != nullptr; }

 private:
  void* data_;
};

/// The memory that a tensor and its aliases share.
class Storage {
 public:
  Storage(guardfix::Object object, void* data, size_t nbytes)
      : object_(std::move(object)), data_(data), nbytes_(nbytes) {}
  const void* data() const { return data_; }
  void* mutable_data() const { return data_; }
  DataPtr data_ptr() const { return DataPtr(data_); }
  size_t nbytes() const { return nbytes_; }
  operator bool() const { return true; }
  bool is_alias_of(const Storage& other) const { return data_ == other.data_; }
  /// Python's storage, which keeps the memory.
  const guardfix::Object& object() const { return object_; }

 private:
  guardfix::Object object_;
  void* data_;
  size_t nbytes_;
};


/// One per Python tensor, shared by all handles to it.
class TensorImpl {
 public:
  TensorImpl(const TensorImpl&) = delete;
  TensorImpl& operator=(const TensorImpl&) = delete;
  ~TensorImpl();

  VersionCounter version_counter() const { return VersionCounter(guardfix::Object::borrow(object_)); }
  void bump_version() const {
    static const guardfix::Hook bump{"bump_version"};
    if (object_ != Py_None) bump({object_});
  }
  DispatchKeySet key_set() const;
  IntArrayRef sizes() const { return refreshed(sizes_, kSizes, "sizes"); }
  IntArrayRef strides() const { return refreshed(strides_, kStrides, "strides"); }
  ScalarType scalar_type() const;
  void* address() const;
  int64_t dim() const { return static_cast<int64_t>(sizes().size()); }
  int64_t numel() const {
    int64_t n = 1;
    for (int64_t size : sizes()) n *= size;
    return n;
  }
  bool is_inference() const { return !key_set().has(DispatchKey::ADInplaceOrView); }
  /// What is known of the tensor as a view; null when it is none.
  torch::autograd::DifferentiableViewMeta* autograd_meta() const;

  PyObject* object() const { return object_; }
  size_t use_count() const { return references_.load(); }

 private:
  friend class Tensor;
  TensorImpl(PyObject* object, TensorImpl* next) : object_(object), next_(next) { Py_INCREF(object_); }

  /// The one TensorImpl of a Python tensor, with one more reference. The caller holds the interpreter lock.
  static TensorImpl* of(PyObject* object) {
    TensorImpl*& first = bucket(object);
    for (TensorImpl* impl = first; impl != nullptr; impl = impl->next_) {
      if (impl->object_ != object) continue;
      int references = impl->references_.load();
      while (references > 0)  // at 0 its last handle is just letting go of it
        if (impl->references_.compare_exchange_weak(references, references + 1)) return impl;
    }
    first = new TensorImpl(object, first);
    return first;
  }
  /// That of all undefined tensors.
  static TensorImpl* undefined() {
    static TensorImpl* const impl = [] {
      const guardfix::Gil gil;
      return new TensorImpl(Py_None, nullptr);
    }();
    return impl;
  }
  void retain() { references_.fetch_add(1); }
  void release() {
    if (references_.fetch_sub(1) != 1) return;
    if (!Py_IsInitialized()) return;  // a static tensor outlives the interpreter
    const guardfix::Gil gil;
    TensorImpl** link = &bucket(object_);
    while (*link != this) link = &(*link)->next_;
    *link = next_;
    delete this;
  }
  /// All that there are, in a table of lists. (A std::unordered_map costs each program 50 ms of compiling.)
  static TensorImpl*& bucket(PyObject* object) {
    static TensorImpl* table[1024] = {};
    return table[(reinterpret_cast<uintptr_t>(object) >> 4) % 1024];
  }
  // Sizes, strides, type and address belong to the array behind a tensor. As long as it is the same array they are known
  // without Python and its lock: kernels ask for them in their inner loops.
  enum Known : int { kSizes = 1, kStrides = 2, kType = 4, kAddress = 8 };
  /// The array that the Python tensor has now, borrowed; null where tensors keep none (PyTorch's own).
  PyObject* array() const {
    const Py_ssize_t offset = slot_.load(std::memory_order_relaxed);
    return offset > 0 ? *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(object_) + offset) : nullptr;
  }
  bool knows(Known what) const {
    return (known_.load(std::memory_order_acquire) & what) != 0 && array() == array_.load(std::memory_order_relaxed);
  }
  /// Asks Python for `what`, under its lock, by `ask`; what was known of another array is forgotten.
  template <typename F>
  void learn(Known what, const F& ask) const {
    if (slot_ < 0) slot_ = guardfix::slot_of(object_, "_array");
    if (array() != array_) {
      known_ = 0;
      Py_XINCREF(array());  // while it is held, no other array has its address
      Py_XDECREF(array_.exchange(array()));
    }
    ask();
    if (array_ != nullptr) known_.fetch_or(what, std::memory_order_release);
  }
  /// The memory stays where it is while nothing changes, so that a view of it lasts.
  IntArrayRef refreshed(std::vector<int64_t>& values, Known what, const char* hook) const {
    if (knows(what)) return values;
    const guardfix::Gil gil;
    learn(what, [&] {
      auto now = guardfix::integers_of<int64_t>(guardfix::ask(hook, {object_}), hook);
      if (now != values) values = std::move(now);
    });
    return values;
  }

  PyObject* object_;
  std::atomic<int> references_{1};
  mutable std::atomic<Py_ssize_t> slot_{-1};  // where in the Python object its array is; 0: nowhere
  mutable std::atomic<PyObject*> array_{nullptr};  // owned
  mutable std::atomic<int> known_{0};
  mutable std::vector<int64_t> sizes_, strides_;
  mutable ScalarType type_ = ScalarType::Undefined;
  mutable void* address_ = nullptr;
  mutable Tensor* grad_ = nullptr;  // owned; what grad() last gave a reference to
  mutable torch::autograd::DifferentiableViewMeta view_meta_{object_};
  TensorImpl* next_;  // in the same bucket
};

/// What `Tensor::type()` gives.
class DeprecatedTypeProperties {
 public:
  explicit DeprecatedTypeProperties(TensorOptions options) : options_(std::move(options)) {}
  ScalarType scalarType() const { return options_.dtype().toScalarType(); }
  bool is_cuda() const { return false; }
  bool is_sparse() const { return false; }
  DeviceType device_type() const { return kCPU; }
  Backend backend() const { return Backend::CPU; }
  inline DeprecatedTypeProperties& toScalarType(ScalarType type) const;
  TensorOptions options() const { return options_; }
  std::string toString() const { return c10::str("CPU", scalarType(), "Type"); }
  operator ScalarType() const { return scalarType(); }
  operator TensorOptions() const { return options_; }
  bool operator==(const DeprecatedTypeProperties& other) const { return scalarType() == other.scalarType(); }
  bool operator!=(const DeprecatedTypeProperties& other) const { return !(*this == other); }

 private:
  TensorOptions options_;
};

/// The type of tensors on the CPU: `at::empty({2}, at::CPU(at::kFloat))`. There is one object for each.
inline DeprecatedTypeProperties& CPU(ScalarType type) {
  static auto& types = *new std::map<ScalarType, DeprecatedTypeProperties>();
  static auto& mutex = *new std::mutex();
  const std::lock_guard<std::mutex> lock(mutex);
  return types.try_emplace(type, TensorOptions().dtype(type)).first->second;
}
inline DeprecatedTypeProperties& DeprecatedTypeProperties::toScalarType(ScalarType type) const { return CPU(type); }

/// What `Tensor::mutable_grad()` gives: the gradient, which can be assigned to.
class GradSlot;

class Tensor;
/// PyTorch's tensor without the ops; here there is one class.
using TensorBase = Tensor;

class Tensor {
 public:
  Tensor() {}
  Tensor(const Tensor& other) : impl_(other.impl_) {
    if (impl_ != nullptr) impl_->retain();
  }
  Tensor(Tensor&& other) noexcept : impl_(std::exchange(other.impl_, nullptr)) {}
  ~Tensor() { reset(); }

  /// A handle to a Python tensor; None gives an undefined tensor.
  static Tensor from_python(const guardfix::Object& object) {
    Tensor tensor;
    if (!object || object.get() == Py_None) return tensor;
    const guardfix::Gil gil;
    tensor.impl_ = TensorImpl::of(object.get());
    return tensor;
  }

  // A name is rebound, an element is written: `t = u` and `t[0] = u` are different operators.
  Tensor& operator=(const Tensor& other) & {
    Tensor copy(other);
    std::swap(impl_, copy.impl_);
    return *this;
  }
  Tensor& operator=(Tensor&& other) & noexcept {
    std::swap(impl_, other.impl_);
    return *this;
  }
  Tensor& operator=(const Scalar& value) && { return fill_(value); }
  Tensor& operator=(const Tensor& other) && { return copy_(other); }
  Tensor& operator=(Tensor&& other) && { return copy_(other); }

  // ---- identity
  bool defined() const { return impl_ != nullptr; }
  void reset() {
    if (impl_ != nullptr) std::exchange(impl_, nullptr)->release();
  }
  /// A function called with this tensor first: `tensor.m(at::relu)`.
  template <typename Function, typename... Args>
  decltype(auto) m(Function function, Args&&... args) const {
    return function(*this, std::forward<Args>(args)...);
  }
  bool is_same(const Tensor& other) const noexcept { return impl_ == other.impl_; }
  size_t use_count() const noexcept { return impl_ == nullptr ? 0 : impl_->use_count(); }
  TensorImpl* unsafeGetTensorImpl() const { return defined() ? impl_ : TensorImpl::undefined(); }

  // ---- shape and type
  IntArrayRef sizes() const { return defined() ? impl().sizes() : IntArrayRef(undefined_sizes, 1); }
  IntArrayRef strides() const {
    TORCH_CHECK(defined(), "strides() called on an undefined Tensor");
    return impl().strides();
  }
  int64_t dim() const { return static_cast<int64_t>(sizes().size()); }
  int64_t ndimension() const { return dim(); }
  int64_t numel() const { return defined() ? impl().numel() : 0; }
  int64_t size(int64_t dim) const { return sizes()[wrapped(dim)]; }
  int64_t stride(int64_t dim) const { return strides()[wrapped(dim)]; }
  SymInt sym_size(int64_t dim) const { return size(dim); }
  SymIntArrayRef sym_sizes() const { return fromIntArrayRefSlow(sizes()); }
  SymIntArrayRef sym_strides() const { return fromIntArrayRefSlow(strides()); }
  SymInt sym_stride(int64_t dim) const { return stride(dim); }
  SymInt sym_numel() const { return numel(); }
  int64_t storage_offset() const { return integer("storage_offset"); }
  ScalarType scalar_type() const;
  caffe2::TypeMeta dtype() const { return caffe2::TypeMeta(scalar_type()); }
  Device device() const {
    impl();
    return kCPU;
  }
  DeviceIndex get_device() const { return device().index(); }
  Layout layout() const { return kStrided; }
  TensorOptions options() const { return TensorOptions().dtype(dtype()).device(device()).layout(layout()); }
  size_t itemsize() const { return elementSize(scalar_type()); }
  int64_t element_size() const { return static_cast<int64_t>(itemsize()); }
  size_t nbytes() const { return static_cast<size_t>(numel()) * itemsize(); }
  bool is_contiguous(MemoryFormat format = MemoryFormat::Contiguous) const;
  Tensor contiguous(MemoryFormat format = MemoryFormat::Contiguous) const;
  bool is_non_overlapping_and_dense() const { return is_contiguous(); }
  /// How the elements lie: channels last, or contiguous for everything else.
  MemoryFormat suggest_memory_format(bool = false) const;
  bool is_floating_point() const { return isFloatingType(scalar_type()); }
  bool is_complex() const { return isComplexType(scalar_type()); }
  bool is_signed() const { return isSignedType(scalar_type()); }
  bool is_cpu() const { return true; }
  bool is_cuda() const { return false; }
  bool is_sparse() const { return false; }
  bool is_quantized() const { return false; }
  bool is_meta() const { return false; }
  bool is_mps() const { return false; }
  bool is_xpu() const { return false; }
  bool is_mkldnn() const { return false; }
  bool is_nested() const { return false; }
  bool is_conj() const { return false; }  // conjugates are computed at once
  bool is_neg() const { return false; }
  bool is_pinned() const { return false; }
  bool has_storage() const { return defined(); }
  /// The memory of this tensor and of those that share it.
  Storage storage() const;
  bool has_names() const { return false; }
  /// The type as the first versions had it: what a scalar type, a device and options are now.
  DeprecatedTypeProperties& type() const { return CPU(scalar_type()); }
  bool is_alias_of(const Tensor& other) const {
    TORCH_CHECK(defined() && other.defined(), "Cannot access storage of UndefinedTensorImpl");
    return truth("is_alias_of", other);
  }
  std::string toString() const { return defined() ? c10::str("CPU", scalar_type(), "Type") : "UndefinedType"; }
  void print() const;

  // ---- elements
  template <typename T>
  T item() const {
    return item().to<T>();
  }
  Scalar item() const;
  void* data_ptr() const { return address(); }
  template <typename T>
  C10_DEPRECATED_MESSAGE("Tensor.data<T>() is deprecated. Please use Tensor.data_ptr<T>() instead.")
  T* data() const {
    return data_ptr<T>();
  }
  /// The elements; an error when they are not of type T.
  template <typename T>
  T* data_ptr() const {
    require_type<std::remove_const_t<T>>();
    return static_cast<T*>(address());
  }
  const void* const_data_ptr() const { return address(); }
  template <typename T>
  const T* const_data_ptr() const {
    return data_ptr<std::remove_const_t<T>>();
  }
  void* mutable_data_ptr() const { return address(); }
  template <typename T>
  T* mutable_data_ptr() const {
    return data_ptr<T>();
  }
  template <typename T, size_t N>
  TensorAccessor<T, N> accessor() const& {
    static_assert(N > 0, "accessor is used for indexing tensor, for scalars use *data_ptr<T>()");
    TORCH_CHECK(dim() == static_cast<int64_t>(N), "TensorAccessor expected ", N, " dims but tensor has ", dim());
    return TensorAccessor<T, N>(data_ptr<T>(), sizes().data(), strides().data());
  }
  template <typename T, size_t N>
  TensorAccessor<T, N> accessor() && = delete;  // its elements would be gone at the semicolon
  /// As `accessor`, with sizes and strides of its own, as kernels for GPUs take it.
  template <typename T, size_t N, template <typename> class PtrTraits = DefaultPtrTraits, typename index_t = int64_t>
  GenericPackedTensorAccessor<T, N, PtrTraits, index_t> generic_packed_accessor() const& {
    static_assert(N > 0, "accessor is used for indexing tensor, for scalars use *data_ptr<T>()");
    TORCH_CHECK(dim() == static_cast<int64_t>(N), "TensorAccessor expected ", N, " dims but tensor has ", dim());
    return {data_ptr<T>(), sizes().data(), strides().data()};
  }
  template <typename T, size_t N, template <typename> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor32<T, N, PtrTraits> packed_accessor32() const& {
    TORCH_CHECK(numel() <= std::numeric_limits<int32_t>::max(), "numel needs to be smaller than int32_t max; ",
                "otherwise, please use packed_accessor64");
    return generic_packed_accessor<T, N, PtrTraits, int32_t>();
  }
  template <typename T, size_t N, template <typename> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor32<T, N, PtrTraits> packed_accessor32() && = delete;
  template <typename T, size_t N, template <typename> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor64<T, N, PtrTraits> packed_accessor64() const& {
    return generic_packed_accessor<T, N, PtrTraits, int64_t>();
  }
  template <typename T, size_t N, template <typename> class PtrTraits = DefaultPtrTraits>
  PackedTensorAccessor64<T, N, PtrTraits> packed_accessor64() && = delete;
  template <typename T, size_t N, template <typename> class PtrTraits = DefaultPtrTraits, typename index_t = int64_t>
  GenericPackedTensorAccessor<T, N, PtrTraits, index_t> packed_accessor() const& {
    return generic_packed_accessor<T, N, PtrTraits, index_t>();
  }

  // ---- autograd
  bool requires_grad() const { return defined() && truth("requires_grad"); }
  const Tensor& set_requires_grad(bool requires_grad) const;
  const Tensor& requires_grad_(bool requires_grad = true) const { return set_requires_grad(requires_grad); }
  bool is_leaf() const { return check_autograd_meta().truth("is_leaf"); }
  bool is_view() const { return check_autograd_meta().truth("is_view"); }
  /// Empty: the shim's tensors have no names.
  std::string name() const {
    TORCH_CHECK(defined(), "undefined tensor has no name");
    return "";
  }
  bool is_same_size(const Tensor& other) const { return impl().sizes() == other.impl().sizes(); }
  bool is_inference() const { return defined() && truth("is_inference"); }
  bool retains_grad() const { return truth("retains_grad"); }
  void retain_grad() const;
  int64_t output_nr() const { return integer("output_nr"); }
  int64_t _version() const { return defined() ? integer("version") : 0; }
  Tensor _base() const;
  std::shared_ptr<torch::autograd::Node> grad_fn() const;
  const Tensor& grad() const;
  GradSlot mutable_grad() const;
  void backward(const Tensor& gradient = {}, std::optional<bool> retain_graph = std::nullopt,
                bool create_graph = false, std::optional<TensorList> inputs = std::nullopt) const;
  Tensor data() const;
  Tensor variable_data() const { return data(); }
  Tensor tensor_data() const { return data(); }
  void set_data(const Tensor& new_data) const;
  /// `hook(grad)` sees the gradient of this tensor; what it returns, if anything, takes its place.
  template <typename Hook>
  unsigned register_hook(Hook&& hook) const;
  void remove_hook(unsigned position) const;
  DispatchKeySet key_set() const { return impl().key_set(); }

  // ---- indexing
  Tensor operator[](int64_t index) const { return select(0, index); }
  Tensor operator[](const Scalar& index) const;
  Tensor operator[](const Tensor& index) const;
  Tensor index(ArrayRef<indexing::TensorIndex> indices) const;
  Tensor index(std::initializer_list<indexing::TensorIndex> indices) const;
  Tensor index(const c10::List<std::optional<Tensor>>& indices) const;
  Tensor& index_put_(const c10::List<std::optional<Tensor>>& indices, const Tensor& values, bool accumulate = false);
  Tensor& index_put_(ArrayRef<indexing::TensorIndex> indices, const Tensor& values);
  Tensor& index_put_(std::initializer_list<indexing::TensorIndex> indices, const Tensor& values);
  Tensor& index_put_(ArrayRef<indexing::TensorIndex> indices, const Scalar& value);
  Tensor& index_put_(std::initializer_list<indexing::TensorIndex> indices, const Scalar& value);

  /// A copy with the values at the indices written.
  Tensor index_put(const c10::List<std::optional<Tensor>>& indices, const Tensor& values, bool accumulate = false) const;

  /// This tensor's elements where the condition holds, the other's elsewhere.
  Tensor where(const Tensor& condition, const Tensor& other) const;
  Tensor where(const Tensor& condition, const Scalar& other) const;

  // ---- conversion
  Tensor to(ScalarType type, bool non_blocking = false, bool copy = false,
            std::optional<MemoryFormat> memory_format = std::nullopt) const;
  Tensor to(Device device, ScalarType type, bool non_blocking = false, bool copy = false,
            std::optional<MemoryFormat> memory_format = std::nullopt) const;
  Tensor to(Device device, caffe2::TypeMeta type, bool non_blocking = false, bool copy = false,
            std::optional<MemoryFormat> memory_format = std::nullopt) const {
    return to(device, type.toScalarType(), non_blocking, copy, memory_format);
  }
  Tensor to(TensorOptions options = {}, bool non_blocking = false, bool copy = false,
            std::optional<MemoryFormat> memory_format = std::nullopt) const;
  Tensor to(const Tensor& other, bool non_blocking = false, bool copy = false,
            std::optional<MemoryFormat> memory_format = std::nullopt) const;
  // New tensors of this one's type, unless the options say otherwise.
  Tensor new_empty(IntArrayRef size, const TensorOptions& options = {}) const { return made("empty", size, options); }
  Tensor new_zeros(IntArrayRef size, const TensorOptions& options = {}) const { return made("zeros", size, options); }
  Tensor new_ones(IntArrayRef size, const TensorOptions& options = {}) const { return made("ones", size, options); }
  Tensor new_full(IntArrayRef size, const Scalar& value, const TensorOptions& options = {}) const;
  Tensor new_empty_symint(c10::SymIntArrayRef size, const TensorOptions& options = {}) const {
    return new_empty(asIntArrayRefUnchecked(size), options);
  }
  Tensor new_zeros_symint(c10::SymIntArrayRef size, const TensorOptions& options = {}) const {
    return new_zeros(asIntArrayRefUnchecked(size), options);
  }
  Tensor new_ones_symint(c10::SymIntArrayRef size, const TensorOptions& options = {}) const {
    return new_ones(asIntArrayRefUnchecked(size), options);
  }
  Tensor toType(ScalarType type) const { return to(type); }
  Tensor cpu() const { return to(kCPU); }
  Tensor toBackend(Backend backend) const {
    TORCH_CHECK_NOT_IMPLEMENTED(backend == Backend::CPU, "the shim has tensors on the CPU alone");
    return cpu();
  }
  Tensor cuda() const { return to(kCUDA); }

  // ---- operators
  Tensor operator-() const { return neg(); }
  Tensor operator~() const { return bitwise_not(); }
  Tensor& operator+=(const Tensor& other) { return add_(other); }
  Tensor& operator+=(const Scalar& other) { return add_(other); }
  Tensor& operator-=(const Tensor& other) { return sub_(other); }
  Tensor& operator-=(const Scalar& other) { return sub_(other); }
  Tensor& operator*=(const Tensor& other) { return mul_(other); }
  Tensor& operator*=(const Scalar& other) { return mul_(other); }
  Tensor& operator/=(const Tensor& other) { return div_(other); }
  Tensor& operator/=(const Scalar& other) { return div_(other); }
  Tensor& operator&=(const Tensor& other) { return bitwise_and_(other); }
  Tensor& operator|=(const Tensor& other) { return bitwise_or_(other); }
  Tensor& operator^=(const Tensor& other) { return bitwise_xor_(other); }

  // ---- the ops, as methods
#define GUARDFIX_METHOD_CALLING(Callable, kind, name, parameters, arguments) \
  GUARDFIX_RESULT_##kind name parameters const {                             \
    using guardfix::kw, guardfix::kw_unless;                                 \
    static const guardfix::Callable op{#name};                               \
    GUARDFIX_RETURN_##kind(*this, op({*this GUARDFIX_SPREAD arguments}))     \
  }
#define GUARDFIX_OP(...) GUARDFIX_METHOD_CALLING(Op, __VA_ARGS__)
#define GUARDFIX_METHOD(...) GUARDFIX_METHOD_CALLING(Op, __VA_ARGS__)
#define GUARDFIX_OP_WITH_NUMBER(...) GUARDFIX_METHOD_CALLING(ScalarOp, __VA_ARGS__)
#include <ATen/core/ops.def>
#undef GUARDFIX_METHOD_CALLING
#define GUARDFIX_SYMINT_METHOD(kind, name, parameters, arguments)        \
  GUARDFIX_RESULT_##kind name##_symint parameters const {                \
    static const guardfix::Op op{#name};                                 \
    GUARDFIX_RETURN_##kind(*this, op({*this GUARDFIX_SPREAD arguments})) \
  }
#define GUARDFIX_SYMINT(...) GUARDFIX_SYMINT_METHOD(__VA_ARGS__)
#include <ATen/core/symint_ops.def>

 private:
  friend class TensorImpl;
  static constexpr int64_t undefined_sizes[] = {0};

  TensorImpl& impl() const {
    TORCH_CHECK(impl_ != nullptr, "tensor does not have a device");
    return *impl_;
  }
  const Tensor& check_autograd_meta() const {
    TORCH_CHECK(defined(), "cannot call get_autograd_meta() on undefined tensor");
    return *this;
  }
  size_t wrapped(int64_t dim) const {
    const int64_t n = this->dim();
    TORCH_CHECK_INDEX(n != 0, "Dimension specified as ", dim, " but tensor has no dimensions");
    TORCH_CHECK_INDEX(dim >= -n && dim < n, "Dimension out of range (expected to be in range of [", -n, ", ", n - 1,
                      "], but got ", dim, ")");
    return static_cast<size_t>(dim < 0 ? dim + n : dim);
  }
  template <typename T>
  void require_type() const {
    TORCH_CHECK(scalar_type() == CppTypeToScalarType<T>::value, "expected scalar type ",
                CppTypeToScalarType<T>::value, " but found ", scalar_type());
  }
  Tensor made(const char* factory, IntArrayRef size, const TensorOptions& options) const;
  bool truth(const char* hook) const;
  bool truth(const char* hook, const Tensor& other) const;
  int64_t integer(const char* hook) const;
  void* address() const { return impl().address(); }

  TensorImpl* impl_ = nullptr;
};

class GradSlot : public Tensor {
 public:
  GradSlot(Tensor owner, const Tensor& grad) : Tensor(grad), owner_(std::move(owner)) {}
  GradSlot& operator=(const Tensor& grad) {
    Tensor::operator=(grad);
    store();
    return *this;
  }
  void reset() { *this = Tensor(); }

 private:
  void store() const;
  Tensor owner_;
};

/// Either holds a tensor or none; converts to what it holds. What ops with an optional tensor take.
using OptionalTensor = std::optional<Tensor>;

}  // namespace at

namespace guardfix {

inline PyObject* object_of(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.unsafeGetTensorImpl()->object() : nullptr;
}

/// Raises what PyTorch says of an undefined tensor that is to hold this result of the op.
inline void refuse_out(const char* name, const Object& result) {
  static const Hook refuse{"refuse_undefined_out"};
  const Gil gil;
  refuse({name, result});
}

inline bool Arg::is_undefined_tensor() const {
  return kind_ == Kind::tensor && !static_cast<const at::Tensor*>(pointer_)->defined();
}

inline Object Arg::python() const {
  const auto tensor = [](const at::Tensor& t) {
    PyObject* object = object_of(t);
    return Object::borrow(object == nullptr ? Py_None : object);
  };
  switch (kind_) {
    case Kind::tensor:
      return tensor(*static_cast<const at::Tensor*>(pointer_));
    case Kind::scalar:
      return number(*static_cast<const c10::Scalar*>(pointer_));
    case Kind::integer:
      return Object::steal(PyLong_FromLongLong(integer_));
    case Kind::real:
      return Object::steal(PyFloat_FromDouble(real_));
    case Kind::boolean:
      return Object::steal(PyBool_FromLong(integer_ != 0));
    case Kind::text:
      return Object::steal(
          PyUnicode_FromStringAndSize(static_cast<const char*>(pointer_), static_cast<Py_ssize_t>(size_)));
    case Kind::dtype:
      return dtype_object(static_cast<c10::ScalarType>(integer_));
    case Kind::memory_format:
      return checked(PyObject_CallMethod(backend(), "memory_format", "i", static_cast<int>(integer_)), "memory_format");
    case Kind::device: {
      const std::string name = static_cast<const c10::Device*>(pointer_)->str();
      return Object::steal(PyUnicode_FromStringAndSize(name.data(), static_cast<Py_ssize_t>(name.size())));
    }
    case Kind::integers:
      return list_of(static_cast<const int64_t*>(pointer_), size_,
                     [](int64_t i) { return Object::steal(PyLong_FromLongLong(i)); });
    case Kind::reals:
      return list_of(static_cast<const double*>(pointer_), size_,
                     [](double x) { return Object::steal(PyFloat_FromDouble(x)); });
    case Kind::tensors:
      return list_of(static_cast<const at::Tensor*>(pointer_), size_, tensor);
    case Kind::object:
      return Object::borrow(static_cast<PyObject*>(const_cast<void*>(pointer_)));
    default:
      return Object::borrow(Py_None);
  }
}

inline std::vector<at::Tensor> tensors_of(const Object& sequence) {
  const Gil gil;
  const Object fast = checked(PySequence_Fast(sequence.get(), "expected tensors"), "tensors");
  std::vector<at::Tensor> tensors;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast.get()); ++i)
    tensors.push_back(at::Tensor::from_python(Object::borrow(PySequence_Fast_GET_ITEM(fast.get(), i))));
  return tensors;
}

inline std::tuple<at::Tensor, at::Tensor> pair_of(const Object& sequence) {
  std::vector<at::Tensor> both = tensors_of(sequence);
  TORCH_INTERNAL_ASSERT(both.size() == 2, "an op gave ", both.size(), " tensors where two were expected");
  return {both[0], both[1]};
}

inline std::tuple<at::Tensor, at::Tensor, at::Tensor> triple_of(const Object& sequence) {
  std::vector<at::Tensor> all = tensors_of(sequence);
  TORCH_INTERNAL_ASSERT(all.size() == 3, "an op gave ", all.size(), " tensors where three were expected");
  return {all[0], all[1], all[2]};
}

inline bool truth_of(const Object& value) {
  const Gil gil;
  return as_bool(value.get(), "bool");
}

}  // namespace guardfix

#include <ATen/core/Tensor_inl.h>
