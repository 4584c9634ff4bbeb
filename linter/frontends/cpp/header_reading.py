"""A file's text -> what includers see of it, without a parser."""

from __future__ import annotations

from ...facts import Conditional
from ...facts.header_facts import HeaderFacts, MacroDefinition
from ...files.sources import Source
from ...lazy_regex import lazy_regex
from .byte_words import line_before
from .conditionals import find_conditionals
from .cpp_extraction import find_includes
from .cpp_masking import code_only, with_plain_lines
from .declared_functions import declared_functions

_DIRECTIVE = lazy_regex(
    rb"#[ \t]*(?P<kind>define|undef)[ \t]+(?P<name>[A-Za-z_]\w*)(?P<open>\(?)(?P<rest>[^\n\\]*(?:\\\r?\n[^\n\\]*)*)"
)
_ENDS = ("_H", "_H_", "_H__", "_HPP", "_HPP_", "_HH", "_HH_", "_INCLUDED")
_GUARD = lazy_regex(r"\s*!\s*defined\s*\(?\s*(\w+)\s*\)?\s*")


def read_header(source: Source) -> HeaderFacts:
    """What the file includes and declares, and the macros without parameters that it defines."""
    text = with_plain_lines(source.text)
    code = code_only(text)
    found = [match for match in _DIRECTIVE.finditer(code) if line_before(code, match.start()) is not None]
    conditionals = find_conditionals(code)
    names = {match["name"].decode() for match in found}
    unsure = [one.span for one in conditionals if not _is_include_guard(one, names)]
    definitions = tuple(
        MacroDefinition(
            match["name"].decode(),
            match["rest"].decode("utf-8", "replace").strip(),
            match.start(),
            not any(span.start <= match.start() < span.end for span in unsure),
        )
        for match in found
        if match["kind"] == b"define" and not match["open"]
    )
    forgotten = frozenset(match["name"].decode() for match in found if match["kind"] == b"undef")
    includes = tuple((include.header, include.system) for include in find_includes(text, code))
    return HeaderFacts(includes, definitions, forgotten, declared_functions(code))


def _is_include_guard(conditional: Conditional, names: set[str]) -> bool:
    """`#ifndef NET_H` around a file that defines `NET_H`. What is under `#ifndef DEFAULT` depends on others."""
    guard = _GUARD.fullmatch(conditional.branches[0].condition)
    return len(conditional.branches) == 1 and guard is not None and guard[1] in names and guard[1].endswith(_ENDS)
