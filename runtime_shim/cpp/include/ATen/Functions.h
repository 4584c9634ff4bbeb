// The ops as functions: at::add(a, b), at::cat({a, b}), at::ones({2, 3}), at::mul_out(out, a, b).
#pragma once

#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>

namespace at {

/// How a loss of many elements becomes one number.
namespace Reduction {
enum Reduction { None, Mean, Sum, END };
inline const char* name(int64_t reduction) {
  const char* const names[] = {"none", "mean", "sum"};
  TORCH_CHECK(reduction >= 0 && reduction < END, "there is no reduction ", reduction);
  return names[reduction];
}
}  // namespace Reduction

#define GUARDFIX_FUNCTION_CALLING(Callable, kind, name, parameters, arguments)                  \
  inline GUARDFIX_RESULT_##kind name(GUARDFIX_SELF_##kind self GUARDFIX_SPREAD parameters) {    \
    using guardfix::kw, guardfix::kw_unless;                                                    \
    static const guardfix::Callable op{#name};                                                  \
    GUARDFIX_RETURN_##kind(self, op({self GUARDFIX_SPREAD arguments}))                          \
  }
#define GUARDFIX_SELF_FRESH const Tensor&
#define GUARDFIX_SELF_PLAIN const Tensor&
#define GUARDFIX_SELF_MANY const Tensor&
#define GUARDFIX_SELF_PAIR const Tensor&
#define GUARDFIX_SELF_TRIPLE const Tensor&
#define GUARDFIX_SELF_TRUTH const Tensor&
#define GUARDFIX_SELF_SELF Tensor&
#define GUARDFIX_OP(...) GUARDFIX_FUNCTION_CALLING(Op, __VA_ARGS__)
#define GUARDFIX_OP_WITH_NUMBER(...) GUARDFIX_FUNCTION_CALLING(ScalarOp, __VA_ARGS__)
#define GUARDFIX_METHOD(...)
#include <ATen/core/ops.def>
#define GUARDFIX_SYMINT(kind, name, parameters, arguments)                                            \
  inline GUARDFIX_RESULT_##kind name##_symint(GUARDFIX_SELF_##kind self GUARDFIX_SPREAD parameters) { \
    static const guardfix::Op op{#name};                                                              \
    GUARDFIX_RETURN_##kind(self, op({self GUARDFIX_SPREAD arguments}))                                \
  }
#define GUARDFIX_SYMINT_METHOD(...)
#include <ATen/core/symint_ops.def>

// ---- functions without a self
#define GUARDFIX_FUNCTION(kind, name, parameters, arguments)  \
  inline GUARDFIX_RESULT_##kind name parameters {             \
    using guardfix::kw;                                       \
    static const guardfix::Op op{#name, "function"};          \
    GUARDFIX_RETURN_##kind(self, op({GUARDFIX_UNPACK arguments})) \
  }
#define GUARDFIX_UNPACK(...) __VA_ARGS__
inline Tensor empty(IntArrayRef size, const TensorOptions& options);
/// What is joined. An undefined tensor counts as an empty one, except in the first place.
inline std::vector<Tensor> joined(TensorList tensors) {
  std::vector<Tensor> found(tensors.begin(), tensors.end());
  TORCH_CHECK(found.empty() || found[0].defined(), "tensor does not have a device");
  for (auto& tensor : found)
    if (!tensor.defined()) tensor = empty({0}, found[0].options());
  return found;
}
GUARDFIX_FUNCTION(FRESH, cat, (TensorList tensors, int64_t dim = 0), (joined(tensors), dim))
GUARDFIX_FUNCTION(FRESH, stack, (TensorList tensors, int64_t dim = 0), (joined(tensors), dim))
GUARDFIX_FUNCTION(MANY, meshgrid, (TensorList tensors), (tensors))
GUARDFIX_FUNCTION(MANY, meshgrid, (TensorList tensors, std::string_view indexing), (tensors, kw("indexing", indexing)))
inline Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other) {
  static const guardfix::Op op{"where", "function"};
  TORCH_CHECK(self.defined() && other.defined(), "Expected a proper Tensor but got None (or an undefined Tensor in C++)");
  return Tensor::from_python(op({condition, self, other}));
}
GUARDFIX_FUNCTION(FRESH, where, (const Tensor& condition, const Tensor& self, const Scalar& other),
                  (condition, self, other))
