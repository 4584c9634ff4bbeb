"""What one file contributes: small, plain, picklable data, and indexes over it."""

from .model import (
    Alias,
    Assignment,
    Branch,
    Call,
    Class,
    Conditional,
    Facts,
    Function,
    Include,
    Invocation,
    Macro,
    Member,
    Parameter,
    Registration,
    Return,
    Suppression,
)
from .spans import NOWHERE, Span
from .use_model import Argument, Comment, Form, GuardUse, Holder

__all__ = [
    "NOWHERE",
    "Alias",
    "Argument",
    "Assignment",
    "Branch",
    "Call",
    "Class",
    "Comment",
    "Conditional",
    "Facts",
    "Form",
    "Function",
    "GuardUse",
    "Holder",
    "Include",
    "Invocation",
    "Macro",
    "Member",
    "Parameter",
    "Registration",
    "Return",
    "Span",
    "Suppression",
]
