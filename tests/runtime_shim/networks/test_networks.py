"""Every expression gives what PyTorch gave; gradients are right; the comparison can fail."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import guardfix.runtime_shim as shim

from .cases import EXPRESSIONS
from .observe import SHAPES, differences, evaluate, inputs
from .program import LINES, outcomes

RECORDED: dict[str, Any] = json.loads(Path(__file__).with_name("recorded.json").read_text(encoding="utf-8"))

PROGRAM: list[list[str]] = json.loads(Path(__file__).with_name("modules.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def program() -> list[str]:
    return outcomes(shim)


@pytest.mark.parametrize("number", range(len(LINES)), ids=[f"{i}: {line}"[:70] for i, line in enumerate(LINES)])
def test_line_about_modules_gives_what_pytorch_gave(number: int, program: list[str]) -> None:
    assert [LINES[number], program[number]] == PROGRAM[number]


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_expression_gives_what_pytorch_gave(name: str) -> None:
    assert differences(RECORDED[name], evaluate(EXPRESSIONS[name], shim)) == []


def test_every_expression_is_recorded() -> None:
    assert list(RECORDED) == list(EXPRESSIONS)
    assert [line for line, _ in PROGRAM] == LINES


@pytest.mark.oracle
def test_recorded_is_what_pytorch_does() -> None:
    torch: Any = pytest.importorskip("torch")
    wrong = {
        name: found
        for name, code in EXPRESSIONS.items()
        if (found := differences(RECORDED[name], evaluate(code, torch)))
    }
    assert wrong == {}
    assert outcomes(torch) == [outcome for _, outcome in PROGRAM]


DIFFERENTIABLE = [
    "F.conv2d(x, w, b, stride=2, padding=1)",
    "F.conv2d(x, w[:3, :1], b[:3], groups=3, dilation=2)",
    "F.conv_transpose2d(x, wt, b[:2], stride=2, padding=1, output_padding=1)",
    "F.conv1d(s, v, padding=1, stride=2)",
    "F.max_pool2d(x, 3, 2, 1)",
    "F.avg_pool2d(x, 3, 2, 1, True, False)",
    "F.adaptive_avg_pool2d(x, (2, 4))",
    "F.batch_norm(x, None, None, c, d, training=True)",
    "F.batch_norm(x, zeros, ones, c, d)",
    "F.layer_norm(s, (3, 7), s[0], s[1])",
    "F.group_norm(x, 3, c, d)",
    "F.cross_entropy(m, t, label_smoothing=0.2)",
    "F.cross_entropy(m, n.softmax(1))",
    "F.mse_loss(m, n)",
    "F.smooth_l1_loss(m, n)",
    "F.binary_cross_entropy_with_logits(m, n.sigmoid(), pos_weight=k)",
    "F.embedding(torch.tensor([2, 0, 2]), m)",
    "F.linear(x, x[0, 0, :4], b)",
    "F.interpolate(x, scale_factor=1.7, mode='bilinear')",
    "F.pad(x, (1, 2, 2, 1), mode='reflect')",
    "F.gelu(m)",
    "F.glu(m)",
    "torch.einsum('nchw,oc->nohw', x, w[:, :, 0, 0])",
    "torch.einsum('ij,jk,kl->il', m, n.t(), n)",
]


def _weighted(expression: str, names: dict[str, Any]) -> Any:
    result = eval(expression, names).reshape(-1)
    weights = shim.tensor([1 + 0.1 * (i % 7) for i in range(result.numel())], dtype=shim.float64)
    return (result * result * weights).sum()


@pytest.mark.parametrize("expression", DIFFERENTIABLE)
def test_gradient_is_the_slope(expression: str) -> None:
    """Central differences along one direction per input."""
    names = inputs(shim)
    _weighted(expression, names).backward()
    for name in SHAPES:
        grad = names[name].grad
        if grad is None:
            continue
        direction = shim.tensor([((7 * i) % 5 - 2.0) for i in range(grad.numel())], dtype=shim.float64).reshape(
            grad.shape
        )
        values = []
        for step in (1e-6, -1e-6):
            moved = inputs(shim)
            moved[name] = moved[name].detach() + direction * step
            values.append(_weighted(expression, moved).item())
        assert (grad * direction).sum().item() == pytest.approx((values[0] - values[1]) / 2e-6, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("expression", DIFFERENTIABLE)
def test_gradient_of_the_gradient_is_its_slope(expression: str) -> None:
    names = inputs(shim)
    tensors = {name: names[name] for name in SHAPES}

    def first(names: dict[str, Any], create_graph: bool) -> dict[str, Any]:
        found = shim.autograd.grad(
            _weighted(expression, names),
            [names[name] for name in SHAPES],
            create_graph=create_graph,
            allow_unused=True,
        )
        return {name: g for name, g in zip(SHAPES, found, strict=True) if g is not None}

    def penalty(gradients: dict[str, Any]) -> Any:
        return sum((g * g).sum() for g in gradients.values())

    found = shim.autograd.grad(penalty(first(names, True)), list(tensors.values()), allow_unused=True)
    for name, second in zip(tensors, found, strict=True):
        if second is None:
            continue
        direction = shim.tensor([((3 * i) % 7 - 3.0) for i in range(second.numel())], dtype=shim.float64).reshape(
            second.shape
        )
        values = []
        for step in (1e-6, -1e-6):
            moved = inputs(shim)
            moved[name] = (moved[name].detach() + direction * step).requires_grad_()
            values.append(penalty(first(moved, False)).item())
        slope = (values[0] - values[1]) / 2e-6
        assert (second * direction).sum().item() == pytest.approx(slope, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize(
    ("change", "reported"),
    [
        pytest.param({"values": [1.001]}, ["values.0: 1.0 became 1.001"], id="a value off by 0.1 %"),
        pytest.param({"version": 1}, ["version: 0 became 1"], id="another version"),
        pytest.param({"grad_fn": "MulBackward0"}, ["grad_fn: None became 'MulBackward0'"], id="another node"),
        pytest.param({"values": [1.0 + 1e-9]}, [], id="rounding is not a difference"),
    ],
)
def test_differences_are_reported(change: dict[str, Any], reported: list[str]) -> None:
    seen = {"values": [1.0], "version": 0, "grad_fn": None}
    assert differences(seen, seen | change) == reported
