"""Indices and sources that do not fit: refused with PyTorch's words, and never broadcast by numpy's rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


def zeros(torch: Any, *shape: int) -> Any:
    return torch.zeros(shape, dtype=torch.int64)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        pytest.param(
            lambda t: t.ones(2, 3).gather(0, zeros(t, 1, 4)),
            RuntimeError,
            "Size does not match at dimension 1 expected index [1, 4] to be no larger than self [2, 3] apart from "
            "dimension 0",
            id="gather, index too wide",
        ),
        pytest.param(
            lambda t: t.ones(2).scatter_add_(0, zeros(t, 3), t.ones(2)),
            RuntimeError,
            "Expected index [3] to be no larger than self [2] apart from dimension 0 and to be no larger size than "
            "src [2]",
            id="scatter_add_, source too short",
        ),
        pytest.param(
            lambda t: t.ones(2, 3).scatter(0, zeros(t, 1), 2.0),
            RuntimeError,
            "Index tensor must have the same number of dimensions as self tensor",
            id="scatter, index of another dimensionality",
        ),
        pytest.param(
            lambda t: t.ones(2).index_copy_(0, t.tensor([0, 1]), t.ones(1)),
            IndexError,
            "index_copy_(): Number of indices (2) should be equal to source.size(dim) (1)",
            id="index_copy_ does not broadcast",
        ),
        pytest.param(
            lambda t: t.ones(2).index_copy_(0, t.tensor([-1]), t.ones(1)),
            IndexError,
            "index_copy_(): index -1 is out of bounds for dimension 0 with size 2",
            id="index_copy_ does not count from the end",
        ),
        pytest.param(
            lambda t: t.ones(2).index_add_(0, t.tensor([0]), t.ones(())),
            RuntimeError,
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = [2] "
            "source.shape = []",
            id="index_add_ does not broadcast",
        ),
        pytest.param(
            lambda t: t.ones(2).index_add_(0, t.tensor([0]), t.ones(1, dtype=t.float64)),
            RuntimeError,
            "index_add_(): self (Float) and source (Double) must have the same scalar type",
            id="index_add_ does not convert",
        ),
        pytest.param(
            lambda t: t.ones(2).index_fill_(0, t.tensor([[0]]), 2),
            RuntimeError,
            "Index has to be a vector/scalar",
            id="index_fill_ by a matrix",
        ),
        pytest.param(
            lambda t: t.ones(2).index_fill_(0, t.tensor([5]), 2),
            IndexError,
            "index 5 is out of bounds for dimension 0 with size 2",
            id="index_fill_ out of bounds",
        ),
        pytest.param(
            lambda t: t.zeros(0, dtype=t.int64).index_put_((t.tensor([0]),), t.tensor(5.0)),
            IndexError,
            "index is out of bounds for dimension with size 0",
            id="index_put_ where nothing is, whatever the dtype",
        ),
        pytest.param(
            lambda t: t.bmm(t.ones(2, dtype=t.bool), t.ones(2, dtype=t.bool)),
            RuntimeError,
            "batch1 must be a 3D tensor",
            id="shapes are checked before dtypes",
        ),
        pytest.param(
            lambda t: t.outer(t.ones(2, 2), t.ones(2)),
            RuntimeError,
            "outer: Expected 1-D argument self, but got 2-D",
            id="outer of a matrix",
        ),
        pytest.param(
            lambda t: t.nn.functional.smooth_l1_loss(t.tensor([1, 2]), t.tensor([3, 4])),
            NotImplementedError,
            "\"smooth_l1_cpu\" not implemented for 'Long'",
            id="a loss of integers",
        ),
        pytest.param(
            lambda t: t.nn.functional.mse_loss(t.tensor([1j]), t.tensor([1j])),
            NotImplementedError,
            "\"mse_cpu\" not implemented for 'ComplexFloat'",
            id="a loss of complex numbers",
        ),
    ],
)
def test_what_does_not_fit_is_refused(
    torch: Any, call: Callable[[Any], Any], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind) as caught:
        call(torch)
    assert str(caught.value).split("\n")[0] == message


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        pytest.param(lambda t: t.tensor(1.0).scatter(0, zeros(t, 1), 2.0), 2.0, id="scatter into a scalar"),
        pytest.param(lambda t: t.ones(2).scatter(0, zeros(t), 5.0), [5.0, 1.0], id="scatter by a scalar"),
        pytest.param(lambda t: t.ones(2).scatter_(0, zeros(t, 0), t.ones(0)), [1.0, 1.0], id="scatter nothing"),
        pytest.param(lambda t: t.ones(()).index_fill_(0, t.tensor([0]), 2), 2.0, id="index_fill_ of a scalar"),
        pytest.param(lambda t: t.ones(2).index_fill_(0, t.tensor([-1]), 2), [1.0, 2.0], id="index_fill_ from the end"),
        pytest.param(lambda t: t.ones(2).index_copy_(0, t.tensor(1), t.zeros(1)), [1.0, 0.0], id="index_copy_ of one"),
        pytest.param(lambda t: t.softmax(t.zeros(0, dtype=t.int64), 0), [], id="softmax of no integers"),
    ],
)
def test_edges_that_fit(torch: Any, call: Callable[[Any], Any], expected: Any) -> None:
    found = call(torch)
    assert found.tolist() == expected
    assert found.dtype in (torch.float32, torch.int64)
