"""What the old guard counts and tracks since torch 1.9, and `AutoDispatchBelowADInplaceOrView` does not.

Below the latter a write to a tensor does not move its version counter, and a view is not tracked. That matters for
tensors that somebody else can see: parameters, members, saved tensors, and what shares memory with them. Everything
here is as far as one file shows it. Reference: ATen/core/LegacyTypeDispatch.h of torch 2.13.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct

from ..facts import Assignment, Call, Facts, Form, Function, GuardUse, Span
from ..facts.expressions import (
    Bracketed,
    CallExpression,
    Expression,
    MemberAccess,
    NamePath,
    Subscript,
    assigned_names,
    steps_of,
    variable_of,
    words_of,
)
from ..facts.index import index_of
from .declared_types import declared_type
from .project import Project
from .tensor_changes import what_changes

_DEPTH = 3
"""How many functions of the file a write is followed into."""
_VIEWS = frozenset(
    """alias as_strided chunk detach diagonal expand expand_as flatten imag movedim narrow permute real reshape select
    slice split split_with_sizes squeeze swapaxes swapdims t tensor_split transpose unbind unflatten unfold unsqueeze
    view view_as view_as_complex view_as_real""".split()
)
_SHARES = frozenset(
    {"contiguous", "to", "type_as", "toTensor", "at", "front", "back", "get", "value", "move", "cpu", "data"}
)
"""What may give the same tensor, or one of those that something holds."""
_SAVED = frozenset({"get_saved_variables", "saved_data", "saved_tensors"})
_SCHEMAS = frozenset({"findSchemaOrThrow", "findSchema", "findOp"})


class Uncounted(Struct, frozen=True):
    """One write, or one view, that the replacement would not count or track."""

    what: str
    """In words, without the place: `` `self.add_` writes to a tensor from outside``."""
    span: Span
    row: int


def uncounted_below(use: GuardUse, facts: Facts, project: Project) -> list[Uncounted]:
    """Writes to tensors that are visible outside, and views of them that are given back, below a guard.

    Of a guard in a struct, what is below each object of that struct, in any file.
    """
    if use.form is Form.MEMBER and use.class_ is not None:
        name = facts.classes[use.class_].name
        uses = [(where, mention) for where, mention in project.mentions_of(name, facts) if mention.function is not None]
    else:
        uses = [(facts, use)] if use.function is not None else []
    found = [one for where, mention in uses for one in _below(mention, where)]
    return list({(one.span, one.what): one for one in found}.values())


def _below(use: GuardUse, facts: Facts) -> Iterator[Uncounted]:
    assert use.function is not None
    function = facts.enclosing(use.function)[-1]
    visible = _visible_in(function, facts)
    for place in _writes(use.live, visible, facts, _DEPTH):
        yield Uncounted(f"{place.what} writes to a tensor from outside", place.span, facts.row(place.span.start))
    for returned in index_of(facts).returns.within(use.live):
        if returned.function == use.function and visible.is_view(returned.value):
            words = f"`return {returned.value}` gives back a view of a tensor from outside"
            yield Uncounted(words, returned.span, facts.row(returned.span.start))


@lru_cache(maxsize=64)
def _visible_in(function: Function, facts: Facts) -> _Visible:
    return _Visible(function, facts)


class _Visible:
    """Which variables of a function stand for tensors that are visible outside of it."""

    def __init__(self, function: Function, facts: Facts) -> None:
        self.function, self.facts = function, facts
        given = [a for a in index_of(facts).assignments.within(function.body) if a.operator == "="]
        declared = {name for a in given if a.declares for name in assigned_names(a.target)}
        inner = {p.name for f in index_of(facts).functions.within(function.body) for p in f.parameters}
        self._fresh = declared - {p.name for p in function.parameters} - inner
        self._views: set[str] = set()
        dirty = (c for c in index_of(facts).calls.within(function.body) if c.name == "mark_dirty")
        self._marked = {word for call in dirty for argument in call.arguments for word in words_of(argument)}
        size = -1
        while size != len(self._fresh) - len(self._views):
            size = len(self._fresh) - len(self._views)
            for one in given:
                self._follow(one)

    def _follow(self, given: Assignment) -> None:
        if isinstance(given.target, (MemberAccess, Subscript)):
            return
        names = set(assigned_names(given.target))
        if given.value is None or not self.shares(given.value):
            return
        self._fresh -= names
        if self.is_view(given.value):
            self._views |= names

    def has(self, value: Expression | None) -> bool:
        """Whether the variable at the root of an expression is visible outside, and no `mark_dirty` names it."""
        name = variable_of(value)
        if not name or name in self._marked or name in ("this", "std", "at", "torch", "c10", "ctx", "op", "context"):
            return False
        return name.removeprefix("this->") not in self._fresh

    def is_tensor(self, value: Expression | None) -> bool:
        """Whether the variable is declared as a tensor."""
        name = variable_of(value).removeprefix("this->")
        index = index_of(self.facts).function_numbers.get(id(self.function))
        type_ = declared_type(name, index, self.function.span.end, self.facts)
        return type_ is not None and type_.last in ("Tensor", "Variable")

    def shares(self, value: Expression) -> bool:
        """Whether a value may be, hold or view a tensor that is visible outside."""
        while isinstance(value, Bracketed) and len(value.items) == 1:
            value = value.items[0]
        if words_of(value) & _SAVED:
            return True
        if isinstance(value, CallExpression) and isinstance(value.callee, NamePath):
            if value.callee.name not in _VIEWS | _SHARES or not value.arguments:
                return False
            return self.shares(value.arguments[0])
        steps = steps_of(value)[1:]
        methods = [step.name for step in steps if isinstance(step, MemberAccess)]
        called = any(isinstance(step, CallExpression) for step in steps)
        if called and not all(name in _VIEWS | _SHARES for name in methods):
            return False
        return self.has(value)

    def is_view(self, value: Expression | None) -> bool:
        """Whether a value is made by a view op of a tensor that is visible outside."""
        if value is None or not self.shares(value):
            return False
        if variable_of(value) in self._views:
            return True
        names = {step.name for step in steps_of(value) if isinstance(step, MemberAccess)}
        if isinstance(value, CallExpression) and isinstance(value.callee, NamePath):
            names.add(value.callee.name)
        return bool(names & _VIEWS)


class _Write(Struct, frozen=True):
    what: str
    span: Span
    variable: str = ""


def _writes(span: Span, visible: _Visible, facts: Facts, depth: int) -> Iterator[_Write]:
    here = index_of(facts)
    for call in here.calls.within(span):
        target = _written_by(call)
        if target is not None and visible.has(target):
            yield _Write(f"`{call.callee}`", call.span, variable_of(target))
        elif _looks_up_in_place_op(call):
            yield _Write(f"`{str(call.arguments[0]).strip(chr(34))}`", call.span)
        elif depth and any(visible.shares(argument) for argument in call.arguments):
            yield from _through(call, visible, facts, depth - 1)
    for one in here.assignments.within(span):
        if one.declares or not visible.has(one.target) or not visible.is_tensor(one.target):
            continue
        if one.operator != "=" or any(isinstance(step, Subscript) for step in steps_of(one.target)[1:]):
            yield _Write(f"`{one.target} {one.operator} …`", one.span, variable_of(one.target))


def _written_by(call: Call) -> Expression | None:
    """What a call writes to: the receiver of `x.add_(y)`, the first tensor of `at::relu_(x)`, `at::add_out(x, …)`."""
    if call.receiver is not None:
        return call.receiver if what_changes(call) == "changed in place" else None
    if call.path[:1] not in (("at",), ("torch",)) or not call.arguments:
        return None
    if call.name.endswith("_outf"):
        return call.arguments[-1]
    if call.name.endswith("_out") or (call.name.endswith("_") and not call.name.endswith("__")):
        first = call.arguments[0]
        # `at::redispatch::add_(ks & …, self, other)`
        is_key_set = "redispatch" in call.path and len(call.arguments) > 1
        return call.arguments[1] if is_key_set else first
    return None


def _looks_up_in_place_op(call: Call) -> bool:
    """`findSchemaOrThrow("aten::add_", "")`, whose op is called below."""
    name = str(call.arguments[0]).strip('"') if call.name in _SCHEMAS and call.arguments else ""
    return name.endswith("_") and not name.endswith("__")


def _through(call: Call, visible: _Visible, facts: Facts, depth: int) -> Iterator[_Write]:
    """The call, where a function of this file writes to a parameter that is given a tensor from outside."""
    if call.receiver is not None or not call.path:
        return
    for function in index_of(facts).functions_named.get(call.name, ()):
        if function.is_lambda or function.span.holds(call.span):
            continue
        given = {
            parameter.name: argument
            for parameter, argument in zip(function.parameters, call.arguments, strict=False)
            if visible.shares(argument)
        }
        for write in _writes(function.body, _visible_in(function, facts), facts, depth):
            if write.variable in given:
                words = f"`{call.callee}` ({write.what} at line {facts.row(write.span.start)})"
                yield _Write(words, call.span, variable_of(given[write.variable]))
                return
