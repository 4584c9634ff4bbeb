"""Decisions: what a use of the old guard is for, and so what should stand there instead."""

from .deciding import REPLACEMENTS, decide, open_questions

__all__ = ["REPLACEMENTS", "decide", "open_questions"]
