"""torch.testing: what is close, what is not, and what is said of it; schedules of learning rates."""

from __future__ import annotations

from typing import Any

import pytest

import guardfix.runtime_shim as torch

T = torch.tensor

CLOSE: list[Any] = [
    pytest.param(T([1.0]), T([1.0 + 1e-7]), {}, id="within float32's tolerance"),
    pytest.param(T([1, 2]), T([1, 2]), {}, id="integers"),
    pytest.param([T(1.0), 2.0], [T(1.0), 2.0], {}, id="sequences"),
    pytest.param({"a": T(1.0)}, {"a": T(1.0)}, {}, id="mappings"),
    pytest.param(T([1.0]), T([1.5]), {"rtol": 0, "atol": 0.6}, id="tolerances that are given"),
    pytest.param(T([float("nan")]), T([float("nan")]), {"equal_nan": True}, id="NaN that may be equal"),
    pytest.param(T([1.0]), T([1.0], dtype=torch.float64), {"check_dtype": False}, id="dtypes that don't count"),
    pytest.param(None, None, {}, id="None"),
]
APART: list[Any] = [
    pytest.param(T([1.0, 2.0]), T([1.0, 3.0]), {}, "Tensor-likes are not close!\n\nMismatched elements: 1 / 2 (50.0%)\nGreatest absolute difference: 1.0 at index (1,) (up to 1e-05 allowed)\nGreatest relative difference: 0.3333333432674408 at index (1,) (up to 1.3e-06 allowed)", id="values"),
    pytest.param(T([1, 2]), T([1, 3]), {}, "Tensor-likes are not equal!\n\nMismatched elements: 1 / 2 (50.0%)\nGreatest absolute difference: 1 at index (1,)\nGreatest relative difference: 0.3333333333333333 at index (1,)", id="integers"),
    pytest.param(T(1.0), T(2.0), {}, "Scalars are not close!\n\nExpected 2.0 but got 1.0.\nAbsolute difference: 1.0 (up to 1e-05 allowed)\nRelative difference: 0.5 (up to 1.3e-06 allowed)", id="0-d tensors"),
    pytest.param([T(1), T(2)], [T(1), T(3)], {}, "Scalars are not equal!\n\nExpected 3 but got 2.\nAbsolute difference: 1\nRelative difference: 0.3333333333333333\n\nThe failure occurred for item [1]", id="an item of a list"),
    pytest.param(T([1.0]), T([[1.0]]), {}, "The values for attribute 'shape' do not match: torch.Size([1]) != torch.Size([1, 1]).", id="shapes"),
    pytest.param(T([1.0]), T([1]), {}, "The values for attribute 'dtype' do not match: torch.float32 != torch.int64.", id="dtypes"),
    pytest.param(T([float("nan")]), T([float("nan")]), {}, None, id="NaN"),
    pytest.param(T([1.0]), T([2.0]), {"msg": "look here"}, "look here", id="a message of one's own"),
    pytest.param([1], [1, 2], {}, "The length of the sequences mismatch: 1 != 2", id="lengths"),
]  # fmt: skip


@pytest.mark.parametrize(("actual", "expected", "options"), CLOSE)
def test_close(actual: Any, expected: Any, options: dict[str, Any]) -> None:
    torch.testing.assert_close(actual, expected, **options)


@pytest.mark.parametrize(("actual", "expected", "options", "message"), APART)
def test_apart(actual: Any, expected: Any, options: dict[str, Any], message: str | None) -> None:
    with pytest.raises(AssertionError) as caught:
        torch.testing.assert_close(actual, expected, **options)
    assert message is None or str(caught.value) == message


def test_one_tolerance_alone_is_refused() -> None:
    with pytest.raises(ValueError, match="rtol and atol must both be specified"):
        torch.testing.assert_close(T(1.0), T(1.0), atol=1.0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.uint8, torch.bool, torch.complex64])
def test_make_tensor(dtype: Any) -> None:
    made = torch.testing.make_tensor((3, 4), dtype=dtype, low=0, high=2, noncontiguous=True)
    assert (made.shape, made.dtype, made.is_contiguous()) == ((3, 4), dtype, False)


SCHEDULES: list[Any] = [
    pytest.param(lambda o, s: s.StepLR(o, 2, 0.1), [1.0, 1.0, 0.1, 0.1, 0.01], id="StepLR"),
    pytest.param(lambda o, s: s.MultiStepLR(o, [1, 3], 0.5), [1.0, 0.5, 0.5, 0.25, 0.25], id="MultiStepLR"),
    pytest.param(lambda o, s: s.ExponentialLR(o, 0.5), [1.0, 0.5, 0.25, 0.125, 0.0625], id="ExponentialLR"),
    pytest.param(lambda o, s: s.LambdaLR(o, lambda e: 1 / (1 + e)), [1.0, 0.5, 1 / 3, 0.25, 0.2], id="LambdaLR"),
    pytest.param(lambda o, s: s.LinearLR(o, 0.5, 1.0, 2), [0.5, 0.75, 1.0, 1.0, 1.0], id="LinearLR"),
    pytest.param(lambda o, s: s.CosineAnnealingLR(o, 2), [1.0, 0.5, 0.0, 0.5, 1.0], id="CosineAnnealingLR"),
    pytest.param(
        lambda o, s: s.SequentialLR(o, [s.ConstantLR(o, 0.5, 9), s.ExponentialLR(o, 0.5)], [2]),
        [0.5, 0.5, 1.0, 0.5, 0.25],
        id="SequentialLR",
    ),
]


@pytest.mark.parametrize(("make", "expected"), SCHEDULES)
def test_schedule(make: Any, expected: list[float]) -> None:
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    schedule = make(optimizer, torch.optim.lr_scheduler)
    rates = []
    for _ in expected:
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        schedule.step()
    assert rates == pytest.approx(expected)
