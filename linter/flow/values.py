"""What an expression is worth: values, and the things in the heap that some of them refer to.

Values are small, immutable and hashable, so that a condition over them can be looked up. What can change (a tensor's
kind, an object's attributes, a list's elements) is in the heap of a state, under the number of a `Ref`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeVar

from msgspec import Struct

from guardfix.torch_ops import Op

from ..facts import Span
from ..facts.bodies import Body
from ..facts.expressions import Expression, LiteralExpression, LiteralKind
from ..named_tuples import NamedTuple
from .program import File

Grad = frozenset[int]
"""Which sources must require grad for a tensor to: `CERTAIN`, or the numbers of unknown things; empty for none."""
CERTAIN = 0
REQUIRED: Grad = frozenset((CERTAIN,))
NOT_REQUIRED: Grad = frozenset()


class Step(NamedTuple):
    """One step of a story: what happens at a place, in words."""

    path: str
    span: Span
    message: str


# -- values


class Ref(NamedTuple):
    """A thing in the heap."""

    number: int


class Const(Struct, frozen=True):
    """A value that is known."""

    value: object


NONE = Const(None)
DECLARED = "its declaration"
"""The `Opaque.origin` of what a C++ declaration gives no value: a tensor that isn't defined."""
FILLED = "an unknown call"
"""That of what was declared so, and then given to code that may have filled or emptied it."""


class Plain(NamedTuple):
    """An unknown number, string or other value in which no tensor can be; the same number is the same value."""

    number: int


class Truth(NamedTuple):
    """What a condition over unknown values comes to; the same condition comes to the same."""

    key: tuple[object, ...]
    negated: bool = False


class Name(NamedTuple):
    """What an imported name stands for: `torch.mul`, `os.path`."""

    path: tuple[str, ...]

    @property
    def dotted(self) -> str:
        return ".".join(self.path)


class Closure(Struct, frozen=True, eq=False):
    """A function of the program, with the frames in which it was made."""

    body: Body
    program: File
    """The file that it is in."""
    frame: int | None
    receiver: Value | None = None
    owner: ClassValue | None = None
    """The class whose method it is."""
    guards: tuple[GuardValue, ...] = ()
    """What decorates it, outermost first."""
    undecorated: bool = False
    """Its decorators have been applied."""
    unknown: bool = False
    """Something unknown decorates it: what a call of it does isn't known."""
    types: tuple[tuple[str, Value], ...] = ()
    """What a call gives the type parameters of a C++ template."""


class ClassValue(Struct, frozen=True, eq=False):
    """A class of the program."""

    body: Body
    program: File
    frame: int | None


class Method(NamedTuple):
    """A method of a thing that isn't the program's own: `t.add_`, `optimizer.step`."""

    receiver: Value
    name: str


class Partial(Struct, frozen=True, eq=False):
    """A callable with some of its arguments: `functools.partial`, `std::bind`."""

    callee: Value
    arguments: tuple[Value, ...]
    keywords: tuple[tuple[str, Value], ...]
    guards: tuple[GuardValue, ...] = ()
    """What surrounds each call of it, outermost first: `torch.no_grad()(model.forward)`."""


class GuardValue(NamedTuple):
    """A guard that could be entered: a `with` item, a decorator, an object of a guard's class."""

    name: str
    sets: tuple[tuple[str, bool | None], ...]
    """The fields of `Modes` that it sets; None where it isn't known to what."""
    path: str
    span: Span
    is_engine: bool = False
    """Not a guard in the code: this is the mode in which PyTorch itself runs an autograd function's methods."""


class NullContext(NamedTuple):
    """`nullcontext()`, and other context managers that do nothing to the mode; `value` is what `as` gets."""

    value: Value | None = None


def literal_of(expression: Expression | None) -> Const | None:
    """What a literal stands for."""
    if not isinstance(expression, LiteralExpression):
        return None
    if expression.kind is LiteralKind.NONE:
        return NONE
    if expression.kind is LiteralKind.BOOL:
        return Const(expression.truth)
    if expression.kind is LiteralKind.NUMBER:
        try:
            return Const(float(expression.text.rstrip("fFlLuU").replace("'", "").replace("_", "")))
        except ValueError:
            return None
    return Const(expression.text.strip("\"'"))


Value = Ref | Const | Plain | Truth | Name | Closure | ClassValue | Method | Partial | GuardValue | NullContext


# -- things


class SavingHazard(NamedTuple):
    """A tensor was made by an op that raises if some source requires grad, and otherwise records nothing."""

    kind: str
    sources: Grad
    path: str
    span: Span
    variable: str
    steps: tuple[Step, ...]
    guard: GuardValue | None
    op: str
    presumed: str
    cached: Cached | None = None
    doubt: str = ""
    """Why it is only possible."""
    brought_by: Step | None = None
    """What brings it about, elsewhere."""


class Cached(NamedTuple):
    """Where something is filled if it is empty or too small, and by which function."""

    path: str
    span: Span
    shown: str
    """How messages call it: `self.table`, or a call whose result is kept."""
    function: str
    by_others: bool = False
    """Other classes or functions run the object, and so what fills it."""


class ModelRun(NamedTuple):
    """A call of what may be a model."""

    model: int
    """The thing that is called."""
    guard: GuardValue | None
    """What has begun inference mode; None where it is off."""
    steps: tuple[Step, ...]


