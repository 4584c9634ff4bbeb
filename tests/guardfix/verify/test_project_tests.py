"""`verify --test`: a project's own tests before and after migration, on the shim under PyTorch's name."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from guardfix.cli.verify_command import command
from guardfix.runtime_shim.recording.contained_command import NOT_INSTEAD, run_contained
from guardfix.runtime_shim.recording.containment import contain
from guardfix.runtime_shim.recording.guard_table import GuardCount
from guardfix.verify.judging.verdicts import VerificationFailed, judge
from guardfix.verify.programs.program_migration import Migration
from guardfix.verify.projects.compared_tests import ProjectTests, Round, TestRun, compared
from guardfix.verify.projects.compiler_cache import with_ccache
from guardfix.verify.projects.project_tests import (
    BuiltCopy,
    TestSettings,
    recorded_tests,
    verify_project_tests,
)
from guardfix.verify.runs.program_runs import ProgramRun

LIBRARY = """\
import torch

def doubled(x):
    with {guard}:
        return x * 2

def written_to(x):
    kept = x * x
    with {guard}:
        x.mul_(3)
    return kept
"""
BEFORE = LIBRARY.format(guard="torch._C._AutoDispatchBelowADInplaceOrView()")
AFTER = LIBRARY.format(guard="torch.inference_mode()")

TESTS = """\
import pytest
import torch
from doubling import doubled, written_to

def test_values():
    assert doubled(torch.ones(2)).tolist() == [2, 2]

def test_result_is_changed_later():
    doubled(torch.ones(2)).add_(1)

def test_gradient():
    x = torch.ones(2, requires_grad=True)
    written_to(x.clone()).sum().backward()
    assert x.grad is not None

def test_what_is_printed_depends_on_the_version():
    x = torch.ones(2)
    written_to(x)
    torch.full((1,), float(x._version))

@pytest.mark.parametrize("n", [1, 2])
def test_without_guard(n):
    assert torch.ones(n).sum().item() == n

def test_not_on_the_shim():
    torch.lobpcg(torch.ones(2))

def test_module_not_on_the_shim():
    import torch.onnx
    torch.onnx.export(1, 2)

@pytest.mark.skip(reason="not today")
def test_skipped():
    pass

@pytest.mark.xfail
def test_expected_to_fail():
    assert False
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("work") / "project"
    (root / "tests").mkdir(parents=True)
    (root / "doubling.py").write_text(BEFORE)
    (root / "tests" / "test_doubling.py").write_text(TESTS)
    return root


@pytest.fixture(scope="module")
def result(project: Path) -> ProjectTests:
    migration = Migration({(project / "doubling.py").resolve(): AFTER.encode()})
    return verify_project_tests(project, migration, TestSettings("pytest -q -p no:cacheprovider tests"))


VERDICTS = [
    pytest.param("test_values", "same", "the same output", id="same values"),
    pytest.param(
        "test_result_is_changed_later",
        "stricter",
        "an inference tensor is changed in place outside the scope: now `add_` raises",
        id="stricter",
    ),
    pytest.param("test_gradient", "repaired", "modified by an inplace operation", id="a silent error is one now"),
    pytest.param(
        "test_what_is_printed_depends_on_the_version",
        "changed",
        "the results differ: `full`",
        id="other values, and no error",
    ),
    pytest.param("test_without_guard[2]", "same", "the same output", id="parametrized, reaches no guard"),
    pytest.param("test_not_on_the_shim", "unsupported", "the shim lacks torch.lobpcg", id="a name that the shim lacks"),
    pytest.param(
        "test_module_not_on_the_shim", "unsupported", "the shim lacks torch.onnx.export", id="a module it lacks"
    ),
    pytest.param("test_skipped", "skipped", "skipped (not today)", id="skipped"),
    pytest.param("test_expected_to_fail", "skipped", "xfailed (assert False)", id="expected to fail"),
]


@pytest.mark.parametrize(("name", "verdict", "why"), VERDICTS)
def test_verdict_of_each_test(result: ProjectTests, name: str, verdict: str, why: str) -> None:
    (found,) = [test for test in result.tests if test.name == f"tests/test_doubling.py::{name}"]
    assert (str(found.judgement.verdict), why in found.judgement.reason) == (verdict, True), found.judgement.reason


def test_all_tests_are_there_and_the_names_that_are_missing(result: ProjectTests) -> None:
    assert len(result.tests) == 10
    assert dict(result.missing) == {"torch.lobpcg": 1, "torch.onnx.export": 1}


def test_the_project_is_left_as_it_is(result: ProjectTests, project: Path) -> None:
    assert (project / "doubling.py").read_text() == BEFORE
    assert sorted(path.name for path in project.iterdir()) == ["doubling.py", "tests"]


