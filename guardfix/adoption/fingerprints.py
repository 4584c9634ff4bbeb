"""What a finding is recognised by after its lines have moved.

Rows, columns and messages change with code elsewhere in the file (a message may name another row). What stays is the
rule, the code that the finding is about, and the function in which it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from guardfix.linter.engine import Report, statement_span
from guardfix.linter.facts import Facts
from guardfix.linter.findings import Finding

FINGERPRINT = "guardfix/v1"
"""The name of this way to make them, with its version."""
_LONGEST = 200


class Mark(NamedTuple):
    """A finding without its place."""

    code: str
    function: str
    """Qualified name of the function around it; empty at the top of a file."""
    text: str
    """The code that it is about, its blanks made one."""


def mark_of_finding(finding: Finding, report: Report) -> Mark:
    """What the finding is recognised by, in any file."""
    source = report.positions.source(finding.path)
    facts = report.project.files.get(finding.path)
    span = statement_span(finding, facts) if facts is not None else finding.span
    text = " ".join(source.slice(span).split())[:_LONGEST] if source is not None else ""
    return Mark(finding.code, function_around(finding, facts) if facts is not None else "", text)


def function_around(finding: Finding, facts: Facts) -> str:
    """The qualified name of the innermost function with a name around a finding; empty where there is none."""
    use = finding.use
    if use is not None and use.function is not None and use.function < len(facts.functions):
        chain = [one for one in facts.enclosing(use.function) if one.span.holds(finding.span)]
    else:
        around = (one for one in facts.functions if one.span.holds(finding.span))
        chain = sorted(around, key=lambda one: one.span.end - one.span.start)
    return next((function_name(one.qualified) for one in chain if one.name), "")


def function_name(qualified: Sequence[str]) -> str:
    """A function's name as marks have it."""
    return "::".join(qualified)


def fingerprints(report: Report, names: Iterable[str]) -> list[str]:
    """A text for each finding of a report, in its order: no two are equal, and a move of lines leaves them as they are.

    `names` are the findings' files as they are known outside, where the working folder may be another.
    """
    import hashlib

    met: Counter[tuple[str, Mark]] = Counter()
    found = []
    for finding, name in zip(report.findings, names, strict=True):
        key = name, mark_of_finding(finding, report)
        key_text = "\0".join((name, *key[1], str(met[key])))
        met[key] += 1
        found.append(hashlib.blake2b(key_text.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest())
    return found
