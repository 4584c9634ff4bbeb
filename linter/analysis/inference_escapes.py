"""What could break when a scope runs under `c10::InferenceMode`: tensors that leave it and are changed later.

A tensor made under InferenceMode is an inference tensor. Outside, it cannot be changed in place, cannot be
given `requires_grad`, and cannot be saved for backward. Everything here is as far as one file shows it.
Reference: https://pytorch.org/cppdocs/notes/inference_mode.html.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from ..facts import Assignment, Call, Facts, Function, GuardUse, Span
from ..facts.index import index_of
from ..facts.spans import Sorted
from .coverage import inference_mode_at, is_expected_to_throw, is_run_in_place
from .declared_types import declared_type
from .project import Project

_IN_PLACE = re.compile(r"^[a-zA-Z]\w*[^_]_$")
_NOT_TENSOR = re.compile(r"^(?:std|env|jenv|this)$")


@dataclass(frozen=True, slots=True)
class Hazard:
    """One place outside the scope where an inference tensor would raise."""

    variable: str
    what: str
    """`changed in place`, `given requires_grad`, `saved for backward`, `used in a differentiated computation`."""
    span: Span
    row: int


def escape_hazards(use: GuardUse, facts: Facts, project: Project) -> list[Hazard]:
    """Hazards of turning this use into InferenceMode. Rather one too many than one too few."""
    function = facts.functions[use.function] if use.function is not None else None
    if function is None:
        return []
    made = _made_inside(use, facts)
    if function.immediately_invoked:
        # `auto out = [&] { guard; return model.forward(x); }();`
        held = (a for a in facts.assignments if a.span.holds(function.span))
        made |= {name for a in held for name in _targets(a.target)}
    whole = facts.enclosing(use.function)[-1]
    assignments = index_of(facts).assignments
    local = {a.target for a in assignments.within(whole.span) if a.declares}
    local |= {parameter.name for parameter in function.parameters}
    inside = {a.target for a in assignments.within(use.scope) if a.declares} - _returned_names(use, facts)
    # In a loop, what stands above the scope runs after it too: all of the function counts.
    found = list(_possible_mutations(made - inside, whole.body, facts, exclude=use.scope))
    shared = {name for name in made if name not in local}
    if shared:
        everywhere = _possible_mutations(shared, Span(0, sys.maxsize), facts, exclude=use.scope)
        found += [hazard for hazard in everywhere if not _is_local_there(hazard, facts)]
    found += _in_callers(use.live, made, function, facts, _DEPTH)
    return list({hazard.span: hazard for hazard in found}.values())


def _is_local_there(hazard: Hazard, facts: Facts) -> bool:
    """Whether the function around a hazard has a variable of its own of that name."""
    for function in facts.functions:
        if not function.span.holds(hazard.span):
            continue
        if any(parameter.name == hazard.variable for parameter in function.parameters):
            return True
        if any(a.declares and a.target == hazard.variable and function.span.holds(a.span) for a in facts.assignments):
            return True
    return False


_DEPTH = 3
"""How many functions of the file a result is followed through."""


def _made_inside(use: GuardUse, facts: Facts) -> set[str]:
    """Names that are given a value under the guard, or are given one to hold."""
    names = {
        name
        for assignment in index_of(facts).assignments.within(use.live)
        if assignment.operator == "="
        for name in _targets(assignment.target)
    }
    names |= {
        _root(call.receiver) for call in index_of(facts).calls.within(use.live) if call.name in _HOLDS and call.receiver
    }
    return names - {""}


_HOLDS = frozenset({"push_back", "emplace_back", "insert", "emplace", "copy_", "set_", "append"})
_VIEWS = re.compile(
    r"^\W*(?P<name>[A-Za-z_]\w*)(?:$|\[|(?:\.|->)(?:view|view_as|reshape|select|slice|narrow|transpose|t|permute|squeeze"
    r"|unsqueeze|index|detach|expand|flatten|diagonal|unbind|split|chunk|alias|at|front|back|get|toTensor)\b(?!_))"
)


def _targets(target: str) -> list[str]:
    """The names that an assignment's left side gives a value: `a`, `std::tie(a,b)`, `[a,b]`, `*out`."""
    match = re.match(r"(?:std::tie\(|&{0,2}\[)([^()\[\]]*)[)\]]$", target)
    if match is not None:
        return [_root(part) for part in match[1].split(",")]
    return [_root(target)]