GUARDFIX_FUNCTION(FRESH, where, (const Tensor& condition, const Scalar& self, const Tensor& other),
                  (condition, self, other))
GUARDFIX_FUNCTION(FRESH, where, (const Tensor& condition, const Scalar& self, const Scalar& other),
                  (condition, self, other))
GUARDFIX_FUNCTION(MANY, where, (const Tensor& condition), (condition))
GUARDFIX_FUNCTION(FRESH, einsum,
                  (std::string_view equation, TensorList tensors, OptionalIntArrayRef = std::nullopt),
                  (equation, tensors))
// A number first.
#define GUARDFIX_OF_NUMBER(name) \
  GUARDFIX_FUNCTION(FRESH, name, (const Scalar& self, const Tensor& other), (self, other))
GUARDFIX_OF_NUMBER(pow)
GUARDFIX_OF_NUMBER(bitwise_and)
GUARDFIX_OF_NUMBER(bitwise_left_shift)
GUARDFIX_OF_NUMBER(bitwise_or)
GUARDFIX_OF_NUMBER(bitwise_right_shift)
GUARDFIX_OF_NUMBER(bitwise_xor)
GUARDFIX_OF_NUMBER(float_power)
GUARDFIX_OF_NUMBER(remainder)
GUARDFIX_OF_NUMBER(xlogy)
#undef GUARDFIX_OF_NUMBER
GUARDFIX_FUNCTION(FRESH, real, (const Tensor& self), (self))
GUARDFIX_FUNCTION(FRESH, imag, (const Tensor& self), (self))
GUARDFIX_FUNCTION(FRESH, view_as_real, (const Tensor& self), (self))
GUARDFIX_FUNCTION(FRESH, view_as_complex, (const Tensor& self), (self))
GUARDFIX_FUNCTION(FRESH, repeat_interleave, (const Tensor& repeats, std::optional<int64_t> output_size = std::nullopt),
                  (repeats, kw("output_size", output_size)))
GUARDFIX_FUNCTION(TRIPLE, unique_dim,
                  (const Tensor& self, int64_t dim, bool sorted = true, bool return_inverse = false,
                   bool return_counts = false),
                  (self, dim, sorted, return_inverse, return_counts))
GUARDFIX_FUNCTION(TRIPLE, unique_consecutive,
                  (const Tensor& self, bool return_inverse = false, bool return_counts = false,
                   std::optional<int64_t> dim = std::nullopt),
                  (self, return_inverse, return_counts, dim))
GUARDFIX_FUNCTION(TRIPLE, unique_dim_consecutive,
                  (const Tensor& self, int64_t dim, bool return_inverse = false, bool return_counts = false),
                  (self, dim, return_inverse, return_counts))
GUARDFIX_FUNCTION(TRIPLE, _unique2,
                  (const Tensor& self, bool sorted = true, bool return_inverse = false, bool return_counts = false),
                  (self, sorted, return_inverse, return_counts))
GUARDFIX_FUNCTION(PAIR, _unique, (const Tensor& self, bool sorted = true, bool return_inverse = false),
                  (self, sorted, return_inverse))
#define GUARDFIX_BINS(Value)                                                                                       \
  GUARDFIX_FUNCTION(FRESH, bucketize,                                                                              \
                    (const Value& self, const Tensor& boundaries, bool out_int32 = false, bool right = false),     \
                    (self, boundaries, kw("out_int32", out_int32), kw("right", right)))                            \
  GUARDFIX_FUNCTION(FRESH, searchsorted,                                                                           \
                    (const Tensor& sorted_sequence, const Value& self, bool out_int32 = false, bool right = false, \
                     std::optional<std::string_view> side = std::nullopt,                                         \
                     const std::optional<Tensor>& sorter = {}),                                                    \
                    (sorted_sequence, self, kw("out_int32", out_int32), kw("right", right), kw("side", side),      \
                     kw("sorter", sorter)))
