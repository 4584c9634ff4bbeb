"""Runs a program on a torch-like module and says in plain data what came of it."""

from __future__ import annotations

import math
import warnings
from types import ModuleType
from typing import Any

Seen = dict[str, Any]

SHAPES = {
    "x": (2, 3, 5, 6),
    "w": (4, 3, 3, 3),
    "wt": (3, 2, 3, 3),
    "b": (4,),
    "s": (2, 3, 7),
    "v": (2, 3, 3),
    "m": (3, 4),
    "n": (3, 4),
    "q": (4, 4),
    "c": (3,),
    "d": (3,),
}


def inputs(torch: ModuleType) -> dict[str, Any]:
    """The names that an expression may use: doubles that require grad, weights and targets that do not."""
    names: dict[str, Any] = {"torch": torch, "F": torch.nn.functional}
    for number, (name, shape) in enumerate(SHAPES.items()):
        values = [round(math.sin(1.7 * i + 0.9 * number) + 0.3 * math.cos(5.1 * i), 4) for i in range(math.prod(shape))]
        made = torch.tensor(values, dtype=torch.float64).reshape(shape)
        names[name] = made.clone().requires_grad_()
    names["k"] = torch.tensor([0.5, 1.5, 1.0, 2.0], dtype=torch.float64)
    names["t"] = torch.tensor([0, 2, 1])
    names["zeros"] = torch.zeros(3, dtype=torch.float64)
    names["ones"] = torch.ones(3, dtype=torch.float64)
    return names


def plain(value: Any, torch: ModuleType) -> Any:
    if isinstance(value, torch.Tensor):
        return {
            "dtype": str(value.dtype),
            "shape": list(value.shape),
            "values": _rounded(value.detach().reshape(-1).tolist()),
        }
    if isinstance(value, (list, tuple)):
        return [plain(v, torch) for v in value]
    return value if value is None or isinstance(value, (bool, int, float)) else str(value)


def _rounded(values: list[Any]) -> list[Any]:
    """Ten digits: doubles computed in another order differ behind them. JSON has no infinities."""
    return [
        float(f"{v:.10g}") + 0.0
        if isinstance(v, float) and math.isfinite(v)
        else str(v)
        if isinstance(v, (float, complex))
        else v
        for v in values
    ]


def evaluate(expression: str, torch: ModuleType) -> Seen:
    """Value, history and flags of the result, gradients of a weighted sum; of an error, type and text."""
    names = inputs(torch)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = eval(expression, names)
        except Exception as error:
            return {"error": f"{type(error).__name__}: {_first_lines(str(error))}"}
        if not isinstance(result, torch.Tensor):
            return {"value": plain(result, torch)}
        seen: Seen = {
            **plain(result, torch),
            "version": result._version,
            "view": result._is_view(),
            "grad_fn": None if result.grad_fn is None else type(result.grad_fn).__name__,
        }
        if result.requires_grad:
            count = result.numel()
            weights = torch.tensor([1 + 0.1 * i for i in range(count)], dtype=result.dtype)
            try:
                (result.reshape(-1) * weights).sum().backward()
            except RuntimeError as error:
                return seen | {"backward": _first_lines(str(error))}
            seen["gradients"] = {
                name: _rounded(names[name].grad.reshape(-1).tolist()) for name in SHAPES if names[name].grad is not None
            }
    return seen


def _first_lines(message: str) -> str:
    """Without PyTorch's C++ backtraces and lists of signatures."""
    return message.split("\nException raised from")[0].split(" * (")[0].strip()


def differences(want: Any, got: Any, path: str = "") -> list[str]:
    """What differs, in words; numbers may differ by rounding."""
    if isinstance(want, dict) and isinstance(got, dict):
        found = []
        for key in sorted({*want, *got}):
            if key not in want or key not in got:
                found.append(f"{path}{key}: {want.get(key, '(nothing)')!r} became {got.get(key, '(nothing)')!r}")
            else:
                found += differences(want[key], got[key], f"{path}{key}.")
        return found
    if isinstance(want, list) and isinstance(got, list) and len(want) == len(got):
        return [d for i, (a, b) in enumerate(zip(want, got, strict=True)) for d in differences(a, b, f"{path}{i}.")]
    if isinstance(want, float) and isinstance(got, float):
        return [] if math.isclose(want, got, rel_tol=1e-6, abs_tol=1e-8) else [f"{path[:-1]}: {want} became {got}"]
    return [] if want == got else [f"{path[:-1]}: {want!r} became {got!r}"]
