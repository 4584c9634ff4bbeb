// at::TensorIterator: a loop over the elements of several tensors at once, broadcast to one shape. What is here is the
// loop itself, in the forms that kernels outside PyTorch use.
#pragma once

#include <ATen/Functions.h>
#include <ATen/Parallel.h>
#include <ATen/core/Range.h>
#include <ATen/native/TypeProperties.h>

#include <algorithm>
#include <functional>
#include <vector>

// Where TypeProperties.h is included first, it brings this header along before it declares anything.
namespace at::native {
inline ScalarType result_type(TensorList tensors);
}

namespace at {

class TensorIteratorConfig;

class TensorIteratorBase {
 public:
  /// loop(data, strides, n): n elements of each operand, from its pointer on, `strides` bytes apart.
  using loop1d_t = std::function<void(char** data, const int64_t* strides, int64_t n)>;
  using loop2d_t = std::function<void(char** data, const int64_t* strides, int64_t size0, int64_t size1)>;

  int ndim() const { return static_cast<int>(shape_.size()); }
  IntArrayRef shape() const { return shape_; }
  int64_t numel() const {
    int64_t n = 1;
    for (const int64_t size : shape_) n *= size;
    return n;
  }
  int ntensors() const { return static_cast<int>(operands_.size()); }
  int noutputs() const { return outputs_; }
  int ninputs() const { return ntensors() - outputs_; }
  const Tensor& tensor(size_t arg) const { return operands_.at(arg); }
  const Tensor& output(size_t arg = 0) const { return tensor(arg); }
  const Tensor& input(size_t arg = 0) const { return tensor(static_cast<size_t>(outputs_) + arg); }
  ScalarType dtype(size_t arg = 0) const { return tensor(arg).scalar_type(); }
  ScalarType common_dtype() const { return common_dtype_; }
  /// Copies what was computed in the common type to the outputs that were given in another.
  void cast_outputs() {
    for (size_t arg = 0; arg < given_.size(); ++arg) {
      if (!given_[arg].defined()) continue;
      given_[arg].copy_(operands_[arg]);
      operands_[arg] = given_[arg];
      given_[arg] = Tensor();
    }
  }
  ScalarType input_dtype(size_t arg = 0) const { return input(arg).scalar_type(); }
  Device device(size_t arg = 0) const { return tensor(arg).device(); }
  DeviceType device_type(size_t arg = 0) const { return device(arg).type(); }
  int64_t element_size(size_t arg) const { return tensor(arg).element_size(); }
  void* data_ptr(size_t arg) const { return tensor(arg).data_ptr(); }
  /// The bytes between neighbours in each dimension, the innermost first.
  IntArrayRef strides(size_t arg) const { return strides_.at(arg); }
  bool is_contiguous() const {
    return std::all_of(operands_.begin(), operands_.end(), [](const Tensor& t) { return t.is_contiguous(); });
  }
  bool is_trivial_1d() const { return ndim() == 1; }

  template <typename Loop>
  void for_each(const Loop& loop, int64_t grain_size = internal::GRAIN_SIZE) const {
    const int64_t n = numel();
    if (n == 0) return;
    if (n < grain_size || get_num_threads() == 1) return serial_for_each(loop, 0, n);
    parallel_for(0, n, grain_size, [&](int64_t begin, int64_t end) { serial_for_each(loop, begin, end); });
  }
  template <typename Loop>
  void serial_for_each(const Loop& loop, Range range) const {
    serial_for_each(loop, range.begin, range.end);
  }
  template <typename Loop>
  void serial_for_each(const Loop& loop, int64_t begin, int64_t end) const {
    const int64_t inner = shape_.empty() ? 1 : shape_[0];
    std::vector<char*> data(operands_.size());
    std::vector<int64_t> steps(2 * operands_.size());
    for (size_t arg = 0; arg < operands_.size(); ++arg) steps[arg] = strides_[arg].empty() ? 0 : strides_[arg][0];
    while (begin < end) {
      const int64_t length = std::min(inner - begin % inner, end - begin);
      for (size_t arg = 0; arg < operands_.size(); ++arg) data[arg] = bases_[arg] + offset(arg, begin);
      if constexpr (std::is_invocable_v<const Loop&, char**, const int64_t*, int64_t>) {
        loop(data.data(), steps.data(), length);
      } else {
        loop(data.data(), steps.data(), length, int64_t(1));
      }
      begin += length;
    }
  }

