"""What one row of the table says, while it is collected, and how it is written."""

from __future__ import annotations

from dataclasses import dataclass, field

KINDS = {"tensor": "t", "tensors": "l", "number": "n", "other": "o"}


@dataclass(frozen=True)
class Parameter:
    """One argument of a signature."""

    name: str
    kind: str
    optional: bool = False
    keyword_only: bool = False
    variadic: bool = False

    def written(self) -> str:
        marks = ("*" if self.keyword_only else "") + self.name + "/" + KINDS[self.kind]
        return marks + ("?" if self.optional else "") + ("+" if self.variadic else "")


@dataclass
class Row:
    """One op and overload."""

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
    differentiable: tuple[str, ...] = ()
    probed: bool = False
    spelled: set[str] = field(default_factory=set)
    """f: torch.NAME, m: a method, c: at::NAME, p: a Python function of this path."""

    def written(self) -> str:
        names = {parameter.name: place for place, parameter in enumerate(self.parameters)}

        def pairs(found: tuple[tuple[str, str], ...], mark: str) -> list[str]:
            ordered = sorted(found, key=lambda pair: (names.get(pair[0], 99), names.get(pair[1], 99)))
            return [f"{mark}{saved}<{because}" for saved, because in ordered]

        def in_order(found: tuple[str, ...], mark: str = "") -> list[str]:
            return [mark + name for name in sorted(found, key=lambda name: names.get(name, 99))]

        saves = pairs(self.saves, "") + pairs(self.may_save, "~")
        if not self.saves_known:
            saves.append("?")
        saves.append({True: "result", None: "~result", False: ""}[self.saves_result])
        return "\t".join(
            (
                self.name,
                self.overload,
                "".join(sorted(self.spelled)) + ("+" if self.probed else ""),
                " ".join(parameter.written() for parameter in self.parameters),
                " ".join(self.results),
                " ".join(in_order(self.writes) + in_order(self.may_write, "~")),
                " ".join(filter(None, saves)),
                " ".join(in_order(self.differentiable)),
            )
        )
