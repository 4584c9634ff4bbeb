"""A state: what holds at one point of one path through a program."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from ..facts.bodies import Body
from .values import (
    CERTAIN,
    Const,
    Grad,
    GuardValue,
    Instance,
    Items,
    ModelRun,
    Modes,
    Opaque,
    Plain,
    Ref,
    Step,
    Tensor,
    Thing,
    Value,
)

_Held = TypeVar("_Held")


class SharedTable(dict[int, _Held]):
    """A table over another one, which stays as it is: what many states share is copied for none."""

    __slots__ = ("base",)

    def __init__(
        self, own: Mapping[int, _Held] = MappingProxyType({}), base: Mapping[int, _Held] = MappingProxyType({})
    ) -> None:
        super().__init__(own)
        self.base = base

    def __missing__(self, number: int) -> _Held:
        return self.base[number]

    def __contains__(self, number: object) -> bool:
        return super().__contains__(number) or number in self.base

    def get(self, number: int, default: Any = None) -> Any:
        found = super().get(number)
        return found if found is not None else self.base.get(number, default)

    def is_own(self, number: int) -> bool:
        return super().__contains__(number)


def _tells(thing: Thing) -> bool:
    return isinstance(thing, Tensor) and bool(thing.inference or thing.hazards or thing.unrecorded)


class State:
    """Modes, variables and things of a path, and the conditions that it has taken. Mutable; `fork` for another path."""

    __slots__ = (
        "choices",
        "doubts",
        "facts",
        "frames",
        "given_back",
        "heap",
        "kept",
        "modes",
        "next",
        "opened",
        "receiver",
        "receiver_class",
        "runs",
        "scoped",
        "shielded",
        "telling",
        "trained",
        "trains_in",
    )

    def __init__(self) -> None:
        self.modes = Modes()
        self.opened: tuple[GuardValue, ...] = ()
        """The guards that are open, outermost first."""
        self.scoped: tuple[tuple[Modes, tuple[GuardValue, ...]], ...] = ()
        """For each C++ guard that lives, outermost first: the modes that its destructor restores."""
        self.frames: SharedTable[dict[str, Value]] = SharedTable()
        self.heap: SharedTable[Thing] = SharedTable()
        self.facts: dict[tuple[object, ...], bool] = {}
        self.choices: frozenset[object] = frozenset()
        """Conditions of which this path took one side where the other goes on as well."""
        self.doubts: frozenset[str] = frozenset()
        """Why what happens on this path is possible at most."""
        self.shielded = 0
        """How many blocks are open that expect a failure."""
        self.receiver_class: tuple[int, int] | None = None
        """Of that object: its class (the id of the body), and the last number of what it was made with."""
        self.receiver = 0
        """The number of the object whose method is the root."""
        self.telling = False
        """Whether something was made that a rule may tell of."""
        self.runs: frozenset[ModelRun] = frozenset()
        """What was called as models are."""
        self.trained: tuple[Step, ...] = ()
        """How something came to be differentiated."""
        self.trains_in: Body | None = None
        """The function in which something was differentiated that it had computed itself: there autograd is on."""
        self.given_back: tuple[tuple[int, Value], ...] = ()
        """What the last call has given the variables that it got by reference: (index of the argument, value)."""
        self.kept: Mapping[int, tuple[tuple[tuple[Value, ...], Value], ...]] = MappingProxyType({})
        """By function (its body's id) that keeps what it gives: (arguments, what it gave). Shared by paths."""
        self.next = CERTAIN + 1

    def fork(self) -> State:
        other = State.__new__(State)
        other.modes, other.opened, other.scoped = self.modes, self.opened, self.scoped
        other.frames = SharedTable({number: dict(frame) for number, frame in self.frames.items()}, self.frames.base)
        other.heap = SharedTable(self.heap, self.heap.base)
        other.facts = dict(self.facts)
        other.receiver, other.receiver_class = self.receiver, self.receiver_class
        other.telling = self.telling
        other.given_back, other.kept = self.given_back, self.kept
        other.runs, other.trained, other.trains_in = self.runs, self.trained, self.trains_in
        other.choices, other.doubts, other.shielded, other.next = self.choices, self.doubts, self.shielded, self.next
        return other

    def over(self) -> State:
        """A state that begins as this one is, which must stay so from now on."""
        other = self.fork()
        other.frames = SharedTable({}, self.frames)
        other.heap = SharedTable({}, self.heap)
        return other

    # -- things

    def number(self) -> int:
        self.next += 1
        return self.next

    def add(self, thing: Thing) -> Ref:
        number = self.number()
        self.heap[number] = thing
        self.telling = self.telling or _tells(thing)
        return Ref(number)

    def opaque(self, name: str = "", **known: Any) -> Ref:
        if self.modes.inference and known.get("origin"):
            under = (guard for guard in reversed(self.opened) if ("inference", True) in guard.sets)
            known.setdefault("under", next(under, None))
        return self.add(Opaque(name, **known))

    def plain(self) -> Plain:
        return Plain(self.number())

    def thing(self, value: Value | None) -> Thing | None:
        if not isinstance(value, Ref):
            return None
        try:
            return self.heap[value.number]  # a method of the table would take several times as long
        except KeyError:
            return None

    def tensor(self, value: Value | None) -> Tensor | None:
        thing = self.thing(value)
        return thing if isinstance(thing, Tensor) else None

    def change(self, ref: Ref, **fields: Any) -> None:
        thing = self.heap[ref.number] = self.heap[ref.number]._replace(**fields)
        self.telling = self.telling or _tells(thing)

    def grad_of(self, value: Value) -> Grad:
        """Which sources must require grad for the value to."""
        thing = self.thing(value)
        if isinstance(thing, Tensor):
            return thing.grad
        if isinstance(thing, Opaque) and thing.tensor is not False:
            assert isinstance(value, Ref)
            return frozenset((value.number,))
        return frozenset()

    # -- frames

    def names(self, frame: int) -> dict[str, Value]:
        """The names of a frame, to change them."""
        if not self.frames.is_own(frame):
            self.frames[frame] = dict(self.frames.get(frame, {}))
        return self.frames[frame]

    def enter_frame(self, names: Iterable[tuple[str, Value]] = (), parent: int | None = None) -> int:
        number = self.number()
        self.frames[number] = dict(names)
        if parent is not None:
            self.names(number)["<parent>"] = Plain(parent)
        return number

    def find(self, name: str, frame: int | None) -> tuple[int, Value] | None:
        """The frame that binds a name, from this one outwards, and what it is bound to."""
        while frame is not None:
            try:
                names = self.frames[frame]
            except KeyError:
                return None
            if name in names:
                return frame, names[name]
            outer = names.get("<parent>")
            frame = outer.number if isinstance(outer, Plain) else None
        return None

    def part_of_receiver(self, number: int) -> tuple[int, int] | None:
        """What tells a thing that all methods of the root's class know: the class, and the thing's number."""
        if self.receiver_class is None or number > self.receiver_class[1]:
            return None
        return self.receiver_class[0], number

    # -- comparing

    def take(self, other: State) -> None:
        """Stand for another path as well, which came to the same."""
        self.choices &= other.choices
        self.facts = {fact: value for fact, value in self.facts.items() if other.facts.get(fact) is value}
        self.runs |= other.runs
        self.trained = self.trained or other.trained
        self.trains_in = self.trains_in if self.trains_in is other.trains_in else None

    def outline(self, *frames: int) -> tuple[object, ...]:
        """What tells this state from another where paths come together: what the names of these frames and the
        attributes of the program's objects are bound to, roughly. Which unknown thing it is doesn't count."""
        told: list[object] = [self.modes, self.doubts, self.shielded]
        for frame in frames:
            told += [(name, self._brief(value)) for name, value in self.frames.get(frame, {}).items()]
        if self.telling:
            for number, thing in self.heap.items():
                if isinstance(thing, Instance) and thing.attributes:
                    told.append((number, *((name, self._brief(value)) for name, value in thing.attributes.items())))
        return tuple(told)

    def are_alike(self, values: tuple[Value, ...]) -> bool:
        """Whether nothing that a rule tells depends on which of these values it is."""
        first = values[0]
        is_tensor = isinstance(self.thing(first), Tensor)
        return all(one == first or (is_tensor and self._brief(one) == self._brief(first)) for one in values[1:])

    def _brief(self, value: Value, depth: int = 2) -> object:
        if not isinstance(value, Ref):
            return (type(value.value), value.value) if isinstance(value, Const) else type(value)
        thing = self.thing(value)
        if isinstance(thing, Tensor):
            return thing.inference, bool(thing.grad), len(thing.hazards), bool(thing.unrecorded), thing.shown
        if isinstance(thing, Items) and depth:
            rest = self._brief(thing.rest, depth - 1) if thing.rest is not None else None
            return (*(self._brief(one, depth - 1) for one in thing.values[:4]), rest)
        return type(thing if thing is not None else value)
