"""GF001 unreadable-file: a file or directory can't be read, so guardfix knows nothing about it.

What it flags: a file that can't be opened, a directory that can't be listed, or a file whose byte order mark
announces UTF-8 or UTF-16 but whose bytes aren't valid in that encoding; a file that is larger than `max-file-size`
(8 MB); a file for which reading, deciding or making its fixes takes more than `--timeout-per-file` or `--memory`
allow, which is then left out. In a Python file, also a place that another
rule would report but that Python's own parser and libcst read differently: nothing is reported or edited there.

Why it is bad: if a run skipped such a file silently, it would look like a clean run.

Example:

    $ chmod 000 src/ops.cpp
    $ guardfix check src
    src/ops.cpp:1:1: GF001 cannot read this file: Permission denied

Use instead: make the file readable, save it in a single encoding, raise the limit, or exclude it with `--exclude`.

Fix: none.

Not flagged: files with NUL bytes (they aren't text), and text that is neither UTF-8 nor UTF-16. Such text is read
as Latin-1, which loses nothing, and the run notes it.

Limits: files that a run leaves out because of their suffixes, `.gitignore` or `--exclude` aren't opened, so nothing is
said about them.

References: The Unicode Standard, section 23.8 (byte order mark).
"""

from __future__ import annotations

from collections.abc import Iterator

from ..analysis.project import Project
from ..facts import Facts, Span
from ..findings import Finding, Severity
from ..rule import Rule
from ..rule_names import RuleGroup

RULE = Rule(
    "GF001",
    "unreadable-file",
    group=RuleGroup.GUARDFIX,
    since="0.1.0",
    severity=Severity.ERROR,
    languages=("cpp", "python"),
    odd_uses_only=True,
    keeps_results=True,
)


@RULE.check_file
def unreadable(facts: Facts, project: Project) -> Iterator[Finding]:
    if facts.unreadable:
        yield RULE.at(facts, Span(0, 0), f"cannot read this file: {facts.unreadable}")
    for place in facts.python.disagreements if facts.python is not None else ():
        message = (
            f"can't tell what this is: Python's own parser reads `{place.proposed}`, libcst `{place.confirmed}`; "
            "nothing is reported or edited here"
        )
        yield RULE.at(facts, place.span, message)


@RULE.check_left_out
def left_out(path: str, why: str) -> Iterator[Finding]:
    yield RULE.at(path, Span(0, 0), why)
