"""Findings on changed lines: from a unified diff, and from git."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from guardfix.adoption.changed_lines import NoDiff, lines_of_diff
from guardfix.cli.main import cli

KERNEL = "#include <torch/torch.h>\nstruct F : torch::autograd::Function<F> {\n  static at::Tensor forward(AutogradContext* ctx, at::Tensor x) {\n    at::AutoNonVariableTypeMode g;\n    return x + 1;\n  }\n};\n"


def swapping(function: str) -> str:
    return f"void {function}(at::Tensor& a) {{\n  at::AutoNonVariableTypeMode g;\n  a.set_(a);\n}}\n"


HEADER = "--- a/a.cpp\n+++ b/a.cpp\n"


@pytest.mark.parametrize(
    ("diff", "rows"),
    [
        pytest.param(HEADER + "@@ -1,2 +1,3 @@\n one\n+two\n three\n", {"a.cpp": [2]}, id="a line more"),
        pytest.param(HEADER + "@@ -5 +5 @@\n-old\n+new\n", {"a.cpp": [5]}, id="a line changed"),
        pytest.param(HEADER + "@@ -3,0 +4,2 @@\n+a\n+b\n", {"a.cpp": [4, 5]}, id="no context"),
        pytest.param(HEADER + "@@ -3,2 +2,0 @@\n-a\n-b\n", {}, id="only taken out"),
        pytest.param(
            HEADER + "@@ -1 +1 @@\n-a\n+b\n@@ -9 +9 @@ void f()\n-c\n+d\n", {"a.cpp": [1, 9]}, id="several places"
        ),
        pytest.param(HEADER + "@@ -1,0 +1,1 @@\n+++ b/other.cpp\n", {"a.cpp": [1]}, id="a line that looks like a header"),
        pytest.param(HEADER + "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n", {"a.cpp": [1]}, id="no newline"),
        pytest.param("--- a/a.cpp\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", {}, id="a file removed"),
        pytest.param("--- /dev/null\n+++ b/dir/n.cpp\n@@ -0,0 +1 @@\n+a\n", {"dir/n.cpp": [1]}, id="a file more"),
        pytest.param('--- "a/\\303\\244\\t.cpp"\n+++ "b/\\303\\244\\t.cpp"\n@@ -1 +1 @@\n-a\n+b\n', {"ä\t.cpp": [1]}, id="quoted"),
        pytest.param("--- a/s p.cpp\t2026\n+++ b/s p.cpp\t2026\n@@ -1 +1 @@\n-a\n+b\n", {"s p.cpp": [1]}, id="with a date"),
        pytest.param("--- a.cpp\n+++ a.cpp\n@@ -1 +1 @@\n-a\n+b\n", {"a.cpp": [1]}, id="no prefix"),
        pytest.param("--- dir/a.cpp\n+++ dir/a.cpp\n@@ -1 +1 @@\n-a\n+b\n", {"dir/a.cpp": [1]}, id="no prefix, but a folder"),
        pytest.param("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", {}, id="a mode alone"),
        pytest.param("", {}, id="nothing changed"),
    ],
)  # fmt: skip
def test_the_added_lines_of_a_diff(diff: str, rows: dict[str, list[int]], tmp_path: Path) -> None:
    (tmp_path / "dir").mkdir()
    for name in ("a.cpp", "dir/a.cpp", "dir/n.cpp", "s p.cpp"):
        (tmp_path / name).touch()
    found = lines_of_diff(diff.encode(), str(tmp_path))
    assert {os.path.relpath(path, tmp_path): row for path, row in found.rows.items()} == rows


@pytest.mark.parametrize("diff", ["no diff at all\n", HEADER + "@@ -1,3 +1,3 @@\n a\n"], ids=["prose", "cut short"])
def test_what_is_no_diff(diff: str, tmp_path: Path) -> None:
    with pytest.raises(NoDiff):
        lines_of_diff(diff.encode(), str(tmp_path))


def git(*arguments: str, cwd: Path) -> str:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    return subprocess.run(["git", *who, *arguments], cwd=cwd, check=True, capture_output=True, text=True).stdout


def lay(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """`main` has two old findings; the branch `work`, which parted from it, is checked out."""
    monkeypatch.chdir(tmp_path)
    git("init", "--quiet", "--initial-branch=main", cwd=tmp_path)
    lay(tmp_path, {"a.cpp": swapping("a1") + swapping("a2"), "ä ö.cpp": swapping("o")})
    git("add", "--all", cwd=tmp_path)
    git("commit", "--quiet", "--message=one", cwd=tmp_path)
    git("switch", "--quiet", "--create=work", cwd=tmp_path)
    return tmp_path


def guardfix(command: str, text: str | None = None) -> Result:
    return CliRunner().invoke(cli, command.split(), input=text, catch_exceptions=False)


def found(done: Result) -> list[str]:
    return [line.split(" ")[0] for line in done.stdout.splitlines() if " GF" in line]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param({}, [], id="nothing changed"),
        pytest.param({"a.cpp": swapping("a1") + swapping("a2").replace("  at::", "   at::")}, ["a.cpp:6:4:"], id="its line"),
        pytest.param({"a.cpp": "// x\n" + swapping("a1") + swapping("a2")}, [], id="a line above"),
        pytest.param({"new.cpp": swapping("n")}, ["new.cpp:2:3:"], id="a file that git doesn't know yet"),
        pytest.param({"b.cpp": swapping("n"), ".gitignore": "b.cpp\n"}, [], id="a file that git ignores"),
        pytest.param({"ä ö.cpp": swapping("p").replace("e g;", "e\n    g;")}, ["ä"], id="an odd name; a statement of two lines"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("committed", [True, False], ids=["committed", "not committed"])
def test_since(change: Mapping[str, str], expected: list[str], committed: bool, repository: Path) -> None:
    lay(repository, change)
    if committed:
        git("add", "--all", cwd=repository)
        git("commit", "--quiet", "--allow-empty", "--message=two", cwd=repository)
    done = guardfix("check --output-format concise --since main .")
    assert (found(done), done.exit_code) == (expected, 1 if expected else 0), done.output


def test_since_counts_from_where_the_branch_parted(repository: Path) -> None:
    lay(repository, {"new.cpp": swapping("n")})
    git("add", "--all", cwd=repository)
    git("commit", "--quiet", "--message=two", cwd=repository)
    git("switch", "--quiet", "main", cwd=repository)
    lay(repository, {"a.cpp": "int a;\n"})
    git("commit", "--quiet", "--all", "--message=three", cwd=repository)
    git("switch", "--quiet", "work", cwd=repository)
    # Against main itself, all of a.cpp would be new.
    assert found(guardfix("check --output-format concise --since main .")) == ["new.cpp:2:3:"]


def test_since_in_a_folder_below(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay(repository, {"sub/new.cpp": swapping("n")})
    monkeypatch.chdir(repository / "sub")
    assert found(guardfix("check --output-format concise --since main .")) == ["new.cpp:2:3:"]


@pytest.mark.parametrize("key", ["diff.noprefix", "diff.mnemonicPrefix", "core.quotePath", "diff.external"])
def test_git_s_configuration_does_not_matter(key: str, repository: Path) -> None:
    git("config", key, "false" if key == "core.quotePath" else "true", cwd=repository)
    lay(repository, {"ä ö.cpp": swapping("p").replace("e g;", "e gg;")})
    assert len(found(guardfix("check --output-format concise --since main ."))) == 1


def test_fixes_are_of_changed_lines_alone(repository: Path) -> None:
    lay(repository, {"old.cpp": KERNEL})
    git("add", "--all", cwd=repository)
    git("commit", "--quiet", "--message=two", cwd=repository)
    lay(repository, {"new.cpp": KERNEL})
    assert guardfix("check --fix --since HEAD .").exit_code == 0
    assert "AutoNonVariableTypeMode" in (repository / "old.cpp").read_text()
    assert "AutoNonVariableTypeMode" not in (repository / "new.cpp").read_text()


@pytest.mark.parametrize(
    ("command", "message"),
    [
        pytest.param("check --since nowhere .", "--since: git knows no commit `nowhere`", id="no such commit"),
        pytest.param(
            "check --since --output=x .", "--since: git knows no commit `--output=x`", id="an option of git's"
        ),
        pytest.param("check --changed-in none.diff .", "--changed-in: none.diff: No such file", id="no such file"),
        pytest.param("check --changed-in a.cpp .", "--changed-in: not a unified diff", id="no diff"),
        pytest.param("check --changed-in - --since main .", "can't be combined with --since", id="both"),
        pytest.param("check --changed-in - --fix .", "can't be combined with --fix", id="with fixes"),
        pytest.param("check --diff - --since main .", "--diff FILE can't be combined with --since", id="--diff too"),
        pytest.param("check --diff - --changed-in - .", "mean the same; use only one of them", id="by both names"),
        pytest.param("check --diff none.diff .", "--diff: none.diff: No such file", id="no such patch"),
        pytest.param(
            "check --diff notes.txt .",
            "give `--diff` no file; for what changed since a commit, `--since`",
            id="no patch",
        ),
    ],
)
def test_mistakes(command: str, message: str, repository: Path) -> None:
    lay(repository, {"notes.txt": "not a patch"})
    done = guardfix(command, "")
    assert (done.exit_code, done.stdout) == (2, "")
    assert message in done.stderr


def test_a_shallow_clone_is_told_of(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shallow = tmp_path / "shallow"
    git("commit", "--quiet", "--allow-empty", "--message=two", cwd=repository)
    git("clone", "--quiet", "--depth=1", f"file://{repository}", str(shallow), cwd=repository)
    monkeypatch.chdir(shallow)
    assert "this clone is shallow: fetch the whole history" in guardfix("check --since main .").stderr


def test_outside_of_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert "not a git repository" in guardfix("check --since main .").stderr


def test_a_diff_on_standard_input(repository: Path) -> None:
    lay(repository, {"a.cpp": swapping("a1") + swapping("a2").replace("e g;", "e h;")})
    diff = git("diff", cwd=repository)
    for command in (
        "check --output-format concise --changed-in - .",
        "check --output-format concise --changed-in my.diff .",
        "check --output-format concise --diff - .",
        "check . --output-format concise --diff -",
        "check --output-format concise --diff my.diff .",
        "check --output-format concise --diff=my.diff .",
    ):
        lay(repository, {"my.diff": diff})
        assert found(guardfix(command, diff)) == ["a.cpp:6:3:"]


@pytest.mark.parametrize(
    "command",
    [
        "check --diff kernel.cpp",
        "check --diff .",
        "check --diff src .",
        "check --diff @paths.txt",
        "check . --diff",
        "check --diff --select GF101 .",
        "check --diff - --stdin-filename kernel.cpp",
    ],
)
def test_diff_before_what_can_be_checked_shows_the_changes(command: str, repository: Path) -> None:
    lay(repository, {"src/kernel.cpp": KERNEL, "kernel.cpp": KERNEL, "paths.txt": "kernel.cpp"})
    done = guardfix(command, KERNEL)
    assert done.stdout.startswith("--- a/kernel.cpp\n+++ b/kernel.cpp\n"), done.stderr
    assert done.exit_code == 1
