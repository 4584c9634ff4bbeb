// c10::DispatchKeySet: a set of dispatch keys in one word, and the sets that guards are about.
#pragma once

#include <c10/core/DispatchKey.h>

#include <initializer_list>

namespace c10 {

class DispatchKeySet final {
 public:
  enum Raw { RAW };
  enum Full { FULL };
  enum FullAfter { FULL_AFTER };

  constexpr DispatchKeySet() = default;
  constexpr DispatchKeySet(Full) : bits_((bit(DispatchKey::EndOfRuntimeBackendKeys) - 1)) {}
  /// All keys of lower priority than `key`: where a kernel of `key` goes on to.
  constexpr DispatchKeySet(FullAfter, DispatchKey key) : bits_(key == DispatchKey::Undefined ? 0 : bit(key) - 1) {}
  constexpr DispatchKeySet(Raw, uint64_t bits) : bits_(bits) {}
  constexpr explicit DispatchKeySet(DispatchKey key) : bits_(bit(key)) {}
  constexpr explicit DispatchKeySet(std::initializer_list<DispatchKey> keys) {
    for (DispatchKey key : keys) bits_ |= bit(key);
  }

  constexpr bool has(DispatchKey key) const { return (bits_ & bit(key)) != 0; }
  constexpr bool has_all(DispatchKeySet other) const { return (bits_ & other.bits_) == other.bits_; }
  constexpr bool has_any(DispatchKeySet other) const { return (bits_ & other.bits_) != 0; }
  constexpr bool isSupersetOf(DispatchKeySet other) const { return has_all(other); }
  constexpr bool empty() const { return bits_ == 0; }
  constexpr uint64_t raw_repr() const { return bits_; }

  constexpr DispatchKeySet operator|(DispatchKeySet other) const { return {RAW, bits_ | other.bits_}; }
  constexpr DispatchKeySet operator&(DispatchKeySet other) const { return {RAW, bits_ & other.bits_}; }
  constexpr DispatchKeySet operator-(DispatchKeySet other) const { return {RAW, bits_ & ~other.bits_}; }
  constexpr DispatchKeySet operator^(DispatchKeySet other) const { return {RAW, bits_ ^ other.bits_}; }
  constexpr bool operator==(DispatchKeySet other) const { return bits_ == other.bits_; }
  constexpr bool operator!=(DispatchKeySet other) const { return bits_ != other.bits_; }
  [[nodiscard]] constexpr DispatchKeySet add(DispatchKey key) const { return *this | DispatchKeySet(key); }
  [[nodiscard]] constexpr DispatchKeySet add(DispatchKeySet keys) const { return *this | keys; }
  [[nodiscard]] constexpr DispatchKeySet remove(DispatchKey key) const { return *this - DispatchKeySet(key); }

  constexpr DispatchKey highestPriorityTypeId() const {
    for (auto key = static_cast<uint16_t>(DispatchKey::EndOfRuntimeBackendKeys); key-- > 1;)
      if (has(static_cast<DispatchKey>(key))) return static_cast<DispatchKey>(key);
    return DispatchKey::Undefined;
  }

 private:
  static constexpr uint64_t bit(DispatchKey key) {
    return key == DispatchKey::Undefined ? 0 : uint64_t(1) << (static_cast<uint16_t>(key) - 1);
  }
  uint64_t bits_ = 0;
};

inline std::string toString(DispatchKeySet keys) {
  std::string text = "DispatchKeySet(";
  const char* separator = "";
  for (uint16_t key = 1; key < static_cast<uint16_t>(DispatchKey::EndOfRuntimeBackendKeys); ++key)
    if (keys.has(static_cast<DispatchKey>(key))) {
      text.append(separator).append(toString(static_cast<DispatchKey>(key)));
      separator = ", ";
    }
  return text + ")";
}
inline std::ostream& operator<<(std::ostream& out, DispatchKeySet keys) { return out << toString(keys); }

constexpr DispatchKeySet autograd_dispatch_keyset = DispatchKeySet({
    DispatchKey::AutogradFunctionality, DispatchKey::AutogradOther, DispatchKey::AutogradNestedTensor,
    DispatchKey::AutogradCPU, DispatchKey::AutogradCUDA, DispatchKey::AutogradMPS, DispatchKey::AutogradXLA,
    DispatchKey::AutogradLazy, DispatchKey::AutogradMeta, DispatchKey::AutogradPrivateUse1,
});
/// What computes: of a tensor's keys, those below BackendSelect.
constexpr DispatchKeySet backend_dispatch_keyset =
    DispatchKeySet(DispatchKeySet::FULL_AFTER, DispatchKey::BackendSelect);
/// The backends whose Autograd key is AutogradOther.
constexpr DispatchKeySet autogradother_backends = DispatchKeySet({DispatchKey::FPGA, DispatchKey::MkldnnCPU});
constexpr DispatchKeySet autograd_dispatch_keyset_with_ADInplaceOrView =
    autograd_dispatch_keyset | DispatchKeySet(DispatchKey::ADInplaceOrView);
constexpr DispatchKeySet default_included_set =
    DispatchKeySet({DispatchKey::BackendSelect, DispatchKey::ADInplaceOrView});
constexpr DispatchKeySet default_excluded_set =
    DispatchKeySet({DispatchKey::AutocastCPU, DispatchKey::AutocastCUDA});
/// Where an Autograd kernel redispatches to: `op.redispatch(keys & c10::after_autograd_keyset, …)`.
constexpr DispatchKeySet after_autograd_keyset =
    DispatchKeySet(DispatchKeySet::FULL_AFTER, DispatchKey::AutogradOther);
/// Where an ADInplaceOrView kernel redispatches to.
constexpr DispatchKeySet after_ADInplaceOrView_keyset =
    DispatchKeySet(DispatchKeySet::FULL_AFTER, DispatchKey::ADInplaceOrView);

/// The backend of a tensor with these keys.
inline DispatchKey legacyExtractDispatchKey(DispatchKeySet keys) {
  return (keys & backend_dispatch_keyset).highestPriorityTypeId();
}

}  // namespace c10
