"""GF504 inference-mode-in-training: inference mode for validation in code that trains with FSDP, XLA or torch.compile.

What it flags: `torch.inference_mode()` in a file that computes gradients, runs a `…Trainer` or has its model set up by
Lightning Fabric, Accelerate or DeepSpeed, and that wraps models with FullyShardedDataParallel, `fully_shard`,
`FSDPStrategy`, DeepSpeed or `torch.compile`, or imports torch_xla. Also in a function or class that another file
hands the model to which it trains, where one of the two, or a file that calls the training function, wraps models so.
Off by default: much of this code works.

Why it is bad: these wrap the model's own parameters and buffers, and create or swap tensors when the model runs.
What they create during validation under inference mode is an inference tensor, which the next training step can't
use.

Example:

    model = FullyShardedDataParallel(model)
    with torch.inference_mode():
        validate(model)
    loss.backward()

Use instead: `torch.no_grad()` around validation.

Fix: unsafe: it is replaced by `no_grad`, which is a little slower and tracks versions.

Not flagged: files that don't train; files that mention these only in comments, strings or `isinstance`;
models that are not trained where they are handed on from (a teacher); `inference_mode(False)` and
`inference_mode(flag)`; test files (`test_….py`, `…_test.py`), which train in one
function and predict in another.

Limits: the wrappers are known by their names. Whether the guard covers a wrapped model isn't checked.

References: https://github.com/pytorch/pytorch/issues/113203 (FSDP);
https://github.com/pytorch/pytorch/issues/135892 (torch.compile).
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import guards
from ..analysis.project import Project
from ..analysis.project_summary import is_test_path
from ..facts import Facts, Form
from ..facts.python_model import PythonUse
from ..facts.python_uses import use_behind, uses_of
from ..findings import Applicability, Finding, Severity
from ..flow.events import Event, EventKind
from ..flow.project_events import use_of
from ..guards import Effect, guards_with
from ..rule import Rule, RuleFix
from ..rule_names import RuleGroup

RULE = Rule(
    "GF504",
    "inference-mode-in-training",
    group=RuleGroup.RAISES,
    since="0.1.0",
    fix=RuleFix(Applicability.UNSAFE),
    severity=Severity.INFO,
    languages=("python",),
    odd_uses_only=True,
    follows_models=True,
    asks_training=True,
    guards=guards_with(Effect.INFERENCE),
    default=False,
)


@RULE.check_file
def in_training(facts: Facts, project: Project) -> Iterator[Finding]:
    python = facts.python
    if python is None or not python.training or is_test_path(facts.path):
        return
    sign = python.training[0]
    for found in uses_of(facts, (guards.PYTHON_INFERENCE_MODE,), Form.WITH, Form.DECORATOR):
        if not found.called or found.mode is True:
            where = f"in a file that trains with {sign.what} (line {facts.row(sign.span.start)})"
            yield RULE.at(facts, found.call_span, _message(found, where), use=found.use)


@RULE.check_event(EventKind.MODEL_SHARED)
def trained_elsewhere(event: Event, facts: Facts, project: Project) -> Iterator[Finding]:
    found = use_behind(facts, use) if (use := use_of(event, facts)) is not None else None
    if found is None or facts.python is None or facts.python.training or is_test_path(facts.path):
        return
    for path in dict.fromkeys(step.path for step in event.steps):
        python = project.files[path].python
        if python is not None and python.wraps and not is_test_path(path):
            sign = python.wraps[0]
            row = project.files[path].row(sign.span.start)
            where = f"runs a model that {event.what} trains with {sign.what} ({path}, line {row})"
            yield RULE.at_event(event, facts, project, _message(found, where), span=found.call_span)
            return


def _message(found: PythonUse, where: str) -> str:
    return f"`{found.use.written}` {where}: tensors made under it can't be used in training; use no_grad"
