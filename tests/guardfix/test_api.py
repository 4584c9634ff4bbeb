"""The library at the root: files, texts, fixes, errors, and the example of docs/library.md."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import guardfix
from fixture_files import ROOT, Fixture, all_fixtures
from guardfix import api

pytestmark = pytest.mark.usefixtures("away_from_home")

KERNEL = """#include <torch/torch.h>
struct F : torch::autograd::Function<F> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor x) {
    at::AutoNonVariableTypeMode g;
    return f(x);
  }
};
"""
MIGRATED = KERNEL.replace("AutoNonVariableTypeMode", "AutoDispatchBelowADInplaceOrView")
EMPTY_GUARD = "void f() {\n  at::AutoNonVariableTypeMode g;\n  int x;\n}\n"
PYTHON = "import torch\n\n\n@torch.no_grad\nasync def f():\n    pass\n"


def found(report: guardfix.FixableReport) -> list[tuple[str, int, int, str]]:
    return [(os.path.basename(f.path), *report.start(f), f.code) for f in report.findings]


# -- check


def test_check_gives_findings_with_places_and_fixes(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text(KERNEL)
    report = guardfix.check(tmp_path)
    assert found(report) == [("a.cpp", 4, 5, "GF101")]
    (finding,) = report.findings
    assert report.end(finding) == (4, 32)
    assert finding.fix is not None
    assert finding.fix.applicability is guardfix.Applicability.SAFE
    assert (tmp_path / "a.cpp").read_text() == KERNEL


@pytest.mark.parametrize("kind", [str, Path, lambda path: [str(path)], lambda path: (path,), lambda path: iter([path])])
def test_paths_are_one_or_many(kind: object, tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text(KERNEL)
    assert len(guardfix.check(kind(tmp_path)).findings) == 1  # type: ignore[operator]


def test_fixes_are_made_when_they_are_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "a.cpp"
    path.write_text(KERNEL)
    report = guardfix.check(path)
    path.write_text("// a line more\n" + KERNEL)
    assert report.findings[0].fix is None


def test_a_workspace_in_memory_reads_nothing(tmp_path: Path) -> None:
    (tmp_path / "guardfix.toml").write_text('select = ["GF4"]\n')
    path = str(tmp_path / "a.cpp")
    assert found(guardfix.check(path, workspace=guardfix.Workspace.in_memory({path: KERNEL}))) != []
    assert found(guardfix.check(path, workspace=guardfix.Workspace.over_disk({path: KERNEL}))) == []


# -- check_text


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        pytest.param(KERNEL, "a.cpp", [("a.cpp", 4, 5, "GF101")], id="C++"),
        pytest.param(KERNEL.encode(), "a.cpp", [("a.cpp", 4, 5, "GF101")], id="bytes"),
        pytest.param(KERNEL.encode("utf-16"), "a.cpp", [("a.cpp", 4, 5, "GF101")], id="UTF-16"),
        pytest.param("\ufeff" + KERNEL, "a.cpp", [("a.cpp", 4, 5, "GF101")], id="byte order mark"),
        pytest.param(PYTHON, "a.py", [("a.py", 4, 1, "GF401")], id="Python"),
        pytest.param(KERNEL, "sub/folder/not/there/a.cuh", [("a.cuh", 4, 5, "GF101")], id="no such folder"),
        pytest.param(MIGRATED, "a.cpp", [], id="clean"),
        pytest.param("", "a.cpp", [], id="empty"),
        pytest.param(KERNEL, "a.txt", [], id="no language"),
        pytest.param(KERNEL.encode() + b"\0", "a.cpp", [], id="binary"),
        pytest.param(b"\xff\xfea", "a.cpp", [("a.cpp", 1, 1, "GF001")], id="unreadable"),
    ],
)
def test_check_text(text: str | bytes, name: str, expected: list[object], tmp_path: Path) -> None:
    assert found(guardfix.check_text(text, tmp_path / name)) == expected


@pytest.mark.parametrize("fixture", [f for f in all_fixtures() if f.path.is_file()], ids=lambda fixture: fixture.name)
@pytest.mark.some(8)
def test_a_text_is_checked_as_its_file_is(fixture: Fixture, tmp_path: Path) -> None:
    options = guardfix.Options(select=("ALL",), include_docs=True, minimum_torch=fixture.minimum_torch())
    path = fixture.copy_to(tmp_path) / fixture.path.name
    data = path.read_bytes()
    from_file = guardfix.check(path, options=options)
    path.unlink()
    from_text = guardfix.check_text(data, path, options=options)
    assert from_text.findings == from_file.findings
    assert [report.start(f) for report in [from_text] for f in report.findings] == [
        guardfix.check_text(data, path, options=options).start(f) for f in from_file.findings
    ]


@pytest.mark.parametrize(
    ("configuration", "options", "expected"),
    [
        pytest.param('select = ["GF4"]', None, [], id="rules"),
        pytest.param('ignore = ["legacy-guard"]', None, [], id="ignored rules"),
        pytest.param('per-file-ignores = { "src/**" = ["GF101"] }', None, [], id="patterns start from its folder"),
        pytest.param('per-file-ignores = { "lib/**" = ["GF101"] }', None, ["GF101"], id="another folder"),
        pytest.param('exclude = ["src/"]\nforce-exclude = true', None, [], id="excluded"),
        pytest.param('exclude = ["src/"]', None, ["GF101"], id="named, though excluded"),
        pytest.param('select = ["GF4"]', guardfix.Options(), ["GF101"], id="replaced by options"),
    ],
)
def test_the_project_s_configuration_counts(
    configuration: str, options: guardfix.Options | None, expected: list[str], tmp_path: Path
) -> None:
    (tmp_path / "guardfix.toml").write_text(configuration)
    (tmp_path / "src").mkdir()
    path = tmp_path / "src" / "a.cpp"
    assert [f.code for f in guardfix.check_text(KERNEL, path, options=options).findings] == expected
    path.write_text(KERNEL)
    assert [f.code for f in guardfix.check(path, options=options).findings] == expected


def test_headers_are_looked_for_where_the_text_would_be(tmp_path: Path) -> None:
    inference = (
        '#include "own.h"\nint main() {\n  auto module = torch::jit::load("m.pt");\n  at::AutoNonVariableTypeMode g;\n'
        "  module.forward({});\n}\n"
    )
    (tmp_path / "own.h").write_text("#include <c10/core/InferenceMode.h>\n")
    assert "<c10" not in guardfix.fix_text(inference, tmp_path / "a.cpp").text
    (tmp_path / "own.h").write_text("#include <vector>\n")
    assert "#include <c10/core/InferenceMode.h>" in guardfix.fix_text(inference, tmp_path / "a.cpp").text


# -- fix_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(KERNEL, MIGRATED, id="str"),
        pytest.param(KERNEL.encode(), MIGRATED.encode(), id="bytes"),
        pytest.param("\ufeff" + KERNEL, "\ufeff" + MIGRATED, id="byte order mark"),
        pytest.param(KERNEL.encode("utf-16"), MIGRATED.encode("utf-16"), id="UTF-16"),
        pytest.param(KERNEL.replace("\n", "\r\n"), MIGRATED.replace("\n", "\r\n"), id="line ends"),
        pytest.param(b"// \xe9\n" + KERNEL.encode(), b"// \xe9\n" + MIGRATED.encode(), id="Latin-1"),
        pytest.param("// \udce9\n" + KERNEL, "// \udce9\n" + MIGRATED, id="a byte that could not be decoded"),
    ],
)
def test_fix_text(text: str | bytes, expected: str | bytes, tmp_path: Path) -> None:
    fixed = guardfix.fix_text(text, tmp_path / "a.cpp")
    assert fixed.text == expected
    assert fixed.changed
    assert [(finding.code, fix.applicability) for finding, fix in fixed.applied] == [
        ("GF101", guardfix.Applicability.SAFE)
    ]
    assert (fixed.left, fixed.refused) == ((), "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "choice", "new", "applied", "left"),
    [
        pytest.param(EMPTY_GUARD, None, EMPTY_GUARD, [], ["GF101"], id="an unsafe fix that was not chosen"),
        pytest.param(
            EMPTY_GUARD, guardfix.FixChoice(unsafe=True), "void f() {\n  int x;\n}\n", ["GF101"], [], id="chosen"
        ),
        pytest.param(MIGRATED, None, MIGRATED, [], [], id="nothing to fix"),
        pytest.param("", None, "", [], [], id="empty"),
    ],
)
def test_what_is_applied_and_what_is_left(
    text: str, choice: guardfix.FixChoice | None, new: str, applied: list[str], left: list[str], tmp_path: Path
) -> None:
    fixed = guardfix.fix_text(text, tmp_path / "a.cpp", options=guardfix.Options(), choice=choice)
    assert fixed.text == new
    assert [finding.code for finding, _ in fixed.applied] == applied
    assert [finding.code for finding in fixed.left] == left
    assert fixed.changed is bool(applied)


@pytest.mark.parametrize(
    "fixture",
    # A fixture that selects rules is migrated with the rules that are on by default besides.
    [f for f in all_fixtures() if f.path.is_file() and f.sibling("unsafe") and not f.select()],
    ids=lambda fixture: fixture.name,
)
def test_texts_are_fixed_as_files_are_migrated(fixture: Fixture, tmp_path: Path) -> None:
    options = guardfix.Options(minimum_torch=fixture.minimum_torch())
    sibling = fixture.sibling("unsafe")
    assert sibling is not None
    choice = guardfix.FixChoice(unsafe=True)
    fixed = guardfix.fix_text(fixture.path.read_bytes(), tmp_path / fixture.path.name, options=options, choice=choice)
    assert fixed.text == sibling.read_bytes()


# -- errors


@pytest.mark.parametrize(
    ("error", "run"),
    [
        pytest.param(guardfix.NoSuchPath, lambda: guardfix.check("no/such/path"), id="no such path"),
        pytest.param(
            guardfix.UnknownRule,
            lambda: guardfix.check_text("", "a.cpp", options=guardfix.Options(select=("GF999",))),
            id="no such rule",
        ),
        pytest.param(
            guardfix.BadPattern,
            lambda: guardfix.check_text("", "a.cpp", options=guardfix.Options(exclude=("!",))),
            id="no pattern",
        ),
        pytest.param(UnicodeEncodeError, lambda: guardfix.fix_text("\ud800", "a.cpp"), id="a surrogate alone"),
        pytest.param(AttributeError, lambda: guardfix.no_such_name, id="no such name"),  # type: ignore[attr-defined]
    ],
)
def test_errors(error: type[Exception], run: object) -> None:
    with pytest.raises(error):
        run()  # type: ignore[operator]


def test_a_bad_configuration(tmp_path: Path) -> None:
    (tmp_path / "guardfix.toml").write_text("selct = []\n")
    for run in (guardfix.check_text, guardfix.fix_text):
        with pytest.raises(guardfix.BadConfiguration, match="unknown setting `selct`"):
            run("", tmp_path / "a.cpp")


# -- the root


def test_the_root_has_the_api_s_names() -> None:
    assert sorted(guardfix.__all__) == sorted([*api.__all__, "__version__"])
    assert all(getattr(guardfix, name) is getattr(api, name) for name in api.__all__)
    assert set(guardfix.__all__) <= set(dir(guardfix))


def test_importing_the_root_imports_nothing_else() -> None:
    program = "import sys; before = set(sys.modules); import guardfix; print(sorted(set(sys.modules) - before))"
    out = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert set(ast.literal_eval(out)) <= {"__future__", "guardfix", "guardfix.package_version"}


def readme_example() -> str:
    (example,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs/library.md").read_text(), re.DOTALL)
    return str(example)


def test_the_readme_s_example_runs(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "ops.cpp").write_text(KERNEL)
    (tmp_path / "example.py").write_text(readme_example())
    done = subprocess.run(
        [sys.executable, "example.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("src/ops.cpp:4:5: GF101 AutoNonVariableTypeMode is deprecated")
    assert lines[1].startswith("kernel ['is in")
    assert lines[2].startswith("safe replace at::AutoNonVariableTypeMode with at::AutoDispatchBelowADInplaceOrView")
    assert lines[3:5] == ["void f() {", "}"]
    assert lines[-1] == "no such rule: no-such-rule"


def test_the_readme_s_example_has_types(tmp_path: Path) -> None:
    (tmp_path / "example.py").write_text(readme_example() + "\nreveal_type(codes)\nreveal_type(fixed.text)\n")
    done = subprocess.run(
        [
            sys.executable, "-m", "mypy", "--strict", "--config-file", os.devnull, "--follow-imports", "silent",
            "--cache-dir", str(ROOT / ".mypy_cache" / "readme"), "example.py",
        ],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    revealed = re.findall(r'Revealed type is "(.*)"', done.stdout.replace("builtins.", ""))
    assert revealed == ["list[str]", "str"]


FORWARD = """#include <torch/torch.h>
at::Tensor scale_cpu(const at::Tensor& input) { return at::empty_like(input); }
struct Scale : torch::autograd::Function<Scale> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& input) {
    at::AutoNonVariableTypeMode guard;
    return %s(input);
  }
};
"""


@pytest.mark.parametrize(
    ("called", "rules", "left"),
    [
        pytest.param("scale_cpu", (), "AutoDispatchBelowADInplaceOrView", id="replaced unless it is asked for"),
        pytest.param("scale_cpu", ("GF302",), "", id="removed where nothing reaches the dispatcher"),
        pytest.param("scale", ("GF302",), "AutoDispatchBelowADInplaceOrView", id="kept where something may"),
    ],
)
def test_a_guard_in_forward(called: str, rules: tuple[str, ...], left: str) -> None:
    options = guardfix.Options(select=("GF1", *rules))
    fixed = guardfix.fix_text(FORWARD % called, "a.cpp", options=options, choice=guardfix.FixChoice(unsafe=True))
    assert re.findall(r"Auto\w+(?= guard)", fixed.text) == ([left] if left else [])
