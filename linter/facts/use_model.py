"""One use of a guard, as both languages have it."""

from __future__ import annotations

from msgspec import Struct

from ..named_tuples import NamedTuple
from ..str_enum import StrEnum
from .expressions import Bracketed, Expression, NamePath, last_name
from .spans import NOWHERE, Span


class Form(StrEnum):
    """The syntactic form in which a guard is."""

    DECLARATION = "declaration"
    AUTO = "auto"
    MEMBER = "member"
    BASE = "base class"
    TEMPORARY = "temporary"
    HEAP = "heap"
    OPTIONAL = "optional"
    STATIC = "static"
    GLOBAL = "namespace scope"
    ALIAS = "alias"
    USING = "using declaration"
    TEMPLATE_ARGUMENT = "template argument"
    VEXING_PARSE = "vexing parse"
    STATIC_CALL = "static call"
    REFERENCE = "reference"
    WITH = "with item"
    DECORATOR = "decorator"
    IMPORT = "import"
    ARGUMENT = "part of an expression"


MOST_NAMED = 100
"""Places of a variable's name that are kept: a scope of generated code may hold many guards of one name."""


class Argument(NamedTuple):
    """What a constructor is given."""

    span: Span
    expression: Expression
    """The brackets with what is in them; without brackets, what follows `=`."""
    value: bool | None
    """Of a single bool that the file itself decides."""

    @property
    def items(self) -> tuple[Expression, ...]:
        """The arguments, without the brackets."""
        return self.expression.items if isinstance(self.expression, Bracketed) else (self.expression,)

    @property
    def empty(self) -> bool:
        return not self.items

    @property
    def name(self) -> str:
        """The variable that is alone in round brackets: `enabled` of `(enabled)`; empty of anything else."""
        if not isinstance(self.expression, Bracketed) or self.expression.brackets != "()" or len(self.items) != 1:
            return ""
        only = self.items[0]
        return str(only) if isinstance(only, NamePath) and only.path == (str(only),) else ""


class Holder(NamedTuple):
    """What is given a guard that was made on the heap."""

    target: Expression | None
    """None when nothing is: the expression is its own statement."""
    declared: bool
    """The holder is declared there, so that it ends with the block."""
    raw: bool
    """A plain pointer, which destroys nothing."""

    @property
    def name(self) -> str:
        """As written; empty when there is none."""
        return str(self.target) if self.target is not None else ""

    @property
    def last(self) -> str:
        """The variable's or the member's own name: `guard_` of `this->guard_`."""
        return last_name(self.target)


class Comment(NamedTuple):
    """A comment about a guard."""

    span: Span
    text: str
    """Without the marks of a comment, on one line."""
    alone: bool
    """It is on its own lines, directly above the guard; if not, after it."""


class GuardUse(Struct, frozen=True, array_like=True, gc=False):
    """One place where a guard is."""

    guard: str
    """Name in the guard table, whatever alias it was written through."""
    form: Form
    span: Span
    """The whole statement or declaration, with its semicolon where it has one."""
    type_span: Span
    """The guard's type as written, qualifiers included."""
    named: Expression
    """The guard's type as it is named there, qualifiers included."""
    alias: str | None = None
    """The alias through which the guard was named."""
    variable: str | None = None
    variable_spans: tuple[Span, ...] = ()
    """Every place in the scope where the variable's name occurs, its declaration first.

    Of a local variable no more than `MOST_NAMED`.
    """
    argument: Argument | None = None
    built: tuple[Argument, ...] = ()
    """Constructor arguments that are apart from the type: of an optional, in `emplace`, in `: member(…)`."""
    holder: Holder | None = None
    """Of a guard on the heap: what keeps it; None when it is handed on, or that isn't known."""
    scope: Span = NOWHERE
    """The block at whose end the guard is destroyed."""
    first_work: Span | None = None
    """The first statement after it in its scope that can do something; None when nothing is left to cover."""
    after: tuple[Span, ...] = ()
    """Of an InferenceMode: what is surely reached from the end of its scope, in the same function."""
    function: int | None = None
    """Index of the innermost function or lambda in `Facts.functions`."""
    class_: int | None = None
    """Index in `Facts.classes`, for members and bases."""
    namespace: tuple[str, ...] = ()
    macro: str | None = None
    """The macro in whose body the guard is."""
    under_error: bool = False
    """The parser was lost here: nothing may be edited on its word alone."""
    shared: bool = False
    """The declaration has other declarators (`at::G a, b;`), or is where no statement can be taken out."""
    comments: tuple[Comment, ...] = ()
    """Those above it and after it, in C++."""

    @property
    def is_branch(self) -> bool:
        """It is a branch or a loop's body, without braces: `if (inference) at::G guard;`."""
        return self.scope == self.span and self.form is Form.DECLARATION

    @property
    def written(self) -> str:
        """The guard's type as messages show it."""
        return str(self.named)

    @property
    def declares_its_argument(self) -> bool:
        """`at::G(name);` declares a variable of that name ([dcl.ambig.res]); it constructs no temporary."""
        return (
            self.form is Form.TEMPORARY
            and self.argument is not None
            and self.argument.value is None
            and self.argument.name != ""
        )

    @property
    def live(self) -> Span:
        """The part of the scope that the guard covers: from its end to the end of the block."""
        return Span(self.span.end, max(self.span.end, self.scope.end))
