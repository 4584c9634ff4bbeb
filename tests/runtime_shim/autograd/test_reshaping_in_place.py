"""`t_`, `unsqueeze_` and the like on views: the view's history goes on, nothing happened to its base."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Torch = Any


@pytest.mark.parametrize(
    ("reshape", "node"),
    [
        pytest.param(lambda v: v.t_(), "TBackward1", id="t_"),
        pytest.param(lambda v: v.transpose_(0, 1), "TransposeBackward1", id="transpose_"),
        pytest.param(lambda v: v.unsqueeze_(0), "UnsqueezeBackward1", id="unsqueeze_"),
        pytest.param(lambda v: v.squeeze_(), "SqueezeBackward3", id="squeeze_"),
        pytest.param(lambda v: v.as_strided_((3,), (1,)), "AsStridedBackward1", id="as_strided_"),
    ],
)
def test_the_base_keeps_its_history(torch: Torch, reshape: Callable[[Any], Any], node: str) -> None:
    base = torch.ones(2, 3, requires_grad=True) * 1
    view, other = base[:], base[:]
    reshape(view)
    assert type(view.grad_fn).__name__ == node
    assert type(base.grad_fn).__name__ == "MulBackward0"
    assert type(other.grad_fn).__name__ == "AsStridedBackward0"  # the version went up
    assert base._version == view._version == 1


def gradient(torch: Torch, use: Callable[[Any], Any]) -> list[list[float]]:
    leaf = torch.ones(2, 3, requires_grad=True)
    used = use(leaf * 1)
    (used * torch.arange(6.0).view(used.shape)).sum().backward()
    return list(leaf.grad.tolist())


def transposed(base: Any) -> Any:
    return base[:].t_()


def transposed_and_scaled(base: Any) -> Any:
    base[:].t_().mul_(2)
    return base


def base_scaled_after(base: Any) -> Any:
    view = base[:].t_()
    base.mul_(3)
    return view


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        (transposed, [[0.0, 2.0, 4.0], [1.0, 3.0, 5.0]]),
        (transposed_and_scaled, [[0.0, 2.0, 4.0], [6.0, 8.0, 10.0]]),
        (base_scaled_after, [[0.0, 6.0, 12.0], [3.0, 9.0, 15.0]]),
    ],
)
def test_gradients(torch: Torch, use: Callable[[Any], Any], expected: list[list[float]]) -> None:
    assert gradient(torch, use) == expected


def test_a_view_of_a_leaf_is_refused(torch: Torch) -> None:
    with pytest.raises(RuntimeError, match=r"^a view of a leaf Variable that requires grad"):
        torch.ones(2, 3, requires_grad=True)[:].t_()


@pytest.mark.filterwarnings("ignore:Use of index_fill_ on expanded")
def test_expanded_targets_are_written_as_memory_is(torch: Torch) -> None:
    filled = torch.ones(3).expand(2, 3)
    filled.index_fill_(0, torch.tensor([0]), 4.0)
    assert filled.tolist() == [[4.0] * 3] * 2
    assert torch.ones(3).expand(3, 3).triu_().tolist() == [[0.0, 0.0, 1.0]] * 3


def test_names_of_types_in_messages(torch: Torch) -> None:
    for dtype, name in ((torch.bool, "CPUBoolType"), (torch.float32, "torch.FloatTensor")):
        with pytest.raises(RuntimeError, match=rf"^expand\({name}{{\[2, 3\]}}, size=\[3\]\)"):
            torch.ones(2, 3, dtype=dtype).expand(3)
