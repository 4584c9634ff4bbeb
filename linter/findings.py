"""What the rules say: evidence, decisions, findings."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from .facts import GuardUse, Span


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Context(StrEnum):
    """What a use of the old guard is for, and so what should stand there instead."""

    INFERENCE = "inference"
    KERNEL = "kernel"
    BELOW_AUTOGRAD = "below_autograd"
    REMOVE = "remove"
    UNKNOWN = "unknown"


class Confidence(StrEnum):
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True, slots=True)
class Evidence:
    """One reason, in words, with its place."""

    message: str
    path: str
    offset: int
    row: int
    supports: Context = Context.UNKNOWN


@dataclass(frozen=True, slots=True)
class Decision:
    context: Context
    replacement: str | None
    confidence: Confidence
    evidence: tuple[Evidence, ...]

    def reason(self, evidence: Evidence) -> str:
        """One piece of evidence with the side that it is on."""
        if evidence.supports is Context.UNKNOWN:
            return f"against inference: {evidence.message}"
        doubt = evidence.supports is not self.context and self.context is not Context.UNKNOWN
        return f"{'but ' if doubt else ''}for {evidence.supports}: {evidence.message}"


@dataclass(frozen=True, slots=True)
class Finding:
    code: str
    name: str
    message: str
    severity: Severity
    path: str
    span: Span
    decision: Decision | None = None
    use: GuardUse | None = field(default=None, compare=False)
    variable: str = ""
    """The variable that the finding is about, where that is not the guard's own."""
