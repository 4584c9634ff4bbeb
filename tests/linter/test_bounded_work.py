"""`--timeout-per-file` and `--memory` hold for decisions as they do for reading: what takes more is left out, and said."""

from __future__ import annotations

import mmap
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from guardfix.linter.analysis.project import Project
from guardfix.linter.bounded_work import BoundedWork
from guardfix.linter.engine import Options, check
from guardfix.linter.facts import Facts, GuardUse
from guardfix.linter.findings import Finding
from guardfix.linter.frontends import forked_readers
from guardfix.linter.frontends.forked_readers import FileLimits
from guardfix.linter.rule import Rule

USE = (
    "#include <torch/script.h>\nvoid run(torch::jit::Module& m) { at::AutoNonVariableTypeMode guard; m.forward({}); }\n"
)
PARENT = os.getpid()
LATE = "deciding about it took longer than 600 seconds (--timeout-per-file)"
LARGE = "deciding about it takes more than 4096 MB (--memory)"
TIME = {"timeout_per_file": 600.0}
MEMORY = {"memory": 4096}


def run_out_of_time() -> None:
    """What the timer does when the time is over."""
    assert os.getpid() != PARENT, "the run itself must not end"
    os.kill(os.getpid(), signal.SIGALRM)


def run_out_of_memory() -> None:
    assert os.getpid() != PARENT, "the run itself needs its memory"
    bytearray(8 << 30)


def rule_that(stage: str, how: Callable[[], None]) -> Rule:
    """A rule that has trouble with `slow.cpp`, and says one thing about each other file."""
    rule = Rule("XX101", "has-trouble")

    def trouble(facts: Facts, now: str) -> None:
        if facts.path.endswith("slow.cpp") and now == stage:
            how()

    @rule.asks
    def asks(facts: Facts, project: Project) -> Iterator[str]:
        trouble(facts, "asks")
        yield "run"

    @rule.leaves_open
    def leaves_open(facts: Facts, project: Project) -> Iterator[GuardUse]:
        trouble(facts, "leaves open")
        yield from facts.guard_uses

    @rule.check_use
    def says(use: GuardUse, facts: Facts, project: Project) -> Iterator[Finding]:
        trouble(facts, "says")
        yield rule.at(facts, use.span, "here")

    return rule


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("fine", "other", "slow"):
        (tmp_path / f"{name}.cpp").write_text(USE.replace("run", f"run_{name}"))
    return tmp_path


@pytest.mark.parametrize(
    ("stage", "how", "limit", "why"),
    [
        pytest.param("asks", run_out_of_time, TIME, LATE, id="a question, time"),
        pytest.param("leaves open", run_out_of_time, TIME, LATE, id="an open use, time"),
        pytest.param("says", run_out_of_time, TIME, LATE, id="a finding, time"),
        pytest.param("says", run_out_of_memory, MEMORY, LARGE, id="a finding, memory"),
    ],
)
def test_a_file_is_left_out_of_decisions(
    stage: str, how: Callable[[], None], limit: dict[str, float], why: str, tree: Path
) -> None:
    options = Options(workers=1, rules=(rule_that(stage, how),), select=("GF001", "GF101", "XX101"), **limit)  # type: ignore[arg-type]
    report = check([str(tree)], options)
    found = [(Path(one.path).stem, one.code) for one in report.findings]
    assert found == [("fine", "GF101"), ("fine", "XX101"), ("other", "GF101"), ("other", "XX101"), ("slow", "GF001")]
    assert report.findings[-1].message == f"this file is left out: {why}"
    assert report.lost == []


def test_limits_change_nothing_else(tree: Path) -> None:
    (tree / "fine.cpp").write_text(USE.replace("guard;", "guard;  // NOLINT(GF101,GF999)"))
    (tree / "models.py").write_text("import torch\n@torch.no_grad()\nasync def f(x):\n    return x\n")
    select = ("ALL",)
    plain = check([str(tree)], Options(workers=1, select=select))
    limited = check([str(tree)], Options(workers=1, select=select, timeout_per_file=600, memory=1 << 20))
    assert limited.findings == plain.findings
    assert [one.use for one in limited.findings] == [one.use for one in plain.findings]
    assert limited.suppressed == plain.suppressed == 1
    assert {one.code for one in plain.findings} >= {"GF101", "GF002", "GF401"}


def test_work_that_takes_too_long() -> None:
    work = BoundedWork(FileLimits(seconds=0.5), 2)

    def of_file(path: str) -> str:
        if path in ("b", "d"):
            time.sleep(600)
        return path.upper()

    assert work.each(of_file, "abcde", "thinking about it") == ["A", "C", "E"]
    why = "thinking about it took longer than 0.5 seconds (--timeout-per-file)"
    assert work.left_out == {"b": why, "d": why}
    assert work.each(str.upper, "abc", "asking again") == ["A", "C"], "what was left out once stays out"
    assert work.lost == []


def test_more_lost_processes_than_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """None of the work is done here in the end."""
    monkeypatch.setattr(forked_readers, "_ROUNDS", 3)
    work = BoundedWork(FileLimits(seconds=600), 1)

    def of_file(path: str) -> str:
        if path != "0":
            run_out_of_time()
        return path

    assert work.each(of_file, map(str, range(12)), "doing it") == ["0"]
    assert len(work.left_out) == 11


def test_a_thread_that_finds_no_memory_for_its_stack_is_the_file_s_trouble(own_megabytes: int) -> None:
    def of_file(path: str) -> str:
        threading.stack_size(3 << 30)  # more than the stack of any thread that has ended, which would be used again
        thread = threading.Thread(target=str)
        thread.start()
        thread.join()
        return path

    work = BoundedWork(FileLimits(megabytes=own_megabytes + 300), 1)
    assert work.each(of_file, "a", "doing it") == []
    assert work.left_out == {"a": f"doing it takes more than {own_megabytes + 300} MB (--memory)"}


def test_memory_that_other_files_took_is_not_held_against_one(own_megabytes: int) -> None:
    work = BoundedWork(FileLimits(megabytes=own_megabytes + 1100), 1)  # for two of six
    kept: list[mmap.mmap] = []

    def of_file(path: str) -> int:
        kept.append(mmap.mmap(-1, 400 << 20))
        return len(kept)

    found = work.each(of_file, "abcdef", "keeping it")
    assert len(found) == 6
    assert work.left_out == {}
    assert max(found) < 6, "one process cannot keep them all"


def test_without_limits_no_process_is_forked() -> None:
    assert BoundedWork().each(lambda path: os.getpid(), "ab", "doing it") == [PARENT, PARENT]
