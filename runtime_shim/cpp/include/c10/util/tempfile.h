// c10::TempFile: a new file under the folder for temporary files, removed when its object goes.
#pragma once

#include <c10/util/Exception.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include <unistd.h>

namespace c10 {

struct TempFile {
  TempFile(std::string name_, int fd_) : fd(fd_), name(std::move(name_)) {}
  TempFile(const TempFile&) = delete;
  TempFile(TempFile&& other) noexcept : fd(std::exchange(other.fd, -1)), name(std::move(other.name)) {
    other.name.clear();
  }
  TempFile& operator=(const TempFile&) = delete;
  ~TempFile() {
    if (fd >= 0) close(fd);
    if (!name.empty()) unlink(name.c_str());
  }
  int fd;
  std::string name;
};

inline std::optional<TempFile> try_make_tempfile(const std::string& name_prefix = "torch-file-") {
  const char* folder = std::getenv("TMPDIR");
  std::string name = std::string(folder != nullptr ? folder : "/tmp") + "/" + name_prefix + "XXXXXX";
  const int fd = mkstemp(name.data());
  if (fd < 0) return std::nullopt;
  return TempFile(std::move(name), fd);
}
inline TempFile make_tempfile(const std::string& name_prefix = "torch-file-") {
  std::optional<TempFile> made = try_make_tempfile(name_prefix);
  TORCH_CHECK(made.has_value(), "Error generating temporary file");
  return std::move(*made);
}

}  // namespace c10
