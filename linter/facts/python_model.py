"""What a Python file contributes beyond the facts that both languages share."""

from __future__ import annotations

from msgspec import Struct

from ..named_tuples import NamedTuple
from ..str_enum import StrEnum
from .spans import Span
from .use_model import GuardUse


class Kind(StrEnum):
    """What a decorator decorates."""

    FUNCTION = "function"
    GENERATOR = "generator"
    ASYNC_FUNCTION = "async function"
    ASYNC_GENERATOR = "async generator"
    CLASS = "class"


class Decorated(NamedTuple):
    """The function or class below a decorator."""

    name: str
    kind: Kind
    span: Span
    """From its first decorator to its end."""
    definition: int
    """Where its `def` or `class` begins, after the decorators."""
    decorators: tuple[str, ...]
    """As dotted names, from above; the lowest is applied first."""
    position: int
    """Which of them this one is."""
    suspension_points: bool
    """Its own body holds `await` or `yield`."""


class SuspensionPoint(NamedTuple):
    """A `yield`, `await`, `async for` or `async with`."""

    word: str
    span: Span


class Following(NamedTuple):
    """The statement after a bare one, where that is a `def` or `class`."""

    kind: Kind
    start: int
    """Of its first decorator, or of its keyword."""
    descriptor: bool = False
    """Its first decorator may make something else of it than a function: `@property`, `@classmethod`."""


class PythonUse(Struct, frozen=True, array_like=True, gc=False):
    """A guard use, with what only Python says about it."""

    use: GuardUse
    called: bool
    """The guard is called, not only named."""
    call_span: Span
    """The whole expression: name, brackets and arguments."""
    mode: bool | None = None
    """The literal mode that it is called with, or that stands for a left-out argument; None when not known."""
    target_span: Span | None = None
    """` as name` of a `with` item."""
    target_used: bool = False
    """The name of `as name` is used somewhere in the function."""
    items: int = 1
    """How many items the `with` statement has."""
    decorated: Decorated | None = None
    following: Following | None = None
    suspension_points: tuple[SuspensionPoint, ...] = ()
    """Inside the `with` block, not inside functions that are defined there."""
    resumes: str = ""
    """Why pauses are meant here: the decorator that makes the generator a context manager, or guards its steps."""
    only_read: bool = False
    """Whoever steps the generator, as far as this file shows it, only looks at what it yields."""
    entered: bool = False
    """A variable that holds the guard is entered, left, passed on or returned somewhere."""
    released: bool = False
    """The variable is deleted or set to None where that happens on every way out: in a `finally`, or in
    another method of the object that holds it."""
    around: tuple[int, ...] = ()
    """Indices of the uses that cover this one, in the same function, outermost first."""
    sole: bool = False
    """The `with` statement is the only statement of the guard's block around it."""
    local: bool = False
    """It is in a function, not at the top of a module or class."""
    origin: str = ""
    """The dotted name as it resolves in this file; a name of the project's own is resolved later."""
    async_with: bool = False
    expected: bool = False
    """It is in a block of a test that expects a failure or a warning."""


class Training(NamedTuple):
    """A sign that the file trains with something that inference tensors do not mix with."""

    what: str
    span: Span


class Disagreement(NamedTuple):
    """A construct that `ast` proposes and libcst, the parser of record, reads otherwise or not at all."""

    span: Span
    proposed: str
    """What `ast` reads, in words: `with item`."""
    confirmed: str
    """What libcst reads there: `decorator`, `nothing of that kind`."""


class PythonFacts(Struct, frozen=True, array_like=True, gc=False):
    uses: tuple[PythonUse, ...] = ()
    training: tuple[Training, ...] = ()
    """Empty where the file trains nothing, and in a run in which no rule asks."""
    wraps: tuple[Training, ...] = ()
    """The same signs, whether it trains or not."""
    exports: tuple[tuple[str, str], ...] = ()
    """(name, dotted name) of guards and possible guards that the module binds at its top."""
    stars: tuple[str, ...] = ()
    """Modules that the file imports everything from."""
    torch_name: str = ""
    """The name under which the file has torch; empty when it has not."""
    imports_end: int = 0
    """Where a further import can be written: the start of the line after the last import at the top."""
    is_script: bool = False
    """It is run, and not imported: it begins with `#!`, asks for `__main__`, or does work at its top."""
    disagreements: tuple[Disagreement, ...] = ()
    """Where the two parsers disagreed about something that a rule would have reported."""
