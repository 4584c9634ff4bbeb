"""Which guards say that no gradients are wanted."""

from __future__ import annotations

from ..facts import Form, GuardUse
from ..guards import INFERENCE_MODE, NO_GRAD, PYTHON_INFERENCE_MODE


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
