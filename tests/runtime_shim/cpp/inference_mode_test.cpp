// Inference mode, seen from C++: which tensors are inference tensors, what may be done with them inside the scope and
// outside it, and what normal tensors keep of a visit to it. Runs with gtest, on the shim and on PyTorch alike.
#include <torch/script.h>

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

using c10::InferenceMode;
using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::CreationMeta;
using torch::autograd::Function;
using torch::autograd::Variable;
using torch::autograd::variable_list;

namespace {

constexpr const char* kInplace = "Inplace update to inference tensor outside InferenceMode is not allowed";
constexpr const char* kSaved = "Inference tensors cannot be saved for backward.";
constexpr const char* kNoVersion = "Inference tensors do not track version counter.";
constexpr const char* kDirect = "A view was created in inference mode and is being modified inplace";
constexpr const char* kIndirect =
    "A view was created in inference mode and its base or another view of its base has been modified inplace";

// The message of what `action` throws; empty when it throws nothing.
template <class Action>
std::string thrown_by(const Action& action) {
  try {
    action();
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return "";
}

#define EXPECT_REFUSED(statement, reason) \
  EXPECT_NE(thrown_by([&] { statement; }).find(reason), std::string::npos) << thrown_by([&] { statement; })

Tensor normal(bool requires_grad) { return torch::ones({2, 3}).set_requires_grad(requires_grad); }

// A normal tensor with a history when it requires grad, so that it may be changed in place.
Tensor with_history(bool requires_grad) { return normal(requires_grad).clone(); }

Tensor made_inside(bool requires_grad = false) {
  InferenceMode guard;
  return torch::ones({2, 3}).set_requires_grad(requires_grad);
}

CreationMeta creation_of(const Tensor& view) {
  auto* meta = torch::autograd::impl::get_view_autograd_meta(view);
  EXPECT_NE(meta, nullptr);
  return meta == nullptr ? CreationMeta::DEFAULT : meta->get_creation_meta();
}

void expect_state(bool inference) {
  using namespace c10::impl;
  EXPECT_EQ(InferenceMode::is_enabled(), inference);
  EXPECT_EQ(c10::GradMode::is_enabled(), !inference);
  EXPECT_EQ(tls_is_dispatch_keyset_excluded(c10::autograd_dispatch_keyset), inference);
  EXPECT_EQ(tls_is_dispatch_key_included(c10::DispatchKey::ADInplaceOrView), !inference);
  EXPECT_FALSE(tls_is_dispatch_key_excluded(c10::DispatchKey::ADInplaceOrView));
  EXPECT_FALSE(tls_is_dispatch_keyset_included(c10::autograd_dispatch_keyset));
}

class EachRequiresGrad : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Inference, EachRequiresGrad, ::testing::Bool());

}  // namespace

// ---- the scope

TEST(InferenceScope, SetsAndRestoresTheThreadState) {
  expect_state(false);
  {
    InferenceMode guard;
    expect_state(true);
    {
      InferenceMode off(false);
      expect_state(false);
      InferenceMode on(true);
      expect_state(true);
    }
    expect_state(true);
  }
  expect_state(false);
}

TEST(InferenceScope, RestoresGradModeEvenInsideNoGrad) {
  torch::NoGradGuard no_grad;
  {
    InferenceMode off(false);
    EXPECT_TRUE(c10::GradMode::is_enabled());
  }
  EXPECT_FALSE(c10::GradMode::is_enabled());
}

TEST(InferenceScope, EndsWhenAnExceptionLeavesIt) {
  try {
    InferenceMode guard;
    throw std::runtime_error("out");
  } catch (const std::runtime_error&) {
  }
  expect_state(false);
}

TEST(InferenceScope, IsOfItsThreadAlone) {
  InferenceMode guard;
  std::thread([] { expect_state(false); }).join();
  expect_state(true);
}