 protected:
  friend class TensorIteratorConfig;
  int64_t offset(size_t arg, int64_t index) const {
    int64_t bytes = 0;
    for (size_t dim = 0; dim < shape_.size(); ++dim) {
      bytes += index % shape_[dim] * strides_[arg][dim];
      index /= shape_[dim];
    }
    return bytes;
  }
  std::vector<Tensor> operands_;  // outputs first
  std::vector<Tensor> given_;     // for each output that one in the common type has the place of
  ScalarType common_dtype_ = ScalarType::Undefined;
  int outputs_ = 0;
  std::vector<int64_t> shape_;  // the innermost dimension first
  std::vector<std::vector<int64_t>> strides_;
  std::vector<char*> bases_;
};

class TensorIterator : public TensorIteratorBase {
 public:
  /// out = f(a), out = f(a, b); an undefined output is made.
  static TensorIterator unary_op(Tensor& out, const Tensor& a);
  static TensorIterator binary_op(Tensor& out, const Tensor& a, const Tensor& b);
  static TensorIterator nullary_op(Tensor& out);
};

class TensorIteratorConfig final {
 public:
  TensorIteratorConfig& add_output(const Tensor& output) {
    outputs_.push_back(output);
    return *this;
  }
  TensorIteratorConfig& add_input(const Tensor& input) {
    inputs_.push_back(input);
    return *this;
  }
  TensorIteratorConfig& add_const_input(const Tensor& input) { return add_input(input); }
  TensorIteratorConfig& add_owned_output(const Tensor& output) { return add_output(output); }
  TensorIteratorConfig& add_owned_input(const Tensor& input) { return add_input(input); }
  TensorIteratorConfig& add_borrowed_output(const Tensor& output) { return add_output(output); }
  TensorIteratorConfig& add_borrowed_input(const Tensor& input) { return add_input(input); }
  TensorIteratorConfig& check_all_same_dtype(bool check) {
    same_dtype_ = check;
    return *this;
  }
  TensorIteratorConfig& check_all_same_device(bool) { return *this; }
  TensorIteratorConfig& set_check_mem_overlap(bool) { return *this; }
  TensorIteratorConfig& enforce_safe_casting_to_output(bool enforce) {
    safe_casting_ = enforce;
    return *this;
  }
  TensorIteratorConfig& enforce_linear_iteration(bool = true) { return *this; }
  /// Inputs are converted to the type that arithmetic on them gives.
  TensorIteratorConfig& promote_inputs_to_common_dtype(bool promote) {
    promote_ = promote;
    if (promote) same_dtype_ = false;
    return *this;
  }
  TensorIteratorConfig& promote_integer_inputs_to_float(bool promote) {
    TORCH_INTERNAL_ASSERT(!promote || promote_,
                          "promote_inputs_to_common_dtype is needed for promote_integer_inputs_to_float");
    to_float_ = promote;
    return *this;
  }
  /// An output of another type is computed in the common one; `cast_outputs` of the iterator converts it.
  TensorIteratorConfig& cast_common_dtype_to_outputs(bool cast) {
    cast_ = cast;
    if (cast) same_dtype_ = false;
    return *this;
  }
  /// The sizes of an output that is given stay as they are.
  TensorIteratorConfig& resize_outputs(bool resize) {
    resize_ = resize;
    return *this;
  }
  TensorIteratorConfig& declare_static_dtype_and_device(ScalarType type, Device) { return declare_static_dtype(type); }
  TensorIteratorConfig& declare_static_dtype(ScalarType type) {
    dtype_ = type;
    return *this;
  }
  TensorIteratorConfig& declare_static_device(Device) { return *this; }
  TensorIteratorConfig& declare_static_shape(IntArrayRef shape) {
    shape_ = shape.vec();
    return *this;
  }
  TensorIteratorConfig& declare_static_shape(IntArrayRef shape, IntArrayRef squash) {
    declare_static_shape(shape);
    for (const int64_t dim : squash) (*shape_)[static_cast<size_t>(dim)] = 1;
    return *this;
  }

