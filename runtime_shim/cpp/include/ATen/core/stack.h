// torch::jit::Stack, which comes with the values: taking arguments off it and putting results there.
#pragma once

#include <ATen/core/ivalue.h>

#include <utility>
#include <vector>

namespace torch::jit {

/// The i-th of the last n values.
inline IValue& peek(Stack& stack, size_t i, size_t n) { return stack.at(stack.size() - n + i); }
inline const IValue& peek(const Stack& stack, size_t i, size_t n) { return stack.at(stack.size() - n + i); }
/// The last n values, the first of them first.
inline c10::ArrayRef<IValue> last(const Stack& stack, size_t n) { return {stack.data() + (stack.size() - n), n}; }
inline void drop(Stack& stack, size_t n) { stack.erase(stack.end() - static_cast<std::ptrdiff_t>(n), stack.end()); }
inline IValue pop(Stack& stack) {
  IValue value = std::move(stack.back());
  stack.pop_back();
  return value;
}
inline std::vector<IValue> pop(Stack& stack, size_t n) {
  std::vector<IValue> values(stack.end() - static_cast<std::ptrdiff_t>(n), stack.end());
  drop(stack, n);
  return values;
}
/// `pop(stack, a, b)`: b is on top.
template <typename... Types>
void pop(Stack& stack, Types&... values) {
  size_t i = 0;
  ((values = peek(stack, i++, sizeof...(Types)).template to<Types>()), ...);
  drop(stack, sizeof...(Types));
}
template <typename... Types>
void push(Stack& stack, Types&&... values) {
  (stack.emplace_back(IValue(std::forward<Types>(values))), ...);
}
inline void push_one(Stack& stack, IValue value) { stack.push_back(std::move(value)); }
template <typename T>
void pack(Stack& stack, T&& value) {
  stack.emplace_back(IValue(std::forward<T>(value)));
}
template <typename... Elements>
void pack(Stack& stack, std::tuple<Elements...>&& values) {
  std::apply([&](auto&&... value) { push(stack, std::move(value)...); }, std::move(values));
}
// The same with a pointer.
inline IValue& peek(Stack* stack, size_t i, size_t n) { return peek(*stack, i, n); }
inline void drop(Stack* stack, size_t n) { drop(*stack, n); }
inline c10::ArrayRef<IValue> last(const Stack* stack, size_t n) { return last(*stack, n); }
inline IValue pop(Stack* stack) { return pop(*stack); }
inline std::vector<IValue> pop(Stack* stack, size_t n) { return pop(*stack, n); }
template <typename... Types>
void pop(Stack* stack, Types&... values) {
  pop(*stack, values...);
}
template <typename T>
void pack(Stack* stack, T&& value) {
  pack(*stack, std::forward<T>(value));
}
template <typename... Types>
void push(Stack* stack, Types&&... values) {
  push(*stack, std::forward<Types>(values)...);
}

}  // namespace torch::jit
