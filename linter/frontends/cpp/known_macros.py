"""What a file itself says about its macros, and conditions with these macros expanded.

A macro that the file doesn't define, or whose body isn't known, stays in the condition by its name. Expansion follows
C++23 [cpp.replace]: parameters, `__VA_ARGS__`, `##`, and no macro in its own expansion.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ...facts.header_facts import MacroValues
from ...lazy_regex import lazy_regex
from ...named_tuples import NamedTuple
from .byte_words import line_before

_MACRO_LINE = lazy_regex(
    rb"#[ \t\v\f]*(?:(?P<kind>define|undef)[ \t\v\f]+(?:\\\r?\n[ \t\v\f]*)*(?P<name>[A-Za-z_$][\w$]*)"
    rb"(?P<body>[^\n\\]*(?:\\(?:\r?\n)?[^\n\\]*)*)|(?P<include>include|import)\b)"
)
_SPLICE = lazy_regex(rb"\\\r?\n")
_TOKEN = lazy_regex(r"'(?:[^'\\]|\\.)*'|\.?\d(?:[eEpP][+-]|'?[\w.])*|[A-Za-z_$][\w$]*|##|<=>|<<|>>|[<>=!]=|&&|\|\||\S")
_NAME = lazy_regex(r"[A-Za-z_$][\w$]*")
_ASKED = lazy_regex(r"\s*(?P<negated>!\s*)?defined\s*(?:\(\s*(?P<called>[\w$]+)\s*\)|\s(?P<plain>\s*[\w$]+))\s*")
_DEEPEST = 50
"""Times that each change of a macro is taken back, on average; only generated code has it below more conditions."""
_LONGEST_BODY = 500
_MOST_STEPS = 1000
"""Tokens looked at while a condition is expanded: more of them say nothing about a program that anybody wrote."""
_LANGUAGE = "__cplusplus"
"""The macro that every C++ compiler defines."""


class _Macro(NamedTuple):
    """What a macro is known to be."""

    is_defined: bool
    body: tuple[str, ...] | None = None
    """Its tokens, if they are known."""
    parameters: tuple[str, ...] | None = None
    includes: int = 0
    """How many files were included when it was undefined: another one may define it."""


class Assumption(NamedTuple):
    """What an arm of a conditional may take for granted."""

    name: str
    is_defined: bool

    @property
    def negated(self) -> Assumption:
        return Assumption(self.name, not self.is_defined)


def macro_lines(code: bytes) -> list[re.Match[bytes]]:
    """The lines that define or undefine a macro, or include a file; `code` has no comments and literals."""
    return [line for line in _MACRO_LINE.finditer(code) if line_before(code, line.start()) is not None]


def assumptions(condition: str) -> list[Assumption]:
    """What is so where a condition holds, if it asks only which macros are defined."""
    found = []
    for part in condition.split("&&"):
        asked = _ASKED.fullmatch(part)
        if asked is None:
            return []
        found.append(Assumption((asked["called"] or asked["plain"]).strip(), not asked["negated"]))
    return found


class KnownMacros:
    """What is known of the macros at one place of a file."""

    def __init__(self, changes: int) -> None:
        self._known: dict[str, _Macro] = {_LANGUAGE: _Macro(True)}
        self._includes = 0
        self._left = _DEEPEST * changes
        """How many changes may still be taken back; then nothing is known any more."""
        self._journals: list[dict[str, _Macro | None]] = []
        """For each arm around the place that may or may not be compiled: what the macros were that it changed."""

    def read(self, line: re.Match[bytes]) -> None:
        """Learn from a `#define`, `#undef` or `#include`."""
        if line["include"]:
            self._includes += 1
            return
        name = line["name"].decode()
        if line["kind"] == b"undef":
            self._change(name, _Macro(False, includes=self._includes))
        else:
            self._change(name, _defined_as(_SPLICE.sub(b"", line["body"]).decode("utf-8", "replace")))

    def assume(self, one: Assumption) -> None:
        """Take for granted what the arm that was begun last does; what is known already says more."""
        known = self._known.get(one.name)
        if known is None or not (known.is_defined or known.includes == self._includes):
            self._change(one.name, _Macro(one.is_defined, includes=self._includes))

    def forget(self, name: str) -> None:
        self._change(name, None)

    def _change(self, name: str, macro: _Macro | None) -> None:
        before = self._known.get(name)
        if before == macro or self._left < 0:
            return
        if self._journals:
            self._journals[-1].setdefault(name, before)
        if macro is None:
            del self._known[name]
        else:
            self._known[name] = macro

    def begin_arm(self) -> None:
        """What comes now is compiled or not: it can be taken back."""
        self._journals.append({})

    def take_back(self) -> set[str]:
        """Forget what was learnt since the last arm was begun; returns the names of these macros."""
        journal = self._journals.pop()
        self._left -= len(journal)
        if self._left < 0:
            self._known.clear()
            return set()
        for name, before in journal.items():
            if before is None:
                self._known.pop(name, None)
            else:
                self._known[name] = before
        return set(journal)

    def expanded(self, condition: str) -> tuple[str, MacroValues]:
        """A condition with the macros expanded whose bodies are known, and what is known of those that are left."""
        if not any(name in self._known for name in _NAME.findall(condition)):
            return condition, MacroValues({})
        tokens = self._expand(_TOKEN.findall(condition))
        defined, undefined = set(), set()
        for name in set(tokens):
            macro = self._known.get(name)
            if macro is not None and macro.is_defined:
                defined.add(name)
            elif macro is not None and macro.includes == self._includes and name not in ("true", "false"):
                undefined.add(name)
        return " ".join(tokens), MacroValues({}, frozenset(defined), frozenset(undefined))

    def _expand(self, tokens: Sequence[str]) -> list[str]:
        """The tokens with what their macros stand for; those that aren't known, or go on too long, are left."""
        waiting = [_Token(text) for text in reversed(tokens)]
        found: list[str] = []
        for _ in range(_MOST_STEPS):
            if not waiting:
                return found
            token = waiting.pop()
            if token.text == "defined":
                found += [token.text, *_operand_of_defined(waiting)]
                continue
            macro = self._known.get(token.text)
            if macro is None or macro.body is None or token.text in token.within:
                found.append(token.text)
                continue
            body: Iterable[str] | None = macro.body
            if macro.parameters is not None:
                body = _filled_in(macro.body, macro.parameters, _arguments(waiting))
                if body is None:  # not called, or not as it is declared
                    return list(tokens)
            within = token.within | {token.text}
            waiting += [_Token(text, within) for text in reversed(list(body or ()))]
        return list(tokens)


