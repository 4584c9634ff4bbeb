"""What `ast` proposes, confirmed on libcst's tree and anchored to its nodes.

Everything that is shown and edited depends on what is read here: the node's kind, its place, what is called, what a
guard covers. A construct that libcst reads in another way, or not at all, is a `Disagreement`: it is said, and nothing
is reported or edited on the word of one parser alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

import libcst as cst

from ...facts import GuardUse, Span
from ...facts.python_model import Disagreement, Escape, GradientCall, LazyCache, PythonFacts, PythonUse
from ...files.sources import Source
from .libcst_tree import LibcstTree, LibcstTrees
from .libcst_uses import read_use, use_covers

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
        if span not in (read.use.span, read.use.type_span, read.call_span, *(pause.span for pause in read.pauses)):
            return self._about(span, proposed)
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
        constructs = [
            *map(self.use, self._facts.uses),
            *map(self._gradient_call, self._facts.gradient_calls),
            *map(self._escape, self._facts.escapes),
            *map(self._cache, self._facts.lazy_caches),
        ]
        return (one for one in constructs if isinstance(one, Disagreement))

    @cached_property
    def _uses(self) -> dict[Span, PythonUse]:
        return {use.use.type_span: use for use in reversed(self._facts.uses)}

    # -- constructs that are not guards themselves

    def _about(self, span: Span, proposed: PythonUse) -> Span | Disagreement:
        """Something at `span` that goes wrong because of a guard."""
        for about in self._by_span.get(span, ()):
            if not isinstance(about, LazyCache) and self._facts.uses[about.use] is proposed:
                return self._gradient_call(about) if isinstance(about, GradientCall) else self._escape(about)
        return self._statement(span)

    @cached_property
    def _by_span(self) -> dict[Span, list[GradientCall | Escape | LazyCache]]:
        found: dict[Span, list[GradientCall | Escape | LazyCache]] = defaultdict(list)
        constructs: list[GradientCall | Escape | LazyCache] = [*self._facts.gradient_calls]
        constructs += self._facts.escapes
        constructs += self._facts.lazy_caches
        for about in constructs:
            found[about.span].append(about)
        return found

    def _gradient_call(self, call: GradientCall) -> Span | Disagreement:
        use = self._facts.uses[call.use]
        tree = self._trees.holding(_around(call.span, use.use.type_span))
        node = tree.node_at(call.span, cst.Call) if tree is not None else None
        if tree is None or node is None:
            return Disagreement(call.span, "call", _NO_TREE if tree is None else _NOTHING)
        if not use_covers(tree, use, node):
            return Disagreement(call.span, f"call under `{use.use.written}`", "call outside it")
        return tree.span(node)

    def _escape(self, escape: Escape) -> Span | Disagreement:
        use = self._facts.uses[escape.use]
        tree = self._trees.holding(escape.span)
        node = _expression_at(tree, escape.span) if tree is not None else None
        if tree is None or node is None:
            return Disagreement(escape.span, "expression", _NO_TREE if tree is None else _NOTHING)
        block = self._trees.holding(_around(escape.made, use.use.type_span))
        made = block.node_at(escape.made, cst.Name) if block is not None else None
        if block is None or made is None or not use_covers(block, use, made):
            return Disagreement(escape.made, f"name bound under `{use.use.written}`", _NOTHING)
        return tree.span(node)

    def _cache(self, cache: LazyCache) -> Span | Disagreement:
        tree = self._trees.holding(_around(cache.span, cache.reader_span))
        node = tree.node_at(cache.span, cst.Assign) if tree is not None else None
        if tree is None or node is None:
            return Disagreement(cache.span, "assignment", _NO_TREE if tree is None else _NOTHING)
        if not any(tree.node_at(cache.reader_span, kind) for kind in (cst.Attribute, cst.Name)):
            return Disagreement(cache.reader_span, "attribute", _NOTHING)
        return tree.span(node)

    def _statement(self, span: Span) -> Span | Disagreement:
        """Whatever a rule reports there."""
        for about in self._by_span.get(span, ()):
            if isinstance(about, LazyCache):
                return self._cache(about)
        tree = self._trees.holding(span)
        if tree is None or not tree.nodes_at(span):
            return Disagreement(span, "construct", _NO_TREE if tree is None else _NOTHING)
        return span

    def _string(self, span: Span, use: GuardUse) -> Span | Disagreement:
        """A program of another language in a string."""
        tree = self._trees.holding(span)
        if tree is None or tree.node_holding(span, *_STRINGS) is None:
            return Disagreement(span, "string", _NO_TREE if tree is None else _NOTHING)
        return span


def _expression_at(tree: LibcstTree, span: Span) -> cst.BaseExpression | None:
    return next((node for node in tree.nodes_at(span) if isinstance(node, cst.BaseExpression)), None)


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
