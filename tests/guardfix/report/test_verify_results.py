"""`guardfix report --verify-results`: which finding gets which verdict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

pytest.importorskip("jinja2")
pytest.importorskip("pygments")

from guardfix.cli.report_command import command
from guardfix.output.trace_excerpt import trace_excerpt
from guardfix.report.verify_results import BadVerifyResults, read_verify_results
from guardfix.verify.judging.verdicts import Judgement, Verdict
from guardfix.verify.programs.program_discovery import Program
from guardfix.verify.runs.program_runs import ProgramRun
from guardfix.verify.verifying import Result

STEP = {
    "step": 4,
    "agreement": "parted",
    "before": {"line": 3, "guards": ["a", "b"], "message": "`mul` gives 1"},
    "after": None,
}


def guard(row: int, entered: int | None, name: str = "a.cpp") -> dict[str, Any]:
    return {
        "code": "GF101",
        "filename": name,
        "location": {"row": row, "column": 3},
        "entered": {"before": entered, "after": entered},
    }


def result(verdict: str, *guards: dict[str, Any], program: str = "main.cpp") -> dict[str, Any]:
    told = {"filename": program, "verdict": verdict, "reason": f"why {verdict}", "advice": None, "trace": [STEP]}
    return {
        **told,
        "guards": list(guards),
        "migrated": [{key: one[key] for key in ("code", "filename", "location")} for one in guards],
    }


VERDICTS = [
    # (results, what is said of the finding at row 5 of a.cpp: verdict, program, steps shown)
    pytest.param([], None, id="nothing was run"),
    pytest.param([result("same", guard(5, 1))], ("same", "main.cpp", 1), id="one program"),
    pytest.param([result("same", guard(6, 1))], None, id="another row"),
    pytest.param([result("same", guard(5, 1, "b.cpp"))], None, id="another file"),
    pytest.param(
        [result("same", guard(5, 0), guard(6, 1))],
        ("not reached", "main.cpp", 0),
        id="the program enters another guard",
    ),
    pytest.param(
        [result("same", guard(5, 1)), result("changed", guard(5, 2), program="b.cpp")],
        ("changed", "b.cpp", 1),
        id="the worst of two",
    ),
    pytest.param(
        [result("changed", guard(5, 0)), result("same", guard(5, 1), program="b.cpp")],
        ("same", "b.cpp", 1),
        id="of those that enter it",
    ),
    pytest.param([result("unsupported", guard(5, None))], ("unsupported", "main.cpp", 0), id="not run to the end"),
]


@pytest.mark.parametrize(("results", "expected"), VERDICTS)
def test_the_verdict_on_a_finding(
    results: list[Any], expected: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "verdicts.json").write_text(json.dumps(results))
    said = read_verify_results("verdicts.json").about(str(tmp_path / "a.cpp"), "GF101", 5)
    assert (said and (said["verdict"], said["program"], len(said["trace"]))) == expected


WRONG = [
    pytest.param("a text", "it isn't JSON", id="no JSON"),
    pytest.param('{"a": 1}', "these aren't the results", id="an object"),
    pytest.param('[{"rule": 1}]', "these aren't the results", id="findings"),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_another_file_is_refused(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "v.json").write_text(text)
    with pytest.raises(BadVerifyResults, match=message):
        read_verify_results(str(tmp_path / "v.json"))


def test_the_page_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.cpp").write_text("void f(at::Tensor x) {\n  at::AutoNonVariableTypeMode g;\n  x.add_(1);\n}\n")
    (tmp_path / "v.json").write_text(json.dumps([result("stricter", guard(2, 1))]))
    ran = CliRunner().invoke(command, ["--isolated", "a.cpp", "--verify-results", "v.json", "-o", "-"])
    assert ran.exit_code == 0, ran.output
    assert '"verdict":"stricter"' in ran.stdout
    assert '[4,"parted",["a \\u003e b","`mul` gives 1"],null]' in ran.stdout
    assert "<strong>verify: stricter</strong> (main.cpp): why stricter" in ran.stdout, "in the plain table"


def events(*values: str, guarded: int = -1) -> ProgramRun:
    found = [
        {
            "event": "step",
            "thread": 0,
            "op": f"op{n}",
            "kernels": [],
            "guards": ["g"] * (n == guarded),
            "results": [value],
        }
        for n, value in enumerate(values)
    ]
    return ProgramRun(0, "", "", found)


EXCERPTS = [
    pytest.param(events(*"abcdefghij"), events(*"abcdefXhij"), [4, 5, 6, 7, 8, 9, 10], id="around where they part"),
    pytest.param(
        events(*"abcdefghij", guarded=5), events(*"abcdefghij", guarded=5), [3, 4, 5, 6, 7, 8, 9], id="around the guard"
    ),
    pytest.param(events("a"), events("a"), [1], id="one step"),
    pytest.param(events("a"), None, [], id="one run"),
]


@pytest.mark.parametrize(("before", "after", "numbers"), EXCERPTS)
def test_an_excerpt_shows_what_matters(before: ProgramRun, after: ProgramRun | None, numbers: list[int]) -> None:
    found = trace_excerpt(Result(Program(Path("a.py"), Path(), named=True), Judgement(Verdict.SAME, ""), before, after))
    assert [row["step"] for row in found] == numbers
    assert [row["agreement"] for row in found if row["agreement"] != "same"] == ["parted"] * (
        numbers == [4, 5, 6, 7, 8, 9, 10]
    )
