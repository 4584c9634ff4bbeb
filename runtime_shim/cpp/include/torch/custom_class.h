// torch::class_: classes of the program's own whose objects go to Python and back, found there in torch.classes.
#pragma once

#include <torch/library.h>

#include <functional>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>

namespace guardfix {

constexpr const char* custom_object = "guardfix.custom_object";
using CustomPointer = c10::intrusive_ptr<torch::CustomClassHolder>;

/// What torch::class_ knows of a C++ class. The Python class is none until it is registered.
template <typename T>
struct CustomClass {
  inline static PyObject* python_class = nullptr;
  /// A function's, since classes are registered before such a variable of a template is sure to be initialised.
  static std::string& qualified_name() {
    static std::string name;
    return name;
  }
};

/// A method as Python calls it: takes `self` and its arguments off a stack and leaves its result there.
using CustomMethod = std::function<void(c10::Stack&)>;

inline Object callable_of(CustomMethod method) {
  static PyMethodDef definition = {
      "method",
      reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(+[](PyObject* capsule, PyObject* const* args,
                                                                    Py_ssize_t count) -> PyObject* {
        try {
          const auto& function = *static_cast<CustomMethod*>(PyCapsule_GetPointer(capsule, nullptr));
          c10::Stack stack;
          for (Py_ssize_t i = 0; i < count; ++i) stack.emplace_back(Object::borrow(args[i]));
          {
            const GilReleased released;
            function(stack);
          }
          if (stack.empty()) Py_RETURN_NONE;
          return Object::borrow(stack[0].python()).release();
        } catch (...) {
          set_python_error();
          return nullptr;
        }
      })),
      METH_FASTCALL, nullptr};
  const Gil gil;
  const Object capsule = checked(
      PyCapsule_New(new CustomMethod(std::move(method)), nullptr,
                    [](PyObject* c) { delete static_cast<CustomMethod*>(PyCapsule_GetPointer(c, nullptr)); }),
      "method");
  return checked(PyCFunction_New(&definition, capsule.get()), "method");
}

/// A capsule that owns one share of the object.
inline Object capsule_of(CustomPointer pointer) {
  const Gil gil;
  return checked(PyCapsule_New(new CustomPointer(std::move(pointer)), custom_object,
                               [](PyObject* c) {
                                 delete static_cast<CustomPointer*>(PyCapsule_GetPointer(c, custom_object));
                               }),
                 "custom class");
}

template <typename T>
Object object_of_class(const c10::intrusive_ptr<T>& pointer) {
  if (!pointer) return {};
  TORCH_CHECK(CustomClass<T>::python_class != nullptr, "Trying to return a class that is not registered with torch::class_");
  static const Hook wrap{"wrap_custom_object"};
  return wrap({CustomClass<T>::python_class, capsule_of(pointer)});
}
template <typename T>
c10::intrusive_ptr<T> custom_pointer_of(const c10::IValue& value) {
  if (value.isNone()) return {};
  static const Hook unwrap{"unwrap_custom_object"};
  const Object capsule = unwrap({value.python()});
  const Gil gil;
  auto* pointer = static_cast<CustomPointer*>(PyCapsule_GetPointer(capsule.get(), custom_object));
  if (pointer == nullptr) throw_python_error("custom class");
  T* object = dynamic_cast<T*>(pointer->get());
  TORCH_CHECK(object != nullptr, "Expected an object of the class ", CustomClass<T>::qualified_name());
  return c10::intrusive_ptr<T>::reclaim_copy(object);
}

template <typename T>
struct SchemaName<c10::intrusive_ptr<T>> {
  static std::string text() { return CustomClass<T>::qualified_name(); }
};

}  // namespace guardfix

namespace c10 {
template <typename T>
struct IValueAs<intrusive_ptr<T>> {
  static intrusive_ptr<T> from(const IValue& value) { return guardfix::custom_pointer_of<T>(value); }
};
inline bool IValue::isCustomClass() const {
  static const guardfix::Hook ask{"is_custom_object"};
  return isObject() && guardfix::truth_of(ask({python()}));
}
template <typename T>
intrusive_ptr<T> IValue::toCustomClass() const {
  TORCH_CHECK(isObject(), "Expected Object but got ", tagKind());
  return guardfix::custom_pointer_of<T>(*this);
}
}  // namespace c10

