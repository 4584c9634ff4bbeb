"""What `guardfix verify` prints: one line with the verdict, one place in the code, one thing to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from guardfix.output.verdict_text import verdict_lines
from guardfix.verify.judging.guard_outcomes import GuardReach
from guardfix.verify.judging.guard_sites import GuardSite, SourcePlace
from guardfix.verify.judging.traces import Comparison, Parting
from guardfix.verify.judging.verdicts import Judgement, Verdict
from guardfix.verify.programs.program_discovery import Program
from guardfix.verify.programs.program_migration import Left, Migration, Why
from guardfix.verify.runs.program_runs import ProgramRun
from guardfix.verify.verifying import Result

CODE = "import torch\n\nwith torch.no_grad():\n    x = torch.ones(2)\n\tx.mul_(2)  # a comment that goes on for so long that the line does not fit a terminal of sixty columns\n"
STEP = {"event": "step", "op": "mul_", "thread": 0, "line": 5, "results": ["[2]"]}
RAISED = {
    "event": "raised", "op": "mul_", "thread": 0, "line": 5, "error": "RuntimeError",
    "message": "Inplace update to inference tensor outside InferenceMode is not allowed. You can make a clone",
}  # fmt: skip
PART = Comparison(Parting(1, 0, STEP, RAISED), None)
GUARD = GuardReach(GuardSite(1, SourcePlace("p.py", 3, 6, "GF505"), "no_grad", True, (True, True)), None, None)
ELSEWHERE = GuardReach(GuardSite(2, SourcePlace("h.h", 1, 1, "GF101"), "NoGrad", True, (True, True)), None, None)
LEFT = Left(SourcePlace("p.py", 3, 6, "GF101"), Why.NO_FIX, "nothing shows what it is for", True, is_undecided=True)


def run(*events: dict[str, Any], status: int = 0) -> ProgramRun:
    return ProgramRun(status, "", "", list(events))


CASES = {
    "same": (
        Judgement(Verdict.SAME, "the same output, results and gradients", headline="output, results and gradients"),
        {},
        ["p.py: same: output, results and gradients"],
    ),
    "nothing to verify says it all": (
        Judgement(Verdict.NOTHING, "there is nothing to migrate", headline=""),
        {},
        ["p.py: nothing to verify"],
    ),
    "where the runs part": (
        Judgement(
            Verdict.STRICTER, "at length", "clone it", comparison=PART, headline="an inference tensor is changed"
        ),
        {"before": run(STEP), "after": run(RAISED)},
        [
            "p.py:5: stricter: an inference tensor is changed",
            "   |",
            " 5 |     x.mul_(2)  # a comment that goes on for so long th…",
            "   | before: `mul_` gives [2]",
            "   | after:  `mul_` raises RuntimeError: Inplace update to",
            "   |         inference tensor outside InferenceMode is not",
            "   |         allowed",
            "   = do this: clone it",
        ],
    ),
    "output alone": (
        Judgement(Verdict.CHANGED, "at length", output=("a", "b"), headline="the output differs"),
        {"before": run(), "after": run()},
        ["p.py: changed: the output differs", "   | before: 'a'", "   | after:  'b'"],
    ),
    "what ended both": (
        Judgement(Verdict.NOT_RUN, "at length", headline="it fails before and after: exit status 1"),
        {"before": run(RAISED, status=1), "after": run(RAISED, status=1)},
        [
            "p.py:5: not run: it fails before and after: exit status 1",
            "   |",
            " 5 |     x.mul_(2)  # a comment that goes on for so long th…",
            "   | `mul_` raises RuntimeError: Inplace update to inference",
            "   | tensor outside InferenceMode is not allowed",
        ],
    ),
    "a guard that isn't entered": (
        Judgement(Verdict.NOT_REACHED, "its guard was not entered", "give it work"),
        {"guards": (GUARD,)},
        [
            "p.py:3: not reached: its guard was not entered",
            "   |",
            " 3 | with torch.no_grad():",
            "   | `no_grad` is not entered",
            "   = do this: give it work",
        ],
    ),
    "guards in another file": (
        Judgement(Verdict.NOT_REACHED, "none of its 2 guards was entered"),
        {"guards": (ELSEWHERE, GUARD)},
        [
            "p.py: not reached: none of its 2 guards was entered",
            " --> h.h:1",
            "   | `NoGrad` is not entered, and 1 more",
        ],
    ),
    "an undecided guard": (
        Judgement(Verdict.NOTHING, "at length", headline="1 finding has no fix that can be applied"),
        {"migration": Migration(left=(LEFT,))},
        [
            "p.py:3: nothing to verify: 1 finding has no fix that can be",
            "    applied",
            "   |",
            " 3 | with torch.no_grad():",
            "   | GF101: nothing shows what it is for",
            "   = do this: let runs decide which guard it becomes:",
            "        `guardfix verify --decide p.py`",
        ],
    ),
    "made-up data": (
        Judgement(Verdict.SAME, "at length", headline=""),
        {"notes": ("missing files were generated: image (a.png)",)},
        ["p.py: same", "   = note: missing files were generated: image (a.png)"],
    ),
}


@pytest.mark.parametrize(("judgement", "more", "expected"), CASES.values(), ids=CASES)
def test_the_text(
    judgement: Judgement, more: dict[str, Any], expected: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.py").write_text(CODE)
    result = Result(Program(Path("p.py"), Path(), named=True), judgement, **more)
    assert list(verdict_lines(result, color=False, width=60)) == expected


def test_everything_is_below_it_on_request() -> None:
    judgement, more, _ = CASES["where the runs part"]
    result = Result(Program(Path("gone.py"), Path(), named=True), judgement, **more)
    lines = list(verdict_lines(result, color=False, verbose=True))
    assert lines[:3] == [
        "gone.py:5: stricter: an inference tensor is changed",
        "   | before: `mul_` gives [2]",
        "   | after:  `mul_` raises RuntimeError: Inplace update to inference tensor outside InferenceMode is not allowed",
    ]
    assert "   = note: At length." in lines
    assert any("`guardfix explain " in line for line in lines)
