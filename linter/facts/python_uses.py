"""A Python file's guard uses, asked for by guard, form or place."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from .. import guards
from ..answered_once import answered_once
from . import Facts, Form, GuardUse, Span
from .python_model import PythonUse

MODES: Final = guards.GuardNames(guards.PYTHON, guards.public_guards)
"""The public guards: context managers and decorators alike."""
C_GUARDS: Final = guards.GuardNames(guards.PYTHON, guards.torch_c_guards)
"""The guards of torch._C, which aren't decorators."""


def uses_of(facts: Facts, names: Collection[str], *forms: Form) -> Iterator[PythonUse]:
    """The file's uses of those guards, in those forms (all when none is given)."""
    if facts.python is None:
        return
    for use in facts.python.uses:
        if use.use.guard in names and (not forms or use.use.form in forms):
            yield use


def use_behind(facts: Facts, use: GuardUse) -> PythonUse | None:
    """Python's side of a guard use."""
    return _uses_by_place(facts).get(use.type_span)


@answered_once
def _uses_by_place(facts: Facts) -> dict[Span, PythonUse]:
    found = facts.python.uses if facts.python is not None else ()
    return {one.use.type_span: one for one in reversed(found)}


def runs_inference(facts: Facts) -> bool:
    """Whether code of the file runs under inference mode."""
    return any(use.guard == guards.PYTHON_INFERENCE_MODE for use in facts.guard_uses)
