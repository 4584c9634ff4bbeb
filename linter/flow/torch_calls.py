"""What PyTorch's ops do to abstract tensors, by the rows of `torch_ops`.

Reference: https://pytorch.org/docs/stable/notes/autograd.html and the inference mode RFC (pytorch/rfcs#17); the rules
are in one place each: what a new tensor is (`_result`), what saving does (`saving_hazards`), what writing does
(`tensor_writes`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from guardfix.torch_ops import Op

from ..named_tuples import NamedTuple
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
    Tensor,
    Value,
)

_DATA = frozenset({"data", "obj", "ndarray", "buffer"})
"""Arguments that are tensors or the data of new ones."""


def _bound(row: Op, values: Sequence[Value], keywords: Keywords, state: State) -> tuple[int, dict[str, Value]] | None:
    """The arguments of an overload by name, with how well they fit; None where they don't."""
    positional = [argument for argument in row.arguments if not argument.keyword_only]
    after = [argument for argument in row.arguments if argument.keyword_only]  # which C++ gives by position too
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
        elif index - len(positional) < len(after) and not is_tensor(value, state):
            pairs.append((after[index - len(positional)], value))
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


class _Call(NamedTuple):
    """One call of an op: its row, and the tensors that it is given, by the names of its arguments."""

    row: Op
    arguments: Mapping[str, Sequence[Ref]]
    differentiable: Set[str]
    """The arguments that it has derivatives for; of an op that wasn't probed and lists none, all."""
    name: str
    place: Place

    def tensors(self) -> list[Ref]:
        return [ref for refs in self.arguments.values() for ref in refs]

    def grads(self, state: State) -> Grad:
        """What the tensors that it has derivatives for require."""
        taken = (refs for key, refs in self.arguments.items() if key in self.differentiable)
        return frozenset().union(*(state.grad_of(ref) for refs in taken for ref in refs))


class _Recorded(NamedTuple):
    """What autograd makes of a call."""

    sources: Grad
    """What its result requires a gradient for."""
    inherited: tuple[SavingHazard, ...] = ()
    hazards: tuple[SavingHazard, ...] = ()
    """What the arguments' graphs have saved, and what the call saves, that may be changed."""
    unrecorded: tuple[Step, ...] = ()
    """Why nothing is recorded, if nothing is."""
    lost: Tensor | None = None
    """An argument that lost its gradient before."""
    by_engine: bool = False
    """Whether it is autograd's engine that records nothing, and the argument lost its gradient elsewhere."""
    presumed: str = ""

    @property
    def saved(self) -> tuple[SavingHazard, ...]:
        return few_hazards((*self.inherited, *self.hazards))


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
        _are_tensors(row, bound, state)
    hazards = hazards_in(machine, row, bound, state, place, name)
    if hazards is None:
        return []
    arguments = {key: tensors_in(value, state) for key, value in bound.items()}
    differentiable = set(row.differentiable if row.probed or row.differentiable else arguments)
    call = _Call(row, arguments, differentiable, name, place)
    recorded = _recorded(machine, call, hazards, state)
    for key in row.writes:
        with_normal = _is_wrapped(rows, row, place) or _has_normal(row, call.arguments, key, state)
        for ref in call.arguments.get(key, ()):
            if not _written(machine, call, ref, recorded, state, with_normal):
                return []
    if state.modes.records and recorded.sources:
        # `linear` computes with `weight.t()`, and of a view of an inference tensor nothing is recorded.
        operands = call.differentiable - {"weight"} if row.name == "linear" else call.differentiable
        note_operands((ref for key in operands for ref in call.arguments.get(key, ())), state)
    for ref in (ref for key in row.may_write for ref in call.arguments.get(key, ())):
        tensor_writes.perhaps_written(machine, ref, state, place, name)
    made = _result(call, recorded, state, shown)
    tensor = state.tensor(made)
    if tensor is not None and isinstance(made, Ref):
        if recorded.lost is not None and (tensor.off is None or recorded.by_engine) and tensor.unrecorded:
            state.change(made, off=recorded.lost.off)
        requires = _required(values, keywords, state)
        if requires is not None:
            truth = machine.truth(state, requires)
            grad = REQUIRED if truth else NOT_REQUIRED if truth is False else frozenset((made.number,))
            state.change(made, grad=grad, leaf=True, unrecorded=())
    return [(state, made)]


def _are_tensors(row: Op, bound: Mapping[str, Value], state: State) -> None:
    """Note that what an op takes as tensors are tensors."""
    for argument in row.arguments:
        value = bound.get(argument.name)
        if argument.kind == "tensor" and isinstance(value, Ref) and isinstance(state.thing(value), Opaque):
            state.change(value, tensor=True)


def _required(values: Sequence[Value], keywords: Keywords, state: State) -> Value | None:
    """The `requires_grad` that a new tensor is given, by C++'s TensorOptions or by name."""
    requires = dict(keywords).get("requires_grad")
    for value in values:
        options = state.thing(value)
        if isinstance(options, Instance) and options.kind == "options":
            requires = options.attributes.get("requires_grad", requires)
    return requires


