// c10::FunctionSchema: what `name(Tensor(a!) self, int n=1, *, Tensor? out=None) -> Tensor(a!)` says, in its parts.
#pragma once

#include <c10/util/Exception.h>

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace c10 {

/// What is known of an op beyond its schema's annotations.
enum class AliasAnalysisKind : uint8_t { INTERNAL_SPECIAL_CASE, CONSERVATIVE, FROM_SCHEMA, PURE_FUNCTION };

/// The annotation of an argument or result: `(a)` shares memory with what has the same letter, `(a!)` is written to.
class AliasInfo {
 public:
  explicit AliasInfo(std::string text) : text_(std::move(text)) {}
  bool isWrite() const { return text_.find('!') != std::string::npos; }
  /// The letter, or `*` for one that may be part of any list.
  std::string set() const { return text_.substr(0, text_.find_first_of("! |-")); }

 private:
  std::string text_;
};

/// One argument or result.
class Argument {
 public:
  /// From `Tensor(a!)[]? name=default`.
  explicit Argument(std::string text, bool kwarg_only = false) : kwarg_only_(kwarg_only) {
    const size_t equals = text.find('=');
    if (equals != std::string::npos) {
      // Blanks may stand on either side of the sign.
      const size_t begin = text.find_first_not_of(' ', equals + 1);
      default_ = begin == std::string::npos ? "" : text.substr(begin);
      text.resize(equals);
      text.resize(text.find_last_not_of(' ') + 1);
    }
    int depth = 0;
    size_t space = std::string::npos;
    for (size_t i = 0; i < text.size(); ++i) {
      depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
      if (depth == 0 && text[i] == ' ') space = i;
    }
    if (space != std::string::npos) {
      name_ = text.substr(space + 1);
      text.resize(space);
    }
    const size_t open = text.find('(');
    if (open != std::string::npos && open != 0 && text.compare(0, open, "Dict") != 0 &&
        text.compare(0, open, "Future") != 0) {
      const size_t close = text.find(')', open);
      alias_ = AliasInfo(text.substr(open + 1, close - open - 1));
      text.erase(open, close - open + 1);
    }
    type_ = std::move(text);
  }
  const std::string& name() const { return name_; }
  /// The type without the annotation: `Tensor[]?`.
  const std::string& type_text() const { return type_; }
  /// Null without an annotation.
  const AliasInfo* alias_info() const { return alias_.has_value() ? &*alias_ : nullptr; }
  bool kwarg_only() const { return kwarg_only_; }
  const std::optional<std::string>& default_text() const { return default_; }

 private:
  std::string name_, type_;
  std::optional<AliasInfo> alias_;
  std::optional<std::string> default_;
  bool kwarg_only_;
};

class FunctionSchema {
 public:
  /// Raises c10::Error when the text has no arguments or no results.
  explicit FunctionSchema(const std::string& text) : text_(text) {
    const size_t open = text.find('('), arrow = text.rfind("->");
    TORCH_CHECK(open != std::string::npos && arrow != std::string::npos && arrow > open,
                "expected a schema like name(Tensor x) -> Tensor, but got: ", text);
    name_ = text.substr(0, open);
    const size_t dot = name_.find('.');
    if (dot != std::string::npos) {
      overload_name_ = name_.substr(dot + 1);
      name_.resize(dot);
    }
    bool kwarg_only = false;
    for (std::string& part : parts(text.substr(open, text.rfind(')', arrow) + 1 - open))) {
      if (part == "*") {
        kwarg_only = true;
      } else {
        arguments_.emplace_back(std::move(part), kwarg_only);
      }
    }
    for (std::string& part : parts(text.substr(arrow + 2))) returns_.emplace_back(std::move(part));
  }

  /// With the namespace, without the overload.
  const std::string& name() const { return name_; }
  const std::string& overload_name() const { return overload_name_; }
  const std::vector<Argument>& arguments() const { return arguments_; }
  const std::vector<Argument>& returns() const { return returns_; }
  bool is_mutable() const {
    for (const Argument& argument : arguments_)
      if (argument.alias_info() != nullptr && argument.alias_info()->isWrite()) return true;
    return false;
  }
  bool isDefaultAliasAnalysisKind() const { return !alias_analysis_.has_value(); }
  AliasAnalysisKind aliasAnalysis() const { return alias_analysis_.value_or(AliasAnalysisKind::CONSERVATIVE); }
  void setAliasAnalysis(AliasAnalysisKind kind) { alias_analysis_ = kind; }
  const std::string& text() const { return text_; }

 private:
  /// The parts of `(one, two)`, or of `one`, which stands for itself.
  static std::vector<std::string> parts(std::string list) {
    const auto trimmed = [](const std::string& text) {
      const size_t first = text.find_first_not_of(' ');
      return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') + 1 - first);
    };
    list = trimmed(list);
    if (!list.empty() && list.front() == '(') list = list.substr(1, list.size() - 2);
    std::vector<std::string> found;
    int depth = 0;
    std::string part;
    for (const char c : list) {
      depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
      if (depth == 0 && c == ',') {
        found.push_back(trimmed(part));
        part.clear();
      } else {
        part += c;
      }
    }
    if (!trimmed(part).empty()) found.push_back(trimmed(part));
    return found;
  }
  std::string text_, name_, overload_name_;
  std::vector<Argument> arguments_, returns_;
  std::optional<AliasAnalysisKind> alias_analysis_;
};
inline std::ostream& operator<<(std::ostream& out, const FunctionSchema& schema) { return out << schema.text(); }

}  // namespace c10

namespace torch {
/// A schema for Library::def, and what is known of the op beyond it.
inline c10::FunctionSchema schema(const char* text, c10::AliasAnalysisKind kind = c10::AliasAnalysisKind::FROM_SCHEMA) {
  c10::FunctionSchema parsed(text);
  parsed.setAliasAnalysis(kind);
  return parsed;
}
namespace jit {
inline c10::FunctionSchema parseSchema(const std::string& text) { return c10::FunctionSchema(text); }
}  // namespace jit
}  // namespace torch
