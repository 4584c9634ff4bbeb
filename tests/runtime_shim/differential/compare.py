"""The first disagreement of two runs of one program."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields

from .observe import FINE, Plain, Seen, Tolerance, close
from .runner import Step

_DIGIT = re.compile(r"\d")
_FRACTION = re.compile(r"\d+\.\d*(?:e[+-]\d+)?")


@dataclass(frozen=True)
class Disagreement:
    """`aspect` is what differs (`outcome`, `message`, `modes`, `value`, a field of `Seen`, or `grad.` and a
    field of it).
    """

    line: int
    aspect: str
    variable: str | None
    expected: object
    got: object

    def __str__(self) -> str:
        where = f"{self.variable}: " if self.variable else ""
        expected, got = (textwrap.shorten(repr(side), 400) for side in (self.expected, self.got))
        return f"{where}{self.aspect} should be {expected}, is {got}"


@dataclass(frozen=True)
class Strictness:
    """`grad_versions`: whether the versions of gradients count (leftovers of how PyTorch accumulates them,
    documented nowhere). `grad_fn_names`: whether the class names of nodes count, or only which tensors have
    one. `edges`: whether the nodes below `grad_fn` count, where they were observed: those of second derivatives don't (docs/shim.md).
    """

    grad_versions: bool = False
    edges: bool = True
    grad_fn_names: bool = False
    tolerance: Tolerance = FINE


DOCUMENTED = Strictness()
ALL = Strictness(grad_versions=True, grad_fn_names=True)


def _plain_agree(want: Plain, got: Plain, strict: Strictness) -> bool:
    if isinstance(want, (tuple, list)) and isinstance(got, (tuple, list)):
        if len(want) != len(got):
            return False
        return all(_plain_agree(a, b, strict) for a, b in zip(want, got, strict=True))
    if isinstance(want, (bool, int, float)) and isinstance(got, (bool, int, float)):
        return type(want) is type(got) and close(want, got, strict.tolerance)
    if isinstance(want, Seen) and isinstance(got, Seen):
        return not any(_differences(want, got, strict))
    if isinstance(want, str) and isinstance(got, str) and want != got:
        return _texts_agree(want, got, strict)
    return bool(want == got)


def _texts_agree(want: str, got: str, strict: Strictness) -> bool:
    """Of printed tensors the last digits may differ, as their values may; not their number."""
    if _DIGIT.sub("#", want) != _DIGIT.sub("#", got):
        return False
    if _FRACTION.sub("#", want) != _FRACTION.sub("#", got):
        return False
    pairs = zip(_FRACTION.findall(want), _FRACTION.findall(got), strict=True)
    return all(close(float(a), float(b), strict.tolerance) for a, b in pairs)


def _differences(want: Seen, got: Seen, strict: Strictness) -> Iterator[tuple[str, object, object]]:
    for field in fields(Seen):
        name = field.name
        a, b = getattr(want, name), getattr(got, name)
        if name == "grad" and isinstance(a, Seen) and isinstance(b, Seen):
            for aspect, x, y in _differences(a, b, strict):
                if aspect != "version" or strict.grad_versions:
                    yield f"grad.{aspect}", x, y
        elif name == "values":
            if not _plain_agree(a, b, strict):
                yield name, a, b
        elif name == "grad_fn" and not strict.grad_fn_names and not _raised(a) and not _raised(b):
            if (a is None) != (b is None):
                yield name, a, b
        elif a != b and (name != "edges" or strict.edges):
            yield name, a, b


def _raised(value: object) -> bool:
    return isinstance(value, str) and value.startswith("!")


def first_disagreement(
    expected: Iterable[Step], got: Iterable[Step], strict: Strictness = DOCUMENTED
) -> Disagreement | None:
    return next(disagreements(expected, got, strict), None)


def disagreements(
    expected: Iterable[Step], got: Iterable[Step], strict: Strictness = DOCUMENTED
) -> Iterator[Disagreement]:
    """All of them, in the order of the lines."""
    for number, (want, have) in enumerate(zip(expected, got, strict=True)):
        if want.outcome != have.outcome:
            same_type = want.outcome.partition(":")[0] == have.outcome.partition(":")[0]
            yield Disagreement(number, "message" if same_type else "outcome", None, want.outcome, have.outcome)
        if want.modes != have.modes:
            yield Disagreement(number, "modes", None, want.modes, have.modes)
        for name in [*want.variables, *(name for name in have.variables if name not in want.variables)]:
            a, b = want.variables.get(name), have.variables.get(name)
            if isinstance(a, Seen) and isinstance(b, Seen):
                for aspect, x, y in _differences(a, b, strict):
                    yield Disagreement(number, aspect, name, x, y)
            elif not _plain_agree(a, b, strict):
                yield Disagreement(number, "value", name, a, b)
        if not _plain_agree(want.value, have.value, strict):
            if isinstance(want.value, Seen) and isinstance(have.value, Seen):
                for aspect, x, y in _differences(want.value, have.value, strict):
                    yield Disagreement(number, aspect, "(value)", x, y)
            else:
                yield Disagreement(number, "value", None, want.value, have.value)
