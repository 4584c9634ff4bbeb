"""How far a fix can be trusted: what its rule can claim, what it says of itself, and its doubts."""

from __future__ import annotations

import pytest

from guardfix.codemods.choice import FixChoice
from guardfix.codemods.fix import Fix, insertion
from guardfix.codemods.site import Site
from guardfix.linter.analysis.project import Project
from guardfix.linter.facts import Facts, Span
from guardfix.linter.files.sources import Source
from guardfix.linter.files.workspace import DISK
from guardfix.linter.findings import Applicability, Finding, Severity

SAFE, UNSAFE, DISPLAY = Applicability


def site(most: Applicability) -> Site:
    finding = Finding("GF201", "temporary-guard", "m", Severity.WARNING, "a.cpp", Span(0, 1))
    facts = Facts("a.cpp", "cpp")
    return Site(finding, facts, Project([facts]), Source("a.cpp", b"x;"), DISK, FixChoice(), most)


@pytest.mark.parametrize(
    ("most", "at_most", "doubts", "claimed"),
    [
        pytest.param(SAFE, SAFE, [], SAFE, id="the rule's claim"),
        pytest.param(SAFE, SAFE, ["it may differ"], UNSAFE, id="a doubt makes it unsafe"),
        pytest.param(SAFE, UNSAFE, [], UNSAFE, id="less by itself"),
        pytest.param(SAFE, DISPLAY, ["it may differ"], DISPLAY, id="a doubt raises nothing"),
        pytest.param(UNSAFE, SAFE, [], UNSAFE, id="never more than the rule"),
        pytest.param(DISPLAY, UNSAFE, ["it may differ"], DISPLAY, id="what is shown only stays so"),
    ],
)
def test_a_fix_claims_the_least(
    most: Applicability, at_most: Applicability, doubts: list[str], claimed: Applicability
) -> None:
    fix = site(most).fix("change it", [insertion(0, "y")], doubts=doubts, at_most=at_most)
    assert fix.applicability is claimed
    assert fix.message == "; ".join(["change it", *doubts])


def test_a_suggestion_is_shown_only() -> None:
    assert site(SAFE).suggestion("think about it") == Fix("think about it", DISPLAY, ())


PLAIN, WEAK, SHOWN = (Fix("plain", claimed, ()) for claimed in (SAFE, UNSAFE, DISPLAY))
MOVED = Fix("moved", UNSAFE, (), "hoist")
BOTH = Fix("plain", SAFE, (), further=(MOVED,))
WEAK_BOTH = Fix("weak", UNSAFE, (), further=(MOVED,))


@pytest.mark.parametrize(
    ("fix", "choice", "wanted"),
    [
        pytest.param(None, FixChoice(unsafe=True), [], id="no fix"),
        pytest.param(PLAIN, FixChoice(), [PLAIN], id="a safe fix is taken"),
        pytest.param(WEAK, FixChoice(), [], id="an unsafe one is not"),
        pytest.param(WEAK, FixChoice(unsafe=True), [WEAK], id="unless it is asked for"),
        pytest.param(SHOWN, FixChoice(unsafe=True), [], id="what is shown is never applied"),
        pytest.param(BOTH, FixChoice(), [BOTH], id="the plain fix without --unsafe"),
        pytest.param(BOTH, FixChoice(unsafe=True), [MOVED, BOTH], id="the further-reaching one first"),
        pytest.param(BOTH, FixChoice(unsafe=True, hoist=False), [BOTH], id="the plain one with --no-hoist"),
        pytest.param(WEAK_BOTH, FixChoice(), [], id="neither where both are unsafe"),
    ],
)
def test_which_fixes_a_run_tries(fix: Fix | None, choice: FixChoice, wanted: list[Fix]) -> None:
    assert choice.wanted(fix) == wanted
