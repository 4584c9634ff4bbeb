// The ops as functions: at::add(a, b), at::cat({a, b}), at::ones({2, 3}), at::mul_out(out, a, b).
#pragma once

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>

namespace at {

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
GUARDFIX_FUNCTION(FRESH, embedding, (const Tensor& weight, const Tensor& indices), (weight, indices))
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
GUARDFIX_FUNCTION(FRESH, elu, (const Tensor& self, const Scalar& alpha = 1), (self, alpha))
GUARDFIX_FUNCTION(FRESH, silu, (const Tensor& self), (self))
GUARDFIX_FUNCTION(FRESH, softplus, (const Tensor& self), (self))
GUARDFIX_FUNCTION(FRESH, hstack, (TensorList tensors), (tensors))
GUARDFIX_FUNCTION(FRESH, vstack, (TensorList tensors), (tensors))
GUARDFIX_FUNCTION(FRESH, concat, (TensorList tensors, int64_t dim = 0), (tensors, dim))
GUARDFIX_FUNCTION(MANY, broadcast_tensors, (TensorList tensors), (tensors))
GUARDFIX_FUNCTION(FRESH, layer_norm,
                  (const Tensor& input, IntArrayRef normalized_shape, const std::optional<Tensor>& weight = {},
                   const std::optional<Tensor>& bias = {}, double eps = 1e-05),
                  (input, normalized_shape, weight, bias, eps))
GUARDFIX_FUNCTION(FRESH, nll_loss, (const Tensor& self, const Tensor& target), (self, target))
GUARDFIX_FUNCTION(FRESH, l1_loss, (const Tensor& self, const Tensor& target), (self, target))
GUARDFIX_FUNCTION(FRESH, mse_loss, (const Tensor& self, const Tensor& target), (self, target))
GUARDFIX_FUNCTION(FRESH, cross_entropy_loss, (const Tensor& self, const Tensor& target), (self, target))
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

/// A tensor over memory of the program's own, which must outlive it: nothing is copied.
inline Tensor from_blob(void* data, IntArrayRef sizes, const TensorOptions& options = {}) {
  static const guardfix::Hook make{"from_blob"};
  return Tensor::from_python(make({reinterpret_cast<int64_t>(data), sizes, options.dtype().toScalarType()}));
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
inline Tensor index(const Tensor& self, ArrayRef<indexing::TensorIndex> indices) { return self.index(indices); }

}  // namespace at
