# Long because what an op does to tensors is one subject.
"""What PyTorch's ops do to abstract tensors, by the rows of `torch_ops`.

Reference: https://pytorch.org/docs/stable/notes/autograd.html and the inference mode RFC (pytorch/rfcs#17); the rules
stand in one place each: what a new tensor is (`_result`), what saving does (`_hazards`), what writing does (`write`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from guardfix.torch_ops import Op

from . import model_training, unnoticed
from .events import EventKind
from .guards_entered import opened_by, why_unrecorded
from .paths import Interpreter, Keywords, Place, Results
from .recording import note_op, note_saving
from .state import State
from .values import (
    CERTAIN,
    NONE,
    NOT_REQUIRED,
    REQUIRED,
    Const,
    Grad,
    GuardValue,
    Instance,
    Items,
    Opaque,
    Plain,
    Ref,
    SavingHazard,
    Step,
    Tensor,
    Value,
)

# -- what values are


def may_be_tensor(value: Value, state: State) -> bool:
    thing = state.thing(value)
    return isinstance(thing, Tensor) or (isinstance(thing, Opaque) and thing.tensor is not False)


def is_tensor(value: Value, state: State) -> bool:
    """Whether something shows that the value is a tensor."""
    thing = state.thing(value)
    return (isinstance(thing, Tensor) and thing.shown) or (isinstance(thing, Opaque) and thing.tensor is True)


def called(value: Value, state: State, fallback: str = "") -> str:
    """How messages call a value."""
    thing = state.thing(value)
    return (thing.name if isinstance(thing, (Tensor, Opaque)) else "") or fallback


def is_inference(value: Value, state: State) -> bool | None:
    thing = state.thing(value)
    return thing.inference if isinstance(thing, Tensor) else None


# -- making tensors


def new_tensor(
    state: State,
    place: Place,
    what: str,
    *,
    grad: Grad = NOT_REQUIRED,
    hazards: tuple[SavingHazard, ...] = (),
    presumed: str = "",
    shown: bool = True,
    open_: bool = False,
    leaf: bool | None = None,
    unrecorded: tuple[Step, ...] = (),
) -> Ref:
    """A tensor with a storage of its own: an inference tensor if and only if it is made in the mode."""
    made: tuple[Step, ...] = ()
    guard: GuardValue | None = None
    if state.modes.inference is not False:
        guard = opened_by(state, "inference")
        opening = (Step(guard.path, guard.span, "inference mode begins"),) if guard is not None else ()
        made = (*opening, *place.story, place.step(f"{what} makes an inference tensor"))
    off = why_unrecorded(state) if unrecorded else None
    return state.add(
        Tensor(
            state.modes.inference,
            grad,
            leaf if leaf is not None else not grad,
            made,
            guard,
            hazards,
            None,
            presumed,
            shown,
            open_,
            unrecorded,
            off,
        )
    )


def alias(state: State, source: Ref, *, grad: Grad | None = None, view: bool = False) -> Ref:
    """A tensor over another one's storage: of the same kind."""
    thing = state.heap[source.number]
    if isinstance(thing, Tensor):
        base = thing.base if thing.base is not None else source.number
        kept = thing.grad if grad is None else grad
        made = thing._replace(
            grad=kept, base=base if view else None, hazards=thing.hazards if kept else (), leaf=None, named=False
        )
        off = why_unrecorded(state) if view and state.modes.records is False else None
        if off is not None:
            begins = Step(off.path, off.span, f"`{off.name}` begins: nothing is recorded")
            made = made._replace(unrecorded=(begins,), off=off)
        return state.add(made)
    kept = state.grad_of(source) if grad is None else grad
    made = Tensor(None, kept, None, base=source.number if view else None, foreign=unnoticed.is_foreign(thing))
    return state.add(made._replace(guard=unnoticed.perhaps_inference(thing)))


# -- an op