TEST(InferenceScope, GradModeInsideRecordsNothing) {
  const Tensor x = normal(true);
  InferenceMode guard;
  torch::AutoGradMode on(true);
  EXPECT_TRUE(c10::GradMode::is_enabled());
  EXPECT_FALSE((x * x).requires_grad());
}

// ---- inference tensors inside

TEST_P(EachRequiresGrad, FactoriesInsideMakeInferenceTensors) {
  const Tensor t = made_inside(GetParam());
  EXPECT_TRUE(t.is_inference());
  EXPECT_TRUE(t.is_leaf());
  EXPECT_EQ(t.requires_grad(), GetParam());
  EXPECT_FALSE(t.key_set().has(c10::DispatchKey::ADInplaceOrView));
  EXPECT_FALSE(t.key_set().has(c10::DispatchKey::AutogradCPU));
}

TEST_P(EachRequiresGrad, FunctionalOpsInsideRecordNothing) {
  InferenceMode guard;
  const Tensor t = torch::ones({2, 3}).set_requires_grad(GetParam());
  const Tensor product = t * t;
  EXPECT_TRUE(product.is_inference());
  EXPECT_FALSE(product.requires_grad());
  EXPECT_EQ(product.grad_fn(), nullptr);
}

TEST_P(EachRequiresGrad, InPlaceOpsInsideAreAllowed) {
  InferenceMode guard;
  Tensor t = torch::ones({2, 3}).set_requires_grad(GetParam());
  t.mul_(2).add_(t);
  EXPECT_TRUE(t.is_inference());
  EXPECT_EQ(t.requires_grad(), GetParam());
  EXPECT_EQ(t.sum().item<float>(), 24);
}

TEST_P(EachRequiresGrad, ViewsInsideAreNotTracked) {
  InferenceMode guard;
  const Tensor t = torch::ones({2, 3}).set_requires_grad(GetParam());
  const Tensor view = t.view({3, 2});
  EXPECT_TRUE(view.is_inference());
  EXPECT_FALSE(view.is_view());
  EXPECT_FALSE(view.requires_grad());
  EXPECT_TRUE(view.is_alias_of(t));
}

// ---- inference tensors outside

TEST_P(EachRequiresGrad, FunctionalOpsOutsideGiveNormalTensors) {
  const Tensor t = made_inside(GetParam());
  const Tensor product = t * t;
  EXPECT_FALSE(product.is_inference());
  EXPECT_FALSE(product.requires_grad());
  EXPECT_EQ(product._version(), 0);
}

TEST_P(EachRequiresGrad, InPlaceOpsOutsideAreRefused) {
  Tensor t = made_inside(GetParam());
  EXPECT_REFUSED(t.mul_(1), kInplace);
  torch::NoGradGuard no_grad;
  EXPECT_REFUSED(t.mul_(1), kInplace);
}

TEST_P(EachRequiresGrad, ViewsOutsideStayInferenceTensors) {
  const Tensor t = made_inside(GetParam());
  const Tensor view = t.view({6});
  EXPECT_TRUE(view.is_inference());
  EXPECT_FALSE(view.is_view());
  EXPECT_FALSE(view.requires_grad());
  EXPECT_TRUE(view.is_leaf());
}

TEST(InferenceTensor, TakesNoRequiresGradOutside) {
  Tensor t = made_inside();
  t.set_requires_grad(false);
  EXPECT_REFUSED(t.set_requires_grad(true), "Setting requires_grad=True on inference tensor outside InferenceMode");
}

TEST(InferenceTensor, HasNoVersion) {
  const Tensor t = made_inside();
  auto* impl = t.unsafeGetTensorImpl();
  EXPECT_REFUSED(impl->version_counter().current_version(), kNoVersion);
  EXPECT_REFUSED(t._version(), kNoVersion);
  EXPECT_REFUSED(impl->bump_version(), kInplace);
  InferenceMode guard;
  impl->bump_version();
  EXPECT_REFUSED(impl->version_counter().current_version(), kNoVersion);
}

