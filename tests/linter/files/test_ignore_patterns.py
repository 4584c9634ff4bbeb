"""Patterns of .gitignore: each kind by itself, and linear time however many stars they have."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from guardfix.linter.engine import Options, check
from guardfix.linter.files.discovery import find_files, path_matcher
from guardfix.linter.files.ignore_patterns import IgnorePatterns, is_pattern, pattern_lines


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        ("a", ["a", "b/a"], ["ab", "a/b", "A"]),
        ("/a", ["a"], ["b/a"]),
        ("a/b", ["a/b"], ["c/a/b", "a/b/c"]),
        ("*.o", [".o", "a.o", "b/a.o"], ["a.oo", "o"]),
        ("a*b", ["ab", "axb", "c/axxb"], ["a/b", "axbc"]),
        ("/a*/b", ["a/b", "ax/b"], ["a/x/b", "c/a/b"]),
        ("**/a", ["a", "b/a", "b/c/a"], ["ab", "b/ab"]),
        ("a/**", ["a/b", "a/b/c"], ["a", "b/a/c"]),
        ("a/**/b", ["a/b", "a/x/b", "a/x/y/b"], ["a/xb", "ab"]),
        ("a**/b", ["ab", "ax/b", "a/b"], ["b"]),  # git asks what comes behind the plain beginning by itself
        ("x/a**b", ["x/ab", "x/acb"], ["x/a/b"]),
        ("a?b", ["axb"], ["ab", "a/b"]),
        ("[ab]c", ["ac", "bc"], ["cc", "abc"]),
        ("[!ab]c", ["cc", "^c"], ["ac", "c"]),
        ("[^ab]c", ["cc"], ["ac"]),
        ("[]a]", ["]", "a"], ["b"]),
        ("[a-c]", ["b"], ["d", "-"]),
        ("[a-]", ["a", "-"], ["b"]),
        ("[[:digit:]x]", ["1", "x"], ["a", ":"]),
        ("[[:x]", ["[", ":", "x"], ["a"]),
        ("[\\]]", ["]"], ["\\"]),
        ("x[!a]y", ["xby"], ["x/y"]),
        ("\\*", ["*"], ["a"]),
        ("\\!a", ["!a"], ["a"]),
        ("\\#a", ["#a"], ["a"]),
        ("a  ", ["a"], ["a  "]),
        ("a\\ ", ["a "], ["a"]),
        ("a\t", ["a\t"], ["a"]),
        ("größe?", ["größen"], ["grösse"]),
    ],
)
def test_kinds(pattern: str, matching: list[str], others: list[str]) -> None:
    ignored = IgnorePatterns([pattern]).verdict
    assert [path for path in (*matching, *others) if ignored(path, False)] == matching
    assert [path for path in (*matching, *others) if ignored(path, True)] == matching
    taken_back = IgnorePatterns(["*", f"!{pattern}"]).verdict
    assert [path for path in (*matching, *others) if not taken_back(path, False)] == matching


def test_patterns_for_folders_alone() -> None:
    ignored = IgnorePatterns(["a/", "b*/"]).verdict
    assert [ignored(path, True) for path in ("a", "x/a", "bx", "c")] == [True, True, True, None]
    assert [ignored(path, False) for path in ("a", "x/a", "bx", "c")] == [None] * 4


@pytest.mark.parametrize(
    ("lines", "verdict"),
    [
        (["*.h", "!a.h"], False),
        (["!a.h", "*.h"], True),
        (["a.h", "!*.h", "/a.h"], True),
        (["/a.h", "a.*", "!a.h"], False),
        (["a.*", "!.h", "!*.hh"], True),
        (["# a.h", "", "   "], None),
        (["a.h", "![", "!a.h\\"], True),
    ],
)
def test_the_last_pattern_that_matches_counts(lines: list[str], verdict: bool | None) -> None:
    assert IgnorePatterns(lines).verdict("a.h", False) is verdict


@pytest.mark.parametrize("line", ["!", "/", "!/", "\\", "a\\", "[", "[a", "[]", "[z-a]", "[[:nothing:]]", "a" * 5000])
def test_lines_that_are_no_patterns(line: str) -> None:
    assert not is_pattern(line)
    assert is_pattern(f"# {line}")


def test_lines_end_as_git_has_it() -> None:
    assert pattern_lines(b"\xef\xbb\xbfa\r\nb\x0cc\n\r\n d") == ["a", "b\x0cc", "", " d"]


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
