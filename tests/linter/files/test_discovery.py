"""Which files are looked at."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from guardfix.linter.files.discovery import BadPattern, NoSuchPath, find_files, language_of


def make(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")


def found(folder: Path, *paths: str, **options: object) -> set[str]:
    before = os.getcwd()
    os.chdir(folder)
    try:
        walk = find_files(paths or (".",), **options)  # type: ignore[arg-type]
    finally:
        os.chdir(before)
    return {*walk.paths()}


@pytest.mark.parametrize(
    ("name", "language"),
    [
        *(
            (f"a{s}", "cpp")
            for s in ".c .cc .cpp .cxx .c++ .h .hh .hpp .hxx .inl .ipp .tpp .cu .cuh .hip .mm .m".split()
        ),
        ("a.C", "cpp"),
        ("a.py", "python"),
        ("a.pyi", "python"),
        ("a.txt", None),
        ("cpp", None),
        ("a.cpp.bak", None),
        ("a.ipynb", None),
    ],
)
def test_language_by_suffix(name: str, language: str | None) -> None:
    assert language_of(name) == language


@pytest.mark.parametrize(
    ("ignore", "left"),
    [
        pytest.param({}, {"a.cpp", "build/b.cpp", "src/c.cpp", "src/gen/d.cpp"}, id="no .gitignore"),
        pytest.param({".gitignore": "build/"}, {"a.cpp", "src/c.cpp", "src/gen/d.cpp"}, id="a folder"),
        pytest.param({".gitignore": "/a.cpp\n*d.cpp"}, {"build/b.cpp", "src/c.cpp"}, id="anchored, and by pattern"),
        pytest.param({".gitignore": "*.cpp\n!c.cpp"}, {"src/c.cpp"}, id="taken back"),
        pytest.param({"src/.gitignore": "gen"}, {"a.cpp", "build/b.cpp", "src/c.cpp"}, id="nested"),
        pytest.param({".gitignore": "c.cpp", "src/.gitignore": "!c.cpp\ngen/"}, {"a.cpp", "build/b.cpp", "src/c.cpp"},
                     id="a nested one takes back"),
        pytest.param({".gitignore": "!\n\\\n[z-a]\nbuild/"}, {"a.cpp", "src/c.cpp", "src/gen/d.cpp"},
                     id="lines that aren't patterns are passed over"),
        pytest.param({".gitignore": "# build/\n\nsrc/**/d.cpp"}, {"a.cpp", "build/b.cpp", "src/c.cpp"}, id="comments"),
    ],
)  # fmt: skip
def test_gitignore(ignore: dict[str, str], left: set[str], tmp_path: Path) -> None:
    make(tmp_path, "a.cpp", "build/b.cpp", "src/c.cpp", "src/gen/d.cpp")
    make(tmp_path, ".git/x.cpp", "node_modules/y.cpp", "build/CMakeFiles/3.25/CompilerIdCXX/z.cpp")  # never looked at
    for name, text in ignore.items():
        (tmp_path / name).write_text(text)
    assert found(tmp_path) == left
    assert found(tmp_path, respect_gitignore=False) == {"a.cpp", "build/b.cpp", "src/c.cpp", "src/gen/d.cpp"}


def test_gitignore_above_the_root_counts_inside_a_repository(tmp_path: Path) -> None:
    make(tmp_path, ".git/HEAD", "src/a.cpp", "src/gen/b.cpp")
    (tmp_path / ".gitignore").write_text("src/gen/\n")
    assert found(tmp_path / "src") == {"a.cpp"}


@pytest.mark.parametrize(
    ("patterns", "left"),
    [
        (["third_party/"], {"a.cpp", "src/b.cpp"}),
        (["*.cpp"], set()),
        (["src/b.cpp", "third_party"], {"a.cpp"}),
    ],
)
def test_exclude(patterns: list[str], left: set[str], tmp_path: Path) -> None:
    make(tmp_path, "a.cpp", "src/b.cpp", "third_party/c.cpp")
    assert found(tmp_path, exclude=patterns) == left


def test_exclude_from_another_folder(tmp_path: Path) -> None:
    make(tmp_path, "a.cpp", "src/a.cpp", "src/b.cpp")
    options = {"root": str(tmp_path), "root_exclude": ["/src/a.cpp"]}
    assert found(tmp_path / "src", "..", **options) == {"../a.cpp", "../src/b.cpp"}
    assert found(tmp_path / "src", "..", exclude=["/a.cpp"]) == {"../a.cpp", "../src/b.cpp"}


@pytest.mark.parametrize("pattern", ["!", "\\", "a\\", "[z-a]"])
def test_a_pattern_that_is_none(pattern: str, tmp_path: Path) -> None:
    with pytest.raises(BadPattern):
        found(tmp_path, exclude=["b", pattern])


def test_a_named_file_is_taken_whatever_is_excluded_unless_forced(tmp_path: Path) -> None:
    make(tmp_path, "gen/a.cpp")
    (tmp_path / ".gitignore").write_text("gen/\n")
    assert found(tmp_path, "gen/a.cpp", exclude=["a.cpp"]) == {"gen/a.cpp"}
    assert found(tmp_path, "gen/a.cpp", exclude=["a.cpp"], force_exclude=True) == set()


def test_a_named_file_is_ignored_with_its_folder(tmp_path: Path) -> None:
    make(tmp_path, ".git/x", "gen/deep/a.cpp", "gen/b.cpp", "src/gen/a.cpp", "src/b.cpp")
    (tmp_path / ".gitignore").write_text("/gen/deep\n!b.cpp\n")
    (tmp_path / "src" / ".gitignore").write_text("*\n!b.cpp\n")
    named = ["gen/deep/a.cpp", "gen/b.cpp", "src/gen/a.cpp", "src/b.cpp"]
    taken = [path for path in named if found(tmp_path, path, force_exclude=True)]
    assert taken == ["gen/b.cpp", "src/b.cpp"]


def test_no_file_is_read_twice(tmp_path: Path) -> None:
    make(tmp_path, "src/a.cpp")
    walk = find_files([str(tmp_path), str(tmp_path / "src"), str(tmp_path / "src" / "a.cpp"), f"{tmp_path}/src/../src"])
    assert len(walk.files["cpp"]) == 1


def test_links_are_followed_only_below_the_roots(tmp_path: Path) -> None:
    make(tmp_path, "inside/a.cpp", "outside/b.cpp", "outside/deep/c.cpp")
    root = tmp_path / "inside"
    (root / "again.cpp").symlink_to(root / "a.cpp")
    (root / "out.cpp").symlink_to(tmp_path / "outside" / "b.cpp")
    (root / "away").symlink_to(tmp_path / "outside")
    (root / "loop").symlink_to(root)
    (root / "broken.cpp").symlink_to(tmp_path / "nowhere.cpp")
    assert found(root) == {"a.cpp"}
    # What the user names is looked at, link or not.
    assert found(root, "out.cpp") == {"out.cpp"}


def test_a_folder_that_cannot_be_listed_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "open/a.cpp", "closed/b.cpp")
    real = os.scandir

    def scandir(path: str) -> object:
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    walk = find_files([str(tmp_path)])
    assert walk.unreadable == [(str(tmp_path / "closed"), "Permission denied", None)]
    assert walk.files["cpp"] == [str(tmp_path / "open" / "a.cpp")]


def test_a_path_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(NoSuchPath, match=r"nowhere\.cpp"):
        find_files([str(tmp_path / "nowhere.cpp")])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_named_pipe_is_reported_and_not_opened(tmp_path: Path) -> None:
    make(tmp_path, "a.cpp")
    os.mkfifo(tmp_path / "pipe.cpp")
    assert find_files([str(tmp_path)]).unreadable == []
    walk = find_files([str(tmp_path / "pipe.cpp"), str(tmp_path / "a.cpp")])
    assert walk.unreadable == [(str(tmp_path / "pipe.cpp"), "not a regular file", "cpp")]
    assert walk.files["cpp"] == [str(tmp_path / "a.cpp")]


def test_a_link_that_leads_nowhere_is_an_error_when_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "broken.cpp").symlink_to("nowhere.cpp")
    assert found(tmp_path) == set()
    with pytest.raises(NoSuchPath, match=r"broken\.cpp \(a link to nowhere\.cpp\)"):
        found(tmp_path, "broken.cpp")


def test_odd_names(tmp_path: Path) -> None:
    names = {"with space.cpp", "new\nline.cpp", "ünïcødé.cpp", "-dash.cpp"}
    make(tmp_path, *names)
    assert found(tmp_path) == names


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_an_ignore_file_that_is_a_pipe_is_reported_and_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".gitignore")
    (tmp_path / "a.cpp").write_text("")
    walk = find_files([str(tmp_path)])
    assert walk.paths() == [str(tmp_path / "a.cpp")]
    assert walk.unreadable == [(str(tmp_path / ".gitignore"), "not a regular file; none of its patterns count", None)]


def test_an_ignore_file_in_utf_16_is_reported(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("*.cpp", encoding="utf-16")
    (tmp_path / "a.cpp").write_text("")
    walk = find_files([str(tmp_path)])
    assert walk.paths() == [str(tmp_path / "a.cpp")]
    assert [reason for _, reason, _ in walk.unreadable] == [
        "saved as UTF-16, which git can't read; save it as UTF-8; none of its patterns count"
    ]


def test_no_more_names_are_looked_at_than_are_needed(tmp_path: Path) -> None:
    for folder in range(20):
        (tmp_path / f"{folder:02}").mkdir()
        for name in range(10):
            (tmp_path / f"{folder:02}" / f"{name}.py").touch()
    assert len(find_files([str(tmp_path)])) == 200
    assert len(find_files([str(tmp_path)], most=20 + 25)) == 25
    assert len(find_files([str(tmp_path)], most=0)) == 0


@pytest.mark.skipif(os.name == "nt", reason="no such depth there")
def test_folders_may_lie_in_one_another_deeper_than_the_stack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for _ in range(1500):
        os.mkdir("a")
        os.chdir("a")
    Path("x.cpp").touch()
    os.chdir(tmp_path)
    (tmp_path / ".gitignore").write_text("b/\n")
    found = find_files(["."], exclude=["c/**"]).paths()
    assert [path.count("a/") for path in found] == [1500]
    subprocess.run(["rm", "-r", "a"], check=True)  # Python's own `rmtree` may recurse
