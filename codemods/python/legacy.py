"""GF101 in Python: a decision -> the edits that carry it out, for every form in which the old guard stands."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from guardfix.linter import guards
from guardfix.linter.analysis.project import Project
from guardfix.linter.decision import decide
from guardfix.linter.facts import Facts, Form, GuardUse, Span
from guardfix.linter.facts.python_model import PythonUse, use_behind
from guardfix.linter.findings import Applicability, Confidence, Context, Decision, Edit, Fix
from guardfix.linter.frontends.python.python_parsing import parse_python

from ..edits.statements import line_start, newline_of
from .decorators import body_under_guard
from .redundant import take_out
from .scopes import rest_of_block_under
from .site import PythonSite

_NAMES = {
    Context.INFERENCE: guards.PYTHON_INFERENCE_MODE,
    Context.KERNEL: f"_C.{guards.C_BELOW_ADINPLACEORVIEW}",
    Context.BELOW_AUTOGRAD: f"_C.{guards.C_BELOW_AUTOGRAD}",
}


def fix_for(site: PythonSite) -> Fix | None:
    """The fix for one use of the old guard."""
    decision = site.finding.decision
    assert decision is not None
    if decision.context is Context.REMOVE:
        return None  # a block that does nothing, or a backward that stops gradients: a person takes it out
    if decision.context not in _NAMES or not _mode_is_true(site.found):
        return None
    edits = _edits(site.text, site.found, _replacement(site.facts, decision), decision.context)
    if edits is None:
        return None
    doubts = list(_doubts(site, decision))
    applicability = Applicability.UNSAFE if doubts else Applicability.SAFE
    edits = [*edits, *_imports(site, applicability)]
    message = f"replace {site.found.use.written} by {_replacement(site.facts, decision)}"
    dropped = _redundant_neighbours(site) if decision.context is Context.INFERENCE else []
    if dropped:
        edits += dropped
        message += ", which makes no_grad redundant"
    return Fix("; ".join([message, *doubts]), applicability, tuple(edits))


def _mode_is_true(found: PythonUse) -> bool:
    argument = found.use.argument
    return argument is None or argument.empty or argument.value is True


def _replacement(facts: Facts, decision: Decision) -> str:
    torch = facts.python.torch_name if facts.python is not None else ""
    return f"{torch or 'torch'}.{_NAMES[decision.context]}()"


def _edits(text: bytes, found: PythonUse, guard: str, context: Context) -> list[Edit] | None:
    use = found.use
    if use.form is Form.WITH and found.called:
        edits = [Edit(found.call_span, guard)]
        if found.target_span is not None:
            if found.target_used:
                return None
            edits.append(Edit(found.target_span, ""))
        return edits
    if use.form is Form.DECORATOR and found.called:
        if context is Context.INFERENCE:
            return [Edit(found.call_span, guard)]
        # The guards of torch._C are no decorators.
        assert found.decorated is not None
        return body_under_guard(text, found.decorated, [use.span], guard)
    if use.form is Form.AUTO and found.entered:
        return [Edit(found.call_span, guard)]
    if use.form in (Form.AUTO, Form.TEMPORARY) and found.local:
        return rest_of_block_under(text, use, guard)
    if use.form is Form.ARGUMENT and found.called:
        return [Edit(found.call_span, guard)]
    return None


def _redundant_neighbours(site: PythonSite) -> list[Edit]:
    """The edits that take out each `no_grad` that the inference mode makes redundant: beside it and inside it."""
    facts, found, text = site.facts, site.found, site.text
    assert facts.python is not None
    uses = facts.python.uses
    end = found.target_span.end if found.target_span is not None else found.call_span.end
    edits: list[Edit] = []
    for other in uses:
        if other.use.guard != guards.NO_GRAD or not other.called or other.target_span is not None:
            continue
        span = other.call_span
        if found.use.form is Form.WITH and other.use.span == found.use.span:
            if _only_a_comma(text[end : span.start]):
                edits.append(Edit(Span(end, span.end), ""))
            elif _only_a_comma(text[span.end : found.call_span.start]):
                edits.append(Edit(Span(span.start, found.call_span.start), ""))
        elif (
            other.use.form is Form.WITH
            and other.around
            and uses[other.around[-1]] is found
            and found.use.form in (Form.WITH, Form.DECORATOR)
        ):
            fix = take_out(replace(site, found=other))
            edits += fix.edits if fix is not None else ()
    return edits


def _only_a_comma(between: bytes) -> bool:
    return between.strip() == b","


def _doubts(site: PythonSite, decision: Decision) -> Iterator[str]:
    """Why the edit is not safe; nothing when it is."""
    found, facts = site.found, site.facts
    if decision.confidence is not Confidence.HIGH:
        yield f"the context is only {decision.confidence} confidence"
    form = found.use.form
    if form is Form.TEMPORARY:
        yield "the object was freed at once, and the `with` is not"
    elif form is Form.AUTO and found.entered:
        yield "the object is used in ways that are not followed"
    elif form is Form.AUTO and not _is_function_body(found.use, facts):
        yield "the object lived to the end of the function, and the `with` ends with its block"
    elif form is Form.ARGUMENT:
        yield "what becomes of the object is not followed"
    if decision.context is Context.INFERENCE and facts.python is not None:
        for escape in facts.python.escapes:
            if facts.python.uses[escape.use] is found:
                row = facts.row(escape.span.start)
                yield (
                    f"`{escape.variable}` becomes an inference tensor and is {escape.what} at line {row}: "
                    "clone it there, or move that code into the block"
                )


def _is_function_body(use: GuardUse, facts: Facts) -> bool:
    return use.function is not None and use.scope == facts.functions[use.function].body


# -- imports


def _imports(site: PythonSite, applicability: Applicability) -> list[Edit]:
    """`import torch` where it is missing, and the old name's import taken out where nothing else needs it."""
    facts, text = site.facts, site.text
    assert facts.python is not None
    edits: list[Edit] = []
    gone = _unneeded_import(site, applicability)
    missing = not facts.python.torch_name
    if gone is not None:
        edits.append(_without_import(text, gone, "import torch" if missing else ""))
        missing = missing and edits[0].content == ""
    if missing:
        place = facts.python.imports_end
        newline = newline_of(text, 0).decode()
        edits.append(Edit(Span(place, place), f"import torch{newline}"))
    return edits


