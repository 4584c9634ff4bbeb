"""What ops save for backward: where that is an inference tensor, PyTorch raises, or may do so."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from guardfix.torch_ops import Op

from ..lazy_regex import lazy_regex
from . import unnoticed
from .events import EventKind
from .making import called, is_inference, made_as_parameter, tensors_in
from .paths import Interpreter, Place
from .recording import note_saving
from .state import State
from .tensor_writes import cured
from .values import (
    CERTAIN,
    NONE,
    NOT_REQUIRED,
    Const,
    Grad,
    Ref,
    SavingHazard,
    Tensor,
    Value,
)


def hazards_in(
    machine: Interpreter, row: Op, bound: dict[str, Value], state: State, place: Place, name: str
) -> tuple[SavingHazard, ...] | None:
    """What saving inference tensors does; None where it raises now."""
    if state.modes.records is False:
        return ()
    given = [ref for value in bound.values() for ref in tensors_in(value, state)]
    alone = all(is_inference(ref, state) is True for ref in given)
    found: list[SavingHazard] = []
    certain: SavingHazard | None = None
    told: Ref | None = None
    for saved, because, reason in _saved(row, bound, name):
        for ref in tensors_in(bound.get(saved, NONE), state):
            tensor = state.tensor(ref)
            causes = tensors_in(bound.get(because, NONE), state)
            if tensor is None or tensor.inference is not True or not tensor.shown:
                if machine.watches:
                    note_saving(ref, NOT_REQUIRED.union(*map(state.grad_of, causes)), name, state, place)
                found += _perhaps_saved(ref, bound.get(because, NONE), state, place, name)
                continue
            if because == saved and len(causes) > 1:
                causes = [one for one in causes if one != ref]  # of a list, one is saved because of another
            for cause in causes:
                if alone:
                    continue  # of inference tensors alone nothing is recorded
                grad = state.grad_of(cause)
                if not grad:
                    continue
                hazard, doubt = saving(machine, ref, cause, grad, state, place, name), reason
                source = state.tensor(cause)
                if not doubt and is_inference(cause, state):
                    doubt = "not every op records what an inference tensor requires"
                elif not doubt and source is not None and source.unrecorded:
                    doubt = "a view that is made where nothing is recorded gets no gradient"
                elif not doubt and _may_be_copied(row, saved, tensor):
                    doubt = f"`{name}` saves a copy of what it would have to lay out anew"
                if doubt:
                    hazard = hazard._replace(doubt=doubt)
                    if CERTAIN in grad and state.modes.records:
                        report_hazard(machine, hazard, state, place)
                        continue
                found.append(hazard)
                if hazard.doubt:
                    continue
                _tell_cache(machine, hazard, state, place)
                if CERTAIN in grad and state.modes.records:
                    certain, told = hazard, ref
    if certain is not None and told is not None:
        report_hazard(machine, certain, state, place)
        return () if cured(told, state) else None
    return tuple(found)


def _perhaps_saved(ref: Ref, because: Value, state: State, place: Place, name: str) -> Iterator[SavingHazard]:
    """What saving brings about if what an unknown function gave is an inference tensor; asked of fixes alone."""
    under = unnoticed.perhaps_inference(state.thing(ref)) if place.file.instead else None
    if under is None:
        return
    for cause in tensors_in(because, state):
        if cause != ref and state.grad_of(cause):
            step = place.step(f"`{name}` must save it")
            doubt = "what an unknown function gives may be an inference tensor"
            shown = called(ref, state)
            yield SavingHazard(
                EventKind.INFERENCE_SAVED,
                state.grad_of(cause) | state.grad_of(ref),
                place.file.path,
                place.span,
                shown,
                (step,),
                under,
                name,
                "",
                doubt=doubt,
            )


def _saved(row: Op, bound: dict[str, Value], name: str) -> Iterator[tuple[str, str, str]]:
    """What an op saves, because of what, and why that isn't certain."""
    given = next((option for option in row.options if option in bound), "")
    for saved, because in row.saves:
        reason = f"`{given}` may decide what `{name}` saves" if given else ""
        yield saved, because, f"`{name}` saves a mask of booleans as another one" if saved == "attn_mask" else reason
    multiplies = row.name == "einsum" and _multiplies(bound.get("equation"))
    for saved, because in row.may_save:
        yield saved, because, "" if multiplies else f"`{name}` saves it in some calls only"
    if not row.saves_known:
        tensors = [argument.name for argument in row.arguments if argument.kind in ("tensor", "tensors")]
        for saved, because in product(tensors, tensors):
            yield saved, because, f"what `{name}` saves isn't known"


