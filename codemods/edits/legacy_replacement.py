"""The old guard is replaced in C++: type, argument, name, neighbours and include, or moved above the model load too."""

from __future__ import annotations

from msgspec.structs import replace

from guardfix.linter.analysis.redundancy import redundant_guards
from guardfix.linter.facts import Form, GuardUse, Span
from guardfix.linter.facts.index import index_of
from guardfix.linter.findings import Applicability, Context

from ..fix import HOIST, Edit, Fix
from ..site import Site
from .compat_gates import gated_edits
from .constructor_arguments import argument_edits
from .guard_aliases import agreed_context
from .guard_comment_edits import doubts_of_comments, removal_with_comments
from .guard_spelling import NEW_NAME, spelling
from .hazards import hazards_in_words
from .hoisting import hoisted
from .includes import needed_include
from .intent_edits import intent_edits, intent_that_goes, is_preserved
from .long_lived_guards import is_held_by_what_stays
from .replacement_doubts import doubts_about, is_constructed_out_of_line, switches_grad_on_below
from .variables import free_name, renaming, takes_new_name

_MOST_TAKEN_ALONG = 16
"""Redundant guards that go with one edit; of more, the others are found in the next pass."""


def replacement(site: Site) -> Fix | None:
    """The fix that replaces the guard, with a further one that also moves it up; None where nothing fits."""
    use, context = site.use, site.decision.context
    name = NEW_NAME[context]
    argument = argument_edits(site.use, site)
    if argument is None:
        return None
    inference = context is Context.INFERENCE
    constant = use.argument is None or use.argument.empty or use.argument.value is True
    # With both torches the old guard stays, and with it what the new one would make redundant, and its name.
    compat = site.choice.compat
    simple = inference and constant and use.macro is None and not switches_grad_on_below(site) and not compat
    covered = redundant_guards(use, site.facts, _MOST_TAKEN_ALONG) if simple else []
    dropped = [other.span for other in covered]
    doubts_dropped = [doubt for other in covered for doubt in doubts_of_comments(other, site.facts)]
    skip = _names_given_above(site) if takes_new_name(use) else 0
    drop_edits = [edit for other in covered for edit in removal_with_comments(site.text, other)]
    variable, renamed = renaming(use, site.facts, site.text, dropped, skip)
    if compat or (use.form is Form.MEMBER and is_constructed_out_of_line(site)):
        variable, renamed = use.variable or "", []
    edits = [*_type_edits(site), *argument, *drop_edits, *renamed, *_form_edits(site), *intent_edits(site)]
    include = needed_include(site, name) if inference else None
    if include is not None:
        edits.append(include)
    doubts = [*doubts_about(site), *doubts_dropped]
    at_most = Applicability.SAFE
    if use.form is Form.REFERENCE:
        at_most = Applicability.DISPLAY  # what else has to change with it is not in sight
    elif use.under_error and (use.shared or use.form is Form.TEMPORARY) and not use.is_branch:
        at_most = Applicability.DISPLAY  # what it is a part of is anybody's guess
    elif use.form in (Form.HEAP, Form.OPTIONAL) and is_held_by_what_stays(site):
        at_most = Applicability.DISPLAY
        doubts.append("the guard's construction and the type that holds it must change together, but one of them can't")
    message = f"replace {use.written} with {spelling(site)}"
    if _follows_its_alias(site):
        message = f"{use.written} will stand for {spelling(site)}"
    if is_preserved(site):
        message += ", which is what it has been since torch 1.9: the code keeps doing what it does today"
    if compat:
        gated = gated_edits(site, edits)
        if gated is None:
            return None
        return site.fix(f"{message} for torch 1.9 and newer", sorted(set(gated)), doubts=doubts, at_most=at_most)
    if dropped:
        message += f", which makes {_names(covered)} redundant"
    moved = _hoist(site, variable, include, renamed, drops_more=simple)
    return site.fix(message, sorted(set(edits)), doubts=doubts, at_most=at_most, further=(moved,) if moved else ())


def _names(covered: list[GuardUse]) -> str:
    return " and ".join(other.guard for other in covered)


def _type_edits(site: Site) -> list[Edit]:
    return [] if _follows_its_alias(site) else [Edit(site.use.type_span, spelling(site))]


def _follows_its_alias(site: Site) -> bool:
    """Whether the alias through which the guard is named is changed, and the name stays."""
    return site.use.alias is not None and agreed_context(site, site.use.alias) is site.decision.context


def _form_edits(site: Site) -> list[Edit]:
    """A temporary gets a name, a vexing parse loses its brackets: the guard comes to life."""
    use = site.use
    if use.form is not Form.TEMPORARY or use.shared or use.argument is None:
        return []
    name = free_name(site.facts, site.text, use, skip=_names_given_above(site))
    if use.argument.empty or use.argument.value is True:
        return [Edit(Span(use.type_span.end, use.argument.span.end), f" {name}")]
    return [Edit(Span(use.type_span.end, use.argument.span.start), f" {name}")]


def _names_given_above(site: Site) -> int:
    beside = index_of(site.facts).uses_by_scope.get(site.use.scope, ())
    return sum(1 for other in beside if _takes_a_name_above(other, site.use))


def _takes_a_name_above(other: GuardUse, use: GuardUse) -> bool:
    """Whether another use of the same block is given a new name before this one."""
    return other.scope == use.scope and other.span < use.span and takes_new_name(other)


def _hoist(site: Site, variable: str, include: Edit | None, renamed: list[Edit], *, drops_more: bool) -> Fix | None:
    """The guide says to guard the loading too: the guard, moved above a model load of the same scope.

    What it makes redundant is decided for its new place.
    """
    use = site.use
    if site.decision.context is not Context.INFERENCE or use.form is not Form.DECLARATION or use.shared:
        return None
    if (
        use.macro is not None
        or use.alias is not None
        or (use.argument is not None and use.argument.value is None and not use.argument.empty)
    ):
        return None
    declaration = f"{spelling(site)} {variable or 'guard'};"
    moved = hoisted(use, site.facts, site.text, declaration)
    if moved is None:
        return None
    start = moved[0].span.start
    covered = (
        redundant_guards(replace(use, span=Span(start, start)), site.facts, _MOST_TAKEN_ALONG) if drops_more else []
    )
    drops = [edit for other in covered for edit in removal_with_comments(site.text, other)]
    elsewhere = [edit for edit in renamed if not use.span.holds(edit.span)]
    comment = intent_that_goes(site)
    if comment is not None and moved[1].span.holds(comment):
        gone = site.text[slice(*comment)].decode("utf-8", "replace")
        head, _, tail = moved[0].content.partition(gone)
        moved[0] = Edit(moved[0].span, head.rstrip(" \t") + tail)
    elif comment is not None:
        drops += intent_edits(site)
    edits = {*moved, *drops, *elsewhere, *([include] if include else [])}
    message = (
        "replace the guard and move it above the model load, which the migration guide says should also be covered"
    )
    if covered:
        message += f"; this makes {_names(covered)} redundant"
    return site.fix(
        message,
        sorted(edits),
        doubts=hazards_in_words(site.use, site.facts, site.project),
        at_most=Applicability.UNSAFE,
        name=HOIST,
    )
