"""Decisions: what a use of the old guard is for, and so what should be there instead."""

from .asking import open_questions
from .deciding import decide, is_hardly_decided
from .policy import POLICY, Policy

__all__ = ["POLICY", "Policy", "decide", "is_hardly_decided", "open_questions"]