TEST(InferenceTensor, CloneOutsideIsNormal) {
  const Tensor t = made_inside();
  Tensor copy = t.clone();
  EXPECT_FALSE(copy.is_inference());
  const auto version = copy._version();
  copy.unsafeGetTensorImpl()->bump_version();
  EXPECT_EQ(copy._version(), version + 1);
  copy.requires_grad_();
  (copy * copy).sum().backward();
  EXPECT_TRUE(torch::allclose(copy.grad(), 2 * copy));
}

TEST(InferenceTensor, CopiesIntoItOnlyInside) {
  const Tensor source = normal(true);
  Tensor t;
  {
    InferenceMode guard;
    t = torch::zeros({2, 3});
    t.copy_(source);
    EXPECT_TRUE(t.is_inference());
    EXPECT_FALSE(t.requires_grad());
  }
  EXPECT_REFUSED(t.copy_(source), kInplace);
}

TEST(InferenceTensor, CanBeReadIntoANormalOne) {
  const Tensor t = made_inside();
  Tensor target = normal(false);
  target.copy_(t);
  target.add_(t);
  EXPECT_EQ(target.sum().item<float>(), 12);
  EXPECT_REFUSED(Tensor(t).add_(target), kInplace);
}

TEST(InferenceTensor, ComplexViewsKeepTheKind) {
  const Tensor pairs = torch::ones({3, 2});
  const Tensor numbers = torch::view_as_complex(pairs);
  {
    InferenceMode guard;
    EXPECT_FALSE(torch::view_as_real(numbers).is_inference());
    EXPECT_TRUE(torch::view_as_complex(torch::ones({3, 2})).is_inference());
  }
  Tensor inside;
  {
    InferenceMode guard;
    inside = torch::ones({3, 2});
  }
  EXPECT_TRUE(torch::view_as_real(torch::view_as_complex(inside)).is_inference());
}

// ---- normal tensors that visit the scope

TEST_P(EachRequiresGrad, NormalTensorsChangedInsideStayNormal) {
  Tensor t = with_history(GetParam());
  const auto version = t._version();
  {
    InferenceMode guard;
    t.mul_(1);
    t.mul_(1);
    EXPECT_EQ(t.view({6}).requires_grad(), GetParam());
  }
  EXPECT_FALSE(t.is_inference());
  EXPECT_EQ(t.requires_grad(), GetParam());
  EXPECT_EQ(t._version(), version + 2);
}

TEST_P(EachRequiresGrad, NormalTensorsGoOnAsBefore) {
  Tensor t = with_history(GetParam());
  {
    InferenceMode guard;
    t.mul_(1);
  }
  EXPECT_EQ((t * t).requires_grad(), GetParam());
  t.mul_(1);
  EXPECT_EQ(t.requires_grad(), GetParam());
  EXPECT_EQ(t.view({6}).requires_grad(), GetParam());
}

TEST(NormalTensor, ChangeInsideIsSeenByBackward) {
  const Tensor x = normal(true);
  Tensor saved = x.clone();
  const Tensor loss = (saved * saved).sum();
  {
    InferenceMode guard;
    saved.mul_(3);
  }
  EXPECT_REFUSED(loss.backward(),
                 "one of the variables needed for gradient computation has been modified by an inplace operation");
}

TEST(NormalTensor, DetachInsideSharesTheVersion) {
  const Tensor t = with_history(true);
  InferenceMode guard;
  Tensor detached = t.detach();
  EXPECT_FALSE(detached.is_inference());
  detached.add_(1);
  EXPECT_EQ(t._version(), 1);
}

// ---- views of normal tensors made inside

