"""Folders to work in, which several processes make and remove below the same parent."""

from __future__ import annotations

from pathlib import Path

import pytest

from guardfix.verify.runs.scratch import scratch_folder


def test_a_purpose_has_its_name_and_nothing_is_left(tmp_path: Path) -> None:
    parent = tmp_path / "not" / "yet"
    with scratch_folder(parent, "one") as first:
        (first / "deep").mkdir()
        (first / "deep" / "file").write_text("x")
        with scratch_folder(parent, "one") as second, scratch_folder(parent, "other") as other:
            assert len({first, second, other}) == 3
    with scratch_folder(parent, "one") as again:
        assert (again, list(again.iterdir())) == (first, [])
    assert not parent.exists()


def test_what_a_killed_process_left_is_taken_over(tmp_path: Path) -> None:
    with scratch_folder(tmp_path / "work", "one") as folder:
        pass
    folder.mkdir(parents=True)
    (folder / "left").write_text("x")
    with scratch_folder(tmp_path / "work", "one") as again:
        assert (again, list(again.iterdir())) == (folder, [])


def test_the_parent_may_go_before_the_folder_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parent, make = tmp_path / "work", Path.mkdir
    removals = iter([True, True])

    def mkdir(self: Path, mode: int = 0o777, parents: bool = False, exist_ok: bool = False) -> None:
        if self.parent == parent and next(removals, False):
            parent.rmdir()  # as another process does that is the last one out
        make(self, mode, parents, exist_ok)

    with scratch_folder(parent, "one") as expected:
        pass
    monkeypatch.setattr(Path, "mkdir", mkdir)
    with scratch_folder(parent, "one") as folder:
        assert folder == expected
        assert folder.is_dir()
    assert next(removals, "none") == "none"


def test_a_file_in_place_of_the_folder_is_let_be(tmp_path: Path) -> None:
    with scratch_folder(tmp_path / "work", "one") as expected:
        pass
    expected.parent.mkdir()
    expected.write_text("not ours")
    with scratch_folder(tmp_path / "work", "one") as folder:
        assert folder != expected
    assert expected.read_text() == "not ours"