def _bound(row: Op, values: Sequence[Value], keywords: Keywords, state: State) -> tuple[int, dict[str, Value]] | None:
    """The arguments of an overload by name, with how well they fit; None where they don't."""
    positional = [argument for argument in row.arguments if not argument.keyword_only]
    behind = [argument for argument in row.arguments if argument.keyword_only]  # which C++ gives by position too
    named = {argument.name: argument for argument in row.arguments}
    most = len(positional)
    if positional and positional[-1].variadic and any(is_tensor(value, state) for value in values[most - 1 :]):
        values = (*values[: most - 1], state.add(Items("()", tuple(values[most - 1 :]))))
    bound: dict[str, Value] = {}
    fit = 0
    pairs = []
    for index, value in enumerate(values):
        if index < len(positional):
            pairs.append((positional[index], value))
        elif index - len(positional) < len(behind) and not is_tensor(value, state):
            pairs.append((behind[index - len(positional)], value))
        elif not positional or positional[-1].kind == "tensor":
            return None
    for name, value in keywords:
        argument = named.get(name) or named.get({"input": "self", "dim": "dims", "axis": "dim"}.get(name, ""))
        if argument is None:
            if name == "out" or is_tensor(value, state):
                return None
            continue
        pairs.append((argument, value))
    for argument, value in pairs:
        if argument.kind == "tensor":
            thing = state.thing(value)
            if isinstance(thing, (Items, Instance)):
                return None
            if value == NONE and not argument.optional:
                return None
            fit += 3 if is_tensor(value, state) else 1 if may_be_tensor(value, state) else 0
            if isinstance(value, (Const, Plain)) and value != NONE:
                fit -= 1
        elif is_tensor(value, state):
            return None
        elif argument.kind == "tensors":
            thing = state.thing(value)
            fit += 2 if isinstance(thing, (Items, Opaque)) else -2
        else:
            fit += 1 if isinstance(value, (Const, Plain)) else 0
        bound[argument.name] = value
    given = {argument.name for argument, _ in pairs}
    if any(not a.optional and a.name not in given and a.kind in ("tensor", "tensors") for a in row.arguments):
        return None
    return fit, bound


def tensors_in(value: Value, state: State) -> list[Ref]:
    """The tensors that an argument is or holds."""
    thing = state.thing(value)
    if isinstance(thing, Items):
        inner = [*thing.values, *([thing.rest] if thing.rest is not None else [])]
        return [one for item in inner for one in tensors_in(item, state)]
    if isinstance(value, Ref) and may_be_tensor(value, state):
        return [value]
    return []


