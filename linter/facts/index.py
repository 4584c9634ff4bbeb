"""A file's facts by their places: built once for a file, then asked for each of its uses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from ..guards import CPP, LEGACY, PYTHON
from . import Assignment, Branch, Call, Conditional, Facts, Form, Function, GuardUse, Return, Span
from .spans import Nested, Sorted


@dataclass(frozen=True, slots=True)
class FactsIndex:
    """Indexes over one file's facts."""

    calls: Sorted[Call]
    assignments: Sorted[Assignment]
    returns: Sorted[Return]
    uses: Sorted[GuardUse]
    """Guard uses by the place of the guard's type."""
    others: Sorted[GuardUse]
    """As `uses`, without the old guard."""
    functions: Sorted[Function]
    uses_by_scope: dict[Span, list[GuardUse]]
    local_by_scope: dict[Span, list[GuardUse]]
    """Of these the declared variables."""
    neighbours: dict[Span, list[GuardUse]]
    """By scope, the guards that say something about an old one beside them: not that itself, nor what is made of it."""
    scopes: Nested[Span]
    """The blocks in which guards stand."""
    branches: Nested[tuple[Conditional, Branch]]
    function_names: frozenset[str]
    functions_named: dict[str, list[Function]]
    alias_names: dict[Span, str]
    """What the alias that is declared there is called; the first of several."""

    def uses_around(self, span: Span) -> list[GuardUse]:
        """The local guards that cover `span`, in the file's order."""
        return self._around(span, self.local_by_scope)

    def neighbours_around(self, span: Span) -> list[GuardUse]:
        """The guards of whatever form that cover `span`, without the old one."""
        return self._around(span, self.neighbours)

    def _around(self, span: Span, by_scope: dict[Span, list[GuardUse]]) -> list[GuardUse]:
        found = [use for scope in self.scopes.around(span) for use in by_scope.get(scope, ()) if use.live.holds(span)]
        return sorted(found, key=lambda use: use.type_span)


@lru_cache(maxsize=1024)
def index_of(facts: Facts) -> FactsIndex:
    """The indexes of a file. Facts are compared by identity, so that they can be a key."""
    by_scope: dict[Span, list[GuardUse]] = defaultdict(list)
    local: dict[Span, list[GuardUse]] = defaultdict(list)
    neighbours: dict[Span, list[GuardUse]] = defaultdict(list)
    for use in facts.guard_uses:
        by_scope[use.scope].append(use)
        if use.form in (Form.DECLARATION, Form.AUTO):
            local[use.scope].append(use)
        if use.guard != LEGACY and (use.guard in CPP or use.guard in PYTHON):
            neighbours[use.scope].append(use)
    by_name: dict[str, list[Function]] = defaultdict(list)
    for function in facts.functions:
        by_name[function.name].append(function)
    arms = ((conditional, branch) for conditional in facts.conditionals for branch in conditional.branches)
    return FactsIndex(
        calls=Sorted(facts.calls, lambda call: call.span),
        assignments=Sorted(facts.assignments, lambda assignment: assignment.span),
        returns=Sorted(facts.returns, lambda returned: returned.span),
        uses=Sorted(facts.guard_uses, lambda use: use.type_span),
        others=Sorted((use for use in facts.guard_uses if use.guard != LEGACY), lambda use: use.type_span),
        functions=Sorted(facts.functions, lambda function: function.span),
        uses_by_scope=by_scope,
        local_by_scope=local,
        neighbours=neighbours,
        scopes=Nested(by_scope, lambda scope: scope),
        branches=Nested(arms, lambda arm: arm[1].span),
        function_names=frozenset(by_name),
        functions_named=by_name,
        alias_names={alias.span: alias.name for alias in reversed(facts.aliases)},
    )


@lru_cache(maxsize=256)
def calls_where(facts: Facts, around: Span, holds: Callable[[Call], object]) -> Sorted[Call]:
    """The calls in `around` of which something holds that follows from the call alone.

    Found once for the guards of a function, of which each covers a part of it.
    """
    return Sorted(filter(holds, index_of(facts).calls.within(around)), lambda call: call.span)


def has_function_in(span: Span, facts: Facts) -> bool:
    """Whether a function stands inside the span."""
    return index_of(facts).functions.first(span) is not None
