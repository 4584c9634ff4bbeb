"""How a finding comes about, in every format: exact texts, across files, long stories, odd names, and none at all."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from finding_stories import MESSAGE, STORY, TOLD, report_of, steps_of
from guardfix import FixableReport, StepTaken
from guardfix.adoption.fingerprints import fingerprints, mark_of_finding
from guardfix.output.finding_reasons import shown_steps
from guardfix.output.format_registry import Output, format_names, load_format


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CI_PROJECT_DIR", raising=False)
    (tmp_path / ".git").mkdir()


def written(name: str, report: FixableReport, *, color: bool = False, width: int | None = None) -> str:
    stream = io.StringIO()
    load_format(name).findings(report, Output(stream, color=color, width=width))
    return stream.getvalue()


HEAD = f"""train.py:8:17: GF501 {MESSAGE}
   |
 8 |         return (feats * weight).sum()
   |                 ^^^^^^^^^^^^^^
"""


def test_text_has_a_line_a_step_across_files() -> None:
    assert written("full", report_of(steps_of())) == (
        f"{HEAD}"
        "   = step 1: inference mode begins (features.py:4)\n"
        "   = step 2: `relu` makes an inference tensor (features.py:6)\n"
        "   = step 3: `*` must save `feats` for the gradient of `weight` (line 8)\n"
        "\n"
    )


def test_text_without_steps_is_what_it_was() -> None:
    assert written("full", report_of(())) == f"{HEAD}\n"


def numbered(count: int) -> list[StepTaken]:
    return [StepTaken(f"call {number}", "train.py", 0, 1) for number in range(1, count + 1)]


LONG = [
    # (steps, those shown before the gap, the gap, those behind it)
    pytest.param(9, range(1, 10), "", (), id="as many as fit"),
    pytest.param(10, range(1, 5), "steps 5 to 6", range(7, 11), id="one more"),
    pytest.param(100, range(1, 5), "steps 5 to 96", range(97, 101), id="many"),
]


@pytest.mark.parametrize(("count", "first", "gap", "last"), LONG)
def test_a_long_story_is_cut_in_the_middle(count: int, first: Any, gap: str, last: Any) -> None:
    lines = [f"   = step {number}: call {number} (line 1)" for number in first]
    lines += [f"   = {gap}: in --output-format json"] * bool(gap)
    lines += [f"   = step {number}: call {number} (line 1)" for number in last]
    assert written("full", report_of(numbered(count))) == HEAD + "\n".join(lines) + "\n\n"
    assert len(json.loads(written("json", report_of(numbered(count))))[0]["steps"]) == count


@given(st.integers(0, 50), st.integers(2, 50))
def test_no_step_is_lost_or_told_twice(count: int, most: int) -> None:
    first, left_out, last = shown_steps(numbered(count), most)
    start, end = map(int, left_out.removeprefix("steps ").split(" to ")) if left_out else (0, -1)
    assert [*dict(first), *range(start, end + 1), *dict(last)] == list(range(1, count + 1))
    assert len(first) + bool(left_out) + len(last) == min(count, most)


def test_on_a_terminal_steps_break_at_words() -> None:
    lines = written("full", report_of(steps_of()), width=40).splitlines()
    assert lines[-5:] == [
        "   = step 2: `relu` makes an inference",
        "     tensor (features.py:6)",
        "   = step 3: `*` must save `feats` for",
        "     the gradient of `weight` (line 8)",
        "",
    ]


def test_what_is_named_outside_moves_no_cursor() -> None:
    story = [StepTaken("`x['\x1b[31m\r\n']` is made", "a\x1b[2J\n\udcff.py", 0, 3)]
    text = written("full", report_of(story), color=True)
    assert "   \x1b[34m=\x1b[0m step 1: `x['␛[31m␍␊']` is made (a␛[2J␊\N{REPLACEMENT CHARACTER}.py:3)\n" in text


@pytest.mark.parametrize("name", ["concise", "grouped", "github", "azure", "gitlab", "pylint", "checkstyle"])
def test_formats_without_evidence_have_no_steps(name: str) -> None:
    assert written(name, report_of(steps_of())) == written(name, report_of(()))


def test_json() -> None:
    (with_steps,) = json.loads(written("json", report_of(steps_of())))
    (without,) = json.loads(written("json", report_of(())))
    assert (with_steps.pop("steps"), without.pop("steps")) == (TOLD, None)
    assert with_steps == without
    assert json.loads(written("json-lines", report_of(steps_of())))["steps"] == TOLD


def place(uri: str, row: int, column: int, message: str) -> dict[str, Any]:
    physical = {
        "artifactLocation": {"uri": uri, "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": row, "startColumn": column},
    }
    return {"location": {"physicalLocation": physical, "message": {"text": message}}}


def test_sarif_has_a_code_flow(tmp_path: Path) -> None:
    folder = f"{tmp_path}/a b/"
    (result,) = json.loads(written("sarif", report_of(steps_of(folder=folder), folder=folder)))["runs"][0]["results"]
    assert result["codeFlows"] == [
        {
            "threadFlows": [
                {
                    "locations": [
                        place("a%20b/features.py", 4, 1, STORY[0][0]),
                        place("a%20b/features.py", 6, 12, STORY[1][0]),
                        place("a%20b/train.py", 8, 17, STORY[2][0]),
                    ]
                }
            ]
        }
    ]
    assert "relatedLocations" not in result
    (result,) = json.loads(written("sarif", report_of(())))["runs"][0]["results"]
    assert "codeFlows" not in result


def test_sarif_knows_no_column_of_a_file_that_is_gone() -> None:
    report = report_of([StepTaken("m", "gone.py", 40, 3)])
    flow = json.loads(written("sarif", report))["runs"][0]["results"][0]["codeFlows"][0]["threadFlows"][0]
    assert flow["locations"][0]["location"]["physicalLocation"]["region"] == {"startLine": 3}


def test_rdjson_has_related_locations() -> None:
    (diagnostic,) = json.loads(written("rdjson", report_of(steps_of())))["diagnostics"]
    assert diagnostic["relatedLocations"] == [
        {
            "message": f"step {number}: {step['message']}",
            "location": {"path": step["filename"], "range": {"start": {"line": step["row"]}}},
        }
        for number, step in enumerate(TOLD, 1)
    ]
    (diagnostic,) = json.loads(written("rdjson", report_of(())))["diagnostics"]
    assert "relatedLocations" not in diagnostic


LINES = [
    "step 1: inference mode begins (features.py:4)",
    "step 2: `relu` makes an inference tensor (features.py:6)",
    "step 3: `*` must save `feats` for the gradient of `weight` (train.py:8)",
]


def test_junit_lists_them() -> None:
    def lines(report: FixableReport) -> list[str]:
        failure = etree.fromstring(written("junit", report).encode()).find(".//failure")
        assert failure is not None
        return (failure.text or "").splitlines()[1:-1]

    assert lines(report_of(steps_of())) == [f"  {line}" for line in LINES]
    assert lines(report_of(())) == []


def test_lintrunner_lists_them() -> None:
    told = json.loads(written("lintrunner", report_of(steps_of())))
    assert told["description"].splitlines()[:-1] == [MESSAGE, *LINES]


def test_steps_do_not_count_when_a_finding_is_recognized() -> None:
    with_steps, without = report_of(steps_of()), report_of(())
    assert fingerprints(with_steps, ["train.py"]) == fingerprints(without, ["train.py"])
    marks = [mark_of_finding(report.findings[0], report) for report in (with_steps, without)]
    assert marks[0] == marks[1]
    assert with_steps.findings[0] == without.findings[0]


@pytest.mark.parametrize("name", format_names("findings"))
def test_every_format_takes_any_name(name: str) -> None:
    odd = '`x["<&>]]>\x00"]` is made; 100%, `]`:'
    story = [StepTaken(odd, path, 0, 1) for path in ("<&>\x01\n.py", "bytes\udcff.py", "\N{SNOWMAN}.py")]
    text = written(name, report_of(story))
    assert "GF501" in text
    assert not {"\x00", "\x01"} & set(text)
    text.encode("utf-8")
