"""GF001 unreadable-file: a file or folder could not be read, so nothing is known about it.

What it flags: a file that cannot be opened, a folder that cannot be listed, or a file whose byte order mark
promises UTF-8 or UTF-16 that its bytes do not keep. In a Python file also a place that another rule would have
reported, but that Python's own parser and libcst read differently: nothing is reported or edited there.

Why it is bad: a run that passes such a file over in silence looks like a clean one.

Example:

    $ chmod 000 src/ops.cpp
    $ guardfix check src
    src/ops.cpp:1:1: GF001 cannot read this file: Permission denied

Use instead: make the file readable, save it in one encoding, or leave it out with `--exclude`. Where the two parsers
disagree, report it to guardfix: one of the three has a bug.

Fix: none.

Not flagged: files with NUL bytes (they are no text), and text that is neither UTF-8 nor UTF-16: it is read as
Latin-1, which loses nothing, and the run says so.

References: The Unicode Standard, section 23.8 (byte order mark).
"""

from __future__ import annotations

from collections.abc import Iterator

from ..analysis.project import Project
from ..facts import Facts, Span
from ..findings import Finding, Severity
from ..rule import Rule

RULE = Rule("GF001", "unreadable-file", severity=Severity.ERROR, languages=("cpp", "python"), odd_uses_only=True)


@RULE.check_file
def unreadable(facts: Facts, project: Project) -> Iterator[Finding]:
    if facts.unreadable:
        yield RULE.at(facts, Span(0, 0), f"cannot read this file: {facts.unreadable}")
    for place in facts.python.disagreements if facts.python is not None else ():
        message = (
            f"cannot tell what stands here: Python's own parser reads `{place.proposed}`, libcst `{place.confirmed}`; "
            "nothing is reported or edited here"
        )
        yield RULE.at(facts, place.span, message)


@RULE.check_folder
def unlisted(path: str, reason: str) -> Iterator[Finding]:
    yield RULE.at(path, Span(0, 0), f"cannot read this folder: {reason}")
