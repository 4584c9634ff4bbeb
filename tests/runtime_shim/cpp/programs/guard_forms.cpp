#include <torch/torch.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <c10/core/InferenceMode.h>
#include <iostream>
#include <memory>
#include <optional>
static void show(const char* w) { std::cout << w << ' ' << c10::InferenceMode::is_enabled() << at::GradMode::is_enabled() << c10::impl::tls_is_dispatch_key_excluded(c10::DispatchKey::AutogradCPU) << c10::impl::tls_is_dispatch_key_included(c10::DispatchKey::ADInplaceOrView) << c10::impl::tls_is_dispatch_key_excluded(c10::DispatchKey::ADInplaceOrView) << std::endl; }
struct JITCallGuard { c10::AutoGradMode no_autograd{false}; at::AutoDispatchBelowADInplaceOrView below; };
class Session {
  c10::InferenceMode mode_;
 public:
  Session() : mode_(true) {}
  torch::Tensor run(const torch::Tensor& x) { return x * 2; }
};
template <typename F> auto no_grad(F f) { torch::NoGradGuard g; return f(); }
int main() {
  show("start");
  { c10::InferenceMode g; show("im"); { c10::InferenceMode off(false); show("off"); auto x = torch::ones({2}, torch::requires_grad()); std::cout << (x * 2).requires_grad(); } { torch::AutoGradMode on(true); show("grad in im"); } }
  { JITCallGuard g; show("struct"); }
  { Session s; show("session"); std::cout << s.run(torch::ones({1})).is_inference() << std::endl; }
  { auto g = std::make_unique<c10::InferenceMode>(); show("heap"); g.reset(); show("reset"); }
  { std::optional<at::AutoDispatchBelowAutograd> g; g.emplace(); show("optional"); }
  { at::AutoNonVariableTypeMode g(true); show("legacy"); }
  { c10::impl::ExcludeDispatchKeyGuard g(c10::autograd_dispatch_keyset); show("exclude"); }
  { c10::impl::ExcludeDispatchKeyGuard g(c10::DispatchKey::ADInplaceOrView); show("exclude adiv"); }
  { c10::impl::IncludeDispatchKeyGuard g(c10::DispatchKey::ADInplaceOrView); show("include"); }
  { at::GradMode::set_enabled(false); show("set"); at::GradMode::set_enabled(true); }
  try { at::AutoNonVariableTypeMode g(false); } catch (const c10::Error& e) { std::cout << (std::string(e.what()).find("INTERNAL ASSERT FAILED") != std::string::npos) << std::endl; }
  try { c10::InferenceMode g; throw std::runtime_error("x"); } catch (...) { show("after throw"); }
  std::cout << no_grad([] { auto x = torch::ones({1}, torch::requires_grad()); return (x + 1).requires_grad(); }) << std::endl;
  static_assert(!std::is_copy_constructible_v<c10::InferenceMode> || true);
  std::cout << std::is_copy_constructible_v<at::AutoDispatchBelowAutograd> << std::is_default_constructible_v<torch::AutoGradMode> << std::is_constructible_v<at::AutoDispatchBelowADInplaceOrView, bool> << std::is_copy_constructible_v<c10::impl::ExcludeDispatchKeyGuard> << std::is_convertible_v<bool, c10::InferenceMode> << std::is_copy_constructible_v<c10::InferenceMode> << std::is_copy_assignable_v<c10::AutoGradMode> << std::is_copy_constructible_v<torch::NoGradGuard> << std::is_move_constructible_v<at::AutoNonVariableTypeMode> << std::is_convertible_v<bool, at::AutoNonVariableTypeMode> << std::is_convertible_v<bool, torch::AutoGradMode> << std::is_copy_assignable_v<c10::InferenceMode> << std::is_constructible_v<c10::InferenceMode, int> << std::is_copy_constructible_v<c10::impl::IncludeDispatchKeyGuard> << std::is_move_constructible_v<c10::AutoGradMode> << std::endl;
  show("end");
}
