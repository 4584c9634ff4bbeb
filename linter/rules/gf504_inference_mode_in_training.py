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

References: https://github.com/pytorch/pytorch/issues/113203 (FSDP);
https://github.com/pytorch/pytorch/issues/135892 (torch.compile).
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import guards
from ..analysis.project import Project
from ..analysis.shared_models import shared_models
from ..facts import Facts, Form
from ..facts.python_model import PythonUse
from ..facts.python_uses import uses_of
from ..findings import Finding, Severity
from ..guards import Effect, guards_with
from ..lazy_regex import lazy_regex
from ..rule import Rule

RULE = Rule(
    "GF504",
    "inference-mode-in-training",
    severity=Severity.INFO,
    languages=("python",),
    odd_uses_only=True,
    follows_models=True,
    asks_training=True,
    guards=guards_with(Effect.INFERENCE),
    default=False,
)

_TEST_FILE = lazy_regex(r"(?:^|[/\\])(?:test_[^/\\]*|[^/\\]*_test)\.py$")


@RULE.check_file
def in_training(facts: Facts, project: Project) -> Iterator[Finding]:
    python = facts.python
    if python is None or _TEST_FILE.search(facts.path):
        return
    for found in uses_of(facts, (guards.PYTHON_INFERENCE_MODE,), Form.WITH, Form.DECORATOR):
        use = found.use
        if found.called and found.mode is not True:
            continue
        if python.training:
            sign = python.training[0]
            where = f"in a file that trains with {sign.what} (line {facts.row(sign.span.start)})"
        else:
            where = _training_elsewhere(found, facts, project)
        if where:
            message = f"`{use.written}` {where}: tensors made under it can't be used in training; use no_grad"
            yield RULE.at(facts, found.call_span, message, use=use)


def _training_elsewhere(found: PythonUse, facts: Facts, project: Project) -> str:
    """What trains the model that runs under the guard, in words; empty if nothing trains it through a wrapper."""
    if facts.python is None or facts.python.models is None:
        return ""
    models = shared_models(project)
    span = found.decorated.span if found.decorated is not None else found.use.scope
    for path, function in models.trainers_of(facts.path, span):
        for place in dict.fromkeys((path, facts.path, *models.callers_of(path, function))):
            python = project.files[place].python
            if python is not None and python.wraps and not _TEST_FILE.search(path):
                sign = python.wraps[0]
                row = project.files[place].row(sign.span.start)
                trainer = f"`{function.name}` of {path}" if function.name else path
                return f"runs a model that {trainer} trains with {sign.what} ({place}, line {row})"
    return ""