  TensorIterator build() {
    TensorIterator iterator;
    iterator.outputs_ = static_cast<int>(outputs_.size());
    const std::vector<int64_t> shape = shape_.has_value() ? *shape_ : common_shape();
    const ScalarType type = dtype_.value_or(promote_          ? promoted()
                                            : inputs_.empty() ? outputs_.at(0).scalar_type()
                                                              : inputs_[0].scalar_type());
    iterator.common_dtype_ = type;
    for (Tensor& output : outputs_) {
      if (!output.defined()) {
        output = at::empty(shape, TensorOptions().dtype(type));
      } else if (resize_ && !shape_.has_value() && !output.sizes().equals(shape)) {
        output.resize_(shape);
      }
    }
    if (promote_)
      for (Tensor& input : inputs_) input = input.to(type);
    if (cast_ || promote_) {
      for (Tensor& output : outputs_) {
        const bool differs = output.scalar_type() != type;
        TORCH_CHECK(!differs || !safe_casting_ || can_cast(type, output.scalar_type()), "result type ", type,
                    " can't be cast to the desired output type ", output.scalar_type());
        iterator.given_.push_back(differs && cast_ ? output : Tensor());
        if (differs && cast_) output = at::empty(output.sizes(), TensorOptions().dtype(type));
      }
    }
    std::vector<Tensor>& operands = iterator.operands_;
    operands = outputs_;
    operands.insert(operands.end(), inputs_.begin(), inputs_.end());
    for (const Tensor& operand : operands)
      TORCH_CHECK(!same_dtype_ || operand.scalar_type() == operands[0].scalar_type(),
                  "Found dtype ", operand.scalar_type(), " but expected ", operands[0].scalar_type());
    iterator.shape_.assign(shape.rbegin(), shape.rend());
    for (const Tensor& operand : operands) {
      iterator.strides_.push_back(strides_in(operand, shape));
      iterator.bases_.push_back(static_cast<char*>(operand.data_ptr()));
    }
    return iterator;
  }

 private:
  ScalarType promoted() const {
    TORCH_CHECK(!inputs_.empty(), "there is no input whose type could be promoted");
    const ScalarType type = native::result_type(inputs_);
    static const guardfix::Hook read{"default_dtype_name"};
    return to_float_ && isIntegralType(type, true) ? detail::scalar_type_named(read({})) : type;
  }
  std::vector<int64_t> common_shape() const {
    std::vector<int64_t> shape;
    const auto take = [&](const Tensor& tensor) {
      const IntArrayRef sizes = tensor.sizes();
      if (sizes.size() > shape.size()) shape.insert(shape.begin(), sizes.size() - shape.size(), 1);
      for (size_t i = 0; i < sizes.size(); ++i) {
        int64_t& size = shape[shape.size() - sizes.size() + i];
        TORCH_CHECK(size == sizes[i] || size == 1 || sizes[i] == 1, "The size of tensor a (", size,
                    ") must match the size of tensor b (", sizes[i], ") at non-singleton dimension ",
                    shape.size() - sizes.size() + i);
        if (size == 1) size = sizes[i];
      }
    };
    for (const Tensor& input : inputs_) take(input);
    if (inputs_.empty() || !resize_)
      for (const Tensor& output : outputs_)
        if (output.defined()) take(output);
    return shape;
  }
  /// The strides of a tensor in bytes, the innermost dimension first, 0 where it is broadcast.
  static std::vector<int64_t> strides_in(const Tensor& tensor, const std::vector<int64_t>& shape) {
    std::vector<int64_t> strides(shape.size());
    const IntArrayRef sizes = tensor.sizes(), own = tensor.strides();
    for (size_t i = 0; i < sizes.size() && i < shape.size(); ++i) {
      const size_t from_end = sizes.size() - 1 - i;
      const bool broadcast = sizes[from_end] == 1 && shape[shape.size() - 1 - i] != 1;
      strides[i] = broadcast ? 0 : own[from_end] * tensor.element_size();
    }
    return strides;
  }

  std::vector<Tensor> outputs_, inputs_;
  std::optional<ScalarType> dtype_;
  std::optional<std::vector<int64_t>> shape_;
  bool same_dtype_ = true, resize_ = true, promote_ = false, to_float_ = false, cast_ = false, safe_casting_ = false;
};

inline TensorIterator TensorIterator::unary_op(Tensor& out, const Tensor& a) {
  TensorIterator iterator = TensorIteratorConfig().add_output(out).add_input(a).build();
  out = iterator.output();
  return iterator;
}
inline TensorIterator TensorIterator::binary_op(Tensor& out, const Tensor& a, const Tensor& b) {
  TensorIterator iterator = TensorIteratorConfig().add_output(out).add_input(a).add_input(b).build();
  out = iterator.output();
  return iterator;
}
inline TensorIterator TensorIterator::nullary_op(Tensor& out) {
  return TensorIteratorConfig().check_all_same_dtype(false).add_output(out).resize_outputs(false).build();
}

}  // namespace at
