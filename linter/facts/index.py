"""A file's facts by their places: built once for a file, then asked for each of its uses."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable
from itertools import islice

from msgspec import Struct

from ..answered_once import answered_once
from ..guards import CPP, LEGACY, PYTHON
from . import Assignment, Branch, Call, Class, Conditional, Facts, Form, Function, GuardUse, Return, Span
from .model import MOST_AROUND
from .spans import Nested, Sorted


class FactsIndex(Struct, frozen=True):
    """Indexes over one file's facts."""

    calls: Sorted[Call]
    assignments: Sorted[Assignment]
    returns: Sorted[Return]
    uses: Sorted[GuardUse]
    """Guard uses by the place of the guard's type."""
    others: Sorted[GuardUse]
    """As `uses`, without the old guard."""
    functions: Sorted[Function]
    functions_around: Nested[Function]
    function_numbers: dict[int, int]
    """By the id() of a function, its index in `Facts.functions`."""
    assignments_around: Nested[Assignment]
    uses_by_scope: dict[Span, list[GuardUse]]
    local_by_scope: dict[Span, list[GuardUse]]
    """Of these the declared variables."""
    neighbours: dict[Span, list[GuardUse]]
    """By scope, the guards that say something about an old one beside them: not that itself, nor what is made of it."""
    scopes: Nested[Span]
    """The blocks in which guards are."""
    branches: Nested[tuple[Conditional, Branch]]
    function_names: frozenset[str]
    functions_named: dict[str, list[Function]]
    classes_named: dict[str, list[Class]]
    guard_names: frozenset[str]
    """What the file itself defines that can stand for guards: its classes, macros and aliases."""
    alias_names: dict[Span, str]
    """What the alias that is declared there is called; the first of several."""

    def uses_around(self, span: Span) -> list[GuardUse]:
        """The local guards that cover `span`, in the file's order; of very many in a block the first and the last."""
        return self._around(span, self.local_by_scope)

    def neighbours_around(self, span: Span) -> list[GuardUse]:
        """The guards of whatever form that cover `span`, without the old one."""
        return self._around(span, self.neighbours)

    def _around(self, span: Span, by_scope: dict[Span, list[GuardUse]]) -> list[GuardUse]:
        found: list[GuardUse] = []
        for scope in islice(self.scopes.around(span), MOST_AROUND):
            uses = by_scope.get(scope, [])
            before = bisect_right(uses, span.start, key=lambda use: use.span.end)
            half = MOST_AROUND // 2
            near = uses[:before] if before <= MOST_AROUND else [*uses[:half], *uses[before - half : before]]
            found += [use for use in near if use.live.holds(span)]
        return sorted(found, key=lambda use: use.type_span)


@answered_once
def index_of(facts: Facts) -> FactsIndex:
    """The indexes of a file. Facts are compared by identity, so that they can be a key."""
    by_scope: dict[Span, list[GuardUse]] = defaultdict(list)
    local: dict[Span, list[GuardUse]] = defaultdict(list)
    neighbours: dict[Span, list[GuardUse]] = defaultdict(list)
    for use in sorted(facts.guard_uses, key=lambda use: use.span.end):
        by_scope[use.scope].append(use)
        if use.form in (Form.DECLARATION, Form.AUTO):
            local[use.scope].append(use)
        if use.guard != LEGACY and (use.guard in CPP or use.guard in PYTHON):
            neighbours[use.scope].append(use)
    by_name: dict[str, list[Function]] = defaultdict(list)
    for function in facts.functions:
        by_name[function.name].append(function)
    classes: dict[str, list[Class]] = defaultdict(list)
    for class_ in facts.classes:
        classes[class_.name].append(class_)
    arms = ((conditional, branch) for conditional in facts.conditionals for branch in conditional.branches)
    return FactsIndex(
        calls=Sorted(facts.calls, lambda call: call.span),
        assignments=Sorted(facts.assignments, lambda assignment: assignment.span),
        returns=Sorted(facts.returns, lambda returned: returned.span),
        uses=Sorted(facts.guard_uses, lambda use: use.type_span),
        others=Sorted((use for use in facts.guard_uses if use.guard != LEGACY), lambda use: use.type_span),
        functions=Sorted(facts.functions, lambda function: function.span),
        functions_around=Nested(facts.functions, lambda function: function.span),
        function_numbers={id(function): number for number, function in enumerate(facts.functions)},
        assignments_around=Nested(facts.assignments, lambda assignment: assignment.span),
        uses_by_scope=by_scope,
        local_by_scope=local,
        neighbours=neighbours,
        scopes=Nested(by_scope, lambda scope: scope),
        branches=Nested(arms, lambda arm: arm[1].span),
        function_names=frozenset(by_name),
        functions_named=by_name,
        classes_named=classes,
        guard_names=frozenset(
            (*classes, *(macro.name for macro in facts.macros), *(alias.name for alias in facts.aliases))
        ),
        alias_names={alias.span: alias.name for alias in reversed(facts.aliases)},
    )


@answered_once
def calls_where(facts: Facts, around: Span, holds: Callable[[Call], object]) -> Sorted[Call]:
    """The calls in `around` of which something holds that follows from the call alone.

    Found once for the guards of a function, of which each covers a part of it.
    """
    return Sorted(filter(holds, index_of(facts).calls.within(around)), lambda call: call.span)


@answered_once
def all_calls_where(facts: Facts, holds: Callable[[Call], object]) -> Sorted[Call]:
    """The same in the whole file, for what is asked of functions that may lie in one another."""
    return Sorted(filter(holds, facts.calls), lambda call: call.span)


@answered_once
def declarations_of(facts: Facts) -> dict[str, Sorted[Assignment]]:
    """By name, the assignments that declare the variable."""
    found: dict[str, list[Assignment]] = defaultdict(list)
    for assignment in facts.assignments:
        if assignment.declares and assignment.variable:
            found[assignment.variable].append(assignment)
    return {name: Sorted(declared, lambda assignment: assignment.span) for name, declared in found.items()}


@answered_once
def holders_of_guards(facts: Facts) -> dict[str, Nested[Span]]:
    """By name, the blocks in which local variables that hold a guard are declared."""
    found: dict[str, list[Span]] = defaultdict(list)
    for use in facts.guard_uses:
        if use.holder is not None and use.holder.declared and use.function is not None:
            found[use.holder.name].append(use.scope)
    return {name: Nested(scopes, lambda scope: scope) for name, scopes in found.items()}


def has_function_in(span: Span, facts: Facts) -> bool:
    """Whether a function is inside the span."""
    return index_of(facts).functions.first(span) is not None
