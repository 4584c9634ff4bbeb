// Counts how often a guard is entered and how many ops run below it. Verification puts `Entered` beside each guard of
// a copy, with the guard's number; the counts go to the table that the environment names (see recording/guard_table.py).
// On the shim the Python side counts. With PyTorch's own headers this file does, and asks nothing of ours.
#pragma once

#if __has_include(<guardfix/call.h>)

#include <ATen/core/Tensor.h>  // call.h wants tensors that are complete
#include <guardfix/call.h>

namespace guardfix {
namespace counting {
inline void enter(int number) {
  static const Hook hook{"enter_counted_guard"};
  hook({number});
}
inline void leave(int number) {
  if (!Py_IsInitialized()) return;
  static const Hook hook{"leave_counted_guard"};
  hook({number});
}
}  // namespace counting
}  // namespace guardfix

#else

#include <ATen/record_function.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

namespace guardfix {
namespace counting {

struct Row {
  std::atomic<int64_t> entered;
  std::atomic<int64_t> ops;
};

struct Table {
  Row* rows = nullptr;
  int size = 0;
  Table() {
    const char* path = std::getenv("GUARDFIX_GUARD_TABLE");
    const int file = path == nullptr ? -1 : open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) return;
    struct stat about;
    if (fstat(file, &about) == 0 && about.st_size > 0) {
      // Shared with who reads it: a crash loses nothing.
      void* memory = mmap(nullptr, static_cast<size_t>(about.st_size), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
      if (memory != MAP_FAILED) {
        rows = static_cast<Row*>(memory);
        size = static_cast<int>(static_cast<size_t>(about.st_size) / sizeof(Row));
      }
    }
    close(file);
  }
  Row* row(int number) const { return number < size ? rows + number : nullptr; }
};

inline const Table& table() {
  static const Table* const found = new Table;  // threads may count after static objects are gone
  return *found;
}

struct Thread {
  std::vector<int> active;
  int depth = 0;  // ops that are running, one inside the other; the outermost counts
};

inline Thread& thread() {
  static thread_local Thread state;
  return state;
}

inline void count_op() {
  Thread& here = thread();
  if (here.depth++ != 0) return;
  if (Row* all = table().row(0)) ++all->ops;
  for (const int number : here.active)
    if (Row* row = table().row(number)) ++row->ops;
}

inline bool watch_ops() {
  static const bool watching = [] {
    if (table().rows == nullptr) return false;
    at::addGlobalCallback(at::RecordFunctionCallback(
                              [](const at::RecordFunction&) -> std::unique_ptr<at::ObserverContext> {
                                count_op();
                                return nullptr;
                              },
                              [](const at::RecordFunction&, at::ObserverContext*) { --thread().depth; })
                              .scopes({at::RecordScope::FUNCTION}));
    return true;
  }();
  return watching;
}

/// Ops are counted from the program's start on.
static const bool watching_from_the_start = watch_ops();

inline void enter(int number) {
  if (!watch_ops()) return;
  if (Row* row = table().row(number)) ++row->entered;
  thread().active.push_back(number);
}
inline void leave(int number) {
  std::vector<int>& active = thread().active;
  for (size_t i = active.size(); i-- > 0;)
    if (active[i] == number) {
      active.erase(active.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
}

}  // namespace counting
}  // namespace guardfix

#endif

namespace guardfix {

/// Stands beside a guard, or where one stood.
class Entered {
 public:
  explicit Entered(int number) : number_(number) {
#if !__has_include(<guardfix/call.h>)
    depth_ = std::exchange(counting::thread().depth, 0);  // inside a kernel: its ops count
#endif
    counting::enter(number_);
  }
  Entered(const Entered& other) : number_(other.number_), counted_(false) {}
  Entered& operator=(const Entered&) { return *this; }
  ~Entered() {
    if (counted_) counting::leave(number_);
#if !__has_include(<guardfix/call.h>)
    if (counted_) counting::thread().depth = depth_;
#endif
  }

 private:
  int number_;
  int depth_ = 0;
  bool counted_ = true;
};

/// The guard itself where nothing can stand beside it: a member, in an optional, behind an alias.
template <typename Guard, int Number>
class CountedGuard : public Guard {
 public:
  using Guard::Guard;
  CountedGuard() = default;

 private:
  Entered entered_{Number};
};

}  // namespace guardfix
