"""Which guards say that no gradients are wanted, and which statements leave recording off."""

from __future__ import annotations

from ..facts import Form, GuardUse, Span
from ..guards import INFERENCE_MODE, NO_GRAD, PYTHON_INFERENCE_MODE
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


def is_implied_by_inference_mode(use: GuardUse) -> bool:
    """`NoGradGuard`, or `AutoGradMode` with a literal false: implied by InferenceMode."""
    if use.guard == "NoGradGuard":
        return use.argument is None or use.argument.empty
    return use.guard == "AutoGradMode" and use.argument is not None and use.argument.value is False


def switches_grad_off(use: GuardUse) -> bool:
    """Whether a guard says that no gradients are wanted: NoGradGuard, AutoGradMode(false), InferenceMode, no_grad."""
    if use.form not in (Form.DECLARATION, Form.AUTO, Form.MEMBER, Form.WITH, Form.DECORATOR):
        return False
    constant = use.argument is None or use.argument.empty or use.argument.value is not None
    if use.guard == "AutoGradMode":
        return use.argument is not None and use.argument.value is False
    if use.guard in (INFERENCE_MODE, PYTHON_INFERENCE_MODE):
        return constant and not (use.argument is not None and use.argument.value is False)
    return use.guard in ("NoGradGuard", NO_GRAD)
