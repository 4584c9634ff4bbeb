"""In-place writes to views that change the dtype: no window of strides onto the base tells of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Torch = Any


def real_of(a: Any, torch: Torch) -> Any:
    torch.view_as_real(a).mul_(2)
    return a


def part_of_real(a: Any, torch: Torch) -> Any:
    torch.view_as_real(a)[..., 0].mul_(3)
    return a


def real_and_imaginary(a: Any, torch: Torch) -> Any:
    a.real.mul_(2)
    a.imag.mul_(5)
    return a


def nested(a: Any, torch: Torch) -> Any:
    torch.view_as_real(a[1:].view(-1)).select(1, 1).mul_(7)
    return a


def base_written_view_read(a: Any, torch: Torch) -> Any:
    view = torch.view_as_real(a)[0]
    a.mul_(2)
    return torch.view_as_complex(view)


# The gradient of `a` where what is returned is summed up in real and imaginary parts.
@pytest.mark.parametrize(
    ("write", "gradient", "history"),
    [
        pytest.param(real_of, [2 + 2j, 2 + 2j], "CopySlices", id="view_as_real"),
        pytest.param(part_of_real, [3 + 1j, 3 + 1j], "CopySlices", id="an item of view_as_real"),
        pytest.param(real_and_imaginary, [2 + 5j, 2 + 5j], "CopySlices", id="real and imag"),
        pytest.param(nested, [1 + 1j, 1 + 7j], "CopySlices", id="views before and after view_as_real"),
        pytest.param(base_written_view_read, [2 + 2j, 0], "ViewAsComplexBackward0", id="base written, view used"),
    ],
)
def test_write_through_a_real_view_of_a_complex_tensor(
    torch: Torch, write: Callable[[Any, Torch], Any], gradient: list[complex], history: str
) -> None:
    leaf = torch.ones(2, dtype=torch.complex128, requires_grad=True)
    written = write(leaf.clone(), torch)
    assert type(written.grad_fn).__name__ == history
    torch.view_as_real(written).sum().backward()
    assert leaf.grad.tolist() == gradient


def test_write_through_a_complex_view_of_a_real_tensor(torch: Torch) -> None:
    leaf = torch.ones(2, 2, requires_grad=True)
    a = leaf.clone()
    view = torch.view_as_complex(a)
    view.mul_(2j)
    assert type(view.grad_fn).__name__ == "ViewAsComplexBackward0"
    a.sum().backward()
    assert leaf.grad.tolist() == [[2.0, -2.0], [2.0, -2.0]]


def test_view_of_a_base_that_was_written_to(torch: Torch) -> None:
    leaf = torch.ones(2, 2, requires_grad=True)
    a = leaf.clone()
    view = torch.view_as_complex(a)
    a.mul_(3)
    assert type(view.grad_fn).__name__ == "ViewAsComplexBackward0"
    view.real.sum().backward()
    assert leaf.grad.tolist() == [[3.0, 0.0], [3.0, 0.0]]
