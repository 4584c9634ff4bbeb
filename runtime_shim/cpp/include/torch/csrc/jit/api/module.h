// torch::jit::Module: a TorchScript module, here a module object of the Python side.
#pragma once

#include <ATen/core/ivalue.h>
#include <ATen/core/qualified_name.h>
#include <torch/csrc/jit/runtime/graph_executor.h>

#include <fstream>
#include <istream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace torch::jit {

/// A name and what it stands for, as `named_parameters()` gives them.
struct NameTensor {
  std::string name;
  at::Tensor value;
};

/// A method of a module, to be called.
class Method {
 public:
  Method(guardfix::Object module, std::string name) : module_(std::move(module)), name_(std::move(name)) {}
  c10::IValue operator()(const std::vector<c10::IValue>& arguments) const {
    static const guardfix::Hook run{"jit_run_method"};
    const guardfix::Object values = c10::IValue(arguments).object();
    return c10::IValue(run({module_, name_, values}));
  }
  const std::string& name() const { return name_; }

 private:
  guardfix::Object module_;
  std::string name_;
};

/// The class of a module.
class ClassType {
 public:
  explicit ClassType(std::string qualified) : name_(std::move(qualified)) {}
  std::optional<c10::QualifiedName> name() const { return name_; }
  std::string str() const { return name_.qualifiedName(); }
  std::string repr_str() const { return str(); }
  std::string annotation_str() const { return str(); }

 private:
  c10::QualifiedName name_;
};

/// An attribute that a module does not have. (No c10::Error, in PyTorch either.)
struct ObjectAttributeError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Files that an archive holds besides the module, by their names.
using ExtraFilesMap = std::unordered_map<std::string, std::string>;

class Module;
/// A name and a module.
struct NameModule;

class Module {
 public:
  Module() = default;
  explicit Module(guardfix::Object object) : object_(std::move(object)) {}

  c10::IValue forward(const std::vector<c10::IValue>& inputs) const { return get_method("forward")(inputs); }
  c10::IValue operator()(const std::vector<c10::IValue>& inputs) const { return forward(inputs); }
  Method get_method(const std::string& name) const { return Method(object_, name); }
  template <typename... Args>
  c10::IValue run_method(const std::string& name, Args&&... args) const {
    return get_method(name)({c10::IValue(std::forward<Args>(args))...});
  }

  void eval() { train(false); }
  void train(bool on = true) {
    static const guardfix::Hook set{"jit_train"};
    set({object_, on});
  }
  bool is_training() const { return attr("training").toBool(); }
  void to(at::ScalarType dtype, bool = false) { move(dtype); }
  void to(at::Device device, bool = false) { move(device); }
  void to(at::Device device, at::ScalarType dtype, bool = false) {
    move(device);
    move(dtype);
  }

  std::vector<at::Tensor> parameters() const { return tensors("parameters"); }
  std::vector<at::Tensor> buffers() const { return tensors("buffers"); }
  std::vector<NameTensor> named_parameters() const { return named("parameters"); }
  std::vector<NameTensor> named_buffers() const { return named("buffers"); }
  std::vector<Module> children() const;
  std::vector<NameModule> named_children() const;
  std::vector<Module> modules() const;
  std::vector<NameModule> named_modules() const;
  std::optional<Method> find_method(const std::string& name) const {
    static const guardfix::Hook ask{"jit_has_method"};
    if (!guardfix::truth_of(ask({object_, name}))) return std::nullopt;
    return get_method(name);
  }
  /// With parameters and buffers of its own.
  Module deepcopy() const { return copied(true); }
  /// With the same parameters and buffers.
  Module copy() const { return copied(false); }
  Module clone(bool = false) const { return copied(false); }
  /// Writes an archive with the present parameters, buffers and attributes.
  void save(std::ostream& out, const ExtraFilesMap& extra_files = {}) const {
    const std::string bytes = archive(extra_files);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  void save(const std::string& filename, const ExtraFilesMap& extra_files = {}) const {
    std::ofstream out(filename, std::ios::binary);
    TORCH_CHECK(out.is_open(), "open file failed, file path: ", filename);
    save(out, extra_files);
  }
  /// The attribute of this name; an ObjectAttributeError when there is none.
  c10::IValue attr(const std::string& name) const {
    if (!hasattr(name)) throw ObjectAttributeError("the module does not have a field with name '" + name + "'");
    static const guardfix::Hook read{"jit_attr"};
    return c10::IValue(read({object_, name}));
  }
  bool hasattr(const std::string& name) const {
    static const guardfix::Hook ask{"jit_hasattr"};
    return guardfix::truth_of(ask({object_, name}));
  }
  std::shared_ptr<ClassType> type() const {
    static const guardfix::Hook read{"jit_type_name"};
    const guardfix::Object name = read({object_});
    const guardfix::Gil gil;
    return std::make_shared<ClassType>(guardfix::text_of(name.get()));
  }
  const guardfix::Object& object() const { return object_; }

 private:
  std::string archive(const ExtraFilesMap& extra_files) const;
  Module copied(bool deep) const {
    static const guardfix::Hook hook{"jit_copy"};
    return Module(hook({object_, deep}));
  }
  std::vector<NameModule> named_modules(const char* kind) const;
  void move(guardfix::Arg where) {
    static const guardfix::Hook hook{"jit_to"};
    hook({object_, where});
  }
  std::vector<NameTensor> named(const char* kind) const {
    static const guardfix::Hook read{"jit_named"};
    const c10::IValue pairs(read({object_, kind}));
    std::vector<NameTensor> all;
    for (const c10::IValue& pair : pairs.elements()) {
      const auto name_and_value = pair.elements();
      all.push_back({name_and_value.at(0).toStringRef(), name_and_value.at(1).toTensor()});
    }
    return all;
  }
  std::vector<at::Tensor> tensors(const char* kind) const {
    std::vector<at::Tensor> values;
    for (NameTensor& entry : named(kind)) values.push_back(std::move(entry.value));
    return values;
  }
  guardfix::Object object_;
};

struct NameModule {
  std::string name;
  Module value;
};

inline std::vector<NameModule> Module::named_modules(const char* kind) const {
  static const guardfix::Hook read{"jit_named"};
  std::vector<NameModule> all;
  for (const c10::IValue& pair : c10::IValue(read({object_, kind})).elements()) {
    const auto name_and_value = pair.elements();
    all.push_back({name_and_value.at(0).toStringRef(), Module(name_and_value.at(1).object())});
  }
  return all;
}
inline std::vector<NameModule> Module::named_children() const { return named_modules("children"); }
inline std::vector<NameModule> Module::named_modules() const { return named_modules("modules"); }
inline std::vector<Module> Module::children() const {
  std::vector<Module> all;
  for (NameModule& entry : named_children()) all.push_back(std::move(entry.value));
  return all;
}
inline std::vector<Module> Module::modules() const {
  std::vector<Module> all;
  for (NameModule& entry : named_modules()) all.push_back(std::move(entry.value));
  return all;
}

namespace detail {

/// Extra files as a dictionary of Python's.
class ExtraFiles {
 public:
  explicit ExtraFiles(const ExtraFilesMap& files) {
    const guardfix::Gil gil;
    dict_ = guardfix::checked(PyDict_New(), "extra files");
    for (const auto& [name, text] : files) {
      const guardfix::Object bytes = guardfix::bytes_from(text.data(), text.size());
      if (PyDict_SetItemString(dict_.get(), name.c_str(), bytes.get()) != 0) guardfix::throw_python_error("extra files");
    }
  }
  const guardfix::Object& object() const { return dict_; }
  /// What the dictionary has for the names by now.
  void read_into(ExtraFilesMap& files) const {
    const guardfix::Gil gil;
    for (auto& [name, text] : files) text = guardfix::bytes_of(PyDict_GetItemString(dict_.get(), name.c_str()));
  }