namespace torch {

template <typename T>
using intrusive_ptr = c10::intrusive_ptr<T>;

/// The constructor for these arguments, for `class_::def`.
template <typename... Args>
struct init_types {};
template <typename... Args>
init_types<Args...> init() {
  return {};
}
/// A constructor that is a function: it returns an intrusive_ptr to a new object.
template <typename Function>
struct init_function {
  Function function;
};
template <typename Function>
init_function<std::decay_t<Function>> init(Function&& function) {
  return {std::forward<Function>(function)};
}

/// A named parameter, and the value that it has by default: `torch::arg("size") = 3`.
class arg {
 public:
  explicit arg(std::string name) : name_(std::move(name)) {}
  arg& operator=(const c10::IValue& value) {
    value_ = value;
    return *this;
  }
  static c10::IValue none() { return {}; }
  const std::string& name() const { return name_; }
  const std::optional<c10::IValue>& value() const { return value_; }

 private:
  std::string name_;
  std::optional<c10::IValue> value_;
};

/// Registers the class T: `torch::class_<T>("mine", "Name").def(torch::init<int64_t>()).def("get", &T::get)`.
template <class T>
class class_ {
  static_assert(std::is_base_of_v<CustomClassHolder, T>, "torch::class_<T> requires T to inherit from CustomClassHolder");
  using Self = c10::intrusive_ptr<T>;

 public:
  class_(const std::string& ns, const std::string& name, const std::string& doc = "") {
    static const guardfix::Hook define{"define_class"};
    python_ = define({ns, name, doc});
    guardfix::CustomClass<T>::qualified_name() = "__torch__.torch.classes." + ns + "." + name;
    const guardfix::Gil gil;
    guardfix::CustomClass<T>::python_class = guardfix::Object(python_).release();
  }

  template <typename... Args>
  class_& def(init_types<Args...>, const std::string& doc = "", std::initializer_list<arg> parameters = {}) {
    return constructor([](Args... args) { return c10::make_intrusive<T>(std::forward<Args>(args)...); }, doc, parameters);
  }
  template <typename Function>
  class_& def(init_function<Function> made, const std::string& doc = "", std::initializer_list<arg> parameters = {}) {
    return constructor(std::move(made.function), doc, parameters);
  }
  /// A method: of T, or a function whose first parameter is the object.
  template <typename Function>
  class_& def(const std::string& name, Function function, const std::string& doc = "",
              std::initializer_list<arg> parameters = {}) {
    tell("method", name, stacked(std::move(function)), doc, parameters);
    return *this;
  }
  template <typename Function>
  class_& def_static(const std::string& name, Function function, const std::string& doc = "") {
    tell("static", name, stacked(std::move(function)), doc, {});
    return *this;
  }
  template <typename Getter>
  class_& def_property(const std::string& name, Getter getter, const std::string& doc = "") {
    tell("getter", name, stacked(std::move(getter)), doc, {});
    return *this;
  }
  template <typename Getter, typename Setter,
            typename = std::enable_if_t<!std::is_convertible_v<Setter, std::string>>>
  class_& def_property(const std::string& name, Getter getter, Setter setter, const std::string& doc = "") {
    def_property(name, std::move(getter), doc);
    tell("setter", name, stacked(std::move(setter)), doc, {});
    return *this;
  }
  template <typename Field>
  class_& def_readonly(const std::string& name, Field T::*field) {
    return def_property(name, [field](const Self& self) { return self.get()->*field; });
  }
  template <typename Field>
  class_& def_readwrite(const std::string& name, Field T::*field) {
    return def_property(
        name, [field](const Self& self) { return self.get()->*field; },
        [field](const Self& self, Field value) { self.get()->*field = std::move(value); });
  }
  /// How objects are pickled: `get_state(self)` gives a value, of which `set_state` makes an object.
  template <typename GetState, typename SetState>
  class_& def_pickle(GetState get_state, SetState set_state) {
    tell("get_state", "__getstate__", stacked(std::move(get_state)), "", {});
    tell("set_state", "__setstate__", made_by(std::move(set_state)), "", {});
    return *this;
  }

