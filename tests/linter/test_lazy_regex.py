"""Patterns that are compiled when they are first used: they behave as compiled ones, and all of them can be compiled."""

from __future__ import annotations

import importlib
import pkgutil
import re

import pytest

import guardfix.codemods
import guardfix.linter
import guardfix.output
from guardfix.linter.lazy_regex import lazy_regex


def test_it_is_used_as_a_compiled_pattern_is() -> None:
    lazy, compiled = lazy_regex(r"(?P<word>[a-z]+)\d", re.IGNORECASE), re.compile(r"(?P<word>[a-z]+)\d", re.IGNORECASE)
    for text in ("", "A1 b", "no digit", "x9y8"):
        assert lazy.findall(text) == compiled.findall(text)
        assert [match.span("word") for match in lazy.finditer(text)] == [
            match.span("word") for match in compiled.finditer(text)
        ]
        assert lazy.sub("-", text) == compiled.sub("-", text)
    assert (lazy.pattern, lazy.flags, lazy.groups) == (compiled.pattern, compiled.flags, compiled.groups)


def test_it_is_compiled_at_its_first_use() -> None:
    wrong = lazy_regex("(")
    with pytest.raises(re.error):
        wrong.search("")


def _modules() -> list[str]:
    packages = (guardfix.linter, guardfix.codemods, guardfix.output)
    found = [module.name for one in packages for module in pkgutil.walk_packages(one.__path__, f"{one.__name__}.")]
    return [name for name in found if name.rpartition(".")[2] not in ("__main__", "record_funnel")]


def test_all_patterns_of_the_linter_can_be_compiled() -> None:
    kind, compiled = type(lazy_regex("")), 0
    for name in _modules():
        for value in vars(importlib.import_module(name)).values():
            if isinstance(value, kind):
                re.compile(
                    value.pattern, value.flags & ~re.UNICODE if isinstance(value.pattern, bytes) else value.flags
                )
                compiled += 1
    assert compiled > 150
