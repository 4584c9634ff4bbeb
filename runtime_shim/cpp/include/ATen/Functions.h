// The ops as functions: at::add(a, b), at::cat({a, b}), at::ones({2, 3}), at::mul_out(out, a, b).
#pragma once

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
#define GUARDFIX_SELF_MANY const Tensor&
#define GUARDFIX_SELF_PAIR const Tensor&
#define GUARDFIX_SELF_TRUTH const Tensor&
#define GUARDFIX_SELF_SELF Tensor&
#define GUARDFIX_OP(...) GUARDFIX_FUNCTION_CALLING(Op, __VA_ARGS__)
#define GUARDFIX_OP_WITH_NUMBER(...) GUARDFIX_FUNCTION_CALLING(ScalarOp, __VA_ARGS__)
#define GUARDFIX_METHOD(...)
#include <ATen/core/ops.def>

// ---- functions without a self
#define GUARDFIX_FUNCTION(kind, name, parameters, arguments)  \
  inline GUARDFIX_RESULT_##kind name parameters {             \
    using guardfix::kw;                                       \
    static const guardfix::Op op{#name, "function"};          \
    GUARDFIX_RETURN_##kind(self, op({GUARDFIX_UNPACK arguments})) \
  }
#define GUARDFIX_UNPACK(...) __VA_ARGS__
GUARDFIX_FUNCTION(FRESH, cat, (TensorList tensors, int64_t dim = 0), (tensors, dim))
GUARDFIX_FUNCTION(FRESH, stack, (TensorList tensors, int64_t dim = 0), (tensors, dim))
GUARDFIX_FUNCTION(MANY, meshgrid, (TensorList tensors), (tensors))
GUARDFIX_FUNCTION(MANY, meshgrid, (TensorList tensors, std::string_view indexing), (tensors, kw("indexing", indexing)))
GUARDFIX_FUNCTION(FRESH, where, (const Tensor& condition, const Tensor& self, const Tensor& other),
                  (condition, self, other))
GUARDFIX_FUNCTION(FRESH, where, (const Tensor& condition, const Tensor& self, const Scalar& other),
                  (condition, self, other))
GUARDFIX_FUNCTION(FRESH, where, (const Tensor& condition, const Scalar& self, const Tensor& other),
                  (condition, self, other))
GUARDFIX_FUNCTION(FRESH, einsum, (std::string_view equation, TensorList tensors), (equation, tensors))
GUARDFIX_FUNCTION(FRESH, pow, (const Scalar& self, const Tensor& exponent), (self, exponent))
GUARDFIX_FUNCTION(FRESH, view_as_real, (const Tensor& self), (self))
GUARDFIX_FUNCTION(FRESH, view_as_complex, (const Tensor& self), (self))
GUARDFIX_FUNCTION(FRESH, gelu, (const Tensor& self, std::string_view approximate = "none"),
                  (self, kw("approximate", approximate)))
GUARDFIX_FUNCTION(FRESH, dropout, (const Tensor& input, double p, bool train), (input, p, train))
GUARDFIX_FUNCTION(FRESH, linear, (const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias = {}),
                  (input, weight, bias))
GUARDFIX_FUNCTION(FRESH, embedding,
                  (const Tensor& weight, const Tensor& indices, int64_t padding_idx = -1,
                   bool scale_grad_by_freq = false, bool sparse = false),
                  (weight, indices, padding_idx, scale_grad_by_freq, sparse))
GUARDFIX_FUNCTION(FRESH, conv2d,
                  (const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias = {},
                   IntArrayRef stride = 1, IntArrayRef padding = 0, IntArrayRef dilation = 1, int64_t groups = 1),
                  (input, weight, bias, stride, padding, dilation, groups))
GUARDFIX_FUNCTION(FRESH, max_pool2d,
                  (const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {}, IntArrayRef padding = 0),
                  (self, kernel_size, stride.empty() ? kernel_size : stride, padding))
GUARDFIX_FUNCTION(FRESH, avg_pool2d,
                  (const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride = {}, IntArrayRef padding = 0),
                  (self, kernel_size, stride.empty() ? kernel_size : stride, padding))
GUARDFIX_FUNCTION(FRESH, adaptive_avg_pool2d, (const Tensor& self, IntArrayRef output_size), (self, output_size))
GUARDFIX_FUNCTION(FRESH, conv1d,
                  (const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias = {},
                   IntArrayRef stride = 1, IntArrayRef padding = 0, IntArrayRef dilation = 1, int64_t groups = 1),
                  (input, weight, bias, stride, padding, dilation, groups))
GUARDFIX_FUNCTION(FRESH, batch_norm,
                  (const Tensor& input, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                   const std::optional<Tensor>& running_mean, const std::optional<Tensor>& running_var, bool training,
                   double momentum, double eps, bool),
                  (input, running_mean, running_var, weight, bias, training, momentum, eps))
