# Long because each reason not to pass has its program.
"""A test that did not pass proves nothing: projects with tests that fail, or don't run, for every reason there is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner, Result

from guardfix.cli.verify_command import command
from guardfix.verify.judging.lacking import missing_of_torch, missing_package, needed_packages
from guardfix.verify.projects.known_failures import known_failures

GUARDED = """\
def {name}(x):
    with torch.inference_mode(), torch.no_grad():
        return x * 2

"""
HEAD = "import unittest\nimport pytest\nimport torch\nimport guarded\n\nX = torch.ones(2)\n\n"


class Planted(NamedTuple):
    """A test file whose tests come to the guard of a function of its own, and end for a reason."""

    text: str
    """Of the file; USE stands for the call of the guarded function."""
    expected: dict[str, tuple[str, str]]
    """The tests that are told of it, each with its verdict and how the reason begins."""
    guard: str
    """What is known about the guard."""


def one(text: str, verdict: str, reason: str, guard: str) -> Planted:
    """A file with one test, `test_it`."""
    return Planted(text, {"::test_it": (verdict, reason)}, guard)


NOT_RUN, SKIPPED, SAME, UNSUPPORTED, NOT_REACHED = "not run", "skipped", "same", "unsupported", "not reached"
BOTH = "before and after: "
PLANTED = {
    "passes": one("def test_it():\n    USE", SAME, "the same", SAME),
    "assertion": one(
        "def test_it():\n    USE\n    assert X is None, 'wrong'",
        NOT_RUN,
        f"{BOTH}failed (AssertionError: wrong)",
        NOT_RUN,
    ),
    "error": one(
        "def test_it():\n    USE\n    raise ValueError('no data')",
        NOT_RUN,
        f"{BOTH}failed (ValueError: no data)",
        NOT_RUN,
    ),
    "exits": one("def test_it():\n    USE\n    raise SystemExit(0)", NOT_RUN, f"{BOTH}failed (SystemExit: 0)", NOT_RUN),
    "cause": one(
        "def test_it():\n    USE\n    try:\n        {}['a']\n    except KeyError as e:\n        raise ValueError('b') from e",
        NOT_RUN,
        f"{BOTH}failed (ValueError: b)",
        NOT_RUN,
    ),
    "a_package_is_missing": Planted(
        "import no_such_package\n\ndef test_it():\n    USE",
        {"": (NOT_RUN, f"{BOTH}error (ModuleNotFoundError: No module named 'no_such_package')")},
        NOT_REACHED,
    ),
    "a_syntax_error": Planted(
        "def test_it(:\n    USE", {"": (NOT_RUN, f"{BOTH}error (SyntaxError: invalid syntax")}, NOT_REACHED
    ),
    "names_are_missing_of_which_one_is_used": Planted(
        "import torch.nn.utils.prune\nfrom torch.optim import ASGD\n\nclass Own(ASGD):\n    pass\n\n"
        "def test_it():\n    USE\n\ndef test_a_class():\n    USE\n    Own([])\n\n"
        "def test_a_module():\n    USE\n    torch.nn.utils.prune.remove(1, '')\n\n"
        "def test_a_cause():\n    USE\n    try:\n        ASGD([])\n    except Exception as e:\n"
        "        raise ValueError('no step') from e",
        {
            "::test_it": (SAME, "the same"),
            "::test_a_class": (UNSUPPORTED, "the shim lacks torch.optim.ASGD"),
            "::test_a_module": (UNSUPPORTED, "the shim lacks torch.nn.utils.prune.remove"),
            "::test_a_cause": (UNSUPPORTED, "the shim lacks torch.optim.ASGD"),
        },
        SAME,
    ),
    "a_private_module_is_missing": Planted(
        "import torch._no_such_internals\n\ndef test_it():\n    USE",
        {"": (UNSUPPORTED, "the shim lacks torch._no_such_internals")},
        NOT_REACHED,
    ),
    "a_misspelt_name": Planted(
        "from torch.nn import Lineaar\n\ndef test_it():\n    USE",
        {"": (NOT_RUN, f"{BOTH}error (ImportError: cannot import name 'Lineaar'")},
        NOT_REACHED,
    ),
    "a_function_is_missing": one(
        "def test_it():\n    USE\n    torch.lobpcg(X)", UNSUPPORTED, "the shim lacks torch.lobpcg", UNSUPPORTED
    ),
    "an_import_that_may_fail": one(
        "def test_it():\n    USE\n    pytest.importorskip('torch._no_such_internals', exc_type=ImportError)",
        UNSUPPORTED,
        "the shim lacks torch._no_such_internals",
        UNSUPPORTED,
    ),
    "skip_mark": one(
        "@pytest.mark.skip(reason='not today')\ndef test_it():\n    USE", SKIPPED, "skipped (not today)", NOT_REACHED
    ),
    "skipif": one(
        "@pytest.mark.skipif(not torch.cuda.is_available(), reason='needs a GPU')\ndef test_it():\n    USE",
        SKIPPED,
        "skipped (needs a GPU)",
        NOT_REACHED,
    ),
    "skips_itself": one("def test_it():\n    USE\n    pytest.skip('enough')", SKIPPED, "skipped (enough)", NOT_REACHED),
    "skips_its_module": Planted(
        "pytest.skip('none of it', allow_module_level=True)\n\ndef test_it():\n    USE",
        {"": (SKIPPED, "skipped (none of it)")},
        NOT_REACHED,
    ),
    "expected_to_fail": one(
        "@pytest.mark.xfail\ndef test_it():\n    USE\n    assert X is None, 'as ever'",
        SKIPPED,
        "xfailed (AssertionError: as ever)",
        NOT_REACHED,
    ),
    "expected_to_fail_and_not_run": one(
        "@pytest.mark.xfail(run=False, reason='hangs')\ndef test_it():\n    USE", SKIPPED, "xfailed", NOT_REACHED
    ),
    "passes_unexpectedly": one("@pytest.mark.xfail\ndef test_it():\n    USE", SAME, "the same", SAME),
    "passes_unexpectedly_and_strictly": one(
        "@pytest.mark.xfail(strict=True)\ndef test_it():\n    USE", NOT_RUN, f"{BOTH}failed ([XPASS(strict)]", NOT_RUN
    ),
    "set_up": one(
        "@pytest.fixture\ndef data():\n    USE\n    raise OSError('no file')\n\ndef test_it(data):\n    pass",
        NOT_RUN,
        f"{BOTH}error (OSError: no file)",
        NOT_RUN,
    ),
    "tear_down": one(
        "@pytest.fixture\ndef data():\n    yield 1\n    raise OSError('still open')\n\ndef test_it(data):\n    USE",
        NOT_RUN,
        f"{BOTH}error (OSError: still open)",
        NOT_RUN,
    ),
    "skipped_and_torn_down": one(
        "@pytest.fixture\ndef data():\n    yield 1\n    raise OSError('open')\n\ndef test_it(data):\n    USE\n    pytest.skip()",
        NOT_RUN,
        f"{BOTH}error (OSError: open)",
        NOT_RUN,
    ),
    "a_fixture_of_a_plugin_that_is_missing": one(
        "def test_it(no_such_fixture):\n    USE",
        NOT_RUN,
        f"{BOTH}error (fixture 'no_such_fixture' not found",
        NOT_REACHED,
    ),
    "an_async_test_without_its_plugin": one(
        "async def test_it():\n    USE",
        NOT_RUN,
        f"{BOTH}failed (Failed: async def functions are not natively supported.",
        NOT_REACHED,
    ),
    "parameters": Planted(
        "@pytest.mark.parametrize('n', [1, 2, 3])\ndef test_it(n):\n    USE\n    assert n < 3, n\n    n == 2 and pytest.skip()",
        {
            "::test_it[1]": (SAME, "the same"),
            "::test_it[2]": (SKIPPED, "skipped"),
            "::test_it[3]": (NOT_RUN, f"{BOTH}failed (AssertionError: 3)"),
        },
        SAME,
    ),
    "a_class_is_not_set_up": Planted(
        "class Tests(unittest.TestCase):\n    @classmethod\n    def setUpClass(cls):\n        USE\n"
        "        raise OSError('no server')\n\n    def test_it(self):\n        pass",
        {"::Tests::test_it": (NOT_RUN, f"{BOTH}error (OSError: no server)")},
        NOT_RUN,
    ),
    "a_subtest": Planted(
        "class Tests(unittest.TestCase):\n    def test_it(self):\n        for n in (1, 2):\n"
        "            with self.subTest(n=n):\n                USE\n                self.assertEqual(n, 1)",
        {"::Tests::test_it": (NOT_RUN, f"{BOTH}failed (AssertionError: 2 != 1)")},
        NOT_RUN,
    ),
}
"""What is planted -> what is found."""


def plant(root: Path, planted: dict[str, Planted]) -> Path:
    """A project with a library of guarded functions, one for each test file, by its name."""
    root.mkdir(parents=True)
    names = list(planted)
    (root / "guarded.py").write_text("import torch\n\n" + "".join(GUARDED.format(name=name) for name in names))
    for name, file in planted.items():
        (root / f"test_{name}.py").write_text(HEAD + file.text.replace("USE", f"guarded.{name}(X)") + "\n")
    return root


PYTEST = "python -m pytest -q -p no:cacheprovider"


def run(root: Path, run_by: str, *options: str) -> Result:
    return CliRunner().invoke(command, [str(root), "--test", run_by, "--isolated", "--yes", *options])


def found(root: Path, run_by: str, *options: str) -> tuple[int, dict[str, Any]]:
    done = run(root, run_by, *options, "--output-format", "json")
    assert done.exit_code in (0, 1), done.output
    return done.exit_code, json.loads(done.stdout)


def by_name(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {test["name"]: test for test in report["tests"]}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    status, report = found(plant(tmp_path_factory.mktemp("work") / "project", PLANTED), PYTEST)
    assert status == 1
    return report


@pytest.mark.parametrize("name", PLANTED)
def test_each_reason(report: dict[str, Any], name: str) -> None:
    tests = {
        test["name"].removeprefix(f"test_{name}.py"): test
        for test in report["tests"]
        if test["name"].partition("::")[0] == f"test_{name}.py"
    }
    for test, (verdict, reason) in PLANTED[name].expected.items():
        assert (tests[test]["verdict"], tests[test]["reason"][: len(reason)]) == (verdict, reason)
    assert set(tests) == set(PLANTED[name].expected)
    guard = report["guards"][list(PLANTED).index(name)]
    assert guard["verdict"] == PLANTED[name].guard, guard


def test_only_what_passed_is_a_proof(report: dict[str, Any]) -> None:
    """Whatever the reason, a test that did not pass is not the same."""
    for test in report["tests"]:
        passed = test["before"] in ("passed", "xpassed") and test["after"] in ("passed", "xpassed")
        assert (test["verdict"] == SAME) is passed, test
    groups = report["counts"]["before"]
    assert groups == report["counts"]["after"]
    assert sum(groups.values()) == len(report["tests"])
    assert (groups["passed"], groups["skipped"], groups["xfailed"], groups["not started"]) == (4, 6, 2, 0)
    assert len(PLANTED) > 20


# ---- unittest

UNITTESTS = Planted(
    """\