GUARDFIX_BINS(Tensor)
GUARDFIX_BINS(Scalar)
#undef GUARDFIX_BINS
#define GUARDFIX_IS_IN(Elements, Tested, tested)                                                                   \
  GUARDFIX_FUNCTION(FRESH, isin,                                                                                   \
                    (const Elements& elements, const Tested& tested, bool assume_unique = false, bool invert = false), \
                    (elements, tested, kw("assume_unique", assume_unique), kw("invert", invert)))
GUARDFIX_IS_IN(Tensor, Tensor, test_elements)
GUARDFIX_IS_IN(Tensor, Scalar, test_element)
GUARDFIX_IS_IN(Scalar, Tensor, test_elements)
#undef GUARDFIX_IS_IN
GUARDFIX_FUNCTION(FRESH, hstack, (TensorList tensors), (tensors))
GUARDFIX_FUNCTION(FRESH, vstack, (TensorList tensors), (tensors))
GUARDFIX_FUNCTION(FRESH, concat, (TensorList tensors, int64_t dim = 0), (tensors, dim))
GUARDFIX_FUNCTION(FRESH, concatenate, (TensorList tensors, int64_t dim = 0), (tensors, dim))
GUARDFIX_FUNCTION(FRESH, tensordot,
                  (const Tensor& self, const Tensor& other, IntArrayRef dims_self, IntArrayRef dims_other),
                  (self, other, dims_self, dims_other))
GUARDFIX_FUNCTION(FRESH, complex, (const Tensor& real, const Tensor& imag), (real, imag))
GUARDFIX_FUNCTION(FRESH, polar, (const Tensor& abs, const Tensor& angle), (abs, angle))
GUARDFIX_FUNCTION(FRESH, polygamma, (int64_t n, const Tensor& self), (n, self))
GUARDFIX_FUNCTION(FRESH, poisson, (const Tensor& self, std::optional<Generator> generator = std::nullopt),
                  (self, kw("generator", generator)))
GUARDFIX_FUNCTION(FRESH, binomial,
                  (const Tensor& count, const Tensor& prob, std::optional<Generator> generator = std::nullopt),
                  (count, prob, kw("generator", generator)))
#define GUARDFIX_AT_LEAST(name)                                         \
  GUARDFIX_FUNCTION(FRESH, name, (const Tensor& self), (self))          \
  GUARDFIX_FUNCTION(MANY, name, (TensorList tensors), (tensors))
GUARDFIX_AT_LEAST(atleast_1d)
GUARDFIX_AT_LEAST(atleast_2d)
GUARDFIX_AT_LEAST(atleast_3d)
#undef GUARDFIX_AT_LEAST
#define GUARDFIX_FROM(Other)                                                                              \
  GUARDFIX_FUNCTION(FRESH, rsub, (const Tensor& self, const Other& other, const Scalar& alpha = 1),      \
                    (self, other, guardfix::kw_unless("alpha", 1, alpha)))
GUARDFIX_FROM(Tensor)
GUARDFIX_FROM(Scalar)
#undef GUARDFIX_FROM
#define GUARDFIX_NORMAL(Mean, Std)                                                                           \
  GUARDFIX_FUNCTION(FRESH, normal, (Mean mean, Std std, std::optional<Generator> generator = std::nullopt),  \
                    (mean, std, kw("generator", generator)))
GUARDFIX_NORMAL(const Tensor&, const Tensor&)
GUARDFIX_NORMAL(double, const Tensor&)
#undef GUARDFIX_NORMAL
GUARDFIX_FUNCTION(FRESH, normal,
                  (const Tensor& mean, double std = 1, std::optional<Generator> generator = std::nullopt),
                  (mean, std, kw("generator", generator)))
GUARDFIX_FUNCTION(MANY, broadcast_tensors, (TensorList tensors), (tensors))
GUARDFIX_FUNCTION(FRESH, frobenius_norm, (const Tensor& self, IntArrayRef dim, bool keepdim = false), (self, dim, keepdim))
#include <ATen/layer_functions.def>
#define GUARDFIX_LINALG(kind, name, parameters, arguments) GUARDFIX_FUNCTION(kind, linalg_##name, parameters, arguments)
#include <ATen/linalg_functions.def>
// Fourier transforms along one dimension, and along several.
#define GUARDFIX_TRANSFORM(name)                                                                                  \
  GUARDFIX_FUNCTION(FRESH, name,                                                                                  \
                    (const Tensor& self, std::optional<int64_t> n = std::nullopt, int64_t dim = -1,               \
                     std::optional<std::string_view> norm = std::nullopt),                                       \
                    (self, n, dim, norm))