def apply(
    machine: Interpreter,
    rows: Sequence[Op],
    values: Sequence[Value],
    keywords: Keywords,
    state: State,
    place: Place,
    name: str,
    *,
    shown: bool = True,
) -> Results:
    """What an op gives, and what it does to its arguments; nothing where it surely raises."""
    fitting = [(found, row) for row in rows if (found := _bound(row, values, keywords, state)) is not None]
    if not fitting:
        return [(state, unknown_result(state, values, keywords))]
    (_, bound), row = max(fitting, key=lambda pair: pair[0][0])
    if shown:
        for argument in row.arguments:
            value = bound.get(argument.name)
            thing = state.thing(value)
            if argument.kind == "tensor" and isinstance(value, Ref) and isinstance(thing, Opaque):
                state.change(value, tensor=True)
    requires = dict(keywords).get("requires_grad")
    for value in values:  # C++'s TensorOptions
        options = state.thing(value)
        if isinstance(options, Instance) and options.kind == "options":
            requires = options.attributes.get("requires_grad", requires)
    hazards = _hazards(machine, row, bound, state, place, name)
    if hazards is None:
        return []
    arguments = {key: tensors_in(value, state) for key, value in bound.items()}
    differentiable = set(row.differentiable) if row.probed or row.differentiable else set(arguments)
    sources: Grad = frozenset().union(
        *(state.grad_of(ref) for key, refs in arguments.items() if key in differentiable for ref in refs)
    )
    note_op(machine, name, sources, state, place)
    every = [ref for refs in arguments.values() for ref in refs]
    if sources and not any(state.grad_of(ref) and is_inference(ref, state) is not True for ref in every):
        sources = frozenset((state.number(),))  # few ops record what inference tensors require
    records = state.modes.records
    inherited = tuple(h for refs in arguments.values() for ref in refs for h in hazards_of(ref, state))
    unrecorded: tuple[Step, ...] = ()
    if records is False:
        before = sources
        sources, hazards = NOT_REQUIRED, ()
        off = why_unrecorded(state)
        if off is not None and (before or not arguments):
            unrecorded = (Step(off.path, off.span, f"`{off.name}` begins: nothing is recorded"),)
        inherited = ()
    elif records is None and (sources or hazards):
        sources = sources | {state.number()}
    lost = next((t for refs in arguments.values() for ref in refs if (t := state.tensor(ref)) and t.unrecorded), None)
    if not unrecorded and lost is not None and not sources:
        unrecorded = lost.unrecorded
    for key in row.writes:
        for ref in arguments.get(key, ()):
            if not write_tensor(machine, ref, state, place, name, recorded=bool(differentiable)):
                return []
            written = state.tensor(ref)
            if written is not None and records is not False:
                others = frozenset().union(
                    *(state.grad_of(one) for k, refs in arguments.items() if k in differentiable for one in refs)
                )
                state.change(ref, grad=written.grad | others, hazards=_few((*written.hazards, *inherited, *hazards)))
                if others - written.grad:
                    state.change(ref, leaf=False if CERTAIN in others and records else None)
            if written is not None and (unrecorded or lost is not None) and not state.grad_of(ref):
                steps = unrecorded or (lost.unrecorded if lost is not None else ())
                off = why_unrecorded(state) if lost is None else lost.off or why_unrecorded(state)
                state.change(ref, unrecorded=steps, off=off)
    presumed = next(
        (t.presumed for refs in arguments.values() for ref in refs if (t := state.tensor(ref)) and t.presumed), ""
    )
    made = _result(
        row, arguments, state, place, name, sources, _few((*inherited, *hazards)), presumed, shown, unrecorded
    )
    tensor = state.tensor(made)
    if tensor is not None and lost is not None and tensor.off is None and tensor.unrecorded:
        assert isinstance(made, Ref)
        state.change(made, off=lost.off)
    if isinstance(made, Ref) and requires is not None and tensor is not None:
        truth = machine.truth(state, requires)
        grad = REQUIRED if truth else NOT_REQUIRED if truth is False else frozenset((made.number,))
        state.change(made, grad=grad, leaf=True, unrecorded=())
    return [(state, made)]


def lost_by(tensor: Tensor, state: State) -> tuple[Step, ...]:
    """Why what is made of a tensor has no graph, if it hasn't."""
    off = why_unrecorded(state)
    if tensor.grad and state.modes.records is False and off is not None:
        return (Step(off.path, off.span, f"`{off.name}` begins: nothing is recorded"),)
    return () if tensor.grad else tensor.unrecorded


def _few(hazards: tuple[SavingHazard, ...]) -> tuple[SavingHazard, ...]:
    return tuple(dict.fromkeys(hazards))[:6]


def hazards_of(ref: Ref, state: State) -> tuple[SavingHazard, ...]:
    tensor = state.tensor(ref)
    return tensor.hazards if tensor is not None else ()


def _hazards(
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
                        machine_report(machine, hazard, state, place)
                        continue
                found.append(hazard)
                if hazard.doubt:
                    continue
                _tell_cache(machine, hazard, state, place)
                if CERTAIN in grad and state.modes.records:
                    certain, told = hazard, ref
    if certain is not None and told is not None:
        machine_report(machine, certain, state, place)
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
        yield saved, because, f"`{given}` may decide what `{name}` saves" if given else ""
    for saved, because in row.may_save:
        yield saved, because, f"`{name}` saves it in some calls only"
    if not row.saves_known:
        tensors = [argument.name for argument in row.arguments if argument.kind in ("tensor", "tensors")]
        for saved, because in product(tensors, tensors):
            yield saved, because, f"what `{name}` saves isn't known"


_FOLDING = frozenset({"matmul", "linear", "inner", "tensordot"})
"""They bring what has more dimensions to two or three, which copies a view that can't be laid out so."""


def _may_be_copied(row: Op, saved: str, tensor: Tensor) -> bool:
    """Whether a copy of the tensor may be saved in its place: that is a normal tensor, and nothing raises."""
    return tensor.base is not None and (saved in row.copied or row.name in _FOLDING)


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
        variable=f"self.{cached.attribute}",
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
    )


