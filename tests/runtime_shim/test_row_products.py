"""Small rows by products with ones: the same as numpy's reductions, and what they aren't for goes the general way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from guardfix import runtime_shim as torch
from guardfix.runtime_shim.aten import row_products
from guardfix.runtime_shim.nn import functional as F

_INF, _NAN = float("inf"), float("nan")
ROWS: dict[str, Any] = {
    "apart": [[0.5, -2.0, 3.25], [100.0, -100.0, 99.0]],
    "alike": [[1.0, 1.0, 1.0], [0.1, 0.1, 0.1]],
    "one row": [[3.0, 1.0, 2.0]],
    "a masked row": [[-_INF, 0.0, -_INF], [-_INF, -_INF, -_INF]],
    "infinite": [[_INF, 0.0, 1.0], [1.0, 2.0, 3.0]],
    "not a number": [[_NAN, 0.0, 1.0], [1.0, 2.0, 3.0]],
    "three dimensions": [[[1.0, 2.0]], [[4.0, 3.0]], [[0.0, 9.0]]],
}


def _bits(t: Any) -> tuple[Any, ...]:
    return t.shape, t.stride(), t.dtype


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("op", ["softmax", "layer_norm", "softmax, backward", "layer_norm, backward"])
def test_small_rows_are_what_reductions_make(op: str, rows: str, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def outcome() -> Any:
        x = torch.tensor(ROWS[rows], dtype=dtype, requires_grad=True)
        y = F.softmax(x, -1) if op.startswith("softmax") else F.layer_norm(x, x.shape[-1:])
        if not op.endswith("backward"):
            return y.detach()
        y.backward(torch.arange(float(y.numel())).to(dtype).view(y.shape))
        return x.grad

    assert row_products.rows_of(np.asarray(ROWS[rows], dtype.numpy), len(np.asarray(ROWS[rows])[-1].T)) is not None
    short = outcome()
    monkeypatch.setattr(row_products, "_LARGEST", 0)
    long = outcome()
    assert _bits(short) == _bits(long)
    np.testing.assert_allclose(short.numpy(), long.numpy(), rtol=2e-6 if dtype is torch.float32 else 1e-14, atol=1e-7)


@pytest.mark.parametrize("weighted", [False, True])
def test_what_layer_norm_saves_has_a_row_for_each_row(weighted: bool) -> None:
    x, w = torch.ones(2, 5, 3, requires_grad=True), torch.ones(3) if weighted else None
    y = F.layer_norm(x, (3,), w, w)
    assert y.grad_fn._saved_result1.shape == y.grad_fn._saved_result2.shape == (2, 5, 1)


@pytest.mark.parametrize(
    "array",
    [
        np.ones((2, 1), np.float32),
        np.ones((2, 33), np.float32),
        np.ones((1000, 3), np.float32),
        np.ones((0, 3), np.float32),
        np.ones((2, 3), np.float16),
        np.ones((2, 3), np.complex64),
        np.ones((2, 6), np.float32)[:, ::2],
    ],
    ids=["one column", "wide", "large", "empty", "half", "complex", "with gaps"],
)
def test_others_go_the_general_way(array: Any) -> None:
    assert row_products.rows_of(array, array.shape[-1]) is None


@pytest.mark.parametrize("size", [(1, 2, 8, 8), (1, 2, 40, 40), (2, 2, 8, 8)], ids=["small", "large", "a batch"])
@pytest.mark.parametrize(
    "options", [{}, {"stride": 2}, {"padding": 1}, {"dilation": (1, 2), "padding": (0, 2)}], ids=str
)
def test_a_small_image_is_convolved_as_each_of_a_batch(size: tuple[int, ...], options: dict[str, Any]) -> None:
    x = torch.arange(float(np.prod(size))).view(size).sin()
    k = torch.arange(54.0).view(3, 2, 3, 3).cos()
    found = F.conv2d(x, k, **options)
    twice = F.conv2d(torch.cat((x, x)), k, **options)
    assert found.stride() == twice[: len(x)].stride()
    np.testing.assert_allclose(found.numpy(), twice[: len(x)].numpy(), rtol=1e-5, atol=1e-5)
