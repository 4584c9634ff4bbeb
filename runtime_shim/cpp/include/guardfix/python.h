// The CPython API in C++ clothes: the interpreter lock, owned references, and errors in both directions.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <c10/util/Exception.h>

#include <exception>
#include <string>
#include <utility>

namespace guardfix {

/// Keeps a thread known to Python for as long as it runs: what Python has for each thread, modes and dispatch keys
/// among it, would otherwise be gone as soon as the thread lets go of the lock.
class ThreadAttachment {
 public:
  ThreadAttachment() {
    if (PyGILState_GetThisThreadState() != nullptr) return;  // a thread of Python's own
    state_ = PyGILState_Ensure();
    thread_ = PyEval_SaveThread();
  }
  ThreadAttachment(const ThreadAttachment&) = delete;
  ThreadAttachment& operator=(const ThreadAttachment&) = delete;
  ~ThreadAttachment() {
    if (thread_ == nullptr || !Py_IsInitialized()) return;
    PyEval_RestoreThread(thread_);
    PyGILState_Release(state_);
  }

 private:
  PyGILState_STATE state_ = PyGILState_UNLOCKED;
  PyThreadState* thread_ = nullptr;
};

/// Holds the interpreter lock. A program runs without it, so that its threads can run; each step that
/// touches Python takes it. May be nested.
class Gil {
 public:
  Gil() : state_(acquire()) {}
  Gil(const Gil&) = delete;
  Gil& operator=(const Gil&) = delete;
  ~Gil() { PyGILState_Release(state_); }

 private:
  static PyGILState_STATE acquire() {
    static thread_local ThreadAttachment attachment;
    return PyGILState_Ensure();
  }
  PyGILState_STATE state_;
};

/// Gives the lock up for a scope: around C++ that Python called, which may wait for threads of its own.
class GilReleased {
 public:
  GilReleased() : state_(PyEval_SaveThread()) {}
  GilReleased(const GilReleased&) = delete;
  GilReleased& operator=(const GilReleased&) = delete;
  ~GilReleased() { PyEval_RestoreThread(state_); }

 private:
  PyThreadState* state_;
};

/// The same where Python's lock may be held or not: in a function that an extension module binds it is.
class GilReleasedIfHeld {
 public:
  GilReleasedIfHeld() : state_(PyGILState_Check() != 0 ? PyEval_SaveThread() : nullptr) {}
  GilReleasedIfHeld(const GilReleasedIfHeld&) = delete;
  GilReleasedIfHeld& operator=(const GilReleasedIfHeld&) = delete;
  ~GilReleasedIfHeld() {
    if (state_ != nullptr) PyEval_RestoreThread(state_);
  }

 private:
  PyThreadState* state_;
};

/// An owned reference, or none. Copies from any thread are safe.
class Object {
 public:
  Object() = default;
  static Object steal(PyObject* p) { return Object(p); }
  static Object borrow(PyObject* p) {
    Py_XINCREF(p);
    return Object(p);
  }
  Object(const Object& other) : p_(other.p_) {
    if (p_ == nullptr) return;
    Gil gil;
    Py_INCREF(p_);
  }
  Object(Object&& other) noexcept : p_(std::exchange(other.p_, nullptr)) {}
  Object& operator=(Object other) noexcept {
    std::swap(p_, other.p_);
    return *this;
  }
  ~Object() {
    // A static object outlives the interpreter: then there is nothing left to release.
    if (p_ == nullptr || !Py_IsInitialized()) return;
    Gil gil;
    Py_DECREF(p_);
  }

  PyObject* get() const { return p_; }
  PyObject* release() { return std::exchange(p_, nullptr); }
  explicit operator bool() const { return p_ != nullptr; }

 private:
  explicit Object(PyObject* p) : p_(p) {}
  PyObject* p_ = nullptr;
};

/// Throws the pending Python error as C++: what a C++ callback threw comes back as itself, everything else
/// as c10::Error or the subclass of the same name.
[[noreturn]] inline void throw_python_error(const char* where);

/// Makes the C++ exception that is being handled the pending Python error.
inline void set_python_error() noexcept;

/// `p`, or the pending Python error as a C++ exception. `where` names the call for `what()`.
inline Object checked(PyObject* p, const char* where) {
  if (p == nullptr) throw_python_error(where);
  return Object::steal(p);
}

inline Object attribute(PyObject* object, const char* name) {
  return checked(PyObject_GetAttrString(object, name), name);
}

inline std::string text_of(PyObject* object) {
  const Object text = Object::steal(PyObject_Str(object));
  const char* utf8 = text ? PyUnicode_AsUTF8(text.get()) : nullptr;
  if (utf8 == nullptr) {
    PyErr_Clear();
    return "(no text)";
  }
  return utf8;
}

/// The content of a bytes object, and back.
inline std::string bytes_of(PyObject* bytes) {
  return {PyBytes_AsString(bytes), static_cast<size_t>(PyBytes_Size(bytes))};
}
inline Object bytes_from(const char* data, size_t size) {
  return checked(PyBytes_FromStringAndSize(data, static_cast<Py_ssize_t>(size)), "bytes");
}

/// Where in an object the value of one of its class's `__slots__` is; 0 if it has no slot of this name.
inline Py_ssize_t slot_of(PyObject* object, const char* name) {
  const Object found = Object::steal(PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), name));
  if (!found) PyErr_Clear();
  if (!found || Py_TYPE(found.get()) != &PyMemberDescr_Type) return 0;
  struct Member {  // how PyMemberDef begins; before Python 3.12 its header has macros with common names
    const char* name;
    int type;
    Py_ssize_t offset;
  };
  return reinterpret_cast<const Member*>(reinterpret_cast<PyMemberDescrObject*>(found.get())->d_member)->offset;
}

