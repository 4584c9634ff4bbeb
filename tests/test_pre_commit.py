"""The hooks, run by the real pre-commit, and by prek, against a temporary repository, from the tag that README names."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from guardfix.cli.main import cli

ROOT = Path(__file__).resolve().parent.parent
BAD = (ROOT / "fixtures/cpp/kernel_function_forward.cpp").read_text()
GOOD = (ROOT / "fixtures/cpp/kernel_function_forward.migrated.cpp").read_text()
REVISION = re.findall(r"rev: (\S+)", (ROOT / "README.md").read_text())[0]


def git(*arguments: str, cwd: Path) -> str:
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.invalid"]
    outcome = subprocess.run(["git", *identity, *arguments], cwd=cwd, capture_output=True, text=True, check=True)
    return outcome.stdout


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This project as a repository of one commit, tagged as a release is: pre-commit installs what stands here now."""
    folder = tmp_path_factory.mktemp("hooks") / "guardfix"
    folder.mkdir()
    listed = git("ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=ROOT)
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file() and not name.startswith(("fixtures/", "tests/", "bench/", "docs/")):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    git("init", "--quiet", cwd=folder)
    git("add", "--all", "--force", cwd=folder)
    git("commit", "--quiet", "--message", "all", cwd=folder)
    git("tag", "--annotate", REVISION, "--message", REVISION, cwd=folder)
    return folder


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pre-commit-home")


@pytest.mark.parametrize("hook", ["guardfix-check", "guardfix-migrate"])
@pytest.mark.parametrize("name", ["--output-file=good.cpp", "--isolated.cpp", "-h.cpp"])
def test_a_file_called_like_an_option_is_a_file(
    hook: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As pre-commit puts the command together: the entry, the arguments, and names of files."""
    (one,) = [one for one in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text()) if one["id"] == hook]
    (tmp_path / name).write_text(BAD)
    (tmp_path / "good.cpp").write_text(GOOD)
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli, [*one["entry"].split()[1:], *one["args"], name, "good.cpp"])
    assert (tmp_path / "good.cpp").read_text() == GOOD
    assert f"{name}:13:5: GF101" in done.output if hook == "guardfix-check" else (tmp_path / name).read_text() == GOOD


PROGRAMS = {"pre-commit": "pre_commit", "prek": "prek"}


@pytest.fixture(params=PROGRAMS)
def program(request: pytest.FixtureRequest) -> str:
    """The module that runs hooks."""
    return PROGRAMS[request.param]


def run_hook(program: str, hooks: Path, home: Path, repository: Path, hook: str) -> subprocess.CompletedProcess[str]:
    """What a commit runs in a repository with this configuration. The first call installs the hooks for all."""
    (repository / ".pre-commit-config.yaml").write_text(
        f"repos:\n- repo: {hooks}\n  rev: {REVISION}\n  hooks:\n  - id: {hook}\n"
    )
    git("init", "--quiet", cwd=repository)
    git("add", "--all", cwd=repository)
    return subprocess.run(
        [sys.executable, "-m", program, "run", "--verbose", "--all-files"],
        cwd=repository,
        env={**os.environ, "PRE_COMMIT_HOME": str(home), "PREK_HOME": str(home / "prek")},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("files", "status", "said"),
    [
        pytest.param({"bad.cpp": BAD}, 1, "bad.cpp:13:5: GF101", id="a bad file"),
        pytest.param({"good.cpp": GOOD}, 0, "All checks passed", id="a good file"),
        pytest.param({"notes.txt": BAD}, 0, "no files to check", id="no C++ file at all"),
    ],
)
@pytest.mark.thorough
def test_check(
    files: dict[str, str], status: int, said: str, program: str, hooks: Path, home: Path, tmp_path: Path
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    outcome = run_hook(program, hooks, home, tmp_path, "guardfix-check")
    assert outcome.returncode == status, outcome.stdout + outcome.stderr
    assert said in outcome.stdout


@pytest.mark.thorough
def test_migrate_rewrites_the_file_and_then_passes(program: str, hooks: Path, home: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.cpp").write_text(BAD)
    (tmp_path / "notes.txt").write_text("nothing\n")
    assert (
        run_hook(program, hooks, home, tmp_path, "guardfix-migrate").returncode == 1
    )  # pre-commit: files were modified
    assert (tmp_path / "bad.cpp").read_text() == GOOD
    assert run_hook(program, hooks, home, tmp_path, "guardfix-migrate").returncode == 0
