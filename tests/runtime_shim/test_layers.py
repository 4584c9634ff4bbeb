"""The dispatch layers: what inference mode skips, what guards mean, what a trace and a custom op see."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

import guardfix.runtime_shim as torch
from guardfix.runtime_shim import _C
from guardfix.runtime_shim.core.gradient_modes import AutoNonVariableTypeMode

OPS: dict[str, Callable[[Any], Any]] = {
    "functional": lambda t: t * 2 + t,
    "in-place": lambda t: t.add_(1).mul_(t.clone()),
    "views": lambda t: t.view(6)[1:].unsqueeze(0).t(),
    "write through a view": lambda t: t[0].add_(1),
    "setitem": lambda t: t.__setitem__(0, 1.0),
    "reduction": lambda t: t.sum(0).mean(),
}


@pytest.mark.parametrize("run", OPS.values(), ids=OPS)
def test_inference_tensors_in_inference_mode_bump_and_record_nothing(run: Callable[[Any], Any]) -> None:
    with torch.inference_mode():
        t = torch.ones(2, 3)
        before = _C._version_counts()
        run(t)
        assert _C._version_counts() == before


@pytest.mark.parametrize(
    ("name", "counted"),
    [("in-place", "version_bumps"), ("write through a view", "version_bumps"), ("views", "view_records")],
)
def test_normal_tensors_do_count(name: str, counted: str) -> None:
    t = torch.ones(2, 3)
    before = _C._version_counts()[counted]
    with torch.no_grad():
        OPS[name](t)
    assert _C._version_counts()[counted] > before


def write_to_a_saved_tensor_under(make_guard: Callable[[], Any]) -> Any:
    # The guard is active from construction, so it is made only when the graph stands.
    s = torch.ones(2, requires_grad=True)
    a = s.clone()
    out = a * a
    with make_guard():
        a.mul_(3)
    return a, out, s


def test_before_1_9_the_old_guard_gives_a_silently_wrong_gradient_that_the_true_counter_shows() -> None:
    a, out, s = write_to_a_saved_tensor_under(AutoNonVariableTypeMode)
    assert a._version == 0
    assert a.untyped_storage().writes == 1
    out.backward(torch.ones(2))
    assert s.grad.tolist() == [6.0, 6.0]


def test_since_1_9_the_old_guard_still_counts_versions_and_warns_once() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        AutoNonVariableTypeMode._warned = False
        a, out, _ = write_to_a_saved_tensor_under(lambda: AutoNonVariableTypeMode(legacy_pre19=False))
        AutoNonVariableTypeMode(legacy_pre19=False).__exit__()
    assert a._version == 1
    assert sum("AutoNonVariableTypeMode is deprecated" in str(w.message) for w in caught) == 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.backward(torch.ones(2))


def test_a_trace_shows_kernels_guards_and_flags() -> None:
    t = torch.ones(2)
    with torch.trace() as trace:
        t.add_(1)
        with torch.inference_mode():
            t.view(2)
            t + 1
    steps = [(s.op, s.kernels, s.guards, s.results[0].inference, s.results[0].version) for s in trace.steps]
    assert steps == [
        ("add_", ("Autograd", "ADInplaceOrView", "CPU"), (), False, 1),
        ("view", ("ADInplaceOrView", "CPU"), ("inference_mode",), False, 1),
        ("add", ("ADInplaceOrView", "CPU"), ("inference_mode",), True, None),
    ]


def test_a_custom_op_redispatches_below_its_autograd_kernel() -> None:
    seen: list[str] = []
    library = torch.library.Library("shim_test", "DEF")
    library.define("twice(Tensor x) -> Tensor")

    def autograd(x: Any) -> Any:
        seen.append("Autograd")
        with _C._AutoDispatchBelowAutograd():
            return torch.ops.shim_test.twice(x)

    def cpu(x: Any) -> Any:
        seen.append("CPU")
        return x * 2

    library.impl("twice", autograd, "Autograd")
    library.impl("twice", cpu, "CPU")
    try:
        assert torch.ops.shim_test.twice(torch.ones(2)).tolist() == [2.0, 2.0]
        with torch.inference_mode():
            torch.ops.shim_test.twice(torch.ones(2))
        torch.ops.shim_test.twice.default.redispatch(_C._dispatch_keys(torch.ones(2)).bits & ~2, torch.ones(2))
    finally:
        library._destroy()
    assert seen == ["Autograd", "CPU", "CPU", "CPU"]


def test_a_scalar_overload_brings_no_keys() -> None:
    with torch.inference_mode():
        leaf = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        leaf.mul_(1)
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        _C._scalar_overload("mul_", leaf, 1)


@pytest.mark.parametrize("owner", [torch, torch.ones(1), torch.nn, torch.nn.functional, torch.optim])
def test_what_pytorch_has_and_the_shim_lacks_is_named_with_what_is_supported(owner: Any) -> None:
    name = {torch: "orgqr", torch.nn: "CrossMapLRN2d", torch.nn.functional: "conv_tbc", torch.optim: "Muon"}.get(
        owner, "orgqr"
    )
    with pytest.raises(NotImplementedError, match=f"the shim has no torch.*{name}; supported: "):
        getattr(owner, name)
    assert not hasattr(owner, name)


@pytest.mark.parametrize("owner", [torch, torch.ones(1), torch.nn])
def test_what_pytorch_lacks_too_is_an_attribute_error_only(owner: Any) -> None:
    with pytest.raises(AttributeError) as caught:
        owner.no_such_name  # noqa: B018
    assert not isinstance(caught.value, NotImplementedError)
