"""Small promises: what the seed returns, sorting downwards, out= of matmul."""

from __future__ import annotations

import pytest

import guardfix.runtime_shim as torch


def test_manual_seed_returns_the_generator() -> None:
    generator = torch.manual_seed(7)
    assert type(generator).__name__ == "Generator"
    assert generator.initial_seed() == 7
    first = torch.rand(3).tolist()
    torch.manual_seed(7)
    assert torch.rand(3).tolist() == first


@pytest.mark.parametrize(
    ("data", "dtype"),
    [([3, 0, 255, 3], "uint8"), ([True, False, True, False], "bool"), ([-128, 127, 0, 0], "int8")],
    ids=["unsigned: negation would wrap", "bool: has no negation", "the least int8 has no negative"],
)
def test_sorting_downwards_does_not_negate(data: list[int], dtype: str) -> None:
    t = torch.tensor(data, dtype=getattr(torch, dtype))
    values, indices = t.sort(descending=True)
    assert values.tolist() == sorted(data, reverse=True)
    assert indices.tolist() == sorted(range(len(data)), key=lambda i: -int(data[i]))
    assert t.argsort(descending=True).tolist() == indices.tolist()


def test_matmul_writes_into_out_whatever_the_shapes() -> None:
    a, b = torch.ones(2, 3, 4), torch.ones(4, 5)
    out = torch.empty(2, 3, 5)
    assert torch.matmul(a, b, out=out) is out
    assert out.tolist() == (a @ b).tolist()
    with pytest.raises(RuntimeError, match=r"out=\.\.\. arguments don't support automatic differentiation"):
        torch.matmul(a.requires_grad_(), b, out=out)
