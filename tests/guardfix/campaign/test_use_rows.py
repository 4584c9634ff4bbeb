"""The rows of findings: the steps that lead to one, as text."""

from __future__ import annotations

from finding_stories import report_of, steps_of
from guardfix.campaign.use_rows import finding_rows


def test_a_finding_s_row_has_its_steps() -> None:
    [found] = finding_rows(report_of(steps_of()))
    assert found.row["steps"] == [
        "features.py:4: inference mode begins",
        "features.py:6: `relu` makes an inference tensor",
        "train.py:8: `*` must save `feats` for the gradient of `weight`",
    ]
    [found] = finding_rows(report_of(()))
    assert found.row["steps"] == []