def machine_report(machine: Interpreter, hazard: SavingHazard, state: State, place: Place) -> None:
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
        at=(hazard.path, hazard.span),
    )


def _result(
    row: Op,
    arguments: dict[str, list[Ref]],
    state: State,
    place: Place,
    name: str,
    grad: Grad,
    hazards: tuple[SavingHazard, ...],
    presumed: str,
    shown: bool,
    unrecorded: tuple[Step, ...],
) -> Value:
    def one(kind: str) -> Value:
        kind, _, source = kind.partition(":")
        refs = arguments.get(source, [])
        if kind == "new":
            return new_tensor(
                state,
                place,
                f"`{name}`",
                grad=grad,
                hazards=hazards,
                presumed=presumed,
                shown=shown,
                unrecorded=unrecorded,
            )
        if kind == "tensors":
            inner = new_tensor(
                state, place, f"`{name}`", grad=grad, hazards=hazards, presumed=presumed, unrecorded=unrecorded
            )
            return state.add(Items("()", (), inner))
        if kind == "alias" and refs:
            return refs[0]
        if kind in ("view", "views") and refs:
            made = alias(state, refs[0], grad=of_view(refs[0], grad, state) if unrecorded else grad, view=True)
            if unrecorded:
                state.change(made, unrecorded=unrecorded, off=why_unrecorded(state))
            return state.add(Items("()", (), made)) if kind == "views" else made
        if kind == "maybe" and refs:
            return _maybe(refs[0], state, place, name, grad, hazards, unrecorded)
        if kind in ("number", "none"):
            return state.plain() if kind == "number" else NONE
        return state.opaque(tensor=None)

    results = row.results or ("other",)
    return one(results[0]) if len(results) == 1 else state.add(Items("()", tuple(map(one, results))))


def _maybe(
    source: Ref,
    state: State,
    place: Place,
    name: str,
    grad: Grad,
    hazards: tuple[SavingHazard, ...],
    unrecorded: tuple[Step, ...],
) -> Ref:
    """A new tensor, a view, or the argument itself: what can be told of all three."""
    made = alias(state, source, grad=of_view(source, grad, state) if unrecorded else grad)
    tensor = state.tensor(made)
    assert tensor is not None
    same = tensor.inference is state.modes.inference
    state.change(
        made,
        inference=tensor.inference if same else None,
        hazards=hazards if grad else (),
        unrecorded=unrecorded or tensor.unrecorded,
        off=why_unrecorded(state) if unrecorded else tensor.off,
    )
    return made


def of_view(source: Ref, grad: Grad, state: State) -> Grad:
    """Whether a view that is made where nothing is recorded requires grad.

    It says so if its base does, so that nothing raises where it is differentiated, but no gradient comes to it, so that
    nothing is saved for it.
    """
    told = state.grad_of(source) and is_inference(source, state) is not True
    return frozenset((state.number(),)) if told else grad


def unknown_result(state: State, values: Sequence[Value], keywords: Keywords, origin: str = "") -> Ref:
    """What an unknown function gives: anything, from any of its arguments."""
    return state.opaque(origin=origin)


# -- writing, requiring, differentiating