def _recorded(machine: Interpreter, call: _Call, hazards: tuple[SavingHazard, ...], state: State) -> _Recorded:
    """What autograd makes of a call, under the modes of its state."""
    arguments, tensors = call.arguments, call.tensors()
    if any(state.tensor(ref) is None for ref in arguments.get("target", ())):  # labels from elsewhere tell nothing
        arguments = {**arguments, "target": [ref for ref in arguments["target"] if state.tensor(ref) is not None]}
    sources = call._replace(arguments=arguments).grads(state)
    note_op(machine, call.name, call.row, sources, state, call.place)
    if sources and all(is_inference(ref, state) is True for ref in tensors):
        sources = frozenset((state.number(),))  # what only inference tensors require isn't recorded, but copied
    inherited = tuple(h for ref in tensors for h in hazards_of(ref, state))
    unrecorded: tuple[Step, ...] = ()
    off = why_unrecorded(state) if state.modes.records is False else None
    if state.modes.records is False:
        if off is not None and (sources or not call.arguments):
            unrecorded = (Step(off.path, off.span, f"`{off.name}` begins: nothing is recorded"),)
        sources, hazards, inherited = NOT_REQUIRED, (), ()
    elif state.modes.records is None and (sources or hazards):
        sources = sources | {state.number()}
    given = [t for ref in tensors if (t := state.tensor(ref)) is not None]
    without = [t for t in given if t.unrecorded]
    kept = next((t for t in without if t.off is not None and not t.off.is_engine), None)
    lost = kept or next(iter(without), None)
    by_engine = bool(unrecorded) and kept is not None and off is not None and off.is_engine
    if lost is not None and ((not unrecorded and not sources) or by_engine):
        unrecorded = lost.unrecorded
    presumed = next((t.presumed for t in given if t.presumed), "")
    return _Recorded(sources, inherited, hazards, unrecorded, lost, by_engine, presumed)


def _written(machine: Interpreter, call: _Call, ref: Ref, recorded: _Recorded, state: State, with_normal: bool) -> bool:
    """Write to one of the tensors; False where that surely raises."""
    by_autograd = bool(call.differentiable)
    if not tensor_writes.write_tensor(
        machine, ref, state, call.place, call.name, recorded=by_autograd, with_normal=with_normal
    ):
        return False
    written = state.tensor(ref)
    if written is None:
        return True
    if state.modes.records is not False:
        others = call.grads(state)
        hazards = few_hazards((*written.hazards, *recorded.inherited, *recorded.hazards))
        state.change(ref, grad=written.grad | others, hazards=hazards)
        if others - written.grad:
            state.change(ref, leaf=False if CERTAIN in others and state.modes.records else None)
        sharing.written(state, ref, others)
    lost = recorded.lost
    if (recorded.unrecorded or lost is not None) and not state.grad_of(ref):
        steps = recorded.unrecorded or (lost.unrecorded if lost is not None else ())
        state.change(ref, unrecorded=steps, off=(lost.off if lost is not None else None) or why_unrecorded(state))
    return True


def _is_wrapped(rows: Sequence[Op], row: Op, place: Place) -> bool:
    """Whether a number is made a normal tensor: by Python's `add`, `sub`, `mul` and `div`, not by C++'s."""
    return place.file.language == "python" and row.overload == "Scalar" and rows[0].overload == "Tensor"


def _has_normal(row: Op, given: Mapping[str, Sequence[Ref]], written: str, state: State) -> bool:
    """Whether another operand than the one written to isn't an inference tensor."""
    others = [one.name for one in row.arguments if one.kind == "tensor" and one.name != written]
    return any(is_inference(ref, state) is not True for name in others for ref in given.get(name, ()))


def _result(call: _Call, recorded: _Recorded, state: State, shown: bool) -> Value:
    def new(shown: bool) -> Ref:
        return new_tensor(
            state,
            call.place,
            f"`{call.name}`",
            grad=recorded.sources,
            hazards=recorded.saved,
            presumed=recorded.presumed,
            shown=shown,
            unrecorded=recorded.unrecorded,
        )

    def one(kind: str) -> Value:
        kind, _, source = kind.partition(":")
        refs = call.arguments.get(source, [])
        if kind == "new" or (kind == "maybe" and source in _DATA and not refs):
            return new(shown)
        if kind == "tensors":
            return state.add(Items("()", (), new(True)))
        if kind == "alias" and refs:
            return refs[0]
        if kind in ("view", "views") and refs:
            made = alias(state, refs[0], grad=_grad_of_view(refs[0], recorded, state), view=True)
            if recorded.unrecorded:
                state.change(made, unrecorded=recorded.unrecorded, off=why_unrecorded(state))
            if call.name == "t" and state.tensor(made) is not None:
                state.change(made, flat=True)
            return state.add(Items("()", (), made)) if kind == "views" else made
        if kind == "maybe" and refs:
            return _maybe(refs[0], recorded, state)
        if kind in ("number", "none"):
            return state.plain() if kind == "number" else NONE
        return state.opaque(tensor=None)

    results = call.row.results or ("other",)
    return one(results[0]) if len(results) == 1 else state.add(Items("()", tuple(map(one, results))))


def _grad_of_view(source: Ref, recorded: _Recorded, state: State) -> Grad:
    return of_view(source, recorded.sources, state) if recorded.unrecorded else recorded.sources


def _maybe(source: Ref, recorded: _Recorded, state: State) -> Ref:
    """A new tensor, a view, or the argument itself: what holds for all three."""
    made = alias(state, source, grad=_grad_of_view(source, recorded, state), perhaps=True)
    tensor = state.tensor(made)
    assert tensor is not None
    same = tensor.inference is state.modes.inference
    state.change(
        made,
        inference=tensor.inference if same else None,
        hazards=recorded.saved if recorded.sources else (),
        unrecorded=recorded.unrecorded or tensor.unrecorded,
        off=why_unrecorded(state) if recorded.unrecorded else tensor.off,
    )
    return made