class Plain(unittest.TestCase):
    def test_passes(self):
        USE

    def test_fails(self):
        USE
        self.fail("wrong")

    def test_skips(self):
        USE
        self.skipTest("enough")

    def test_a_subtest_fails(self):
        for n in (1, 2):
            with self.subTest(n=n):
                USE
                self.assertEqual(n, 1)

    def test_a_subtest_is_skipped(self):
        for n in (1, 2):
            with self.subTest(n=n):
                USE
                if n == 1:
                    self.skipTest("not this one")

    @unittest.expectedFailure
    def test_expected_to_fail(self):
        USE
        self.fail("as ever")

    @unittest.expectedFailure
    def test_passes_unexpectedly(self):
        USE

    def test_cleans_up(self):
        self.addCleanup(open, "no such file")
        USE

class NotSetUp(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise OSError("no server")

    def test_it(self):
        USE

class SkippedWhole(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise unittest.SkipTest("no GPU")

    def test_it(self):
        USE

class NotTornDown(unittest.TestCase):
    @classmethod
    def tearDownClass(cls):
        raise OSError("still open")

    def test_it(self):
        USE
""",
    {
        "Plain.test_passes": (SAME, "the same"),
        "Plain.test_fails": (NOT_RUN, f"{BOTH}failed (AssertionError: wrong)"),
        "Plain.test_skips": (SKIPPED, "skipped (enough)"),
        "Plain.test_a_subtest_fails": (NOT_RUN, f"{BOTH}failed (AssertionError: 2 != 1)"),
        "Plain.test_a_subtest_is_skipped": (SAME, "the same"),
        "Plain.test_expected_to_fail": (SKIPPED, "xfailed"),
        "Plain.test_passes_unexpectedly": (NOT_RUN, f"{BOTH}failed (unexpected success)"),
        "Plain.test_cleans_up": (NOT_RUN, f"{BOTH}failed (FileNotFoundError: [Errno 2] No such file"),
        "NotSetUp.test_it": (NOT_RUN, f"{BOTH}error (OSError: no server)"),
        "SkippedWhole.test_it": (SKIPPED, "skipped (no GPU)"),
        "NotTornDown.test_it": (SAME, "the same"),
    },
    SAME,
)
NOT_IMPORTED = Planted("import no_such_package\n", {}, NOT_REACHED)


@pytest.mark.thorough
def test_unittest(tmp_path: Path) -> None:
    root = plant(tmp_path / "project", {"cases": UNITTESTS, "imports": NOT_IMPORTED})
    status, report = found(root, "python -m unittest discover")
    tests = by_name(report)
    expected = {f"test_cases.{name}": verdict for name, verdict in UNITTESTS.expected.items()} | {
        "tearDownClass (test_cases.NotTornDown)": (NOT_RUN, f"{BOTH}error (OSError: still open)"),
        "unittest.loader._FailedTest.test_imports": (
            NOT_RUN,
            f"{BOTH}failed (ModuleNotFoundError: No module named 'no_such_package')",
        ),
    }
    assert {
        name: (test["verdict"], test["reason"][: len(expected[name][1])]) for name, test in tests.items()
    } == expected
    assert status == 1
    assert [guard["verdict"] for guard in report["guards"]] == [SAME, NOT_REACHED]


# ---- what ends the command, or keeps it from beginning

PASSES = "def test_it():\n    USE\n"


@pytest.mark.parametrize(
    ("stopping", "options", "expected"),
    [
        pytest.param(
            "import os\n\ndef test_stops():\n    USE\n    os._exit(7)\n",
            "",
            {
                "test_a.py::test_it": (SAME, "the same"),
                "test_b.py::test_stops": (NOT_RUN, f"{BOTH}unfinished (the command ended (exit status 7) within it)"),
                "test_c.py::test_it": (
                    NOT_RUN,
                    f"{BOTH}not started (the command ended (exit status 7) before it began)",
                ),
            },
            id="its process exits",
        ),
        pytest.param(
            "import os\n\ndef test_stops():\n    USE\n    os.abort()\n",
            "",
            {
                "test_a.py::test_it": (SAME, "the same"),
                "test_b.py::test_stops": (NOT_RUN, f"{BOTH}unfinished (the command ended (SIGABRT) within it)"),
                "test_c.py::test_it": (NOT_RUN, f"{BOTH}not started (the command ended (SIGABRT) before it began)"),
            },
            id="its process crashes",
        ),
        pytest.param(
            "def test_stops():\n    USE\n    pytest.exit('no more', 4)\n",
            "",
            {
                "test_a.py::test_it": (SAME, "the same"),
                "test_b.py::test_stops": (
                    NOT_RUN,
                    f"{BOTH}unfinished (the command ended (exit status 4) within it: pytest.exit: no more)",
                ),
                "test_c.py::test_it": (
                    NOT_RUN,
                    f"{BOTH}not started (the command ended (exit status 4) before it began: pytest.exit: no more)",
                ),
            },
            id="pytest is ended",
        ),
        pytest.param(
            "def test_stops():\n    USE\n    raise ValueError('b')\n",
            "--maxfail=1",
            {
                "test_a.py::test_it": (SAME, "the same"),
                "test_b.py::test_stops": (NOT_RUN, f"{BOTH}failed (ValueError: b)"),
                "test_c.py::test_it": (SAME, "the same"),
            },
            id="the first failure is not the end",
        ),
        pytest.param(
            "import no_such_package\n",
            "",
            {
                "test_a.py::test_it": (SAME, "the same"),
                "test_b.py": (NOT_RUN, f"{BOTH}error (ModuleNotFoundError"),
                "test_c.py::test_it": (SAME, "the same"),
            },
            id="neither is a file that can't be imported",
        ),
    ],
)
@pytest.mark.thorough
def test_what_stops_in_the_middle(
    tmp_path: Path, stopping: str, options: str, expected: dict[str, tuple[str, str]]
) -> None:
    files = {name: Planted(text, {}, "") for name, text in (("a", PASSES), ("b", stopping), ("c", PASSES))}
    status, report = found(plant(tmp_path / "project", files), " ".join([PYTEST, options]).strip())
    tests = by_name(report)
    told = {name: (test["verdict"], test["reason"][: len(expected[name][1])]) for name, test in tests.items()}
    assert (status, told) == (1, expected)


@pytest.mark.parametrize(
    ("file", "text", "run_by", "message"),
    [
        ("conftest.py", "import no_such_package\n", PYTEST, "No module named 'no_such_package'"),
        (
            "pytest.ini",
            "[pytest]\nrequired_plugins = pytest-no-such\n",
            PYTEST,
            "Missing required plugins: pytest-no-such",
        ),
        ("pytest.ini", "[pytest]\naddopts = --no-such-option\n", PYTEST, "unrecognized arguments: --no-such-option"),
        ("more.py", "", f"{PYTEST} -p no_such_plugin", 'Error importing plugin "no_such_plugin"'),
        ("more.py", "", f"{PYTEST} --collect-only", "1 test collected"),
        ("more.py", "", "python -c pass", "it printed nothing"),
    ],
    ids=["conftest", "a plugin that is required", "an option of a plugin", "a plugin", "only collected", "no tests"],
)
@pytest.mark.thorough
def test_a_run_without_tests_has_no_verdict(tmp_path: Path, file: str, text: str, run_by: str, message: str) -> None:
    root = plant(tmp_path / "project", {"a": one(PASSES, "", "", "")})
    (root / file).write_text(text)
    done = run(root, run_by)
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr


@pytest.mark.thorough
@pytest.mark.parametrize("run_by", [PYTEST, "python -m unittest discover"], ids=["pytest", "unittest"])
def test_only_skipped_tests_are_nothing_wrong_by_themselves(tmp_path: Path, run_by: str) -> None:
    root = plant(tmp_path / "project", {"a": one("raise unittest.SkipTest('no GPU')\n", "", "", "")})
    status, report = found(root, run_by, "--allow-not-reached")
    assert (status, [test["verdict"] for test in report["tests"]]) == (0, [SKIPPED])
    assert [guard["verdict"] for guard in report["guards"]] == [NOT_REACHED]
    assert found(root, run_by)[0] == 1


# ---- what the command says

TWENTY = {f"n{number}": Planted("import no_such_package\n", {}, "") for number in range(20)}


@pytest.mark.thorough
def test_what_is_alike_is_told_once_with_what_to_do(tmp_path: Path) -> None:
    root = plant(tmp_path / "project", TWENTY)
    done = run(root, PYTEST, "--allow-not-reached")
    assert done.exit_code == 1
    assert done.stdout.splitlines()[:3] == [
        "test_n0.py, test_n1.py, test_n10.py and 17 more: not run",
        "  Before and after: error (ModuleNotFoundError: No module named 'no_such_package').",
        "  = do this: install the package that brings no_such_package in guardfix's environment",
    ]
    assert done.stderr.splitlines()[:2] == [
        "20 tests: 20 not run.",
        "0 passed, 20 failed, 0 skipped, before and after the migration.",
    ]


OPEN = """\
void overwrite{n}(torch::Tensor first) {{
  at::AutoNonVariableTypeMode guard;
  first.copy_(torch::zeros({{2}}));
}}
"""


@pytest.mark.thorough
def test_old_guards_that_remain_are_told(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text("import torch\n\ndef test_it():\n    torch.ones(1)\n")
    text = "".join(["#include <torch/torch.h>\n", *(OPEN.format(n=n) for n in range(5))])
    (tmp_path / "open.cpp").write_text(text)
    done = run(tmp_path, PYTEST)
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines() == [
        *(
            f"Not migrated (no fix): {tmp_path}/open.cpp:{row}, GF101: AutoNonVariableTypeMode is deprecated; "
            "the code doesn't show what should replace it here."
            for row in (3, 7, 11)
        ),
        "Not migrated: 2 more; `guardfix check` lists them.",
    ]
    assert done.stderr.splitlines() == [
        "1 test: 1 same.",
        "1 passed, 0 failed, 0 skipped, before and after the migration.",
        "5 old guards remain: undecided; try `--decide`.",
        "Nothing to verify: no guard was migrated.",
    ]
    _, report = found(tmp_path, PYTEST)
    assert [(left["code"], left["why"]) for left in report["not_migrated"]] == [("GF101", "no fix")] * 5


@pytest.mark.thorough
def test_what_fails_on_pytorch_as_well_need_not_pass(tmp_path: Path) -> None:
    files = {
        "a": one(PASSES, "", "", ""),
        "known": one("def test_it():\n    USE\n    raise ValueError('no data - none')\n", "", "", ""),
        "unknown": one("def test_it():\n    USE\n    raise ValueError('no data')\n", "", "", ""),
    }
    root = plant(tmp_path / "project", files)
    printed = tmp_path / "printed"
    printed.write_text("1 failed\nFAILED test_known.py::test_it - ValueError: no data - none\n")
    status, report = found(root, PYTEST, "--known-failures", str(printed))
    tests = by_name(report)
    assert status == 1
    assert {name: test["verdict"] for name, test in tests.items()} == {
        "test_a.py::test_it": SAME,
        "test_known.py::test_it": SKIPPED,
        "test_unknown.py::test_it": NOT_RUN,
    }
    assert tests["test_known.py::test_it"]["reason"].startswith("it is known to fail on PyTorch; before and after: ")
    assert [guard["verdict"] for guard in report["guards"]] == [SAME, NOT_REACHED, NOT_RUN]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("FAILED tests/test_a.py::test_b - ValueError: 1", "tests/test_a.py::test_b"),
        ("FAILED tests/test_a.py::Tests::test_b[1 - 2] - ValueError: 3 - 4", "tests/test_a.py::Tests::test_b[1 - 2]"),
        ("ERROR tests/test_a.py::test_b", "tests/test_a.py::test_b"),
        ("ERROR tests/test_a.py - ModuleNotFoundError: No module named 'a'", "tests/test_a.py"),
        ("FAIL: test_b (tests.test_a.Tests.test_b)", "tests.test_a.Tests.test_b"),
        ("ERROR: test_b (tests.test_a.Tests)", "tests.test_a.Tests.test_b"),
        ("FAIL: test_b (tests.test_a.Tests.test_b) (n=1)", "tests.test_a.Tests.test_b"),
    ],
)
def test_the_names_of_known_failures(line: str, name: str) -> None:
    assert name in known_failures(f"...F\n{line}\n1 failed in 0.1s\n")


def test_what_passed_is_no_known_failure() -> None:
    assert (
        known_failures("PASSED tests/test_a.py::test_b\ntests/test_a.py::test_c FAILED\nFAILED (errors=1)\n") == set()
    )


@pytest.mark.parametrize(
    ("message", "name", "package"),
    [
        ("UnsupportedError: the shim has no torch.lobpcg; supported: abs, acos", "torch.lobpcg", None),
        ("the shim has no device 'cuda'; supported: cpu", "device 'cuda'", None),
        ("the shim's C++ headers lack at::foo, which a.cpp uses", "at::foo", None),
        (
            "ImportError: cannot import name '_no_such' from 'guardfix.runtime_shim.multiprocessing' (/a/b.py)",
            "torch.multiprocessing._no_such",
            None,
        ),
        ("cannot import name 'lobpcg' from 'torch' (/a/b.py)", "torch.lobpcg", None),
        ("cannot import name 'Lineaar' from 'guardfix.runtime_shim.nn' (/a/b.py)", None, None),
        ("No module named 'torch._vmap_internals'", "torch._vmap_internals", None),
        ("No module named 'torch.onxx'", None, None),
        ("module 'torch.fx' has no attribute 'Interpreter'", "torch.fx.Interpreter", None),
        ("module 'torch' has no attribute 'onse'", None, None),
        ("ImportError: /a/_C.so: undefined symbol: _ZN5torch3jit4loadEv", "torch::jit::load()", None),
        ("ImportError: /a/_C.so: undefined symbol: _ZN4mine4loadEv", None, None),
        ("ModuleNotFoundError: No module named 'typing_extensions'", None, "typing_extensions"),
        ("ModuleNotFoundError: No module named 'scipy.sparse'", None, "scipy"),
        (
            "the shim has torch.bfloat16 tensors only where ml_dtypes is installed: pip install 'guardfix[bfloat16]'",
            None,
            "ml_dtypes",
        ),
        ("ValueError: no data", None, None),
    ],
)
def test_what_an_error_says_is_missing(message: str, name: str | None, package: str | None) -> None:
    found = missing_package(message)
    assert (missing_of_torch(message), None if found is None else found[0]) == (name, package)


@pytest.mark.parametrize(
    ("message", "requirements"),
    [
        ("only where ml_dtypes is installed: pip install 'guardfix[bfloat16]'", ["ml_dtypes>=0.5"]),
        ("only where ml_dtypes is installed: pip install 'guardfix[no_such_extra]'", []),
        ("No module named 'ml_dtypes'", []),
        ("pip install 'other[bfloat16]'", []),
        ("ModuleNotFoundError: No module named 'typing_extensions'", ["typing_extensions"]),
        ("No module named 'sympy.core'", ["sympy"]),
        ("No module named 'sympy_of_another'", []),
        ("No module named 'scipy'", []),
        ("cannot import name 'Self' from 'typing_extensions'", []),
    ],
)
def test_the_packages_that_tests_need(message: str, requirements: list[str]) -> None:
    """Only what guardfix itself names, and what comes with PyTorch, is installed for them."""
    assert needed_packages(message) == requirements
