"""What PyTorch's ops do to abstract tensors, by the rows of `torch_ops`.

Reference: https://pytorch.org/docs/stable/notes/autograd.html and the inference mode RFC (pytorch/rfcs#17); the rules
stand in one place each: what a new tensor is (`_result`), what saving does (`saving_hazards`), what writing does
(`tensor_writes`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from guardfix.torch_ops import Op

from . import sharing, tensor_writes
from .guards_entered import why_unrecorded
from .making import (
    alias,
    few_hazards,
    hazards_of,
    is_inference,
    is_tensor,
    may_be_tensor,
    new_tensor,
    of_view,
    tensors_in,
    unknown_result,
)
from .paths import Interpreter, Keywords, Place, Results
from .recording import note_op, note_operands
from .saving_hazards import hazards_in
from .state import State
from .values import (
    CERTAIN,
    NONE,
    NOT_REQUIRED,
    REQUIRED,
    Const,
    Grad,
    Instance,
    Items,
    Opaque,
    Plain,
    Ref,
    SavingHazard,
    Step,
    Value,
)

_DATA = frozenset({"data", "obj", "ndarray", "buffer"})
"""Arguments that are tensors or the data of new ones."""


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
            if isinstance(thing, Items) and argument.name in _DATA:
                value = state.plain()  # `torch.tensor([1, 2])`
            elif isinstance(thing, (Items, Instance)):
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
    missing = [a.kind for a in row.arguments if not a.optional and a.name not in given]
    if "tensor" in missing or "tensors" in missing:
        return None
    return fit - 2 * missing.count("number"), bound  # `max()` isn't `max(dim)`


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
    hazards = hazards_in(machine, row, bound, state, place, name)
    if hazards is None:
        return []
    arguments = {key: tensors_in(value, state) for key, value in bound.items()}
    differentiable = set(row.differentiable) if row.probed or row.differentiable else set(arguments)
    sources: Grad = frozenset().union(
        *(
            state.grad_of(ref)
            for key, refs in arguments.items()
            if key in differentiable
            for ref in refs
            if key != "target" or state.tensor(ref) is not None  # of labels that come from elsewhere nothing is learned
        )
    )
    note_op(machine, name, row, sources, state, place)
    every = [ref for refs in arguments.values() for ref in refs]
    if sources and all(is_inference(ref, state) is True for ref in every):
        sources = frozenset((state.number(),))  # what only inference tensors require isn't recorded, but copied
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
    given = [t for refs in arguments.values() for ref in refs if (t := state.tensor(ref)) and t.unrecorded]
    kept = next((t for t in given if t.off is not None and not t.off.is_engine), None)
    lost = kept or next(iter(given), None)
    by_engine = unrecorded and kept is not None and (off := why_unrecorded(state)) is not None and off.is_engine
    if lost is not None and ((not unrecorded and not sources) or by_engine):
        unrecorded = lost.unrecorded
    for key in row.writes:
        for ref in arguments.get(key, ()):
            recorded = bool(differentiable)
            with_normal = _is_wrapped(rows, row, place) or _has_normal(row, arguments, key, state)
            if not tensor_writes.write_tensor(
                machine, ref, state, place, name, recorded=recorded, with_normal=with_normal
            ):
                return []
            written = state.tensor(ref)
            if written is not None and records is not False:
                others = frozenset().union(
                    *(state.grad_of(one) for k, refs in arguments.items() if k in differentiable for one in refs)
                )
                state.change(
                    ref, grad=written.grad | others, hazards=few_hazards((*written.hazards, *inherited, *hazards))
                )
                if others - written.grad:
                    state.change(ref, leaf=False if CERTAIN in others and records else None)
                sharing.written(state, ref, others)
            if written is not None and (unrecorded or lost is not None) and not state.grad_of(ref):
                steps = unrecorded or (lost.unrecorded if lost is not None else ())
                off = why_unrecorded(state) if lost is None else lost.off or why_unrecorded(state)
                state.change(ref, unrecorded=steps, off=off)
    if records and sources:
        # `linear` computes with `weight.t()`, and of a view of an inference tensor nothing is recorded.
        operands = differentiable - {"weight"} if row.name == "linear" else differentiable
        note_operands((ref for key in operands for ref in arguments.get(key, ())), state)
    for ref in (ref for key in row.may_write for ref in arguments.get(key, ())):
        tensor_writes.perhaps_written(machine, ref, state, place, name)
    presumed = next(
        (t.presumed for refs in arguments.values() for ref in refs if (t := state.tensor(ref)) and t.presumed), ""
    )
    made = _result(
        row, arguments, state, place, name, sources, few_hazards((*inherited, *hazards)), presumed, shown, unrecorded
    )
    tensor = state.tensor(made)
    if tensor is not None and lost is not None and (tensor.off is None or by_engine) and tensor.unrecorded:
        assert isinstance(made, Ref)
        state.change(made, off=lost.off)
    if isinstance(made, Ref) and requires is not None and tensor is not None:
        truth = machine.truth(state, requires)
        grad = REQUIRED if truth else NOT_REQUIRED if truth is False else frozenset((made.number,))
        state.change(made, grad=grad, leaf=True, unrecorded=())
    return [(state, made)]


def _is_wrapped(rows: Sequence[Op], row: Op, place: Place) -> bool:
    """Whether a number is made a normal tensor: by Python's `add`, `sub`, `mul` and `div`, not by C++'s."""
    return place.file.language == "python" and row.overload == "Scalar" and rows[0].overload == "Tensor"


def _has_normal(row: Op, given: Mapping[str, Sequence[Ref]], written: str, state: State) -> bool:
    """Whether another operand than the one written to isn't an inference tensor."""
    others = [one.name for one in row.arguments if one.kind == "tensor" and one.name != written]
    return any(is_inference(ref, state) is not True for name in others for ref in given.get(name, ()))


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
        if kind == "new" or (kind == "maybe" and source in _DATA and not refs):
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
            if name == "t" and state.tensor(made) is not None:
                state.change(made, flat=True)
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
    made = alias(state, source, grad=of_view(source, grad, state) if unrecorded else grad, perhaps=True)
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
