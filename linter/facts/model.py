"""What one file contributes: small, plain, picklable data.

All spans are byte offsets into the UTF-8 form of the file's text (`Source.text`), half open.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from ..answered_once import answered_once
from ..named_tuples import NamedTuple
from .bodies import Body
from .expressions import (
    Bracketed,
    CallExpression,
    Expression,
    KeywordArgument,
    LambdaExpression,
    MemberAccess,
    NamePath,
    TypeName,
    last_name,
    simple_name,
)
from .intents import Intent
from .packing import pack, unpack
from .python_model import PythonFacts
from .spans import Span
from .use_model import GuardUse


class Parameter(NamedTuple):
    type: TypeName
    name: str


class Function(NamedTuple):
    """A function, method or lambda that has a body."""

    name: str
    """Unqualified; empty for a lambda."""
    qualified: tuple[str, ...]
    """With the namespaces, modules and classes around it; of a lambda, these alone."""
    span: Span
    body: Span
    declared_as: tuple[str, ...] = ()
    """Its name as the definition writes it: `Net::run` outside the class."""
    parent: int | None = None
    """The function around a lambda or a local class's method."""
    class_: int | None = None
    """The class in whose body it is defined."""
    parameters: tuple[Parameter, ...] = ()
    returns: TypeName | None = None
    is_lambda: bool = False
    immediately_invoked: bool = False
    passed_to: Expression | None = None
    """The callee of which a lambda is an argument, or the type of what is built from it."""
    assigned_to: Expression | None = None
    """The variable that a lambda initialises."""
    is_static: bool = False
    """`static`, or in an unnamed namespace: no other file can name it."""
    macro: str | None = None
    """The macro in whose body it is; its names are then written with that macro's parameters and `##`."""
    is_read: bool = True
    """False where it was left out: what is in its body is not in the facts."""


class Member(NamedTuple):
    type: TypeName
    name: str
    span: Span


class Class(NamedTuple):
    name: str
    qualified: tuple[str, ...]
    span: Span
    bases: tuple[Expression, ...] = ()
    members: tuple[Member, ...] = ()
    has_methods: bool = False
    """It has a member function other than constructors and the destructor."""
    has_constructors: bool = False
    """It declares a constructor that is neither deleted nor the default: what its members are given may be there."""
    only_data: bool = False
    """Nothing but data members is declared in it: no function, no destructor, no friend."""


class Call(NamedTuple):
    expression: CallExpression
    span: Span
    function: int | None

    @property
    def called(self) -> Expression:
        """What is called: a name, a member, whatever gives a function."""
        return self.expression.callee

    @property
    def arguments(self) -> tuple[Expression, ...]:
        """Python's keyword arguments by their values, after the others."""
        given = self.expression.arguments
        return tuple(one.value if isinstance(one, KeywordArgument) else one for one in given)

    @property
    def name(self) -> str:
        """Last identifier of what is called; empty for a lambda or an expression in brackets."""
        return last_name(self.called)

    @property
    def receiver(self) -> Expression | None:
        """The object before `.` or `->`; None for a free call."""
        return self.called.object if isinstance(self.called, MemberAccess) else None

    @property
    def path(self) -> tuple[str, ...]:
        """`("at", "add")` of `at::add<int>(x)`; nothing for a call on an object."""
        return self.called.path if isinstance(self.called, NamePath) else ()

    @property
    def callee(self) -> str:
        """What is called, as written: for messages."""
        return "" if isinstance(self.called, (LambdaExpression, Bracketed)) else str(self.called)


class Registration(NamedTuple):
    """One function given to the dispatcher."""

    function: tuple[str, ...]
    """As written, `&`, `TORCH_FN` and the like taken off; empty for a lambda."""
    key: str
    """Dispatch key as written without `DispatchKey::` (`Autograd`, `CPU`); empty for all keys."""
    operator: str
    namespace: str
    span: Span


class Assignment(NamedTuple):
    """`target = value`, or a declaration with or without a value."""

    target: Expression
    """Of a declaration, the name without `&` and `*`; a list for a structured binding."""
    declares: bool
    operator: str
    value: Expression | None
    """A list in brackets for `T name(…)` and `T name{…}`; None for `T name;`."""
    span: Span
    function: int | None
    type: TypeName | None = None
    """Of a declaration."""

    @property
    def variable(self) -> str:
        """The name of the variable that is declared or given a value; empty for a member, an element, several."""
        return simple_name(self.target)

    @property
    def builds(self) -> bool:
        """Whether it is `T name;`, `T name(…);` or `T name{…};`, a declaration that gives no other value."""
        return self.declares and (self.value is None or isinstance(self.value, Bracketed))


class Return(NamedTuple):
    value: Expression | None
    span: Span
    function: int | None


class Branch(NamedTuple):
    """One arm of an `#if`; its condition is empty for `#else`."""

    condition: str
    span: Span
    directive: Span
    condition_start: int = 0
    """Where the condition begins as written; it ends with the directive."""


class Conditional(NamedTuple):
    """An `#if … #endif` with its arms."""

    branches: tuple[Branch, ...]
    span: Span


class Alias(NamedTuple):
    """`using name = target;`, `typedef target name;`, `namespace name = target;`, `using namespace target;`."""

    name: str
    """Empty for `using namespace`."""
    target: Expression
    span: Span
    kind: str
    """type, namespace, using-namespace or using-declaration."""

    @property
    def path(self) -> tuple[str, ...]:
        """The identifiers of the target, without template arguments; nothing for what is not named."""
        return self.target.path if isinstance(self.target, (NamePath, TypeName)) else ()