def _returned_names(use: GuardUse, facts: Facts) -> set[str]:
    return {word for returned in index_of(facts).returns.within(use.scope) for word in _words(returned.value)}


def _possible_mutations(names: set[str], span: Span, facts: Facts, exclude: Span | None) -> list[Hazard]:
    """Places in the span where one of the names, or a view of it, may be changed as inference tensors may not be."""
    if not names:
        return []
    changes = _changes_of(facts)
    for assignment in changes.views.within(span):
        if exclude and exclude.holds(assignment.span):
            continue
        match = _VIEWS.match(assignment.value)
        if match is not None and match["name"] in names:
            names = names | set(_targets(assignment.target))
    found = list(_mutations(names, span, facts, exclude))
    given = [
        (call, name)
        for name in names
        for call in changes.given.get(name, ())
        if span.holds(call.span) and not (exclude and exclude.holds(call.span))
    ]
    found += [_hazard(name, "changed in place", call.span, facts) for call, name in sorted(given, key=_by_place)]
    backwards = [c for c in changes.backwards.within(span) if not (exclude and exclude.holds(c.span))]
    for call in backwards:
        for name in sorted(_words(" ".join((call.receiver, *call.arguments))) & names):
            found.append(_hazard(name, "used in a computation that is differentiated", call.span, facts))
    if backwards:
        for assignment in index_of(facts).assignments.within(span):
            if exclude and exclude.holds(assignment.span):
                continue
            for name in sorted(_words(assignment.value) & names - set(_targets(assignment.target))):
                found.append(_hazard(name, "used in a computation that is differentiated", assignment.span, facts))
    return found


@dataclass(frozen=True, slots=True)
class _Changes:
    """What a file changes, by variable: a function may hold many guards, and each asks for its own tensors."""

    mutating: dict[str, list[tuple[Call, str]]]
    """By receiver, the methods that an inference tensor does not allow, each with what it does."""
    given: dict[str, list[Call]]
    """By first argument, the calls of functions that change it: `torch::relu_(x)`, `at::add_out(x, …)`."""
    assigned: dict[str, list[Assignment]]
    """`x += y`, `x[0] = y`."""
    saves: Sorted[Call]
    backwards: Sorted[Call]
    views: Sorted[Assignment]
    """Assignments of what may be a view."""


@lru_cache(maxsize=16)
def _changes_of(facts: Facts) -> _Changes:
    mutating: dict[str, list[tuple[Call, str]]] = defaultdict(list)
    given: dict[str, list[Call]] = defaultdict(list)
    assigned: dict[str, list[Assignment]] = defaultdict(list)
    for call in facts.calls:
        what = _mutates(call)
        if what:
            mutating[_root(call.receiver)].append((call, what))
        if not call.receiver and call.arguments and (_IN_PLACE.match(call.name) or call.name.endswith("_out")):
            given[_root(call.arguments[0].lstrip("&*"))].append(call)
    for assignment in facts.assignments:
        if assignment.declares:
            continue
        variable = _root(assignment.target)
        if assignment.operator != "=" or assignment.target.startswith(variable + "["):
            assigned[variable].append(assignment)
    return _Changes(
        mutating,
        given,
        assigned,
        saves=Sorted((c for c in facts.calls if c.name == "save_for_backward"), _place),
        backwards=Sorted((c for c in facts.calls if _differentiates(c)), _place),
        views=Sorted((a for a in facts.assignments if a.operator == "=" and _VIEWS.match(a.value)), _place),
    )


def _differentiates(call: Call) -> bool:
    return call.name == "backward" or call.callee.endswith("autograd::grad")


def _place(item: Call | Assignment) -> Span:
    return item.span


