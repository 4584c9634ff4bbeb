"""What a running function carries: its activation, the frames of an error, the errors themselves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..core.resource_budget import LimitReached
from .script_values import ArchiveError, Error

if TYPE_CHECKING:
    from .script_source import ParsedFunction

LINE = 0
"""Key of the line that runs, in the environment of a function; variables have strings as keys."""
ACTIVATION = 1

_DEEPEST = 100
_WIDEST = 1000
"""Characters of a line of code that an error shows."""
PREAMBLE = "The following operation failed in the TorchScript interpreter.\n"


@dataclass(slots=True)
class Activation:
    """How deep the calls are."""

    depth: int = 0

    def deeper(self) -> Activation:
        """The activation of a function called from here. ArchiveError on recursion, which TorchScript has not."""
        if self.depth >= _DEEPEST:
            raise ArchiveError(f"calls nest more than {_DEEPEST} deep: TorchScript has no recursion")
        return Activation(self.depth + 1)


class ScriptRaise(Exception):
    """A `raise` in the code of the archive, before it has its traceback."""

    def __init__(self, message: str, class_name: str | None) -> None:
        super().__init__(message)
        self.message = message
        self.class_name = class_name


@dataclass(frozen=True)
class ScriptFrame:
    function: ParsedFunction
    line: int

    def __str__(self) -> str:
        """Two lines of PyTorch's traceback: place, then the statement with an arrow."""
        first = self.function.node.lineno
        lines = self.function.source.split("\n")
        shown = lines[max(0, self.line - first - 2) : self.line - first + 1]
        statement = shown[-1] if shown else ""
        indent = len(statement) - len(statement.lstrip())
        marker = " " * indent + "~" * max(1, len(statement.strip())) + " <--- HERE"
        body = "".join(f"{line[:_WIDEST]}\n" for line in [*shown, marker])
        return f'  File "{self.function.record}", line {self.line}, in {self.function.name}\n{body}'


@dataclass(eq=False)
class ScriptFailure(Exception):
    """An error on its way out of the interpreter, collecting the frames it passes, innermost first."""

    cause: Exception
    frames: list[ScriptFrame] = field(default_factory=list)

    def translated(self) -> Exception:
        """What Python sees: PyTorch's exception type, and its text with the traceback of the archive's code."""
        cause = self.cause
        if isinstance(cause, LimitReached):
            cause = ArchiveError(f"{cause}; `limits` of jit.load can raise that")
        elif isinstance(cause, MemoryError):
            cause = ArchiveError("asks for more memory than there is")
        if isinstance(cause, ArchiveError):
            if cause.record is None and self.frames:
                cause.record, cause.line = self.frames[0].function.record, self.frames[0].line
            return cause
        trace = "".join(str(frame) for frame in reversed(self.frames))
        head = f"{PREAMBLE}Traceback of TorchScript, serialized code (most recent call last):\n{trace}"
        if isinstance(cause, ScriptRaise):
            return Error(f"{head}{cause.class_name or 'RuntimeError'}: {cause.message}\n")
        text = f"{head}RuntimeError: {_message(cause)}\n"
        return NotImplementedError(text) if isinstance(cause, NotImplementedError) else RuntimeError(text)


def _message(cause: Exception) -> object:
    if isinstance(cause, RecursionError):
        return "the code nests too deep"
    if isinstance(cause, KeyError):
        return f"KeyError: {cause}"
    return cause