GUARDFIX_FUNCTION(FRESH, group_norm,
                  (const Tensor& input, int64_t num_groups, const std::optional<Tensor>& weight = {},
                   const std::optional<Tensor>& bias = {}, double eps = 1e-05),
                  (input, num_groups, weight, bias, eps))
GUARDFIX_FUNCTION(FRESH, leaky_relu, (const Tensor& self, const Scalar& negative_slope = 0.01), (self, negative_slope))
GUARDFIX_FUNCTION(FRESH, elu,
                  (const Tensor& self, const Scalar& alpha = 1, const Scalar& scale = 1, const Scalar& input_scale = 1),
                  (self, alpha, scale, input_scale))
GUARDFIX_FUNCTION(FRESH, silu, (const Tensor& self), (self))
GUARDFIX_FUNCTION(FRESH, constant_pad_nd, (const Tensor& self, IntArrayRef pad, const Scalar& value = 0), (self, pad, value))
#define GUARDFIX_PADDING(name) GUARDFIX_FUNCTION(FRESH, name, (const Tensor& self, IntArrayRef padding), (self, padding))
GUARDFIX_PADDING(reflection_pad1d)
GUARDFIX_PADDING(reflection_pad2d)
GUARDFIX_PADDING(reflection_pad3d)
GUARDFIX_PADDING(replication_pad1d)
GUARDFIX_PADDING(replication_pad2d)
GUARDFIX_PADDING(replication_pad3d)
#undef GUARDFIX_PADDING
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
GUARDFIX_FUNCTION(FRESH, isin,
                  (const Tensor& elements, const Tensor& test_elements, bool assume_unique = false,
                   bool invert = false),
                  (elements, test_elements, kw("assume_unique", assume_unique), kw("invert", invert)))
GUARDFIX_FUNCTION(FRESH, cdist,
                  (const Tensor& x1, const Tensor& x2, double p = 2, std::optional<int64_t> = std::nullopt),
                  (x1, x2, p))
GUARDFIX_FUNCTION(FRESH, scaled_dot_product_attention,
                  (const Tensor& query, const Tensor& key, const Tensor& value,
                   const std::optional<Tensor>& attn_mask = {}, double dropout_p = 0, bool is_causal = false,
                   std::optional<double> scale = std::nullopt, bool enable_gqa = false),
                  (query, key, value, kw("attn_mask", attn_mask), kw("dropout_p", dropout_p),
                   kw("is_causal", is_causal), kw("scale", scale), kw("enable_gqa", enable_gqa)))
GUARDFIX_FUNCTION(FRESH, bernoulli, (const Tensor& self), (self))
GUARDFIX_FUNCTION(FRESH, bernoulli, (const Tensor& self, double p), (self, p))
#define GUARDFIX_UPSAMPLE(name)                                                                                    \
  GUARDFIX_FUNCTION(FRESH, name,                                                                                   \
                    (const Tensor& input, OptionalIntArrayRef output_size, bool align_corners,                     \
                     std::optional<ArrayRef<double>> scale_factors),                                               \
                    (input, output_size, align_corners, scale_factors))
GUARDFIX_UPSAMPLE(upsample_linear1d)
GUARDFIX_UPSAMPLE(upsample_bilinear2d)
GUARDFIX_UPSAMPLE(upsample_bicubic2d)
GUARDFIX_UPSAMPLE(upsample_trilinear3d)
#undef GUARDFIX_UPSAMPLE
GUARDFIX_FUNCTION(FRESH, upsample_bilinear2d,
                  (const Tensor& self, IntArrayRef output_size, bool align_corners,
                   std::optional<double> = std::nullopt, std::optional<double> = std::nullopt),
                  (self, output_size, align_corners))
GUARDFIX_FUNCTION(FRESH, upsample_nearest2d,
                  (const Tensor& self, IntArrayRef output_size, std::optional<double> = std::nullopt,
                   std::optional<double> = std::nullopt),
                  (self, output_size))
GUARDFIX_FUNCTION(FRESH, adaptive_avg_pool1d, (const Tensor& self, IntArrayRef output_size), (self, output_size))
GUARDFIX_FUNCTION(FRESH, adaptive_avg_pool3d, (const Tensor& self, IntArrayRef output_size), (self, output_size))
GUARDFIX_FUNCTION(FRESH, mish, (const Tensor& self), (self))
GUARDFIX_FUNCTION(FRESH, hardsigmoid, (const Tensor& self), (self))
GUARDFIX_FUNCTION(FRESH, hardswish, (const Tensor& self), (self))
GUARDFIX_FUNCTION(FRESH, selu, (const Tensor& self), (self))
GUARDFIX_FUNCTION(FRESH, softplus, (const Tensor& self, const Scalar& beta = 1, const Scalar& threshold = 20),
                  (self, beta, threshold))
