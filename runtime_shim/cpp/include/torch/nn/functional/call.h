// How torch::nn::functional reaches the Python module's nn.functional.
#pragma once

#include <torch/nn/options/common.h>

namespace torch::nn::functional::detail {

/// A function of the Python module's nn.functional, looked up once.
class Function : public guardfix::Op {
 public:
  constexpr explicit Function(const char* name) : Op(name, "functional") {}
  Tensor operator()(std::initializer_list<guardfix::Arg> args) const {
    return Tensor::from_python(Op::operator()(args));
  }
  std::tuple<Tensor, Tensor> pair(std::initializer_list<guardfix::Arg> args) const {
    return guardfix::pair_of(Op::operator()(args));
  }
};
/// An optional tensor is undefined in C++ and None in Python.
inline guardfix::Arg optional(const Tensor& tensor) {
  return tensor.defined() ? guardfix::Arg(tensor) : guardfix::Arg(std::nullopt);
}
inline guardfix::Arg optional(const char* name, const Tensor& tensor) { return guardfix::kw(name, optional(tensor)); }
inline guardfix::Arg in_place(bool inplace) {
  return guardfix::kw("inplace", inplace ? guardfix::Arg(true) : guardfix::Arg(std::nullopt));
}
template <size_t D>
IntArrayRef ints(const ExpandingArray<D>& array) {
  return array;
}
/// Sizes of which some may be missing, as a list of numbers and None.
template <size_t D>
guardfix::Object sizes(const ExpandingArrayWithOptionalElem<D>& array) {
  const guardfix::Gil gil;
  return guardfix::list_of((*array).data(), D,
                           [](const std::optional<int64_t>& size) { return guardfix::Arg(size).python(); });
}
template <size_t D>
IntArrayRef sizes(const ExpandingArray<D>& array) {
  return array;
}
/// The option `reduction` by name.
template <typename Options>
guardfix::Arg reduction(const Options& options) {
  return guardfix::kw("reduction", options.reduction().text());
}

}  // namespace torch::nn::functional::detail

// A function of that name in Python, called with these arguments.
#define TORCH_NN_FUNCTION(name, parameters, ...)          \
  inline Tensor name parameters {                         \
    using guardfix::kw;                                   \
    static const detail::Function call{#name};            \
    return call({__VA_ARGS__});                           \
  }
#define TORCH_NN_PAIR_FUNCTION(name, parameters, ...)                \
  inline std::tuple<Tensor, Tensor> name parameters {                \
    using guardfix::kw;                                              \
    static const detail::Function call{#name};                       \
    return call.pair({__VA_ARGS__});                                 \
  }
