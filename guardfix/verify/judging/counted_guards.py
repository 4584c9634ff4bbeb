"""Puts counters beside the guards of a text, so that a run tells which of them it entered.

A counter is on its guard's own line, so that no line moves. In C++ it is an object beside the guard, which lives as
long; where nothing can be beside a guard (a member, an optional, an alias), the guard's type is replaced by one that
counts. In Python the guard is wrapped where it is made.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from guardfix.codemods.apply.rewriting import apply_edits
from guardfix.codemods.fix import Edit, insertion
from guardfix.linter.facts import Facts, Form, GuardUse, Span
from guardfix.linter.facts.python_uses import use_behind
from guardfix.linter.files.sources import Source
from guardfix.linter.frontends.frontend import frontend_named
from guardfix.runtime_shim.cpp.own_headers import INCLUDE
from guardfix.runtime_shim.recording.guard_table import BUILTIN

if TYPE_CHECKING:
    from tree_sitter import Node

_NAMES_ONLY = frozenset({Form.USING, Form.IMPORT, Form.REFERENCE})
"""Forms that name a guard for other places, where it is used."""

_BY_TYPE = frozenset({Form.MEMBER, Form.OPTIONAL, Form.ALIAS, Form.TEMPLATE_ARGUMENT})
_BLOCKS = frozenset(
    {"compound_statement", "translation_unit", "case_statement", "declaration_list", "labeled_statement", "ERROR"}
)
_STATEMENTS = ("_statement", "declaration", "for_range_loop")
_ENTERED_AT_A_WITH = frozenset({Form.WITH, Form.DECORATOR})


def is_entered(use: GuardUse) -> bool:
    """Whether a guard is made at the use; else it is only named there."""
    return use.form not in _NAMES_ONLY


class CountedText:
    """One text with its guards, ready to be given counters."""

    def __init__(self, source: Source, facts: Facts | None = None, *, embedded: bool = True) -> None:
        """With `embedded`, guards of C++ in the strings of a Python text are counted as well: the shim's headers know
        the counter; PyTorch's do not."""
        self.source = source
        self.embedded = embedded
        self.facts = facts or _facts_of(source)
        self.is_python = self.facts is not None and self.facts.python is not None

    def use_at(self, offset: int) -> GuardUse | None:
        """The guard whose type is at the offset, or whose statement begins or holds it."""
        uses = [use for use in self._all_uses() if is_entered(use)]
        exact = next((use for use in uses if use.type_span.start == offset), None)
        return exact or next((use for use in uses if use.span.start <= offset < use.span.end), None)

    def _all_uses(self) -> Iterator[GuardUse]:
        if self.facts is not None:
            yield from self.facts.guard_uses
            for piece in self.facts.embedded:
                yield from piece.guard_uses

    def _is_embedded(self, use: GuardUse) -> bool:
        assert self.facts is not None
        return any(use.type_span == other.type_span for piece in self.facts.embedded for other in piece.guard_uses)

    def with_counters(
        self, uses: Mapping[int, GuardUse], places: Mapping[int, int] | None = None
    ) -> tuple[bytes, frozenset[int]]:
        """The text with counters for the numbered guards, and the numbers of those that could be given one.

        `places` are offsets of guards that are gone: a counter is there by itself.
        """
        edits: list[Edit] = []
        types: list[int] = []
        counted: set[int] = set()
        for number, use in uses.items():
            found = self._python(number, use) if self.is_python else self._cpp(number, use, types)
            if found and not any(_overlap(edit, other) for edit in found for other in edits):
                edits += found
                counted.add(number)
        for number, offset in (places or {}).items():
            found = [] if self.is_python else self._alone(number, offset)
            if found and not any(_overlap(edit, other) for edit in found for other in edits):
                edits += found
                counted.add(number)
        if not counted:
            return self.source.text, frozenset()
        text = apply_edits(self.source.text, _joined(edits))
        return text if self.is_python else _prelude(types) + text, frozenset(counted)

    # ---- Python

    def _python(self, number: int, use: GuardUse) -> list[Edit]:
        assert self.facts is not None
        python_use = use_behind(self.facts, use)
        if python_use is None and use.form in (Form.DECLARATION, Form.AUTO) and not use.shared:
            is_cpp = self.embedded and use.function is not None and self._is_embedded(use)
            return [insertion(use.span.start, _counter(number))] if is_cpp else []
        if python_use is None or (use.form is Form.WITH and not python_use.called):
            return []  # the class itself is not a context manager, and has to say so in its own words
        lasting = use.form not in _ENTERED_AT_A_WITH and use.guard == "set_grad_enabled"
        span = python_use.call_span
        return [
            insertion(span.start, f"{BUILTIN}({number}, "),
            insertion(span.end, ", True)" if lasting else ")"),
        ]

    # ---- C++

    def _cpp(self, number: int, use: GuardUse, types: list[int]) -> list[Edit]:
        if use.under_error:
            return []
        if use.form in _BY_TYPE:
            return self._by_type(number, use, types)
        if use.form is Form.BASE:
            return self._as_member(number, use)
        if use.macro is not None:
            return [insertion(use.span.start, _counter(number))]
        statement = self._statement(use.span)
        if statement is None:
            return self._by_type(number, use, types)
        parent = statement.parent
        if parent is not None and parent.type in _BLOCKS:
            return [insertion(statement.start_byte, _counter(number))]
        # The body of an `if` without braces: both in their own block.
        return [
            insertion(statement.start_byte, f"{{ {_counter(number)}"),
            insertion(statement.end_byte, " }"),
        ]

    def _by_type(self, number: int, use: GuardUse, types: list[int]) -> list[Edit]:
        written = self.source.slice(use.type_span)
        types.append(number)
        return [Edit(use.type_span, f"::guardfix::Counted{number}<{written}>")]

    def _as_member(self, number: int, use: GuardUse) -> list[Edit]:
        assert self.facts is not None
        if use.class_ is None:
            return []
        span = self.facts.classes[use.class_].span
        end = self.source.text.rfind(b"}", span.start, span.end)
        return [] if end < 0 else [insertion(end, f"::guardfix::Entered guardfix_entered_{number}{{{number}}};")]

    def _alone(self, number: int, offset: int) -> list[Edit]:
        """A counter where a removed guard was; nothing where no statement can be there."""
        language = frontend_named("cpp")
        if any(span.start < offset < span.end for span in language.comments(self.source.text)):
            return []
        edit = insertion(offset, _counter(number))
        path = self.source.path
        errors = language.parse_errors(path, self.source.text)
        return [edit] if language.parse_errors(path, apply_edits(self.source.text, [edit])) <= errors else []

    def _statement(self, span: Span) -> Node | None:
        """The statement that holds the span, as the grammar has it; None in a header of a `for` or `if`."""
        from guardfix.linter.frontends.cpp.cpp_parsing import grammar_for, masked_text, parse_cpp

        if not hasattr(self, "_tree"):
            path = self.source.path
            self._tree = parse_cpp(masked_text(path, self.source.text), grammar_for(path))
        node = self._tree.root_node.descendant_for_byte_range(span.start, max(span.start, span.end - 1))
        while node is not None and not (node.type.endswith(_STATEMENTS) and node.type != "compound_statement"):
            node = node.parent
        if node is None or node.parent is None:
            return None
        is_header = node.type.endswith("declaration") and node.parent.type not in _BLOCKS
        return None if is_header or node.type == "field_declaration" else node


