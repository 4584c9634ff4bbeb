// torch::nn::ModuleHolder: what `torch::nn::Linear` is, a shared pointer to a LinearImpl that is made with its arguments.
#pragma once

#include <torch/types.h>

#include <memory>
#include <type_traits>
#include <utility>

namespace torch {
namespace detail {

struct ModuleHolderIndicator {};
template <typename T>
constexpr bool is_module_holder = std::is_base_of_v<ModuleHolderIndicator, std::decay_t<T>>;

}  // namespace detail

namespace nn {

template <typename Contained>
class ModuleHolder : torch::detail::ModuleHolderIndicator {
 public:
  using ContainedType = Contained;

  ModuleHolder() : impl_(default_construct()) {
    static_assert(std::is_default_constructible_v<Contained>,
                  "You are trying to default construct a module which has no default constructor. Use = nullptr to "
                  "give it the empty state (e.g. `Linear linear = nullptr;` instead of `Linear linear;`).");
  }
  ModuleHolder(std::nullptr_t) {}
  ModuleHolder(std::shared_ptr<Contained> module) : impl_(std::move(module)) {}
  /// The module, made with these arguments.
  template <typename Head, typename... Tail,
            typename = std::enable_if_t<!(sizeof...(Tail) == 0 &&
                                          std::is_base_of_v<ModuleHolder<Contained>, std::decay_t<Head>>)>>
  explicit ModuleHolder(Head&& head, Tail&&... tail)
      : impl_(new Contained(std::forward<Head>(head), std::forward<Tail>(tail)...)) {}

  explicit operator bool() const noexcept { return !is_empty(); }
  bool is_empty() const noexcept { return impl_ == nullptr; }
  Contained* operator->() { return get(); }
  const Contained* operator->() const { return get(); }
  Contained& operator*() { return *get(); }
  const Contained& operator*() const { return *get(); }
  Contained* get() { return ptr().get(); }
  const Contained* get() const { return ptr().get(); }
  const std::shared_ptr<Contained>& ptr() const {
    TORCH_CHECK(!is_empty(), "Accessing empty ModuleHolder");
    return impl_;
  }
  /// The module's forward.
  template <typename... Args, typename T = Contained>
  auto operator()(Args&&... args) -> decltype(std::declval<T&>().forward(std::forward<Args>(args)...)) {
    return impl_->forward(std::forward<Args>(args)...);
  }
  template <typename Index>
  auto operator[](Index&& index) {
    return (*impl_)[std::forward<Index>(index)];
  }

 protected:
  std::shared_ptr<Contained> impl_;

 private:
  template <typename T = Contained>
  static std::shared_ptr<Contained> default_construct() {
    if constexpr (std::is_default_constructible_v<T>) {
      return std::make_shared<Contained>();
    } else {
      return nullptr;
    }
  }
};

template <typename Contained>
std::ostream& operator<<(std::ostream& stream, const ModuleHolder<Contained>& module) {
  return stream << *module;
}

}  // namespace nn
}  // namespace torch

#define TORCH_MODULE_IMPL(Name, ImplType)                  \
  class Name : public torch::nn::ModuleHolder<ImplType> {  \
   public:                                                 \
    using torch::nn::ModuleHolder<ImplType>::ModuleHolder; \
    using Impl [[maybe_unused]] = ImplType;                \
  }

/// In a class of modules: which arguments of its forward have defaults, as {position, AnyValue(default)}.
#define FORWARD_HAS_DEFAULT_ARGS(...)                                                                   \
  std::vector<std::pair<unsigned int, torch::nn::AnyValue>> default_arguments() const override {        \
    return {__VA_ARGS__};                                                                               \
  }
#define TORCH_MODULE(Name) TORCH_MODULE_IMPL(Name, Name##Impl)
