"""`torch._dynamo`: nothing is compiled, so what says how to compile says nothing."""

from __future__ import annotations

from .compiler import allow_in_graph, disable, is_compiling, reset

assume_constant_result = disallow_in_graph = forbid_in_graph = nonstrict_trace = allow_in_graph


def graph_break(msg: str = "") -> None:
    """Nothing is broken off."""


def mark_dynamic(t: object, index: object = None, **_how: object) -> None:
    """Sizes are always free to change."""


mark_static = mark_static_address = maybe_mark_dynamic = mark_dynamic

__all__ = ["allow_in_graph", "disable", "graph_break", "is_compiling", "mark_dynamic", "reset"]