def _counter(number: int) -> str:
    return f"::guardfix::Entered guardfix_entered_{number}({number}); "


def _prelude(types: Iterable[int]) -> bytes:
    """What a text with counters begins with. Its own lines are numbered as they were."""
    header = INCLUDE / "guardfix" / "guard_counter.h"
    aliases = "".join(
        f"namespace guardfix {{ template <class G> using Counted{number} = CountedGuard<G, {number}>; }} "
        for number in types
    )
    return f'#include "{header}"\n{aliases}\n#line 1\n'.encode()


def _joined(edits: Sequence[Edit]) -> Iterator[Edit]:
    """The edits, insertions at one place as one: which of two came first would be chance."""
    at: dict[int, list[str]] = {}
    for edit in edits:
        if edit.span.start == edit.span.end:
            at.setdefault(edit.span.start, []).append(edit.content)
        else:
            yield edit
    for offset, contents in at.items():
        yield insertion(offset, "".join(contents))


def _overlap(one: Edit, other: Edit) -> bool:
    """Whether one lies inside the other: two counters in one type."""
    return one.span.start < other.span.end and other.span.start < one.span.end


def _facts_of(source: Source) -> Facts | None:
    from guardfix.linter.frontends.frontend import frontend_of

    frontend = frontend_of(source.path)
    return None if frontend is None else frontend.extract(source, frozenset(frontend.guards), None)
