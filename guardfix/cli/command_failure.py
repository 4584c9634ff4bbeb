"""Runs that can't be made, and their messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn

import click

from guardfix.linter.lazy_regex import lazy_regex

from ..foreign_text import printable


class Failure(click.ClickException):
    """A run that cannot be made; how the command is used is not the question."""

    exit_code = 2

    def __init__(self, message: str) -> None:
        super().__init__(without_long_words(printable(message)))


_LONG = lazy_regex(r"\S{300,}")
"""What no name or path is: a value by mistake, or by ill will."""


def without_long_words(message: str) -> str:
    """The message with the beginnings of very long words, and the marks that end them."""
    return _LONG.sub(lambda word: f"{word[0][:40]}…{_MARKS_AT_THE_END.findall(word[0])[0]}", message)


_MARKS_AT_THE_END = lazy_regex(r"[`'\".,;:]*\Z")


def raise_unless_missing(error: ImportError, libraries: Iterable[str], why: str) -> NoReturn:
    """Raises Failure, which says `why`, if one of the optional libraries is missing; otherwise the error itself."""
    if error.name is None or error.name.partition(".")[0] not in libraries:
        raise error
    raise Failure(why) from None


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """`; did you mean …?` where something that begins so, or is like it, is known; else empty."""
    from difflib import get_close_matches

    names = {one.lower(): one for one in known}
    begun = [one for one in names if given and one.startswith(given.lower())]
    close = [f"`{names[one]}`" for one in begun[:2] or get_close_matches(given.lower(), names, n=2, cutoff=0.7)]
    return f"; did you mean {' or '.join(close)}?" if close else ""


def no_such_rule(given: str) -> str:
    """The message about a selector that selects nothing."""
    from guardfix.linter.rule_names import RuleGroup, rule_names

    guess = did_you_mean(given, (*RuleGroup, *(one for rule in rule_names() for one in (rule.code, rule.name))))
    return f"no rule is called `{given}`{guess or '; `guardfix rules` lists them'}"
