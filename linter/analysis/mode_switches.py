"""Where grad mode is switched off by a call, and how it comes back: what both languages' readings give."""

from __future__ import annotations

from ..facts import Span
from ..lazy_regex import lazy_regex
from ..named_tuples import NamedTuple

OWNS_THE_MODE = lazy_regex(
    r"(?i)^_*(?:main|cli|demo|serve|launch|run_cli|entry_?point|worker|benchmark)(?:_|$)|_(?:main|worker|process|loop)$"
    r"|^_*(?:set|enable|disable|turn|switch|toggle|configure|prepare|tear_?down|initiali[sz]e|init_(?!_)|init$)"
)
"""Functions that run as long as the process or thread does, or whose purpose is to set things up."""


class ModeSwitch(NamedTuple):
    """A statement that switches grad mode off, where the mode may be left so."""

    span: Span
    written: str
    """What is called."""
    restore: Span | None = None
    """The statement that sets the mode again, which an exception skips; None when nothing does."""
    skipped_by: str = ""
    """What is between and may raise."""
    function: str = ""
    """Empty at the top of a module."""
