// An op that the program registered: its schema, its kernels, and which of them runs for a dispatch key.
#pragma once

#include <ATen/core/boxing/KernelFunction.h>
#ifdef GUARDFIX_WITH_STACKS
#include <ATen/core/function_schema.h>
#endif

#include <atomic>
#include <string>
#include <utility>
#include <vector>

namespace c10::impl {

/// Kernels, the latest first. (Plain lists: a std::map costs each program 50 ms of compiling.)
class KernelTable {
 public:
  struct Row {
    DispatchKey key;
    Kernel kernel;
    uint64_t id;
  };
  /// The number by which the kernel is removed again.
  uint64_t add(DispatchKey key, const Kernel& kernel) {
    static std::atomic<uint64_t> last{0};
    rows_.insert(rows_.begin(), {key, kernel, ++last});
    return rows_.front().id;
  }
  void remove(uint64_t id) {
    for (size_t i = 0; i < rows_.size(); ++i)
      if (rows_[i].id == id) return static_cast<void>(rows_.erase(rows_.begin() + static_cast<std::ptrdiff_t>(i)));
  }
  const Kernel* find(DispatchKey key) const {
    for (const Row& row : rows_)
      if (row.key == key) return &row.kernel;
    return nullptr;
  }
  const std::vector<Row>& rows() const { return rows_; }

 private:
  std::vector<Row> rows_;
};

/// Kernels for each op without one of its own for a key.
inline KernelTable& backend_fallbacks() {
  static auto& fallbacks = *new KernelTable;
  return fallbacks;
}

struct OperatorEntry {
  std::string name;
  /// With the namespace; empty until the op is defined.
  std::string schema;
#ifdef GUARDFIX_WITH_STACKS
  std::optional<AliasAnalysisKind> alias_analysis;
#endif
  bool defined = false;
  /// Python registered kernels of its own: calls go there, where all kernels are known.
  std::atomic<bool> in_python{false};
  KernelTable kernels;

  OperatorName operator_name() const {
    const size_t dot = name.find('.');
    return {name.substr(0, dot), dot == std::string::npos ? "" : name.substr(dot + 1)};
  }
  const Kernel* own(DispatchKey key) const { return kernels.find(key); }
  /// The kernel for a key of a tensor, alias keys and fallbacks included; null where there is none.
  const Kernel* kernel_for(DispatchKey key) const {
    if (const Kernel* found = own(key)) return found;
    const bool is_autograd = autograd_dispatch_keyset.has(key);
    const bool is_backend = backend_dispatch_keyset.has(key) || key == DispatchKey::Undefined;
    const Kernel* explicit_composite = own(DispatchKey::CompositeExplicitAutograd);
    if (is_backend) {
      if (const Kernel* found = own(DispatchKey::CompositeExplicitAutogradNonFunctional)) return found;
      if (explicit_composite != nullptr) return explicit_composite;
    }
    if (is_backend || is_autograd) {
      const Kernel* composite = own(DispatchKey::CompositeImplicitAutograd);
      if (composite != nullptr && key == DispatchKey::AutogradOther) check_for_ambiguity();
      if (composite != nullptr && (is_backend || !(explicit_composite != nullptr || has_backend_of(key))))
        return composite;
    }
    if (is_autograd)
      if (const Kernel* found = own(DispatchKey::Autograd)) return found;
    return backend_fallbacks().find(key);
  }
  /// The key at which a call with these keys arrives, and its kernel.
  std::pair<DispatchKey, const Kernel*> lookup(DispatchKeySet keys) const {
    while (!keys.empty()) {
      const DispatchKey key = keys.highestPriorityTypeId();
      const Kernel* kernel = kernel_for(key);
      if (kernel != nullptr && !kernel->is_fallthrough()) return {key, kernel};
      if (kernel == nullptr && backend_dispatch_keyset.has(key)) throw_missing(key);
      // Tensors of several backends: the highest backend's kernels run, its Autograd kernel included.
      keys = keys - (autograd_dispatch_keyset.has(key) ? autograd_dispatch_keyset : DispatchKeySet(key));
    }
    const Kernel* kernel = kernel_for(DispatchKey::Undefined);
    if (kernel == nullptr || kernel->is_fallthrough()) throw_missing(DispatchKey::CPU);
    return {DispatchKey::Undefined, kernel};
  }
#ifdef GUARDFIX_WITH_STACKS
  /// Raises c10::Error when the kernel's signature says something else than the schema.
  void check_schema(DispatchKey key, const Kernel& kernel) const {
    if (kernel.schema().empty()) return;
    const FunctionSchema expected(schema), inferred(name + kernel.schema());
    const std::string reason = difference(expected.arguments(), inferred.arguments(), "argument", kernel.has_symbols()) +
                               difference(expected.returns(), inferred.returns(), "return", kernel.has_symbols());
    TORCH_CHECK(reason.empty(), "Inferred operator schema for a C++ kernel function doesn't match the expected function "
                "schema.\n  operator: ", name, "\n  expected schema: ", expected, "\n  inferred schema: ", inferred,
                "\n    registered for ", key, "\n  reason: ", reason);
  }
#endif

