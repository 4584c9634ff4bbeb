"""The first disagreement of what a program printed on libtorch and on the shim, and the shortest program with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tests.runtime_shim.differential.observe import FINE, close

from .building import Printed
from .scene import CppProgram

_NUMBER = re.compile(r"(?<![\w\[.])-?(?:inf|nan|\d+\.?\d*(?:e[+-]?\d+)?)(?![\w\].])")
#: A statement of PyTorch that fails an assertion of its own is a bug there; what follows is not compared.
_INTERNAL = "INTERNAL ASSERT FAILED"


@dataclass(frozen=True)
class Difference:
    statement: int
    aspect: str
    expected: str
    got: str

    def __str__(self) -> str:
        return f"{self.aspect} should be\n    {self.expected}\nis\n    {self.got}"


_SEEN = re.compile(r"  v\[(\d)\] (undefined)?")
_ASSIGNED = re.compile(r"^S\(v\[\d\] = ")
_GRADIENT = re.compile(r"v\[\d\]\.(?:mutable_)?grad\(\)\.")


def first_difference(expected: str, got: str, program: CppProgram) -> Difference | None:
    """Both must refuse what is done with a tensor that is undefined; in which words doesn't count (docs/shim.md)."""
    statement = -1
    texts = statements(program)
    defined: set[str] = set()
    wanted, given = expected.splitlines(), got.splitlines()
    for i in range(max(len(wanted), len(given))):
        a, b = (lines[i] if i < len(lines) else "(nothing)" for lines in (wanted, given))
        if not a.startswith("  ") and a != "(nothing)":
            statement = int(a.partition(" ")[0])
        if _INTERNAL in a:
            return None
        if found := _SEEN.match(a):
            (defined.discard if found.group(2) else defined.add)(found.group(1))
        if _both_refuse(a, b) and _of_undefined(texts[statement], defined):
            continue
        if a != b and not _lines_agree(a, b):
            return Difference(statement, _aspect(a, b), a.strip(), b.strip())
    return None


def _both_refuse(a: str, b: str) -> bool:
    return all(re.match(r"(?:  value )?\d+ (?:c10::Error|std::exception): ", line) for line in (a, b))


def _of_undefined(statement: str, defined: set[str]) -> bool:
    """Whether a statement reads a variable that may be undefined, or a gradient that may be."""
    read = _ASSIGNED.sub("", statement)
    return bool(_GRADIENT.search(read)) or not set(re.findall(r"v\[(\d)\]", read)) <= defined


def _lines_agree(a: str, b: str) -> bool:
    """Whether two lines say the same but for the last digits of values."""
    if _NUMBER.sub("#", a) != _NUMBER.sub("#", b):
        return False
    start, mark, values = a.partition(" values ")
    other_start, _, other_values = b.partition(" values ")
    if not mark or start != other_start:
        return False
    pairs = zip(_NUMBER.findall(values), _NUMBER.findall(other_values), strict=True)
    return all(close(float(x), float(y), FINE) for x, y in pairs)


_FIELDS = re.compile(r"(strides|from|inference|requires|leaf|view|version|node|values|grad) ")


def _aspect(a: str, b: str) -> str:
    if not a.startswith("  "):
        return "outcome"
    parts, others = _FIELDS.split(a), _FIELDS.split(b)
    for name, mine, other in zip(["dtype and shape", *parts[1::2]], parts[0::2], others[0::2], strict=False):
        if mine != other and not (name == "values" and _lines_agree(f" values {mine}", f" values {other}")):
            return name
    return "line"


_ADDRESS = re.compile(r"-?\b\d+(\.\d+)?")


def cause(difference: Difference, program: CppProgram) -> str:
    """Alike for differences of likely one cause."""
    if difference.aspect == "outcome":
        return f"outcome: {_ADDRESS.sub('#', difference.expected)} | {_ADDRESS.sub('#', difference.got)}"
    statement = statements(program)[difference.statement]
    return f"{difference.aspect}: {_ADDRESS.sub('#', statement)}"


def statements(program: CppProgram) -> list[str]:
    """The lines that are numbered when a program runs."""
    return [line.strip() for line in program.lines if line.strip() not in ("{", "}")]


def kept(program: CppProgram, left_out: set[int]) -> CppProgram:
    """The program without some statements and without the blocks that this empties."""
    lines: list[str] = []
    number = 0
    for line in program.lines:
        if line.strip() not in ("{", "}"):
            number += 1
            if number - 1 in left_out:
                continue
        if line.strip() == "}" and lines and lines[-1].strip() == "{":
            lines.pop()
            continue
        lines.append(line)
    return CppProgram(program.seed, tuple(lines))


#: What a program prints on both sides without each of some sets of statements.
PrintedWithout = Callable[[list[list[int]]], Iterable[tuple[Printed, Printed]]]


def shortest(program: CppProgram, found: Difference, printed: PrintedWithout) -> set[int]:
    """The statements that can be left out so that the same aspect still differs in the same place.

    Each round leaves out every statement that is left by itself, and then as many as it can of those that are not
    needed; so it starts few processes.
    """
    left_out = set(range(found.statement + 1, len(statements(program))))

    def differing(attempts: list[set[int]]) -> list[set[int]]:
        if not attempts:
            return []
        kept = []
        for attempt, (expected, got) in zip(attempts, printed([sorted(a) for a in attempts]), strict=True):
            again = None if expected is None or got is None else first_difference(expected, got, program)
            if again is not None and (again.aspect, again.statement) == (found.aspect, found.statement):
                kept.append(attempt)
        return kept

    while True:
        needless = differing([left_out | {i} for i in range(found.statement) if i not in left_out])
        unions: list[set[int]] = []
        for attempt in needless:
            unions.append((unions[-1] if unions else left_out) | attempt)
        together = differing(unions)
        if not together:
            return left_out
        left_out = max(together, key=len)
