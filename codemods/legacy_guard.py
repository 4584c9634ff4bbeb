"""GF101: a decision -> the edits that carry it out, for every form in which the old guard stands."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from guardfix.linter import guards
from guardfix.linter.analysis.dispatcher_bypass import bypasses_dispatcher
from guardfix.linter.analysis.inference_escapes import Hazard, escape_hazards
from guardfix.linter.analysis.project import Project
from guardfix.linter.analysis.redundancy import inference_mode_in_force, redundant_guards
from guardfix.linter.decision import decide
from guardfix.linter.facts import Facts, Form, GuardUse, Span
from guardfix.linter.facts.index import index_of
from guardfix.linter.findings import Applicability, Confidence, Context, Decision, Edit, Finding, Fix

from .edits.hoisting import hoisted
from .edits.includes import needed_include
from .edits.statements import removal
from .edits.variables import free_name, renaming, takes_new_name

NEW_NAME = {
    Context.INFERENCE: guards.INFERENCE_MODE,
    Context.KERNEL: guards.BELOW_ADINPLACEORVIEW,
    Context.BELOW_AUTOGRAD: guards.BELOW_AUTOGRAD,
}
_PLAIN = (Form.DECLARATION, Form.AUTO)
_EXPRESSION = (Form.AUTO, Form.TEMPORARY, Form.HEAP, Form.OPTIONAL, Form.REFERENCE, Form.TEMPLATE_ARGUMENT)
"""Forms whose constructor call keeps its brackets: `at::G(true)` -> `at::G()`."""

HOIST = "hoist"


@dataclass(frozen=True, slots=True)
class Site:
    """One finding with all that its edits depend on."""

    finding: Finding
    use: GuardUse
    facts: Facts
    project: Project
    text: bytes
    remove_redundant: bool = False

    @property
    def decision(self) -> Decision:
        assert self.finding.decision is not None
        return self.finding.decision


def fixes_for(site: Site) -> tuple[Fix | None, tuple[Fix, ...]]:
    """(the fix, further fixes that are offered on their own) for one use of the old guard."""
    context = site.decision.context
    if context is Context.UNKNOWN:
        return None, ()
    if context is Context.REMOVE:
        return _remove(site), ()
    if context is Context.KERNEL and site.remove_redundant and bypasses_dispatcher(site.use, site.facts, site.project):
        removed = _remove(site)
        if removed is not None:
            message = "remove the guard: autograd is off in `forward`, and what is called bypasses the dispatcher"
            return replace(removed, message=message), ()
    if site.use.form in (Form.ALIAS, Form.USING):
        return _alias(site), ()
    if context is Context.INFERENCE and (there := inference_mode_in_force(site.use, site.facts)) is not None:
        needless = _remove(site)
        if needless is not None:
            return _without_need(site, needless, there), ()
    return _replace(site)


# -- remove


def _remove(site: Site) -> Fix | None:
    use = site.use
    if use.form not in _PLAIN or use.shared or use.macro is not None or use.under_error or len(use.variable_spans) > 1:
        return None
    return Fix(
        "remove the guard: it covers nothing that it should cover; this changes what runs below it",
        Applicability.UNSAFE,
        (removal(site.text, use.span),),
    )


def _without_need(site: Site, removed: Fix, there: GuardUse) -> Fix:
    """What the replacement would be is there already; removing is as safe as replacing would be."""
    doubts = _doubts(site)
    row = site.facts.row(there.span.start)
    message = f"remove the guard: the {guards.INFERENCE_MODE} of line {row} does what its replacement would do"
    applicability = Applicability.UNSAFE if doubts else Applicability.SAFE
    return replace(removed, message="; ".join([message, *doubts]), applicability=applicability)


# -- replace


def _replace(site: Site) -> tuple[Fix | None, tuple[Fix, ...]]:
    use, context = site.use, site.decision.context
    name = NEW_NAME[context]
    argument = _argument_edits(site)
    if argument is None:
        return None, ()
    inference = context is Context.INFERENCE
    constant = use.argument is None or use.argument.empty or use.argument.value is True
    simple = inference and constant and use.macro is None and not _switches_grad_on_below(site)
    covered = redundant_guards(use, site.facts) if simple else []
    dropped = [other.span for other in covered]
    skip = _names_given_above(site) if takes_new_name(use) else 0
    drop_edits = [removal(site.text, span) for span in dropped]
    variable, renamed = renaming(use, site.facts, site.text, dropped, skip)
    if use.form is Form.MEMBER and _is_constructed_out_of_line(site):
        variable, renamed = use.variable or "", []
    edits = [*_type_edits(site), *argument, *drop_edits, *renamed, *_form_edits(site)]
    include = needed_include(site.facts, site.text, name) if inference else None
    if include is not None:
        edits.append(include)
    doubts = _doubts(site)
    applicability = Applicability.UNSAFE if doubts else Applicability.SAFE
    if use.form is Form.REFERENCE:
        applicability = Applicability.DISPLAY  # what else has to change with it is not in sight
    elif use.form in (Form.HEAP, Form.OPTIONAL) and _is_held_by_what_stays(site):
        applicability = Applicability.DISPLAY
        doubts.append("what makes the guard and the type that holds it must change together, and one of them stays")
    message = f"replace {use.written} by {_spelling(site)}"
    if dropped:
        message += f", which makes {_names(covered)} redundant"
    if doubts:
        message += "; " + "; ".join(doubts)
    fix = Fix(message, applicability, tuple(sorted(set(edits))))
    return fix, tuple(filter(None, [_hoist(site, dropped, variable, include, renamed)]))


def _names(covered: list[GuardUse]) -> str:
    return " and ".join(other.guard for other in covered)


def _is_held_by_what_stays(site: Site) -> bool:
    """Whether the edit would give a guard to a pointer of another type: a half that is not edited, or otherwise."""
    use = site.use
    beside = index_of(site.facts).uses.within(use.span)
    if any(other.form is Form.REFERENCE and other.guard == guards.LEGACY for other in beside):
        return True  # `at::G* guard = new at::G(true);`: nobody knows who else is given the pointer
    if _is_local(use) or _goes_into_a_local(use, site.facts):
        return False
    held = [
        (facts, other)
        for facts, other in _held_for_long(site.project)
        # What is made goes into what is declared; two things that are declared have nothing to do with each other.
        if _is_declaration(use) != _is_declaration(other) and other.alias == use.alias and _may_hold(use, other)
    ]
    return any(
        other.form is Form.REFERENCE or decide(other, facts, site.project).context is not site.decision.context
        for facts, other in held
    )


def _is_local(use: GuardUse) -> bool:
    """Whether a variable of the same block holds the guard."""
    return use.holder is not None and use.holder.declared and use.function is not None


def _goes_into_a_local(use: GuardUse, facts: Facts) -> bool:
    """`later.reset(new at::G(true));` where `later` is declared in a block around."""
    if use.function is None or use.holder is None or not use.holder.name:
        return False
    around = index_of(facts).uses.within(facts.enclosing(use.function)[-1].span)
    return any(
        _is_local(other) and other.holder is not None and other.holder.name == use.holder.name
        for other in around
        if other.scope.holds(use.span)
    )


def _may_hold(use: GuardUse, other: GuardUse) -> bool:
    """Whether one may be put into the other: they go by one name, or by none that is known."""
    names = {re.split(r"->|\.", held.holder.name)[-1] for held in (use, other) if held.holder and held.holder.name}
    return len(names) < 2


def _is_declaration(use: GuardUse) -> bool:
    """Whether the guard is named as the type of what holds it, and not where it is made."""
    return use.form is Form.REFERENCE or (use.holder is not None and use.holder.declared)


@lru_cache(maxsize=4)
def _held_for_long(project: Project) -> tuple[tuple[Facts, GuardUse], ...]:
    """Where, in any file, the old guard is put into what outlives a block: members, globals, what makes them."""
    return tuple(
        (facts, use)
        for facts in project
        for use in facts.guard_uses
        if use.guard == guards.LEGACY
        and (
            (use.form in (Form.HEAP, Form.OPTIONAL) and not _is_local(use))
            or (use.form is Form.REFERENCE and use.function is None)
        )
    )


def _spelling(site: Site) -> str:
    """How the replacement is written here."""
    use, context = site.use, site.decision.context
    name = NEW_NAME[context]
    if context is Context.INFERENCE:
        if _using_declaration_follows(site):
            return name
        return inference_qualifier(site.facts) + name
    if use.alias is not None:
        return f"at::{name}"
    prefix = use.written[: len(use.written) - len(guards.LEGACY)]
    if not prefix and _has_using_declaration(site.facts) and not _using_declaration_follows(site):
        return f"at::{name}"
    return prefix + name


@lru_cache(maxsize=4)
def inference_qualifier(facts: Facts) -> str:
    """The qualifier under which the file uses InferenceMode already; c10:: when it does not."""
    for other in facts.guard_uses:
        if other.guard == guards.INFERENCE_MODE and other.written in (
            "c10::InferenceMode",
            "at::InferenceMode",
            "torch::InferenceMode",
        ):
            return other.written.removesuffix(guards.INFERENCE_MODE)
    return "c10::"


def _type_edits(site: Site) -> list[Edit]:
    use = site.use
    if use.alias is not None:
        if _alias_decision(site.project, use.alias) == site.decision.context:
            return []  # the alias itself is changed
        return [Edit(use.type_span, _spelling(site))]
    return [Edit(use.type_span, _spelling(site))]


def _argument_edits(site: Site) -> list[Edit] | None:
    """The edits that drop the constructor's argument; None when the replacement cannot be built with it."""
    use, argument = site.use, site.use.argument
    edits = list(_emplaced(site))
    if use.shared and use.form is Form.DECLARATION and _has_more_declarators(site):
        return None  # each of them may be built differently
    if use.form is Form.BASE and _is_initialised_elsewhere(site):
        return None
    inference = site.decision.context is Context.INFERENCE
    if any(not built.empty and built.value is not True for built in use.built):
        return None  # what the argument was for is not in the code
    if use.form is Form.OPTIONAL and not inference:
        # The replacements take nothing, and `std::optional<at::H> g{}` would hold none.
        declared = [built for built in use.built if use.span.holds(built.span)]
        edits += [Edit(built.span, "(std::in_place)") for built in declared if not built.empty]
    if argument is None:
        return edits
    if not argument.empty and argument.value is not True:
        if not inference or argument.value is False:
            return None  # only InferenceMode can be switched, and what `false` was for is not in the code
        between = Span(use.variable_spans[0].end, argument.span.start) if use.variable_spans else None
        if between is not None and use.form is Form.DECLARATION and b"=" in site.text[slice(*between)]:
            edits.append(Edit(between, ""))
        return edits
    if use.form is Form.TEMPORARY and not use.shared:
        return edits  # named and rebuilt by _form_edits
    if use.form in _EXPRESSION:
        inner = Span(argument.span.start + 1, argument.span.end - 1)
        return edits if argument.empty else [*edits, Edit(inner, "")]
    # `at::G g(true)`, `at::G g{true}` and `at::G g = at::G(true)` all become `at::H g`.
    start = use.variable_spans[0].end if use.variable_spans else argument.span.start
    return [*edits, Edit(Span(start, argument.span.end), "")]


