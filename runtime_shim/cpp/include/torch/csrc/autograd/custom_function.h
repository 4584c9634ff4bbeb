// torch::autograd::Function<T>: an op with a gradient of the program's own.
#pragma once

#include <ATen/core/ivalue.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/variable.h>

#include <cxxabi.h>

#include <cstdlib>
#include <string>
#include <typeinfo>
#include <vector>

namespace torch::autograd {

/// Arguments by their numbers; the end is not included.
using IndexRange = std::pair<size_t, size_t>;

/// Values by name: `saved_data["scale"] = 2.0`. As a map, for the few names that there are.
class SavedData {
 public:
  using Entry = std::pair<std::string, at::IValue>;
  using value_type = Entry;
  using iterator = std::vector<Entry>::iterator;
  at::IValue& operator[](const std::string& name) { return emplace(name, at::IValue()).first->second; }
  at::IValue& at(const std::string& name) {
    const auto found = find(name);
    TORCH_CHECK_INDEX(found != end(), "Argument passed to at() was not in the map.");
    return found->second;
  }
  iterator find(const std::string& name) {
    auto entry = begin();
    while (entry != end() && entry->first != name) ++entry;
    return entry;
  }
  /// The entry of that name, and whether it is new; one that is there keeps its value.
  template <typename Value>
  std::pair<iterator, bool> emplace(const std::string& name, Value&& value) {
    const auto found = find(name);
    if (found != end()) return {found, false};
    entries_.emplace_back(name, at::IValue(std::forward<Value>(value)));
    return {end() - 1, true};
  }
  std::pair<iterator, bool> insert(const Entry& entry) { return emplace(entry.first, entry.second); }
  template <typename Value>
  std::pair<iterator, bool> insert_or_assign(const std::string& name, Value&& value) {
    auto found = emplace(name, at::IValue());
    found.first->second = at::IValue(std::forward<Value>(value));
    return found;
  }
  /// How many entries went: one or none.
  size_t erase(const std::string& name) {
    const auto found = find(name);
    if (found == end()) return 0;
    entries_.erase(found);
    return 1;
  }
  iterator erase(iterator entry) { return entries_.erase(entry); }
  void clear() { entries_.clear(); }
  size_t count(const std::string& name) { return find(name) == end() ? 0 : 1; }
  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  iterator begin() { return entries_.begin(); }
  iterator end() { return entries_.end(); }

 private:
  std::vector<Entry> entries_;
};

/// What `forward` leaves for `backward`.
struct AutogradContext {
  AutogradContext() = default;
  AutogradContext(const AutogradContext&) = delete;
  AutogradContext(AutogradContext&&) = delete;
  AutogradContext& operator=(const AutogradContext&) = delete;
  AutogradContext& operator=(AutogradContext&&) = delete;

  /// Values other than tensors.
  SavedData saved_data;

  /// Saves tensors for `backward`, which checks that nothing changed them meanwhile.
  void save_for_backward(const variable_list& to_save) { tell("save_for_backward", to_save); }
  /// The saved tensors; an error when an in-place op changed one, or when they have been freed.
  variable_list get_saved_variables() const {
    static const guardfix::Hook read{"saved_variables"};
    return guardfix::tensors_of(read({python_}));
  }
  /// `inputs` were changed in place in `forward`.
  void mark_dirty(const variable_list& inputs) { tell("mark_dirty", inputs); }
  /// `outputs` have no gradient.
  void mark_non_differentiable(const variable_list& outputs) { tell("mark_non_differentiable", outputs); }
  /// False: `backward` gets undefined tensors, instead of zeros, for outputs that nothing used.
  void set_materialize_grads(bool value) {
    static const guardfix::Hook set{"set_materialize_grads"};
    set({python_, value});
  }
  /// Whether the gradient of the tensor argument number `index` is wanted.
  bool needs_input_grad(size_t index) const {
    static const guardfix::Hook read{"needs_input_grad"};
    return guardfix::truth_of(read({python_, index}));
  }
  /// Whether that of any argument in these ranges is.
  bool needs_input_grad(std::initializer_list<IndexRange> ranges) const {
    for (const auto& [first, end] : ranges)
      for (size_t index = first; index < end; ++index)
        if (needs_input_grad(index)) return true;
    return false;
  }

