"""The differential test is able to fail: four faults, each put into the shim, are each caught by it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import guardfix.runtime_shim as shim
from guardfix.runtime_shim import _C
from guardfix.runtime_shim.core import error_texts, thread_state
from guardfix.runtime_shim.dispatch import op_description

from . import recording, suite

Fault = Callable[[pytest.MonkeyPatch], None]


def inference_mode_is_no_grad(patch: pytest.MonkeyPatch) -> None:
    """The guard switches gradients off and leaves the dispatch keys alone."""

    def set_grad_mode_only(self: Any, enabled: bool) -> None:
        self.grad_mode = not enabled

    patch.setattr(thread_state.ThreadState, "set_inference_mode", set_grad_mode_only)


def below_inplace_or_view_is_no_grad(patch: pytest.MonkeyPatch) -> None:
    """The guard that skips versions and view tracking keeps them."""
    patch.setattr(_C, "_AutoDispatchBelowADInplaceOrView", shim.no_grad)


def one_message_is_changed(patch: pytest.MonkeyPatch) -> None:
    """One word of the refusal to write to an inference tensor."""
    changed = error_texts.INPLACE_ON_INFERENCE.replace("not allowed", "forbidden")
    patch.setattr(error_texts, "INPLACE_ON_INFERENCE", changed)


def one_gradient_is_off(patch: pytest.MonkeyPatch) -> None:
    """The derivatives of a product are 0.1 % too large."""

    def enlarged(formula: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *saved: formula(*saved) * 1.001

    mul = op_description.OPS["mul"]
    changed = tuple((index, enlarged(formula), names) for index, formula, names in mul.formulas)
    patch.setattr(op_description.Op, "__setattr__", object.__setattr__)  # descriptions are frozen
    patch.setattr(mul, "formulas", changed)


FAULTS = [
    pytest.param(inference_mode_is_no_grad, {"modes", "is_inference"}, id="inference mode is no_grad"),
    pytest.param(below_inplace_or_view_is_no_grad, {"modes", "version"}, id="below in-place or view is no_grad"),
    pytest.param(one_message_is_changed, {"message"}, id="one message is changed"),
    pytest.param(one_gradient_is_off, {"grad.values", "values"}, id="one gradient is 0.1 % off"),
]


@pytest.fixture(scope="module")
def documented() -> list[recording.Recording]:
    return [item for item in recording.load() if item.program.profile == "documented"]


@pytest.fixture(scope="module")
def agreeing(documented: list[recording.Recording]) -> list[recording.Recording]:
    """The programs that the sound shim runs as PyTorch does."""
    return [item for item in documented if suite.check(item, shim) is None]


@pytest.mark.parametrize(("fault", "aspects"), FAULTS)
@pytest.mark.few("below in-place or view is no_grad")
@pytest.mark.thorough
def test_fault_is_caught(
    fault: Fault,
    aspects: set[str],
    documented: list[recording.Recording],
    agreeing: list[recording.Recording],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fault(monkeypatch)
    failures = [failure for item in agreeing if (failure := suite.check(item, shim))]
    assert aspects & {failure.disagreement.aspect for failure in failures}
    # The programs that it spoils are enough to miss the target, even if all others agree.
    assert 1 - len(failures) / len(documented) < suite.TARGETS["documented"]