 private:
#ifdef GUARDFIX_WITH_STACKS
  static std::string difference(const std::vector<Argument>& expected, const std::vector<Argument>& inferred,
                                const char* kind, bool has_symbols) {
    if (expected.size() != inferred.size())
      return str("The number of ", kind, "s is different. ", expected.size(), " vs ", inferred.size(), ".");
    for (size_t i = 0; i < expected.size(); ++i) {
      const std::string wanted = plain_type(expected[i].type_text(), has_symbols),
                        found = plain_type(inferred[i].type_text(), true);
      if (!wanted.empty() && !found.empty() && wanted != found)
        return str("Type mismatch in ", kind, " ", i + 1, ": ", wanted, " vs ", found);
    }
    return "";
  }
  /// A type of tensors, numbers or texts, where `int[2]` is `int[]`; empty for others, which can be spelled in several
  /// ways. A kernel without symbols takes integers for them.
  static std::string plain_type(std::string type, bool has_symbols) {
    const std::string name = type.substr(0, type.find_first_of("[?"));
    std::string suffix = type.substr(name.size());
    const size_t digit = suffix.find_first_of("0123456789");
    if (digit != std::string::npos) suffix.erase(digit, suffix.find(']') - digit);
    for (const char* known : {"Tensor", "int", "float", "bool", "str", "SymInt"})
      if (name == known) return (name == "SymInt" && !has_symbols ? "int" : name) + suffix;
    return "";
  }
#endif
  bool has_backend_of(DispatchKey autograd) const {
    if (autograd == DispatchKey::AutogradOther) return false;
    return own(static_cast<DispatchKey>(toBackendComponent(autograd))) != nullptr;
  }
  void check_for_ambiguity() const {
    for (const KernelTable::Row& row : kernels.rows())
      TORCH_CHECK(!autogradother_backends.has(row.key), name,
                  " has kernels registered to both CompositeImplicitAutograd and a backend mapped to AutogradOther. "
                  "This makes the backend kernel unreachable; the dispatcher will always prefer the "
                  "CompositeImplicitAutograd lowering. If you want to override CompositeImplicitAutograd, please open "
                  "an issue to request a dedicated Autograd dispatch key for the backend.\n"
                  "Backend: ", row.key);
  }
  [[noreturn]] void throw_missing(DispatchKey key) const {
    std::string available;
    for (const KernelTable::Row& row : kernels.rows())
      available.append(available.empty() ? "" : ", ").append(toString(row.key));
    C10_THROW_ERROR(NotImplementedError,
                    str("Could not run '", name, "' with arguments from the '", key, "' backend. '", name, "' is only ",
                        "available for these backends: [", available, "] (TORCH_LIBRARY_IMPL with ", key,
                        " or CompositeExplicitAutograd adds one)."));
  }
};

}  // namespace c10::impl
