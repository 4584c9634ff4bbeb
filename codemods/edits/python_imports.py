"""Python: `import torch` where it is missing, and an import that nothing needs any more."""

from __future__ import annotations

import re

from guardfix.linter.facts import GuardUse, Span
from guardfix.linter.facts.python_model import PythonFacts

from ..fix import Edit, insertion
from .statements import line_start, newline_of


def import_edits(python: PythonFacts, text: bytes, gone: GuardUse | None) -> list[Edit]:
    """The edits that import torch where the file has it under no name, and take the import of `gone` out."""
    missing = not python.torch_name
    edits: list[Edit] = []
    if gone is not None:
        edits.append(_without_import(text, gone, "import torch" if missing else ""))
        missing = missing and edits[0].content == ""
    if missing:
        edits.append(insertion(python.imports_end, f"import torch{newline_of(text, 0).decode()}"))
    return edits


def _without_import(text: bytes, use: GuardUse, instead: str) -> Edit:
    if use.shared:
        # `from ops import A, Old, B`: the name goes, with the comma on one side.
        behind = re.compile(rb"\s*,\s*").match(text, use.type_span.end)
        if behind is not None:
            return Edit(Span(use.type_span.start, behind.end()), "")
        before = re.compile(rb",\s*$").search(text[use.span.start : use.type_span.start])
        start = use.span.start + before.start() if before else use.type_span.start
        return Edit(Span(start, use.type_span.end), "")
    if instead:
        return Edit(use.span, instead)
    start = line_start(text, use.span.start)
    match = re.compile(rb"[ \t]*(?:\r\n|\n|\r|$)").match(text, use.span.end)
    if text[start : use.span.start].strip() or match is None:
        return Edit(use.span, "pass")
    return Edit(Span(start, match.end()), "")
