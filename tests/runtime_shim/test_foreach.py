"""`torch._foreach_…`, against the values of PyTorch 2.13."""

from __future__ import annotations

from typing import Any

import pytest

Torch = Any
FIRST, SECOND = [1.0, 4.0], [3.0]


@pytest.mark.parametrize(
    ("name", "arguments", "named", "expected"),
    [
        ("add", (2,), {}, [[3.0, 6.0], [5.0]]),
        ("add", ("lists",), {"alpha": 3}, [[4.0, 16.0], [12.0]]),
        ("mul_", ([2.0, 3.0],), {}, [[2.0, 8.0], [9.0]]),
        ("addcmul", ("lists", "lists"), {"value": 2}, [[3.0, 36.0], [21.0]]),
        ("addcmul_", ("lists", "lists", [2.0, 3.0]), {}, [[3.0, 36.0], [30.0]]),
        ("addcdiv_", ("lists", "lists", 0.5), {}, [[1.5, 4.5], [3.5]]),
        ("norm", (1,), {}, [5.0, 3.0]),
        ("sqrt", (), {}, [[1.0, 2.0], [3.0**0.5]]),
        ("lerp_", ("lists",), {"weight": 0.5}, [[1.0, 4.0], [3.0]]),
        ("maximum_", (2.0,), {}, [[2.0, 4.0], [3.0]]),
        ("minimum", ([2.0, 1.0],), {}, [[1.0, 2.0], [1.0]]),
        ("zero_", (), {}, [[0.0, 0.0], [0.0]]),
    ],
)
def test_an_op_on_each(torch: Torch, name: str, arguments: Any, named: Any, expected: Any) -> None:
    def lists() -> list[Any]:
        return [torch.tensor(FIRST), torch.tensor(SECOND)]

    own, given = lists(), [lists() if value == "lists" else value for value in arguments]
    made = getattr(torch, f"_foreach_{name}")(own, *given, **named)
    for found in (made, own) if name.endswith("_") else (made,):
        for tensor, values in zip(found, expected, strict=True):
            torch.testing.assert_close(tensor, torch.tensor(values))


def test_what_no_tensor_has(torch: Torch) -> None:
    with pytest.raises(AttributeError):
        torch._foreach_nonsense  # noqa: B018


@pytest.mark.parametrize("upper", [True, False])
@pytest.mark.parametrize("transpose", [True, False])
@pytest.mark.parametrize("unitriangular", [True, False])
@pytest.mark.filterwarnings("ignore:torch.triangular_solve is deprecated")
def test_triangular_solve(torch: Torch, upper: bool, transpose: bool, unitriangular: bool) -> None:
    b, A = torch.tensor([[1.0], [2.0]]), torch.tensor([[2.0, 1.0], [0.5, 3.0]])
    solution, kept = torch.triangular_solve(b, A, upper, transpose, unitriangular)
    triangle = A.triu() if upper else A.tril()
    if unitriangular:
        triangle.fill_diagonal_(1.0)
    torch.testing.assert_close((triangle.T if transpose else triangle) @ solution, b)
    assert torch.equal(kept, A)
    assert torch.equal(torch.ger(b[:, 0], b[:, 0]), torch.outer(b[:, 0], b[:, 0]))
    assert torch.ones(1).type(torch.Tensor).dtype == torch.float32
