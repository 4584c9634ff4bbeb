"""What a user or a tree names is read if it is a file: nothing waits for a pipe, and nothing reads /dev/zero."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fixture_files import ROOT
from guardfix.regular_files import read_regular, read_regular_text

pytestmark = pytest.mark.skipif(os.name == "nt", reason="no pipes there")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "text").write_bytes(b"a\r\nb\rc\n\xff")
    with (tmp_path / "large").open("wb") as file:
        file.truncate(1 << 40)  # a hole, which takes no space
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("pipes", [False, True])
@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("pipe", "not a regular file"),
        ("link", "not a regular file"),
        ("zero", "not a regular file"),
        (".", "Is a directory"),
        ("missing", "No such file or directory"),
        ("large", "it has 1048576.0 MB, and the largest that is read has 1024"),
    ],
)
def test_what_is_not_read(folder: Path, name: str, why: str, pipes: bool) -> None:
    if pipes and name in ("pipe", "link"):
        return  # it waits, as it should
    with pytest.raises(OSError, match=f"{re.escape(why)}: '{name}'"):
        read_regular(name, pipes=pipes)


def test_what_is_read(folder: Path) -> None:
    assert read_regular("text") == b"a\r\nb\rc\n\xff"
    assert read_regular_text("text", "replace") == "a\nb\nc\n\N{REPLACEMENT CHARACTER}"
    with pytest.raises(OSError, match=r"it has 0\.0 MB"):
        read_regular("text", 7)
    assert len(read_regular("text", 8)) == 8


def test_the_output_of_a_program_may_be_named_where_that_is_meant(folder: Path) -> None:
    reads, writes = os.pipe()
    os.write(writes, b"12345678")
    os.close(writes)
    with pytest.raises(OSError, match="not a regular file"):
        read_regular(f"/dev/fd/{reads}")
    with pytest.raises(OSError, match=r"it has 0\.0 MB"):
        read_regular(f"/dev/fd/{reads}", 7, pipes=True)
    os.close(reads)


@pytest.mark.skipif(sys.platform != "linux", reason="no such limit")
def test_a_small_file_takes_little_memory(tmp_path: Path) -> None:
    """`file.read(n)` allocates n bytes before it reads any."""
    (tmp_path / "small").write_bytes(b"a")
    text = (
        "import resource, sys; from guardfix.regular_files import read_regular\n"
        "used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used + (64 << 20), -1))\n"
        "print(read_regular(sys.argv[1]), read_regular('/proc/self/comm')[:1] != b'')"
    )
    command = [sys.executable, "-c", text, str(tmp_path / "small")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "b'a' True\n"


COMMANDS = {
    "a manifest": ["campaign", "run", "{}", "-o", "results"],
    "a manifest in TOML": ["campaign", "run", "{}.toml", "-o", "results"],
    "a configuration": ["check", "--config", "{}", "."],
    "a baseline": ["check", "--baseline", "{}", "."],
    "a program": ["run", "{}"],
    "a Python program": ["run", "{}.py"],
    "a program to verify": ["verify", "{}.py"],
    "results of verify": ["report", "--verify-results", "{}", "-o", "report.html", "."],
    "known failures": ["verify", "--test", "true", "--known-failures", "{}", "."],
    "a model": ["verify", "--model", "{}", "a.py"],
    "a file to check": ["check", "{}.cpp"],
    "fixtures": ["test-rules", "{}.cpp"],
}


@pytest.mark.parametrize("what", ["pipe", "zero"])
@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.some(3)
def test_no_command_waits(folder: Path, arguments: list[str], what: str) -> None:
    for suffix in (".toml", ".py", ".cpp"):
        (folder / f"{what}{suffix}").symlink_to(what)
    (folder / "a.py").write_text("import torch\n")
    words = [word.format(what) for word in arguments]
    done = subprocess.run(
        [sys.executable, "-m", "guardfix", *words], capture_output=True, text=True, check=False, timeout=60
    )
    assert re.search("not a regular file|isn't a file|No fixtures found", done.stderr + done.stdout), done
    assert done.returncode == (
        0 if words == ["verify", f"{what}.py"] else 1 if words == ["check", f"{what}.cpp"] else 2
    ), done


def test_a_tree_with_pipes_in_every_place_is_checked(folder: Path) -> None:
    (folder / "a.cpp").write_text("void f() { at::AutoNonVariableTypeMode g; }\n")
    for name in (".gitignore", "CODEOWNERS", "compile_commands.json", "b.cpp", "c.py"):
        os.mkfifo(folder / name)
    done = subprocess.run(
        [sys.executable, "-m", "guardfix", "check", "--output-format", "concise", "."],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 1, done
    assert "a.cpp:1:" in done.stdout


OPENS = re.compile(r"open|os\.open|io\.open|(\w|\.|\(|\)|/| |'|\[|\])+\.(read_text|read_bytes|open)")
READS_WHAT_IS_GUARDFIXS_OWN = {
    # The helper itself.
    "guardfix/regular_files.py",
    # Files of the package: templates, schemas, tables, its own code.
    "guardfix/report/page_kit.py", "guardfix/cli/schema_command.py", "guardfix/torch_ops/op_table.py",
    "linter/files/prefilter_record.py", "linter/files/code_digest.py", "linter/decision/decision_tables.py",
    # What this run, or a process of it, has just made in a folder of its own.
    "guardfix/campaign/task_server.py", "guardfix/verify/projects/project_tests.py",
    "guardfix/verify/runs/program_runs.py", "guardfix/verify/runs/scratch.py",
    "guardfix/verify/exercising/library_server.py",
    # The system's.
    "linter/frontends/forked_readers.py",
    # Locks, and folders that are opened to be locked or synced; files that are written.
    "guardfix/campaign/result_store.py", "codemods/apply/writing.py", "codemods/apply/temporary_files.py",
    "linter/files/user_cache.py", "guardfix/cli/streams.py", "guardfix/cache_upkeep.py",
    # Read in pieces, after a look at what it is.
    "guardfix/campaign/repository_commits.py",
}  # fmt: skip


def _opening(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call) or not OPENS.fullmatch(ast.unparse(node.func)):
            continue
        mode = next((word.value for word in node.args[1:2] if isinstance(word, ast.Constant)), "r")
        if not re.match("[wax]", str(mode)) and ast.unparse(node.func) not in ("tarfile.open", "webbrowser.open"):
            yield f"{path.relative_to(ROOT).as_posix()}:{node.lineno}: {ast.unparse(node)}"


@pytest.mark.thorough
def test_one_way_to_read() -> None:
    files = [path for name in ("linter", "codemods") for path in (ROOT / name).rglob("*.py")]
    for path in (ROOT / "guardfix").rglob("*.py"):
        if path.relative_to(ROOT / "guardfix").parts[0] not in ("linter", "codemods", "runtime_shim"):
            files.append(path)
    found = [one for path in sorted(files) for one in _opening(path)]
    assert [one for one in found if one.split(":")[0] not in READS_WHAT_IS_GUARDFIXS_OWN] == []