class Macro(NamedTuple):
    name: str
    parameters: tuple[str, ...]
    span: Span
    body: Span


class Invocation(NamedTuple):
    """One place where a macro with a guard in it is expanded, directly or by another macro."""

    macro: str
    arguments: tuple[str, ...]
    span: Span


class Include(NamedTuple):
    header: str
    span: Span
    """The whole directive, without the line's end."""
    system: bool


class Template(NamedTuple):
    """Where C++ is in a program that writes it."""

    name: str
    """The variable that is given the text; empty where none is."""
    place: Span
    """Of the text, or of the condition."""
    condition: str = ""
    """Of the innermost `if` around the text, as written."""
    other_guards: tuple[str, ...] = ()
    """The guards that its other branch writes."""


class JoinedTexts(NamedTuple):
    """An expression that joins texts of C++ to one program: `load_inline(cpp_sources=[a, b])`, `HEAD + BODY`."""

    start: int
    """Where it begins in the file: texts with the same one belong together."""
    files: tuple[str, ...] = ()
    """The source files that it reads, as written."""


class Suppression(NamedTuple):
    """A comment that silences rules on some rows; no codes means every rule."""

    rows: range
    codes: tuple[str, ...]
    """As written."""
    places: tuple[Span, ...] = ()
    """Where the comment says it: one place, or a begin and its end."""


MOST_AROUND = 16
"""Functions and scopes around a place that are looked at, and guards of one scope. Only generated code has more."""


class Facts(Struct, frozen=True, eq=False, array_like=True, dict=True):
    """All that one file contributes to the project. Compared by identity: two readings are two things."""

    path: str
    language: str
    unreadable: str = ""
    """Why the file could not be read; then everything else is empty."""
    digest: bytes = b""
    """Of the text that was read: edits are for that text alone."""
    notes: tuple[str, ...] = ()
    partial: bool = False
    """The parser was lost somewhere in the file."""
    error_row: int = 0
    guard_uses: tuple[GuardUse, ...] = ()
    functions: tuple[Function, ...] = ()
    classes: tuple[Class, ...] = ()
    calls: tuple[Call, ...] = ()
    registrations: tuple[Registration, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    returns: tuple[Return, ...] = ()
    deletes: tuple[Expression, ...] = ()
    """Operands of `delete`."""
    conditionals: tuple[Conditional, ...] = ()
    aliases: tuple[Alias, ...] = ()
    macros: tuple[Macro, ...] = ()
    invocations: tuple[Invocation, ...] = ()
    """Of macros that have a guard in them, or that were asked for."""
    parallel_blocks: tuple[Span, ...] = ()
    """What is below `#pragma omp parallel`."""
    includes: tuple[Include, ...] = ()
    declared: tuple[tuple[str, ...], ...] = ()
    """Qualified names of the functions and methods that are declared without a body: another file may define them."""
    suppressions: tuple[Suppression, ...] = ()
    intents: tuple[Intent, ...] = ()
    """What comments declare guards to be for."""
    line_starts: tuple[int, ...] = ()
    python: PythonFacts | None = None
    """What only Python files have."""
    embedded: tuple[Facts, ...] = ()
    """Facts of the C++ that is in this file's string literals or fenced blocks, each its own piece."""
    template: Template | None = None
    """Of such a piece: what the program around it does with the text."""
    built: tuple[JoinedTexts, ...] = ()
    """Of such a piece: what the program around it builds of the text together with others."""
    linked: bool = False
    """A file that a build compiles: its macros hold there, and other such files call its functions by their names."""
    bodies: tuple[Body, ...] = ()
    """What guards and their tensors can reach of the file's code, as statements; of Python one body, the module's."""

    def __reduce__(self) -> tuple[Callable[[type[Facts], bytes], Facts], tuple[type[Facts], bytes]]:
        # A tenth of the time that pickling its parts one by one takes.
        return unpack, (Facts, pack(self))

    @property
    def answers(self) -> dict[Any, Any]:
        """What was asked of the file and follows from its facts alone: see `answered_once`."""
        return self.__dict__

    def enclosing(self, function: int | None) -> tuple[Function, ...]:
        """The function with that index and those around it, innermost first.

        Of more than `MOST_AROUND`, those between the innermost ones and the outermost one are left out.
        """
        chain: list[Function] = []
        while function is not None:
            if len(chain) == MOST_AROUND - 1:
                return (*chain, self.functions[_outermost_functions(self)[function]])
            chain.append(self.functions[function])
            function = self.functions[function].parent
        return tuple(chain)

    def rows(self, span: Span) -> range:
        """The rows on which a span is."""
        return range(self.row(span.start), self.row(max(span.start, span.end - 1)) + 1)

    def row(self, offset: int) -> int:
        """The row of a byte offset, from 1."""
        return bisect_right(self.line_starts, offset)


@answered_once
def function_depths(facts: Facts) -> list[int]:
    """How many functions are around each function."""
    found = [0] * len(facts.functions)
    for number in sorted(range(len(found)), key=lambda number: facts.functions[number].span.start):
        parent = facts.functions[number].parent
        if parent is not None:
            found[number] = found[parent] + 1
    return found


@answered_once
def _outermost_functions(facts: Facts) -> list[int]:
    """For each function, the index of the outermost one around it."""
    found = list(range(len(facts.functions)))
    for number in sorted(found, key=lambda number: facts.functions[number].span.start):
        parent = facts.functions[number].parent
        if parent is not None:
            found[number] = found[parent]
    return found
