"""Findings are joined with their fixes: made when asked for, from texts that are passed in."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from guardfix.codemods.apply.applying import apply_fixes
from guardfix.codemods.apply.rewriting import rewrites
from guardfix.codemods.choice import FixChoice
from guardfix.codemods.fixable import fixes_for
from guardfix.linter.engine import Report, check
from guardfix.linter.files.sources import Source, read_from_disk
from guardfix.linter.files.workspace import Workspace
from guardfix.linter.findings import Applicability, Finding

KERNEL = """struct F : torch::autograd::Function<F> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor x) {
    at::AutoNonVariableTypeMode g(true);
    return f(x);
  }
};
"""
MEMBER = "struct Net { at::Tensor run(); c10::InferenceMode mode_; };\n"


@pytest.fixture
def report(tmp_path: Path) -> Report:
    for name in ("a.cpp", "b.cpp"):
        (tmp_path / name).write_text(KERNEL)
    (tmp_path / "member.cpp").write_text(MEMBER)
    return check([str(tmp_path)])


def test_the_linter_knows_no_fixes(report: Report) -> None:
    assert not {"fix", "edits", "applicability"} & {*Finding.__struct_fields__}
    assert not any(hasattr(finding, "fix") for finding in report.findings)


def test_texts_are_asked_for_when_fixes_are_and_once_a_file(report: Report, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def read(workspace: Workspace, path: str) -> Source:
        asked.append(Path(path).name)
        return read_from_disk(path)

    monkeypatch.setattr(Workspace, "read", read)
    joined = fixes_for(report)
    assert [finding.code for finding in joined.findings] == ["GF101", "GF101", "GF206"]
    assert asked == []
    fixes = [finding.fix for finding in joined.findings]
    assert [fix and fix.applicability for fix in fixes] == [Applicability.SAFE, Applicability.SAFE, None]
    assert asked == ["a.cpp", "b.cpp"], "no text is read for a rule without a fix"
    assert [finding.fix for finding in joined.findings] == fixes
    assert len(asked) == 2


@pytest.mark.parametrize("text", [None, "int other;\n"], ids=["gone", "changed"])
def test_no_fix_for_a_text_that_is_not_the_checked_one(text: str | None, report: Report) -> None:
    texts = {facts.path: text for facts in report.project} if text is not None else {}
    joined = fixes_for(replace(report, workspace=Workspace.in_memory(texts)))
    assert all(finding.fix is None for finding in joined.findings)
    # The user is told, but for a file in which no finding could have a fix.
    refused = {Path(rewritten.source.path).name: rewritten.refused for rewritten in rewrites(joined)}
    assert refused == dict.fromkeys(("a.cpp", "b.cpp"), "it changed since it was checked; run again")


def test_fixes_are_made_before_the_first_file_is_written(tmp_path: Path) -> None:
    """b.cpp needs its include although a.h, which it includes, gets the same one in this run."""
    run = "inline void {}(Model& model) {{\n  c10::NoGradGuard no;\n  at::AutoNonVariableTypeMode g;\n  model.forward();\n}}\n"
    (tmp_path / "a.h").write_text("#pragma once\n#include <c10/util/Exception.h>\n" + run.format("first"))
    (tmp_path / "b.cpp").write_text('#include "a.h"\n#include <c10/util/Exception.h>\n' + run.format("second"))
    outcome = apply_fixes(fixes_for(check([str(tmp_path)]), FixChoice(unsafe=True)))
    assert len(outcome.written) == 2
    for name in ("a.h", "b.cpp"):
        assert "#include <c10/core/InferenceMode.h>\n" in (tmp_path / name).read_text(), name


def test_libcst_is_not_imported_for_cpp(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text(KERNEL)
    program = (
        "import sys\n"
        "from guardfix.codemods.fixable import fixes_for\n"
        "from guardfix.linter.engine import check\n"
        "assert fixes_for(check([sys.argv[1]])).findings[0].fix is not None\n"
        "print('libcst' in sys.modules)\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "False\n"