def _by_place(item: tuple[Call | Assignment, str]) -> tuple[int, int]:
    """In the file's order; of calls that begin together the outer one first."""
    return item[0].span.start, -item[0].span.end


def _root(target: str) -> str:
    """`out` of `out[0]`, `this->out` of `this->out`, `result` of `result.x`."""
    match = re.match(r"(?:this->)?[A-Za-z_]\w*", target)
    return match[0] if match else ""


def _mutations(names: set[str], span: Span, facts: Facts, exclude: Span | None) -> Iterator[Hazard]:
    """Places in the span where one of the names is changed as inference tensors may not be."""
    if not names or span.start >= span.end:
        return
    changes = _changes_of(facts)

    def counts(place: Span) -> bool:
        return span.holds(place) and not (exclude and exclude.holds(place))

    called = [
        (call, name, what) for name in names for call, what in changes.mutating.get(name, ()) if counts(call.span)
    ]
    for call in changes.saves.within(span):
        if counts(call.span):
            kept = _words(" ".join(call.arguments)) & names
            called += [(call, name, "saved for backward") for name in sorted(kept)]
    for call, name, what in sorted(called, key=lambda item: (*_by_place(item[:2]), item[1])):
        yield _hazard(name, what, call.span, facts)
    changed = [(a, name) for name in names for a in changes.assigned.get(name, ()) if counts(a.span)]
    if any(counts(call.span) for call in changes.backwards.within(span)):
        declared = (a for a in index_of(facts).assignments.within(span) if a.declares and counts(a.span))
        used = [(a, name) for a in declared for name in sorted(_words(a.value) & names)]
    else:
        used = []
    for assignment, name in sorted([*changed, *used], key=_by_place):
        what = "used in a computation that is differentiated" if assignment.declares else "changed in place"
        yield _hazard(name, what, assignment.span, facts)


def _mutates(call: Call) -> str:
    if call.name in ("requires_grad_", "set_requires_grad"):
        return "" if call.arguments[:1] == ("false",) else "given requires_grad"
    if call.name == "backward":
        return "differentiated"
    if _IN_PLACE.match(call.name) and not _NOT_TENSOR.match(call.receiver):
        return "changed in place"
    return ""


def _in_callers(live: Span, made: set[str], function: Function, facts: Facts, depth: int) -> Iterator[Hazard]:
    """Results that the function gives back, followed into its callers in the same file."""
    if depth == 0 or function.is_lambda or not function.name:
        return
    returned = list(index_of(facts).returns.within(function.body))
    gives_back = any(live.holds(r.span) or _words(r.value) & made for r in returned)
    by_reference = [
        index
        for index, parameter in enumerate(function.parameters)
        if parameter.name in made and ("&" in parameter.type or "*" in parameter.type)
    ]
    if not gives_back and not by_reference:
        return
    for call in _calls_of(facts).get(function.name, ()):
        if function.span.holds(call.span) or call.function is None:
            continue
        caller = facts.functions[call.function]
        names = {_root(call.arguments[i].lstrip("&*")) for i in by_reference if i < len(call.arguments)} - {""}
        if gives_back:
            here = index_of(facts)
            given = here.assignments.within(caller.span)
            names |= {name for a in given if _is_value_of(call, a) for name in _targets(a.target)} - {""}
            for outer in here.calls.within(caller.span):
                if outer.receiver and outer.span.start == call.span.start and outer.span.end > call.span.end:
                    what = _mutates(outer)
                    if what:
                        yield _hazard(f"{function.name}()", what, outer.span, facts)
        yield from _possible_mutations(names, caller.body, facts, exclude=call.span)
        yield from _in_callers(call.span, names, caller, facts, depth - 1)


@lru_cache(maxsize=64)
def _calls_of(facts: Facts) -> dict[str, list[Call]]:
    """The file's calls by the called function's name."""
    table: dict[str, list[Call]] = {}
    for call in facts.calls:
        table.setdefault(call.name, []).append(call)
    return table


def _is_value_of(call: Call, assignment: Assignment) -> bool:
    return assignment.operator == "=" and assignment.span.holds(call.span) and assignment.function == call.function