def _unneeded_import(site: PythonSite, applicability: Applicability) -> GuardUse | None:
    """The import of the old name, when every use of that name in the file is replaced by fixes of this kind."""
    found, worst = _import_to_take_out(site.facts, site.project, site.text, site.found.use.written.split(".")[0])
    return found if applicability is worst else None


# Asked for each use of a name, and the same for all of them.
@lru_cache(maxsize=8)
def _import_to_take_out(
    facts: Facts, project: Project, text: bytes, name: str
) -> tuple[GuardUse | None, Applicability | None]:
    """The import of the old name, and the kind of fixes that leave no use of it; None where one stays."""
    found = next((use for use in facts.guard_uses if use.form is Form.IMPORT and use.variable == name), None)
    if found is None:
        return None, None
    kinds = []
    for use in facts.guard_uses:
        if use is not found and use.guard == guards.LEGACY and use.written.split(".")[0] == name:
            kinds.append(_applicability(use, facts, project, text))
    if _mentions(text, name) != len(kinds) or None in kinds:
        return None, None  # named in an `__all__` or in other code
    return found, Applicability.UNSAFE if Applicability.UNSAFE in kinds else Applicability.SAFE


def _applicability(use: GuardUse, facts: Facts, project: Project, text: bytes) -> Applicability | None:
    found = use_behind(facts, use)
    if found is None or not _mode_is_true(found):
        return None
    decision = decide(use, facts, project)
    if decision.context not in _NAMES:
        return None
    if _edits(text, found, _replacement(facts, decision), decision.context) is None:
        return None
    from guardfix.linter.rules.gf101_legacy_guard import RULE

    finding = RULE.at(facts, use.type_span, "", use=use, decision=decision)
    site = PythonSite(finding, found, facts, project, text)
    return Applicability.UNSAFE if list(_doubts(site, decision)) else Applicability.SAFE


def _mentions(text: bytes, name: str) -> int:
    """How often code names it: as a name, or as a string that is the name."""
    tree = parse_python(text.decode("utf-8"))
    return sum(
        (isinstance(node, ast.Name) and node.id == name) or (isinstance(node, ast.Constant) and node.value == name)
        for node in (ast.walk(tree) if tree is not None else ())
    )


def _without_import(text: bytes, use: GuardUse, instead: str) -> Edit:
    if use.shared:
        # `from ops import A, Old, B`: the name goes, with the comma on one side.
        behind = re.compile(rb"\s*,\s*").match(text, use.type_span.end)
        if behind is not None:
            return Edit(Span(use.type_span.start, behind.end()), "")
        before = re.compile(rb",\s*$").search(text[use.span.start : use.type_span.start])
        start = use.span.start + before.start() if before else use.type_span.start
        return Edit(Span(start, use.type_span.end), "")
    if instead:
        return Edit(use.span, instead)
    start = line_start(text, use.span.start)
    match = re.compile(rb"[ \t]*(?:\r\n|\n|\r|$)").match(text, use.span.end)
    if text[start : use.span.start].strip() or match is None:
        return Edit(use.span, "pass")
    return Edit(Span(start, match.end()), "")
