"""`torch.autograd.gradcheck` and `gradgradcheck` find a gradient that is wrong, and no other."""

from __future__ import annotations

import io
import json
from collections import Counter
from typing import Any

import pytest

import guardfix.runtime_shim as torch
from guardfix.runtime_shim.recording.recorder import Recorder, watching
from guardfix.runtime_shim.recording.trace_events import Writer


class Cube(torch.autograd.Function):
    """x³; `factor` times the derivative of it."""

    factor = 3.0

    @classmethod
    def of(cls, factor: float) -> Any:
        return type("Cube", (cls,), {"factor": factor}).apply

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x**3

    @classmethod
    def backward(cls, ctx: Any, grad: Any) -> Any:
        (x,) = ctx.saved_tensors
        return cls.factor * x**2 * grad


def double(*values: float) -> Any:
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


RIGHT = [
    pytest.param(lambda x: x.exp(), id="one input"),
    pytest.param(lambda x: (x * 2, x.sum()), id="two outputs"),
    pytest.param(lambda x: (x * 2, x.argmax()), id="an output without a gradient"),
    pytest.param(lambda x: x[:0], id="an empty output"),
    pytest.param(lambda x: torch.ones(2, dtype=torch.float64), id="a constant"),
    pytest.param(lambda x: Cube.of(3.0)(x), id="a custom Function"),
]


@pytest.mark.parametrize("function", RIGHT)
def test_right_gradients(function: Any) -> None:
    x = double(0.5, -1.0, 2.0)
    assert torch.autograd.gradcheck(function, (x,))
    assert (x.tolist(), x._version) == ([0.5, -1.0, 2.0], 0)


def test_gradients_of_two_inputs_and_a_number() -> None:
    assert torch.autograd.gradcheck(lambda x, n, y: x * y * n, (double(1.0, 2.0), 3, double(4.0, 5.0)))


def test_wrong_gradient() -> None:
    with pytest.raises(
        RuntimeError, match=r"Jacobian mismatch for output 0 with respect to input 0,\nnumerical:tensor"
    ):
        torch.autograd.gradcheck(Cube.of(3.1), double(1.0, 2.0))
    assert not torch.autograd.gradcheck(Cube.of(3.1), double(1.0, 2.0), raise_exception=False)
    assert torch.autograd.gradcheck(Cube.of(3.1), double(1.0), atol=0.2)


def test_a_history_that_was_cut() -> None:
    with pytest.raises(RuntimeError, match="expected to be zero"):
        torch.autograd.gradcheck(lambda x: x.detach() * 2, double(1.0))


def test_an_input_must_require_grad() -> None:
    with pytest.raises(ValueError, match="at least one input tensor to require gradient"):
        torch.autograd.gradcheck(lambda x: x, torch.ones(2, dtype=torch.float64))


def test_single_precision_is_warned_of() -> None:
    with pytest.warns(UserWarning, match="Input #0 requires gradient and is not a double precision"):
        torch.autograd.gradcheck(lambda x: x * 2, torch.ones(1, requires_grad=True), raise_exception=False)


def test_second_derivatives() -> None:
    assert torch.autograd.gradgradcheck(lambda x: x**3, double(1.0, 2.0))
    assert torch.autograd.gradgradcheck(lambda x, y: x * y, (double(1.0), double(2.0)))


def test_a_type_with_a_name_alone() -> None:
    assert (str(torch.float8_e5m2), torch.float8_e5m2.is_floating_point) == ("torch.float8_e5m2", True)
    for attempt in (lambda: torch.ones(1, dtype=torch.float8_e5m2), lambda: torch.ones(1).to(torch.float8_e5m2)):
        with pytest.raises(NotImplementedError, match=r"the shim has no torch\.float8_e5m2"):
            attempt()


@pytest.mark.parametrize("size", [1, 40])
def test_a_recording_has_no_differences(size: int) -> None:
    """They are the same steps by the thousand; tests of kernels consist of them."""
    stream = io.StringIO()
    with watching(Recorder(Writer(stream))):
        x = torch.rand(size, dtype=torch.float64, requires_grad=True)
        assert torch.autograd.gradcheck(lambda t: Cube.of(3.0)(t).sin(), (x,))
    steps = Counter(event.get("op") for event in map(json.loads, stream.getvalue().splitlines()))
    assert (steps["sin"], steps["Cube"]) == (4, 4)
