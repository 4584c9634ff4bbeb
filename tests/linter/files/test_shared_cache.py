"""A cache that others can write to isn't ours."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from guardfix.linter.files.entry_store import Entry, EntryStore, FileStamp
from guardfix.linter.files.user_cache import writable_by_others

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


def test_its_file_is_for_us_alone(tmp_path: Path) -> None:
    store = EntryStore(str(tmp_path / "store"))
    store.put({b"a": Entry(FileStamp(), b"b", b"c")})
    assert stat.S_IMODE(os.stat(store.path).st_mode) == 0o600
