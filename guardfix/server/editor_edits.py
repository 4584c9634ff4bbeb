"""Edits of files as an editor takes them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from lsprotocol.types import OptionalVersionedTextDocumentIdentifier, TextDocumentEdit, TextEdit, WorkspaceEdit
from pygls.uris import from_fs_path

from guardfix.codemods.fix import Edit
from guardfix.linter.facts import Span

from .document_checks import CheckedText
from .editor_positions import EditorLines
from .open_documents import OpenDocument


def edited(checked: CheckedText, path: str, edits: Iterable[Edit]) -> WorkspaceEdit:
    """Edits of a file of the project; those of the open text count for its version only."""
    lines, document = checked.lines_of(path), checked.document
    made = [TextEdit(lines.range(edit.span), edit.content) for edit in sorted(set(edits))]
    if path == document.path:
        return document_edit(document, made)
    return _text_edit(from_fs_path(path) or "", None, made)


def document_edit(document: OpenDocument, edits: list[TextEdit]) -> WorkspaceEdit:
    """Edits of one version of an open text: the editor refuses them for any other."""
    return _text_edit(document.uri, document.version, edits)


def _text_edit(uri: str, version: int | None, edits: list[TextEdit]) -> WorkspaceEdit:
    place = OptionalVersionedTextDocumentIdentifier(uri=uri, version=version)
    return WorkspaceEdit(document_changes=[TextDocumentEdit(place, list(edits))])


def changed_lines_of(lines: EditorLines, new: bytes) -> list[TextEdit]:
    """The lines that differ between a text and what becomes of it: an edit of the whole text would move the cursor."""
    before, after = lines.data.splitlines(keepends=True), new.splitlines(keepends=True)
    first = 0
    while first < min(len(before), len(after)) and before[first] == after[first]:
        first += 1
    last = 0
    while last < min(len(before), len(after)) - first and before[-1 - last] == after[-1 - last]:
        last += 1
    old, wanted = before[first : len(before) - last], after[first : len(after) - last]
    starts = [sum(map(len, before[:first]))]
    for line in old:
        starts.append(starts[-1] + len(line))
    matcher = difflib.SequenceMatcher(None, old, wanted, autojunk=False)
    return [
        TextEdit(lines.range(Span(starts[a], starts[b])), b"".join(wanted[c:d]).decode("utf-8", "replace"))
        for kind, a, b, c, d in matcher.get_opcodes()
        if kind != "equal"
    ]
