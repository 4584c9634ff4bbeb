"""Every command and every format over names, texts, settings, owners and commits that would act on a terminal."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from campaign_repositories import git
from fixture_files import ROOT
from guardfix.output.format_registry import format_names
from hostile_texts import ACTS, SETTINGS, harm_in, write_tree

pytestmark = pytest.mark.skipif(os.name == "nt", reason="no such names there")
ACT = ACTS["escape"] + ACTS["bidi"] + ACTS["github"] + ACTS["azure"] if ACTS else ""
FULL = [*format_names("findings")]

COMMANDS = {
    **{f"check as {name}": ["check", "--select", "ALL", "--output-format", name, "."] for name in FULL},
    **{f"check as {name}, colored": ["check", "--color", "always", "--output-format", name, "."] for name in ("full", "concise", "grouped")},
    "check of named files": ["check", *(f"./{act}.cpp" for act in ACTS.values() if "\udcff" not in act)],
    "check into a file": ["check", "--output-file", "written", "."],
    "counted": ["check", "--statistics", "."],
    "check --diff": ["check", "--diff", "--unsafe", "."],
    "check --diff, colored": ["check", "--diff", "--unsafe", "--color", "always", "."],
    "check --fix": ["check", "--fix", "--unsafe", "."],
    "check --add-noqa": ["check", "--add-noqa", "."],
    "check --executor process": ["check", "--executor", "process", "."],
    "check with a plugin that isn't there": ["check", "--config", f"plugins = ['{ACTS.get('c1', '')}']", "."],
    "migrate": ["migrate", "--unsafe", "."],
    "migrate --apply": ["migrate", "--apply", "--unsafe", "."],
    "status": ["status", "."],
    "status as JSON": ["status", "--json", "."],
    "baseline create": ["baseline", "create", "--baseline", f"b{ACTS.get('bidi')}.json", "."],
    "baseline show": ["baseline", "show", "held.json"],
    "baseline update": ["baseline", "update", "--baseline", "held.json", "."],
    "a baseline that isn't one": ["check", "--baseline", f"./{ACTS.get('escape')}.cpp", "."],
    "config": ["config", "--show-settings", f"{ACTS.get('escape')}.cpp"],
    "config of files": ["config", "--show-files", "."],
    "no such setting": ["config", ACT],
    "rules": ["rules"],
    "no such rule": ["explain", ACT],
    "no such rule to select": ["check", "--select", ACT, "."],
    "no such pattern": ["check", "--exclude", f"[{ACT}", "."],
    "no such file": ["check", f"{ACT}.cpp"],
    "no such command": [ACT],
    "no such option": ["check", f"--{ACT}"],
    "no such schema": ["schema", ACT],
    "no such format": ["check", "--output-format", ACT],
    "no such configuration": ["check", "--config", f"{ACT}.toml", "."],
    "no such setting in a value": ["check", "--config", f"'{ACT}' = 1", "."],
    "no such program": ["run", f"{ACT}.cpp"],
    "a list of files": ["check", f"@{ACT}"],
    "report": ["report", "-o", "-", "."],
    "why": ["why", "log.txt"],
    "why, of nothing that is known": ["explain", ACT],
    "why, of source that is named": ["why", "log.txt", "--source", "."],
    "why, applied": ["why", "log.txt", "--apply", "1"],
    "why, of a message": ["why", f"RuntimeError: Inplace update to inference tensor outside InferenceMode{ACT}"],
    "explain a traceback": ["explain", "--traceback", "log.txt"],
    "explain a message": ["explain", f"Inplace update to inference tensor outside InferenceMode {ACT}"],
    "check of documents": ["check", "--include-docs", "--output-format", "concise", "."],
    "check since a commit": ["check", "--since", "main", "."],
    "no such commit": ["check", "--since", ACT, "."],
    "check of standard input": ["check", "--stdin-filename", f"{ACTS.get('escape')}{ACTS.get('github')}.cpp", "-"],
    "no such executor": ["check", "--executor", ACT, "."],
    "a file in no folder": ["check", "--output-file", f"{ACTS.get('escape')}/x", "."],
    "check within limits": ["check", "--timeout-per-file", "0.001", "."],
    "rules as JSON": ["rules", "--output-format", "json"],
    "run what fails": ["run", "--contain", "bad.cpp"],
    "no such compiler": ["run", "--compiler", ACT, "bad.cpp"],
    "verify what fails": ["verify", "--against", f"./{ACTS.get('escape')}.py", "fail.py"],
    "verify with a compiler that isn't there": ["verify", "--compiler", ACT, "bad.cpp"],
    "verify tests": ["verify", "--test", "python -m pytest -q fail.py"],
    "verify a project that has no op": ["verify", "--exercise", "."],
    "no such folder to serve": ["serve", ACT],
    "test-rules": ["test-rules", "."],
    "cache": ["cache", "dir"],
    "cache clean": ["cache", "clean"],
    "verify": ["verify", "--timeout", "20", f"./{ACTS.get('escape')}.py", "print\x9b.py"],
    "verify as JSON": ["verify", "--output-format", "json", "print\x9b.py"],
    "verify --missing": ["verify", "--missing", "."],
    "verify --decide": ["verify", "--decide", f"{ACTS.get('bidi')}.py"],
    "no such program to verify": ["verify", ACT],
    "campaign": ["campaign", "run", "repositories.txt", "-o", "results"],
    "no such manifest": ["campaign", "run", ACT, "-o", "results"],
    "a bad manifest": ["campaign", "run", "CODEOWNERS", "-o", "bad results"],
    **{f"query as {name}": ["campaign", "query", "-o", "held", "--output-format", name, "select * from uses"] for name in ("table", "csv", "json")},
    "query findings": ["campaign", "query", "-o", "held", "select * from findings"],
    "a bad query": ["campaign", "query", "-o", "held", f"select {ACT}"],
    "campaign report": ["campaign", "report", "-o", "held"],
    "history": ["campaign", "history", "."],
    "history of none": ["campaign", "history", ACTS.get("escape", "")],
}  # fmt: skip
PAGES = {
    "report": ["report", "-o", "written.html", "."],
    "history": ["campaign", "history", "-o", "written.html", "."],
    "verify": ["verify", "--html", "written.html", "print\x9b.py"],
}


def guardfix(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    environment = os.environ | {"GUARDFIX_CACHE_DIR": str(cwd.parent / f"cache{ACT}".replace("/", ""))}
    command = [sys.executable, "-m", "guardfix", *arguments]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, check=False, timeout=300)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tree with its baseline, its history and a campaign over it."""
    folder = write_tree(tmp_path_factory.mktemp("hostile") / f"tree{ACTS['bidi']}")
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", ACTS["escape"] + ACTS["bidi"])
    (folder / "pyproject.toml").write_text(SETTINGS)
    (folder / "log.txt").write_text(
        f'Traceback (most recent call last):\n  File "{ACTS["bidi"]}.py", line 6, in f{ACTS["escape"]}\n    x{ACTS["c1"]}\n'
        f"RuntimeError: Inplace update to inference tensor outside InferenceMode is not allowed.{ACT}\n"
    )
    (folder / f"{ACTS['bidi']}.md").write_text(
        f"```cpp\nvoid f() {{ at::AutoNonVariableTypeMode g; }}  // {ACTS['escape']}\n```\n"
    )
    raised = f"raise ValueError({ACTS['escape']!r} + {ACTS['github']!r})"
    (folder / "fail.py").write_text(
        f"import torch\n\ndef test_it():\n    exec(compile({raised!r}, {ACT!r}, 'exec'))\n\ntest_it()\n"
    )
    (folder / "bad.cpp").write_text(
        f'#include <torch/torch.h>\n#error {ACT}\nint main() {{ missing("{ACTS["bidi"]}"); }}\n'
    )
    (folder / "repositories.txt").write_text(f"{folder}\n{folder.parent}/missing{ACTS['escape']}\n")
    guardfix("baseline", "create", "--baseline", "held.json", ".", cwd=folder)
    guardfix("campaign", "run", "repositories.txt", "-o", "held", cwd=folder)
    assert (folder / "held.json").exists()
    assert (folder / "held").is_dir()
    return folder


