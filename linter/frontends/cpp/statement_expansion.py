"""Statements that a file's own macros make: `NO_GRAD;`, `CHECK_INPUT(x);`."""

from __future__ import annotations

import re
from functools import cache

from ... import guards
from ...facts import Span
from .cpp_masking import code_only, mask_macros
from .cpp_parsing import parse_cpp
from .macro_expansion import Expander
from .tree_reading import Reading

_MOST = 100
"""Invocations in one file that are expanded; the rest are calls of something unknown."""
_HEAD = b"void f(){"


class StatementExpansion:
    """Expands the macros of one file that may make a guard, or leave the function."""

    def __init__(self, file: Reading, grammar: str) -> None:
        self._file = file
        self._grammar = grammar
        self._names = {macro.name for macro in file.macros}
        self._expander: Expander | None = None
        self._left = _MOST
        self._read: dict[bytes, Reading | None] = {}

    def reading_of(self, name: str, span: Span) -> Reading | None:
        """A function around what the invocation of a macro becomes, read; None where that is not known."""
        if name not in self._names or self._left <= 0:
            return None
        self._left -= 1
        if self._expander is None:
            self._expander = Expander(self._file.text, self._file.code, _sought())
        made = self._expander.expanded(span)
        if made is None:
            return None
        if made not in self._read:
            self._read[made] = self._reading(made, name)
        return self._read[made]

    def _reading(self, made: bytes, name: str) -> Reading | None:
        text = b"%s%s\n;}" % (_HEAD, made)
        masked = mask_macros(text)
        root = parse_cpp(masked, self._grammar).root_node
        if root.has_error:
            return None
        reading = Reading(text, masked, code_only(masked), 0, name)
        reading.collect(root, self._grammar)
        return reading if reading.functions else None


@cache
def _sought() -> re.Pattern[bytes]:
    """What makes a macro more than a call: guards, and what leaves the function."""
    names = {name for guard in guards.CPP.values() for name in (guard.name, *guard.companions)}
    written = "|".join(map(re.escape, sorted(names)))
    return re.compile(rf"\b(?:{written}|return|throw|TORCH_CHECK\w*|AT_ASSERT\w*|AT_CHECK|assert)\b".encode())