def _has_more_declarators(site: Site) -> bool:
    """`at::G a(true), b(true);`"""
    use = site.use
    end = use.argument.span.end if use.argument is not None else use.variable_spans[0].end
    return site.text[end : use.span.end].lstrip()[:1] == b","


def _is_initialised_elsewhere(site: Site) -> bool:
    """Whether a constructor of the deriving class builds the base with an argument."""
    written = site.use.written.rsplit("::", 1)[-1].encode()
    return re.search(rb"\b" + written + rb"\s*[({]\s*\w", site.text[site.use.type_span.end :]) is not None


_INITIALISED = re.compile(rb"\s*[({]\s*true\s*[)}]")


def _emplaced(site: Site) -> list[Edit]:
    """`true` where a member, an optional or a base is initialised in another place of the file."""
    use = site.use
    if use.form is Form.MEMBER:
        edits = []
        for place in use.variable_spans[1:]:
            match = _INITIALISED.match(site.text, place.end)
            if match is not None:
                edits.append(Edit(Span(place.end, match.end()), match.group().replace(b"true", b"").decode()))
        return edits
    if use.form in (Form.OPTIONAL, Form.HEAP):
        return [
            Edit(_inside_call(site.text, call.span), "")
            for call in index_of(site.facts).calls.within(use.scope)
            if call.name == "emplace" and call.arguments == ("true",) and call.receiver == _declared_name(site)
        ]
    return []


