"""GF403's fix: brackets alone help only a guard that takes nothing, or may."""

from __future__ import annotations

import pytest

import guardfix
from guardfix.linter import guards
from guardfix.linter.guards import Effect, Guard, Takes


@pytest.mark.parametrize(
    ("takes", "called"),
    [
        pytest.param(Takes.NOTHING, True, id="takes nothing"),
        pytest.param(Takes.OPTIONAL_BOOL, True, id="may be left out"),
        pytest.param(Takes.BOOL, False, id="needs a bool"),
        pytest.param(Takes.OTHER, False, id="needs something else"),
    ],
)
@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("with torch.no_record:  # beside torch.no_grad\n    y = x + 1\n", "with torch.no_record():  # beside torch.no_grad", id="with"),
        pytest.param("torch.no_record\ndef f(x):  # beside torch.no_grad\n    return x\n", "@torch.no_record()", id="above a def"),
    ],
)  # fmt: skip
def test_a_row_of_the_table_says_whether_brackets_are_enough(
    before: str, after: str, takes: Takes, called: bool
) -> None:
    text = f"import torch\n{before}"
    choice = guardfix.FixChoice(unsafe=True)
    with guards.extended(guards.PYTHON, [Guard("no_record", ("torch",), takes, Effect.GRAD_MODE)]):
        fixed = guardfix.fix_text(text, "a.py", choice=choice, options=guardfix.Options(select=("GF403",)))
    assert [finding.code for finding in fixed.left] == ([] if called else ["GF403"])
    assert fixed.text.splitlines()[1] == (after if called else before.splitlines()[0])
