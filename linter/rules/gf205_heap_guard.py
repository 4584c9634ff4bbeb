"""GF205 heap-guard: a guard on the heap has no scope that ends it.

What it flags: a guard made by `new`, `make_unique` or `make_shared` that nothing keeps (`new G;` is never
destroyed, `std::make_unique<G>();` at once), or that is kept by a plain local pointer that is never used again. At
level info: a guard stored in a member or a global and never released in the same file.

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

Level: info if the pointer outlives the function, because the code that releases it may be in another file.

When not to use it: bindings for another language, where the other side ends the guard. If the functions are spread
over several files, ignore the rule there.

Seen in public code: 2 of 10 uses on the heap were never ended; the others were pairs of push and pop functions, and
smart pointers. We also saw a thread pool's start-up function that leaks a guard on purpose.

References: c10/core/InferenceMode.h, c10/core/GradMode.h of torch 2.13.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..analysis.ownership import is_gradient_guard
from ..analysis.project import Project
from ..facts import Facts, Form, GuardUse, Holder
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
from ..facts.index import index_of
from ..findings import Finding, Severity
from ..rule import Rule

RULE = Rule("GF205", "heap-guard")


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
    body, here = facts.enclosing(use.function)[-1].span, index_of(facts)
    parts: list[Expression | None] = [*facts.deletes]
    for call in here.calls.within(body):
        if not call.span.holds(use.span):  # a lambda mentions what stands in it
            parts += (call.called, *call.arguments)
    parts += (returned.value for returned in here.returns.within(body))
    for assignment in here.assignments.within(body):
        if not use.span.holds(assignment.span):
            parts += (assignment.target, assignment.value)
    return any(holder.name in words_of(part) for part in parts)


def _is_local(holder: Holder, use: GuardUse, facts: Facts) -> bool:
    """Whether the smart pointer that is given the guard is declared in a block around."""
    return any(
        other.holder is not None
        and other.holder.declared
        and other.holder.name == holder.name
        and other.function is not None
        and other.scope.holds(use.span)
        for other in facts.guard_uses
    )


def _is_released(holder: Holder, facts: Facts) -> bool:
    last = holder.last
    return (
        any(last_name(pointee(deleted)) == last for deleted in facts.deletes)
        or any(
            last_name(call.receiver) == last and call.name in ("reset", "release", "swap")
            for call in facts.calls
            if call.receiver is not None and not call.arguments
        )
        or any(
            last_name(pointee(assignment.target)) == last and _is_empty(assignment.value)
            for assignment in facts.assignments
        )
    )


def _is_empty(value: Expression | None) -> bool:
    """`nullptr`, `{}`, `0`."""
    if isinstance(value, LiteralExpression):
        return value.kind is LiteralKind.NONE or value.text == "0"
    return isinstance(value, Bracketed) and value.brackets == "{}" and not value.items
