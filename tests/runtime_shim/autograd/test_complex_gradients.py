"""Gradients of ops on complex numbers: half of PyTorch's formulas conjugate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

A = [1.2 + 0.3j, -1 - 1.4j, -0.5 + 0.1j]
B = [0.4 + 0.9j, 1.5 - 0.2j, 0.3 + 0.7j]
STEP = 1e-6


def slope(torch: Any, call: Callable[..., Any], values: list[list[complex]], which: int) -> list[complex]:
    """What PyTorch calls the gradient of the real part of the sum: dL/d(real) + i dL/d(imaginary), by differences."""

    def loss(moved: list[list[complex]]) -> float:
        found = call(torch, *[torch.tensor(v, dtype=torch.complex128) for v in moved]).sum()
        return float((found.real if found.is_complex() else found).item())

    gradient = []
    for i in range(len(values[which])):
        parts = []
        for direction in (1, 1j):
            ends = []
            for sign in (1, -1):
                moved = [list(v) for v in values]
                moved[which][i] += sign * STEP * direction
                ends.append(loss(moved))
            parts.append((ends[0] - ends[1]) / (2 * STEP))
        gradient.append(complex(*parts))
    return gradient


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda t, a: t.sgn(a), id="sgn"),
        pytest.param(lambda t, a: a.abs(), id="abs"),
        pytest.param(lambda t, a: a.logsumexp(0), id="logsumexp"),
        pytest.param(lambda t, a: a.cumprod(0), id="cumprod"),
        pytest.param(lambda t, a: a.prod(), id="prod"),
        pytest.param(lambda t, a, b: t.addcmul(a, a, b, value=2), id="addcmul"),
        pytest.param(lambda t, a, b: t.addcdiv(a, a, b, value=2), id="addcdiv"),
        pytest.param(lambda t, a, b: a**b, id="pow"),
        pytest.param(lambda t, a, b: t.tensor([2.0, -1.5, 0.5], dtype=t.float64) ** b + a, id="pow of a real base"),
        pytest.param(lambda t, a, b: a * b / (a + b), id="arithmetic"),
    ],
)
def test_gradient_is_the_slope(torch: Any, call: Callable[..., Any]) -> None:
    values = [A, B][: call.__code__.co_argcount - 1]
    leaves = [torch.tensor(v, dtype=torch.complex128, requires_grad=True) for v in values]
    found = call(torch, *leaves).sum()
    (found.real if found.is_complex() else found).backward()
    for which, leaf in enumerate(leaves):
        assert leaf.grad.tolist() == pytest.approx(slope(torch, call, values, which), abs=1e-6)


@pytest.mark.parametrize("name", ["floor", "ceil", "round", "trunc", "sign", "sgn"])
def test_steps_have_gradient_zero_even_where_the_gradient_after_them_is_infinite(torch: Any, name: str) -> None:
    x = torch.tensor([0.5, -1.5], requires_grad=True)
    getattr(x, name)().backward(torch.tensor([float("inf"), -1.0]))
    assert str(x.grad.clone()) == "tensor([0., 0.])"
