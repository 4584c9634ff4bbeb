// The nodes of the autograd graph, as far as programs look at them: torch::autograd::Node. Included where at::Tensor
// is complete.
#pragma once

#include <guardfix/call.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace torch::autograd {

using at::Tensor;
using Variable = at::Tensor;
using variable_list = std::vector<Variable>;
using tensor_list = std::vector<at::Tensor>;

struct Edge;

/// A node of the graph: what `grad_fn()` points to.
class Node {
 public:
  Node() = default;
  explicit Node(guardfix::Object object) : object_(std::move(object)) {}
  /// For example MulBackward0.
  std::string name() const {
    static const guardfix::Hook read{"node_name"};
    const guardfix::Object name = read({object_});
    const guardfix::Gil gil;
    return guardfix::text_of(name.get());
  }
  /// Where the gradients of the inputs go.
  std::vector<Edge> next_edges() const;
  Edge next_edge(size_t index) const;
  const guardfix::Object& object() const { return object_; }

 private:
  guardfix::Object object_;
};

/// Null for None. As long as somebody has a pointer to a node, each other pointer to it is equal.
inline std::shared_ptr<Node> node_of(const guardfix::Object& object) {
  if (!object || object.get() == Py_None) return nullptr;
  static auto& known = *new std::unordered_map<PyObject*, std::weak_ptr<Node>>();
  const guardfix::Gil gil;
  std::shared_ptr<Node> node = known[object.get()].lock();
  if (node == nullptr) {
    node = std::shared_ptr<Node>(new Node(object), [](Node* last) {
      if (Py_IsInitialized()) {
        const guardfix::Gil gil;
        const auto entry = known.find(last->object().get());
        if (entry != known.end() && entry->second.expired()) known.erase(entry);
      }
      delete last;
    });
    known[object.get()] = node;
  }
  return node;
}

/// A node and which of its inputs is meant.
struct Edge {
  std::shared_ptr<Node> function;
  uint32_t input_nr = 0;
  bool is_valid() const { return function != nullptr; }
};

inline std::vector<Edge> Node::next_edges() const {
  static const guardfix::Hook read{"next_functions"};
  const guardfix::Object pairs = read({object_});
  const guardfix::Gil gil;
  std::vector<Edge> edges;
  const guardfix::Object fast = guardfix::checked(PySequence_Fast(pairs.get(), "edges"), "next_edges");
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast.get()); ++i) {
    const guardfix::Object pair = guardfix::Object::borrow(PySequence_Fast_GET_ITEM(fast.get(), i));
    const guardfix::Object node = guardfix::checked(PySequence_GetItem(pair.get(), 0), "next_edges"),
                           nr = guardfix::checked(PySequence_GetItem(pair.get(), 1), "next_edges");
    edges.push_back({node_of(node), static_cast<uint32_t>(guardfix::as_integer(nr.get(), "next_edges"))});
  }
  return edges;
}
inline Edge Node::next_edge(size_t index) const { return next_edges().at(index); }

}  // namespace torch::autograd
