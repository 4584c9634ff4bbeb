"""Findings with steps, made by hand: what a story says is up to the rules, how it is shown is not."""

from __future__ import annotations

from collections.abc import Sequence

from guardfix import FixableFinding, FixableReport, Options, StepTaken, Workspace, check
from guardfix.linter.facts import Span
from guardfix.linter.findings import Severity

FEATURES = """import torch


@torch.inference_mode()
def encode(x):
    return torch.relu(x)
"""
TRAIN = """import torch
from features import encode


def train(x, weight):
    feats = encode(x)
    with torch.inference_mode(False):
        return (feats * weight).sum()
"""
TEXTS = {"features.py": FEATURES, "train.py": TRAIN}
MESSAGE = "`feats` is an inference tensor: `*` must save it for backward"
STORY = (
    ("inference mode begins", "features.py", "@torch"),
    ("`relu` makes an inference tensor", "features.py", "torch.relu"),
    ("`*` must save `feats` for the gradient of `weight`", "train.py", "feats * weight"),
)
"""(what happens, in which file, at which text)."""
TOLD = [
    {"message": message, "filename": path, "row": row} for (message, path, _), row in zip(STORY, (4, 6, 8), strict=True)
]
"""The same as JSON has it."""


def steps_of(story: Sequence[tuple[str, str, str]] = STORY, folder: str = "") -> tuple[StepTaken, ...]:
    """The steps, in the files of `TEXTS` in a folder."""
    steps = []
    for message, path, text in story:
        offset = TEXTS[path].index(text)
        steps.append(StepTaken(message, folder + path, offset, TEXTS[path].count("\n", 0, offset) + 1))
    return tuple(steps)


def report_of(steps: Sequence[StepTaken], *, folder: str = "", message: str = MESSAGE) -> FixableReport:
    """A report with one finding, in the train.py of a folder, which has these steps."""
    workspace = Workspace.in_memory({folder + path: text for path, text in TEXTS.items()})
    report = check([folder + path for path in TEXTS], options=Options(select=("GF501",)), workspace=workspace)
    start = TRAIN.index("feats * weight")
    report.findings = [
        FixableFinding(
            code="GF501",
            name="inference-escape",
            message=message,
            severity=Severity.ERROR,
            path=f"{folder}train.py",
            span=Span(start, start + len("feats * weight")),
            steps=tuple(steps),
            make=lambda _: None,
        )
    ]
    return report
