"""How tensors print, on the shim and on PyTorch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

NAN, INF = float("nan"), float("inf")


@pytest.fixture(autouse=True)
def default_options(torch: Any) -> Iterator[None]:
    yield
    torch.set_printoptions(profile="default", sci_mode=None)


@pytest.mark.parametrize(
    ("values", "printed"),
    [
        pytest.param([1.0, 2.0], "tensor([1., 2.])", id="whole numbers"),
        pytest.param([1.5, -2.25], "tensor([ 1.5000, -2.2500])", id="a minus widens every column"),
        pytest.param([-0.0, 1.0], "tensor([-0., 1.])", id="minus zero does not"),
        pytest.param([NAN, 1.0], "tensor([nan, 1.])", id="nan sticks out of whole numbers"),
        pytest.param([-INF, NAN], "tensor([-inf, nan])", id="no finite number, no width"),
        pytest.param([3.5, INF], "tensor([3.5000,    inf])", id="infinity is as wide as fractions"),
        pytest.param([1e-5, 1.0], "tensor([1.0000e-05, 1.0000e+00])", id="small against large"),
        pytest.param([1000.0, 1.0], "tensor([1000.,    1.])", id="a thousandfold is not too much"),
        pytest.param([123456789.0], "tensor([1.2346e+08])", id="more than a hundred million"),
        pytest.param([], "tensor([])", id="empty"),
        pytest.param([[], []], "tensor([], size=(2, 0))", id="empty of two dimensions"),
        pytest.param([True, False], "tensor([ True, False])", id="bool"),
        pytest.param([1, -20], "tensor([  1, -20])", id="integers"),
        pytest.param([1 + 2j, -1.5j], "tensor([1.+2.0000j, -0.-1.5000j])", id="complex: two formats"),
        pytest.param([complex(INF, 1), 2], "tensor([inf+1.j, 2.+0.j])", id="complex infinity"),
        pytest.param(3.5, "tensor(3.5000)", id="a scalar"),
        pytest.param([[1.0, 2.0], [3.0, 4.5]], "tensor([[1.0000, 2.0000],\n        [3.0000, 4.5000]])", id="rows"),
    ],
)
def test_values(torch: Any, values: Any, printed: str) -> None:
    assert repr(torch.tensor(values)) == printed


def test_more_than_a_thousand_numbers_are_summarised(torch: Any) -> None:
    assert repr(torch.arange(1001)) == "tensor([   0,    1,    2,  ...,  998,  999, 1000])"
    assert repr(torch.arange(1000)).count(",") == 999
    assert repr(torch.zeros(2, 600)) == (
        "tensor([[0., 0., 0.,  ..., 0., 0., 0.],\n        [0., 0., 0.,  ..., 0., 0., 0.]])"
    )


@pytest.mark.parametrize(
    ("options", "printed"),
    [
        ({"precision": 2}, "tensor([1.00e-06, 1.00e+06,      nan])"),
        ({"sci_mode": False}, "tensor([      0.0000, 1000000.0000,          nan])"),
        ({"sci_mode": True, "precision": 1}, "tensor([1.0e-06, 1.0e+06,     nan])"),
        ({"profile": "short"}, "tensor([1.00e-06, 1.00e+06,      nan])"),
        ({"linewidth": 34}, "tensor([1.0000e-06, 1.0000e+06,\n               nan])"),
    ],
    ids=["precision", "never scientific", "always scientific", "short", "narrow lines"],
)
def test_options(torch: Any, options: dict[str, Any], printed: str) -> None:
    torch.set_printoptions(**options)
    assert repr(torch.tensor([1e-6, 1e6, NAN])) == printed


def test_what_autograd_knows_is_printed(torch: Any) -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    assert repr(x) == "tensor([1., 2.], requires_grad=True)"
    assert repr(x.double() * 2) == "tensor([2., 4.], dtype=torch.float64, grad_fn=<MulBackward0>)"
    assert repr(torch.nn.Parameter(x.detach())) == "Parameter containing:\ntensor([1., 2.], requires_grad=True)"
    assert repr(torch.zeros(0, dtype=torch.int64)) == "tensor([], dtype=torch.int64)"
    base = x * 1
    with torch.no_grad():
        view = base[:1]
    base.mul_(2)
    assert repr(view) == "tensor([2.], grad_fn=<Invalid>)"