#define GUARDFIX_TRANSFORMS(name)                                                                                 \
  GUARDFIX_FUNCTION(FRESH, name,                                                                                  \
                    (const Tensor& self, OptionalIntArrayRef s = std::nullopt,                                    \
                     OptionalIntArrayRef dim = std::nullopt, std::optional<std::string_view> norm = std::nullopt), \
                    (self, s, dim, norm))
GUARDFIX_TRANSFORM(fft_fft)
GUARDFIX_TRANSFORM(fft_ifft)
GUARDFIX_TRANSFORM(fft_rfft)
GUARDFIX_TRANSFORM(fft_irfft)
GUARDFIX_TRANSFORMS(fft_fftn)
GUARDFIX_TRANSFORMS(fft_ifftn)
GUARDFIX_TRANSFORMS(fft_rfftn)
GUARDFIX_TRANSFORMS(fft_irfftn)
#undef GUARDFIX_TRANSFORM
#undef GUARDFIX_TRANSFORMS
#define GUARDFIX_TRANSFORM_OF_PLANES(name)                                                                        \
  GUARDFIX_FUNCTION(FRESH, name,                                                                                  \
                    (const Tensor& self, OptionalIntArrayRef s = std::nullopt, IntArrayRef dim = {-2, -1},        \
                     std::optional<std::string_view> norm = std::nullopt),                                       \
                    (self, s, dim, norm))
GUARDFIX_TRANSFORM_OF_PLANES(fft_fft2)
GUARDFIX_TRANSFORM_OF_PLANES(fft_ifft2)
GUARDFIX_TRANSFORM_OF_PLANES(fft_rfft2)
GUARDFIX_TRANSFORM_OF_PLANES(fft_irfft2)
#undef GUARDFIX_TRANSFORM_OF_PLANES
GUARDFIX_FUNCTION(FRESH, fft_fftshift, (const Tensor& self, OptionalIntArrayRef dim = std::nullopt), (self, dim))
GUARDFIX_FUNCTION(FRESH, fft_ifftshift, (const Tensor& self, OptionalIntArrayRef dim = std::nullopt), (self, dim))
#undef GUARDFIX_FUNCTION
#undef GUARDFIX_UNPACK