inline int64_t as_integer(PyObject* object, const char* where) {
  const Object index = checked(PyNumber_Index(object), where);
  const long long value = PyLong_AsLongLong(index.get());
  if (value == -1 && PyErr_Occurred()) throw_python_error(where);
  return value;
}

inline double as_real(PyObject* object, const char* where) {
  const double value = PyFloat_AsDouble(object);
  if (value == -1.0 && PyErr_Occurred()) throw_python_error(where);
  return value;
}

inline bool as_bool(PyObject* object, const char* where) {
  const int value = PyObject_IsTrue(object);
  if (value < 0) throw_python_error(where);
  return value != 0;
}

namespace detail {

constexpr const char* carried_exception = "_guardfix_cpp_exception";

inline void free_carried(PyObject* capsule) {
  delete static_cast<std::exception_ptr*>(PyCapsule_GetPointer(capsule, carried_exception));
}

/// Python names tensor types torch.FloatTensor where C++ says CPUFloatType.
inline std::string in_cpp_words(std::string message) {
  const std::string before = "[torch.", after = "Tensor ";
  for (size_t at = message.find(before); at != std::string::npos; at = message.find(before, at + 1)) {
    const size_t end = message.find(after, at);
    if (end == std::string::npos) break;
    message.replace(end, after.size(), "Type ");
    message.replace(at, before.size(), "[CPU");
  }
  return message;
}

}  // namespace detail

[[noreturn]] inline void throw_python_error(const char* where) {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  const Object owned_type = Object::steal(type), error = Object::steal(value), trace = Object::steal(traceback);
  if (!error) throw c10::Error(c10::str("Python reported a failure of ", where, " without an error"));

  const Object carried = Object::steal(PyObject_GetAttrString(error.get(), detail::carried_exception));
  if (carried) {
    const auto* original =
        static_cast<std::exception_ptr*>(PyCapsule_GetPointer(carried.get(), detail::carried_exception));
    std::rethrow_exception(std::exception_ptr(*original));
  }
  PyErr_Clear();

  const std::string message = detail::in_cpp_words(text_of(error.get()));
  const c10::SourceLocation place{where, "guardfix", 0};
  const auto is = [&](PyObject* kind) { return PyErr_GivenExceptionMatches(error.get(), kind) != 0; };
  if (is(PyExc_IndexError)) throw c10::IndexError(place, message);
  if (is(PyExc_NotImplementedError)) throw c10::NotImplementedError(place, message);
  if (is(PyExc_TypeError)) throw c10::TypeError(place, message);
  if (is(PyExc_ValueError)) throw c10::ValueError(place, message);
  if (is(PyExc_RuntimeError)) throw c10::Error(place, message);
  throw c10::Error(place, c10::str(Py_TYPE(error.get())->tp_name, ": ", message));
}

inline void set_python_error() noexcept {
  PyObject* kind = PyExc_RuntimeError;
  std::string message = "unknown C++ exception";
  try {
    throw;
  } catch (const c10::Error& e) {
    message = e.what_without_backtrace();
    if (dynamic_cast<const c10::IndexError*>(&e) != nullptr) kind = PyExc_IndexError;
    if (dynamic_cast<const c10::ValueError*>(&e) != nullptr) kind = PyExc_ValueError;
    if (dynamic_cast<const c10::TypeError*>(&e) != nullptr) kind = PyExc_TypeError;
    if (dynamic_cast<const c10::NotImplementedError*>(&e) != nullptr) kind = PyExc_NotImplementedError;
  } catch (const std::exception& e) {
    message = e.what();
  } catch (...) {
  }
  // No format with `#`: that needs PY_SSIZE_T_CLEAN, which is defined before Python.h if at all.
  const Object words = Object::steal(PyUnicode_DecodeUTF8(message.data(), Py_ssize_t(message.size()), "replace"));
  if (!words) return;
  const Object error = Object::steal(PyObject_CallFunctionObjArgs(kind, words.get(), nullptr));
  if (!error) return;
  const Object capsule = Object::steal(PyCapsule_New(new std::exception_ptr(std::current_exception()),
                                                     detail::carried_exception, detail::free_carried));
  if (capsule) PyObject_SetAttrString(error.get(), detail::carried_exception, capsule.get());
  PyErr_SetObject(kind, error.get());
}

}  // namespace guardfix
