"""Whether a name means a guard of the project's own, which its configuration names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...guards import Guard
from .tree_reading import Reading

if TYPE_CHECKING:
    from tree_sitter import Node


def means_own_guard(reading: Reading, top: Node, written: str, guard: Guard) -> bool:
    """Whether the name, as qualified here, is the project's own guard and not another class of that name."""
    span = reading.span(top)
    if reading.is_inside_class(guard.name, span):
        return False  # the class itself: its constructors, its copies
    first, *more = written.lstrip(":").split("::")[:-1] or [""]
    parts = [*filter(None, reading.namespaces.get(first, first).strip(":").split("::")), *more]
    around = reading.namespace(top)
    seen_from = [around[:depth] for depth in range(len(around) + 1)]
    for alias in reading.aliases:
        if alias.kind == "using-namespace":
            seen_from.append(alias.path)
        elif alias.kind == "using-declaration" and not parts and "::".join(alias.path) == _full_name(guard):
            return True
    return any("::".join((*space, *parts, guard.name)) == _full_name(guard) for space in seen_from)


def _full_name(guard: Guard) -> str:
    return "::".join((*guard.namespaces[:1], guard.name))
