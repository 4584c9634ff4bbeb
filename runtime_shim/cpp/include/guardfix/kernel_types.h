// The types of a kernel's parameters and results: their names in a schema, and what owns an argument that came as an
// IValue while the kernel runs.
#pragma once

#include <ATen/core/ivalue.h>
#include <c10/core/SymInt.h>

#include <array>
#include <string>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace guardfix {

/// An argument for a parameter of type T, out of an IValue. A view's elements live here, as long as the call.
template <typename T>
class UnpackedArgument {
 public:
  explicit UnpackedArgument(const c10::IValue& value) : value_(value.to<T>()) {}
  T& get() { return value_; }

 private:
  T value_;
};
template <typename T>
class UnpackedArgument<c10::ArrayRef<T>> {
 public:
  explicit UnpackedArgument(const c10::IValue& value) : elements_(value.to<std::vector<T>>()), view_(elements_) {}
  c10::ArrayRef<T>& get() { return view_; }

 private:
  std::vector<T> elements_;
  c10::ArrayRef<T> view_;
};
template <typename View, typename Element>
class UnpackedOptionalView {
 public:
  explicit UnpackedOptionalView(const c10::IValue& value) {
    if (value.isNone()) return;
    elements_ = value.to<std::vector<Element>>();
    view_ = View(c10::ArrayRef<Element>(elements_));
  }
  View& get() { return view_; }

 private:
  std::vector<Element> elements_;
  View view_;
};
template <typename T>
class UnpackedArgument<std::optional<c10::ArrayRef<T>>>
    : public UnpackedOptionalView<std::optional<c10::ArrayRef<T>>, T> {
  using UnpackedOptionalView<std::optional<c10::ArrayRef<T>>, T>::UnpackedOptionalView;
};
template <typename T>
class UnpackedArgument<c10::OptionalArrayRef<T>> : public UnpackedOptionalView<c10::OptionalArrayRef<T>, T> {
  using UnpackedOptionalView<c10::OptionalArrayRef<T>, T>::UnpackedOptionalView;
};
template <>
class UnpackedArgument<std::string_view> {
 public:
  explicit UnpackedArgument(const c10::IValue& value) : text_(value.toStringRef()), view_(text_) {}
  std::string_view& get() { return view_; }

 private:
  std::string text_;
  std::string_view view_;
};
template <>
class UnpackedArgument<std::optional<std::string_view>> {
 public:
  explicit UnpackedArgument(const c10::IValue& value) {
    if (value.isNone()) return;
    text_ = value.toStringRef();
    view_ = text_;
  }
  std::optional<std::string_view>& get() { return view_; }

 private:
  std::string text_;
  std::optional<std::string_view> view_;
};

/// T, with integers where it has symbols for them.
template <typename T>
struct WithoutSymbolsIn {
  using type = T;
};
template <>
struct WithoutSymbolsIn<c10::SymInt> {
  using type = int64_t;
};
template <>
struct WithoutSymbolsIn<c10::SymIntArrayRef> {
  using type = c10::IntArrayRef;
};
template <>
struct WithoutSymbolsIn<c10::OptionalSymIntArrayRef> {
  using type = c10::OptionalIntArrayRef;
};
template <>
struct WithoutSymbolsIn<std::optional<c10::SymInt>> {
  using type = std::optional<int64_t>;
};
template <typename T>
struct WithoutSymbolsIn<const T&> {
  using type = std::conditional_t<std::is_same_v<typename WithoutSymbolsIn<T>::type, T>, const T&,
                                  const typename WithoutSymbolsIn<T>::type&>;
};
template <typename T>
using WithoutSymbols = typename WithoutSymbolsIn<T>::type;
/// Whether a parameter is of a type with symbols, not a reference to one.
template <typename T>
constexpr bool has_symbols = !std::is_reference_v<T> && !std::is_same_v<WithoutSymbols<T>, T>;

/// The name of a C++ type in a schema: `SchemaName<std::optional<at::Tensor>>::text()` is "Tensor?".
template <typename T>
struct SchemaName;
#define GUARDFIX_SCHEMA_NAME(type, name)         \
  template <>                                    \
  struct SchemaName<type> {                      \
    static std::string text() { return name; }   \
  };
