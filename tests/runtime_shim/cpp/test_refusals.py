"""What must not compile: a program that PyTorch's headers refuse is refused here, too."""

from __future__ import annotations

import functools
import re
import subprocess
import sysconfig

import pytest

from guardfix.runtime_shim.cpp import header_precompilation
from guardfix.runtime_shim.cpp.own_headers import own_include_folders, write_forwarding_headers

from .running import torch_folder

REFUSED = {
    "inference mode copied": "c10::InferenceMode a; c10::InferenceMode b(a);",
    "inference mode moved": "c10::InferenceMode a; c10::InferenceMode b(std::move(a));",
    "inference mode assigned": "c10::InferenceMode a, b; a = b;",
    "inference mode from two": "c10::InferenceMode a(true, false);",
    "grad mode without an argument": "torch::AutoGradMode a;",
    "grad mode copied": "torch::AutoGradMode a(true); auto b = a;",
    "no_grad with an argument": "torch::NoGradGuard a(true);",
    "no_grad copied": "torch::NoGradGuard a; auto b = a;",
    "below autograd with an argument": "at::AutoDispatchBelowAutograd a(true);",
    "below autograd copied": "at::AutoDispatchBelowAutograd a; auto b = a;",
    "below ADInplaceOrView with an argument": "at::AutoDispatchBelowADInplaceOrView a(true);",
    "below ADInplaceOrView copied": "at::AutoDispatchBelowADInplaceOrView a; auto b = a;",
    "below ADInplaceOrView in torch::autograd": "torch::autograd::AutoDispatchBelowADInplaceOrView a;",
    "old guard copied": "at::AutoNonVariableTypeMode a; auto b = a;",
    "old guard from a string": 'at::AutoNonVariableTypeMode a(std::string("true"));',
    "exclude guard without keys": "c10::impl::ExcludeDispatchKeyGuard a;",
    "exclude guard copied": "c10::impl::ExcludeDispatchKeyGuard a(c10::DispatchKey::CPU); auto b = a;",
    "accessor of a temporary": "torch::ones({2}).accessor<float, 1>();",
    "an array ref of a temporary number": "c10::IntArrayRef sizes; sizes = int64_t(1);",
    "an array ref of temporary numbers": "c10::IntArrayRef sizes; sizes = {int64_t(1), int64_t(2)};",
    "context copied": "torch::autograd::AutogradContext a; auto b = a;",
    "function without backward": "struct F : torch::autograd::Function<F> {}; F::apply(t);",
    "a tensor is not a number": "int n = t;",
    "a tensor is not a condition": "if (t) return;",
    "long long in torch::tensor": "torch::tensor({1LL, 2LL});",
    "a layer without its sizes": "torch::nn::ModuleHolder<torch::nn::LinearImpl> layer;",
    "a layer from a number": "torch::nn::Linear layer = 3;",
    "a layer without a forward called": "struct M : torch::nn::Module {}; torch::nn::ModuleHolder<M> m; m(t);",
    "a module that is not a module": 'torch::nn::Module m; m.register_module("a", std::make_shared<int>(3));',
    "a class with no reset cloneable": "struct M : torch::nn::Cloneable<M> {}; M m;",
    "an optimizer without a rate": "torch::optim::SGD o(std::vector<torch::Tensor>{t});",
    "an optimizer copied": "torch::optim::Adam o(std::vector<torch::Tensor>{t}); auto p = o;",
    "an option that a layer does not have": "torch::nn::LinearOptions(1, 2).stride(1);",
    "a reduction that a loss does not know": "torch::nn::MSELoss l(torch::nn::MSELossOptions(torch::kReLU));",
    "an op that does not exist": "t.no_such_op();",
    "torch::linalg, which PyTorch has had until 2.9": "torch::linalg::svd(t);",
    "a view into a given tensor": "at::select_out(t, t, 0, 0);",
    "a complex number and another kind of number": "auto z = c10::complex<float>(1) * 2.0;",
    "gradient mode of another namespace": "c10::autograd::GradMode::is_enabled();",
}

