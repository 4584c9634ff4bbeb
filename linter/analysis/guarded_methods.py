"""Methods that a Python class puts under a guard by a decorator, and those of derived classes that override them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from .. import guards
from ..answered_once import answered_once
from ..facts import Facts, Span
from ..facts.bodies import Block, Body, BodyKind, Import
from ..facts.expressions import (
    CallExpression,
    Expression,
    NamePath,
    first_name,
    innermost_object,
    is_this,
    last_name,
    simple_name,
)
from ..facts.statement_walk import all_statements, bodies_of, called_in, words_in
from ..named_tuples import NamedTuple
from .ops import is_factory_name
from .project import Project
from .written_guards import guard_called, mode_given

_GUARDS = frozenset({guards.NO_GRAD, guards.PYTHON_INFERENCE_MODE})
_SAY_NOTHING = frozenset({"staticmethod", "classmethod", "property", "override", "final", "wraps", "typing"})
"""Decorators other than guards."""
_TRAINS = frozenset(
    {"backward", "grad", "zero_grad", "requires_grad_", "requires_grad", "enable_grad", "manual_backward", "optimizer"}
)
_COMPUTES_NOTHING = frozenset(
    {"print", "len", "isinstance", "super", "range", "int", "str", "getattr", "hasattr", "warn", "NotImplementedError"}
)
_MOST_BASES = 5


class OverriddenMethod(NamedTuple):
    """A method without a guard that takes the place of one with a guard."""

    method: Body
    base: str
    """The class that has the guard."""
    path: str
    """Where that is."""
    guard: str
    """As its name is in the guard table."""

    @property
    def name_place(self) -> Span:
        """The method's name in its `def`."""
        start = self.method.header.start + len("def ")
        return Span(start, start + len(self.method.name.encode()))


@answered_once
def _classes_by_name(project: Project) -> dict[str, list[tuple[Facts, Body]]]:
    found: dict[str, list[tuple[Facts, Body]]] = defaultdict(list)
    for facts in project:
        for class_ in _classes_of(facts):
            found[class_.name].append((facts, class_))
    return found


def _classes_of(facts: Facts) -> Iterator[Body]:
    if facts.python is not None:
        yield from (one for one in bodies_of(facts) if one.kind is BodyKind.CLASS)


def overridden_methods(facts: Facts, project: Project) -> Iterator[OverriddenMethod]:
    """The methods of a file that override a guarded one and have no guard themselves."""
    for class_ in sorted(_classes_of(facts), key=lambda one: one.span):
        guarded: dict[str, tuple[str, str, str]] = {}
        for where, base in _bases_of(class_, facts, project):
            for method in base.inner:
                guard = guard_above(method)
                if guard and method.name not in guarded:
                    guarded[method.name] = (base.name, where.path, guard)
                elif not guard:
                    guarded.setdefault(method.name, ("", "", ""))  # it hides what is further up
        under_guard = {name for name, (_, _, guard) in guarded.items() if guard}
        own = {method.name for method in class_.inner if guard_above(method)}
        for method in class_.inner:
            base_name, path, guard = guarded.get(method.name, ("", "", ""))
            if guard and _loses_it(method, under_guard | own):
                yield OverriddenMethod(method, base_name, path, guard)


def guard_above(method: Body) -> str:
    """The guard that decorates a function and switches gradients off; empty for none."""
    return next(filter(None, map(_guard_of, method.decorators)), "")


def _guard_of(decorator: Expression) -> str:
    guard = guard_called(decorator)
    return guard if guard in _GUARDS and mode_given(decorator) is not False else ""


def _bases_of(class_: Body, facts: Facts, project: Project) -> Iterator[tuple[Facts, Body]]:
    """The classes above, nearest first, as far as the project's files show them."""
    by_name = _classes_by_name(project)
    waiting = [(facts, class_)]
    seen = {(facts.path, class_.span)}
    while waiting and len(seen) <= _MOST_BASES:
        where, below = waiting.pop(0)
        for base in below.bases:
            found = _meant(base, where, by_name.get(last_name(base), []))
            if found is not None and (found[0].path, found[1].span) not in seen:
                seen.add((found[0].path, found[1].span))
                yield found
                waiting.append(found)


def _meant(base: Expression, facts: Facts, named: list[tuple[Facts, Body]]) -> tuple[Facts, Body] | None:
    """The class of that name that a file means: its own, or the one of the module that it imports."""
    path = _imported(base.path, facts) if isinstance(base, NamePath) else ()
    own = [one for one in named if one[0].path == facts.path]
    if len(path) == 1 and own:
        return own[-1]
    others = [one for one in named if one[0].path != facts.path]
    module = path[-2] if len(path) > 1 else ""
    of_module = [one for one in others if f"/{module}.py" in f"/{one[0].path}".replace("\\", "/")]
    if len(of_module) == 1:
        return of_module[0]
    return others[0] if len(others) == 1 and len(path) > 1 and not own else None


def _imported(path: tuple[str, ...], facts: Facts) -> tuple[str, ...]:
    """A name with the module from which the file imports it."""
    for body in facts.bodies:
        for statement in body.statements:
            if isinstance(statement, Import) and statement.name == path[0]:
                return (*filter(None, statement.dotted.split(".")), *path[1:]) if "." in statement.dotted else path
    return path


def _loses_it(method: Body, guarded: set[str]) -> bool:
    """Whether a method computes something with no guard of any kind."""
    if method.kind is not BodyKind.FUNCTION or not method.is_read or method.is_async or method.is_generator:
        return False
    if any(last_name(one) not in _SAY_NOTHING for one in method.decorators):
        return False
    words = words_in(method)
    if not _TRAINS.isdisjoint(words) or any(guards.PYTHON.get(word) for word in words):
        return False
    if any(isinstance(one, Block) and not _are_torchs(one) for one in all_statements(method.statements)):
        return False
    calls = list(called_in(method))
    if any(last_name(call.callee) in guarded or last_name(call.callee) == method.name for call in calls):
        return False
    return any(_computes(call, method) for call in calls)


def _are_torchs(block: Block) -> bool:
    """Whether the context managers are PyTorch's, and so none of the project's own that may be guards."""
    return all(first_name(item.context) in ("torch", "open") for item in block.items)


def _computes(call: CallExpression, method: Body) -> bool:
    """Whether a call may compute what autograd records: not one that makes a new tensor, and nothing of Python's."""
    name, root = last_name(call.callee), first_name(call.callee)
    if name in _COMPUTES_NOTHING or is_factory_name(name):
        return False
    return root == "torch" or is_this(innermost_object(call.callee)) or simple_name(call.callee) in _given_to(method)


def _given_to(method: Body) -> set[str]:
    return {one.name for one in method.parameters}