 private:
  template <typename Function>
  class_& constructor(Function function, const std::string& doc, std::initializer_list<arg> parameters) {
    tell("constructor", "__init__", made_by(std::move(function)), doc, parameters);
    return *this;
  }
  void tell(const char* kind, const std::string& name, guardfix::CustomMethod method, const std::string& doc,
            std::initializer_list<arg> parameters) {
    static const guardfix::Hook define{"define_method"};
    std::vector<c10::IValue> names, values;
    for (const arg& parameter : parameters) {
      names.emplace_back(parameter.name());
      if (parameter.value().has_value()) values.push_back(*parameter.value());
    }
    define({python_, kind, name, guardfix::callable_of(std::move(method)), doc, c10::IValue(names).object(),
            c10::IValue(values).object()});
  }

  // Functions of all kinds, called with a stack.
  template <typename Function, typename Return, typename... Args, size_t... at>
  static void call(Function& function, c10::Stack& stack, std::index_sequence<at...>) {
    TORCH_CHECK(stack.size() == sizeof...(Args), "expected ", sizeof...(Args), " argument(s), got ", stack.size());
    std::tuple<guardfix::UnpackedArgument<std::decay_t<Args>>...> arguments(stack[at]...);
    if constexpr (std::is_void_v<Return>) {
      function(static_cast<Args>(std::get<at>(arguments).get())...);
      stack.clear();
    } else {
      c10::IValue result(std::decay_t<Return>(function(static_cast<Args>(std::get<at>(arguments).get())...)));
      stack = {std::move(result)};
    }
  }
  template <typename Function, typename Return, typename... Args>
  static guardfix::CustomMethod with_stack(Function function) {
    return [function](c10::Stack& stack) mutable {
      call<Function, Return, Args...>(function, stack, std::index_sequence_for<Args...>());
    };
  }
  template <typename Return, typename... Args>
  static guardfix::CustomMethod stacked(Return (T::*method)(Args...)) {
    const auto function = [method](const Self& self, Args... args) -> Return {
      return (self.get()->*method)(std::forward<Args>(args)...);
    };
    return with_stack<decltype(function), Return, const Self&, Args...>(function);
  }
  template <typename Return, typename... Args>
  static guardfix::CustomMethod stacked(Return (T::*method)(Args...) const) {
    const auto function = [method](const Self& self, Args... args) -> Return {
      return (self.get()->*method)(std::forward<Args>(args)...);
    };
    return with_stack<decltype(function), Return, const Self&, Args...>(function);
  }
  template <typename Return, typename... Args>
  static guardfix::CustomMethod stacked(Return (*function)(Args...)) {
    return with_stack<decltype(function), Return, Args...>(function);
  }
  template <typename Lambda>
  static guardfix::CustomMethod stacked(Lambda lambda) {
    return stacked_by(std::move(lambda), &Lambda::operator());
  }
  template <typename Lambda, typename Return, typename... Args>
  static guardfix::CustomMethod stacked_by(Lambda lambda, Return (Lambda::*)(Args...) const) {
    return with_stack<Lambda, Return, Args...>(std::move(lambda));
  }
  template <typename Lambda, typename Return, typename... Args>
  static guardfix::CustomMethod stacked_by(Lambda lambda, Return (Lambda::*)(Args...)) {
    return with_stack<Lambda, Return, Args...>(std::move(lambda));
  }
  /// What makes an object: leaves a capsule that owns it, for the Python object that is being made.
  template <typename Function>
  static guardfix::CustomMethod made_by(Function function) {
    if constexpr (std::is_pointer_v<Function>) {
      return made(function, function);
    } else {
      return made(function, &Function::operator());
    }
  }
  template <typename Function, typename Owner, typename... Args>
  static guardfix::CustomMethod made(Function function, Self (Owner::*)(Args...) const) {
    return capsule_made<Function, Args...>(std::move(function));
  }
  template <typename Function, typename... Args>
  static guardfix::CustomMethod made(Function function, Self (*)(Args...)) {
    return capsule_made<Function, Args...>(std::move(function));
  }
  template <typename Function, typename... Args>
  static guardfix::CustomMethod capsule_made(Function function) {
    const auto make = [function](Args... args) -> c10::IValue {
      return c10::IValue(guardfix::capsule_of(function(std::forward<Args>(args)...)));
    };
    return with_stack<decltype(make), c10::IValue, Args...>(make);
  }

  guardfix::Object python_;
};

template <typename Class>
torch::class_<Class> Library::class_(const std::string& name) {
  return torch::class_<Class>(ns_, name);
}

}  // namespace torch
