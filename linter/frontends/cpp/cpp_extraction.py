"""A C++ file's text -> its facts.

Everything is read off one syntax tree, and the guards by working upward from their tokens, so that an ERROR node
elsewhere in the file loses no guard.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import msgspec

from ... import guards
from ...facts import Facts, Form, Function, GuardUse, Include, Invocation, Registration, Span
from ...files.intent_comments import find_intents
from ...files.search_terms import SearchTerms, recorded
from ...files.sources import Source
from ...files.suppressions import find_directives
from ...guards import ASKS_FOR_GRADIENTS, GRAD_MODE_SETTER, LAYER_WRITES, MAKES_LEAF, STEPS
from ...lazy_regex import lazy_regex
from ...named_tuples import NamedTuple
from .body_pruning import focused, guard_places, needs_all, text_places
from .byte_words import any_of, line_before
from .comments_at_guards import with_cpp_comments
from .conditionals import find_conditionals
from .cpp_masking import blanked, closing, code_only, cpp_comments, mask_block_comments, mask_macros, with_plain_lines
from .cpp_parsing import ParsedText, grammar_for, is_objective_c, masked_text, read_through
from .dead_branches import dead_branches
from .declared_functions import declared_functions
from .guard_reach import Reach, reach_in
from .guard_uses import guard_uses, known_names, macro_bodies, wrappers
from .tree_reading import Reading

if TYPE_CHECKING:
    from tree_sitter import Node

    from ...facts.bodies import Body

_LOADS = (b"::load", b"_load_for_", b"load_jit")
"""What says that a model is loaded somewhere in the file."""
_PARALLEL = lazy_regex(rb"#[ \t]*pragma[ \t]+omp\b[^\n]*\bparallel\b[^\n\\]*(?:\\(?:\r?\n)?[^\n\\]*)*")
_INCLUDE = lazy_regex(rb"#[ \t]*(?:include|import)[ \t]*(?P<header>[<\"][^>\"\n]+[>\"])")


def extract_cpp(
    source: Source,
    watched: Iterable[str] = (),
    terms: SearchTerms | None = None,
    *,
    whole: bool = False,
    named: frozenset[str] = frozenset(),
) -> Facts:
    """The facts of one C++, CUDA or Objective-C++ file.

    `watched` are further names whose places are reported like guards': types made of guards, macros and
    aliases that other files define. `terms` is what the rules look for, when that is not what is recorded: a
    function that holds neither a guard nor one of its texts is not read. `whole` reads those as well, for a text that
    is one piece of several: another piece may ask what is here. `named` are functions that are read as well.
    """
    grammar = grammar_for(source.path)
    if (text := with_plain_lines(source.text)) is not source.text:
        source = msgspec.structs.replace(source, text=text)
    watched = frozenset(watched)
    bare = code_only(source.text)
    dead = dead_branches(bare, source.text)
    live, live_code = blanked(source.text, dead), blanked(bare, dead)
    if is_objective_c(source.path, source.text):
        chosen: _ChosenCode | None = _all_objective_c(source, watched, named)
    else:
        chosen = _chosen_code(source.text, live_code, watched, (terms or recorded("cpp")).texts, named, whole=whole)
    if chosen is None:
        return _without_guards(source)
    masked, code, reach, left_out = chosen
    parsed, reading = _read(source.text, masked, code, watched, grammar, sparse=bool(left_out))
    root = parsed.tree.root_node
    names = {*known_names(), *watched, *wrappers(reading)}
    uses = list(guard_uses(reading, root, names))
    macro_uses, macro_functions, macro_calls = macro_bodies(source, reading, grammar, names)
    uses += macro_uses
    if parsed.blanked:
        uses = [_doubted(use, parsed.blanked) for use in uses]
    makers = {use.macro for use in macro_uses if use.macro is not None and (use.function is not None or _is_lost(use))}
    partial = root.has_error
    directives = find_directives(source.text, source.row, cpp_comments)
    declared = find_intents(source.text, source.row, cpp_comments)
    return Facts(
        path=source.path,
        language="cpp",
        notes=(*source.notes, *directives.notes, *declared.notes),
        partial=partial,
        error_row=_first_error_row(root, source) if partial else 0,
        guard_uses=tuple(
            sorted(
                map(_as_the_one_it_is_like, with_cpp_comments(uses, source.text, bare)), key=lambda use: use.type_span
            )
        ),
        functions=(*reading.functions, *macro_functions, *left_out),
        classes=tuple(reading.classes),
        calls=(*reading.calls, *macro_calls),
        registrations=_registrations(live, live_code),
        assignments=tuple(reading.assignments),
        returns=tuple(reading.returns),
        deletes=tuple(reading.deletes),
        conditionals=find_conditionals(live_code),
        aliases=tuple(reading.aliases),
        macros=tuple(reading.macros),
        invocations=_invocations(live, live_code, frozenset(makers.union(watched))),
        parallel_blocks=_parallel_blocks(live_code),
        includes=find_includes(live, live_code),
        declared=declared_functions(live_code),
        suppressions=directives.suppressions,
        intents=declared.intents,
        line_starts=source.line_starts,
        linked=True,
        bodies=_bodies(reading, reach, dead, grammar) if uses or named or _differentiates(code) else (),
    )


def _is_lost(use: GuardUse) -> bool:
    """Whether a macro makes a guard that is gone at once where the macro is a statement."""
    return use.form is Form.TEMPORARY and use.guard != guards.LEGACY


def _differentiates(code: bytes) -> bool:
    return any(
        text in code for text in (ASKS_FOR_GRADIENTS, MAKES_LEAF, GRAD_MODE_SETTER.encode(), *STEPS, *LAYER_WRITES)
    )


class _LastRead(NamedTuple):
    """A text as it was read last."""

    key: tuple[object, ...]
    parsed: ParsedText
    reading: Reading


class _ChosenCode(NamedTuple):
    """What of a text is read."""

    masked: bytes
    """The text, blank where it isn't code or needs no reading."""
    code: bytes
    reach: Reach
    left_out: tuple[Function, ...] = ()
    """Functions whose bodies are not read."""


