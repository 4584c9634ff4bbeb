// Ops of a library that Python loaded are ops of torch.ops: their definitions and kernels are told to the Python side,
// which calls the kernels through IValues. A program keeps its ops to itself.
#pragma once

#include <ATen/core/boxing/KernelFunction.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <guardfix/registered_op.h>

#include <atomic>
#include <string>

namespace guardfix {

#ifdef GUARDFIX_PROGRAM

/// Whether what was registered stays when its handle ends: Python forgets no op.
constexpr bool registrations_last = false;

inline void share_definition(const std::string&, const std::string&, const std::string&, std::atomic<bool>&) {}
inline void share_kernel(const std::string&, c10::DispatchKey, const c10::Kernel&, std::atomic<bool>&) {}
/// Runs `block`, which registers ops before the program's main. An error ends the program.
template <typename Block>
void registering(Block&& block) {
  block();
}

#else

constexpr bool registrations_last = true;

/// A kernel as Python holds it.
struct SharedKernel {
  const std::string& op;
  c10::OperatorName name;
  c10::DispatchKey key;
  c10::Kernel kernel;

  /// kernel(keys, *arguments): the keys of the call as flags.
  static PyObject* call(PyObject* capsule, PyObject* const* args, Py_ssize_t count);
};

/// A Python function of no arguments that sets `flag`, which outlives it.
inline Object setter_of(std::atomic<bool>& flag) {
  static PyMethodDef definition = {
      "set",
      [](PyObject* capsule, PyObject*) -> PyObject* {
        *static_cast<std::atomic<bool>*>(PyCapsule_GetPointer(capsule, nullptr)) = true;
        Py_RETURN_NONE;
      },
      METH_NOARGS, nullptr};
  const Object capsule = checked(PyCapsule_New(&flag, nullptr, nullptr), "setter");
  return checked(PyCFunction_New(&definition, capsule.get()), "setter");
}

inline void share_definition(const std::string& op, const std::string& schema, const std::string& place,
                             std::atomic<bool>& in_python) {
  static const Hook define{"define_op"};
  const Gil gil;
  define({op, schema, place, setter_of(in_python)});
}

inline void share_kernel(const std::string& op, c10::DispatchKey key, const c10::Kernel& kernel,
                         std::atomic<bool>& in_python) {
  static const Hook implement{"implement_op"};
  const Gil gil;
  Object callable;
  if (!kernel.is_fallthrough()) {
    static PyMethodDef definition = {"kernel", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&SharedKernel::call)),
                                     METH_FASTCALL, nullptr};
    const size_t dot = op.find('.');
    const Object capsule =
        checked(PyCapsule_New(new SharedKernel{op, {op.substr(0, dot), dot == std::string::npos ? "" : op.substr(dot + 1)}, key, kernel},
                              nullptr,
                              [](PyObject* c) { delete static_cast<SharedKernel*>(PyCapsule_GetPointer(c, nullptr)); }),
                "kernel");
    callable = checked(PyCFunction_New(&definition, capsule.get()), "kernel");
  }
  implement({op, c10::toString(key), callable, setter_of(in_python)});
}

/// Runs `block`, which registers ops while the library is loaded. C code stands between it and Python, so an error is
/// left with the Python side, which raises it when loading is over.
template <typename Block>
void registering(Block&& block) {
  try {
    block();
  } catch (const c10::Error& error) {
    static const Hook fail{"registration_failed"};
    fail({error.what_without_backtrace()});
  }
}

#endif

}  // namespace guardfix