GUARDFIX_FUNCTION(FRESH, hardtanh, (const Tensor& self, const Scalar& min_val = -1, const Scalar& max_val = 1),
                  (self, min_val, max_val))
GUARDFIX_FUNCTION(FRESH, threshold, (const Tensor& self, const Scalar& threshold, const Scalar& value),
                  (self, threshold, value))
GUARDFIX_FUNCTION(FRESH, glu, (const Tensor& self, int64_t dim = -1), (self, dim))
GUARDFIX_FUNCTION(FRESH, hardshrink, (const Tensor& self, const Scalar& lambd = 0.5), (self, lambd))
GUARDFIX_FUNCTION(FRESH, softshrink, (const Tensor& self, const Scalar& lambd = 0.5), (self, lambd))
GUARDFIX_FUNCTION(FRESH, log_sigmoid, (const Tensor& self), (self))
GUARDFIX_FUNCTION(FRESH, prelu, (const Tensor& self, const Tensor& weight), (self, weight))
GUARDFIX_FUNCTION(FRESH, pixel_shuffle, (const Tensor& self, int64_t upscale_factor), (self, upscale_factor))
GUARDFIX_FUNCTION(FRESH, cosine_similarity,
                  (const Tensor& x1, const Tensor& x2, int64_t dim = 1, double eps = 1e-08), (x1, x2, dim, eps))
GUARDFIX_FUNCTION(FRESH, pairwise_distance,
                  (const Tensor& x1, const Tensor& x2, double p = 2, double eps = 1e-06, bool keepdim = false),
                  (x1, x2, p, eps, keepdim))
GUARDFIX_FUNCTION(FRESH, hstack, (TensorList tensors), (tensors))
GUARDFIX_FUNCTION(FRESH, vstack, (TensorList tensors), (tensors))
GUARDFIX_FUNCTION(FRESH, concat, (TensorList tensors, int64_t dim = 0), (tensors, dim))
GUARDFIX_FUNCTION(MANY, broadcast_tensors, (TensorList tensors), (tensors))
GUARDFIX_FUNCTION(FRESH, layer_norm,
                  (const Tensor& input, IntArrayRef normalized_shape, const std::optional<Tensor>& weight = {},
                   const std::optional<Tensor>& bias = {}, double eps = 1e-05),
                  (input, normalized_shape, weight, bias, eps))
GUARDFIX_FUNCTION(FRESH, nll_loss,
                  (const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight = {},
                   int64_t reduction = Reduction::Mean, int64_t ignore_index = -100),
                  (self, target, kw("weight", weight), kw("ignore_index", ignore_index),
                   kw("reduction", Reduction::name(reduction))))
GUARDFIX_FUNCTION(FRESH, cross_entropy_loss,
                  (const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight = {},
                   int64_t reduction = Reduction::Mean, int64_t ignore_index = -100, double label_smoothing = 0.0),
                  (self, target, kw("weight", weight), kw("ignore_index", ignore_index),
                   kw("reduction", Reduction::name(reduction)), kw("label_smoothing", label_smoothing)))
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
GUARDFIX_TRANSFORM(fft_hfft)
GUARDFIX_TRANSFORM(fft_ihfft)
GUARDFIX_TRANSFORMS(fft_fftn)
GUARDFIX_TRANSFORMS(fft_ifftn)
GUARDFIX_TRANSFORMS(fft_rfftn)
GUARDFIX_TRANSFORMS(fft_irfftn)
#undef GUARDFIX_TRANSFORM
#undef GUARDFIX_TRANSFORMS
GUARDFIX_FUNCTION(FRESH, fft_fftshift, (const Tensor& self, OptionalIntArrayRef dim = std::nullopt), (self, dim))
GUARDFIX_FUNCTION(FRESH, fft_ifftshift, (const Tensor& self, OptionalIntArrayRef dim = std::nullopt), (self, dim))
#define GUARDFIX_LOSS(loss)                                                                                          \
  GUARDFIX_FUNCTION(FRESH, loss, (const Tensor& self, const Tensor& target, int64_t reduction = Reduction::Mean),    \
                    (self, target, kw("reduction", Reduction::name(reduction))))
GUARDFIX_LOSS(l1_loss)
GUARDFIX_LOSS(mse_loss)
GUARDFIX_LOSS(smooth_l1_loss)
GUARDFIX_LOSS(huber_loss)
GUARDFIX_LOSS(kl_div)
GUARDFIX_LOSS(soft_margin_loss)
#undef GUARDFIX_LOSS
GUARDFIX_FUNCTION(FRESH, binary_cross_entropy,
                  (const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight = {},
                   int64_t reduction = Reduction::Mean),
                  (self, target, kw("weight", weight), kw("reduction", Reduction::name(reduction))))