_PAIR = lazy_regex(r"\s*(\w)(\w?)\s*,\s*(\w)(\w?)\s*(?:->\s*(\w*)\s*)?")


def _multiplies(equation: Value | None) -> bool:
    """Whether `einsum` surely multiplies two operands as they are: neither is summed first, or laid out again."""
    found = _PAIR.fullmatch(str(equation.value)) if isinstance(equation, Const) else None
    if found is None:
        return False
    left, right, out = {*found[1], *found[2]}, {*found[3], *found[4]}, found[5]
    if len(left) < len(found[1] + found[2]) or len(right) < len(found[3] + found[4]):
        return False
    kept = left ^ right if out is None else {*out}
    return left ^ right <= kept and len((left & right) - kept) <= 1


_FOLDING = frozenset({"matmul", "linear", "inner", "tensordot"})
"""They bring what has more dimensions to two or three, which copies a view that can't be laid out so."""


def _may_be_copied(row: Op, saved: str, tensor: Tensor) -> bool:
    """Whether a copy of the tensor may be saved in its place: that is a normal tensor, and nothing raises."""
    return tensor.base is not None and not tensor.flat and (saved in row.copied or row.name in _FOLDING)


def _tell_cache(machine: Interpreter, hazard: SavingHazard, state: State, place: Place) -> None:
    """An attribute that another method fills in inference mode would be saved here, where autograd records."""
    cached = hazard.cached
    if cached is None or not state.receiver or not state.modes.records:
        return
    if cached.function == place.body.name and not cached.by_others:
        return
    machine.report(
        EventKind.CACHE_READ,
        state,
        place,
        variable=cached.shown,
        what=f"`{place.body.name}` computes with it where autograd records",
        steps=hazard.steps,
        guard=hazard.guard,
        cached=cached,
        at=(cached.path, cached.span),
    )


def saving(
    machine: Interpreter, ref: Ref, cause: Value, grad: Grad, state: State, place: Place, name: str
) -> SavingHazard:
    """What happens where an inference tensor is saved because something requires grad."""
    tensor = state.tensor(ref)
    assert tensor is not None
    shown = called(ref, state)
    because = called(cause, state)
    subject = f"`{shown}`" if shown else "it"
    step = place.step(
        f"`{name}` must save {subject} for the gradient of {f'`{because}`' if because else 'its operand'}"
    )
    return SavingHazard(
        EventKind.INFERENCE_SAVED,
        grad,
        place.file.path,
        place.span,
        shown,
        (*tensor.made, step),
        tensor.guard,
        name,
        tensor.presumed,
        tensor.cached,
        brought_by=made_as_parameter(tensor),
    )


def report_hazard(machine: Interpreter, hazard: SavingHazard, state: State, place: Place) -> None:
    machine.report(
        EventKind(hazard.kind),
        state,
        place,
        variable=hazard.variable,
        what=f"`{hazard.op}` must save it for backward",
        steps=hazard.steps,
        guard=hazard.guard,
        cached=hazard.cached,
        presumed=hazard.presumed,
        doubt=hazard.doubt,
        brought_by=hazard.brought_by,
        at=(hazard.path, hazard.span),
    )
