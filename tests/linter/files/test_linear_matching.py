"""Patterns are matched as pathspec does it, however many stars they have, and in linear time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from guardfix.linter.engine import Options, check
from guardfix.linter.files import linear_matching
from guardfix.linter.files.discovery import find_files, path_matcher
from guardfix.linter.files.linear_matching import linear

PATTERNS = st.lists(
    st.sampled_from(["a", "b", "/", "*", "**", "?", "[ab]", "[!a]", "!", ".", "\\\\*", "**/", "/**"]), min_size=1, max_size=8
).map("".join)  # fmt: skip
NAMES = st.text(alphabet="ab.*", min_size=1, max_size=3)
PATHS = st.tuples(st.lists(NAMES, min_size=1, max_size=4).map("/".join), st.sampled_from(["", "/"])).map("".join)


@pytest.fixture(scope="module")
def every_pattern() -> Iterator[None]:
    """Patterns with few stars are matched here too."""
    patch = pytest.MonkeyPatch()
    patch.setattr(linear_matching, "_FEW_STARS", -1)
    linear.cache_clear()
    yield
    patch.undo()
    linear.cache_clear()


@pytest.mark.usefixtures("every_pattern")
@settings(deadline=None, max_examples=400)
@given(PATTERNS, PATHS)
def test_as_pathspec_has_it(pattern: str, path: str) -> None:
    try:
        (made,) = GitIgnoreSpec.from_lines([pattern]).patterns
    except ValueError:
        return
    match = linear(made.regex.pattern) if made.regex is not None else None
    if match is not None and made.regex is not None:
        found = made.regex.search(path)
        assert match(path) == (None if found is None else bool(found.groupdict().get("ps_d")))


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        pytest.param("*a" * 40 + "b", "a" * 250, False, id="stars in a name"),
        pytest.param("*a" * 40 + "b", "a" * 250 + "b", True, id="stars in a name that fits"),
        pytest.param("?*" * 100 + "b", "a" * 250, False, id="stars and question marks"),
        pytest.param("**/a/" * 60 + "b", "a/" * 400 + "c", False, id="folders"),
        pytest.param("**/a/" * 60 + "b", "a/" * 400 + "b", True, id="folders that fit"),
        pytest.param("[ab]*" * 60 + "c", "ab" * 120, False, id="sets"),
        pytest.param("/x/" + "*/" * 60 + "*a*a*a*a*b", "x/" + "aaaa/" * 61, False, id="a long path"),
    ],
)
def test_many_stars(pattern: str, path: str, matches: bool) -> None:
    start = time.process_time()
    assert path_matcher("/top", [pattern])(f"/top/{path}", False) is matches
    assert path_matcher("/other", [pattern])(f"/top/{path}", False) in (True, False)
    assert time.process_time() - start < 2


def test_an_ignore_file_of_a_repository(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*a" * 40 + "b\n!" + "a*" * 30 + "c.cpp\n*.cpp\n" + "!keep*.cpp\n")
    for name in ("a" * 200 + ".cpp", "keep.cpp", "aaac.cpp"):
        (tmp_path / name).write_text("")
    start = time.process_time()
    assert find_files([str(tmp_path)]).paths() == [str(tmp_path / "keep.cpp")]
    assert time.process_time() - start < 2


def test_ignores_for_single_files(tmp_path: Path) -> None:
    (tmp_path / ("a" * 200 + ".cpp")).write_text("at::AutoNonVariableTypeMode guard;\n")
    options = Options(per_file_ignores=(("*a" * 40 + "b", ("GF101",)),), root=str(tmp_path), workers=1)
    start = time.process_time()
    assert [finding.code for finding in check([str(tmp_path)], options).findings] == ["GF101", "GF204"]
    assert time.process_time() - start < 3