 private:
  guardfix::Object dict_;
};

inline Module load(guardfix::Arg source, std::optional<at::Device> device, ExtraFilesMap& extra_files) {
  static const guardfix::Hook read{"jit_load"};
  if (device.has_value()) TORCH_CHECK(device->is_cpu(), "torch::jit::load: the shim has no device ", *device);
  const ExtraFiles files(extra_files);
  Module module(read({source, files.object()}));
  files.read_into(extra_files);
  return module;
}

}  // namespace detail

inline std::string Module::archive(const ExtraFilesMap& extra_files) const {
  static const guardfix::Hook write{"jit_save"};
  const guardfix::Object bytes = write({object_, detail::ExtraFiles(extra_files).object()});
  const guardfix::Gil gil;
  return guardfix::bytes_of(bytes.get());
}

/// Reads a TorchScript archive: a file, or what is left of a stream.
inline Module load(const std::string& path, std::optional<at::Device> device, ExtraFilesMap& extra_files, bool = true) {
  return detail::load(path, device, extra_files);
}
inline Module load(std::istream& in, std::optional<at::Device> device, ExtraFilesMap& extra_files, bool = true) {
  const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const guardfix::Gil gil;
  return detail::load(guardfix::bytes_from(bytes.data(), bytes.size()), device, extra_files);
}
inline Module load(const std::string& path, std::optional<at::Device> device = std::nullopt, bool = true) {
  ExtraFilesMap none;
  return load(path, device, none);
}
inline Module load(std::istream& in, std::optional<at::Device> device = std::nullopt, bool = true) {
  ExtraFilesMap none;
  return load(in, device, none);
}

/// The module's `forward` and its preserved attributes, with the parameters as constants.
inline Module freeze(const Module& module, const std::optional<std::vector<std::string>>& preserved_attrs = std::nullopt,
                     bool = true) {
  TORCH_CHECK(!module.hasattr("training") || !module.is_training(),
              "Freezing is currently only implemented for modules in eval mode. Please call .eval() before freezing");
  static const guardfix::Hook hook{"jit_freeze"};
  const c10::IValue names(preserved_attrs.value_or(std::vector<std::string>()));
  return Module(hook({module.object(), names.object()}));
}
inline Module optimize_for_inference(Module& module, const std::vector<std::string>& other_methods = {}) {
  Module frozen = module.hasattr("training") ? freeze(module) : module;
  for (const std::string& name : other_methods) TORCH_CHECK(frozen.find_method(name), "Method '", name, "' is not defined.");
  return frozen;
}

}  // namespace torch::jit

namespace c10 {
inline bool IValue::isModule() const {
  static const guardfix::Hook ask{"is_module"};
  return object_ && guardfix::truth_of(ask({object_}));
}
inline torch::jit::Module IValue::toModule() const {
  expect(isModule(), "Module");
  return torch::jit::Module(object_);
}
}  // namespace c10

namespace torch::jit {

namespace script {
using torch::jit::ExtraFilesMap;
using torch::jit::load;
using Module = torch::jit::Module;
using Method = torch::jit::Method;
}  // namespace script

}  // namespace torch::jit
