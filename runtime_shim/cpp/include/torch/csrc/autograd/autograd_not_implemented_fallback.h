// Kernels for ops without a derivative: their results have a history, and backward through it is an error.
#pragma once

#include <torch/library.h>
#include <torch/csrc/autograd/VariableTypeUtils.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/stack.h>

namespace torch::autograd {

namespace detail {

/// The tensors among values, those in lists included.
inline variable_list tensors_in(const std::vector<c10::IValue>& values) {
  variable_list found;
  for (const c10::IValue& value : values) {
    if (value.isTensor()) {
      found.push_back(value.toTensor());
    } else if (value.isTensorList()) {
      for (const at::Tensor& tensor : value.toTensorVector()) found.push_back(tensor);
    }
  }
  return found;
}
/// Those of `values`, arguments or results, that the schema says are written to, or those that it doesn't.
inline variable_list tensors_where(bool written, const std::vector<c10::Argument>& said,
                                   const std::vector<c10::IValue>& values) {
  std::vector<c10::IValue> chosen;
  for (size_t i = 0; i < values.size(); ++i) {
    const c10::AliasInfo* alias = said.at(i).alias_info();
    if ((alias != nullptr && alias->isWrite()) == written) chosen.push_back(values[i]);
  }
  return tensors_in(chosen);
}
/// The place of the one argument or result that shares memory without being written to. Raises c10::Error if there are
/// several.
inline std::optional<size_t> aliased(const std::vector<c10::Argument>& arguments, const char* kind) {
  std::optional<size_t> found;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const c10::AliasInfo* alias = arguments[i].alias_info();
    if (alias == nullptr || alias->isWrite()) continue;
    TORCH_CHECK(!found.has_value(), "Expected only a single ", kind,
                " in the operator schema to have a non-write alias annotation (i.e., 'Tensor(a)'). Non-composite "
                "functions where multiple ", kind, "s are aliased aren't supported. Please rewrite your function as a "
                "composite function.");
    found = i;
  }
  return found;
}

inline void record_not_implemented(const c10::OperatorHandle& op, c10::DispatchKeySet keys, c10::Stack* stack) {
  static const guardfix::Hook make{"node_without_derivative"}, record{"record_without_derivative"};
  const c10::FunctionSchema schema = op.schema();
  aliased(schema.returns(), "output");
  const bool is_view = aliased(schema.arguments(), "input").has_value();
  const std::vector<c10::IValue> arguments = jit::last(*stack, schema.arguments().size()).vec();
  const guardfix::Object node =
      make({schema.name(), tensors_in(arguments), tensors_where(true, schema.arguments(), arguments)});
  if (is_view || !tensors_where(true, schema.arguments(), arguments).empty()) {
    at::AutoDispatchBelowAutograd guard;
    op.redispatchBoxed(keys & c10::after_autograd_keyset, stack);
  } else {
    at::AutoDispatchBelowADInplaceOrView guard;
    op.redispatchBoxed(keys & c10::after_ADInplaceOrView_keyset, stack);
  }
  if (node.get() == Py_None) return;
  const std::vector<c10::IValue> results = jit::last(*stack, schema.returns().size()).vec();
  record({node, tensors_where(false, schema.returns(), results), tensors_where(true, schema.returns(), results)});
}

inline void count_and_track(const c10::OperatorHandle& op, c10::DispatchKeySet keys, c10::Stack* stack) {
  static const guardfix::Hook track{"track_without_derivative"};
  const c10::FunctionSchema schema = op.schema();
  const std::optional<size_t> output = aliased(schema.returns(), "output"), input = aliased(schema.arguments(), "input");
  TORCH_CHECK(output == input && input.value_or(0) == 0,
              "Fallback ADInplaceOrView kernel can only create view relationships between the first input and the first "
              "output (the output can be a vector of tensors). Please change the order of your operator's parameters so "
              "that this is the case.");
  const at::Tensor base = input.has_value() ? jit::peek(*stack, 0, schema.arguments().size()).toTensor() : at::Tensor();
  {
    at::AutoDispatchBelowADInplaceOrView guard;
    op.redispatchBoxed(keys & c10::after_ADInplaceOrView_keyset, stack);
  }
  const std::vector<c10::IValue> results = jit::last(*stack, schema.returns().size()).vec();
  for (const at::Tensor& written : tensors_where(true, schema.returns(), results)) increment_version(written);
  if (input.has_value()) track({schema.name(), base, tensors_in({results.front()}), !results.front().isTensor()});
}

}  // namespace detail

/// For DispatchKey::Autograd.
inline torch::CppFunction autogradNotImplementedFallback() {
  return torch::CppFunction::makeFromBoxedFunction<&detail::record_not_implemented>();
}
/// For DispatchKey::ADInplaceOrView: versions and views, as the schema's annotations say.
inline torch::CppFunction autogradNotImplementedInplaceOrViewFallback() {
  return torch::CppFunction::makeFromBoxedFunction<&detail::count_and_track>();
}

}  // namespace torch::autograd
