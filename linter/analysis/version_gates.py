"""Guards in the branches of an `#if`: which branch holds the old guard, which the new one."""

from __future__ import annotations

from collections.abc import Iterator

from .. import guards
from ..facts import Branch, Conditional, Facts, GuardUse
from ..facts.index import index_of
from ..facts.version_conditions import mentions_torch_version
from .project import Project

NEW_GUARDS = frozenset({guards.INFERENCE_MODE, guards.BELOW_AUTOGRAD, guards.BELOW_ADINPLACEORVIEW})


def uses_in(branch: Branch, facts: Facts) -> list[GuardUse]:
    return list(index_of(facts).uses.within(branch.span))


def gates_around(use: GuardUse, facts: Facts) -> Iterator[tuple[Conditional, Branch]]:
    """The `#if`s around a use, innermost first, each with the branch in which it is."""
    return index_of(facts).branches.around(use.type_span)


def _asks_for_version(conditional: Conditional) -> bool:
    return any(mentions_torch_version(branch.condition) for branch in conditional.branches)


def _stand_in_one_place(use: GuardUse, other: GuardUse, facts: Facts) -> bool:
    """Whether two guards of an `#if`'s branches are each other's stand-in: in one function, or under one name."""
    return bool(_place_of(use, facts)) and _place_of(use, facts) == _place_of(other, facts)


def _place_of(use: GuardUse, facts: Facts) -> str:
    """The name of what a guard is in or is made of: a macro, a function, a class, an alias, a variable."""
    if use.macro is not None:
        return f"macro {use.macro}"
    if use.function is not None:
        return f"function {'::'.join(facts.enclosing(use.function)[-1].qualified)}"
    if use.class_ is not None:
        return f"class {'::'.join(facts.classes[use.class_].qualified)}"
    given = index_of(facts).alias_names.get(use.span, use.variable)
    return f"name {given}" if given else ""


def has_new_counterpart(use: GuardUse, facts: Facts, project: Project) -> bool:
    """Whether another branch of an `#if` around the use holds a new guard: then the old one is deliberate.

    A use through an alias is as deliberate as the alias.
    """
    if use.alias is None:
        return _has_new_counterpart(use, facts)
    return _has_new_alias(use.alias, project)


class _AliasCounterparts(dict[str, bool]):
    """Of an alias's name: whether one that is called so is deliberate."""


def _has_new_alias(name: str, project: Project) -> bool:
    known = project.memory(_AliasCounterparts)
    waiting, seen = [name], {"", name}
    while waiting and name not in known:  # aliases of aliases can be many
        for facts, use in project.alias_uses(waiting.pop()):
            if use.alias is None:
                if _has_new_counterpart(use, facts):
                    known[name] = True
            elif known.get(use.alias):
                known[name] = True
            elif use.alias not in seen and use.alias not in known:
                seen.add(use.alias)
                waiting.append(use.alias)
    if name not in known:
        known.update(dict.fromkeys(seen, False))
    return known[name]


def _has_new_counterpart(use: GuardUse, facts: Facts) -> bool:
    return any(
        _asks_for_version(conditional) or _stand_in_one_place(use, other, facts)
        for conditional, own in gates_around(use, facts)
        for other in index_of(facts).others.within(conditional.span)
        if other.guard in NEW_GUARDS and not own.span.holds(other.type_span)
    )
