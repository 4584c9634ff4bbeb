"""New text -> disk, whole or not at all."""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

from guardfix.codemods.apply import writing
from guardfix.codemods.apply.rewriting import Rewrite
from guardfix.codemods.apply.temporary_files import TemporaryFile, remove_abandoned
from guardfix.codemods.apply.writing import NotWritten, write
from guardfix.linter.files.workspace import DISK


@pytest.fixture
def changed(tmp_path: Path) -> Rewrite:
    path = tmp_path / "a.cpp"
    path.write_text("int a;\n")
    path.chmod(0o755)
    return Rewrite(DISK.read(str(path)), b"int b;\n")


def test_mode_stays_and_no_other_file_is_left(changed: Rewrite, tmp_path: Path) -> None:
    write(changed)
    path = tmp_path / "a.cpp"
    assert path.read_text() == "int b;\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o755
    assert os.listdir(tmp_path) == ["a.cpp"]


def test_a_file_that_changed_since_is_left(changed: Rewrite, tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text("int c;\n")
    with pytest.raises(NotWritten, match="changed since it was read"):
        write(changed)
    assert (tmp_path / "a.cpp").read_text() == "int c;\n"


def test_a_file_that_is_gone(changed: Rewrite, tmp_path: Path) -> None:
    (tmp_path / "a.cpp").unlink()
    with pytest.raises(NotWritten, match="cannot be read any more"):
        write(changed)


def test_a_file_that_may_not_be_written(changed: Rewrite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(NotWritten, match="not writable"):
        write(changed)


@pytest.mark.parametrize("step", ["fsync", "rename", "write", "fchown", "chmod"])
def test_a_failure_half_way_leaves_the_file_whole(
    step: str, changed: Rewrite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "geteuid", lambda: 123456)

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(NotWritten, match="No space left"):
        write(changed)
    assert (tmp_path / "a.cpp").read_text() == "int a;\n"
    assert os.listdir(tmp_path) == ["a.cpp"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.cpp").write_text("int a;\n")
    link = tmp_path / "link.cpp"
    link.symlink_to(tmp_path / "real.cpp")
    write(Rewrite(DISK.read(str(link)), b"int b;\n"))
    assert link.is_symlink()
    assert (tmp_path / "real.cpp").read_text() == "int b;\n"


OLD, NEW = b"int a;\n", b"int b;\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(b"\xef\xbb\xbfint a;\n", b"\xef\xbb\xbfint a;\n", id="a byte order mark that was added"),
        pytest.param(b"int a;\r\n", b"int a;\r\n", id="another line end"),
        pytest.param(b"", b"", id="emptied"),
        pytest.param(b"\0", b"\0", id="binary now"),
    ],
)
def test_any_other_byte_is_a_change(before: bytes, after: bytes, changed: Rewrite, tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_bytes(before)
    with pytest.raises(NotWritten, match="changed since it was read"):
        write(changed)
    assert (tmp_path / "a.cpp").read_bytes() == after


@pytest.fixture(params=["exchanged", "renamed"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "renamed":
        monkeypatch.setattr(writing, "exchange", lambda one, other: False)
    return str(request.param)


def test_both_ways_leave_one_file(way: str, changed: Rewrite, tmp_path: Path) -> None:
    write(changed)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a.cpp": NEW}


@pytest.mark.parametrize("by", ["a rename", "a write"])
def test_an_edit_in_the_last_moment_is_kept(
    by: str, way: str, changed: Rewrite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync = TemporaryFile.sync

    def edited(temporary: TemporaryFile) -> None:
        sync(temporary)
        if by == "a rename":
            (tmp_path / "other").write_bytes(b"mine")
            (tmp_path / "other").replace(tmp_path / "a.cpp")
        else:
            (tmp_path / "a.cpp").write_bytes(b"mine")

    monkeypatch.setattr(TemporaryFile, "sync", edited)
    with pytest.raises(NotWritten, match="changed"):
        write(changed)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a.cpp": b"mine"}


def test_an_edit_before_the_exchange_and_one_behind_it(
    changed: Rewrite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exchange = writing.exchange
    texts = [b"first", b"second"]

    def edited(one: str, other: str) -> bool:
        (tmp_path / "a.cpp").write_bytes(texts.pop(0))
        return exchange(one, other)

    monkeypatch.setattr(writing, "exchange", edited)
    if not exchange(*[str(tmp_path / "a.cpp")] * 2):
        pytest.skip("no such call here")
    with pytest.raises(NotWritten, match="one of its texts is in"):
        write(changed)
    assert sorted(path.read_bytes() for path in tmp_path.iterdir()) == [b"first", b"second"]


def test_set_id_bits_stay(changed: Rewrite, tmp_path: Path) -> None:
    path = tmp_path / "a.cpp"
    path.chmod(0o6751)
    write(changed)
    assert stat.S_IMODE(path.stat().st_mode) == 0o6751


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
def test_set_id_bits_and_owner_stay(changed: Rewrite, tmp_path: Path) -> None:
    path = tmp_path / "a.cpp"
    os.chown(path, 1234, 2345)
    path.chmod(0o4755)
    write(changed)
    found = path.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (1234, 2345, 0o4755)


def test_set_id_bits_that_cannot_be_kept(changed: Rewrite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    (tmp_path / "a.cpp").chmod(0o4755)
    monkeypatch.setattr(os, "geteuid", lambda: 123456)
    monkeypatch.setattr(os, "fchown", fail)
    with pytest.raises(NotWritten, match="set-user-ID"):
        write(changed)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a.cpp": OLD}


def test_extended_attributes_stay(changed: Rewrite, tmp_path: Path) -> None:
    path = tmp_path / "a.cpp"
    try:
        os.setxattr(path, "user.origin", b"here")
    except OSError:
        pytest.skip("no extended attributes here")
    write(changed)
    assert os.getxattr(path, "user.origin") == b"here"


def test_extended_attributes_that_cannot_be_kept(
    changed: Rewrite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "listxattr", lambda path: ["system.posix_acl_access"] if isinstance(path, str) else [])
    monkeypatch.setattr(os, "getxattr", lambda path, name: b"acl")
    monkeypatch.setattr(os, "setxattr", fail)
    with pytest.raises(NotWritten, match=r"extended attribute system\.posix_acl_access cannot be kept"):
        write(changed)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a.cpp": OLD}


def test_a_file_with_two_names_is_refused(changed: Rewrite, tmp_path: Path) -> None:
    os.link(tmp_path / "a.cpp", tmp_path / "b.cpp")
    with pytest.raises(NotWritten, match="2 names"):
        write(changed)
    assert (tmp_path / "b.cpp").read_bytes() == (tmp_path / "a.cpp").read_bytes() == OLD


def test_a_pipe_in_the_place_of_the_file(changed: Rewrite, tmp_path: Path) -> None:
    (tmp_path / "a.cpp").unlink()
    os.mkfifo(tmp_path / "a.cpp")
    with pytest.raises(NotWritten, match="not a regular file"):
        write(changed)


def test_a_long_name(tmp_path: Path) -> None:
    path = tmp_path / ("a" * 251 + ".cpp")
    path.write_bytes(OLD)
    write(Rewrite(DISK.read(str(path)), NEW))
    assert {found.name: found.read_bytes() for found in tmp_path.iterdir()} == {path.name: NEW}


# What a killed run leaves.


def left_behind(folder: Path, whole: bool) -> Path:
    temporary = TemporaryFile(str(folder / "a.cpp"), NEW, OLD)
    temporary.write()
    if whole:
        temporary.sync()
    os.close(temporary.handle)
    return Path(temporary.path)


@pytest.mark.parametrize("whole", [False, True])
def test_what_a_killed_run_left_is_removed(whole: bool, tmp_path: Path) -> None:
    left_behind(tmp_path, whole)
    remove_abandoned([str(tmp_path)])
    assert not list(tmp_path.iterdir())


def test_what_another_run_is_at_work_on_stays(tmp_path: Path) -> None:
    temporary = TemporaryFile(str(tmp_path / "a.cpp"), NEW, OLD)
    temporary.write()
    remove_abandoned([str(tmp_path)])
    assert os.path.exists(temporary.path)
    temporary.close()


def test_a_displaced_edit_stays(tmp_path: Path) -> None:
    """The run was killed between the exchange and the comparison."""
    left = left_behind(tmp_path, whole=True)
    left.write_bytes(b"mine")
    remove_abandoned([str(tmp_path)])
    assert left.read_bytes() == b"mine"
    left.write_bytes(OLD)
    remove_abandoned([str(tmp_path)])
    assert not left.exists()


@pytest.mark.parametrize(
    "name",
    ["notes.guardfix", ".guardfix", ".a.cpp.guardfix", ".a.cpp.0123.guardfix", ".a.cpp.0123456789abcdeX.guardfix"],
)
def test_files_of_others_stay(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("x")
    remove_abandoned([str(tmp_path), str(tmp_path / "nowhere")])
    assert (tmp_path / name).exists()


def test_links_and_folders_of_such_names_stay(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_bytes(OLD)
    (tmp_path / f".a.{'0' * 16}.guardfix").symlink_to(tmp_path / "a.cpp")
    (tmp_path / f".b.{'0' * 16}.guardfix").mkdir()
    remove_abandoned([str(tmp_path)])
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize("step", ["write", "sync"])
def test_an_interrupted_run_leaves_nothing(
    step: str, changed: Rewrite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(temporary: TemporaryFile) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(TemporaryFile, step, interrupt)
    with contextlib.suppress(KeyboardInterrupt):
        write(changed)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a.cpp": OLD}


def test_an_interrupt_at_any_moment_leaves_one_file(way: str, tmp_path: Path) -> None:
    """At each call of each function in turn, until there are no more of them."""
    path = tmp_path / "a.cpp"
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    done = set()
    try:
        for moment in range(1, 1000):
            path.write_bytes(OLD)
            changed = Rewrite(DISK.read(str(path)), NEW)
            interrupted = _interrupted(lambda: write(changed), moment)  # noqa: B023
            assert {found.name for found in tmp_path.iterdir()} == {"a.cpp"}
            done.add(path.read_bytes())
            if not interrupted:
                break
    finally:
        signal.signal(signal.SIGINT, before)
    assert (not interrupted, done) == (True, {OLD, NEW})


def _interrupted(work: Callable[[], None], moment: int) -> bool:
    """Whether the work makes that many calls; if it does, the last of them gets a Ctrl-C."""
    left = moment

    def called(frame: FrameType, event: str, value: object) -> None:
        nonlocal left
        if event in ("call", "c_call"):
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGINT)

    tracer = sys.getprofile()
    sys.setprofile(called)
    try:
        work()
        finished = left > 0
        left = 0  # what follows is not a call of the work
    except KeyboardInterrupt:
        finished = False
    finally:
        sys.setprofile(tracer)
    return not finished
