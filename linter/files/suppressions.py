"""Comments that silence findings.

As clang-tidy has them: `NOLINT`, `NOLINT(GF101)`, `NOLINTNEXTLINE(legacy-guard)`, `NOLINTBEGIN(GF1*)` …
`NOLINTEND(GF1*)`; an end belongs to the last open begin and names the same rules, and what has no partner silences
nothing (https://clang.llvm.org/extra/clang-tidy/#suppressing-undesired-diagnostics). As Ruff has them: `noqa`,
`noqa: GF101`. A group may be named like a rule: `NOLINT(redundant)`. `guardfix: ignore-file` silences the whole file.
They count in comments only, in every language.
"""

from __future__ import annotations

import itertools
import re
import sys
from collections.abc import Callable, Iterable, Iterator

from ..answered_once import answered_once
from ..facts import Facts, Span, Suppression
from ..facts.spans import Overlapping
from ..lazy_regex import lazy_regex
from ..named_tuples import NamedTuple
from ..rule_names import group_named, rule_names

_MARKS = lazy_regex(rb"NOLINT|guardfix:|(?i:noqa)")
# A space before the brackets is allowed when what they hold can only be names of checks: `NOLINT (see below)` is prose.
_DIRECTIVE = lazy_regex(
    rb"\bNOLINT(?P<kind>NEXTLINE|BEGIN|END)?\b"
    rb"(?:\((?P<checks>[^()\n]*)\)|[ \t]+\((?P<spaced>[ \t]*{check}(?:[ \t]*,[ \t]*{check})*[ \t]*)\))?"
    rb"|(?:^|#|//)[ \t]*(?i:noqa)\b(?:[ \t]*:[ \t]*(?P<codes>{code}(?:[ \t]*,[ \t]*{code}|[ \t]+(?i:[A-Z]+\d+)\b)*))?"
    rb"|\bguardfix:[ \t]*ignore-file\b".replace(b"{check}", rb"(?:(?=[\w.]*[\d*-])[\w.*-]+)").replace(
        b"{code}", rb"[\w-]+"
    )
)
_OPENER = lazy_regex(rb"/[/*]|#|<!--|\.\.")
_WHOLE_FILE = range(1, sys.maxsize)


class Directives(NamedTuple):
    """What a file's comments silence."""

    suppressions: tuple[Suppression, ...] = ()
    notes: tuple[str, ...] = ()
    """Begins and ends without a partner."""


class _Open(NamedTuple):
    row: int
    written: str
    place: Span
    checks: tuple[str, ...] | None


def find_directives(text: bytes, row: Callable[[int], int], comments: Callable[[bytes], Iterable[Span]]) -> Directives:
    """The directives in a text's comments; `row` gives the row of an offset.

    `comments` is asked only when there is something to look for: most files hold no directive.
    """
    if b"NOLINT" not in text and b"guardfix:" not in text and b"noqa" not in text.lower():
        return Directives()
    found: list[Suppression] = []
    begun: list[_Open] = []
    lost: list[tuple[int, str]] = []
    for offset, match in _in_comments(text, comments):
        here = row(offset)
        if match.group().startswith(b"guardfix:"):
            found.append(Suppression(_WHOLE_FILE, ()))
            continue
        checks = _names(next((given for given in match.group("checks", "spaced", "codes") if given is not None), None))
        place = Span(offset, offset + len(match.group()))
        mark = _Open(here, match.group().decode("utf-8", "replace"), place, checks)
        if match["kind"] == b"BEGIN":
            begun.append(mark)
        elif match["kind"] == b"END":
            if begun and begun[-1].checks == checks:
                begin = begun.pop()
                found += _silenced(range(begin.row, here + 1), checks, begin.place, place)
            elif _may_be_ours(checks):
                lost.append((here, f"`{mark.written}` has no matching NOLINTBEGIN and suppresses nothing"))
        else:
            first = here + 1 if match["kind"] == b"NEXTLINE" else here
            found += _silenced(range(first, first + 1), checks, place)
    lost += [
        (mark.row, f"`{mark.written}` has no matching NOLINTEND and suppresses nothing")
        for mark in begun
        if _may_be_ours(mark.checks)
    ]
    return Directives(tuple(found), tuple(f"line {at}: {what}" for at, what in sorted(lost)))


