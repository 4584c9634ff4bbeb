"""Every fixture is checked, migrated, migrated again and checked again."""

from __future__ import annotations

from pathlib import Path

import pytest

from fixture_files import Expectation, Fixture, all_fixtures
from guardfix.codemods.apply.applying import Outcome, apply_fixes
from guardfix.codemods.choice import FixChoice
from guardfix.codemods.fixable import FixableReport, fixes_for
from guardfix.linter.engine import Options, Report, check
from guardfix.linter.rule import all_rules

FIXTURES = all_fixtures()
each_fixture = pytest.mark.parametrize("fixture", FIXTURES, ids=lambda fixture: fixture.name)


def run(fixture: Fixture, folder: Path, *, unsafe: bool = True) -> FixableReport:
    more = fixture.select()
    select = (*(rule.code for rule in all_rules() if rule.default), *more) if more else ()
    options = Options(select=select, workers=1, minimum_torch=fixture.minimum_torch())
    return fixes_for(check([str(folder)], options), choice=FixChoice(unsafe=unsafe))


def found(report: Report, folder: Path) -> set[Expectation]:
    return {
        (
            str(Path(finding.path).relative_to(folder)),
            report.project.files[finding.path].row(finding.span.start),
            finding.code,
            finding.decision.context.value if finding.decision else "",
        )
        for finding in report.findings
    }


@each_fixture
def test_finds_exactly_what_the_comments_say(fixture: Fixture, tmp_path: Path) -> None:
    folder = fixture.copy_to(tmp_path)
    assert found(run(fixture, folder), folder) == fixture.expected()


def migrate(report: FixableReport, folder: Path) -> tuple[Outcome, dict[str, bytes]]:
    outcome = apply_fixes(report)
    assert not outcome.refused
    assert not outcome.failed
    return outcome, {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def kinds_left(before: FixableReport, outcome: Outcome) -> set[tuple[str, str]]:
    """The findings that may be left in migrated texts: those of which a fix was not applied, or there was none."""
    applied = {id(finding) for rewritten in outcome.written for finding, _ in rewritten.applied}
    left = {(f.path, f.code) for f in before.findings if id(f) not in applied or f.fix is None}
    # A fix that is applied in spite of the hazard that its message names leaves the hazard behind.
    return left | {
        (f.path, "GF506") for f in before.findings if f.fix and "computed in inference mode" in f.fix.message
    }


@each_fixture
@pytest.mark.parametrize("unsafe", [False, True], ids=["safe", "unsafe"])
def test_migrates_to_its_sibling_and_then_changes_nothing(fixture: Fixture, unsafe: bool, tmp_path: Path) -> None:
    folder = fixture.copy_to(tmp_path)
    safe = fixture.contents("migrated") if fixture.sibling("migrated") else fixture.contents()
    wanted = fixture.contents("unsafe") if unsafe and fixture.sibling("unsafe") else safe
    before = run(fixture, folder, unsafe=unsafe)
    outcome, written = migrate(before, folder)
    assert written == wanted

    after = run(fixture, folder, unsafe=unsafe)
    if unsafe:  # what is new after safe fixes alone has an unsafe one: another pass applies that too
        assert {(f.path, f.code) for f in after.findings} <= kinds_left(before, outcome)
    assert migrate(after, folder)[1] == wanted


def test_there_are_as_many_clean_fixtures_as_bad_ones() -> None:
    clean = [fixture for fixture in FIXTURES if not fixture.expected()]
    assert len(clean) * 2 >= len(FIXTURES) * 0.8, f"{len(clean)} of {len(FIXTURES)} are clean"


@pytest.mark.parametrize(
    "fixture", [f for f in FIXTURES if f.path.parent.name == "cpp"], ids=lambda fixture: fixture.name
)
@pytest.mark.parametrize("line_end", [b"\r\n", b"\r"], ids=["CRLF", "CR"])
@pytest.mark.some(4)
def test_other_line_ends_change_nothing_but_themselves(fixture: Fixture, line_end: bytes, tmp_path: Path) -> None:
    folder = fixture.copy_to(tmp_path)
    for file in folder.iterdir():
        file.write_bytes(file.read_bytes().replace(b"\n", line_end))
    assert found(run(fixture, folder), folder) == fixture.expected()
    kind = next((kind for kind in ("unsafe", "migrated") if fixture.sibling(kind)), None)
    wanted = {name: text.replace(b"\n", line_end) for name, text in fixture.contents(kind).items()}
    assert migrate(run(fixture, folder), folder)[1] == wanted
