"""What the bytes of a file say of attributes that are filled where a condition asks for them."""

from __future__ import annotations

import re

from ...lazy_regex import lazy_regex

_TESTS = (b"TestCase", b"import pytest", b"import unittest")
"""Tests train a model in one function and predict with another in the next."""
_IF = lazy_regex(rb"^([ \t]+)(?:el)?if\b", re.MULTILINE)
_END_OF_TEST = lazy_regex(rb":[ \t]*(?:#[^\n]*)?\r?\n")
_LONGEST_TEST = 2000
_ASKED = lazy_regex(rb"\bself\.(\w+)|[\"'](\w+)[\"']")
_FILLED = lazy_regex(rb"\bself\.(\w+)[ \t]*=(?!=)")
_DEFINITION = lazy_regex(rb"\n([ \t]*)(?:async[ \t]+)?def\b")


def may_fill(text: bytes) -> bool:
    """Whether a model of the text, which isn't a test's, may fill a cache when it is run first; most don't."""
    runs = b"def forward" in text or b"def __call__" in text
    if not runs or b"self." not in text or any(word in text for word in _TESTS):
        return False
    for found in _IF.finditer(text):
        start, longest = found.end(), found.end() + _LONGEST_TEST
        end = _END_OF_TEST.search(text, start, longest)
        asked = {name for names in _ASKED.findall(text, start, end.start() if end else longest) for name in names}
        if asked - {b""}:
            after = (one for one in _DEFINITION.finditer(text, start) if len(one[1]) < len(found[1]))
            method_end = next((one.start() for one in after), len(text))
            if not asked.isdisjoint(_FILLED.findall(text, start, method_end)):
                return True
    return False