def test_a_command_that_runs_no_test(project: Path) -> None:
    with pytest.raises(VerificationFailed, match=r"no test of .*project ran"):
        verify_project_tests(project, Migration(), TestSettings("python -c pass"))


def test_a_command_that_is_not_there(project: Path) -> None:
    with pytest.raises(VerificationFailed, match="no-such-command: No such file"):
        verify_project_tests(project, Migration(), TestSettings("no-such-command"))


PLACE = """\
from pathlib import Path
from value import VALUE

def test_place():
    assert (VALUE, Path("value.py").read_text(), Path(__file__).parent) == (1, "VALUE = 1", Path({copy!r}))
    Path("written").touch()
"""


def test_the_version_before_is_tested_in_its_place_while_the_copy_holds_another(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "value.py").write_text("VALUE = 1")
    (copy / "test_place.py").write_text(PLACE.format(copy=str(copy)))
    built = BuiltCopy(copy, tmp_path / "before", TestSettings("pytest -q -p no:cacheprovider"))
    if not built.set_apart(tmp_path / "apart"):
        pytest.skip("the system has no mounts for one process, or only one processor")
    (copy / "value.py").write_text("VALUE = 2")
    (run,) = built.test().tests.values()
    assert (run.outcome, run.message) == ("passed", "")
    assert ((copy / "written").exists(), (tmp_path / "apart" / "written").exists()) == (False, True)


@pytest.mark.parametrize("by_name", [True, False])
def test_ccache_is_used_where_it_is_installed(tmp_path: Path, by_name: bool) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    variables = {"PATH": str(programs), "GUARDFIX_CACHE_DIR": str(tmp_path)}
    assert with_ccache(tmp_path / "compilers", variables, by_name=by_name) == {}
    for name in ("ccache", "g++"):
        (programs / name).write_text("")
        (programs / name).chmod(0o755)
    found = with_ccache(tmp_path / "compilers", variables, by_name=by_name)
    ccache = str(programs / "ccache")
    if by_name:
        assert found == {"CCACHE_DIR": f"{tmp_path}/ccache", "PATH": f"{tmp_path}/compilers:{programs}"}
        assert {path.name: str(path.readlink()) for path in (tmp_path / "compilers").iterdir()} == {"g++": ccache}
    else:
        launchers = {"CMAKE_C_COMPILER_LAUNCHER": ccache, "CMAKE_CXX_COMPILER_LAUNCHER": ccache}
        assert found == {"CCACHE_DIR": f"{tmp_path}/ccache", **launchers}


def test_a_system_that_cannot_show_another_folder_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    with pytest.raises(OSError, match="only Linux"):
        contain([tmp_path], tmp_path, instead=(tmp_path, tmp_path))
    assert run_contained([tmp_path], ["true"], instead=tmp_path) == NOT_INSTEAD


def test_what_varies_on_one_side_shows_nothing() -> None:
    [test] = compared(round_of(FAILED), round_of(PASSED))
    assert str(test.judgement.verdict) == "changed"
    for again in ({"before_again": PASSED}, {"again": FAILED}):
        found = replace(test, **again).judgement
        assert (str(found.verdict), found.reason.partition(",")[0]) == ("unsupported", "two runs of it differ")


def test_a_process_that_ends_within_a_test() -> None:
    runs = recorded_tests([{"event": "test", "name": "a"}, {"event": "step", "op": "mul"}])
    assert (runs["a"].outcome, len(runs["a"].events)) == ("unfinished", 1)


# ---- what the time limit cuts off


def round_of(test: TestRun | None, stopped_after: float | None = None) -> Round:
    return Round(0, "", {} if test is None else {"a": test}, stopped_after=stopped_after)


PASSED, FAILED = TestRun("passed"), TestRun("failed", "ValueError: no")
CUT = TestRun("unfinished", cut_off="it had run for 8 s when the command was stopped after 9 s")
NOT_BUILT = Round(None, "", {}, failed_build="a.cpp:1: error: no\nand so on")
LACKING = TestRun("failed", "UnsupportedError: the shim has no torch.lobpcg; use PyTorch")