GUARDFIX_FUNCTION(FRESH, binary_cross_entropy_with_logits,
                  (const Tensor& self, const Tensor& target, const std::optional<Tensor>& weight = {},
                   const std::optional<Tensor>& pos_weight = {}, int64_t reduction = Reduction::Mean),
                  (self, target, kw("weight", weight), kw("pos_weight", pos_weight),
                   kw("reduction", Reduction::name(reduction))))
#undef GUARDFIX_FUNCTION
#undef GUARDFIX_UNPACK

// ---- functions that write their result into a given tensor, the first argument
#define GUARDFIX_OUT(name, parameters, arguments)                                              \
  inline Tensor& name##_out(Tensor& out, const Tensor& self GUARDFIX_SPREAD parameters) {      \
    static const guardfix::Op op{#name, "function"};                                           \
    op({self GUARDFIX_SPREAD arguments, guardfix::kw("out", out)});                            \
    return out;                                                                                \
  }
#define GUARDFIX_OUT_UNARY(name) GUARDFIX_OUT(name, (), ())
#define GUARDFIX_OUT_BINARY(name) GUARDFIX_OUT(name, (const Tensor& other), (other))
GUARDFIX_OUT_UNARY(abs)
GUARDFIX_OUT_UNARY(cos)
GUARDFIX_OUT_UNARY(exp)
GUARDFIX_OUT_UNARY(log)
GUARDFIX_OUT_UNARY(neg)
GUARDFIX_OUT_UNARY(sigmoid)
GUARDFIX_OUT_UNARY(sin)
GUARDFIX_OUT_UNARY(sqrt)
GUARDFIX_OUT_UNARY(tanh)
GUARDFIX_OUT_BINARY(add)
GUARDFIX_OUT_BINARY(sub)
GUARDFIX_OUT_BINARY(mul)
GUARDFIX_OUT_BINARY(div)
GUARDFIX_OUT_BINARY(matmul)
GUARDFIX_OUT_BINARY(mm)
GUARDFIX_OUT_BINARY(bmm)
GUARDFIX_OUT_BINARY(maximum)
GUARDFIX_OUT_BINARY(minimum)
#undef GUARDFIX_OUT
#undef GUARDFIX_OUT_UNARY
#undef GUARDFIX_OUT_BINARY

// ---- factories
#define GUARDFIX_FACTORY(name, parameters, arguments)                                                        \
  inline Tensor name(GUARDFIX_UNPACK parameters, const TensorOptions& options = {}) {                        \
    static const guardfix::Op op{#name};                                                                     \
    return Tensor::from_python(op({GUARDFIX_UNPACK arguments, guardfix::kw("dtype", options.dtype_opt()),    \
                                   guardfix::kw("device", options.device_opt())}));                          \
  }
#define GUARDFIX_UNPACK(...) __VA_ARGS__
#include <ATen/factories.def>
#undef GUARDFIX_UNPACK

inline void manual_seed(uint64_t seed) {
  static const guardfix::Op op{"manual_seed"};
  op({seed});
}

inline bool hasCUDA() { return false; }
inline bool hasMPS() { return false; }

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
#undef GUARDFIX_SYMINT_FACTORY

/// The type of what arithmetic on both gives, and the type that both can be converted to.
inline ScalarType result_type(const Tensor& a, const Tensor& b) {
  static const guardfix::Hook read{"result_type_name"};
  return detail::scalar_type_named(read({a, b}));
}
inline ScalarType result_type(const Tensor& a, const Scalar& b) {
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

inline Tensor& cat_out(Tensor& out, TensorList tensors, int64_t dim = 0) {
  static const guardfix::Op op{"cat", "function"};
  op({tensors, dim, guardfix::kw("out", out)});
  return out;
}
inline Tensor& cumsum_out(Tensor& out, const Tensor& self, int64_t dim) {
  static const guardfix::Op op{"cumsum", "function"};
  op({self, dim, guardfix::kw("out", out)});
  return out;
}
/// The gradient of `index_select`: zeros of `self_sizes` with `grad` added at `index`.
inline Tensor index_select_backward(const Tensor& grad, IntArrayRef self_sizes, int64_t dim, const Tensor& index) {
  return grad.new_zeros(self_sizes).index_add_(dim, index, grad);
}

inline int64_t numel(const Tensor& tensor) { return tensor.numel(); }
inline Tensor index_put(const Tensor& self, const c10::List<std::optional<Tensor>>& indices, const Tensor& values,
                        bool accumulate = false) {
  return self.index_put(indices, values, accumulate);
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
