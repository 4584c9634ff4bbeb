"""`resize_` and `resize_as_`: a write where the shape changes, refused where the tensor requires grad."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from .kinds import INPLACE, Torch

REFUSED = "cannot resize variables that require grad"
Resize = Callable[[Any, Torch], Any]


def smaller(t: Any, torch: Torch) -> Any:
    return t.resize_as_(torch.ones(1, 2))


def same(t: Any, torch: Torch) -> Any:
    return t.resize_as_(torch.ones(2, 2))


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("resize", [smaller, same])
def test_inside_inference_mode(torch: Torch, resize: Resize, requires_grad: bool) -> None:
    with torch.inference_mode():
        t = torch.ones(2, 2, requires_grad=requires_grad)
        assert resize(t, torch) is t
        assert t.is_inference()
        assert t.requires_grad is requires_grad
        assert t.shape == ((1, 2) if resize is smaller else (2, 2))


@pytest.mark.parametrize(
    ("resize", "requires_grad", "message"),
    [
        pytest.param(smaller, False, INPLACE, id="a change of shape is a write"),
        pytest.param(smaller, True, REFUSED, id="requires_grad goes first"),
        pytest.param(same, True, REFUSED, id="even where nothing changes"),
        pytest.param(same, False, None, id="the same shape is not a write"),
    ],
)
def test_inference_tensor_outside(torch: Torch, resize: Resize, requires_grad: bool, message: str | None) -> None:
    with torch.inference_mode():
        t = torch.ones(2, 2, requires_grad=requires_grad)
    if message is None:
        resize(t, torch)
        return
    with pytest.raises(RuntimeError) as caught:
        resize(t, torch)
    assert str(caught.value).startswith(message)


def test_counts_a_change_of_shape_alone(torch: Torch) -> None:
    t = torch.ones(2, 2)
    same(t, torch)
    assert t._version == 0
    smaller(t, torch)
    assert t._version == 1
    with pytest.raises(TypeError, match=r"^resize_as_\(\): argument 'the_template' \(position 1\) must be Tensor"):
        t.resize_as_(3)
