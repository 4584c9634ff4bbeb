"""`guardfix campaign history`: what each commit does to the number of guards."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from lxml import html

from campaign_repositories import OLD, MakeRepository, git
from guardfix.cli.main import cli

TWO = OLD + "void g() {\n  at::AutoNonVariableTypeMode g;\n}\n"
NEW = "#include <torch/torch.h>\nvoid f() {\n  c10::InferenceMode g;\n}\n"
IN_PYTHON = f'import torch.utils.cpp_extension\n\nm = torch.utils.cpp_extension.load_inline("m", """{OLD}""")\n'


@pytest.fixture
def history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GUARDFIX_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "rows.csv"


def counted(repository: Path, rows: Path, *more: str) -> tuple[Result, list[tuple[int, int]]]:
    """The command's result, and the numbers of old guards and of InferenceMode at each commit that changes one."""
    result = CliRunner().invoke(cli, ["campaign", "history", str(repository), "-o", str(rows), *more])
    assert result.exit_code == 0, result.output
    with open(rows, newline="") as file:
        found = list(csv.DictReader(file))
    columns = ("AutoNonVariableTypeMode", "InferenceMode")
    return result, [(int(row.get(columns[0], 0)), int(row.get(columns[1], 0))) for row in found]


def test_every_way_in_which_a_commit_changes_files(repository: MakeRepository, history: Path) -> None:
    folder = repository("r", {"a.cpp": OLD, "notes.txt": OLD})  # 1: the text is not code
    repository("r", {"copy/a.cpp": OLD})  # 2: the same blob again
    repository("r", {"README.md": "nothing\n"})  # no change
    repository("r", {"a.cpp": TWO})  # 3
    git(folder, "mv", "a.cpp", "b ü.cpp")  # a new name is not a change
    repository("r", {})
    (folder / "link.cpp").symlink_to("b ü.cpp")  # nor is a link
    (folder / "copy/a.cpp").chmod(0o755)  # nor a mode
    repository("r", {"node_modules/a.cpp": OLD})  # nor what no check looks at
    repository("r", {"p.py": IN_PYTHON})  # 4
    git(folder, "rm", "-q", "copy/a.cpp")
    repository("r", {})  # 3
    git(folder, "switch", "-q", "--create", "side", "HEAD~1")
    repository("r", {"side.cpp": OLD})
    repository("r", {"side.cpp": NEW})
    git(folder, "switch", "-q", "main")
    git(folder, "merge", "-q", "--no-edit", "side")  # what came of the side, at once
    repository("r", {"b ü.cpp": NEW, "p.py": "print(1)\n"})
    _, counts = counted(folder, history)
    assert counts == [(1, 0), (2, 0), (3, 0), (4, 0), (3, 0), (3, 1), (0, 2)]
    _, counts = counted(folder, history, "--revision", "HEAD~2")
    assert counts == [(1, 0), (2, 0), (3, 0), (4, 0), (3, 0)]


def test_versions_are_read_once(repository: MakeRepository, history: Path) -> None:
    folder = repository("r", {"a.cpp": OLD, "b.cpp": "int x;\n"})
    repository("r", {"a.cpp": NEW})
    first, before = counted(folder, history)
    assert "2 commits, 3 versions of files, 3 read now" in first.stdout
    assert "AutoNonVariableTypeMode  2023-11-14  1 (2023-11-14)        0  gone 2023-11-14" in first.stdout
    repository("r", {"c.cpp": OLD})
    again, after = counted(folder, history)
    assert "3 commits, 3 versions of files, 0 read now" in again.stdout
    assert after[:2] == before == [(1, 0), (0, 1)]


def test_the_page_has_a_line_for_each_guard(repository: MakeRepository, history: Path) -> None:
    folder = repository("r", {"a.cpp": OLD})
    repository("r", {"b.cpp": NEW})
    git(folder, "commit", "--quiet", "--allow-empty", "--message=<script>")
    repository("r", {"a.cpp": "int x;\n"})
    page = history.with_suffix(".html")
    assert CliRunner().invoke(cli, ["campaign", "history", str(folder), "-o", str(page)]).exit_code == 0
    tree = html.fromstring(page.read_text(encoding="utf-8"))
    assert tree.xpath("//path/title/text()") == ["AutoNonVariableTypeMode", "InferenceMode"]
    assert tree.xpath("//td[3]/text()") == ["+1", "-1"]
    assert len(tree.xpath("//script")) == 1, "the page's own"


def test_a_repository_without_guards_says_so(repository: MakeRepository, history: Path) -> None:
    folder = repository("r", {"a.cpp": "int x;\n"})
    result, counts = counted(folder, history)
    assert "No guard was ever used." in result.stdout
    assert counts == []


def test_git_runs_nothing_of_the_repository(tmp_path: Path, repository: MakeRepository, history: Path) -> None:
    folder = repository("r", {"a.cpp": OLD, ".gitattributes": "*.cpp diff=evil\n"})
    for key in ("diff.external", "diff.evil.textconv", "gpg.program", "core.fsmonitor", "core.pager"):
        git(folder, "config", key, f"touch {tmp_path}/executed")
    git(folder, "config", "log.showSignature", "true")
    assert counted(folder, history)[1] == [(1, 0)]
    assert not (tmp_path / "executed").exists()


FAILURES = [
    pytest.param(
        [os.curdir], "is not a git repository; make a copy of a remote one with `git clone --bare URL`", id="no git"
    ),
    pytest.param(["r", "--revision", "nowhere"], "r: ", id="no revision"),
]


@pytest.mark.parametrize(("arguments", "said"), FAILURES)
def test_what_has_no_history(
    tmp_path: Path, repository: MakeRepository, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    repository("r", {"a.cpp": OLD})
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(cli, ["campaign", "history", *arguments])
    assert result.exit_code == 2
    assert said in result.stderr