TEST_P(EachRequiresGrad, ViewsOfNormalTensorsAreTracked) {
  const Tensor base = with_history(GetParam());
  InferenceMode guard;
  Tensor view = base.view({3, 2});
  Tensor again = view.view({6});
  for (const Tensor& v : {view, again}) {
    EXPECT_FALSE(v.is_inference());
    EXPECT_TRUE(v.is_view());
    EXPECT_TRUE(v.is_leaf());
    EXPECT_EQ(v.requires_grad(), GetParam());
    EXPECT_EQ(creation_of(v), CreationMeta::INFERENCE_MODE);
  }
  again.mul_(1);
  EXPECT_EQ(base._version(), again._version());
  EXPECT_TRUE(again.is_leaf());
}

TEST_P(EachRequiresGrad, ViewMadeInsideChangedOutside) {
  const Tensor base = with_history(GetParam());
  Tensor view;
  {
    InferenceMode guard;
    view = base.view({3, 2});
  }
  EXPECT_EQ((view * view).requires_grad(), GetParam());
  if (GetParam()) {
    EXPECT_REFUSED(view.mul_(1), kDirect);
  } else {
    view.mul_(1);
  }
  EXPECT_EQ(view.view({6}).requires_grad(), GetParam());
}

TEST_P(EachRequiresGrad, BaseChangedOutside) {
  Tensor base = with_history(GetParam());
  Tensor view;
  {
    InferenceMode guard;
    view = base.view({3, 2});
  }
  base.mul_(1);
  if (GetParam()) {
    EXPECT_REFUSED(view.grad_fn(), kIndirect);
    EXPECT_TRUE(view.is_leaf());
  } else {
    EXPECT_EQ(view.grad_fn(), nullptr);
  }
}

TEST(ViewMadeInside, PassesItsOriginOn) {
  const Tensor leaf = normal(true);
  Tensor view;
  {
    InferenceMode guard;
    view = leaf.view_as(leaf);
  }
  EXPECT_REFUSED(view.add_(1), kDirect);
  Tensor of_view;
  {
    torch::AutoGradMode off(false);
    of_view = view.view_as(view);
  }
  EXPECT_REFUSED(of_view.add_(1), kDirect);
}

TEST(ViewMadeInside, EachPartOfASplit) {
  const Tensor leaf = normal(true);
  const Tensor alias = leaf.view_as(leaf);
  std::vector<Tensor> parts;
  {
    InferenceMode guard;
    parts = alias.split_with_sizes({1, 1});
  }
  ASSERT_EQ(parts.size(), 2u);
  for (Tensor& part : parts) {
    EXPECT_EQ(creation_of(part), CreationMeta::INFERENCE_MODE);
    EXPECT_REFUSED(part.add_(1), kDirect);
  }
}

TEST(ViewMadeOutside, HasTheOriginOfItsMode) {
  const Tensor leaf = normal(true);
  EXPECT_EQ(creation_of(leaf.view({6})), CreationMeta::DEFAULT);
  EXPECT_EQ(creation_of(leaf.unbind(0)[0]), CreationMeta::MULTI_OUTPUT_NODE);
  torch::NoGradGuard no_grad;
  EXPECT_EQ(creation_of(leaf.view({6})), CreationMeta::NO_GRAD_MODE);
}

// ---- both kinds together

TEST_P(EachRequiresGrad, SumOfBothKindsHasAGradient) {
  const Tensor s = normal(GetParam()), t = made_inside(GetParam());
  const Tensor sum = t.add(s);
  EXPECT_FALSE(sum.is_inference());
  EXPECT_EQ(sum.requires_grad(), GetParam());
  if (!GetParam()) return;
  sum.sum().backward();
  EXPECT_TRUE(torch::allclose(t.grad(), torch::ones({2, 3})));
  EXPECT_TRUE(torch::allclose(s.grad(), torch::ones({2, 3})));
}

