// at::native::cpu_kernel: a function of elements applied to each of a TensorIterator's.
#pragma once

#include <ATen/TensorIterator.h>

#include <tuple>
#include <type_traits>
#include <utility>

namespace at::native {

namespace detail {

template <typename Function, typename Result, typename... Args, size_t... at>
void apply_to_elements(const TensorIteratorBase& iterator, const Function& function, int64_t grain_size,
                       std::index_sequence<at...>) {
  TORCH_INTERNAL_ASSERT(iterator.ninputs() == static_cast<int>(sizeof...(Args)));
  iterator.for_each(
      [&](char** data, const int64_t* strides, int64_t n) {
        for (int64_t i = 0; i < n; ++i) {
          if constexpr (std::is_void_v<Result>) {
            function(*reinterpret_cast<std::decay_t<Args>*>(data[at] + i * strides[at])...);
          } else {
            *reinterpret_cast<Result*>(data[0] + i * strides[0]) =
                function(*reinterpret_cast<std::decay_t<Args>*>(data[at + 1] + i * strides[at + 1])...);
          }
        }
      },
      grain_size);
}
template <typename Function, typename Result, typename... Args>
void apply_to_elements(const TensorIteratorBase& iterator, const Function& function, int64_t grain_size,
                       Result (Function::*)(Args...) const) {
  apply_to_elements<Function, Result, Args...>(iterator, function, grain_size, std::index_sequence_for<Args...>());
}

}  // namespace detail

/// `op` takes the elements of the inputs and returns that of the output.
template <typename Function>
void cpu_kernel(const TensorIteratorBase& iterator, const Function& op, int64_t grain_size = internal::GRAIN_SIZE) {
  detail::apply_to_elements(iterator, op, grain_size, &Function::operator());
}
/// The same; the form for vectors of elements is not used.
template <typename Function, typename VectorFunction>
void cpu_kernel_vec(const TensorIteratorBase& iterator, const Function& op, const VectorFunction&,
                    int64_t grain_size = internal::GRAIN_SIZE) {
  cpu_kernel(iterator, op, grain_size);
}
template <typename Function>
void cpu_serial_kernel(const TensorIteratorBase& iterator, const Function& op) {
  cpu_kernel(iterator, op, iterator.numel() + 1);
}

}  // namespace at::native
