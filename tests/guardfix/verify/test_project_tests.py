"""`verify --test`: a project's own tests before and after migration, on the shim under PyTorch's name."""

from __future__ import annotations

from pathlib import Path

import pytest

from guardfix.verify.program_migration import Migration
from guardfix.verify.project_tests import recorded_runs, verify_tests
from guardfix.verify.verdicts import VerificationFailed
from guardfix.verify.verifying import Result, Settings

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
    torch.fft.fft(torch.ones(2))

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
def results(project: Path) -> dict[str, Result]:
    migration = Migration({(project / "doubling.py").resolve(): AFTER.encode()})
    found = verify_tests(project, migration, "pytest -q -p no:cacheprovider tests", Settings())
    return {result.name.removeprefix("tests/test_doubling.py::"): result for result in found}


VERDICTS = [
    pytest.param("test_values", "same", "", id="same values"),
    pytest.param(
        "test_result_is_changed_later",
        "stricter",
        "an inference tensor is changed in place outside the scope: now `add_` raises",
        id="raises now",
    ),
    pytest.param("test_gradient", "repaired", "silently wrong", id="a silent error is one now"),
    pytest.param("test_what_is_printed_depends_on_the_version", "changed", "full", id="other values, and no error"),
    pytest.param("test_without_guard[2]", "same", "", id="parametrized, reaches no guard"),
    pytest.param("test_not_on_the_shim", "unsupported", "the shim has no torch.fft", id="a name that the shim lacks"),
    pytest.param("test_skipped", "same", "the test is skipped", id="skipped"),
    pytest.param("test_expected_to_fail", "same", "", id="expected to fail"),
]


@pytest.mark.parametrize(("name", "verdict", "reason"), VERDICTS)
def test_verdict_of_each_test(results: dict[str, Result], name: str, verdict: str, reason: str) -> None:
    judgement = results[name].judgement
    assert judgement.verdict == verdict, judgement.reason
    assert reason in judgement.reason


def test_all_tests_are_there(results: dict[str, Result]) -> None:
    assert len(results) == 9


def test_the_project_is_left_as_it_is(results: dict[str, Result], project: Path) -> None:
    assert (project / "doubling.py").read_text() == BEFORE
    assert sorted(path.name for path in project.iterdir()) == ["doubling.py", "tests"]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        pytest.param("python -c pass", r"no test of .*project ran: the command printed nothing", id="no test"),
        pytest.param("no-such-command", "no-such-command: No such file", id="no command"),
    ],
)
def test_nothing_to_verify(project: Path, command: str, message: str) -> None:
    with pytest.raises(VerificationFailed, match=message):
        list(verify_tests(project, Migration(), command, Settings()))


def test_a_build_that_fails(project: Path) -> None:
    with pytest.raises(VerificationFailed, match="could not be built as it is:\nno headers"):
        build = "python -c \"raise SystemExit('no headers')\""
        list(verify_tests(project, Migration(), "pytest", Settings(), build=build))


def test_a_process_that_ends_within_a_test() -> None:
    events = [{"event": "test", "name": "a"}, {"event": "step", "op": "mul"}]
    run = recorded_runs(events)["a"]
    assert (run.status, run.output, run.timed_out, run.ops) == (1, "unfinished\n", False, 1)
    assert recorded_runs(events, timed_out=True)["a"].timed_out


def test_counts_of_guards() -> None:
    events = [{"event": "test", "name": "a"}, {"event": "guards", "name": "a", "counts": [[0, 0, 7], [2, 1, 3]]}]
    assert recorded_runs(events, 2)["a"].counts == [(0, 7), (0, 0), (1, 3)]
