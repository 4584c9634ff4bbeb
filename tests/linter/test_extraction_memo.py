"""A check over other texts of the same files says what a check from the beginning would, and asks the disk for less."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from guardfix.linter import project_reading
from guardfix.linter.engine import Options, Report, check
from guardfix.linter.extraction_memo import ExtractionMemo
from guardfix.linter.files.workspace import Workspace
from guardfix.linter.frontends.extraction import Job, summarize_all

USE = """#include <ATen/ATen.h>

at::Tensor scale(at::Tensor x) {
  at::AutoNonVariableTypeMode guard;
  return at::mul(x, 2);
}
"""
REGISTERED = 'TORCH_LIBRARY_IMPL(my, Autograd, m) { m.impl("scale", scale); }\n'
INFERENCE = """#include "use.h"

int main() {
  auto model = torch::jit::load("m.pt");
  scale(model.forward({}).toTensor());
}
"""
PLAIN = "int other() { return 1; }\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    (tmp_path / "use.cpp").write_text(USE)
    (tmp_path / "other.cpp").write_text(PLAIN)
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "third.cpp").write_text(PLAIN.replace("other", "third"))
    return tmp_path


def first(project: Path, texts: dict[str, str]) -> Report:
    return check([str(project / "use.cpp")], Options(workers=1), workspace=over(project, texts))


def over(project: Path, texts: dict[str, str]) -> Workspace:
    return Workspace.over_disk({str(project / name): text for name, text in texts.items()})


def said(report: Report) -> list[tuple[str, int, str, list[str]]]:
    return [
        (one.code, report.start(one).row, str(one.decision and one.decision.context), [e.message for e in one.decision.evidence] if one.decision else [])
        for one in report.findings
    ]  # fmt: skip


CHANGES = [
    # The texts that are open in one check after the other.
    pytest.param([{"use.cpp": USE}, {"use.cpp": "\n" + USE}], id="an edit of the file"),
    pytest.param([{"use.cpp": USE}, {"use.cpp": USE.replace("scale", "shift")}], id="another name"),
    pytest.param([{"use.cpp": USE, "other.cpp": PLAIN}, {"use.cpp": USE, "other.cpp": REGISTERED}], id="an edit of another"),
    pytest.param([{"use.cpp": USE, "other.cpp": REGISTERED}, {"use.cpp": USE}], id="a text is closed and not saved"),
    pytest.param([{"use.cpp": USE}, {"use.cpp": USE, "new.cpp": REGISTERED}], id="a new text"),
    pytest.param(
        [{"use.cpp": USE, "new.cpp": INFERENCE}, {"use.cpp": USE, "new.cpp": PLAIN}, {"use.cpp": USE, "new.cpp": INFERENCE}],
        id="there and back",
    ),
]  # fmt: skip


@pytest.mark.parametrize("texts", CHANGES)
def test_what_is_known_changes_nothing(texts: list[dict[str, str]], project: Path) -> None:
    report = first(project, texts[0])
    for now in texts[1:]:
        assert report.over is not None
        report = report.over(over(project, now))
        assert said(report) == said(first(project, now))


OTHER_USE = USE.replace("scale", "shift")


@pytest.mark.parametrize(
    ("files", "texts", "read"),
    [
        pytest.param({}, {}, [], id="nothing else"),
        pytest.param({"new.cpp": PLAIN}, {}, ["new.cpp"], id="a file that is new since"),
        pytest.param({}, {"other.cpp": PLAIN * 3}, [], id="a file that is open since"),
        pytest.param({"other.cpp": PLAIN * 2}, {}, [], id="a file on the disk counts as unchanged"),
    ],
)
def test_a_check_of_another_file_looks_at_no_file_twice(
    files: dict[str, str], texts: dict[str, str], read: list[str], project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = ExtractionMemo()
    check([str(project / "use.cpp")], Options(workers=1), workspace=over(project, {"use.cpp": USE}), known=known)
    for name, text in files.items():
        (project / name).write_text(text)
    summarized: list[str] = []

    def counted(job: Job, **how: Any) -> Any:
        summarized.extend(os.path.basename(path) for _, path, _ in job.hits)
        return summarize_all(job, **how)

    texts = {"use2.cpp": OTHER_USE, **texts}
    paths = [str(project / "use2.cpp")]
    expected = said(check(paths, Options(workers=1), workspace=over(project, texts)))
    monkeypatch.setattr(project_reading, "summarize_all", counted)
    found = check(paths, Options(workers=1), workspace=over(project, texts), known=known.beside())
    assert said(found) == expected
    assert sorted(summarized) == sorted([*texts, *read])


def test_the_folders_are_not_listed_again(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed: list[str] = []
    scandir = os.scandir

    def counted(path: str) -> object:
        listed.append(path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", counted)
    report = first(project, {"use.cpp": USE})
    assert str(project / "more") in listed, "the use stays open, so that the project is asked"
    listed.clear()
    assert report.over is not None
    again = report.over(over(project, {"use.cpp": "\n" + USE}))
    assert [row for _, row, *_ in said(again)] == [5]
    assert [path for path in listed if str(path).startswith(str(project))] == []
