"""`verify --test` with a command that runs unittest."""

from __future__ import annotations

from pathlib import Path

import pytest

from guardfix.verify.judging.verdicts import VerificationFailed
from guardfix.verify.programs.program_migration import Migration
from guardfix.verify.projects.compared_tests import ProjectTests
from guardfix.verify.projects.project_tests import TestSettings, verify_project_tests

LIBRARY = """\
import torch

def doubled(x):
    with {guard}:
        return x * 2
"""
TESTS = """\
import subprocess
import sys
import unittest
import torch
from doubling import doubled

class Doubling(unittest.TestCase):
    def test_values(self):
        self.assertEqual(doubled(torch.ones(2)).tolist(), [2, 2])

    def test_result_is_changed_later(self):
        doubled(torch.ones(2)).add_(1)

    def test_subtests(self):
        for n in (1, 2):
            with self.subTest(n=n):
                doubled(torch.ones(n)).add_(n)

    def test_not_on_the_shim(self):
        torch.lobpcg(torch.ones(2))

    @unittest.skip("not today")
    def test_skipped(self):
        pass

    @unittest.expectedFailure
    def test_expected_to_fail(self):
        self.fail()

    def test_that_runs_a_test(self):
        class Inner(unittest.TestCase):
            def test_inner(self):
                doubled(torch.ones(1))
        unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(Inner))

    def test_another_process(self):
        tests = "test_doubling.Doubling.test_values"
        subprocess.run([sys.executable, "-m", "unittest", tests], cwd="tests", check=True)

class Unprepared(unittest.TestCase):
    def setUp(self):
        raise ValueError("no data")

    def test_is_not_run(self):
        pass

if __name__ == "__main__":
    unittest.main()
"""
BEFORE = LIBRARY.format(guard="torch.no_grad()")
AFTER = LIBRARY.format(guard="torch.inference_mode()")
REFUSED = "an inference tensor is changed in place outside the scope: now `add_` raises: Inplace update"
VERDICTS = {
    "Doubling.test_another_process": ("same", "passed", "the same output"),
    "Doubling.test_expected_to_fail": ("skipped", "xfailed", "xfailed"),
    "Doubling.test_not_on_the_shim": ("unsupported", "failed", "the shim lacks torch.lobpcg"),
    "Doubling.test_result_is_changed_later": ("stricter", "passed", REFUSED),
    "Doubling.test_skipped": ("skipped", "skipped", "skipped (not today)"),
    "Doubling.test_subtests": ("stricter", "passed", REFUSED),
    "Doubling.test_that_runs_a_test": ("same", "passed", "the same output"),
    "Doubling.test_values": ("same", "passed", "the same output"),
    "Unprepared.test_is_not_run": ("not run", "failed", "before and after: failed (ValueError: no data)"),
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("work") / "project"
    (root / "tests").mkdir(parents=True)
    (root / "doubling.py").write_text(BEFORE)
    (root / "tests" / "test_doubling.py").write_text(TESTS)
    return root


def verified(project: Path, command: str) -> ProjectTests:
    return verify_project_tests(
        project, Migration({(project / "doubling.py").resolve(): AFTER.encode()}), TestSettings(command)
    )


@pytest.mark.parametrize(
    ("run", "module"),
    [("python -m unittest discover tests", "test_doubling"), ("python tests/test_doubling.py", "__main__")],
    ids=["discovered", "the file itself"],
)
@pytest.mark.thorough
def test_each_test_is_compared(project: Path, run: str, module: str) -> None:
    found = {test.name: test for test in verified(project, run).tests}
    assert sorted(found) == [f"{module}.{name}" for name in VERDICTS]
    for name, (verdict, outcome, why) in VERDICTS.items():
        test = found[f"{module}.{name}"]
        assert test.before is not None
        assert (str(test.judgement.verdict), test.before.outcome) == (verdict, outcome), name
        assert test.judgement.reason[: len(why)] == why, name
        # A process that a test starts records nothing; what a test within a test does belongs to the outer one.
        multiplies = any(event.get("op") == "mul" for event in test.before.events)
        assert multiplies == (name.partition(".test_")[2] in MULTIPLYING), name


MULTIPLYING = ("result_is_changed_later", "subtests", "that_runs_a_test", "values")


def test_what_a_test_fails_with(project: Path) -> None:
    [test] = verified(project, "python -m unittest tests.test_doubling.Unprepared").tests
    assert test.before is not None
    assert test.before.message == "ValueError: no data"


def test_a_command_that_runs_no_test_shows_how_it_ended(project: Path) -> None:
    printed = "python -c \"print('x' * 400); print('the end')\""
    with pytest.raises(VerificationFailed) as caught:
        verified(project, printed)
    assert str(caught.value).endswith(f"ran with pytest or unittest under `{printed}`: {'x' * 300} …\nthe end")
