"""A cache that others can write to isn't ours."""

from __future__ import annotations

import grp
import os
import stat
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from guardfix.linter.decision.observed_runs import ObservedRun, _own_folder, all_kept_runs, keep_runs, kept_runs
from guardfix.linter.files.entry_store import Entry, EntryStore, FileStamp
from guardfix.linter.files.user_cache import writable_by_others
from guardfix.linter.findings import Context

pytestmark = pytest.mark.skipif(os.name == "nt", reason="no modes there")
OTHER = 4711


@pytest.mark.parametrize(
    ("modes", "owner", "group", "shared"),
    [
        pytest.param((0o755, 0o700), None, None, False, id="for us alone"),
        pytest.param((0o755, 0o755), None, None, False, id="others can read"),
        pytest.param((0o755, 0o777), None, None, True, id="anybody can write"),
        pytest.param((0o755, 0o1777), None, None, True, id="anybody can add to it"),
        pytest.param((0o777, 0o700), None, None, True, id="anybody can replace it"),
        pytest.param((0o1777, 0o700), None, None, False, id="in a folder like /tmp"),
        pytest.param((0o1777, None), None, None, False, id="not there yet, in a folder like /tmp"),
        pytest.param((0o755, None), None, None, False, id="not there yet"),
        pytest.param((0o755, 0o775), None, OTHER, True, id="a group of others can write"),
        pytest.param((0o755, 0o775), None, grp.getgrnam("users").gr_gid, True, id="a group that is many users' own"),
        pytest.param((0o755, 0o700), OTHER, None, True, id="another's"),
    ],
)  # fmt: skip
def test_who_can_write(
    modes: tuple[int, int | None], owner: int | None, group: int | None, shared: bool, tmp_path: Path
) -> None:
    if (owner or group) and os.geteuid() != 0:
        pytest.skip("only root can give files away")
    outer, inner = tmp_path / "outer", tmp_path / "outer" / "inner"
    outer.mkdir()
    if modes[1] is not None:
        inner.mkdir()
        inner.chmod(modes[1])
        if owner or group:
            os.chown(inner, owner or -1, group or -1)
            inner.chmod(modes[1])
    outer.chmod(modes[0])
    assert writable_by_others(str(inner)) is shared


def test_what_another_has_put_there_is_not_ours(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    (tmp_path / "entries-1.sqlite").touch()
    assert not writable_by_others(str(tmp_path))
    os.chown(tmp_path / "entries-1.sqlite", OTHER, -1)
    assert writable_by_others(str(tmp_path))


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="no access lists")
@pytest.mark.parametrize(("rights", "shared"), [(7, True), (5, False)])
def test_an_access_list_gives_others_rights(rights: int, shared: bool, tmp_path: Path) -> None:
    # Owner, a user named by number, group, the most for those two, others.
    entries = [(0x01, 7, -1), (0x02, rights, OTHER), (0x04, 5, -1), (0x10, rights, -1), (0x20, 5, -1)]
    packed = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)
    try:
        os.setxattr(tmp_path, "system.posix_acl_access", packed)
    except OSError:
        pytest.skip("the file system has no access lists")
    assert writable_by_others(str(tmp_path)) is shared


def test_its_file_is_for_us_alone(tmp_path: Path) -> None:
    store = EntryStore(str(tmp_path / "store"))
    store.put({b"a": Entry(FileStamp(), b"b", b"c")})
    assert stat.S_IMODE(os.stat(store.path).st_mode) == 0o600


PROGRAM = "void f(at::Tensor x) {\n  at::AutoNonVariableTypeMode guard;\n  x.add_(1);\n}\n"
COMMANDS = [
    # (arguments, what is said, whether the command goes on without the cache)
    pytest.param(["check", "--isolated", "."], "it isn't used", True, id="check"),
    pytest.param(["migrate", "--isolated", "."], "it isn't used", True, id="migrate"),
    pytest.param(["campaign", "history", "."], "it isn't used", True, id="campaign history"),
    pytest.param(["campaign", "run", "list.txt", "-o", "out"], "set GUARDFIX_CACHE_DIR", False, id="campaign run"),
    pytest.param(["verify", "--yes", "--isolated", "a.cpp"], "set GUARDFIX_CACHE_DIR", False, id="verify"),
    pytest.param(["run", "a.cpp"], "set GUARDFIX_CACHE_DIR", False, id="run"),
]


@pytest.mark.parametrize(("arguments", "told", "goes_on"), COMMANDS)
def test_what_is_done_with_a_cache_of_others(arguments: list[str], told: str, goes_on: bool, tmp_path: Path) -> None:
    """Nothing is read from it, and nothing is written there."""
    cache, folder = tmp_path / "cache", tmp_path / "folder"
    folder.mkdir()
    (folder / "a.cpp").write_text(PROGRAM)
    (folder / "list.txt").write_text(".\n")
    for command in (
        ["init", "-q"],
        ["add", "a.cpp"],
        ["-c", "user.name=a", "-c", "user.email=a", "commit", "-qm", "a"],
    ):
        subprocess.run(["git", *command], cwd=folder, check=True)
    cache.mkdir()
    cache.chmod(0o777)
    before = sorted(cache.rglob("*"))
    environment = {**os.environ, "GUARDFIX_CACHE_DIR": str(cache), "GUARDFIX_NO_CACHE": ""}
    command = [sys.executable, "-m", "guardfix", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.stderr.count("others can write to this cache") == 1
    assert told in done.stderr
    assert (done.returncode != 2) is goes_on
    assert sorted(cache.rglob("*")) == before


def test_what_a_run_decided_is_not_taken_from_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GUARDFIX_CACHE_DIR", str(tmp_path / "cache"))
    run = ObservedRun(0, Context.INFERENCE, "a run", "x")
    keep_runs(b"digest", [run], [])
    assert kept_runs(b"digest") == (run,)
    (kept,) = (tmp_path / "cache" / "decided").iterdir()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    (tmp_path / "cache").chmod(0o777)
    _own_folder.cache_clear()
    assert kept_runs(b"digest") == ()
    assert list(all_kept_runs()) == []
