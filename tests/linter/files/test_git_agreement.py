"""Which files `.gitignore` leaves out: what git says, on random patterns and paths."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from guardfix.linter.files.discovery import find_files

_NAMES = "a b ab a.b b.cpp ab.cpp a-b build .b _a [a] a* !a #a".split()
_PARTS = (
    *"a b ab a.b b.cpp ab.cpp a-b build .b _a * ** ? a* *b *.cpp a?b [ab] [!a]* [a-c].cpp ?? *a*b* .* \\a \\! \\#a a\\*".split(),
    *"[^a]b [[]a[]] [[:alpha:]] [a\\]] [] [a x[b-a] a** **b a***b { (a) +b".split(),
    "a b",
)


def _pattern(source: random.Random) -> str:
    parts = [source.choice(_PARTS) for _ in range(source.choice((1, 1, 1, 2, 2, 3)))]
    text = "/".join(parts)
    text = source.choice(("", "", "", "/", "**/")) + text + source.choice(("", "", "", "/", "/*", "/**"))
    return source.choice(("", "", "", "!")) + text + source.choice(("",) * 9 + (" ", "\\ ", "  ", "\t", "\r"))


def _grow(folder: Path, source: random.Random, files: int) -> None:
    for _ in range(files):
        *above, name = [source.choice(_NAMES) for _ in range(source.randint(1, 4))]
        path = folder.joinpath(*above, name if name.endswith(".cpp") else f"{name}.cpp")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("")
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            continue
    folders = [folder, *(path for path in folder.rglob("*") if path.is_dir())]
    for chosen in source.sample(folders, min(len(folders), source.choice((1, 1, 2)))):
        patterns = [_pattern(source) for _ in range(source.choice((1, 1, 2, 3, 6)))]
        (chosen / ".gitignore").write_bytes("".join(f"{one}\n" for one in patterns).encode())


def _taken_by_git(tree: Path) -> set[str]:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    command = ["git", "-C", str(tree), "ls-files", "-z", "--others", "--exclude-standard"]
    subprocess.run(["git", "init", "-q", str(tree)], check=True, env=environment)
    listed = subprocess.run(command, check=True, env=environment, stdout=subprocess.PIPE).stdout
    return {path for path in os.fsdecode(listed).split("\0") if path.endswith(".cpp")}


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
@pytest.mark.few("0")
@pytest.mark.parametrize("seed", range(8), ids=str)
def test_the_files_that_git_takes_are_found(tmp_path: Path, seed: int) -> None:
    source = random.Random(seed)
    for number in range(60):
        _grow(tmp_path / f"case{number}", source, 30)
    expected = _taken_by_git(tmp_path)
    found = {os.path.relpath(path, tmp_path) for path in find_files([str(tmp_path)]).paths()}
    wrong = [
        (
            path,
            path in expected,
            [
                str(one.relative_to(tmp_path)) + ": " + repr(one.read_text())
                for one in sorted((tmp_path / path.split("/")[0]).rglob(".gitignore"))
            ],
        )
        for path in sorted(expected ^ found)
    ]
    assert wrong == []