 private:
  template <typename T>
  friend struct CppNode;

  void tell(const char* what, const variable_list& tensors) const {
    static const guardfix::Hook hook{"context_call"};
    hook({python_, what, tensors});
  }

  PyObject* python_ = nullptr;  // borrowed: the Python context owns this one
};

/// Whether the gradient of one of them is wanted.
inline bool any_variable_requires_grad(const variable_list& variables) {
  for (const Variable& variable : variables)
    if (variable.defined() && variable.requires_grad()) return true;
  return false;
}

template <typename X, typename... Args>
using forward_t = decltype(X::forward(nullptr, std::declval<Args>()...));

/// Derive from Function<T> for `T::apply(…)`. T has `forward(AutogradContext*, …)`, which takes anything and returns
/// a Variable or a variable_list, and `backward(AutogradContext*, variable_list)`, which returns a gradient for each
/// argument of forward: an undefined Variable for what is not a tensor.
template <class T>
struct Function {
  template <typename X = T, typename... Args>
  static auto apply(Args&&... args) -> std::enable_if_t<std::is_same_v<X, T>, forward_t<X, Args...>>;
};

/// One application of Function<T>: its context, and how Python gets at forward and backward.
template <class T>
struct CppNode {
  /// The name of the node, as in torch::autograd::CppNode<MyFunction>.
  static std::string name() {
    int status = 0;
    char* text = abi::__cxa_demangle(typeid(CppNode<T>).name(), nullptr, nullptr, &status);
    const std::string name = status == 0 ? text : typeid(CppNode<T>).name();
    std::free(text);
    return name;
  }

  AutogradContext context;
  std::vector<bool> is_variable;
  // Calls T::forward with the arguments of apply, which live until apply returns.
  const void* arguments = nullptr;
  variable_list (*forward)(const void* arguments, AutogradContext* context) = nullptr;

  // The arguments in order; a list of tensors counts as its elements.
  void collect(variable_list& inputs, const at::Tensor& tensor) {
    is_variable.push_back(true);
    inputs.push_back(tensor);
  }
  void collect(variable_list& inputs, const std::optional<at::Tensor>& tensor) {
    is_variable.push_back(tensor.has_value() && tensor->defined());
    if (is_variable.back()) inputs.push_back(*tensor);
  }
  void collect(variable_list& inputs, at::TensorList tensors) {
    for (const at::Tensor& tensor : tensors) collect(inputs, tensor);
  }
  void collect(variable_list& inputs, const variable_list& tensors) { collect(inputs, at::TensorList(tensors)); }
  template <typename Other>
  void collect(variable_list&, const Other&) {
    is_variable.push_back(false);
  }

  /// The gradients that Python wants: one for each tensor argument.
  variable_list gradients(const variable_list& grads) {
    variable_list results = T::backward(&context, grads);
    const size_t expected = is_variable.size();
    while (results.size() > expected && !results.back().defined()) results.pop_back();
    TORCH_CHECK(results.size() == expected, "function ", name(),
                " returned an incorrect number of gradients (expected ", expected, ", got ", results.size(), ")");
    variable_list wanted;
    for (size_t i = 0; i < expected; ++i) {
      if (is_variable[i]) {
        wanted.push_back(results[i]);
      } else {
        TORCH_CHECK(!results[i].defined(), "function ", name(),
                    " returned a gradient different that is defined at position ", i + 1,
                    ", std the corresponding forward input was not a Variable");
      }
    }
    return wanted;
  }

