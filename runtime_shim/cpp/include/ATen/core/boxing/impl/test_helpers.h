// What tests of ops use: calling an op through the dispatcher, with a stack or with its own types. Needs gtest.
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

template <typename... Inputs>
std::vector<c10::IValue> makeStack(Inputs&&... inputs) {
  return {std::forward<Inputs>(inputs)...};
}

/// A tensor of one element whose highest backend is this one; the shim has the CPU alone.
inline at::Tensor dummyTensor(c10::DispatchKeySet keys, bool requires_grad = false) {
  TORCH_CHECK_NOT_IMPLEMENTED(keys.has(c10::DispatchKey::CPU), "the shim has tensors on the CPU alone");
  return at::zeros({1}).set_requires_grad(requires_grad);
}
inline at::Tensor dummyTensor(c10::DispatchKey key, bool requires_grad = false) {
  return dummyTensor(c10::DispatchKeySet(key), requires_grad);
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
template <typename T, typename Actual>
void expectListEquals(c10::ArrayRef<T> expected, const Actual& actual) {
  EXPECT_EQ(expected.size(), actual.size());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(expected[i], static_cast<T>(actual[i]));
}
