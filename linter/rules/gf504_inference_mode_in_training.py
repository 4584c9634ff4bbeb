"""GF504 inference-mode-in-training: inference mode for validation in code that trains with FSDP, XLA or torch.compile.

What it flags: `torch.inference_mode()` in a file that computes gradients, runs a `…Trainer` or has its model set up by
Lightning Fabric, Accelerate or DeepSpeed, and that wraps models with FullyShardedDataParallel, `fully_shard`,
`FSDPStrategy`, DeepSpeed or `torch.compile`, or imports torch_xla. Off by default: much of this code works.

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
`inference_mode(False)` and `inference_mode(flag)`; test files (`test_….py`, `…_test.py`), which train in one
function and predict in another.

References: https://github.com/pytorch/pytorch/issues/113203 (FSDP);
https://github.com/pytorch/pytorch/issues/135892 (torch.compile).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .. import guards
from ..analysis.project import Project
from ..facts import Facts, Form
from ..facts.python_uses import uses_of
from ..findings import Finding, Severity
from ..guards import Effect, guards_with
from ..rule import Rule

RULE = Rule(
    "GF504",
    "inference-mode-in-training",
    severity=Severity.INFO,
    languages=("python",),
    odd_uses_only=True,
    guards=guards_with(Effect.INFERENCE),
    default=False,
)

_TEST_FILE = re.compile(r"(?:^|[/\\])(?:test_[^/\\]*|[^/\\]*_test)\.py$")


@RULE.check_file
def in_training(facts: Facts, project: Project) -> Iterator[Finding]:
    python = facts.python
    if python is None or not python.training or _TEST_FILE.search(facts.path):
        return
    sign = python.training[0]
    for found in uses_of(facts, (guards.PYTHON_INFERENCE_MODE,), Form.WITH, Form.DECORATOR):
        use = found.use
        if found.called and found.mode is not True:
            continue
        message = (
            f"`{use.written}` in a file that trains with {sign.what} (line {facts.row(sign.span.start)}): "
            "tensors made under it can't be used in training; use no_grad"
        )
        yield RULE.at(facts, found.call_span, message, use=use)