def write_tensor(
    machine: Interpreter, ref: Ref, state: State, place: Place, name: str, *, recorded: bool = True
) -> bool:
    """Write to a tensor; False where that raises. What autograd doesn't record, as `logical_not_`, may write a leaf."""
    unnoticed.note_write(machine, ref, state, place, name)
    tensor = state.tensor(ref)
    if tensor is None:
        return True
    base = state.heap.get(tensor.base) if tensor.base is not None else tensor
    # A view that was made where nothing was recorded is refused with other words.
    seen = tensor.base is None or not tensor.unrecorded
    leaf = isinstance(base, Tensor) and base.leaf and CERTAIN in base.grad and seen
    if state.modes.records and leaf and CERTAIN in tensor.grad and tensor.inference is not True:
        shown = called(ref, state)
        machine.report(
            EventKind.LEAF_WRITTEN,
            state,
            place,
            variable=shown,
            what=f"`{name}` writes to it",
            steps=(place.step(f"`{name}` writes to {f'`{shown}`' if shown else 'a leaf'}, which requires grad"),),
            guard=None,
            doubt="" if recorded else f"`{name}` may leave nothing to record",
        )
        return cured(ref, state) if recorded else True
    of_graph = isinstance(base, Tensor) and CERTAIN in base.grad and tensor.base is not None
    if state.modes.records and of_graph and tensor.unrecorded and tensor.inference is not True and tensor.shown:
        shown = called(ref, state)
        machine.report(
            EventKind.VIEW_WRITTEN,
            state,
            place,
            variable=shown,
            what=f"`{name}` changes it in place",
            steps=(
                *tensor.unrecorded,
                place.step(f"`{name}` changes {f'`{shown}`' if shown else 'the view'} in place"),
            ),
            guard=tensor.off,
            presumed=tensor.presumed,
            doubt="" if recorded else f"`{name}` may leave nothing to record",
        )
        return cured(ref, state) if recorded else True
    if tensor.inference is True and state.modes.inference is False and not state.modes.below_view:
        if not tensor.shown or tensor.counted:
            return True
        shown = called(ref, state)
        subject = f"`{shown}`" if shown else "it"
        machine.report(
            EventKind.INFERENCE_WRITTEN,
            state,
            place,
            variable=shown,
            what=f"`{name}` changes it in place",
            steps=(*tensor.made, place.step(f"`{name}` changes {subject} in place, outside the mode")),
            guard=tensor.guard,
            cached=tensor.cached,
            presumed=tensor.presumed,
        )
        return cured(ref, state)
    return True


def cured(ref: Ref, state: State) -> bool:
    """Go on behind what was told as if it hadn't happened, to tell the next; where a failure is expected, end there."""
    if isinstance(state.heap.get(ref.number), Tensor):
        state.change(ref, inference=None, grad=frozenset((ref.number,)), hazards=(), unrecorded=(), leaf=None)
    return not state.shielded


def write_element(machine: Interpreter, ref: Ref, value: Value, state: State, place: Place) -> bool:
    """`t[i] = value`; False where that raises."""
    if not write_tensor(machine, ref, state, place, "[] ="):
        return False
    tensor = state.tensor(ref)
    if tensor is not None and state.modes.records is not False:
        given = state.tensor(value)
        hazards = _few((*tensor.hazards, *(given.hazards if given is not None else ())))
        others = state.grad_of(value)
        leaf = tensor.leaf if others <= tensor.grad else False if CERTAIN in others and state.modes.records else None
        state.change(ref, grad=tensor.grad | others, hazards=hazards, leaf=leaf)
    return True


def require_grad(machine: Interpreter, ref: Value, flag: Value, state: State, place: Place, name: str) -> bool:
    """`requires_grad_(flag)`; False where that raises."""
    truth = machine.truth(state, flag)
    tensor = state.tensor(ref)
    if truth:
        unnoticed.note_leaf(machine, ref, state, place, name)
    if tensor is None or not isinstance(ref, Ref):
        return True
    if truth and tensor.inference is True and state.modes.inference is False and tensor.shown:
        shown = called(ref, state)
        subject = f"`{shown}`" if shown else "it"
        machine.report(
            EventKind.INFERENCE_REQUIRES_GRAD,
            state,
            place,
            variable=shown,
            what=f"`{name}` makes it require grad",
            steps=(*tensor.made, place.step(f"`{name}` makes {subject} require grad, outside the mode")),
            guard=tensor.guard,
            presumed=tensor.presumed,
        )
        return cured(ref, state)
    grad = REQUIRED if truth else NOT_REQUIRED if truth is False else frozenset((ref.number,))
    state.change(ref, grad=grad, leaf=tensor.leaf if tensor.grad else True, unrecorded=())
    return True


