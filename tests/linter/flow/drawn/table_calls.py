"""Calls of the ops of the table that are valid for matrices of two rows and two columns."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import guardfix.runtime_shim as shim
from guardfix.torch_ops import Op
from guardfix.torch_ops.op_table import ops, table
from tests.runtime_shim.differential.generator.draw import Draw

_LEFT_OUT = (
    "backward",
    "copysign",  # gives zeros a sign, by which nothing here is told apart
    "resize",
    "requires_grad",
    "retain",
    "set_",
    "share_memory",
    "hook",
    "storage",
)


class CallPattern(NamedTuple):
    """How a call is written, with `{}` for each tensor."""

    text: str
    tensors: int


def drawn_call(draw: Draw, kind: str) -> CallPattern:
    """A call that gives a matrix again (`value`), something else (`other`), or writes its first tensor (`write`)."""
    patterns = _patterns_of(kind == "write")
    while True:
        pattern = draw.pick(patterns)
        if kind_of_call(pattern) == kind:
            return pattern


@cache
def _patterns_of(written: bool) -> tuple[CallPattern, ...]:
    return tuple(p for p in dict.fromkeys(_patterns()) if (p.text.partition("(")[0][-1] == "_") is written)


@cache
def kind_of_call(pattern: CallPattern) -> str:
    """What the shim says that it is; nothing where it doesn't take it, with tensors that require grad or without."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kinds = {_kind_of(pattern, requires_grad=flag) for flag in (False, True)}
    return kinds.pop() if len(kinds) == 1 else ""


def _patterns() -> Iterator[CallPattern]:
    for name in sorted(table().ops):
        bare = name.rpartition(".")[2]
        if bare.startswith("_") or any(word in name for word in _LEFT_OUT):
            continue
        for mark, spelled in (("f", f"torch.{name}"), ("p", f"torch.{name}"), ("m", "")):
            for row in ops(name, mark):
                written = _arguments(row)
                if written is None or not row.probed:
                    continue
                if mark == "m" or name.startswith("Tensor."):
                    if written[0] == "{}":
                        yield CallPattern(f"{{}}.{bare}({', '.join(written[1:])})", _holes(written))
                else:
                    yield CallPattern(f"{spelled}({', '.join(written)})", _holes(written))


def _holes(written: list[str]) -> int:
    return sum(part.count("{}") for part in written)


def _arguments(row: Op) -> list[str] | None:
    """What is given for the arguments that must be; None where it takes more than tensors and numbers."""
    written = []
    for argument in row.arguments:
        if argument.optional:
            break
        if argument.keyword_only or argument.variadic or argument.kind == "other":
            return None
        written.append({"tensor": "{}", "tensors": "[{}, {}]", "number": "1"}[argument.kind])
    return written if "{}" in "".join(written) else None


def _kind_of(pattern: CallPattern, *, requires_grad: bool) -> str:
    begun = [shim.full((2, 2), 0.5) for _ in range(pattern.tensors)]
    given = [one.requires_grad_().clone() for one in begun] if requires_grad else begun
    names = [f"x{number}" for number in range(len(given))]
    before = [one._version for one in given]
    evaluated: Callable[..., Any] = eval
    try:
        result = evaluated(pattern.text.format(*names), {"torch": shim, **dict(zip(names, given, strict=True))})
        if [one._version for one in given] != before:
            written = given[0]._version != before[0] and all(one._version == 0 for one in given[1:])
            return "write" if written and tuple(given[0].shape) == (2, 2) else ""
        if isinstance(result, shim.Tensor) and tuple(result.shape) == (2, 2) and result.dtype == shim.float32:
            return "value"
        return "other"
    except Exception:  # whatever the op says of a call that isn't meant so
        return ""
