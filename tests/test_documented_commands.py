"""Each command that a page of the documentation shows is run in a small project: it may find something, but not fail."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from campaign_repositories import git
from fixture_files import ROOT
from guardfix.cli.main import cli
from guardfix.playground.playground_examples import EXAMPLES
from test_docs import command_lines

GUIDES = {"index.md", "inference_applications.md", "kernel_libraries.md"}
"""Pages that tests/docsite runs from their first file to their last output."""
PAGES = sorted(path for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")) if path.name not in GUIDES)

ELSEWHERE = {
    "serve": "waits for a browser; tests/guardfix/playground starts it",
    "server": "waits for an editor; tests/guardfix/server starts it",
    "verify": "compiles programs; tests/guardfix/verify/test_docs.py runs it",
    "campaign": "tests/guardfix/campaign runs it",
    "test-rules": "needs rules of one's own; tests/guardfix/extensions runs it",
    "run": "compiles programs; the guides' own tests run it",
    "migrate --interactive": "needs a terminal; tests/guardfix/cli starts one",
    "check src/ --executor dask": "needs a scheduler; tests/linter/reading starts one",
    "baseline update": "tests/guardfix/adoption runs it, with a baseline",
}
"""Commands that are run by other tests, and where."""

STANDS_FOR = {
    "PATH…": "src", "[PATH…]": "src", "PATH": "src/scale.cpp", "FILE": "guardfix-baseline.json", "WHAT": "GF101",
    "NAME": "findings", "FORMAT": "json", "DIR": "src", "…": "",
}  # fmt: skip
"""What a reader would write for a placeholder."""

IN_FULL = {
    "check --executor NAME": "check --executor local",
    "config KEY": "config select",
    "schema": "schema findings",
    "config --show-settings": "config --show-settings src/ops.cpp",
}
"""What a reader would write for a command that is named in a sentence."""


def words_of(line: str) -> tuple[list[str], str]:
    """The arguments of a command line, and the file that it reads as its input."""
    line = IN_FULL.get(line, line)
    line = re.sub(r"(?:^|\s)(?:2>|&&|>|\|).*", "", line)
    line, _, given = line.partition(" < ")
    line += "'" * (line.count("'") % 2)  # what looks like a comment was cut off
    words = [STANDS_FOR.get(word, word) for word in shlex.split(line)]
    return [word for word in words if word], given.strip()


def is_elsewhere(line: str) -> bool:
    """Whether other tests run it, or it only names a group of commands."""
    return isinstance(cli.get_command(click.Context(cli), line.strip()), click.Group) or any(
        line == name or line.startswith((f"{name} ", f"{name}:")) for name in ELSEWHERE
    )


@pytest.fixture
def project(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with a kernel, a script, a log and a baseline, and a cache that `cache clean` may empty."""
    monkeypatch.setenv("GUARDFIX_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
    kernel = EXAMPLES[0].text
    for name in ("src/scale.cpp", "src/ops.cpp", "ops.cpp", "scale.cpp", "src/step.cpp"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(kernel)
    (tmp_path / "train.py").write_text("import torch\ntorch.no_grad()\n")
    (tmp_path / "log.txt").write_text("RuntimeError: Inference tensors cannot be saved for backward.\n")
    (tmp_path / "change.diff").write_text("")
    (tmp_path / "verdicts.json").write_text("[]")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message=a")
    git(tmp_path, "update-ref", "refs/remotes/origin/main", "HEAD")
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(cli, ["baseline", "create", "src", "--isolated"]).exit_code == 0
    return tmp_path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_of_a_page_runs(page: Path, project: Path) -> None:
    failed = {}
    for line in dict.fromkeys(command_lines(page)):
        if is_elsewhere(line):
            continue
        words, given = words_of(line)
        text = (project / (given or "log.txt")).read_text()
        if words[:2] == ["baseline", "create"]:
            (project / "guardfix-baseline.json").unlink()
        done = CliRunner().invoke(cli, words, input=text)
        if done.exit_code not in (0, 1):
            failed[line] = done.output.strip().splitlines()[-1:]
    assert failed == {}