_NAME_BEHIND_TEMPLATE = re.compile(rb"\s*>\s*([A-Za-z_]\w*)")


def _declared_name(site: Site) -> str:
    """The variable of `std::optional<at::G> name;`."""
    match = _NAME_BEHIND_TEMPLATE.match(site.text, site.use.type_span.end)
    return match[1].decode() if match is not None else ""


def _inside_call(text: bytes, span: Span) -> Span:
    opening = text.rfind(b"(", span.start, span.end)
    return Span(opening + 1, span.end - 1)


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


# -- how safe


def _doubts(site: Site) -> list[str]:
    """Why the edit is not safe; empty when it is."""
    use, decision = site.use, site.decision
    doubts = []
    if decision.confidence is not Confidence.HIGH:
        doubts.append(f"the context is only {decision.confidence} confidence")
    if use.under_error:
        doubts.append("the parser was lost here")
    if use.form is Form.TEMPORARY and not use.shared:
        doubts.append("the temporary was destroyed at once, and the named guard is not")
    elif use.form is Form.VEXING_PARSE:
        doubts.append("this declared a function, and now declares a guard")
    elif use.form in (Form.STATIC, Form.GLOBAL):
        doubts.append("a guard with static storage sets the state of whichever thread initialises it")
    elif use.form not in (*_PLAIN, Form.MEMBER):
        doubts.append(f"the guard stands as {use.form.value}, and its scope is not certain")
    elif use.form is Form.MEMBER and not _is_guard_struct(site):
        doubts.append("a member guard lives as long as its object")
    if use.argument is not None and not use.argument.empty and use.argument.value is not True:
        doubts.append("the argument was asserted to be true, and switches InferenceMode now")
    if _loses_comment(site):
        doubts.append("a comment inside the declaration is lost")
    if use.form is Form.MEMBER and _is_constructed_out_of_line(site):
        doubts.append("a constructor is defined elsewhere and may initialise it")
    if decision.context is Context.INFERENCE and _switches_grad_on_below(site):
        doubts.append("grad mode is switched on again below, where nothing can be recorded any more")
    if use.shared:
        doubts.append("the declaration holds more than this guard")
    if decision.context is Context.INFERENCE:
        doubts += [hazard_in_words(hazard) for hazard in _hazards(site)[:3]]
    return doubts


