"""Views, and views that cross from one mode into another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from .kinds import (
    DIRECT,
    INDIRECT,
    INFERENCE,
    INFERENCE_NORMAL,
    NO_GRAD_GRAD,
    VIEW_OF_LEAF,
    Op,
    Tensor,
    Torch,
    make,
    refused,
    state,
)

VIEWS = [
    pytest.param(lambda torch, t: t.view(4), id="view"),
    pytest.param(lambda torch, t: t.reshape(4), id="reshape"),
    pytest.param(lambda torch, t: t[0], id="index"),
    pytest.param(lambda torch, t: t[:1], id="slice"),
    pytest.param(lambda torch, t: t.t(), id="t"),
    pytest.param(lambda torch, t: t.permute(1, 0), id="permute"),
    pytest.param(lambda torch, t: t.unsqueeze(0), id="unsqueeze"),
    pytest.param(lambda torch, t: t.expand(3, 2, 2), id="expand"),
    pytest.param(lambda torch, t: t.select(1, 0), id="select"),
    pytest.param(lambda torch, t: t.narrow(0, 0, 1), id="narrow"),
    pytest.param(lambda torch, t: t.unbind()[0], id="unbind"),
    pytest.param(lambda torch, t: t.split(1)[0], id="split"),
    pytest.param(lambda torch, t: t.chunk(2)[1], id="chunk"),
    pytest.param(lambda torch, t: t.diagonal(), id="diagonal"),
    pytest.param(lambda torch, t: t.flatten(), id="flatten"),
    pytest.param(lambda torch, t: t.view_as(t), id="view_as"),
    pytest.param(lambda torch, t: t.as_strided((2,), (1,)), id="as_strided"),
    pytest.param(lambda torch, t: t.movedim(0, 1), id="movedim"),
]


@pytest.mark.parametrize("op", VIEWS)
@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("N", "normal leaf view v0"),
        ("Nr", "normal requires_grad leaf view v0"),
        ("Nh", "normal requires_grad leaf view v0"),
    ],
)
def test_view_of_normal_tensor_inside_is_a_normal_view(torch: Torch, kind: str, expected: str, op: Op) -> None:
    base = make(torch, kind)
    with torch.inference_mode():
        view = op(torch, base)
        assert view._base is base
        again = view.view_as(view)
        assert again._base is base
    assert state(view) == expected
    with torch.inference_mode():
        base.add_(1)
    assert view._version == base._version == 1


@pytest.mark.parametrize("op", VIEWS)
@pytest.mark.parametrize("kind", ["I", "Ir"])
@pytest.mark.parametrize("inside", [True, False], ids=["inside", "outside"])
def test_view_of_inference_tensor_is_an_untracked_inference_tensor(
    torch: Torch, kind: str, inside: bool, op: Op
) -> None:
    base = make(torch, kind)
    with torch.inference_mode(inside):
        view = op(torch, base)
    assert state(view) == INFERENCE
    assert view._base is None
    with torch.inference_mode():
        base.fill_(7.0)
    assert view.reshape(-1)[0].item() == 7.0


@pytest.mark.parametrize(("guard", "words"), [("inference_mode", INFERENCE_NORMAL), ("no_grad", NO_GRAD_GRAD)])
def test_view_made_under_a_guard_cannot_be_written_outside(torch: Torch, guard: str, words: tuple[str, str]) -> None:
    base = make(torch, "Nh")
    with getattr(torch, guard)():
        view = base.view(4)
    with refused(DIRECT.format(*words)):
        view.add_(1)
    assert base.tolist() == [[0.5, 0.5]] * 2
    with torch.no_grad():
        view.add_(1)
    assert base.tolist() == [[1.5, 1.5]] * 2


@pytest.mark.parametrize(("guard", "words"), [("inference_mode", INFERENCE_NORMAL), ("no_grad", NO_GRAD_GRAD)])
@pytest.mark.parametrize(
    "use",
    [
        pytest.param(lambda v: v.grad_fn, id="grad_fn"),
        pytest.param(lambda v: v.is_leaf, id="is_leaf"),
        pytest.param(lambda v: v * 2, id="an op"),
        pytest.param(lambda v: v.view(2, 2), id="a view"),
    ],
)
def test_view_made_under_a_guard_cannot_be_used_after_its_base_was_written(
    torch: Torch, guard: str, words: tuple[str, str], use: Callable[[Tensor], Any]
) -> None:
    base = make(torch, "Nh")
    with getattr(torch, guard)():
        view = base.view(4)
    base.add_(1)
    with refused(INDIRECT.format(*words)):
        use(view)
    assert view.requires_grad
    assert view._version == 1
    assert view.detach().tolist() == [1.5] * 4


def test_view_and_write_both_inside_or_both_outside(torch: Torch) -> None:
    base = make(torch, "Nh")
    with torch.inference_mode():
        base.view(4).add_(1)
    assert base._version == 1
    view = base.view(4)
    view.mul_(3)
    view.sum().backward()
    leaf = make(torch, "Nr")
    with refused(VIEW_OF_LEAF):
        leaf.view(4).add_(1)


def test_view_made_inside_of_a_tensor_without_grad(torch: Torch) -> None:
    base = make(torch, "N")
    with torch.inference_mode():
        view = base.view(4)
    view.add_(1)
    assert state(view) == "normal leaf view v1"
    with refused(DIRECT.format(*INFERENCE_NORMAL)):
        view.add_(torch.ones(4, requires_grad=True))


@pytest.mark.parametrize("guard", ["no_grad", "inference_mode", "enable_grad"])
def test_a_write_inside_is_noticed_by_backward(torch: Torch, guard: str) -> None:
    leaf = make(torch, "Nr")
    saved = leaf.clone()
    result = saved * saved
    with getattr(torch, guard)():
        saved.mul_(3)
    with refused("one of the variables needed for gradient computation has been modified by an inplace operation"):
        result.sum().backward()


def test_a_write_below_inplace_or_view_is_not_noticed(torch: Torch) -> None:
    leaf = torch.ones(2, requires_grad=True)
    saved = leaf.clone()
    result = saved * saved
    with torch._C._AutoDispatchBelowADInplaceOrView():
        saved.mul_(3)
    assert saved._version == 0
    result.sum().backward()
    assert leaf.grad.tolist() == [6.0, 6.0]
