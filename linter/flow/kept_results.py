"""Functions that keep what they give (`lru_cache`): what a later call gets, on the same path or from another one."""

from __future__ import annotations

from collections.abc import Sequence

from ..facts.bodies import Body
from ..facts.expressions import CallExpression, last_name
from ..named_tuples import NamedTuple
from .state import State
from .values import Cached, Closure, Const, Tensor, Value

_KEEPING = frozenset({"lru_cache", "cache", "cached_property"})
_MOST_CALLS = 8
"""Of one function that a path remembers."""


class KeptCall(NamedTuple):
    """A call of a function that keeps what it gives."""

    body: Body
    keeper: str
    """The decorator that keeps it."""
    key: tuple[Value, ...]
    """What it is given, an object's method the object first."""
    bound: bool

    @property
    def of_object(self) -> bool:
        """Each object keeps a result of its own."""
        return self.keeper == "cached_property"


def kept_by(closure: Closure, arguments: tuple[Value, ...], keywords: Sequence[tuple[str, Value]]) -> KeptCall | None:
    """A call whose result is kept; None of a function that keeps nothing."""
    written = (one.callee if isinstance(one, CallExpression) else one for one in closure.body.decorators)
    keeper = next((name for one in written if (name := last_name(one)) in _KEEPING), None)
    if keeper is None:
        return None
    named = (part for name, value in keywords for part in (Const(name), value))
    receiver = () if closure.receiver is None else (closure.receiver,)
    return KeptCall(closure.body, keeper, (*receiver, *arguments, *named), bool(receiver))


class KeptResults:
    """The inference tensors that such functions have kept, of whatever path, for those that are run by themselves."""

    def __init__(self) -> None:
        self._given: dict[int, Tensor] = {}
        self._given_in: set[tuple[int, int]] = set()
        self.are_read = False
        """What they have kept is what calls of them give."""

    def __bool__(self) -> bool:
        return bool(self._given)

    def __contains__(self, body: Body) -> bool:
        return id(body) in self._given

    def given_before(self, call: KeptCall, root: Body | None, state: State) -> Value | None:
        """What the function has given for these arguments."""
        found = _given_on_path(call, state)
        if found is None and self.are_read and call.body in self:
            # Where what is run by itself has called it as well, the order of calls is known.
            found = None if (id(call.body), id(root)) in self._given_in else state.add(self._given[id(call.body)])
        return found

    def note(self, call: KeptCall, value: Value, root: Body | None, state: State, *, in_test: bool) -> None:
        """The function has given a value."""
        number, tensor = id(call.body), state.tensor(value)
        # Of an object that another function has, nothing tells that it is the same one.
        is_told = state.modes.inference and not in_test and not call.of_object
        if is_told and tensor is not None and tensor.made and tensor.shown:
            self._given.setdefault(number, _as_kept(call, tensor))
            self._given_in.add((number, id(root)))
        state.kept = {**state.kept, number: (*state.kept.get(number, ())[1 - _MOST_CALLS :], (call.key, value))}


def _given_on_path(call: KeptCall, state: State) -> Value | None:
    """What the function has given on this path for the same arguments.

    Inference tensors are taken to be given again if nothing shows that the arguments are others.
    """
    for known, value in reversed(state.kept.get(id(call.body), ())):
        others = len(known) != len(call.key) or any(
            one != other and ((call.bound and not number) or (isinstance(one, Const) and isinstance(other, Const)))
            for number, (one, other) in enumerate(zip(known, call.key, strict=False))
        )
        tensor = state.tensor(value)
        if tensor is not None and tensor.inference and not others:
            return state.add(_as_kept(call, tensor))
        if known == call.key:
            return value
    return None


def _as_kept(call: KeptCall, tensor: Tensor) -> Tensor:
    made = tensor.made[-1] if tensor.made else None
    if made is None:
        return tensor
    shown = call.body.name if call.of_object else f"{call.body.name}()"
    cached = Cached(made.path, made.span, shown, call.keeper, by_others=True)
    return tensor._replace(cached=cached, name=cached.shown)
