"""What the rules say: evidence, decisions, findings."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from .facts import GuardUse, Span
from .str_enum import StrEnum


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Applicability(StrEnum):
    """Safe: the meaning is kept. Unsafe: it may change. Display: shown, never applied."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    DISPLAY = "display"

    def at_most(self, other: Applicability) -> Applicability:
        """The one of the two that claims less."""
        return max(self, other, key=list(Applicability).index)


class Context(StrEnum):
    """What a use of the old guard is for, and so what should be there instead."""

    INFERENCE = "inference"
    KERNEL = "kernel"
    BELOW_AUTOGRAD = "below_autograd"
    REMOVE = "remove"
    UNKNOWN = "unknown"


class Side(Enum):
    """What a reason speaks for. Against inference is its own side: it is not the same as undecided."""

    KERNEL = "kernel"
    BELOW_AUTOGRAD = "below_autograd"
    INFERENCE = "inference"
    REMOVE = "remove"
    AGAINST_INFERENCE = "against_inference"

    @property
    def context(self) -> Context | None:
        """The context that the side speaks for; None when it only speaks against one."""
        return None if self is Side.AGAINST_INFERENCE else Context(self.value)


class Confidence(StrEnum):
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Evidence(Struct, frozen=True):
    """One reason, in words, with its place."""

    message: str
    path: str
    offset: int
    row: int
    side: Side | None
    """None for what speaks for nothing, but says how sure the decision can be."""
    signal: str
    """The name of the kind of signal that was found."""


class StepTaken(Struct, frozen=True):
    """One step of how a finding comes about, in words, with its place."""

    message: str
    path: str
    offset: int
    row: int


class Decision(Struct, frozen=True):
    context: Context
    replacement: str | None
    confidence: Confidence
    evidence: tuple[Evidence, ...]

    def reason(self, evidence: Evidence) -> str:
        """One piece of evidence with the side that it is on."""
        if evidence.side is None:
            return evidence.message
        if evidence.side is Side.AGAINST_INFERENCE:
            return f"against inference: {evidence.message}"
        doubt = self.context not in (evidence.side.context, Context.UNKNOWN)
        return f"{'but ' if doubt else ''}for {evidence.side.value}: {evidence.message}"


class Finding(Struct, frozen=True, eq=False):
    """What a rule has found. Two are equal that say the same of the same place."""

    code: str
    name: str
    message: str
    severity: Severity
    path: str
    span: Span
    decision: Decision | None = None
    use: GuardUse | None = None
    variable: str = ""
    """What the finding is about besides: a variable that is not the guard's own, or the codes in a comment."""
    url: str | None = None
    """The page of a rule that does not come with guardfix, empty when it has none; None for guardfix's own."""
    steps: tuple[StepTaken, ...] = ()
    """How it comes about, where an abstract run has shown it."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Finding) and other.__class__ is self.__class__ and self._said() == other._said()

    def __hash__(self) -> int:
        return hash(self._said())

    def _said(self) -> tuple[object, ...]:
        where = self.path, self.span
        return self.code, self.name, self.message, self.severity, *where, self.decision, self.variable