// ---- the same, which write their results into given tensors, the first arguments. Templates, so that only a program
// that calls one pays for it.
#define GUARDFIX_OUT_FRESH(name, parameters, arguments)                                                   \
  template <typename = void>                                                                              \
  Tensor& name##_out(Tensor& out, const Tensor& self GUARDFIX_SPREAD parameters) {                        \
    using guardfix::kw, guardfix::kw_unless;                                                              \
    static const guardfix::Op op{#name, "out_form"};                                                      \
    if (!out.defined()) guardfix::refuse_out(#name, op({self GUARDFIX_SPREAD arguments}));                \
    op({self GUARDFIX_SPREAD arguments, kw("out", out)});                                                 \
    return out;                                                                                           \
  }
#define GUARDFIX_OUT_PAIR(name, parameters, arguments)                                                    \
  template <typename = void>                                                                              \
  std::tuple<Tensor&, Tensor&> name##_out(Tensor& first, Tensor& second,                                  \
                                          const Tensor& self GUARDFIX_SPREAD parameters) {                \
    using guardfix::kw, guardfix::kw_unless;                                                              \
    static const guardfix::Op op{#name, "out_form"};                                                      \
    op({self GUARDFIX_SPREAD arguments, kw("out", std::vector<Tensor>{first, second})});                  \
    return {first, second};                                                                               \
  }
#define GUARDFIX_OUT_PLAIN(...)
#define GUARDFIX_OUT_SELF(...)
#define GUARDFIX_OUT_MANY(...)
#define GUARDFIX_OUT_TRIPLE(...)
#define GUARDFIX_OUT_TRUTH(...)
#define GUARDFIX_OP(kind, ...) GUARDFIX_OUT_##kind(__VA_ARGS__)
#define GUARDFIX_OP_WITH_NUMBER(kind, ...) GUARDFIX_OUT_##kind(__VA_ARGS__)
#define GUARDFIX_METHOD(...)
#include <ATen/core/ops.def>
GUARDFIX_OUT_FRESH(frobenius_norm, (IntArrayRef dim, bool keepdim = false), (dim, keepdim))
#define GUARDFIX_UNPACK(...) __VA_ARGS__
#define GUARDFIX_OUT_WITHOUT_SELF(name, parameters, arguments)                                            \
  template <typename = void>                                                                              \
  Tensor& name##_out(Tensor& out, GUARDFIX_UNPACK parameters) {                                           \
    using guardfix::kw;                                                                                   \
    static const guardfix::Op op{#name, "out_form"};                                                      \
    if (!out.defined()) guardfix::refuse_out(#name, op({GUARDFIX_UNPACK arguments}));                     \
    op({GUARDFIX_UNPACK arguments, kw("out", out)});                                                      \
    return out;                                                                                           \
  }
GUARDFIX_OUT_WITHOUT_SELF(cat, (TensorList tensors, int64_t dim = 0), (joined(tensors), dim))
GUARDFIX_OUT_WITHOUT_SELF(stack, (TensorList tensors, int64_t dim = 0), (joined(tensors), dim))
GUARDFIX_OUT_WITHOUT_SELF(hstack, (TensorList tensors), (tensors))
GUARDFIX_OUT_WITHOUT_SELF(vstack, (TensorList tensors), (tensors))
GUARDFIX_OUT_WITHOUT_SELF(where, (const Tensor& condition, const Tensor& self, const Tensor& other),
                          (condition, self, other))
#define GUARDFIX_OUT_ACTIVATION(name) GUARDFIX_OUT_WITHOUT_SELF(name, (const Tensor& self), (self))
GUARDFIX_OUT_ACTIVATION(hardsigmoid)
GUARDFIX_OUT_ACTIVATION(hardswish)
GUARDFIX_OUT_ACTIVATION(log_sigmoid)
GUARDFIX_OUT_ACTIVATION(mish)
GUARDFIX_OUT_ACTIVATION(silu)
#undef GUARDFIX_OUT_ACTIVATION
GUARDFIX_OUT_WITHOUT_SELF(gelu, (const Tensor& self, std::string_view approximate = "none"),
                          (self, kw("approximate", approximate)))
GUARDFIX_OUT_WITHOUT_SELF(leaky_relu, (const Tensor& self, const Scalar& negative_slope = 0.01), (self, negative_slope))
#define GUARDFIX_LINALG_FRESH(...) GUARDFIX_OUT_WITHOUT_SELF(__VA_ARGS__)
#define GUARDFIX_LINALG_PAIR(...)
#define GUARDFIX_LINALG_TRIPLE(...)
#define GUARDFIX_LINALG(kind, name, parameters, arguments) GUARDFIX_LINALG_##kind(linalg_##name, parameters, arguments)
#include <ATen/linalg_functions.def>
#undef GUARDFIX_LINALG_FRESH
#undef GUARDFIX_LINALG_PAIR
#undef GUARDFIX_LINALG_TRIPLE
GUARDFIX_OUT_WITHOUT_SELF(empty, (IntArrayRef size), (size))
GUARDFIX_OUT_WITHOUT_SELF(ones, (IntArrayRef size), (size))
GUARDFIX_OUT_WITHOUT_SELF(zeros, (IntArrayRef size), (size))
GUARDFIX_OUT_WITHOUT_SELF(full, (IntArrayRef size, const Scalar& fill_value), (size, fill_value))
GUARDFIX_OUT_WITHOUT_SELF(arange, (const Scalar& end), (end))
GUARDFIX_OUT_WITHOUT_SELF(arange, (const Scalar& start, const Scalar& end, const Scalar& step), (start, end, step))
GUARDFIX_OUT_WITHOUT_SELF(linspace, (const Scalar& start, const Scalar& end, int64_t steps), (start, end, steps))
#undef GUARDFIX_OUT_WITHOUT_SELF
#undef GUARDFIX_UNPACK
#undef GUARDFIX_OUT_FRESH
#undef GUARDFIX_OUT_PAIR
#undef GUARDFIX_OUT_PLAIN
#undef GUARDFIX_OUT_SELF
#undef GUARDFIX_OUT_MANY
#undef GUARDFIX_OUT_TRIPLE
#undef GUARDFIX_OUT_TRUTH
// ---- factories
namespace detail {
/// Whether a factory takes a memory format: those look at the options' requires_grad, to refuse it. The others of at::
/// pass over it.
constexpr bool takes_memory_format(std::string_view name) {
  return name == "empty" || (name.size() > 5 && name.substr(name.size() - 5) == "_like");
}
}  // namespace detail
#define GUARDFIX_FACTORY(name, parameters, arguments)                                                      \
  inline Tensor name(GUARDFIX_UNPACK parameters, const TensorOptions& options = {}) {                      \
    static const guardfix::Op op{#name};                                                                   \
    options.check_strided();                                                                               \
    if constexpr (detail::takes_memory_format(#name)) options.check_records_nothing();                     \
    return Tensor::from_python(op({GUARDFIX_UNPACK arguments, guardfix::kw("dtype", options.dtype_opt()),  \
                                   guardfix::kw("device", options.device_opt()),                           \
                                   guardfix::kw("memory_format", options.memory_format_opt())}));          \
  }
#define GUARDFIX_UNPACK(...) __VA_ARGS__
#define GUARDFIX_IN(name) at::name
#include <ATen/factories.def>
#undef GUARDFIX_UNPACK

inline void manual_seed(uint64_t seed) {
  static const guardfix::Op op{"manual_seed"};
  op({seed});
}

inline size_t getNumGPUs() { return 0; }

/// A number as a tensor of no dimensions, of the number's own kind.
inline Tensor scalar_to_tensor(const Scalar& number, const Device device = kCPU) {
  return full({}, number, TensorOptions().dtype(number.type()).device(device));
}

/// A tensor over memory of the program's own, which must outlive it: nothing is copied.
inline Tensor from_blob(void* data, IntArrayRef sizes, const TensorOptions& options = {}) {
  static const guardfix::Hook make{"from_blob"};
  return Tensor::from_python(make({reinterpret_cast<int64_t>(data), sizes, options.dtype().toScalarType()}))
      .set_requires_grad(options.requires_grad());
}
inline Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options = {}) {
  static const guardfix::Hook make{"from_blob"};
  return Tensor::from_python(make({reinterpret_cast<int64_t>(data), sizes, options.dtype().toScalarType(), strides}))
      .set_requires_grad(options.requires_grad());
}

namespace detail {
/// Calls `deleter(data)` when the object goes.
template <typename Deleter>
guardfix::Object deleting(void* data, Deleter deleter) {
  struct Memory {
    void* data;
    Deleter deleter;
  };
  const guardfix::Gil gil;
  return guardfix::checked(PyCapsule_New(new Memory{data, std::move(deleter)}, nullptr,
                                         [](PyObject* capsule) {
                                           auto* memory =
                                               static_cast<Memory*>(PyCapsule_GetPointer(capsule, nullptr));
                                           memory->deleter(memory->data);
                                           delete memory;
                                         }),
                           "from_blob");
}
template <typename Deleter>
using IsDeleter = std::enable_if_t<std::is_invocable_v<Deleter, void*>>;
}  // namespace detail

/// The same; `deleter` is called with the memory when the last tensor over it goes.
template <typename Deleter, typename = detail::IsDeleter<Deleter>>
Tensor from_blob(void* data, IntArrayRef sizes, Deleter&& deleter, const TensorOptions& options = {}) {
  static const guardfix::Hook make{"from_blob"};
  const guardfix::Object owner = detail::deleting(data, std::decay_t<Deleter>(std::forward<Deleter>(deleter)));
  return Tensor::from_python(make({reinterpret_cast<int64_t>(data), sizes, options.dtype().toScalarType(),
                                   std::nullopt, owner}))
      .set_requires_grad(options.requires_grad());
}
template <typename Deleter, typename = detail::IsDeleter<Deleter>>
Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides, Deleter&& deleter,
                 const TensorOptions& options = {}) {
  static const guardfix::Hook make{"from_blob"};
  const guardfix::Object owner = detail::deleting(data, std::decay_t<Deleter>(std::forward<Deleter>(deleter)));
  return Tensor::from_python(
             make({reinterpret_cast<int64_t>(data), sizes, options.dtype().toScalarType(), strides, owner}))
      .set_requires_grad(options.requires_grad());
}

// Sizes of symbols, which are numbers here.
#define GUARDFIX_SYMINT_FACTORY(name)                                                                        \
  inline Tensor name##_symint(SymIntArrayRef size, const TensorOptions& options = {}) {                      \
    return name(asIntArrayRefUnchecked(size), options);                                                      \
  }
GUARDFIX_SYMINT_FACTORY(empty)
GUARDFIX_SYMINT_FACTORY(ones)
GUARDFIX_SYMINT_FACTORY(zeros)
GUARDFIX_SYMINT_FACTORY(rand)
GUARDFIX_SYMINT_FACTORY(randn)
#undef GUARDFIX_SYMINT_FACTORY
inline Tensor full_symint(SymIntArrayRef size, const Scalar& fill_value, const TensorOptions& options = {}) {
  return full(asIntArrayRefUnchecked(size), fill_value, options);
}

/// The type of what arithmetic on both gives, and the type that both can be converted to.
inline ScalarType result_type(const Tensor& a, const Tensor& b) {
  static const guardfix::Hook read{"result_type_name"};
  return detail::scalar_type_named(read({a, b}));
}
inline ScalarType result_type(const Tensor& a, const Scalar& b) {
  static const guardfix::Hook read{"result_type_name"};
  return detail::scalar_type_named(read({a, b}));
}
inline ScalarType result_type(const Scalar& a, const Tensor& b) {
  static const guardfix::Hook read{"result_type_name"};
  return detail::scalar_type_named(read({a, b}));
}
inline ScalarType result_type(const Scalar& a, const Scalar& b) {
  static const guardfix::Hook read{"result_type_name"};
  return detail::scalar_type_named(read({a, b}));
}
inline ScalarType promote_types(ScalarType a, ScalarType b) {
  static const guardfix::Hook read{"promoted_type_name"};
  return detail::scalar_type_named(read({a, b}));
}
inline bool can_cast(ScalarType from, ScalarType to) {
  static const guardfix::Op op{"can_cast", "function"};
  return guardfix::truth_of(op({from, to}));
}

/// The gradient of `index_select`: zeros of `self_sizes` with `grad` added at `index`.
inline Tensor index_select_backward(const Tensor& grad, IntArrayRef self_sizes, int64_t dim, const Tensor& index) {
  return grad.new_zeros(self_sizes).index_add_(dim, index, grad);
}

inline int64_t numel(const Tensor& tensor) { return tensor.numel(); }
inline int64_t size(const Tensor& self, int64_t dim) { return self.size(dim); }
inline int64_t stride(const Tensor& self, int64_t dim) { return self.stride(dim); }
inline bool is_same_size(const Tensor& self, const Tensor& other) { return self.is_same_size(other); }
inline bool is_floating_point(const Tensor& self) { return self.is_floating_point(); }
inline bool is_complex(const Tensor& self) { return self.is_complex(); }
inline bool is_signed(const Tensor& self) { return self.is_signed(); }
inline bool is_inference(const Tensor& self) { return self.is_inference(); }
inline bool is_conj(const Tensor&) { return false; }  // conjugates are computed at once
inline bool is_neg(const Tensor&) { return false; }
inline Tensor index_put(const Tensor& self, const c10::List<std::optional<Tensor>>& indices, const Tensor& values,
                        bool accumulate = false) {
  return self.index_put(indices, values, accumulate);
}
inline Tensor& index_put_(Tensor& self, const c10::List<std::optional<Tensor>>& indices, const Tensor& values,
                          bool accumulate = false) {
  return self.index_put_(indices, values, accumulate);
}
inline Tensor index(const Tensor& self, ArrayRef<indexing::TensorIndex> indices) { return self.index(indices); }
template <typename Value>
Tensor& index_put_(Tensor& self, ArrayRef<indexing::TensorIndex> indices, const Value& values) {
  return self.index_put_(indices, values);
}
template <typename Value>
Tensor& index_put_(Tensor& self, std::initializer_list<indexing::TensorIndex> indices, const Value& values) {
  return self.index_put_(indices, values);
}

}  // namespace at

// As in PyTorch, whose header brings these along; last, since they need what is declared here.
#include <ATen/ATen.h>
