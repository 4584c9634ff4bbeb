"""`check --since` in every kind of clone: git's configuration isn't asked, and what it would have meant still counts."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from campaign_repositories import OLD, MakeRepository, git
from guardfix.cli.main import cli

NEW = OLD.replace("f()", "g()")
CHANGED = ["a.cpp:7:3:", "b.cpp:3:3:", "untracked.cpp:3:3:"]


def since(folder: Path, revision: str, monkeypatch: pytest.MonkeyPatch) -> Result:
    monkeypatch.chdir(folder)
    command = ["check", "--output-format", "concise", "--isolated", "--since", revision, "."]
    return CliRunner().invoke(cli, command, catch_exceptions=False)


def places(done: Result) -> list[str]:
    return sorted(line.split(" ")[0] for line in done.stdout.splitlines() if " GF" in line)


def change(folder: Path) -> Path:
    """A function more in a file, a file that the branch adds, and one that git doesn't know yet."""
    git(folder, "switch", "--quiet", "--create", "work")
    (folder / "b.cpp").write_text(OLD)
    git(folder, "add", "b.cpp")
    git(folder, "commit", "--quiet", "--message=b")
    (folder / "a.cpp").write_text(OLD + NEW)
    (folder / "untracked.cpp").write_text(OLD)
    return folder


