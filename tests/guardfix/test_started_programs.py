"""What guardfix starts: every place in the code, found in its syntax, and what it may start.

Git is started by `closed_git` alone, and our own Python as `module_command` says: elsewhere, a file in the current
folder, which is that of a program that isn't ours, could take the place of a module.
"""

from __future__ import annotations

import ast
import asyncio
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from campaign_repositories import OLD, UNCALLED
from fixture_files import ROOT
from guardfix.api import Options, check
from guardfix.campaign.campaign_executors import NoExecutor, executor_named
from guardfix.linter.frontends import extraction
from guardfix.module_command import shadowed_modules
from guardfix.server.program_verification import verdict_on

PACKAGES = ("guardfix", "linter", "codemods", "runtime_shim")
STARTS = re.compile(
    r"subprocess\.(Popen|run|call|check_call|check_output|getoutput|getstatusoutput)"
    r"|asyncio(\.subprocess)?\.create_subprocess_(exec|shell)|asyncio\.subprocess_(exec|shell)"
    r"|os\.(system|popen|exec[lv]p?e?|spawn[lv]p?e?|posix_spawnp?|startfile)|pty\.(spawn|fork)"
    r"|multiprocessing(\.\w+)*\.(Process|Pool|get_context|set_executable|Manager)|concurrent(\.\w+)*\.ProcessPoolExecutor"
    r"|(dask\.)?distributed\.(LocalCluster|Nanny)|webbrowser\.open\w*|_posixsubprocess\.\w+"
)
OURS = "guardfix/module_command.py"
GIT = "guardfix/closed_git.py"


STARTERS = re.compile(r"subprocess|asyncio|\bos\b|\bpty\b|multiprocessing|concurrent|distributed|webbrowser")
"""What a module must name to call one of them."""


def starts_in(text: str) -> Iterator[str]:
    """What the calls that start a program are, and their first arguments: `subprocess.run: command`."""
    if not STARTERS.search(text):
        return
    tree = ast.parse(text)
    meant: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            meant.update(
                (one.asname or one.name.split(".")[0], one.name if one.asname else one.name.split(".")[0])
                for one in node.names
            )
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            meant.update((one.asname or one.name, f"{node.module}.{one.name}") for one in node.names)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            head, dot, rest = ast.unparse(node.func).partition(".")
            name = meant.get(head, head) + dot + rest
            if STARTS.fullmatch(name):
                yield f"{name}: {ast.unparse(node.args[0]) if node.args else ''}"


