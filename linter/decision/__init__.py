"""Decisions: what a use of the old guard is for, and so what should be there instead."""

from .asking import open_questions
from .deciding import decide
from .policy import POLICY, Policy
from .weighing import is_open

__all__ = ["POLICY", "Policy", "decide", "is_open", "open_questions"]
