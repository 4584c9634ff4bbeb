"""What one row of the table says, while it is collected, and how it is written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

_KINDS = {"tensor": "t", "tensors": "l", "number": "n", "other": "o"}


@dataclass(frozen=True)
class Parameter:
    """One argument of a signature."""

    name: str
    kind: str
    optional: bool = False
    keyword_only: bool = False
    variadic: bool = False
    default: Any = None

    def written(self) -> str:
        marks = ("*" if self.keyword_only else "") + self.name + "/" + _KINDS[self.kind]
        return marks + ("?" if self.optional else "") + ("+" if self.variadic else "")


@dataclass
class Row:
    """One op and overload; guardfix/torch_ops/op_table.py says what the fields mean."""

    name: str
    overload: str
    parameters: tuple[Parameter, ...]
    results: tuple[str, ...]
    writes: tuple[str, ...] = ()
    may_write: tuple[str, ...] = ()
    saves: tuple[tuple[str, str], ...] = ()
    may_save: tuple[tuple[str, str], ...] = ()
    saves_known: bool = False
    saves_result: bool | None = None
    options: tuple[str, ...] = ()
    copied: tuple[str, ...] = ()
    differentiable: tuple[str, ...] = ()
    probed: bool = False
    spelled: set[str] = field(default_factory=set)
    """f: torch.NAME, m: a method, c: at::NAME, p: what has this path in Python only."""

    def written(self) -> str:
        """The line of the table."""
        places = {parameter.name: place for place, parameter in enumerate(self.parameters)}

        def in_order(names: Iterable[str], mark: str = "") -> list[str]:
            return [mark + name for name in sorted(names, key=lambda name: (places.get(name, 99), name))]

        def pairs(found: Iterable[tuple[str, str]], mark: str = "") -> list[str]:
            ordered = sorted(found, key=lambda pair: [(places.get(name, 99), name) for name in pair])
            return [f"{mark}{saved}<{because}" for saved, because in ordered]

        result = {True: ["result"], None: ["~result"], False: []}[self.saves_result]
        cells = (
            [parameter.written() for parameter in self.parameters],
            self.results,
            in_order(self.writes) + in_order(self.may_write, "~"),
            pairs(self.saves)
            + pairs(self.may_save, "~")
            + in_order(self.options, "!")
            + in_order(self.copied, "^")
            + (result if self.saves_known else ["?"]),
            in_order(self.differentiable),
        )
        marks = "".join(sorted(self.spelled)) + ("+" if self.probed else "")
        return "\t".join((self.name, self.overload, marks, *map(" ".join, cells)))
