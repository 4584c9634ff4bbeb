// c10::QualifiedName: names that are joined by dots, `__torch__.models.Net`.
#pragma once

#include <c10/util/ArrayRef.h>
#include <c10/util/Exception.h>
#include <c10/util/StringUtil.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace c10 {

struct QualifiedName {
  QualifiedName() = default;
  /* implicit */ QualifiedName(const std::string& name) : qualified_(name) {
    for (size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
      end = name.find('.', begin);
      atoms_.push_back(name.substr(begin, end == std::string::npos ? end : end - begin));
      TORCH_CHECK(!atoms_.back().empty(), "Invalid name for qualified name: '", name, "'");
    }
  }
  /* implicit */ QualifiedName(const char* name) : QualifiedName(std::string(name)) {}
  explicit QualifiedName(std::vector<std::string> atoms) : QualifiedName(c10::Join(".", atoms)) {}
  QualifiedName(const QualifiedName& prefix, const std::string& name)
      : QualifiedName(prefix.qualified_.empty() ? name : prefix.qualified_ + "." + name) {}

  const std::string& qualifiedName() const { return qualified_; }
  const std::vector<std::string>& atoms() const { return atoms_; }
  /// All but the last part, and the last part.
  std::string prefix() const {
    return atoms_.size() < 2 ? "" : qualified_.substr(0, qualified_.size() - atoms_.back().size() - 1);
  }
  std::string name() const { return atoms_.empty() ? "" : atoms_.back(); }
  bool isPrefixOf(const QualifiedName& other) const {
    return other.atoms_.size() >= atoms_.size() && std::equal(atoms_.begin(), atoms_.end(), other.atoms_.begin());
  }
  bool operator==(const QualifiedName& other) const { return qualified_ == other.qualified_; }
  bool operator!=(const QualifiedName& other) const { return !(*this == other); }

 private:
  std::string qualified_;
  std::vector<std::string> atoms_;
};

}  // namespace c10