def _loses_comment(site: Site) -> bool:
    """Whether a comment stands where the edits write; one that names the argument goes with the argument."""
    use = site.use
    if b"/*" in site.text[slice(*use.type_span)] or b"//" in site.text[slice(*use.type_span)]:
        return True
    if use.argument is None or use.argument.value is not True:
        return False
    start = use.variable_spans[0].end if use.variable_spans else use.argument.span.start
    text = re.sub(rb"/\*\s*\w+\s*=?\s*\*/\s*true", b"", site.text[start : use.argument.span.end])
    return b"/*" in text or b"//" in text


def _is_constructed_out_of_line(site: Site) -> bool:
    """Whether the class declares a constructor without a body."""
    if site.use.class_ is None:
        return False
    class_ = site.facts.classes[site.use.class_]
    pattern = rb"(?<![~\w])" + class_.name.encode() + rb"\s*\([^(){}]*\)\s*(?:noexcept\s*)?;"
    return re.search(pattern, site.text[slice(*class_.span)]) is not None


def _switches_grad_on_below(site: Site) -> bool:
    """Whether something under the guard wants gradients after all."""
    live = site.use.live
    places = index_of(site.facts)
    if any(call.name == "set_enabled" for call in places.calls.within(live)):
        return True
    return any(
        other.guard in ("AutoGradMode", guards.INFERENCE_MODE)
        and live.holds(other.span)
        and other.argument is not None
        and not other.argument.empty
        and other.argument.value is not (other.guard == guards.INFERENCE_MODE)
        and not (other.guard == "AutoGradMode" and other.argument.value is False)
        for other in places.others.within(live)
    )


def _hazards(site: Site) -> list[Hazard]:
    use = site.use
    if use.form is not Form.MEMBER:
        return escape_hazards(use, site.facts, site.project)
    name = site.facts.classes[use.class_].name if use.class_ is not None else ""
    return [
        hazard
        for facts, mention in site.project.mentions(name)
        for hazard in escape_hazards(mention, facts, site.project)
    ]


def hazard_in_words(hazard: Hazard) -> str:
    way_out = "clone it there, or move that code into the scope"
    return f"`{hazard.variable}` becomes an inference tensor and is {hazard.what} at line {hazard.row}: {way_out}"


