// at::DynamicLibrary: a shared library that is loaded while the program runs.
#pragma once

#include <c10/util/Exception.h>
#include <dlfcn.h>

namespace at {

class DynamicLibrary {
 public:
  /// Loads `name`, or where that fails `alt_name`. Without `leak_handle` the library goes with the object.
  explicit DynamicLibrary(const char* name, const char* alt_name = nullptr, bool leak_handle = false)
      : leak_handle_(leak_handle), handle_(dlopen(name, RTLD_LOCAL | RTLD_NOW)) {
    if (handle_ == nullptr && alt_name != nullptr) handle_ = dlopen(alt_name, RTLD_LOCAL | RTLD_NOW);
    TORCH_CHECK(handle_ != nullptr, "Error in dlopen: ", dlerror());
  }
  DynamicLibrary(const DynamicLibrary&) = delete;
  DynamicLibrary& operator=(const DynamicLibrary&) = delete;
  ~DynamicLibrary() {
    if (!leak_handle_ && handle_ != nullptr) dlclose(handle_);
  }

  /// The address of a symbol; an error when there is none.
  void* sym(const char* name) {
    void* const found = dlsym(handle_, name);
    TORCH_CHECK(found != nullptr, "Error in dlsym: ", dlerror());
    return found;
  }

 private:
  bool leak_handle_;
  void* handle_;
};

}  // namespace at
