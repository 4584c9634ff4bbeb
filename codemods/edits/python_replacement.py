"""The old guard is replaced in Python, whatever form it takes."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator

from guardfix.linter import guards
from guardfix.linter.analysis.project import Project
from guardfix.linter.answered_once import answered_once
from guardfix.linter.decision import decide
from guardfix.linter.facts import Facts, Form, GuardUse, Span
from guardfix.linter.facts.expressions import first_name
from guardfix.linter.facts.python_model import PythonFacts, PythonUse
from guardfix.linter.facts.python_uses import use_behind
from guardfix.linter.findings import Context, Decision
from guardfix.linter.frontends.python.python_parsing import parse_python
from guardfix.linter.named_tuples import NamedTuple

from ..fix import Edit, Fix, insertion
from ..site import Site
from .hazards import hazards_in_words
from .replacement_doubts import doubts_about_the_context
from .statements import line_start, newline_of
from .with_blocks import body_under_guard, rest_of_block_under
from .with_items import item_removal

_NAMES = {
    Context.INFERENCE: guards.PYTHON_INFERENCE_MODE,
    Context.KERNEL: f"_C.{guards.C_BELOW_ADINPLACEORVIEW}",
    Context.BELOW_AUTOGRAD: f"_C.{guards.C_BELOW_AUTOGRAD}",
}


def python_replacement(site: Site) -> Fix | None:
    """The fix for one use of the old guard."""
    found, decision, facts = site.python_use, site.decision, site.facts
    replaced = _replaced(found, decision, facts, site.text, site.project) if found is not None else None
    if found is None or replaced is None or facts.python is None:
        return None
    gone = _import_to_take_out(site.project, facts, site.text, first_name(found.use.named))
    # The import goes with the fixes that leave no use of the name: with unsafe ones where one of them is unsafe.
    unneeded = gone.use if gone is not None and gone.is_doubtful == bool(replaced.doubts) else None
    edits = [*replaced.edits, *_import_edits(facts.python, site.text, unneeded)]
    message = f"replace {found.use.written} with {_spelling(facts, decision)}"
    dropped = _redundant_neighbours(found, facts, site.text) if decision.context is Context.INFERENCE else []
    if dropped:
        edits += dropped
        message += ", which makes no_grad redundant"
    return site.fix(message, edits, doubts=replaced.doubts)


class _Replaced(NamedTuple):
    """What replaces one use: the edits in its place, and why they may change the meaning."""

    edits: list[Edit]
    doubts: list[str]


def _replaced(found: PythonUse, decision: Decision, facts: Facts, text: bytes, project: Project) -> _Replaced | None:
    # Nothing is removed: a block that does nothing, or a backward that stops gradients, is for a person to take out.
    argument = found.use.argument
    if decision.context not in _NAMES or not (argument is None or argument.empty or argument.value is True):
        return None
    edits = _edits(text, found, _spelling(facts, decision), decision.context)
    return _Replaced(edits, list(_doubts(found, decision, facts, project))) if edits is not None else None


def _spelling(facts: Facts, decision: Decision) -> str:
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
        # The guards of torch._C can't be used as decorators.
        assert found.decorated is not None
        return body_under_guard(text, found.decorated, [use.span], guard)
    if use.form is Form.AUTO and found.entered:
        return [Edit(found.call_span, guard)]
    if use.form in (Form.AUTO, Form.TEMPORARY) and found.local:
        return rest_of_block_under(text, use, guard)
    if use.form is Form.ARGUMENT and found.called:
        return [Edit(found.call_span, guard)]
    return None


def _redundant_neighbours(found: PythonUse, facts: Facts, text: bytes) -> list[Edit]:
    """The edits that take out each `no_grad` that the inference mode makes redundant: beside it and inside it."""
    assert facts.python is not None
    end = found.target_span.end if found.target_span is not None else found.call_span.end
    edits: list[Edit] = []
    near = _no_grads(facts)
    for other in (*near.beside.get(found.use.span, ()), *near.inside.get(found.use.type_span, ())):
        span = other.call_span
        if found.use.form is Form.WITH and other.use.span == found.use.span:
            if _only_a_comma(text[end : span.start]):
                edits.append(Edit(Span(end, span.end), ""))
            elif _only_a_comma(text[span.end : found.call_span.start]):
                edits.append(Edit(Span(span.start, found.call_span.start), ""))
        elif other.use.form is Form.WITH and found.use.form in (Form.WITH, Form.DECORATOR):
            edits += (item_removal(text, other) if not other.target_used else None) or []
    return edits


class _NoGrads(NamedTuple):
    """A file's `no_grad()`s: by the statement that they are items of, and by the innermost guard around them."""

    beside: dict[Span, list[PythonUse]]
    inside: dict[Span, list[PythonUse]]


