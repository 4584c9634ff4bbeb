"""GF205 heap-guard: a guard on the heap has no scope that ends it.

What it flags: a guard made by `new`, `make_unique` or `make_shared` that nothing keeps (`new G;` is never
destroyed, `std::make_unique<G>();` at once), or that is kept by a plain local pointer that is never used again, or
whose `delete` a `return` skips. At level info: a guard stored in a member or a global and never released in the same
file.

Why it is bad: guards restore the state that they found when they were made, so they must be destroyed in reverse
order and on the same thread. A guard that is never destroyed leaves the thread in its mode; one that is destroyed
late, or on another thread, restores the wrong mode.

Example:

    Runner::Runner() { new torch::NoGradGuard(); }

Use instead: a local guard, or `std::optional<c10::InferenceMode>` if it depends on a condition:

    std::optional<c10::InferenceMode> guard;
    if (inference) guard.emplace();

Fix: none.

Not flagged: a local smart pointer; a pointer that is returned, cast to a handle, passed on, or deleted, as in the
push and pop functions of a C interface; an element of a table of handles; a member that is reset somewhere in the
file.

Limits: whether a pointer is released is decided by its last name, in the same file. A release on another path or in
another thread counts as well.

Level: info if the pointer outlives the function, because the code that releases it may be in another file.

When not to use it: bindings for another language, where the other side ends the guard. If the functions are spread
over several files, ignore the rule there.

Seen in public code: 2 of 10 uses on the heap were never ended; the others were pairs of push and pop functions, and
smart pointers. We also saw a thread pool's start-up function that leaks a guard on purpose.

References: c10/core/InferenceMode.h, c10/core/GradMode.h of torch 2.13.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from ..analysis.ownership import is_gradient_guard
from ..analysis.project import Project
from ..answered_once import answered_once
from ..facts import Facts, Form, GuardUse, Holder, Span
from ..facts.bodies import AnyStatement, Leave, Raise, ReturnStatement
from ..facts.expressions import (
    Bracketed,
    Expression,
    LiteralExpression,
    LiteralKind,
    Subscript,
    last_name,
    pointee,
    words_of,
)
from ..facts.index import holders_of_guards, index_of
from ..facts.statement_walk import all_statements, blocks_of, bodies_around, expressions_of, words_in
from ..findings import Finding, Severity
from ..named_tuples import NamedTuple
from ..rule import Rule
from ..rule_names import RuleGroup

RULE = Rule(
    "GF205",
    "heap-guard",
    group=RuleGroup.LEAKS,
    since="0.1.0",
)


@RULE.check_use
def heap_guards(use: GuardUse, facts: Facts, project: Project) -> Iterator[Finding]:
    holder = use.holder
    if use.form is not Form.HEAP or holder is None or use.function is None:
        return
    if use.macro is not None or use.under_error or not is_gradient_guard(use, facts, project):
        return
    if not holder.name:
        fate = "never destroyed: nothing keeps the pointer" if holder.raw else "destroyed at the semicolon"
        yield RULE.at(facts, use.span, f"{use.guard} on the heap is {fate}; declare it as a local variable", use=use)
    elif holder.declared:
        if holder.raw and not _is_used(holder, use, facts):
            message = (
                f"{use.guard} on the heap is never destroyed: `{holder.name}` is not used again; "
                "declare it as a local variable"
            )
            yield RULE.at(facts, use.span, message, use=use)
        elif holder.raw and (left := _return_before_delete(holder.name, use, facts)) is not None:
            message = (
                f"{use.guard} on the heap is not destroyed where line {facts.row(left.span.start)} returns before "
                f"`delete {holder.name}`; declare it as a local variable"
            )
            yield RULE.at(facts, use.span, message, use=use)
    elif (
        not isinstance(holder.target, Subscript)
        and not _is_local(holder, use, facts)
        and not _is_released(holder, facts)
    ):
        message = (
            f"{use.guard} is kept in `{holder.name}` and never released in this file, so no scope ends it; "
            "release it on the same thread, or use local guards"
        )
        yield RULE.at(facts, use.span, message, use=use, severity=Severity.INFO)


def _is_used(holder: Holder, use: GuardUse, facts: Facts) -> bool:
    """Whether the function mentions the pointer again: a delete, an argument, a return, an assignment."""
    assert use.function is not None
    mentions = _mentions(facts, facts.enclosing(use.function)[-1].span)
    return (
        holder.name in _deleted_words(facts)
        or holder.name in mentions.in_returns
        # A lambda mentions what its body mentions.
        or any(not span.holds(use.span) for span in mentions.in_calls.get(holder.name, ()))
        or any(not use.span.holds(span) for span in mentions.in_assignments.get(holder.name, ()))
    )


class _Mentions(NamedTuple):
    """Which words a function mentions: in its returns, and by word in which of its calls and assignments."""

    in_returns: set[str]
    in_calls: dict[str, list[Span]]
    in_assignments: dict[str, list[Span]]


@answered_once
def _mentions(facts: Facts, body: Span) -> _Mentions:
    here = index_of(facts)
    found = _Mentions(set(), defaultdict(list), defaultdict(list))
    for returned in here.returns.within(body):
        found.in_returns.update(words_of(returned.value))
    for call in here.calls.within(body):
        for word in set().union(*map(words_of, (call.called, *call.arguments))):
            found.in_calls[word].append(call.span)
    for assignment in here.assignments.within(body):
        for word in words_of(assignment.target) | words_of(assignment.value):
            found.in_assignments[word].append(assignment.span)
    return found


@answered_once
def _deleted_words(facts: Facts) -> frozenset[str]:
    return frozenset().union(*map(words_of, facts.deletes))


def _return_before_delete(name: str, use: GuardUse, facts: Facts) -> AnyStatement | None:
    """The first `return` between a guard and the `delete` of its pointer, if nothing else is done with that."""
    body = next(bodies_around(use.span, facts), None)
    if body is None or name not in _deleted_words(facts) or any(name in words_in(inner) for inner in body.inner):
        return None
    return _early_return(_behind(body.statements, use.span), name)


def _behind(block: Sequence[AnyStatement], place: Span) -> Sequence[AnyStatement]:
    """What follows the statement of a place in its block."""
    for number, one in enumerate(block):
        if one.span.holds(place):
            inner = next((part for part in blocks_of(one) if any(each.span.holds(place) for each in part)), None)
            return _behind(inner, place) if inner is not None else block[number + 1 :]
    return ()


def _early_return(block: Sequence[AnyStatement], name: str) -> AnyStatement | None:
    """The first `return` in front of all that mentions a name; an inner block that mentions it must return as well."""
    for one in block:
        if any(name in words_of(expression) for expression in expressions_of(one)):
            return None
        if isinstance(one, (ReturnStatement, Raise, Leave)):
            return one if isinstance(one, ReturnStatement) else None
        for inner in blocks_of(one):
            early = _early_return(inner, name)
            if early is not None:
                return early
            mentions = any(name in words_of(node) for each in all_statements(inner) for node in expressions_of(each))
            if mentions and not isinstance(inner[-1], (ReturnStatement, Raise)):
                return None
    return None


def _is_local(holder: Holder, use: GuardUse, facts: Facts) -> bool:
    """Whether the smart pointer that is given the guard is declared in a block around."""
    declared = holders_of_guards(facts).get(holder.name)
    return declared is not None and next(declared.around(use.span), None) is not None


def _is_released(holder: Holder, facts: Facts) -> bool:
    return holder.last in _released(facts)


@answered_once
def _released(facts: Facts) -> frozenset[str]:
    """The last names of what the file deletes, resets or empties."""
    methods = (call for call in facts.calls if call.receiver is not None and not call.arguments)
    return frozenset(
        (
            *(last_name(pointee(deleted)) for deleted in facts.deletes),
            *(last_name(call.receiver) for call in methods if call.name in ("reset", "release", "swap")),
            *(last_name(pointee(given.target)) for given in facts.assignments if _is_empty(given.value)),
        )
    )


def _is_empty(value: Expression | None) -> bool:
    """`nullptr`, `{}`, `0`."""
    if isinstance(value, LiteralExpression):
        return value.kind is LiteralKind.NONE or value.text == "0"
    return isinstance(value, Bracketed) and value.brackets == "{}" and not value.items
