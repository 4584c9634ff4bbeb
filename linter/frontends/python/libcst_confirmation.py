"""What `ast` proposes, confirmed on libcst's tree and anchored to its nodes.

Everything that is shown and edited depends on what is read here: the node's kind, its place, what is called, what a
guard covers. A construct that libcst reads in another way, or not at all, is a `Disagreement`, which is
reported; nothing is edited on the word of one parser alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import libcst as cst

from ...facts import GuardUse, Span
from ...facts.python_model import Disagreement, PythonFacts, PythonUse
from ...files.sources import Source
from .libcst_tree import LibcstTrees
from .libcst_uses import read_use

_STRINGS = (
    cst.SimpleString,
    cst.FormattedString,
    cst.FormattedStringText,
    cst.TemplatedString,
    cst.TemplatedStringText,
    cst.ConcatenatedString,
)
_NOTHING = "nothing of that kind"
_NO_TREE = "no program it knows"


class Confirmation:
    """Asks libcst about one file's constructs. Only the regions that are asked about are parsed."""

    def __init__(self, source: Source, facts: PythonFacts) -> None:
        self._facts = facts
        self._trees = LibcstTrees(source)

    def construct(self, span: Span, use: GuardUse | None = None) -> Span | Disagreement:
        """The place of the construct that a rule reports at `span`; `use` is the guard use that it is about."""
        if use is None:
            return self._statement(span)
        proposed = self._uses.get(use.type_span)
        if proposed is None:
            return self._string(span, use)
        read = self.use(proposed)
        if isinstance(read, Disagreement):
            return read
        if span not in (
            read.use.span,
            read.use.type_span,
            read.call_span,
            *(pause.span for pause in read.suspension_points),
        ):
            return self._statement(span)
        return span

    def use(self, proposed: PythonUse) -> PythonUse | Disagreement:
        """A guard use, as libcst reads it."""
        span = _around(proposed.use.span, proposed.use.type_span, proposed.call_span)
        if proposed.following is not None:
            span = _around(span, Span(proposed.following.start, proposed.following.start + 1))
        tree = self._trees.holding(span)
        form = proposed.use.form.value
        if tree is None:
            return Disagreement(proposed.use.type_span, form, _NO_TREE)
        read = read_use(tree, proposed, [self._facts.uses[index] for index in proposed.around])
        if read is None:
            return Disagreement(proposed.use.type_span, form, _NOTHING)
        return read if read == proposed else Disagreement(proposed.use.type_span, *_difference(proposed, read))

    def everything(self) -> Iterator[Disagreement]:
        """The disagreements about all constructs of the file, reported or not."""
        return (one for one in map(self.use, self._facts.uses) if isinstance(one, Disagreement))

    @cached_property
    def _uses(self) -> dict[Span, PythonUse]:
        return {use.use.type_span: use for use in reversed(self._facts.uses)}

    # -- constructs that are not guards themselves

    def _statement(self, span: Span) -> Span | Disagreement:
        """Whatever a rule reports there."""
        tree = self._trees.holding(span)
        if tree is None or not (tree.nodes_at(span) or tree.is_header(span)):
            return Disagreement(span, "construct", _NO_TREE if tree is None else _NOTHING)
        return span

    def _string(self, span: Span, use: GuardUse) -> Span | Disagreement:
        """A program of another language in a string."""
        tree = self._trees.holding(span)
        if tree is None or tree.node_holding(span, *_STRINGS) is None:
            return Disagreement(span, "string", _NO_TREE if tree is None else _NOTHING)
        return span


def _around(*spans: Span) -> Span:
    return Span(min(span.start for span in spans), max(span.end for span in spans))


def _difference(proposed: PythonUse, read: PythonUse) -> tuple[str, str]:
    """What `ast` and libcst read, in words: the form, and the first thing that differs when it is not the form."""
    if proposed.use.form is not read.use.form:
        return proposed.use.form.value, read.use.form.value
    for ours, theirs in ((proposed.use, read.use), (proposed, read)):
        for field in ours.__struct_fields__:
            one, other = getattr(ours, field), getattr(theirs, field)
            if field != "use" and one != other:
                return f"{proposed.use.form} with {field} {one}", f"one with {field} {other}"
    return proposed.use.form.value, "the same"