@pytest.mark.parametrize(
    ("before", "after", "verdict", "why"),
    [
        pytest.param(round_of(PASSED), round_of(PASSED), "same", "the same output", id="neither"),
        pytest.param(round_of(FAILED), round_of(FAILED), "not run", "before and after: failed (Val", id="fails"),
        pytest.param(
            round_of(PASSED), NOT_BUILT, "changed", "not started (building failed: a.cpp:1: error: no)", id="not built"
        ),
        pytest.param(
            round_of(CUT, 9),
            round_of(CUT, 9),
            "unsupported",
            "cut it off both times: before the migration, it had",
            id="both",
        ),
        pytest.param(
            round_of(CUT, 9),
            round_of(PASSED),
            "unsupported",
            "the migration only: it had run for 8 s",
            id="before only",
        ),
        pytest.param(
            round_of(PASSED),
            round_of(CUT, 9),
            "unsupported",
            "after the migration only: it had run for 8 s when the command was stopped after 9 s; before it: passed",
            id="after only",
        ),
        pytest.param(
            round_of(PASSED),
            round_of(None, 9),
            "unsupported",
            "stopped after 9 s, before it began",
            id="not begun after",
        ),
        pytest.param(round_of(None, 9), round_of(CUT, 9), "unsupported", "both times", id="not begun before"),
        pytest.param(round_of(PASSED), round_of(None), "changed", "did not run", id="gone, and nothing was stopped"),
        pytest.param(
            round_of(TestRun("unfinished")), round_of(PASSED), "changed", "before: unfinished", id="its process ended"
        ),
        pytest.param(round_of(PASSED, 9), round_of(FAILED, 9), "changed", "ValueError", id="it ended before the limit"),
        pytest.param(round_of(LACKING), round_of(CUT, 9), "unsupported", "lobpcg", id="and the shim lacks something"),
    ],
)
def test_a_test_that_the_time_limit_cuts_off(before: Round, after: Round, verdict: str, why: str) -> None:
    [test] = compared(before, after)
    judgement = test.judgement
    assert (str(judgement.verdict), why in judgement.reason) == (verdict, True), judgement.reason
    assert ("--timeout" in judgement.advice) is ("the time limit" in judgement.reason)


IMPORT = TestRun("failed", "ImportError: cannot import name '_foo' from 'torch.optim.lr_scheduler'")


@pytest.mark.parametrize(
    ("before", "after", "verdict", "why"),
    [
        pytest.param(round_of(PASSED), round_of(IMPORT), "changed", "after: failed (ImportError", id="a name is gone"),
        pytest.param(round_of(IMPORT), round_of(IMPORT), "skipped", "known to fail on PyTorch", id="both times"),
    ],
)
def test_on_pytorch_the_shim_lacks_nothing(before: Round, after: Round, verdict: str, why: str) -> None:
    known = {name for name, run in before.tests.items() if run.outcome == "failed"}
    [test] = compared(before, after, known, on_torch=True)
    assert (str(test.judgement.verdict), test.missing) == (verdict, None)
    assert why in test.judgement.reason
    assert "shim" not in f"{test.judgement.reason} {test.judgement.advice}"


@pytest.mark.parametrize(
    ("on_shim", "status", "verdict", "why"),
    [
        (True, 1, "unsupported", "the shim has no torch.optim.lr_scheduler._foo"),
        (False, 1, "not run", "it fails before and after"),
        (True, 0, "unsupported", "the shim has no torch.optim.lr_scheduler._foo"),
        (False, 0, "changed", "exit status 0 before, exit status 1 after"),
    ],
)
def test_a_judge_knows_what_ran_the_program(on_shim: bool, status: int, verdict: str, why: str) -> None:
    before, after = (ProgramRun(code, "", IMPORT.message if code else "", []) for code in (status, 1))
    found = judge(before, after, {}, on_shim=on_shim)
    assert (str(found.verdict), why in found.reason) == (verdict, True), found.reason
    assert ("shim" in f"{found.reason} {found.advice}") is on_shim


def test_what_an_unfinished_test_entered_is_counted() -> None:
    begins = {"event": "test", "began": 1.0}
    events = [
        begins | {"name": "first", "guards": {}},
        {"event": "reached", "name": "first", "guards": {"0": [0, 3], "1": [1, 3]}},
        {"event": "outcome", "name": "first", "outcome": "passed", "message": ""},
        begins | {"name": "second", "guards": {"0": [0, 3], "1": [1, 3]}},
    ]
    table = [GuardCount(0, 8), GuardCount(1, 3), GuardCount(2, 5), GuardCount()]
    runs = recorded_tests(events, table)
    assert runs["first"].counts == {0: (0, 3), 1: (1, 3)}
    assert runs["second"].counts == {0: (0, 5), 2: (2, 5)}


# ---- the command

COMMAND_LIBRARY = """\
import torch

def total(x):
    with torch.inference_mode(), torch.no_grad():
        return (x * 2).sum()

def unused(x):
    with torch.inference_mode(), torch.no_grad():
        return x + 1
"""
COMMAND_TESTS = """\
import torch
from totals import total

def test_one():
    assert total(torch.ones(2)).item() == 4

def test_twice():
    total(torch.ones(3))
    total(torch.ones(3))

def test_not_on_the_shim():
    torch.lobpcg(torch.ones(2))
"""