def _words(text: str) -> set[str]:
    return set(re.findall(r"[A-Za-z_]\w*", text))


def _hazard(variable: str, what: str, span: Span, facts: Facts) -> Hazard:
    return Hazard(variable, what, span, facts.row(span.start))


# -- escapes that one function proves

_MAKES = re.compile(r"^(?:::)?(?:torch|at)::(?:nn::functional::|special::|linalg::|fft::)?(?P<name>[a-z]\w*)\(")
_NO_NEW_TENSOR = frozenset(
    """view_as_real view_as_complex real imag narrow select slice squeeze unsqueeze transpose t permute diagonal detach
    reshape flatten unbind split chunk movedim swapaxes swapdims expand_copy alias load pickle_load dtype device
    requires_grad str numel max_size get_num_threads conj adjoint ravel unflatten
    equal allclose is_nonzero is_floating_point is_complex is_signed is_same_size can_cast promote_types result_type
    tensor_split hsplit vsplit dsplit unsafe_split unsafe_chunk meshgrid broadcast_tensors align_tensors""".split()
)
"""Ops that give a view, a flag or a number, or several tensors."""
_NEW_BY_METHOD = re.compile(r"^\W*[A-Za-z_]\w*(?:(?:\.|->)\w+)*?(?:\.|->)(?:forward|clone)\(")
_METHOD = re.compile(r"\.([A-Za-z_]\w*)\(")
_KEEPS = frozenset(
    """toTensor to cpu cuda clone detach contiguous view reshape permute transpose t squeeze unsqueeze flatten select
    slice narrow expand softmax log_softmax sigmoid tanh relu abs exp log sqrt neg mean sum mul add sub div clamp argmax
    index_select index""".split()
)
"""Methods of an inference tensor that give a tensor: a new one or a view, which is an inference tensor too."""


def escapes_in_function(use: GuardUse, facts: Facts) -> list[Hazard]:
    """Tensors made under an InferenceMode that raise below its scope, as far as the function itself proves it."""
    if use.function is None:
        return []
    body = facts.functions[use.function].body
    after = Span(use.scope.end, body.end)
    found: list[Hazard] = []
    for made in index_of(facts).assignments.within(use.live):
        if made.declares or made.operator != "=" or not _makes_tensor(made.value):
            continue
        if not made.target.isidentifier() or not is_run_in_place(made.function, use.function, facts):
            continue
        if inference_mode_at(facts, made.span, made.function) is not use:
            continue
        if _is_declared_inside(made.target, use, facts) or _asks_for_its_kind(made.target, after, facts):
            continue
        until = _next_value(made.target, after, facts)
        for hazard in _mutations({made.target}, Span(after.start, until), facts, exclude=None):
            if hazard.what not in _PROVEN or not any(span.holds(hazard.span) for span in use.after):
                continue
            if _is_covered(hazard, use, facts):
                continue
            if _holds_a_tensor(made, hazard, facts) and _is_of_the_tensor_itself(hazard, facts):
                found.append(hazard)
    return list({hazard.span: hazard for hazard in found}.values())


_PROVEN = ("changed in place", "given requires_grad", "saved for backward")


def _makes_tensor(value: str) -> bool:
    """Whether the value is a tensor with storage of its own: a view of an ordinary tensor stays ordinary."""
    match = _MAKES.match(value)
    if match is not None and match["name"] in _NO_NEW_TENSOR:
        return False
    match = match or _NEW_BY_METHOD.match(value)
    return match is not None and _gives_tensor(value, match.end() - 1)


_TENSOR = re.compile(r"(?:const )?(?:\w*::)*(?:Tensor|Variable)[&*]*")


def _holds_a_tensor(made: Assignment, hazard: Hazard, facts: Facts) -> bool:
    """Whether the variable is one tensor, and not the list, the number or the image that another `forward` gives."""
    type_ = declared_type(made.target, made.function, made.span.start, facts)
    if type_ and not re.search(r"\bauto\b", type_):
        return _TENSOR.fullmatch(type_) is not None
    if _MAKES.match(made.value):
        return True
    return any(call.span == hazard.span for call in index_of(facts).calls.within(hazard.span))