def product() -> Iterator[tuple[str, str]]:
    """The name and the text of each module; the links below guardfix/ lead to other packages."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if not (package == "guardfix" and name.split("/")[1] in PACKAGES):
                yield name, path.read_text(encoding="utf-8")


STARTED = {
    GIT: ["subprocess.Popen: command", "subprocess.run: command"],
    "guardfix/campaign/campaign_executors.py": [
        # Python as libraries start it, once `shadowed_modules` has found none.
        "concurrent.futures.ProcessPoolExecutor: jobs",
        "distributed.LocalCluster: ",
        "multiprocessing.get_context: 'spawn'",
    ],
    "guardfix/campaign/contained_tasks.py": ["subprocess.Popen: module_command(__package__)"],
    "guardfix/playground/checking_process.py": ["asyncio.create_subprocess_exec: *module_command(__package__)"],
    "guardfix/playground/live_report.py": ["asyncio.create_subprocess_exec: *module_command('guardfix')"],
    "guardfix/server/program_verification.py": ["asyncio.create_subprocess_exec: *module_command('guardfix')"],
    "guardfix/verify/runs/contained_run.py": [
        "subprocess.Popen: [*(*module_command(_CONTAINED), '--tell', json.dumps([str(place) for place in own])), "
        "*(*module_command('guardfix'), 'run', *words)]"
    ],
    "guardfix/verify/exercising/library_server.py": [
        "subprocess.Popen: [*sealed_command(_SERVER), str(folder / 'serving.json'), str(commands), str(answers)]"
    ],
    "guardfix/verify/projects/project_tests.py": [
        "subprocess.Popen: [*module_command(_CONTAINED), *(('--instead', str(instead)) if instead else ()), folders, *command]",
        "subprocess.run: command",  # pip
    ],
    "guardfix/verify/runs/run_starts.py": [
        "subprocess.Popen: [*sealed_command('guardfix.runtime_shim.recording'), str(specification), str(ready)]",
        "subprocess.Popen: [*sealed_command(fork_server.__name__), str(theirs.fileno())]",
    ],
    "guardfix/verify/programs/pkg_config.py": ["subprocess.run: ['pkg-config', *arguments]"],
    # What a program that is run asks for: compilers, and the program itself.
    "linter/frontends/extraction.py": ["concurrent.futures.ProcessPoolExecutor: workers"],  # likewise
    "runtime_shim/cpp/compiler_processes.py": ["subprocess.Popen: command"],
    "runtime_shim/cpp/header_precompilation.py": ["subprocess.Popen: ['sh', '-c', script]"],
    "runtime_shim/cpp/linked_program.py": ["subprocess.run: [archiver, 'rcs', str(library), *members]"],
    "guardfix/why/program_addresses.py": ["subprocess.run: [command, '-fiC', '-e', program]"],  # addr2line
    "runtime_shim/recording/call_sites.py": ["subprocess.run: [command, '-e', program]"],  # addr2line, of the compiler
    "runtime_shim/recording/contained_command.py": ["os.execvp: command[0]"],
    "runtime_shim/recording/containment.py": ["os.execv: command[0]"],
    "runtime_shim/recording/real_torch.py": ["os.execv: program"],
    "runtime_shim/utils/data/dataloader.py": ["multiprocessing.get_context: 'fork'"],
}
"""Every call in the code that starts a program. Who adds one says here what it starts, and why it may."""


@pytest.mark.thorough
def test_every_start_is_known() -> None:
    found = {name: sorted(starts_in(text)) for name, text in product()}
    assert {name: starts for name, starts in found.items() if starts} == STARTED


PLANTED = [
    ("import subprocess\nsubprocess.run(['git', 'log'])", "subprocess.run: ['git', 'log']"),
    ("import subprocess as s\ns.Popen(x)", "subprocess.Popen: x"),
    ("from subprocess import check_output as run\nrun(x)", "subprocess.check_output: x"),
    ("import os\nos.system('git log')", "os.system: 'git log'"),
    ("import asyncio\nawait asyncio.create_subprocess_shell('x')", "asyncio.create_subprocess_shell: 'x'"),
    ("from concurrent import futures\nfutures.ProcessPoolExecutor(2)", "concurrent.futures.ProcessPoolExecutor: 2"),
    ("import multiprocessing as m\nm.Process(target=f)", "multiprocessing.Process: "),
    ("def f():\n    from os import execv\n    execv('git', [])", "os.execv: 'git'"),
]


@pytest.mark.parametrize(("text", "found"), PLANTED)
def test_a_further_start_is_found(text: str, found: str) -> None:
    assert list(starts_in(text)) == [found]


def named_in(text: str) -> set[str]:
    """Of programs and modules that have a door of their own, those that a module names."""
    found: set[str] = set()
    if not re.search("git|python|executable|dulwich", text):
        return found
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if re.fullmatch(r"(?:.*[/\\])?git(?:\.exe)?", node.value):
                found.add("git")
            if re.fullmatch(r".*[/\\]python[\d.]*|python\d[\d.]*|(?:.*[/\\])?python\d*\.exe", node.value):
                found.add("Python")
        elif isinstance(node, ast.Attribute) and ast.unparse(node) == "sys.executable":
            found.add("Python")
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            modules = [one.name for one in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            found |= {"git" for module in modules if module.split(".")[0] in ("git", "dulwich", "pygit2")}
    return found


NAMED = {
    OURS: {"Python"},
    GIT: {"git"},
    # The build of a project that the user asked to verify, contained: its own folder is what it runs.
    "guardfix/verify/projects/project_tests.py": {"Python"},
}


@pytest.mark.thorough
def test_git_and_python_have_one_door_each() -> None:
    found = {name: named_in(text) for name, text in product()}
    assert {name: named for name, named in found.items() if named} == NAMED


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("command = ['/usr/bin/git', 'log']", {"git"}),
        ("import pygit2.repository", {"git"}),
        ("from dulwich.repo import Repo", {"git"}),
        ("x = [sys.executable, '-m', 'guardfix']", {"Python"}),
        ("x = ['python3', '-m', 'guardfix']", {"Python"}),
        ("say('git knows no commit')", set()),
    ],
)
def test_a_further_name_is_found(text: str, named: set[str]) -> None:
    assert named_in(text) == named


def plant(folder: Path, *names: str) -> Path:
    """Modules that say, by a file, that they were taken from the current folder."""
    for name in names:
        (folder / f"{name}.py").write_text(f"open({str(folder / 'taken')!r}, 'a').write({name!r})\n")
    return folder / "taken"


def test_verifying_from_an_editor_takes_no_module_from_beside_the_program(tmp_path: Path) -> None:
    taken = plant(tmp_path, "guardfix", "click", "msgspec", "json", "runpy", "sitecustomize")
    (tmp_path / "program.py").write_text("import torch\n\nprint(torch.ones(1))\n")
    status, output = asyncio.run(verdict_on(str(tmp_path / "program.py")))
    assert status == 0, output
    assert "program.py" in output
    assert not taken.exists()


def test_tasks_take_no_module_from_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from click.testing import CliRunner

    from guardfix.campaign import contained_tasks
    from guardfix.cli.main import cli

    taken = plant(tmp_path, "guardfix", "click", "msgspec", "json", "runpy", "pickle")
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain/a.py").write_text(UNCALLED)
    (tmp_path / "list.txt").write_text("plain\n")
    monkeypatch.setattr(contained_tasks, "_servers", contained_tasks._Servers())
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli, ["campaign", "run", "list.txt", "-o", "out"])
    assert done.exit_code == 0, done.output
    assert not taken.exists()


@pytest.mark.parametrize("executor", ["process", "dask"])
def test_libraries_start_python_where_no_module_is_shadowed(
    executor: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = plant(tmp_path, "multiprocessing")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NoExecutor, match="`multiprocessing`"), executor_named(executor, 1) as engine:
        engine.submit(len, ())
    assert not taken.exists()


def test_a_check_without_forks_reads_alone_where_modules_are_shadowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = plant(tmp_path, "multiprocessing")
    for number in range(2 * extraction.POOL_FROM):
        (tmp_path / f"f{number}.cpp").write_text(OLD)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(extraction, "CAN_FORK", False)
    assert len(check(["."], options=Options(workers=2)).findings) == 2 * extraction.POOL_FROM
    assert not taken.exists()


SHADOWS = [
    pytest.param(["json.py"], ["json"], id="a module"),
    pytest.param(["email/__init__.py"], ["email"], id="a package"),
    pytest.param(["io/a.cpp", "numbers/x.py", "a.py", "test.cpp"], [], id="folders without code, and other names"),
]


@pytest.mark.parametrize(("files", "expected"), SHADOWS)
def test_which_modules_a_folder_shadows(files: Sequence[str], expected: list[str], tmp_path: Path) -> None:
    for name in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert shadowed_modules(str(tmp_path)) == expected


def texts_for_users() -> Iterator[tuple[str, str]]:
    for pattern in ("*.md", "docs/**/*.md", "editors/**/*.json", "editors/**/*.md", "editors/**/*.js", "action.yml", "Dockerfile", ".pre-commit-hooks.yaml"):  # fmt: skip
        for path in sorted(ROOT.glob(pattern)):
            if not {"node_modules", "test"} & set(path.parts):
                yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


def unsafe_starts(text: str) -> list[str]:
    """Commands that run guardfix as a module and let the current folder stand first on the path."""
    found = re.findall(r"""python[\d.]*[ "',\\]+((?:-\w+[ "',\\]+)*)-m[ "',\\]+guardfix\b""", text)
    return [options for options in found if "-P" not in options]


def test_users_are_told_no_unsafe_start() -> None:
    assert [name for name, text in texts_for_users() if unsafe_starts(text)] == []


@pytest.mark.parametrize(
    ("text", "count"),
    [("python -m guardfix check", 1), ("python3 -m guardfix.linter.x F", 1), ('["python3", "-m", "guardfix"]', 1), ("python -P -m guardfix", 0), ("guardfix", 0), (json.dumps('["python3", "-m", "guardfix"]'), 1)],
)  # fmt: skip
def test_an_unsafe_start_is_found(text: str, count: int) -> None:
    assert len(unsafe_starts(text)) == count
