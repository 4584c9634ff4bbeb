"""Which op that a backend's kernel calls has an autograd kernel of its own: a guard around the call hides that."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ..facts import Call, Facts, Function, Registration, Span
from ..facts.index import index_of
from ..named_tuples import NamedTuple
from .call_names import MOST_METHODS
from .own_op_calls import functions_named, schema_of
from .project import Project
from .registrations import is_under_autograd

_RUNS_HANDLE = frozenset({"call", "callBoxed"})
_FOREIGN = frozenset({"at", "c10", "std", "torch"})


class HiddenAutograd(NamedTuple):
    """A call below the guard, and where its op is given an autograd kernel."""

    call: Call
    operator: str
    facts: Facts
    registration: Registration


def hidden_autograd(function: Function, covered: Span, facts: Facts, project: Project) -> HiddenAutograd | None:
    """The first op, called in a stretch of a function through the dispatcher, whose autograd a guard there hides.

    What is called in C++ alone, `Function::apply` too, is not found by a key, so nothing hides it.
    """
    for call, operator in _ops_called(function, covered, facts, project):
        found = project.memory(_Differentiated).of(operator, project)
        if found is not None:
            return HiddenAutograd(call, operator, *found)
    return None


def names_of_ops(function: Function, covered: Span, facts: Facts) -> frozenset[str]:
    """The names in other files that show whether such an op is called."""
    ops = {_name(operator) for _, operator in _by_schema(function, covered, facts)}
    functions = {call.name for call in index_of(facts).calls.within(covered) if _is_free(call)}
    return frozenset(ops | functions if len(functions) <= MOST_METHODS else ops)


def _ops_called(function: Function, covered: Span, facts: Facts, project: Project) -> Iterator[tuple[Call, str]]:
    """Those asked for by their schema, there or in a function that is called there."""
    yield from _by_schema(function, covered, facts)
    for call in filter(_is_free, index_of(facts).calls.within(covered)):
        for called, where in functions_named(call.path, facts, project):
            for _, operator in _by_schema(called, called.body, where):
                yield call, operator


def _by_schema(function: Function, covered: Span, facts: Facts) -> Iterator[tuple[Call, str]]:
    calls = index_of(facts).calls
    run = next((call for call in calls.within(covered) if call.name in _RUNS_HANDLE), None)
    if run is None:
        return
    for call in calls.within(function.body):
        schema = schema_of(call.expression)
        if schema is not None:
            yield run, schema[0]


def _is_free(call: Call) -> bool:
    return bool(call.path) and call.path[0] not in _FOREIGN and not call.name.isupper()


class _Differentiated:
    """The ops that are given a kernel under one of autograd's keys."""

    def __init__(self) -> None:
        self._by_name: dict[str, list[tuple[Facts, Registration]]] | None = None

    def of(self, operator: str, project: Project) -> tuple[Facts, Registration] | None:
        if self._by_name is None:
            self._by_name = defaultdict(list)
            for facts in project:
                for one in project.build.as_built(facts).registrations:
                    if is_under_autograd(one) and one.operator:
                        self._by_name[_name(one.operator)].append((facts, one))
        space = operator.rpartition("::")[0]
        for facts, one in self._by_name.get(_name(operator), ()):
            if space in ("", one.operator.rpartition("::")[0] or one.namespace):
                return facts, one
        return None


def _name(operator: str) -> str:
    """`add` of `my::add.out`."""
    return operator.rpartition("::")[2].partition(".")[0]