class _Token(NamedTuple):
    text: str
    within: frozenset[str] = frozenset()
    """The macros in whose expansion it is."""


def _defined_as(rest: str) -> _Macro:
    """The macro whose `#define` continues like this after its name."""
    parameters = None
    if rest.startswith("("):
        inner, closed, rest = rest[1:].partition(")")
        parameters = tuple(part.strip() for part in inner.split(",")) if inner.strip() else ()
        if not closed or not all(_NAME.fullmatch(name) or name == "..." for name in parameters):
            return _Macro(True)
    # Literals are blanks here.
    if len(rest) > _LONGEST_BODY or "'" in rest or '"' in rest or not rest.strip():
        return _Macro(True)
    return _Macro(True, tuple(_TOKEN.findall(rest)), parameters)


def _operand_of_defined(waiting: list[_Token]) -> list[str]:
    """Takes `X` or `(X)`, which is not expanded."""
    count = 3 if waiting and waiting[-1].text == "(" else 1
    return [waiting.pop().text for _ in range(min(count, len(waiting)))]


def _arguments(waiting: list[_Token]) -> list[list[str]] | None:
    """Takes what a macro is called with; None when it isn't called."""
    if not waiting or waiting[-1].text != "(":
        return None
    found: list[list[str]] = [[]]
    depth = 0
    while waiting:
        text = waiting.pop().text
        depth += (text == "(") - (text == ")")
        if depth == 0:
            return found
        if text == "," and depth == 1:
            found.append([])
        elif depth > 1 or text != "(":
            found[-1].append(text)
    return None


def _filled_in(body: Sequence[str], parameters: Sequence[str], arguments: list[list[str]] | None) -> list[str] | None:
    """The body with the arguments in place of the parameters; None when they don't fit."""
    if arguments is None or "#" in body or "__VA_OPT__" in body:
        return None
    if not parameters and arguments == [[]]:
        arguments = []
    if parameters and parameters[-1] == "...":
        fixed = len(parameters) - 1
        rest = [text for part in arguments[fixed:] for text in (",", *part)][1:]
        arguments = [*arguments[:fixed], rest]
        parameters = [*parameters[:-1], "__VA_ARGS__"]
    if len(arguments) != len(parameters):
        return None
    values = dict(zip(parameters, arguments, strict=True))
    found: list[str] = []
    pasting = False
    for text in body:
        if text == "##":
            pasting = True
            continue
        new = values.get(text, [text])
        if pasting and found and new:
            found[-1] += new[0]
            new = new[1:]
        pasting = False
        found += new
    return found if len(found) <= _LONGEST_BODY else None