_ALLOWED = frozenset({"detach_", "share_memory_", "pin_memory_"})
"""Methods that end in `_` and do nothing to an inference tensor that it does not allow."""
_OF_A_VIEW = re.compile(
    r"(?:\[[^\[\]]*\]|(?:\.|->)(?:view|view_as|select|slice|narrow|transpose|t|permute|squeeze|unsqueeze|expand)\([^()]*\))*"
)


def _is_of_the_tensor_itself(hazard: Hazard, facts: Facts) -> bool:
    """Whether the tensor or a view of it is changed or saved, and not the new one that `clone()` or an op gives.

    `detach()` and `data()` give one that may be changed, outside InferenceMode.
    """
    for call in index_of(facts).calls.within(hazard.span):
        if call.span != hazard.span:
            continue
        if hazard.what == "saved for backward":
            return any(re.search(rf"(?<![\w.>]){hazard.variable}(?![\w.(\[-])", given) for given in call.arguments)
        if call.receiver:
            rest = call.receiver.lstrip("(*").removeprefix(hazard.variable)
            return call.name not in _ALLOWED and _OF_A_VIEW.fullmatch(rest.lstrip(")")) is not None
    return True


def _gives_tensor(value: str, opening: int) -> bool:
    """Whether nothing but methods that give tensors is called on the call whose bracket opens there."""
    end = _closing(value, opening)
    while end < len(value):
        method = _METHOD.match(value, end)
        if method is None or method[1] not in _KEEPS:
            return False
        end = _closing(value, method.end() - 1)
    return end == len(value)


def _closing(value: str, opening: int) -> int:
    """Where the bracket's pair ends; past the end when it has none."""
    depth = 0
    for index in range(opening, len(value)):
        depth += (value[index] in "([{") - (value[index] in ")]}")
        if depth == 0:
            return index + 1
    return len(value) + 1


def _is_declared_inside(name: str, use: GuardUse, facts: Facts) -> bool:
    inside = index_of(facts).assignments.within(use.scope)
    return any(a.target == name and a.declares and a.function == use.function for a in inside)


def _next_value(name: str, after: Span, facts: Facts) -> int:
    """Where the variable is given another value, or goes out of the function's hands; the end when it is not."""
    starts = _values_given(facts).get(name, [])
    index = bisect_left(starts, after.start)
    return min(starts[index], after.end) if index < len(starts) else after.end


@lru_cache(maxsize=16)
def _values_given(facts: Facts) -> dict[str, list[int]]:
    """By variable, where it is given a value, in the file's order."""
    given: dict[str, list[int]] = defaultdict(list)
    for assignment in facts.assignments:
        if assignment.operator == "=":
            given[assignment.target].append(assignment.span.start)
    return {name: sorted(starts) for name, starts in given.items()}


def _asks_for_its_kind(name: str, after: Span, facts: Facts) -> bool:
    """`if (!x.is_inference()) x.add_(1);`: the function knows."""
    return any(after.holds(place) for place in _kinds_asked(facts).get(name, ()))


@lru_cache(maxsize=16)
def _kinds_asked(facts: Facts) -> dict[str, list[Span]]:
    """By variable, the calls of its `is_inference()`."""
    asked: dict[str, list[Span]] = defaultdict(list)
    for call in facts.calls:
        if call.name == "is_inference" and call.receiver:
            asked[_root(call.receiver)].append(call.span)
    return dict(asked)


def _is_covered(hazard: Hazard, use: GuardUse, facts: Facts) -> bool:
    """Whether another InferenceMode is on there, a lambda runs it elsewhere, or a test expects the error."""
    for call in facts.calls:
        if call.span == hazard.span and (
            is_expected_to_throw(call, facts) or not is_run_in_place(call.function, use.function, facts)
        ):
            return True
    return any(
        other.guard == use.guard and other.live.holds(hazard.span) and other is not use for other in facts.guard_uses
    )