class Recorded(NamedTuple):
    """Something that autograd records in a thread that is looked at."""

    step: Step
    doubts: frozenset[str]
    """Why it is only possible."""
    calls: tuple[tuple[Body, Step], ...]
    """Those that led there."""


class Opaque(NamedTuple):
    """Anything: nothing is known of it but what was seen of it."""

    name: str
    """As the program names it, for messages and for what names tell."""
    tensor: bool | None = None
    """Whether it is a tensor."""
    module: bool = False
    """It is used as a module is."""
    attributes: Mapping[str, Value] = MappingProxyType({})
    origin: str = ""
    """The unknown function that gave it, or the declaration that gave it no value."""
    under: GuardValue | None = None
    """The guard under whose inference mode that was: if it gave a new tensor, it is an inference tensor."""


class Tensor(NamedTuple):
    inference: bool | None
    """Whether it is an inference tensor."""
    grad: Grad
    leaf: bool | None = None
    made: tuple[Step, ...] = ()
    """How it came about: the guard that was open, and what made it."""
    guard: GuardValue | None = None
    """The guard under which it was made, where that decides its kind."""
    hazards: tuple[SavingHazard, ...] = ()
    base: int | None = None
    """What it is a view of."""
    presumed: str = ""
    """What was presumed when it was made: "if `model` returns a new tensor"."""
    shown: bool = True
    """Something shows that it is a tensor and no number."""
    open: bool = False
    """It may be an object or a list that holds tensors of its kind: what a model gave back."""
    unrecorded: tuple[Step, ...] = ()
    """Why it has no graph although what it was made of may require grad."""
    off: GuardValue | None = None
    """The guard that had switched recording off then."""
    name: str = ""
    """As the program names it."""
    named: bool = True
    """False of a view or alias that has the name of what it was made of, until it is given one of its own."""
    cached: Cached | None = None
    """The attribute that a condition has filled with it."""
    foreign: bool = False
    """It shares its memory with something that was there before the function was called."""
    counted: bool = False
    """An inference tensor that has a counter all the same, and so may be written: one detached outside the mode."""
    saved: tuple[Step, ...] = ()
    """What saved it for backward, where somebody watches."""
    untracked: GuardValue | None = None
    """Of a view: the guard that had switched recording off when it, or what it is a view of, was made."""
    root: int | None = None
    """The first of the tensors that share its memory, or may."""
    sharing: tuple[int, ...] = ()
    """Of that first one: the others."""
    perhaps: bool = False
    """An op gave it that may have handed its argument back."""
    flat: bool = False
    """It has two dimensions at most: what `t()` gives."""
    awaits_gradient: bool = False
    """A leaf that a recorded op computes with: `backward` gives it a gradient."""
    gradient: Value | None = None
    """The inference tensor that it was given as its gradient."""


class Instance(NamedTuple):
    """An object of a class of the program, or of a library class that is known."""

    kind: str
    """`object`, `module`, `function`, `layer`, `context`, `thread`, `optimizer`, `stack`, `lock` …"""
    name: str
    cls: ClassValue | None = None
    attributes: Mapping[str, Value] = MappingProxyType({})
    complete: bool = True
    """An attribute that isn't in `attributes` isn't there; False where the object came from elsewhere."""


class Items(NamedTuple):
    """A list, tuple, set, vector: its elements, or one that stands for all."""

    kind: str
    values: tuple[Value, ...]
    rest: Value | None = None
    """What further elements are; None where there are none."""
    cls: ClassValue | None = None
    """The class of the program that C++ declares its elements with."""


_MOST_PAIRS = 64
"""Of a table that grows; what is put into a larger one costs its size each time."""


class Table(NamedTuple):
    """A dict or a map."""

    pairs: tuple[tuple[Value, Value], ...]
    rest: Value | None = None
    """What further values are; None where there are none."""
    gives_pairs: bool = False
    """Iterated, it gives its pairs, as C++'s maps do."""
    default: str = ""
    """What a key that isn't there gets, of a `defaultdict`: `list`, `dict`."""

    def with_pair(self, key: Value, value: Value, unknown: Value) -> Table:
        """The table with one more value, or another one for its key; of a large one, some values are unknown."""
        kept = tuple(pair for pair in self.pairs[:_MOST_PAIRS] if pair[0] != key)
        if len(kept) == _MOST_PAIRS:
            return self._replace(pairs=kept, rest=unknown)
        rest = unknown if len(self.pairs) > _MOST_PAIRS else self.rest
        return self._replace(pairs=(*kept, (key, value)), rest=rest)


class Generator(NamedTuple):
    """What a generator function gives: its body runs where it is stepped."""

    closure: Closure
    frame: int


Thing = Opaque | Tensor | Instance | Items | Table | Generator
AnyThing = TypeVar("AnyThing", bound=Thing)


class Modes(NamedTuple):
    """What this thread records: PyTorch's thread-local state. None where it isn't known."""

    grad: bool | None = True
    inference: bool | None = False
    below_autograd: bool | None = False
    below_view: bool | None = False

    @property
    def records(self) -> bool | None:
        """Whether autograd records what is computed."""
        if self.grad is False or self.inference or self.below_autograd or self.below_view:
            return False
        unknown = None in (self.grad, self.inference, self.below_autograd, self.below_view)
        return None if unknown else True


class Traced(NamedTuple):
    """Something that computes, and the modes in which it does."""

    step: Step
    modes: Modes
    op: Op | None
    """Its row in the table of ops; None of a model."""