TEST(BothKinds, ProductWouldSave) {
  const Tensor s = normal(true), t = made_inside();
  EXPECT_REFUSED(t.mul(s), kSaved);
  EXPECT_REFUSED(s.clone().mul_(t), kSaved);
  torch::NoGradGuard no_grad;
  EXPECT_FALSE(t.mul(s).requires_grad());
}

TEST(BothKinds, StackSavesNothing) {
  const Tensor s = normal(true), t = made_inside();
  EXPECT_TRUE(torch::stack({s, t}).requires_grad());
  EXPECT_TRUE(torch::cat({t, s}).requires_grad());
}

TEST_P(EachRequiresGrad, OutOfAnOpOutside) {
  const Tensor s = normal(GetParam());
  Tensor t = made_inside();
  EXPECT_REFUSED(torch::mul_out(t, s, s),
                 GetParam() ? "functions with out=... arguments don't support automatic differentiation" : kInplace);
}

TEST_P(EachRequiresGrad, ViewAsTakesTheKindOfItsSelf) {
  const Tensor s = normal(GetParam()), t = made_inside();
  EXPECT_TRUE(t.view_as(s).is_inference());
  EXPECT_FALSE(s.view_as(t).is_inference());
  EXPECT_EQ(s.view_as(t).requires_grad(), GetParam());
}

// ---- functions and guards

struct Blend : public Function<Blend> {
  static Variable forward(AutogradContext* ctx, Variable a, int weight, Variable b) {
    ctx->saved_data["weight"] = weight;
    ctx->save_for_backward({a, b});
    return a + weight * b;
  }
  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    EXPECT_EQ(ctx->get_saved_variables().size(), 2u);
    return {grads[0], Variable(), grads[0] * ctx->saved_data["weight"].toInt()};
  }
};

TEST(CustomFunction, SavesNothingInside) {
  InferenceMode guard;
  const Tensor a = torch::ones({2}).set_requires_grad(true);
  const Tensor blended = Blend::apply(a, 2, a.clone());
  EXPECT_TRUE(blended.is_inference());
  EXPECT_EQ(blended.sum().item<float>(), 6);
}

TEST(CustomFunction, RefusesToSaveInferenceTensorsOutside) {
  const Tensor a = torch::ones({2, 3}).set_requires_grad(true);
  EXPECT_REFUSED(Blend::apply(a, 2, made_inside()), kSaved);
  const Tensor b = torch::ones({2, 3}).set_requires_grad(true);
  Blend::apply(a, 2, b).sum().backward();
  EXPECT_TRUE(torch::allclose(b.grad(), torch::full({2, 3}, 2.0)));
}

TEST(OldGuard, WarnsEachTimeWhenAsked) {
  struct Last : public c10::WarningHandler {
    std::string text;
    void process(const c10::Warning& warning) override { text = warning.msg(); }
  } last;
  c10::WarningUtils::WarningHandlerGuard handler(&last);
  c10::WarningUtils::WarnAlways always(true);
  at::AutoNonVariableTypeMode guard;
  EXPECT_EQ(last.text.rfind("AutoNonVariableTypeMode is deprecated", 0), 0u);
}

TEST(KernelGuards, HideTheirKeys) {
  using namespace c10::impl;
  Tensor t = with_history(true);
  {
    at::AutoDispatchBelowAutograd guard;
    EXPECT_FALSE(tls_is_dispatch_key_excluded(c10::DispatchKey::ADInplaceOrView));
    EXPECT_FALSE((t * t).requires_grad());
    t.add_(1);
    EXPECT_EQ(t._version(), 1);
    EXPECT_TRUE(t.view({6}).is_view());
  }
  {
    at::AutoDispatchBelowADInplaceOrView guard;
    EXPECT_TRUE(tls_is_dispatch_key_excluded(c10::DispatchKey::ADInplaceOrView));
    t.add_(1);
    EXPECT_EQ(t._version(), 1);
    EXPECT_FALSE(t.view({6}).is_view());
  }
  EXPECT_TRUE((t * t).requires_grad());
}