@answered_once
def _no_grads(facts: Facts) -> _NoGrads:
    found = _NoGrads(defaultdict(list), defaultdict(list))
    uses = facts.python.uses if facts.python is not None else ()
    for use in uses:
        if use.use.guard == guards.NO_GRAD and use.called and use.target_span is None:
            found.beside[use.use.span].append(use)
            if use.around and uses[use.around[-1]].use.span != use.use.span:
                found.inside[uses[use.around[-1]].use.type_span].append(use)
    return found


def _only_a_comma(between: bytes) -> bool:
    return between.strip() == b","


def _doubts(found: PythonUse, decision: Decision, facts: Facts, project: Project) -> Iterator[str]:
    """Why the edit is not safe; nothing when it is."""
    yield from doubts_about_the_context(decision)
    form = found.use.form
    if form is Form.TEMPORARY:
        yield "the object was freed at once, but the `with` lasts"
    elif form is Form.AUTO and found.entered:
        yield "the object is used in ways that guardfix doesn't follow"
    elif form is Form.AUTO and not _is_function_body(found.use, facts):
        yield "the object lived until the end of the function, but the `with` ends with its block"
    elif form is Form.ARGUMENT:
        yield "guardfix doesn't follow what happens to the object"
    if decision.context is Context.INFERENCE and facts.python is not None:
        yield from hazards_in_words(found.use, facts, project)


def _is_function_body(use: GuardUse, facts: Facts) -> bool:
    return use.function is not None and use.scope == facts.functions[use.function].body


class _UnneededImport(NamedTuple):
    """The import of the old name, when fixes replace every use of it in the file."""

    use: GuardUse
    is_doubtful: bool
    """One of those fixes is unsafe."""


# Asked for each use of a name, and the same for all of them.
@answered_once
def _import_to_take_out(project: Project, facts: Facts, text: bytes, name: str) -> _UnneededImport | None:
    found = next((use for use in facts.guard_uses if use.form is Form.IMPORT and use.variable == name), None)
    if found is None:
        return None
    uses = [
        use
        for use in facts.guard_uses
        if use is not found and use.guard == guards.LEGACY and first_name(use.named) == name
    ]
    replaced = []
    for use in uses:
        behind = use_behind(facts, use)
        replaced.append(
            _replaced(behind, decide(use, facts, project), facts, text, project) if behind is not None else None
        )
    if _mentions(text, name) != len(uses) or None in replaced:
        return None  # named in an `__all__` or in other code
    return _UnneededImport(found, any(one.doubts for one in replaced if one is not None))


def _mentions(text: bytes, name: str) -> int:
    """How often code names it: as a name, or as a string that is the name."""
    tree = parse_python(text.decode("utf-8"))
    return sum(
        (isinstance(node, ast.Name) and node.id == name) or (isinstance(node, ast.Constant) and node.value == name)
        for node in (ast.walk(tree) if tree is not None else ())
    )


def _import_edits(python: PythonFacts, text: bytes, gone: GuardUse | None) -> list[Edit]:
    """The edits that import torch where the file has it under no name, and take the import of `gone` out."""
    missing = not python.torch_name
    edits: list[Edit] = []
    if gone is not None:
        edits.append(_without_import(text, gone, "import torch" if missing else ""))
        missing = missing and edits[0].content == ""
    if missing:
        edits.append(insertion(python.imports_end, f"import torch{newline_of(text, 0).decode()}"))
    return edits


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
