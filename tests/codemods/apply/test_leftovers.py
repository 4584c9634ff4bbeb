"""Why a finding is left as it is."""

from __future__ import annotations

import pytest

from guardfix.codemods.apply.leftovers import Why, why_left
from guardfix.codemods.choice import FixChoice
from guardfix.codemods.fix import HOIST, Fix
from guardfix.codemods.fixable import FixableFinding
from guardfix.linter.facts import Span
from guardfix.linter.findings import Applicability, Severity

SAFE, UNSAFE, DISPLAY = (Fix(f"a {claimed} fix", claimed, ()) for claimed in Applicability)
ALL = FixChoice(unsafe=True)
MOVE = Fix("a move", Applicability.UNSAFE, (), HOIST)


@pytest.mark.parametrize(
    ("fix", "choice", "refused", "why", "message"),
    [
        pytest.param(None, ALL, "", Why.NO_FIX, "the finding", id="there is no fix"),
        pytest.param(None, ALL, "cannot be parsed", Why.NO_FIX, "the finding", id="no fix in a refused file"),
        pytest.param(DISPLAY, ALL, "", Why.SHOWN_ONLY, "a display fix", id="nobody applies what is shown only"),
        pytest.param(UNSAFE, FixChoice(), "", Why.UNSAFE, "a unsafe fix", id="an unsafe fix in a safe run"),
        pytest.param(MOVE, FixChoice(unsafe=True, hoist=False), "", Why.NOT_MOVED, "a move", id="a move, not wanted"),
        pytest.param(MOVE, FixChoice(hoist=False), "", Why.UNSAFE, "a move", id="a move in a safe run"),
        pytest.param(UNSAFE, ALL, "", Why.HELD_BACK, "a unsafe fix", id="an unsafe fix that was wanted"),
        pytest.param(SAFE, FixChoice(), "", Why.HELD_BACK, "a safe fix", id="a safe fix that did not fit"),
        pytest.param(SAFE, ALL, "cannot be parsed", Why.REFUSED, "cannot be parsed", id="a refused file"),
    ],
)
def test_why_a_finding_is_left(fix: Fix | None, choice: FixChoice, refused: str, why: Why, message: str) -> None:
    finding = FixableFinding(
        "GF201", "temporary-guard", "the finding", Severity.WARNING, "a.cpp", Span(0, 1), make=lambda finding: fix
    )
    assert why_left(finding, choice, refused) == (why, message)
