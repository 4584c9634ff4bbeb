"""The JSON that tools read: every finding of every fixture has exactly the contract's shape."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from fixture_files import Fixture, all_fixtures
from guardfix.codemods.fixable import fixes_for
from guardfix.linter.engine import Options, Report, check
from guardfix.output.format_registry import Output, load_format


class Either(tuple[Any, ...]):
    """One of several shapes."""


LOCATION = {"row": range(1, 10**6), "column": range(1, 10**6)}
REASON = {"message": str, "filename": str, "row": range(1, 10**6)}
FINDING = {
    "code": re.compile(r"GF\d{3}"),
    "name": re.compile(r"[a-z][a-z-]+[a-z]"),
    "message": str,
    "severity": Either(("error", "warning", "info")),
    "filename": str,
    "location": LOCATION,
    "end_location": LOCATION,
    "decision": Either(
        (
            None,
            {
                "context": Either(("inference", "kernel", "below_autograd", "remove", "unknown")),
                "replacement": Either((None, str)),
                "confidence": Either(("high", "medium", "low")),
                "evidence": [REASON],
            },
        )
    ),
    "steps": Either((None, [REASON])),
    "fix": Either(
        (
            None,
            {
                "applicability": Either(("safe", "unsafe", "display")),
                "message": str,
                "edits": [{"content": re.compile("(?s).*"), "location": LOCATION, "end_location": LOCATION}],
            },
        )
    ),
    "noqa_row": range(1, 10**6),
    "url": re.compile(r"https://\S+/docs/rules\.md#gf\d{3}-[a-z-]+"),
}
"""The shape of a finding: types and values, patterns of texts, ranges of numbers, lists of one shape, closed objects."""


def to_json(report: Report) -> str:
    stream = io.StringIO()
    load_format("json").findings(report, Output(stream))
    return stream.getvalue()


def has_shape(value: object, shape: Any) -> bool:
    if isinstance(shape, Either):
        return any(has_shape(value, one) for one in shape)
    if isinstance(shape, dict):
        return (
            isinstance(value, dict)
            and list(value) == list(shape)
            and all(has_shape(value[key], shape[key]) for key in shape)
        )
    if isinstance(shape, list):
        return isinstance(value, list) and all(has_shape(item, shape[0]) for item in value)
    if isinstance(shape, range):
        return type(value) is int and value in shape
    if isinstance(shape, re.Pattern):
        return isinstance(value, str) and shape.fullmatch(value) is not None
    if shape is str:
        return isinstance(value, str) and value.strip() != ""
    return value == shape


GOOD: dict[str, Any] = {
    "code": "GF101",
    "name": "legacy-guard",
    "message": "m",
    "severity": "warning",
    "filename": "a.cpp",
    "location": {"row": 1, "column": 1},
    "end_location": {"row": 1, "column": 2},
    "decision": None,
    "steps": None,
    "fix": None,
    "noqa_row": 1,
    "url": "https://example.org/docs/rules.md#gf101-legacy-guard",
}


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"more": 1}, id="a field more"),
        pytest.param({"noqa_row": None}, id="a null that may not be"),
        pytest.param({"noqa_row": True}, id="a bool for a number"),
        pytest.param({"location": {"row": 0, "column": 1}}, id="rows from 0"),
        pytest.param({"severity": "fatal"}, id="an unknown value"),
        pytest.param({"message": ""}, id="an empty text"),
        pytest.param({"steps": [{"message": "m", "row": 1}]}, id="a step without a file"),
        pytest.param({"fix": {"applicability": "safe", "message": "m"}}, id="a field less, further in"),
        pytest.param({"url": "docs/rules.md"}, id="a text that is not an address"),
    ],
)
def test_the_shape_is_closed(change: dict[str, Any]) -> None:
    assert has_shape(GOOD, FINDING)
    assert not has_shape({**GOOD, **change}, FINDING)


def report_of(fixture: Fixture, folder: Path) -> Report:
    options = Options(
        select=("ALL", *fixture.select()), include_docs=True, minimum_torch=fixture.minimum_torch(), workers=1
    )
    return fixes_for(check([str(folder)], options))


@pytest.mark.parametrize("fixture", all_fixtures(), ids=lambda fixture: fixture.name)
@pytest.mark.some(4)
def test_findings_have_the_contract_s_shape(fixture: Fixture, tmp_path: Path) -> None:
    folder = fixture.copy_to(tmp_path)
    for finding in json.loads(to_json(report_of(fixture, folder))):
        assert has_shape(finding, FINDING), finding
        assert list(finding["end_location"].values()) >= list(finding["location"].values())
        lines = Path(finding["filename"]).read_bytes().decode("utf-8", "replace").splitlines()
        assert finding["location"]["column"] <= len(lines[finding["location"]["row"] - 1]) + 1
        for reason in [*(finding["decision"] or {"evidence": []})["evidence"], *(finding["steps"] or ())]:
            assert Path(reason["filename"]).is_file()


@pytest.mark.parametrize(
    "fixture",
    [f for f in all_fixtures() if f.path.suffix == ".py" and f.expected()],
    ids=lambda fixture: fixture.name,
)
@pytest.mark.some(3)
def test_a_comment_at_noqa_row_silences_the_finding(fixture: Fixture, tmp_path: Path) -> None:
    folder = fixture.copy_to(tmp_path)
    path = folder / fixture.path.name
    # A comment of the C++ in a string would take the one that is put behind it.
    lines = re.sub(r" *// GF105 .*", "", path.read_text()).splitlines()
    path.write_text("\n".join(lines) + "\n")
    findings = json.loads(to_json(report_of(fixture, folder)))
    for finding in findings:
        silenced = list(lines)
        silenced[finding["noqa_row"] - 1] += f"  # noqa: {finding['code']}"
        path.write_text("\n".join(silenced) + "\n")
        report = report_of(fixture, folder)
        left = [(f["code"], f["location"]) for f in json.loads(to_json(report))]
        assert (finding["code"], finding["location"]) not in left
        assert report.suppressed >= 1