ACCEPTED = {
    "inference mode": "c10::InferenceMode a; c10::InferenceMode b(false); c10::InferenceMode c{true};",
    "inference mode from a value": "bool on = false; torch::InferenceMode a(on);",
    "inference mode by copy initialisation": "at::InferenceMode a = c10::InferenceMode(true);",
    "no_grad": "torch::NoGradGuard a; at::NoGradGuard b{};",
    "grad mode": "torch::autograd::AutoGradMode a(true); auto b = c10::AutoGradMode(false);",
    "below autograd": "at::AutoDispatchBelowAutograd a; torch::AutoDispatchBelowAutograd b{};",
    "below ADInplaceOrView": "at::AutoDispatchBelowADInplaceOrView a{}; torch::AutoDispatchBelowADInplaceOrView b;",
    "old guard": "at::AutoNonVariableTypeMode a; at::AutoNonVariableTypeMode b(true);",
    "old guard in other words": "torch::AutoNonVariableTypeMode a{true}; auto b = at::AutoNonVariableTypeMode(true);",
    "a guard on the heap": "auto a = std::make_unique<c10::InferenceMode>(true);",
    "an optional guard": "std::optional<torch::NoGradGuard> a; a.emplace();",
    "a member guard": "struct G { torch::AutoGradMode a{false}; at::AutoNonVariableTypeMode b{true}; } g;",
    "a temporary guard": "at::AutoNonVariableTypeMode(true);",
    "accessor of a name": "t.accessor<float, 1>()[0] = 1;",
    "a layer in its empty state": "torch::nn::Linear a = nullptr; torch::nn::Conv2d b{nullptr};",
    "a layer with its sizes": "torch::nn::Linear a(1, 2); torch::nn::Linear b(torch::nn::LinearOptions(1, 2).bias(false));",
    "a module of one's own": "struct M : torch::nn::Module { torch::Tensor forward(torch::Tensor x) { return x; } }; "
    "torch::nn::ModuleHolder<M> m; m(t); torch::nn::Sequential s(M(), m);",
    "optimizers": "torch::optim::SGD a(std::vector<torch::Tensor>{t}, 0.1); torch::optim::Adam b(std::vector<torch::Tensor>{t});",
    "a reduction": "torch::nn::MSELoss l(torch::kSum); torch::nn::MSELoss m(torch::nn::MSELossOptions(torch::kNone));",
    "a complex number and an integer": "auto z = 2 * c10::complex<float>(1) + 1; z *= 2.0f;",
    "an op into a given tensor": "at::sum_out(t, t, {0}); at::relu_out(t, t); at::max_out(t, t, t, 0);",
    "element assignment": "t[0] = 1; t[0] = t[1]; t = t[0];",
}

STATEMENTS = [*REFUSED.values(), *ACCEPTED.values()]


def shim_includes() -> tuple[str, ...]:
    write_forwarding_headers()
    return (*(f"-isystem{folder}" for folder in own_include_folders()), "-isystem" + sysconfig.get_path("include"))


@functools.cache
def refused_by(*includes: str, standard: str = "c++17") -> dict[str, str]:
    """The statements that do not compile against the headers in `includes`, with the first error of each.

    All are compiled at once, each in a function on a line of its own.
    """
    lines = ["#include <torch/torch.h>", "#include <memory>"]
    for number, statement in enumerate(STATEMENTS):
        lines.append(f"void program_{number}() {{ torch::Tensor t = torch::ones({{2}}); (void)t; {statement} }}")
    done = subprocess.run(
        [
            str(header_precompilation.find_toolchain().compiler),
            f"-std={standard}",
            "-fsyntax-only",
            "-x",
            "c++",
            *includes,
            "-",
        ],
        input="\n".join(lines),
        capture_output=True,
        text=True,
        check=False,
    )
    # The place in the program: of the error itself, or, for one inside a template, of what required it.
    errors = re.findall(r"^<stdin>:(\d+):\d+: +(error: .*|required from here)", done.stderr, flags=re.M)
    found: dict[str, str] = {}
    for line, message in errors:
        found.setdefault(STATEMENTS[int(line) - 3], message)
    assert found, done.stderr
    return found


@pytest.mark.parametrize("statement", REFUSED.values(), ids=REFUSED.keys())
@pytest.mark.thorough
def test_refused(statement: str) -> None:
    assert statement in refused_by(*shim_includes())


@pytest.mark.parametrize("statement", ACCEPTED.values(), ids=ACCEPTED.keys())
@pytest.mark.thorough
def test_accepted(statement: str) -> None:
    """The counterparts: a table of refusals alone would pass if nothing compiled."""
    assert refused_by(*shim_includes()).get(statement) is None


@pytest.mark.oracle
@pytest.mark.skipif(torch_folder() is None, reason="torch is not installed")
def test_pytorch_refuses_and_accepts_the_same() -> None:
    folder = torch_folder()
    includes = (f"-isystem{folder}/include", f"-isystem{folder}/include/torch/csrc/api/include")
    assert set(refused_by(*includes, standard="c++20")) == set(REFUSED.values())
