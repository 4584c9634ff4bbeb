"""What the rules say: evidence, decisions, findings, and the edits that mend them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from .facts import GuardUse, Span
from .str_enum import StrEnum


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


class Applicability(StrEnum):
    """Safe: the meaning is kept. Unsafe: it may change. Display: shown, never applied."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    DISPLAY = "display"


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


class Edit(NamedTuple):
    """Replace the bytes of `span` by `content`."""

    span: Span
    content: str


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits of one file that belong together: all of them are applied, or none."""

    message: str
    applicability: Applicability
    edits: tuple[Edit, ...]
    name: str = ""
    """Names a fix that a user may take or leave on its own (`hoist`)."""


@dataclass(frozen=True, slots=True)
class Finding:
    code: str
    name: str
    message: str
    severity: Severity
    path: str
    span: Span
    decision: Decision | None = None
    fix: Fix | None = None
    more_fixes: tuple[Fix, ...] = ()
    """Further fixes, each offered on its own, after `fix`."""
    use: GuardUse | None = field(default=None, compare=False)