def _in_comments(text: bytes, comments: Callable[[bytes], Iterable[Span]]) -> Iterator[tuple[int, re.Match[bytes]]]:
    """The directives with their offsets: comment by comment, line by line, after what opens the comment."""
    for span in comments(text):
        if not _MARKS.search(text, *span):
            continue
        opener = _OPENER.match(text, *span)
        start = opener.end() if opener else span.start
        for line in text[start : span.end].splitlines(keepends=True):
            for match in _DIRECTIVE.finditer(line):
                yield start + match.start(), match
            start += len(line)


def _names(given: bytes | None) -> tuple[str, ...] | None:
    return None if given is None else tuple(filter(None, re.split(r"[,\s]+", given.decode("utf-8", "replace"))))


def _silenced(rows: range, checks: tuple[str, ...] | None, *places: Span) -> list[Suppression]:
    """`NOLINT()` names nothing and silences nothing; `NOLINT` silences everything."""
    return [] if checks == () else [Suppression(rows, checks or (), places)]


def _may_be_ours(checks: tuple[str, ...] | None) -> bool:
    """Whether a directive is meant for this tool: another tool's unmatched ones don't matter here."""
    return checks is None or any(
        group_named(_bare(given)) is not None or any(names_rule(given, rule.code, rule.name) for rule in rule_names())
        for given in checks
    )


class SilencedRows:
    """What comments silence, asked for by row."""

    def __init__(self, suppressions: Iterable[Suppression]) -> None:
        self._by_row: dict[int, list[Suppression]] = {}
        blocks = []
        for suppression in suppressions:
            if len(suppression.rows) == 1:
                self._by_row.setdefault(suppression.rows.start, []).append(suppression)
            else:
                blocks.append(suppression)
        self._blocks = Overlapping(blocks, lambda suppression: suppression.rows)

    def comments(self, rows: range, code: str, name: str, group: str = "") -> Iterator[tuple[Suppression, str]]:
        """The comments on `rows` that silence the rule, with the code that says so; empty for one that silences all."""
        of_rows = (self._by_row.get(row, ()) for row in rows)
        for suppression in itertools.chain(self._blocks.touching(rows), *of_rows):
            if not suppression.codes:
                yield suppression, ""
            yield from ((suppression, given) for given in suppression.codes if names_rule(given, code, name, group))

    def silence(self, rows: range, code: str, name: str, group: str = "") -> bool:
        """Whether one of the comments on `rows` silences the rule."""
        return next(self.comments(rows, code, name, group), None) is not None


@answered_once
def silenced_rows(facts: Facts) -> SilencedRows:
    """What a file's comments silence."""
    return SilencedRows(facts.suppressions)


def unknown_code(given: str) -> bool:
    """Whether a code is written as one of guardfix's and means no rule: `GF999`."""
    if re.fullmatch(r"(?i)(?:guardfix-)?gf\d+\*?", given) is None:
        return False
    return not any(names_rule(given, rule.code, rule.name) for rule in rule_names())


def is_ours(given: str) -> bool:
    """Whether a code is meant for guardfix and no other tool: one of its codes, or the name of a rule or group."""
    given = _bare(given)
    named = group_named(given) is not None or any(given == rule.name for rule in rule_names())
    return named or re.fullmatch(r"gf\d+\*?", given) is not None


def _bare(given: str) -> str:
    """A code without the tool's name, in lower case."""
    return given.lower().removeprefix("guardfix-")


def names_rule(given: str, code: str, name: str, group: str = "") -> bool:
    """Whether a code in a comment means the rule, or the rule's group."""
    given = _bare(given)
    code = code.lower()
    if "*" in given:
        return _fits(given, code) or _fits(given, name)
    return given in (code, name, group) or (re.fullmatch(r"gf\d*", given) is not None and code.startswith(given))


def _fits(pattern: str, text: str) -> bool:
    """Whether the text is the pattern with something in the place of each star: the first place that fits is best."""
    first, *middle, last = pattern.split("*")
    if len(text) < len(first) + len(last) or not text.startswith(first) or not text.endswith(last):
        return False
    place, end = len(first), len(text) - len(last)
    for part in middle:
        found = text.find(part, place, end)
        if found < 0:
            return False
        place = found + len(part)
    return True
