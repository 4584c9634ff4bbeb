"""Guards that are put into what outlives a block: who holds a guard and who makes it must change together."""

from __future__ import annotations

from itertools import chain

from guardfix.linter import guards
from guardfix.linter.analysis.project import Project
from guardfix.linter.answered_once import answered_once
from guardfix.linter.decision import decide
from guardfix.linter.facts import Facts, Form, GuardUse
from guardfix.linter.facts.index import holders_of_guards, index_of
from guardfix.linter.findings import Context

from ..site import Site


def is_held_by_what_stays(site: Site) -> bool:
    """Whether the edit would give a guard to a pointer of another type: a half that is not edited, or otherwise."""
    use = site.use
    beside = index_of(site.facts).uses.within(use.span)
    if any(other.form is Form.REFERENCE and other.guard == guards.LEGACY for other in beside):
        return True  # `at::G* guard = new at::G(true);`: who else is given the pointer is not known
    if _is_local(use) or _goes_into_a_local(use, site.facts):
        return False
    # What is made goes into what is declared; two things that are declared have nothing to do with each other.
    held = _contexts_held(site.project, not _is_declaration(use), use.alias, _name_of_holder(use))
    return not held <= {site.decision.context}


def _is_local(use: GuardUse) -> bool:
    """Whether a variable of the same block holds the guard."""
    return use.holder is not None and use.holder.declared and use.function is not None


def _goes_into_a_local(use: GuardUse, facts: Facts) -> bool:
    """`later.reset(new at::G(true));` where `later` is declared in a block around."""
    if use.function is None or use.holder is None or not use.holder.name:
        return False
    blocks = holders_of_guards(facts).get(use.holder.name)
    return blocks is not None and next(blocks.around(use.span), None) is not None


def _name_of_holder(use: GuardUse) -> str:
    return use.holder.last if use.holder is not None and use.holder.name else ""


def _is_declaration(use: GuardUse) -> bool:
    """Whether the guard is named as the type of what holds it, and not where it is made."""
    return use.form is Form.REFERENCE or (use.holder is not None and use.holder.declared)


@answered_once
def _contexts_held(project: Project, declared: bool, alias: str | None, name: str) -> frozenset[Context | None]:
    """What the guards are for that may be put into each other: those that go by one name, or by none that is known.

    None stands for one that is a type alone.
    """
    by_name = _held_for_long(project).get((declared, alias), {})
    held = [*by_name.get(name, ()), *by_name.get("", ())] if name else chain.from_iterable(by_name.values())
    return frozenset(None if use.form is Form.REFERENCE else decide(use, facts, project).context for facts, use in held)


@answered_once
def _held_for_long(project: Project) -> dict[tuple[bool, str | None], dict[str, list[tuple[Facts, GuardUse]]]]:
    """Where, in any file, the old guard is put into what outlives a block: members, globals, what makes them.

    By whether it is declared there and by its alias, and then by the name of what holds it.
    """
    found: dict[tuple[bool, str | None], dict[str, list[tuple[Facts, GuardUse]]]] = {}
    for facts in project:
        for use in facts.guard_uses:
            if use.guard == guards.LEGACY and (
                (use.form in (Form.HEAP, Form.OPTIONAL) and not _is_local(use))
                or (use.form is Form.REFERENCE and use.function is None)
            ):
                by_name = found.setdefault((_is_declaration(use), use.alias), {})
                by_name.setdefault(_name_of_holder(use), []).append((facts, use))
    return found