def set_data(machine: Interpreter, ref: Ref, value: Value, state: State, place: Place) -> bool:
    """`t.data = value`, `t.set_data(value)`: the tensor takes the kind of the value and keeps its own counter."""
    tensor, given = state.tensor(ref), state.tensor(value)
    if tensor is None or given is None:
        return True
    if given.inference is True and given.shown and tensor.inference is not True and tensor.grad:
        shown = called(ref, state)
        machine.report(
            EventKind.INFERENCE_DATA,
            state,
            place,
            variable=shown,
            what="it takes the data of an inference tensor, and isn't trained any more",
            steps=(*given.made, place.step(f"{f'`{shown}`' if shown else 'a parameter'} takes its data")),
            guard=given.guard,
            presumed=given.presumed,
        )
    # It keeps its own counter, or has none: an inference tensor stays one that can't be written.
    kind = None if tensor.inference and given.inference is False else given.inference
    counted = tensor.counted or (tensor.inference is False and given.inference is True)
    state.change(ref, inference=kind, made=given.made, guard=given.guard, presumed=given.presumed, counted=counted)
    return True


def differentiate(machine: Interpreter, value: Value, state: State, place: Place, name: str) -> bool:
    """`backward()` and `autograd.grad` of a value; False where that surely raises."""
    found = True
    model_training.note_training(state, place, name)
    for ref in tensors_in(value, state):
        tensor = state.tensor(ref)
        shown = called(ref, state)
        if tensor is None:
            if state.modes.inference:
                differentiated_in_inference(machine, shown, "", state, place, name)
            continue
        subject = f"`{shown}`" if shown else "what is differentiated"
        covered = frozenset().union(*(hazard.sources for hazard in tensor.hazards)) if tensor.hazards else frozenset()
        if tensor.hazards and CERTAIN not in tensor.grad and tensor.grad <= covered and tensor.shown:
            for hazard in tensor.hazards:
                machine_report(machine, hazard, state, place)
            found = cured(ref, state)
        elif not tensor.grad and tensor.shown and tensor.unrecorded:
            machine.report(
                EventKind.NOT_RECORDED,
                state,
                place,
                variable=shown,
                what=f"`{name}` finds no graph",
                steps=(*tensor.unrecorded, place.step(f"{subject} has no graph: `{name}` raises")),
                guard=tensor.off,
                presumed=tensor.presumed,
            )
            found = cured(ref, state)
        elif state.modes.inference and tensor.grad:
            differentiated_in_inference(machine, shown, tensor.presumed, state, place, name)
    return found


def tell_lost_gradients(machine: Interpreter, value: Value, state: State, place: Place) -> None:
    """A function's `backward` gives back gradients, through which one may want to differentiate again.

    What the engine leaves unrecorded it records where they are asked for.
    """
    for ref in tensors_in(value, state):
        tensor = state.tensor(ref)
        guard = tensor.off if tensor is not None else None
        if tensor is not None and guard is not None and not guard.is_engine and tensor.unrecorded:
            machine.report(
                EventKind.HIGHER_ORDER_LOST,
                state,
                place,
                variable=tensor.name,
                what="nothing of it is recorded",
                steps=(*tensor.unrecorded, place.step("`backward` gives it back")),
                guard=guard,
                at=(guard.path, guard.span),
            )


def differentiated_in_inference(
    machine: Interpreter, shown: str, presumed: str, state: State, place: Place, name: str
) -> None:
    """A graph that was made outside is differentiated in the mode."""
    machine.report(
        EventKind.BACKWARD_IN_INFERENCE,
        state,
        place,
        variable=shown,
        what="every `.grad` that it makes is an inference tensor",
        steps=(place.step(f"`{name}` runs in inference mode"),),
        guard=opened_by(state, "inference"),
        presumed=presumed,
    )
