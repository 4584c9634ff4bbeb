// What tests of ops use: calling an op through the dispatcher, with a stack or with its own types. Needs gtest.
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <gtest/gtest.h>
#if __has_include(<gmock/gmock.h>)
#include <gmock/gmock.h>
#endif

#include <array>
#include <string>
#include <utility>
#include <vector>

template <typename... Inputs>
std::vector<c10::IValue> makeStack(Inputs&&... inputs) {
  return {std::forward<Inputs>(inputs)...};
}

/// A tensor of one element that says it has these keys, besides ADInplaceOrView and, if it requires grad, the Autograd
/// key of its backend. Its numbers are on the CPU, as all are.
inline at::Tensor dummyTensor(c10::DispatchKeySet keys, bool requires_grad = false) {
  keys = keys.add(c10::DispatchKey::ADInplaceOrView);
  if (requires_grad) {
    keys = keys.add(c10::getAutogradKeyFromBackend(c10::toBackendComponent(c10::legacyExtractDispatchKey(keys))));
  } else {
    keys = keys - c10::autograd_dispatch_keyset;
  }
  const at::Tensor tensor = at::zeros({1});
  at::detail::tensors_with_keys().push_back({tensor, keys});
  return tensor;
}
inline at::Tensor dummyTensor(c10::DispatchKey key, bool requires_grad = false) {
  return dummyTensor(c10::DispatchKeySet(key), requires_grad);
}
inline c10::DispatchKey extractDispatchKey(const at::Tensor& tensor) {
  return c10::legacyExtractDispatchKey(tensor.key_set());
}

template <typename... Args>
std::vector<c10::IValue> callOp(const c10::OperatorHandle& op, Args... args) {
  auto stack = makeStack(std::forward<Args>(args)...);
  op.callBoxed(&stack);
  return stack;
}
template <typename Result, typename... Args>
Result callOpUnboxed(const c10::OperatorHandle& op, Args... args) {
  return op.typed<Result(Args...)>().call(std::forward<Args>(args)...);
}
template <typename Result, typename... Args>
Result callOpUnboxedWithPrecomputedDispatchKeySet(const c10::OperatorHandle& op, c10::DispatchKeySet keys, Args... args) {
  return op.typed<Result(Args...)>().redispatch(keys, std::forward<Args>(args)...);
}

inline void expectDoesntFindOperator(const char* name) {
  EXPECT_FALSE(c10::Dispatcher::singleton().findSchema({name, ""}).has_value());
}
inline void expectDoesntFindKernel(const char* name, c10::DispatchKey key) {
  const auto op = c10::Dispatcher::singleton().findSchema({name, ""});
  EXPECT_ANY_THROW(callOp(*op, dummyTensor(key), 5));
}
template <typename Exception, typename Function>
void expectThrows(Function&& function, const char* part) {
  try {
    std::forward<Function>(function)();
  } catch (const Exception& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    return;
  }
  ADD_FAILURE() << "no error that says: " << part;
}
namespace guardfix {
template <typename T, typename Actual>
void expect_elements(c10::ArrayRef<T> expected, const Actual& actual) {
  EXPECT_EQ(expected.size(), actual.size());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(expected[i], static_cast<T>(actual[i]));
}
}  // namespace guardfix
// What is expected may be a braced list, whose type follows from the other.
template <typename T, size_t N>
void expectListEquals(c10::ArrayRef<T> expected, std::array<T, N> actual) {
  guardfix::expect_elements(expected, actual);
}
template <typename T>
void expectListEquals(c10::ArrayRef<T> expected, c10::ArrayRef<T> actual) {
  guardfix::expect_elements(expected, actual);
}
template <typename T>
void expectListEquals(c10::ArrayRef<T> expected, c10::List<T> actual) {
  guardfix::expect_elements(expected, actual);
}
template <typename T>
void expectListEquals(c10::ArrayRef<T> expected, std::vector<T> actual) {
  guardfix::expect_elements(expected, actual);
}
