"""`torch.distributions`: what is computed with a distribution's parameters requires grad as they do; samples don't."""

from __future__ import annotations

from . import making
from .guards_entered import why_unrecorded
from .paths import Keywords, Place
from .state import State
from .values import NOT_REQUIRED, Grad, Instance, Items, Step, Value

_COMPUTED = frozenset("log_prob entropy rsample cdf icdf kl_divergence".split())
_DRAWN = frozenset({"sample", "sample_n"})


def made_distribution(
    path: tuple[str, ...], arguments: tuple[Value, ...], keywords: Keywords, state: State, place: Place
) -> Value:
    """What a name of the package makes: a distribution, or the divergence of two."""
    given = state.add(Items("()", (*arguments, *(value for _, value in keywords))))
    distribution = Instance("distribution", path[-1], None, {_GIVEN: given})
    if path[-1][:1].isupper():
        return state.add(distribution)
    return call_distribution(distribution, path[-1], state, place)


_GIVEN = "<given>"


def call_distribution(distribution: Instance, name: str, state: State, place: Place) -> Value:
    """What a method of a distribution gives."""
    if name in _DRAWN:
        return making.new_tensor(state, place, f"`{name}`")
    if name not in _COMPUTED:
        return state.opaque(name)
    given = _parameters(distribution, state)
    grad: Grad = frozenset().union(*map(state.grad_of, given))
    lost = next((t for value in given if (t := state.tensor(value)) is not None and t.unrecorded), None)
    off = why_unrecorded(state) if state.modes.records is False else None
    unrecorded = lost.unrecorded if lost is not None and not grad else ()
    if off is not None and grad:
        unrecorded = (Step(off.path, off.span, f"`{off.name}` begins: nothing is recorded"),)
    hazards = tuple(one for value in given if (t := state.tensor(value)) is not None for one in t.hazards)
    if state.modes.records is False:
        grad, hazards = NOT_REQUIRED, ()
    made = making.new_tensor(
        state, place, f"`{name}`", grad=grad, hazards=making.few_hazards(hazards), unrecorded=unrecorded
    )
    if lost is not None and off is None:
        state.change(made, off=lost.off)
    return made


def _parameters(distribution: Instance, state: State) -> list[Value]:
    """The tensors that it was made of, and those of the distributions among what it was given."""
    given = state.thing(distribution.attributes[_GIVEN])
    found: list[Value] = []
    for value in given.values if isinstance(given, Items) else ():
        thing = state.thing(value)
        if isinstance(thing, Instance) and thing.kind == distribution.kind:
            found += _parameters(thing, state)
        else:
            found += making.tensors_in(value, state)
    return found
