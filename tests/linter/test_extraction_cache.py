"""A run that finds facts in the cache says what a run says that reads every file."""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from fixture_files import FIXTURES
from guardfix.linter import extraction_cache
from guardfix.linter.engine import Options, Report, check
from guardfix.linter.files import code_digest
from guardfix.linter.files.workspace import Workspace
from guardfix.linter.flow import kept_runs
from guardfix.linter.frontends import extraction
from guardfix.linter.guards import Effect, Guard, Takes

OLD = "void f() {\n  at::AutoNonVariableTypeMode g;\n}\n"
CLEAN = "void f() {\n  int number = 101;\n}\n"
PYTHON = "import torch\n\n\ndef f():\n    torch.no_grad()\n"
ALL = Options(select=("ALL",), include_docs=True)


def said(report: Report) -> list[object]:
    """All that a report says."""
    partial = [facts.path for facts in report.partial]
    notes = [(facts.path, facts.notes) for facts in report.project.checked() if facts.notes]
    return [*report.findings, report.files, report.suppressed, sorted(partial), notes]


@pytest.fixture(autouse=True)
def _small_files_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extraction_cache, "WORTH_ASKING", 0)
    monkeypatch.setattr(kept_runs, "WORTH_KEEPING", 0)


@pytest.fixture
def cached(tmp_path: Path) -> Options:
    return replace(ALL, cache_folder=str(tmp_path / "cache" / "facts"))


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files count as settled at once, so that their size and times alone are looked at."""
    monkeypatch.setattr(extraction_cache, "_RACY", -(10**18))


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that are parsed."""
    names: list[str] = []
    extract = extraction.extract_file

    def noted(path: str, *arguments: object) -> object:
        names.append(os.path.basename(path))
        return extract(path, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(extraction, "extract_file", noted)
    return names


def _guard_renamed(text: bytes, source: random.Random) -> bytes:
    return text.replace(b"AutoNonVariableTypeMode", b"AutoDispatchBelowAutograd").replace(b"no_grad", b"enable_grad")


def _rows_cut(text: bytes, source: random.Random) -> bytes:
    rows = text.splitlines(keepends=True)
    start = source.randrange(len(rows) + 1)
    return b"".join(rows[:start] + rows[start + 3 :])


def _letter_changed(text: bytes, source: random.Random) -> bytes:
    place = source.randrange(max(1, len(text)))
    return text[:place] + b"x" + text[place + 1 :]


def _suppressed(text: bytes, source: random.Random) -> bytes:
    return b"// NOLINTBEGIN\n# noqa\n" + text


MUTATIONS: list[Callable[[bytes, random.Random], bytes]] = [
    _guard_renamed, _rows_cut, _letter_changed, _suppressed, lambda text, source: b"", lambda text, source: text[::-1]
]  # fmt: skip


def _mutate(tree: Path, source: random.Random) -> None:
    """Change, swap, touch and remove files, as an editor, git and a person would."""
    files = sorted(path for path in tree.rglob("*") if path.is_file())
    for path in source.sample(files, len(files) // 4):
        kind = source.randrange(10)
        if kind == 0:
            path.unlink()
        elif kind == 1:
            os.utime(path)
        elif kind == 2:
            other = source.choice([one for one in files if one.exists()])
            new = path.with_name(f"new_{source.randrange(99)}{other.suffix}")
            if new != other:  # a file that was added before
                shutil.copyfile(other, new)
        else:
            status = path.stat()
            path.write_bytes(source.choice(MUTATIONS)(path.read_bytes(), source))
            if kind < 6:  # as `tar` and `rsync` leave it
                os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


FOLDERS = ("cpp", "cpp_projects", "python", "python_projects")


@pytest.mark.few("python_projects-1")
@pytest.mark.parametrize("seed", [1])
@pytest.mark.parametrize("folder", FOLDERS)
def test_fixtures_that_change_between_runs(
    tmp_path: Path, cached: Options, settled: None, folder: str, seed: int
) -> None:
    tree = tmp_path / "tree"
    shutil.copytree(FIXTURES / folder, tree)
    source = random.Random(seed)
    for _ in range(3):
        cold = said(check([str(tree)], ALL))
        assert said(check([str(tree)], cached)) == cold  # fills what is missing
        assert said(check([str(tree)], cached)) == cold
        _mutate(tree, source)


@pytest.mark.parametrize(("name", "text"), [("a.cpp", OLD), ("a.py", PYTHON), ("a.md", f"```cpp\n{OLD}```\n")])
@pytest.mark.usefixtures("settled")
def test_what_did_not_change_is_not_read_again(
    tmp_path: Path, cached: Options, read: list[str], name: str, text: str
) -> None:
    path = tmp_path / name
    path.write_text(text)
    first = check([str(path)], cached)
    assert first.findings
    assert name in read
    read.clear()
    assert said(check([str(path)], cached)) == said(first)
    assert read == []


def test_a_file_without_facts_is_not_read_again(
    tmp_path: Path, cached: Options, settled: None, read: list[str]
) -> None:
    (tmp_path / "a.py").write_text("from torch import no_grads\n")
    assert not check([str(tmp_path)], cached).findings
    assert read == ["a.py"]
    check([str(tmp_path)], cached)
    assert read == ["a.py"]


def test_the_same_text_with_other_times_is_not_parsed_again(tmp_path: Path, cached: Options, read: list[str]) -> None:
    path = tmp_path / "a.cpp"
    path.write_text(OLD)
    check([str(path)], cached)
    read.clear()
    os.utime(path, (1, 1))
    assert len(check([str(path)], cached).findings) == 1
    assert read == []


def test_a_change_that_keeps_size_and_time_is_seen(tmp_path: Path, cached: Options, settled: None) -> None:
    path = tmp_path / "a.cpp"
    path.write_text(OLD)
    status = path.stat()
    assert check([str(path)], cached).findings
    time.sleep(0.02)  # a tick of the clock that the system notes changes by
    path.write_text(OLD.replace("AutoNonVariableTypeMode", "AutoNonVariableTypeNode"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert path.stat()[6:9] == status[6:9]
    assert not check([str(path)], cached).findings


def test_a_young_file_is_known_by_its_text_alone(
    tmp_path: Path, cached: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its times may be rounded: two changes within a second can leave the same ones."""
    path = tmp_path / "a.cpp"
    real = os.stat
    fixed = {}

    def rounded(name: object, **more: object) -> os.stat_result:
        status = real(name, **more)  # type: ignore[arg-type]
        return fixed.setdefault(name, status) if name == str(path) else status

    path.write_text(OLD)
    monkeypatch.setattr(os, "stat", rounded)
    assert check([str(path)], cached).findings
    path.write_text(CLEAN)
    assert not check([str(path)], cached).findings


def test_the_same_text_in_another_encoding_is_read_again(tmp_path: Path, cached: Options) -> None:
    path = tmp_path / "a.cpp"
    path.write_bytes(("// größer\n" + OLD).encode("latin-1"))
    assert check([str(path)], cached).project.files[str(path)].notes
    path.write_bytes(("// größer\n" + OLD).encode("utf-8"))
    assert not check([str(path)], cached).project.files[str(path)].notes


def test_what_cannot_be_read_is_not_kept(tmp_path: Path, cached: Options, settled: None) -> None:
    path = tmp_path / "a.cpp"
    path.write_text(OLD)
    small = replace(cached, max_file_size=1e-6)
    assert [finding.code for finding in check([str(path)], small).findings] == ["GF001"]
    assert [finding.code for finding in check([str(path)], cached).findings] == ["GF101"]
    assert [finding.code for finding in check([str(path)], small).findings] == ["GF001"]


def test_other_guards_find_other_facts(tmp_path: Path, cached: Options, settled: None) -> None:
    path = tmp_path / "a.cpp"
    path.write_text("void f() {\n  MyGuard g;\n  at::AutoNonVariableTypeMode other;\n}\n")
    own = Guard("MyGuard", ("",), Takes.NOTHING, Effect.BELOW_AUTOGRAD, like="AutoNonVariableTypeMode")
    plain = said(check([str(path)], cached))
    extended = replace(cached, guards=(("cpp", own),))
    assert said(check([str(path)], extended)) == said(check([str(path)], replace(extended, cache_folder="")))
    assert said(check([str(path)], cached)) == plain


def test_texts_in_memory_are_neither_looked_up_nor_kept(tmp_path: Path, cached: Options, settled: None) -> None:
    path = tmp_path / "a.cpp"
    path.write_text(OLD)
    check([str(path)], cached)
    edited = Workspace.over_disk({str(path): CLEAN})
    assert not check([str(path)], cached, workspace=edited).findings
    path.write_text(CLEAN)
    unsaved = Workspace.over_disk({str(path): OLD})
    assert check([str(path)], cached, workspace=unsaved).findings
    assert not check([str(path)], cached).findings
    assert check(["a.cpp"], cached, workspace=Workspace.in_memory({"a.cpp": OLD})).findings


def test_other_code_that_reads_finds_nothing(
    tmp_path: Path, cached: Options, settled: None, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.cpp").write_text(OLD)
    check([str(tmp_path)], cached)
    monkeypatch.setattr(code_digest, "installed_parsers", lambda: {"tree_sitter": "99.0"})
    code_digest.code_digest.cache_clear()
    read.clear()
    check([str(tmp_path)], cached)
    code_digest.code_digest.cache_clear()
    assert "a.cpp" in read


@pytest.mark.parametrize(
    ("bytes_of_files", "kept"),
    [
        pytest.param((1000,), False, id="one short file"),
        pytest.param((40_000,), True, id="a long one"),
        pytest.param((9000,) * 4, True, id="several"),
    ],
)
def test_a_few_short_files_are_read_anew(
    bytes_of_files: tuple[int, ...], kept: bool, cached: Options, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    for number, size in enumerate(bytes_of_files):
        (tmp_path / f"{number}.cpp").write_text(OLD + "// a comment\n" * ((size - len(OLD)) // 13 + 1))
    first = said(check([str(tmp_path)], cached))
    assert os.path.exists(cached.cache_folder) is kept
    assert said(check([str(tmp_path)], cached)) == first