def _all_objective_c(source: Source, watched: frozenset[str], named: frozenset[str]) -> _ChosenCode:
    masked = masked_text(source.path, source.text)
    code = code_only(masked)
    reach = reach_in(code, [*guard_places(code), *(place for place, _ in any_of(watched, code))], named)
    return _ChosenCode(masked, code, reach)


def _chosen_code(
    text: bytes, code: bytes, watched: frozenset[str], wanted: Sequence[bytes], named: frozenset[str], *, whole: bool
) -> _ChosenCode | None:
    """The functions that hold a guard or what the rules want, and what these reach; None if nothing is to be read."""
    places = guard_places(code)
    if watched:
        places += (place for place, _ in any_of(watched, code))
    if not whole:
        places += text_places(text, wanted)
        if watched:
            places += text_places(code, _LOADS)
        if not places and not named and not watched:
            return None
    reach = reach_in(code, places, named)
    left_out: tuple[Function, ...] = ()
    if not whole and not needs_all(code):
        code, left_out = focused(code, reach)
    masked = mask_macros(code)
    return _ChosenCode(masked, masked, reach, left_out)


_last_read: list[_LastRead] = []
"""At most one. A file is read again for the names that its guards make interesting; of a single file, as in an editor,
that is the text that was read just before."""


def _read(
    text: bytes, masked: bytes, code: bytes, watched: Iterable[str], grammar: str, *, sparse: bool
) -> tuple[ParsedText, Reading]:
    """The tree of a text, and what is read off it."""
    key = grammar, sparse, text, masked, code
    if _last_read and _last_read[0].key == key:
        return _last_read[0][1:]
    parsed = read_through(masked, code, watched, grammar, sparse=sparse)
    root = parsed.tree.root_node
    reading = Reading(text, parsed.masked, blanked(code, parsed.blanked), 0, None)
    reading.collect(root, grammar)
    if not root.has_error and not parsed.blanked:  # otherwise what is watched makes a difference
        _last_read[:] = [_LastRead(key, parsed, reading)]
    return parsed, reading


def _doubted(use: GuardUse, blanked: Iterable[Span]) -> GuardUse:
    """The use; under an error where a directive is in its declaration, which an edit would take for code."""
    return msgspec.structs.replace(use, under_error=True) if any(use.span.holds(span) for span in blanked) else use


def _as_the_one_it_is_like(use: GuardUse) -> GuardUse:
    """A use of a project's own guard as one of PyTorch's, by another name."""
    own = guards.CPP.get(use.guard)
    if own is None or not own.like:
        return use
    return msgspec.structs.replace(use, guard=own.like, alias=use.alias or use.written)


def _first_error_row(root: Node, source: Source) -> int:
    node = root
    while not (node.is_error or node.is_missing):
        inner = next((child for child in node.children if child.has_error or child.is_missing), None)
        if inner is None:
            break
        node = inner
    return source.position(node.start_byte).row


def _without_guards(source: Source) -> Facts:
    """The facts of a file that names guards in comments and strings only."""
    directives = find_directives(source.text, source.row, cpp_comments)
    declared = find_intents(source.text, source.row, cpp_comments)
    return Facts(
        path=source.path,
        language="cpp",
        notes=(*source.notes, *directives.notes, *declared.notes),
        suppressions=directives.suppressions,
        intents=declared.intents,
        line_starts=source.line_starts,
        linked=True,
    )


def _parallel_blocks(code: bytes) -> tuple[Span, ...]:
    """The statements that OpenMP runs in several threads, where they have braces."""
    if b"omp" not in code:
        return ()
    found = []
    for pragma in _PARALLEL.finditer(code):
        opening = code.find(b"{", pragma.end())
        end = closing(code, opening) if opening >= 0 else None
        if end is not None:
            found.append(Span(pragma.end(), end))
    return tuple(found)


def _bodies(reading: Reading, reach: Reach, dead: Sequence[Span], grammar: str) -> tuple[Body, ...]:
    from .cpp_bodies import find_bodies

    return find_bodies(reading, reach, dead, grammar)


def _registrations(text: bytes, code: bytes) -> tuple[Registration, ...]:
    if not any(hint in text for hint in (b"TORCH_LIBRARY", b"RegisterOperators", b"torch::Library", b"::import")):
        return ()
    from .op_registrations import find_registrations

    return find_registrations(text, code)


def _invocations(text: bytes, code: bytes, wanted: frozenset[str]) -> tuple[Invocation, ...]:
    if not wanted:
        return ()
    from .macro_expansion import definitions, invocations, without_directives

    return invocations(text, without_directives(code), wanted, definitions(text, code))


def find_includes(text: bytes, code: bytes | None = None) -> tuple[Include, ...]:
    """The `#include` and `#import` directives that are outside comments; `code` is `text` without these, if known."""
    if code is None:
        text = with_plain_lines(text)
        code = text = mask_block_comments(text) if b"/*" in text else text
    found = []
    for match in _INCLUDE.finditer(text):
        line = line_before(text, match.start())
        if line is not None and code[match.start()] == 0x23:  # '#'
            header = match["header"]
            span = Span(line, match.end())
            found.append(Include(header[1:-1].decode("utf-8", "replace"), span, header[:1] == b"<"))
    return tuple(found)