  /// `node` for Python, which deletes it when the graph is gone.
  static guardfix::Object owned(CppNode* node) {
    const guardfix::Gil gil;
    return guardfix::checked(PyCapsule_New(node, nullptr, [](PyObject* capsule) { delete node_of(capsule); }), "apply");
  }
  /// The class of the Python side for T, made once.
  static PyObject* python_class() {
    static PyObject* const made = [] {
      static PyMethodDef forward = {"forward", &CppNode::call_forward, METH_VARARGS, nullptr};
      static PyMethodDef backward = {"backward", &CppNode::call_backward, METH_VARARGS, nullptr};
      static const guardfix::Hook make{"custom_function"};
      const guardfix::Gil gil;
      const guardfix::Object f = guardfix::checked(PyCFunction_New(&forward, nullptr), "forward"),
                             b = guardfix::checked(PyCFunction_New(&backward, nullptr), "backward");
      return make({name(), f, b}).release();
    }();
    return made;
  }

 private:
  static guardfix::Object as_tuple(const variable_list& tensors) {
    const guardfix::Object list = guardfix::Arg(tensors).python();
    return guardfix::checked(PySequence_Tuple(list.get()), "tuple");
  }
  static CppNode* node_of(PyObject* capsule) {
    return static_cast<CppNode*>(PyCapsule_GetPointer(capsule, nullptr));
  }
  // forward(context, node) -> outputs
  static PyObject* call_forward(PyObject*, PyObject* args) {
    PyObject *context = nullptr, *capsule = nullptr;
    if (PyArg_ParseTuple(args, "OO", &context, &capsule) == 0) return nullptr;
    try {
      CppNode* node = node_of(capsule);
      node->context.python_ = context;
      const variable_list outputs = [&] {
        const guardfix::GilReleased released;
        return node->forward(node->arguments, &node->context);
      }();
      return as_tuple(outputs).release();
    } catch (...) {
      guardfix::set_python_error();
      return nullptr;
    }
  }
  // backward(context, node, gradients) -> gradients
  static PyObject* call_backward(PyObject*, PyObject* args) {
    PyObject *context = nullptr, *capsule = nullptr, *grads = nullptr;
    if (PyArg_ParseTuple(args, "OOO", &context, &capsule, &grads) == 0) return nullptr;
    try {
      CppNode* node = node_of(capsule);
      node->context.python_ = context;
      const variable_list incoming = guardfix::tensors_of(guardfix::Object::borrow(grads));
      const variable_list results = [&] {
        const guardfix::GilReleased released;
        return node->gradients(incoming);
      }();
      return as_tuple(results).release();
    } catch (...) {
      guardfix::set_python_error();
      return nullptr;
    }
  }
};

template <class T>
template <typename X, typename... Args>
auto Function<T>::apply(Args&&... args) -> std::enable_if_t<std::is_same_v<X, T>, forward_t<X, Args...>> {
  using Output = forward_t<X, Args...>;
  static_assert(std::is_same_v<Output, Variable> || std::is_same_v<Output, variable_list>,
                "forward returns a Variable or a variable_list");
  auto* node = new CppNode<X>;
  const guardfix::Object capsule = CppNode<X>::owned(node);
  variable_list inputs;
  (node->collect(inputs, args), ...);
  for (const at::Tensor& input : inputs) TORCH_CHECK(input.defined(), "tensor does not have a device");
  const auto forward = [&](AutogradContext* context) -> variable_list {
    if constexpr (std::is_same_v<Output, Variable>) {
      return {X::forward(context, std::forward<Args>(args)...)};
    } else {
      return X::forward(context, std::forward<Args>(args)...);
    }
  };
  node->arguments = &forward;
  node->forward = [](const void* arguments, AutogradContext* context) {
    return (*static_cast<decltype(forward)*>(arguments))(context);
  };
  static const guardfix::Hook apply_function{"apply_function"};
  variable_list outputs =
      guardfix::tensors_of(apply_function({CppNode<X>::python_class(), capsule, inputs}));
  if constexpr (std::is_same_v<Output, Variable>) {
    return outputs.at(0);
  } else {
    return outputs;
  }
}

}  // namespace torch::autograd

// As in PyTorch, whose header brings these along; last, since they need what is declared here.
#include <ATen/ATen.h>
