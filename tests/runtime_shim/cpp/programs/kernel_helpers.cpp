// What kernels use beside ops: sizes and dimensions, accessors, iterators over elements, values that may be borrowed.
#include <ATen/DeviceGuard.h>
#include <ATen/DimVector.h>
#include <ATen/ExpandUtils.h>
#include <ATen/NumericUtils.h>
#include <ATen/WrapDimUtilsMulti.h>
#include <ATen/ceil_div.h>
#include <ATen/native/DispatchStub.h>
#include <ATen/native/Resize.h>
#include <ATen/native/TensorIterator.h>
#include <ATen/native/cpu/Loops.h>
#include <ATen/native/cpu/utils.h>
#include <ATen/record_function.h>
#include <c10/util/MathConstants.h>
#include <c10/util/ScopeExit.h>
#include <c10/util/bit_cast.h>
#include <c10/util/string_view.h>
#include <torch/torch.h>

#include <iostream>
#include <stdexcept>

template <typename F>
void attempt(const F& f) {
  try {
    f();
    std::cout << "no error\n";
  } catch (const c10::Error& error) {
    std::cout << error.what_without_backtrace() << "\n";
  }
}

at::Tensor hypotenuse(const at::Tensor& a, const at::Tensor& b, at::Tensor out = {}) {
  RECORD_FUNCTION("hypotenuse", {});
  auto iter = at::TensorIteratorConfig()
                  .add_output(out)
                  .add_input(a)
                  .add_input(b)
                  .promote_inputs_to_common_dtype(true)
                  .promote_integer_inputs_to_float(true)
                  .cast_common_dtype_to_outputs(true)
                  .enforce_safe_casting_to_output(true)
                  .build();
  AT_DISPATCH_FLOATING_TYPES(iter.common_dtype(), "hypotenuse", [&] {
    at::native::cpu_kernel(iter, [](scalar_t x, scalar_t y) -> scalar_t { return std::sqrt(x * x + y * y); });
  });
  return iter.output();
}

int main() {
  const at::Tensor row = torch::arange(3.0), column = torch::arange(2.0).reshape({2, 1});
  std::cout << at::IntArrayRef(at::infer_size({2, 1}, {3})) << at::is_expandable_to(at::IntArrayRef({1, 3}), at::IntArrayRef({2, 3}))
            << at::is_expandable_to(at::IntArrayRef({2}), at::IntArrayRef({3})) << "\n";
  attempt([] { at::infer_size({2}, {3}); });
  {
    const auto [a, b] = at::expand_outplace(row, column);
    std::cout << a->sizes() << b->sizes();
    const auto same = at::expand_inplace(row, row);
    std::cout << (*same).is_same(row) << at::sum_to(torch::ones({2, 3}), at::IntArrayRef({3})) << "\n";
  }
  std::cout << at::maybe_wrap_dim(-1, 3) << at::maybe_wrap_dim(0, int64_t(0)) << at::dim_list_to_bitset({{0, -1}}, 3) << "\n";
  attempt([] { at::maybe_wrap_dim(3, 3); });
  attempt([] { at::dim_list_to_bitset({{0, -1}}, 1); });

  at::DimVector sizes{2, 3};
  sizes.append({4});
  sizes.push_back(5);
  std::cout << at::IntArrayRef(sizes) << torch::zeros(sizes).sizes() << sizes.pop_back_val() << "\n";

  const at::Tensor table = torch::arange(6.0).reshape({2, 3});
  const auto packed = table.packed_accessor32<float, 2>();
  const auto wide = table.packed_accessor64<float, 2>().transpose(0, 1);
  const auto plain = table.accessor<float, 2>();
  std::cout << packed[1][2] << wide[2][0] << plain[1].sizes() << plain.strides() << packed.size(0) << "\n";
  attempt([&] { table.packed_accessor64<float, 1>(); });

  const c10::SymInt n = table.sym_size(1);
  std::cout << table.expand_symint({n - 1, n}).sizes() << table.view_symint({n * 2}).sizes()
            << table.narrow_symint(1, n - 2, 2).sizes() << table.new_zeros_symint({n}).sizes()
            << at::slice_symint(table, 1, 0, n - 1).sizes() << table.split_symint(n - 1, 1)[1].sizes()
            << at::full_symint({n, 1}, 7).sum().item<double>() << "\n";

  std::cout << hypotenuse(row, column).sizes() << hypotenuse(torch::tensor(3), torch::tensor(4)).item<double>()
            << hypotenuse(row, torch::zeros({3}, torch::kLong)).dtype() << hypotenuse(row, torch::zeros({3}, torch::kDouble)).dtype()
            << hypotenuse(row, torch::zeros({}, torch::kDouble)).dtype() << "\n";
  attempt([&] { hypotenuse(row, row, torch::zeros({3}, torch::kLong)); });

  at::Tensor out = torch::empty({0});
  std::cout << at::native::resize_output(out, {2, 2}) << at::native::resize_output(out, {2, 2}) << out.sizes() << "\n";
  int64_t i = 0, j = 0;
  at::native::data_index_init(int64_t(4), i, int64_t(2), j, int64_t(3));
  std::cout << i << j;
  at::native::data_index_step(i, int64_t(2), j, int64_t(3));
  std::cout << i << j << at::ceil_div(7, 2) << at::round_up(7, 4) << at::_isnan(0.0f / 0.0f) << at::_isinf(1) << "\n";

  const at::OptionalDeviceGuard guard(at::device_of(row));
  std::cout << guard.current_device().has_value() << c10::DeviceGuard(row.device()).current_device() << "\n";
  {
    const auto end = c10::make_scope_exit([] { std::cout << "end of the scope\n"; });
    std::cout << c10::pi<float> << c10::bit_cast<int32_t>(1.0f) << "\n";
  }

  torch::jit::Stack stack;
  torch::jit::push(stack, 1, c10::Layout::Strided, at::MemoryFormat::ChannelsLast);
  std::cout << torch::jit::last(&stack, 2).size() << stack[1].toLayout() << stack[2].toMemoryFormat() << "\n";
}
