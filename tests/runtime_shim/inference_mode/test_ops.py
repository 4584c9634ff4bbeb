"""Creation and functional ops, inside and outside."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .kinds import (
    INFERENCE,
    INFERENCE_LEAF,
    INPLACE,
    NORMAL,
    RECORDED,
    SAVED,
    Op,
    Tensor,
    Torch,
    make,
    refused,
    state,
)


@pytest.mark.parametrize(
    ("factory", "expected"),
    [
        pytest.param(lambda torch: torch.ones(2), INFERENCE, id="ones"),
        pytest.param(lambda torch: torch.tensor([1.0, 2.0]), INFERENCE, id="tensor"),
        pytest.param(lambda torch: torch.arange(3), INFERENCE, id="arange"),
        pytest.param(lambda torch: torch.empty(2), INFERENCE, id="empty"),
        pytest.param(lambda torch: torch.zeros_like(torch.ones(2)), INFERENCE, id="zeros_like"),
        pytest.param(lambda torch: torch.randn(2), INFERENCE, id="randn"),
        pytest.param(lambda torch: torch.eye(2), INFERENCE, id="eye"),
        pytest.param(lambda torch: torch.ones(2, requires_grad=True), INFERENCE_LEAF, id="ones that require grad"),
        pytest.param(lambda torch: torch.nn.Parameter(torch.ones(2)), INFERENCE_LEAF, id="parameter"),
        pytest.param(lambda torch: torch.nn.Linear(2, 2).weight, INFERENCE_LEAF, id="weight of a module"),
    ],
)
def test_created_in_inference_mode(torch: Torch, factory: Callable[[Torch], Tensor], expected: str) -> None:
    with torch.inference_mode():
        made = factory(torch)
        assert state(made) == expected
    assert state(made) == expected


def test_from_numpy_in_inference_mode(torch: Torch) -> None:
    import numpy

    array = numpy.ones(2)
    with torch.inference_mode():
        made = torch.from_numpy(array)
    assert state(made) == INFERENCE
    with refused(INPLACE):
        made.add_(1)
    assert array.tolist() == [2, 2]


@pytest.mark.parametrize("kind", ["N", "Nr", "Nh", "I", "Ir"])
@pytest.mark.parametrize(
    "op",
    [
        pytest.param(lambda torch, t: t * 2, id="mul scalar"),
        pytest.param(lambda torch, t: t + t, id="add"),
        pytest.param(lambda torch, t: t @ t, id="matmul"),
        pytest.param(lambda torch, t: t.exp(), id="exp"),
        pytest.param(lambda torch, t: t.sum(), id="sum"),
        pytest.param(lambda torch, t: torch.cat([t, torch.ones(2, 2)]), id="cat with an inference tensor"),
        pytest.param(lambda torch, t: t.clone(), id="clone"),
        pytest.param(lambda torch, t: t[[0]], id="index by a list"),
    ],
)
def test_functional_op_inside_gives_inference_tensor(torch: Torch, kind: str, op: Op) -> None:
    tensor = make(torch, kind)
    with torch.inference_mode():
        assert state(op(torch, tensor)) == INFERENCE
        with torch.enable_grad():  # the mode wins: autograd stays excluded
            assert torch.is_grad_enabled()
            assert state(op(torch, tensor)) == INFERENCE


@pytest.mark.parametrize(
    "op",
    [
        pytest.param(lambda torch, t: t * 2, id="mul scalar"),
        pytest.param(lambda torch, t: t * t, id="mul"),
        pytest.param(lambda torch, t: t @ t, id="matmul"),
        pytest.param(lambda torch, t: t.exp(), id="exp"),
        pytest.param(lambda torch, t: t + 0, id="add nothing"),
        pytest.param(lambda torch, t: torch.cat([t, t]), id="cat"),
    ],
)
def test_functional_op_outside_on_inference_tensors_alone_gives_normal_tensor(torch: Torch, op: Op) -> None:
    assert state(op(torch, make(torch, "I"))) == NORMAL


def empty_copy(torch: Torch, source: Tensor) -> Tensor:
    return torch.empty(2, 2).copy_(source)


SAVING_NOTHING = [
    pytest.param(lambda torch, i, n: i + n, 1.0, id="add"),
    pytest.param(lambda torch, i, n: n - i, 1.0, id="sub"),
    pytest.param(lambda torch, i, n: torch.cat([i, n]), 1.0, id="cat"),
    pytest.param(lambda torch, i, n: torch.stack([n, i]), 1.0, id="stack"),
    pytest.param(lambda torch, i, n: torch.where(i > 0, n, i), 1.0, id="where, condition and one side"),
    pytest.param(lambda torch, i, n: torch.where(n > 1, n, i), 0.0, id="where, the side not taken"),
    pytest.param(lambda torch, i, n: n[i > 0], 1.0, id="index by a mask"),
    pytest.param(lambda torch, i, n: n.masked_fill(i > 0, 0.0), 0.0, id="masked_fill"),
    pytest.param(lambda torch, i, n: empty_copy(torch, i) + n, 1.0, id="source of copy_"),
    pytest.param(lambda torch, i, n: n.expand_as(i), 1.0, id="shape only"),
]
SAVING = [
    pytest.param(lambda torch, i, n: i * n, id="mul, left"),
    pytest.param(lambda torch, i, n: n * i, id="mul, right"),
    pytest.param(lambda torch, i, n: i / n, id="div, dividend"),
    pytest.param(lambda torch, i, n: n / i, id="div, divisor"),
    pytest.param(lambda torch, i, n: i @ n, id="matmul, left"),
    pytest.param(lambda torch, i, n: torch.mm(n, i), id="mm, right"),
    pytest.param(lambda torch, i, n: i**n, id="pow, base"),
    pytest.param(lambda torch, i, n: n**i, id="pow, exponent"),
    pytest.param(lambda torch, i, n: torch.maximum(i, n), id="maximum"),
    pytest.param(lambda torch, i, n: torch.clamp(n, i), id="clamp by a tensor"),
]


@pytest.mark.parametrize("kind", ["Nr", "Nh"])
@pytest.mark.parametrize(("op", "gradient"), SAVING_NOTHING)
def test_op_that_saves_nothing_takes_inference_tensors(
    torch: Torch, kind: str, op: Callable[[Torch, Tensor, Tensor], Tensor], gradient: float
) -> None:
    inference, normal = make(torch, "I"), make(torch, kind)
    result = op(torch, inference, normal)
    assert result.requires_grad
    assert result.grad_fn is not None
    assert not result.is_inference()
    (found,) = torch.autograd.grad(result.sum(), [normal])
    assert found.tolist() == [[gradient] * 2] * 2


@pytest.mark.parametrize("kind", ["Nr", "Nh"])
@pytest.mark.parametrize("op", SAVING)
def test_op_that_saves_refuses_inference_tensors(
    torch: Torch, kind: str, op: Callable[[Torch, Tensor, Tensor], Tensor]
) -> None:
    inference, normal = make(torch, "I"), make(torch, kind)
    with refused(SAVED):
        op(torch, inference, normal)
    with torch.no_grad():
        assert state(op(torch, inference, normal)) == NORMAL
    with torch.inference_mode():
        assert state(op(torch, inference, normal)) == INFERENCE
    op(torch, inference.clone(), normal).sum().backward()


@pytest.mark.parametrize(
    ("op", "gradient"),
    [
        pytest.param(lambda torch, j: j + torch.ones(2, 2), 1.0, id="a normal operand"),
        pytest.param(lambda torch, j: j + 1, 1.0, id="a wrapped number"),
        pytest.param(lambda torch, j: j * 3, 3.0, id="a factor"),
        pytest.param(lambda torch, j: 2.0 - j, -1.0, id="a number on the left"),
    ],
)
def test_inference_leaf_meets_normal_operand_outside(torch: Torch, op: Op, gradient: float) -> None:
    leaf = make(torch, "Ir")
    result = op(torch, leaf)
    assert state(result) == RECORDED
    result.sum().backward()
    assert leaf.grad.tolist() == [[gradient] * 2] * 2
    op(torch, leaf).sum().backward()
    assert leaf.grad.tolist() == [[gradient * 2] * 2] * 2


@pytest.mark.parametrize(
    "op",
    [
        pytest.param(lambda torch, j: j * j, id="mul"),
        pytest.param(lambda torch, j: j.exp(), id="exp"),
        pytest.param(lambda torch, j: -j, id="neg"),
        pytest.param(lambda torch, j: j**2, id="pow"),
        pytest.param(lambda torch, j: j @ j, id="matmul"),
        pytest.param(lambda torch, j: j.clamp(min=0.0), id="clamp"),
        pytest.param(lambda torch, j: 2 / j, id="number divided"),
    ],
)
def test_inference_leaf_alone_outside_silently_records_nothing(torch: Torch, op: Op) -> None:
    assert state(op(torch, make(torch, "Ir"))) == NORMAL


def test_inference_leaf_in_composite_ops_outside(torch: Torch) -> None:
    leaf = make(torch, "Ir")
    with refused("abs(): functions with out=... arguments don't support automatic differentiation"):
        leaf.abs()
    with refused("sum(): functions with out=... arguments don't support automatic differentiation"):
        leaf.mean()
    assert state(leaf.clone()) == "normal requires_grad grad_fn v1"
    assert type(leaf.double().grad_fn).__name__ == "CopyBackwards"