@pytest.fixture
def tree(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / made.name, symlinks=True))


COMPILING = "verify --missing"


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(words, id=name, marks=pytest.mark.thorough if name == COMPILING else ())
        for name, words in COMMANDS.items()
    ],
)
@pytest.mark.some(8)
def test_nothing_printed_acts(arguments: list[str], tree: Path) -> None:
    done = guardfix(*arguments, cwd=tree)
    assert done.returncode in (0, 1, 2), done.stderr
    assert b"internal error" not in done.stderr, done.stderr
    allowed = {"colored": "always" in arguments, "commands": {"github", "azure"} & {*arguments} != set()}
    assert harm_in(done.stdout, **allowed) == []
    assert harm_in(done.stderr) == []
    if (tree / "written").exists():
        assert harm_in((tree / "written").read_bytes()) == []


@pytest.mark.parametrize("arguments", PAGES.values(), ids=PAGES)
@pytest.mark.some(2)
def test_nothing_in_a_page_acts(arguments: list[str], tree: Path) -> None:
    done = guardfix(*arguments, cwd=tree)
    page = (tree / "written.html").read_bytes()
    assert done.returncode in (0, 1), done.stderr
    assert harm_in(page) == []


def test_a_diff_in_a_file_is_exact_and_one_in_a_pipe_says_that_it_is_not(tree: Path) -> None:
    name = f"{ACTS['bidi']}.cpp"
    piped = guardfix("migrate", "--unsafe", name, cwd=tree)
    assert "so patch and git apply don't take it" in piped.stderr.decode()
    with (tree / "patch").open("wb") as file:
        command = [sys.executable, "-m", "guardfix", "migrate", "--unsafe", name]
        done = subprocess.run(command, cwd=tree, stdout=file, stderr=subprocess.PIPE, check=False)
    assert "don't take it" not in done.stderr.decode()
    subprocess.run(["git", "apply", "patch"], cwd=tree, check=True)
    assert guardfix("migrate", "--unsafe", "--quiet", name, cwd=tree).stdout == b""


PRINTS = re.compile(
    r"click\.(echo|secho|style|echo_via_pager|clear|progressbar)|print|sys\.(__)?std(out|err)(__)?\.(buffer\.)?write(lines)?"
)
MAY_PRINT = {
    # What a run says before there is anything to import, or when it can't go on.
    "guardfix/__main__.py", "guardfix/cli/streams.py", "guardfix/cli/plain_check.py",
    # The printer itself, and the colors that it knows as its own.
    "guardfix/output/plain_echo.py", "guardfix/output/terminal_layout.py",
}  # fmt: skip


def printing(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and PRINTS.fullmatch(ast.unparse(node.func)):
            yield f"{path.relative_to(ROOT).as_posix()}:{node.lineno}: {ast.unparse(node.func)}"


def test_one_printer() -> None:
    folders = ("adoption", "campaign", "cli", "extensions", "output", "playground", "report", "server", "verify")
    files = [*(ROOT / "guardfix").glob("*.py")]
    files += [path for folder in folders for path in (ROOT / "guardfix" / folder).rglob("*.py")]
    found = [one for path in sorted(files) for one in printing(path)]
    assert [one for one in found if one.split(":")[0] not in MAY_PRINT | {"guardfix/cli/record_arguments.py"}] == []
