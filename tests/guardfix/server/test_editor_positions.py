"""Byte offsets and an editor's positions."""

from __future__ import annotations

import pytest

pytest.importorskip("lsprotocol")

from lsprotocol.types import Position

from guardfix.server.editor_positions import EditorLines

TEXT = "a\r\n\u00e9\u4e2d\U0001f600x\n\x0c\u2028y"
POSITIONS = [
    # (encoding, text before the offset, line, character)
    pytest.param("utf-8", "", 0, 0, id="the beginning"),
    pytest.param("utf-8", "a\r\n\u00e9", 1, 2, id="two bytes"),
    pytest.param("utf-8", "a\r\n\u00e9\u4e2d\U0001f600", 1, 9, id="four bytes"),
    pytest.param("utf-16", "a\r\n\u00e9\u4e2d", 1, 2, id="a unit each"),
    pytest.param("utf-16", "a\r\n\u00e9\u4e2d\U0001f600", 1, 4, id="a pair of surrogates"),
    pytest.param("utf-32", "a\r\n\u00e9\u4e2d\U0001f600", 1, 3, id="a character"),
    pytest.param("utf-16", TEXT, 2, 3, id="the end, behind signs that end no line"),
]


@pytest.mark.parametrize(("encoding", "before", "line", "character"), POSITIONS)
def test_there_and_back(encoding: str, before: str, line: int, character: int) -> None:
    lines = EditorLines(TEXT.encode(), encoding)
    assert lines.position(len(before.encode())) == Position(line, character)
    assert lines.offset(Position(line, character)) == len(before.encode())


BEYOND = [
    pytest.param(Position(0, 99), "a", id="behind the end of a line"),
    pytest.param(Position(99, 0), TEXT, id="behind the last line"),
    pytest.param(Position(1, 3), "a\r\n\u00e9\u4e2d", id="between two surrogates"),
]


@pytest.mark.parametrize(("position", "before"), BEYOND)
def test_positions_that_are_none(position: Position, before: str) -> None:
    assert EditorLines(TEXT.encode(), "utf-16").offset(position) == len(before.encode())


@pytest.mark.parametrize("text", ["", "a\n", "a\r", "a\r\n"])
def test_behind_the_last_end_of_line_there_is_a_line(text: str) -> None:
    lines = EditorLines(text.encode(), "utf-16")
    assert lines.position(len(text)) == Position(1 if text else 0, 0)