def _is_guard_struct(site: Site) -> bool:
    """A class made of guards, whose objects are used like one."""
    if site.use.class_ is None:
        return False
    class_ = site.facts.classes[site.use.class_]
    return not class_.has_methods and all(
        re.sub(r"<.*", "", member.type).rsplit("::", 1)[-1] in guards.CPP
        or "Guard" in member.type
        or "Mode" in member.type
        for member in class_.members
    )


# -- hoist


def _hoist(site: Site, dropped: list[Span], variable: str, include: Edit | None, renamed: list[Edit]) -> Fix | None:
    """The guide says to guard the loading too: the guard, moved above a model load of the same scope."""
    use = site.use
    if site.decision.context is not Context.INFERENCE or use.form is not Form.DECLARATION or use.shared:
        return None
    if (
        use.macro is not None
        or use.alias is not None
        or (use.argument is not None and use.argument.value is None and not use.argument.empty)
    ):
        return None
    declaration = f"{_spelling(site)} {variable or 'guard'};"
    moved = hoisted(use, site.facts, site.text, declaration)
    if moved is None:
        return None
    drops = [removal(site.text, span) for span in dropped]
    elsewhere = [edit for edit in renamed if not use.span.holds(edit.span)]
    edits = {*moved, *drops, *elsewhere, *([include] if include else [])}
    message = "replace the guard and move it above the model load, which the migration guide says to guard too"
    doubts = [hazard_in_words(hazard) for hazard in _hazards(site)[:3]]
    return Fix("; ".join([message, *doubts]), Applicability.UNSAFE, tuple(sorted(edits)), HOIST)


# -- aliases


@lru_cache(maxsize=64)
def _alias_decision(project: Project, name: str) -> Context | None:
    """The context on which all uses through an alias agree; None when they do not, or one cannot follow.

    The alias and its uses change together or not at all, so an argument may only stand in the alias's own file.
    """
    contexts = set()
    for where, use in project.mentions(name):
        argument = use.argument
        if argument is not None and not argument.empty:
            defined_here = name in index_of(where).alias_names.values()
            if argument.value is not True or not defined_here:
                return None
        contexts.add(decide(use, where, project).context)
    return next(iter(contexts)) if len(contexts) == 1 else None


def _alias(site: Site) -> Fix | None:
    """The alias's target is changed when all uses through it want the same replacement."""
    use, context = site.use, site.decision.context
    name = index_of(site.facts).alias_names.get(use.span)
    if name is None or use.under_error:
        return None
    if use.form is Form.USING:
        if not _using_agrees(site.facts, site.project, context):
            return None
    elif _alias_decision(site.project, name) is not context:
        return None
    target = inference_qualifier(site.facts) if context is Context.INFERENCE else "at::"
    if context is not Context.INFERENCE and "::" in use.written:
        target = use.written[: len(use.written) - len(guards.LEGACY)]
    edits = [Edit(use.type_span, target + NEW_NAME[context])]
    for where, other in site.project.mentions(name):
        if where.path == site.facts.path and use.form is not Form.USING:
            edits += _argument_edits(replace(site, use=other)) or []
    if context is Context.INFERENCE:
        include = needed_include(site.facts, site.text, guards.INFERENCE_MODE)
        edits += [include] if include is not None else []
    confident = site.decision.confidence is Confidence.HIGH
    message = f"let `{name}` stand for {target}{NEW_NAME[context]}"
    if not confident:
        message += f"; the context is only {site.decision.confidence} confidence"
    return Fix(message, Applicability.SAFE if confident else Applicability.UNSAFE, tuple(edits))


@lru_cache(maxsize=4)
def _has_using_declaration(facts: Facts) -> bool:
    return any(use.guard == guards.LEGACY and use.form is Form.USING for use in facts.guard_uses)


def _using_agrees(facts: Facts, project: Project, context: Context) -> bool:
    return _contexts_of_the_bare_name(facts, project) <= {context}


@lru_cache(maxsize=4)
def _contexts_of_the_bare_name(facts: Facts, project: Project) -> frozenset[Context]:
    return frozenset(
        decide(other, facts, project).context
        for other in facts.guard_uses
        if other.guard == guards.LEGACY and other.written == guards.LEGACY and other.form is not Form.USING
    )


def _using_declaration_follows(site: Site) -> bool:
    """Whether the name is brought by a using declaration that this migration renames too."""
    return (
        site.use.written == guards.LEGACY
        and _has_using_declaration(site.facts)
        and _using_agrees(site.facts, site.project, site.decision.context)
    )