@pytest.fixture
def origin(tmp_path: Path, repository: MakeRepository, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    (tmp_path / ".gitconfig").write_text('[protocol "file"]\n\tallow = always\n')
    repository("origin", {"old.cpp": OLD.replace("f()", "old()")})
    folder = repository("origin", {"a.cpp": OLD, "unchanged.cpp": OLD.replace("f()", "unchanged()")})
    git(folder, "config", "uploadpack.allowFilter", "true")
    return folder


def clone(origin: Path, *options: str) -> Path:
    target = origin.with_name("clone")
    git(origin.parent, "clone", "--quiet", *options, f"file://{origin}", str(target))
    return target


def linked(origin: Path) -> Path:
    folder = origin.with_name("linked")
    git(clone(origin), "worktree", "add", "--quiet", "--detach", str(folder))
    return change(folder)


def submodule(origin: Path) -> Path:
    above = origin.with_name("above")
    above.mkdir()
    git(above, "init", "--quiet")
    git(above, "submodule", "--quiet", "add", f"file://{origin}", "sub")
    return change(above / "sub")


def of_256_bits(origin: Path) -> Path:
    folder = origin.with_name("sha256")
    folder.mkdir()
    git(folder, "init", "--quiet", "--object-format=sha256", "--initial-branch=main")
    (folder / "a.cpp").write_text(OLD)
    git(folder, "add", "a.cpp")
    git(folder, "commit", "--quiet", "--message=a")
    git(folder, "update-ref", "refs/remotes/origin/main", "HEAD")
    return change(folder)


def with_reftable(origin: Path) -> Path:
    if "ref-format" not in subprocess.run(["git", "clone", "-h"], capture_output=True, text=True, check=False).stdout:
        pytest.skip("this git knows no reftable")
    return change(clone(origin, "--ref-format=reftable"))


def linked_with_reftable(origin: Path) -> Path:
    git(with_reftable(origin), "branch", "--quiet", "--move", "other")
    git(origin.with_name("clone"), "stash", "--quiet", "--include-untracked")
    git(origin.with_name("clone"), "worktree", "add", "--quiet", "--detach", str(origin.with_name("linked")), "main")
    return change(origin.with_name("linked"))


def separate(origin: Path) -> Path:
    return change(clone(origin, f"--separate-git-dir={origin.with_name('elsewhere')}"))


def odd_name(origin: Path) -> Path:
    folder = origin.with_name('a "quoted"\\ name\nof ü lines')
    clone(origin).rename(folder)
    return change(folder)


def borrowing(origin: Path) -> Path:
    git(origin.parent, "clone", "--quiet", "--shared", str(origin), "shared")
    git(origin.parent, "clone", "--quiet", "--shared", "shared", "clone")
    return change(origin.with_name("clone"))


def configured(*settings: str) -> Callable[[Path], Path]:
    def make(origin: Path) -> Path:
        folder = clone(origin)
        for setting in settings:
            git(folder, "config", *setting.split("="))
        git(folder, "rm", "-q", "--cached", "-r", ".")
        git(folder, "reset", "--quiet", "--hard")
        return change(folder)

    return make


def split_index(origin: Path) -> Path:
    folder = change(clone(origin))
    git(folder, "update-index", "--split-index")
    return folder


def sparse(origin: Path) -> Path:
    folder = change(clone(origin))
    git(folder, "sparse-checkout", "set", "--cone", "--sparse-index", "nothing")
    (folder / "untracked.cpp").write_text(OLD)
    return folder


def packed(origin: Path) -> Path:
    folder = change(clone(origin))
    main = git(folder, "rev-parse", "origin/main")
    git(folder, "update-ref", "refs/remotes/origin/main", "HEAD")
    git(folder, "pack-refs", "--all")
    git(folder, "update-ref", "refs/remotes/origin/main", main)  # in a file, which counts more
    git(folder, "repack", "-q", "-a", "-d")
    return folder


def staged(origin: Path) -> Path:
    folder = change(clone(origin))
    git(folder, "add", "--all")
    return folder


def noted(origin: Path) -> Path:
    folder = change(clone(origin))
    git(folder, "add", "--intent-to-add", "untracked.cpp")
    return folder


def renamed(origin: Path) -> Path:
    folder = change(clone(origin))
    (folder / "moved").mkdir()
    git(folder, "mv", "old.cpp", "moved/new.cpp")
    return folder


def touched(origin: Path) -> Path:
    folder = change(clone(origin))
    for path in folder.glob("*.cpp"):
        os.utime(path, (1, 1))
    return folder


def ignored(origin: Path) -> Path:
    folder = change(clone(origin))
    (origin.with_name("patterns")).write_text("mine.cpp\n")
    with open(origin.with_name(".gitconfig"), "a") as file:
        file.write(f"[core]\n\texcludesFile = {origin.with_name('patterns')}\n")
    (folder / ".git/info/exclude").write_text("private.cpp\n")
    for name in ("mine.cpp", "private.cpp"):
        (folder / name).write_text(OLD)
    return folder


def removed(origin: Path) -> Path:
    folder = change(clone(origin))
    (folder / "unchanged.cpp").unlink()
    git(folder, "rm", "-q", "old.cpp")
    return folder


KINDS = [
    pytest.param(lambda origin: change(clone(origin)), "origin/main", CHANGED, id="ordinary"),
    pytest.param(lambda origin: change(clone(origin)), "origin", CHANGED, id="the remote's HEAD"),
    pytest.param(lambda origin: change(clone(origin)), "@{-1}", CHANGED, id="the branch before"),
    pytest.param(lambda origin: change(clone(origin)), "main@{upstream}", CHANGED, id="an upstream"),
    pytest.param(lambda origin: change(clone(origin)), "HEAD", ["a.cpp:7:3:", "untracked.cpp:3:3:"], id="HEAD"),
    pytest.param(lambda origin: change(clone(origin)), ":/files", CHANGED, id="by its message"),
    pytest.param(lambda origin: change(clone(origin, "--depth=1")), "origin/main", CHANGED, id="shallow"),
    pytest.param(lambda origin: change(clone(origin, "--filter=blob:none")), "origin/main", CHANGED, id="partial, nothing missing"),
    pytest.param(linked, "origin/main", CHANGED, id="linked worktree"),
    pytest.param(submodule, "origin/main", CHANGED, id="submodule"),
    pytest.param(of_256_bits, "origin/main", CHANGED, id="SHA-256"),
    pytest.param(with_reftable, "origin/main", CHANGED, id="reftable"),
    pytest.param(linked_with_reftable, "origin/main", CHANGED, id="linked worktree with reftable"),
    pytest.param(separate, "origin/main", CHANGED, id="separate git directory"),
    pytest.param(odd_name, "origin/main", CHANGED, id="odd name"),
    pytest.param(borrowing, "origin/main", CHANGED, id="alternates of alternates"),
    pytest.param(split_index, "origin/main", CHANGED, id="split index"),
    pytest.param(sparse, "origin/main", CHANGED, id="sparse index"),
    pytest.param(packed, "origin/main", CHANGED, id="packed"),
    pytest.param(staged, "origin/main", CHANGED, id="staged"),
    pytest.param(noted, "origin/main", CHANGED, id="intent to add"),
    pytest.param(renamed, "origin/main", CHANGED, id="renamed"),
    pytest.param(touched, "origin/main", CHANGED, id="touched"),
    pytest.param(ignored, "origin/main", CHANGED, id="ignored by the user and the clone"),
    pytest.param(removed, "origin/main", ["a.cpp:7:3:", "untracked.cpp:3:3:"], id="removed, its text in another file"),
    pytest.param(configured("core.autocrlf=true"), "origin/main", CHANGED, id="core.autocrlf"),
    pytest.param(configured("core.eol=crlf", "core.untrackedCache=true"), "origin/main", CHANGED, id="untracked cache"),
]  # fmt: skip


def times(folder: Path) -> list[tuple[Path, int]]:
    """Those of all files but objects, which git touches when it would write them again, as a sparse index makes it."""
    return sorted((path, path.stat().st_mtime_ns) for path in folder.rglob("*") if "objects" not in path.parts)


@pytest.mark.parametrize(("make", "revision", "expected"), KINDS)
@pytest.mark.some(2)
def test_what_changed(
    make: Callable[[Path], Path], revision: str, expected: list[str], origin: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make(origin)
    before = times(folder)
    done = since(folder, revision, monkeypatch)
    assert (places(done), done.exit_code, done.stderr) == (expected, 1, ""), done.output
    assert times(folder) == before


def test_line_ends_alone_are_no_change(origin: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What core.autocrlf makes of every file looks like this to a git that has no configuration."""
    folder = change(clone(origin))
    for name in ("unchanged.cpp", "a.cpp"):
        text = (folder / name).read_text()
        (folder / name).write_bytes(text.replace("\n", "\r\n").encode())
    assert places(since(folder, "origin/main", monkeypatch)) == CHANGED


def test_attributes_count_for_nothing(origin: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = change(clone(origin))
    (folder / ".gitattributes").write_text("*.cpp -diff working-tree-encoding=UTF-16 ident eol=crlf filter=none\n")
    assert places(since(folder, "origin/main", monkeypatch)) == CHANGED


def missing_blob(origin: Path) -> Path:
    """A partial clone whose branch changed a file: what it was isn't here."""
    git(origin, "switch", "--quiet", "--create", "topic")
    (origin / "a.cpp").write_text(OLD + NEW)
    git(origin, "commit", "--quiet", "--all", "--message=topic")
    return clone(origin, "--filter=blob:none", "--branch=topic")


def missing_tree(origin: Path) -> Path:
    missing_blob(origin).rename(origin.with_name("with-trees"))
    return clone(origin, "--filter=tree:0", "--branch=topic")


@pytest.mark.parametrize(("make", "said"), [(missing_blob, "unable to read "), (missing_tree, "bad tree object ")])
def test_what_is_missing_is_told_and_can_be_had(
    make: Callable[[Path], Path], said: str, origin: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make(origin)
    done = since(folder, "origin/main", monkeypatch)
    assert (done.exit_code, places(done)) == (2, [])
    advice = "git diff --merge-base origin/main"
    assert said in done.stderr
    assert f"this is a partial clone, and guardfix fetches nothing: `{advice}` " in done.stderr
    git(folder, *advice.split()[1:])
    assert places(since(folder, "origin/main", monkeypatch)) == ["a.cpp:7:3:"]


def no_tree(origin: Path) -> Path:
    return clone(origin, "--bare")


def lost(origin: Path) -> Path:
    folder = origin.with_name("lost")
    folder.mkdir()
    (folder / ".git").write_text("gitdir: ../nowhere\n")
    return folder


REFUSED = [
    pytest.param(no_tree, "main", "has no working tree", id="bare"),
    pytest.param(lost, "main", "/lost/.git doesn't lead to a git repository", id="a .git that leads nowhere"),
    pytest.param(clone, "main^{tree}", "which is no commit", id="a tree"),
    pytest.param(clone, "nowhere", "git knows no commit `nowhere`", id="no such name"),
    pytest.param(lambda origin: clone(origin, "--depth=1"), "HEAD^", "this clone is shallow", id="shallow"),
]


@pytest.mark.parametrize(("make", "revision", "said"), REFUSED)
def test_what_is_refused(
    make: Callable[[Path], Path], revision: str, said: str, origin: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = since(make(origin), revision, monkeypatch)
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr


def test_pipes_are_not_read(origin: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = change(clone(origin))
    for name in ("MERGE_HEAD", "shallow", "refs/heads/pipe"):
        os.mkfifo(folder / ".git" / name)
    assert places(since(folder, "origin/main", monkeypatch)) == CHANGED