GUARDFIX_SCHEMA_NAME(at::Tensor, "Tensor")
GUARDFIX_SCHEMA_NAME(int64_t, "int")
GUARDFIX_SCHEMA_NAME(c10::SymInt, "SymInt")
GUARDFIX_SCHEMA_NAME(double, "float")
GUARDFIX_SCHEMA_NAME(bool, "bool")
GUARDFIX_SCHEMA_NAME(std::string, "str")
GUARDFIX_SCHEMA_NAME(std::string_view, "str")
GUARDFIX_SCHEMA_NAME(c10::Scalar, "Scalar")
GUARDFIX_SCHEMA_NAME(c10::ScalarType, "ScalarType")
GUARDFIX_SCHEMA_NAME(c10::Device, "Device")
GUARDFIX_SCHEMA_NAME(c10::Layout, "Layout")
GUARDFIX_SCHEMA_NAME(c10::MemoryFormat, "MemoryFormat")
GUARDFIX_SCHEMA_NAME(c10::complex<double>, "complex")
GUARDFIX_SCHEMA_NAME(c10::IValue, "Any")
#undef GUARDFIX_SCHEMA_NAME
template <typename T>
struct SchemaListName {
  static std::string text() { return SchemaName<T>::text() + "[]"; }
};
template <typename T>
struct SchemaName<c10::ArrayRef<T>> : SchemaListName<T> {};
template <typename T>
struct SchemaName<std::vector<T>> : SchemaListName<T> {};
template <typename T>
struct SchemaName<c10::List<T>> : SchemaListName<T> {};
template <typename T, size_t N>
struct SchemaName<std::array<T, N>> {
  static std::string text() { return SchemaName<T>::text() + "[" + std::to_string(N) + "]"; }
};
template <typename T>
struct SchemaName<std::optional<T>> {
  static std::string text() { return SchemaName<T>::text() + "?"; }
};
template <typename T>
struct SchemaName<c10::OptionalArrayRef<T>> : SchemaName<std::optional<c10::ArrayRef<T>>> {};
template <typename Key, typename Value>
struct SchemaName<c10::Dict<Key, Value>> {
  static std::string text() { return "Dict(" + SchemaName<Key>::text() + ", " + SchemaName<Value>::text() + ")"; }
};
template <typename Key, typename Value>
struct SchemaName<std::unordered_map<Key, Value>> : SchemaName<c10::Dict<Key, Value>> {};
template <typename... Elements>
struct SchemaName<std::tuple<Elements...>> {
  static std::string text() {
    std::string text;
    ((text += (text.empty() ? "" : ", ") + SchemaName<std::decay_t<Elements>>::text()), ...);
    return "(" + text + ")";
  }
};

/// What a schema says of the results of a C++ function: named `_0`, `_1`, …
template <typename Return>
struct SchemaReturns {
  static std::string text() { return SchemaName<Return>::text() + " _0"; }
};
template <>
struct SchemaReturns<void> {
  static std::string text() { return "()"; }
};
template <typename... Elements>
struct SchemaReturns<std::tuple<Elements...>> {
  static std::string text() {
    std::string text;
    int number = 0;
    ((text += (number == 0 ? "" : ", ") + SchemaName<std::decay_t<Elements>>::text() + " _" + std::to_string(number),
      ++number),
     ...);
    return "(" + text + ")";
  }
};

/// The schema of a C++ function, without the name: `(Tensor _0, int _1) -> Tensor _0`.
template <typename Return, typename... Args>
std::string schema_of_function() {
  std::string text;
  int number = 0;
  ((text += (number == 0 ? "" : ", ") + SchemaName<std::decay_t<Args>>::text() + " _" + std::to_string(number),
    ++number),
   ...);
  return "(" + text + ") -> " + SchemaReturns<std::decay_t<Return>>::text();
}

/// Results on a stack: a tuple's elements one by one.
template <typename T>
void push_results(std::vector<c10::IValue>& stack, const T& result) {
  stack.emplace_back(c10::IValue(result));
}
template <typename... Elements>
void push_results(std::vector<c10::IValue>& stack, const std::tuple<Elements...>& results) {
  std::apply([&](const auto&... result) { (stack.emplace_back(c10::IValue(result)), ...); }, results);
}

/// The result of an op that was called with a stack, for C++. A reference is to the argument of that type.
template <typename Return>
struct ResultOf {
  template <typename... Args>
  static Return from(const std::vector<c10::IValue>& stack, Args&... args) {
    if constexpr (std::is_reference_v<Return>) {
      std::remove_reference_t<Return>* found = nullptr;
      ((found = found != nullptr ? found : same<Return>(args)), ...);
      TORCH_INTERNAL_ASSERT(found != nullptr, "an op returns a reference to none of its arguments");
      return *found;
    } else {
      TORCH_INTERNAL_ASSERT(stack.size() == 1, "an op gave ", stack.size(), " results where one was expected");
      return stack[0].template to<Return>();
    }
  }

 private:
  template <typename Wanted, typename Arg>
  static std::remove_reference_t<Wanted>* same(Arg& arg) {
    if constexpr (std::is_same_v<std::decay_t<Wanted>, std::decay_t<Arg>>) {
      return const_cast<std::decay_t<Arg>*>(&arg);
    } else {
      return nullptr;
    }
  }
};
template <>
struct ResultOf<void> {
  template <typename... Args>
  static void from(const std::vector<c10::IValue>&, Args&...) {}
};
template <typename... Elements>
struct ResultOf<std::tuple<Elements...>> {
  template <typename... Args>
  static std::tuple<Elements...> from(const std::vector<c10::IValue>& stack, Args&...) {
    static_assert((!std::is_reference_v<Elements> && ...), "the shim has no kernels that return tuples of references");
    const c10::IValue all = stack.size() == 1 && stack[0].isTuple() ? stack[0] : c10::IValue(tuple_of(stack));
    return all.to<std::tuple<Elements...>>();
  }

 private:
  static Object tuple_of(const std::vector<c10::IValue>& stack) {
    const Gil gil;
    const Object list = c10::IValue(stack).object();
    return checked(PySequence_Tuple(list.get()), "results");
  }
};

}  // namespace guardfix
