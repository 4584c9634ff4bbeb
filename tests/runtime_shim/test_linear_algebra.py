"""Linear algebra: values worked out by hand, in each form of the arguments, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import guardfix.runtime_shim as torch

triangle = torch.tensor([[2.0, 1.0], [0.0, 4.0]])
scales = torch.tensor([[3.0, 0.0], [0.0, 0.003]])  # singular values 3 and 0.003
both = torch.stack([scales, torch.tensor([[2.0, 0.0], [0.0, 1.0]])])


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param(lambda: torch.linalg.solve(triangle, torch.tensor([4.0, 8.0])), [1, 2], id="solve"),
        pytest.param(
            lambda: torch.linalg.solve(triangle, torch.tensor([[2.0, 5.0], [0.0, 8.0], [2.0, 1.0]]), left=False),
            [[1, 1], [0, 2], [1, 0]],
            id="solve, on the right",
        ),
        pytest.param(
            lambda: torch.linalg.solve(triangle.expand(2, 2, 2), torch.tensor([[4.0, 8.0], [2.0, 0.0]])),
            [[1, 2], [1, 0]],
            id="solve, vectors in a batch",
        ),
        pytest.param(lambda: torch.linalg.pinv(triangle), [[0.5, -0.125], [0, 0.25]], id="pinv"),
        pytest.param(lambda: torch.linalg.pinv(scales, 0.01), [[1 / 3, 0], [0, 0]], id="pinv, a relative bound"),
        pytest.param(lambda: torch.linalg.pinv(scales, atol=0.01), [[1 / 3, 0], [0, 0]], id="pinv, an absolute bound"),
        pytest.param(lambda: torch.linalg.slogdet(-triangle[0:1, 0:1]).sign, -1, id="slogdet, negative"),
    ],
)  # fmt: skip
def test_values(found: Callable[[], Any], expected: Any) -> None:
    np.testing.assert_allclose(found().numpy(), expected, rtol=1e-5, atol=1e-6)


def test_the_sign_of_a_determinant_has_no_slope() -> None:
    a = triangle.clone().requires_grad_()
    torch.linalg.slogdet(a).sign.backward()
    assert a.grad is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        pytest.param(
            lambda: torch.linalg.solve(triangle, torch.ones(2), left=False),
            "linalg.solve: Incompatible shapes of A and B for the equation XA = B (2x2 and 2x1)",
            id="solve, a vector on the right",
        ),
        pytest.param(
            lambda: torch.linalg.svd(triangle, driver="gesdd"),
            "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend.",
            id="svd, how to compute it",
        ),
        pytest.param(
            lambda: torch.linalg.svdvals(triangle, driver="gesdd"),
            "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend.",
            id="svdvals, how to compute it",
        ),
    ],
)
def test_refusals(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(RuntimeError) as raised:
        call()
    assert str(raised.value) == message
