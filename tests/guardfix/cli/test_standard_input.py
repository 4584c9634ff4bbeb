"""A text on standard input: checked, shown as a diff, or printed fixed; the file of its name is neither read nor written."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

KERNEL = """#include <torch/torch.h>
struct F : torch::autograd::Function<F> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor x) {
    at::AutoNonVariableTypeMode g;
    return f(x);
  }
};
"""
MIGRATED = KERNEL.replace("AutoNonVariableTypeMode", "AutoDispatchBelowADInplaceOrView")
OPEN = "void swap(at::Tensor& a) {\n  at::AutoNonVariableTypeMode g;\n  a.set_(a);\n}\n"
NAME = ("--stdin-filename", "sub/a.cpp")


def guardfix(cwd: Path, text: str | bytes, *arguments: str) -> tuple[int, str, str]:
    """(exit status, output, errors)."""
    done = subprocess.run(
        [sys.executable, "-m", "guardfix", *arguments],
        cwd=cwd,
        input=text.encode() if isinstance(text, str) else text,
        capture_output=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout.decode("utf-8", "surrogateescape"), done.stderr.decode()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder in which the file of the text's name holds something else."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.cpp").write_text("void old() { at::AutoNonVariableTypeMode a, b; }\n")
    return tmp_path


@pytest.mark.parametrize("paths", [("-",), ()], ids=["a dash", "only the name"])
def test_check_reads_standard_input(paths: tuple[str, ...], folder: Path) -> None:
    status, output, errors = guardfix(folder, KERNEL, "check", *paths, *NAME, "--output-format", "json")
    (finding,) = json.loads(output)
    assert (status, errors) == (1, "")
    assert (finding["filename"], finding["location"]) == ("sub/a.cpp", {"row": 4, "column": 5})
    assert finding["fix"]["edits"][0]["location"] == {"row": 4, "column": 5}


def test_code_is_shown_from_standard_input(folder: Path) -> None:
    _, output, _ = guardfix(folder, KERNEL, "check", "-", *NAME)
    assert " 4 |     at::AutoNonVariableTypeMode g;" in output
    assert output.endswith("[*] 1 can be applied: `guardfix migrate --apply`.\n")


@pytest.mark.parametrize(
    ("text", "name", "status", "output"),
    [
        pytest.param("int a;\n", "new/b.cpp", 0, "All checks passed (1 file).\n", id="clean"),
        pytest.param("", "b.py", 0, "All checks passed (1 file).\n", id="empty"),
        pytest.param(KERNEL, "b.txt", 0, "No C++ or Python files to check.\n", id="no language"),
        pytest.param(KERNEL.encode("utf-16"), "b.cpp", 1, None, id="UTF-16"),
    ],
)
def test_check_what_need_not_exist(
    text: str | bytes, name: str, status: int, output: str | None, tmp_path: Path
) -> None:
    found = guardfix(tmp_path, text, "check", "-", "--stdin-filename", name)
    assert found[0] == status
    assert found[1] == output or (output is None and found[1].startswith("b.cpp:4:5: GF101"))


def test_the_configuration_counts(folder: Path) -> None:
    (folder / "guardfix.toml").write_text('per-file-ignores = { "sub/**" = ["GF101"] }\n')
    assert guardfix(folder, KERNEL, "check", "-", *NAME)[0] == 0
    assert guardfix(folder, KERNEL, "check", "-", "--stdin-filename", "a.cpp")[0] == 1


def test_migrate_prints_the_diff(folder: Path) -> None:
    status, output, errors = guardfix(folder, KERNEL, "migrate", "--diff", "-", *NAME)
    assert status == 1
    assert output.splitlines()[:3] == ["--- a/sub/a.cpp", "+++ b/sub/a.cpp", "@@ -1,7 +1,7 @@"]
    assert "+    at::AutoDispatchBelowADInplaceOrView g;" in output
    assert errors == "Would change 1 file; use `--apply` to write.\n"


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        pytest.param(KERNEL, MIGRATED, id="fixed"),
        pytest.param(MIGRATED, MIGRATED, id="nothing to fix"),
        pytest.param(KERNEL.replace("\n", "\r\n"), MIGRATED.replace("\n", "\r\n"), id="line ends"),
        pytest.param("", "", id="empty"),
        pytest.param(KERNEL.encode() + b"\0", KERNEL + "\0", id="binary"),
        pytest.param(b"// \xe9\n" + KERNEL.encode(), "// \udce9\n" + MIGRATED, id="Latin-1"),
    ],
)
@pytest.mark.parametrize(
    "arguments", [("check", "--fix"), ("migrate",), ("migrate", "--apply")], ids=["check", "migrate", "apply"]
)
@pytest.mark.few("check-line ends", "migrate-Latin-1")
def test_the_fixed_text_is_printed(arguments: tuple[str, str], text: str | bytes, fixed: str, folder: Path) -> None:
    before = (folder / "sub" / "a.cpp").read_text()
    status, output, _ = guardfix(folder, text, *arguments, "-", *NAME)
    assert (status, output) == (0, fixed)
    assert (folder / "sub" / "a.cpp").read_text() == before


def test_what_is_left_goes_to_standard_error(folder: Path) -> None:
    text = OPEN + KERNEL
    status, output, errors = guardfix(folder, text, "check", "--fix", "-", *NAME)
    assert (status, output) == (1, OPEN + MIGRATED)
    assert errors.startswith("sub/a.cpp:2:3: GF101")
    status, output, errors = guardfix(folder, text, "migrate", "--apply", "-", *NAME)
    assert (status, output) == (0, OPEN + MIGRATED)
    assert errors.startswith("sub/a.cpp:2:3: GF101 no fix:")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["check", "-"], "add --stdin-filename", id="which language?"),
        pytest.param(["migrate", "-"], "add --stdin-filename", id="which language, for migrate"),
        pytest.param(["check", "-", "b.cpp"], "add --stdin-filename", id="a dash among paths"),
        pytest.param(["check", *NAME, "b.cpp"], "give no path other than `-`", id="a name and a path"),
        pytest.param(["verify", "-"], "no such file or directory: -", id="verify runs files"),
    ],
)
def test_wrong_use(arguments: list[str], message: str, tmp_path: Path) -> None:
    status, output, errors = guardfix(tmp_path, KERNEL, *arguments)
    assert (status, output) == (2, "")
    assert message in errors


def test_standard_input_that_is_closed(tmp_path: Path) -> None:
    command = f"exec '{sys.executable}' -m guardfix check - --stdin-filename a.cpp <&-"
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, "standard input is closed" in done.stderr) == (2, True), done.stderr
