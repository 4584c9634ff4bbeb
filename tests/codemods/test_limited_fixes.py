"""`--timeout-per-file` and `--memory` hold for fixes: a file for which they take more keeps its text, and it is said."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from guardfix.codemods import fixable
from guardfix.codemods.apply import rewriting
from guardfix.codemods.apply.applying import apply_fixes
from guardfix.codemods.choice import FixChoice
from guardfix.codemods.fix import Fix
from guardfix.codemods.fix_rule import FixRule
from guardfix.codemods.fixable import fixes_for
from guardfix.codemods.site import Site
from guardfix.linter.engine import Options, check
from guardfix.linter.files.sources import Source

USE = (
    "#include <torch/script.h>\nvoid run(torch::jit::Module& m) { at::AutoNonVariableTypeMode guard; m.forward({}); }\n"
)
PARENT = os.getpid()
OPTIONS = Options(workers=1, timeout_per_file=600.0, memory=4096, select=("GF001", "GF101"))
LATE = "took longer than 600 seconds (--timeout-per-file)"
LARGE = "takes more than 4096 MB (--memory)"


def run_out_of_time() -> None:
    """What the timer does when the time is over."""
    assert os.getpid() != PARENT, "the run itself must not end"
    os.kill(os.getpid(), signal.SIGALRM)


def run_out_of_memory() -> None:
    assert os.getpid() != PARENT, "the run itself needs its memory"
    bytearray(8 << 30)


HOW = [pytest.param(run_out_of_time, LATE, id="time"), pytest.param(run_out_of_memory, LARGE, id="memory")]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("fine.cpp", "slow.cpp"):
        (tmp_path / name).write_text(USE)
    return tmp_path


@pytest.mark.parametrize(("how", "why"), HOW)
def test_a_file_whose_fixes_take_more(
    how: Callable[[], None], why: str, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = fixable.find_fix_rule

    def with_trouble(code: str, name: str) -> FixRule | None:
        rule = find(code, name)
        if rule is None:
            return None
        troubled = FixRule()

        @troubled.fix
        def fix(site: Site) -> Fix | None:
            if site.finding.path.endswith("slow.cpp"):
                how()
            made = rule.function_for("cpp")
            assert made is not None
            return made(site)

        return troubled

    monkeypatch.setattr(fixable, "find_fix_rule", with_trouble)
    report = fixes_for(check([str(tree)], OPTIONS), FixChoice(unsafe=True))
    found = [(Path(one.path).name, one.code, one.fix is not None) for one in report.findings]
    assert found == [("fine.cpp", "GF101", True), ("slow.cpp", "GF001", False), ("slow.cpp", "GF101", False)]
    assert report.findings[1].message == f"this file is left out: making its fixes {why}"
    assert [Path(one.source.path).name for one in apply_fixes(report).written] == ["fine.cpp"]
    assert (tree / "slow.cpp").read_text() == USE
    assert "InferenceMode" in (tree / "fine.cpp").read_text()


@pytest.mark.parametrize(("how", "why"), HOW)
def test_a_file_whose_new_text_takes_more_to_parse(
    how: Callable[[], None], why: str, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parse = rewriting._adds_errors

    def with_trouble(source: Source, text: bytes) -> bool:
        if source.path.endswith("slow.cpp"):
            how()
        return parse(source, text)

    monkeypatch.setattr(rewriting, "_adds_errors", with_trouble)
    outcome = apply_fixes(fixes_for(check([str(tree)], OPTIONS), FixChoice(unsafe=True)))
    assert [Path(one.source.path).name for one in outcome.written] == ["fine.cpp"]
    assert [one.refused for one in outcome.refused] == [f"parsing what its fixes leave {why}"]
    assert (tree / "slow.cpp").read_text() == USE


def test_limits_change_no_fix(tree: Path) -> None:
    plain = fixes_for(check([str(tree)], Options(workers=1)), FixChoice(unsafe=True))
    limited = fixes_for(check([str(tree)], Options(workers=1, timeout_per_file=600.0)), FixChoice(unsafe=True))
    assert [one.fix for one in limited.findings] == [one.fix for one in plain.findings]
    assert any(one.fix for one in plain.findings)