@pytest.mark.thorough
def test_the_command_tells_which_tests_reach_which_guard(tmp_path: Path) -> None:
    library, tests = tmp_path / "totals.py", tmp_path / "tests" / "test_totals.py"
    tests.parent.mkdir()
    library.write_text(COMMAND_LIBRARY)
    tests.write_text(COMMAND_TESTS)
    arguments = [str(tmp_path), "--test", "pytest -q -p no:cacheprovider tests", "--isolated"]
    done = CliRunner().invoke(command, arguments)
    assert done.exit_code == 1, done.output
    assert done.stdout.splitlines() == [
        f"{library}:4: no_grad: same",
        "  Entered 3 times by 2 tests (tests/test_totals.py::test_one, tests/test_totals.py::test_twice), 6 ops below it.",
        f"{library}:8: no_grad: not reached: never entered, but tests/test_totals.py::test_not_on_the_shim ended early",
        "The shim lacks torch.lobpcg, which stops 1 test.",
    ]
    assert done.stderr.splitlines() == [
        "3 tests: 2 same, 1 unsupported.",
        "2 passed, 1 failed, 0 skipped, before and after the migration.",
        f"1 of 2 migrated guards verified: 1 same; 1 not reached ({library}:8).",
    ]
    allowed = CliRunner().invoke(
        command, [*arguments, "--allow-unsupported", "--allow-not-reached", "--output-format", "json"]
    )
    found = json.loads(allowed.stdout)
    assert allowed.exit_code == 0
    assert [(guard["verdict"], guard["entered"], guard["ops"]) for guard in found["guards"]] == [
        ("same", 3, 6),
        ("not reached", 0, 0),
    ]
    assert library.read_text() == COMMAND_LIBRARY


SLOW_TESTS = """\
import time
import torch
from totals import total, unused

def test_values():
    assert total(torch.ones(2)).item() == 4

def test_slow():
    unused(torch.ones(2))
    time.sleep(600)

def test_not_begun():
    pass
"""


@pytest.mark.thorough
def test_a_command_that_is_stopped_for_its_time(tmp_path: Path) -> None:
    (tmp_path / "totals.py").write_text(COMMAND_LIBRARY)
    (tmp_path / "test_slow.py").write_text(SLOW_TESTS)
    arguments = [str(tmp_path), "--test", "pytest -q -p no:cacheprovider", "--timeout", "20", "--isolated"]
    done = CliRunner().invoke(command, [*arguments, "--output-format", "json"])
    found = json.loads(done.stdout)
    assert done.exit_code == 1
    assert [(test["name"], test["verdict"]) for test in found["tests"]] == [
        ("test_slow.py::test_values", "same"),
        ("test_slow.py::test_slow", "unsupported"),
        ("test_slow.py::test_not_begun", "unsupported"),
    ]
    assert "the time limit cut it off both times" in found["tests"][1]["reason"]
    assert "s when the command was stopped after 20 s" in found["tests"][1]["reason"]
    assert [(guard["verdict"], guard["entered"], guard["ops"]) for guard in found["guards"]] == [
        ("same", 1, 2),
        ("unsupported", 1, 1),
    ]


VARYING = """\
import os
import time
import torch
import doubling

def test_time():
    torch.full((1,), float(time.perf_counter_ns() % 100_003))

def test_result_is_changed_later():
    doubling.doubled(torch.ones(2)).add_(1)

def test_values():
    assert doubling.doubled(torch.ones(2)).tolist() == [2, 2]
"""


@pytest.mark.thorough
def test_a_test_that_varies_shows_nothing(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "doubling.py").write_text(BEFORE)
    (project / "test_doubling.py").write_text(VARYING)
    migration = Migration({(project / "doubling.py").resolve(): AFTER.encode()})
    result = verify_project_tests(project, migration, TestSettings("python -m pytest -q -p no:cacheprovider"))
    assert {test.name.rpartition("::")[2]: test.judgement.verdict.value for test in result.tests} == {
        "test_time": "unsupported",
        "test_result_is_changed_later": "stricter",
        "test_values": "same",
    }


@pytest.mark.thorough
def test_says_how_far_it_is(tmp_path: Path) -> None:
    (tmp_path / "test_two.py").write_text(
        "import torch\ndef test_a(): torch.ones(1)\ndef test_b(): raise ValueError\n@torch.no_grad()\ndef f(): pass\n"
    )
    said: list[str] = []
    verify_project_tests(tmp_path, Migration(), TestSettings("pytest -q -p no:cacheprovider"), said.append)
    for when in ("before", "after"):  # at once, where there are two processors
        assert any(f"testing (2 of 2 tests done) {when} the migration" in text for text in said)
