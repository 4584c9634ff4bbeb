"""Texts from the disk, from memory, and from memory over the disk: what is read, found and noticed is the same."""

from __future__ import annotations

import os
import pickle
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from fixture_files import Fixture, all_fixtures
from guardfix.linter.engine import Options, check
from guardfix.linter.files.discovery import NoSuchPath, find_files
from guardfix.linter.files.source_positions import SourcePositions
from guardfix.linter.files.sources import BinaryFile, Unreadable
from guardfix.linter.files.workspace import DISK, Workspace
from guardfix.linter.findings import Finding

KERNEL = """#include <torch/torch.h>
struct F : torch::autograd::Function<F> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, at::Tensor x) {
    at::AutoNonVariableTypeMode g;
    return f(x);
  }
};
"""
CLEAN = "int main() { return 0; }\n"

KINDS = ["disk", "memory", "buffer over a file", "buffer without a file"]


def workspace_of(kind: str, path: Path, data: bytes) -> Workspace:
    """A workspace of that kind in which the file holds the data."""
    if kind == "disk":
        path.write_bytes(data)
        return DISK
    if kind == "memory":
        return Workspace.in_memory({str(path): data})
    if kind == "buffer over a file":
        path.write_bytes(b"something else")
    return Workspace.over_disk({str(path): data})


# -- one file's text


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        pytest.param(b"", b"", "utf-8", id="empty"),
        pytest.param(b"a\r\nb\rc", b"a\r\nb\rc", "utf-8", id="line ends"),
        pytest.param(b"\xef\xbb\xbfa", b"a", "utf-8", id="byte order mark"),
        pytest.param("é🙂".encode("utf-16"), "é🙂".encode(), "utf-16-le", id="UTF-16"),
        pytest.param(b"\xe9", "é".encode(), "latin-1", id="Latin-1"),
    ],
)
def test_a_text(kind: str, data: bytes, text: bytes, encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "a.cpp"
    source = workspace_of(kind, path, data).read(str(path))
    assert (source.path, source.text, source.encoding, source.encode(text)) == (str(path), text, encoding, data)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        pytest.param(b"a\0b", BinaryFile, "a.cpp", id="binary"),
        pytest.param(b"\xff\xfea", Unreadable, "not valid UTF-16-LE, which its byte order mark says", id="cut short"),
    ],
)
def test_what_is_not_text(kind: str, data: bytes, error: type[Exception], message: str, tmp_path: Path) -> None:
    path = tmp_path / "a.cpp"
    workspace = workspace_of(kind, path, data)
    with pytest.raises(error, match=message):
        workspace.read(str(path))
    assert workspace.read_or_none(str(path)) is None


@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_file(kind: str, tmp_path: Path) -> None:
    workspace = workspace_of(kind, tmp_path / "a.cpp", b"a")
    missing = str(tmp_path / "b.cpp")
    with pytest.raises(Unreadable, match="No such file or directory"):
        workspace.read(missing)
    assert not workspace.exists(missing)
    assert not workspace.is_file(missing)
    with pytest.raises(NoSuchPath, match=r"b\.cpp"):
        find_files([missing], workspace=workspace)


def test_memory_does_not_know_what_is_on_the_disk(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text("a")
    workspace = Workspace.in_memory({str(tmp_path / "b.cpp"): "b"})
    assert not workspace.exists(str(tmp_path / "a.cpp"))
    with pytest.raises(Unreadable):
        workspace.read(str(tmp_path / "a.cpp"))
    assert workspace.exists(str(tmp_path))
    assert not workspace.is_file(str(tmp_path))


@pytest.mark.parametrize("given", ["a.cpp", "./a.cpp", "sub/../a.cpp", "link.cpp", "links/a.cpp"])
@pytest.mark.parametrize("asked", ["a.cpp", "./a.cpp", "link.cpp", "links/a.cpp"])
def test_a_file_has_many_names(given: str, asked: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sub").mkdir()
    Path("a.cpp").write_text("on the disk")
    Path("link.cpp").symlink_to("a.cpp")
    Path("links").symlink_to(".")
    workspace = Workspace.over_disk({given: "in the editor"})
    assert workspace.read(asked).text == b"in the editor"
    assert workspace.read(str(tmp_path / asked)).text == b"in the editor"


@pytest.mark.parametrize(
    ("text", "data"),
    [
        pytest.param("é", b"\xc3\xa9", id="characters"),
        pytest.param("\ufeffa", b"\xef\xbb\xbfa", id="byte order mark"),
        pytest.param("\udce9", b"\xe9", id="a byte that could not be decoded"),
    ],
)
def test_a_str_is_its_bytes(text: str, data: bytes) -> None:
    assert Workspace.in_memory({"a.cpp": text}).buffer("a.cpp") == data


def test_a_str_without_bytes_is_refused() -> None:
    with pytest.raises(UnicodeEncodeError):
        Workspace.in_memory({"a.cpp": "\ud800"})


# -- which files there are

TREE = {
    "top.cpp": "a",
    "sub/inner.py": "a",
    "sub/new.cu": "a",
    "sub/notes.txt": "a",
    "node_modules/x.cpp": "a",
    "sub/.venv/x.py": "a",
    "built/x.cpp": "a",
    "out/x.cpp": "a",
}


@pytest.mark.parametrize("kind", ["disk", "memory", "over the disk, all of it", "over the disk, half of it"])
@pytest.mark.parametrize("given", ["", "sub"], ids=["the folder", "a folder in it"])
def test_texts_below_a_folder(kind: str, given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("built/\n")
    in_memory = {"disk": [], "over the disk, half of it": list(TREE)[::2]}.get(kind, list(TREE))
    if kind != "memory":
        for name in TREE.keys() - in_memory:
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_text(TREE[name])
        Path("sub").mkdir(exist_ok=True)
    texts = {name: TREE[name] for name in in_memory}
    workspace = (
        DISK if kind == "disk" else Workspace.in_memory(texts) if kind == "memory" else Workspace.over_disk(texts)
    )
    expected = {"top.cpp", "sub/inner.py", "sub/new.cu"} | ({"built/x.cpp"} if kind == "memory" else set())
    for root in (given or ".", str(tmp_path / given)):
        walk = find_files([root], exclude=["out/"], workspace=workspace)
        prefix = f"{tmp_path}/" if root.startswith("/") else ""
        assert sorted([path for paths in walk.files.values() for path in paths]) == sorted(
            prefix + name for name in expected if name.startswith(given)
        )


def test_a_buffer_of_a_file_is_one_file(tmp_path: Path) -> None:
    path = tmp_path / "a.cpp"
    path.write_text(CLEAN)
    workspace = Workspace.over_disk({str(path): KERNEL})
    assert len(find_files([str(tmp_path), str(path)], workspace=workspace)) == 1
    assert len(find_files([str(path), str(tmp_path)], workspace=workspace)) == 1


def test_a_named_buffer_can_be_excluded(tmp_path: Path) -> None:
    path = str(tmp_path / "a.cpp")
    workspace = Workspace.in_memory({path: KERNEL})
    assert len(find_files([path], exclude=["a.cpp"], workspace=workspace)) == 1
    assert len(find_files([path], exclude=["a.cpp"], force_exclude=True, workspace=workspace)) == 0


# -- the whole path


@pytest.mark.parametrize("fixture", all_fixtures(), ids=lambda fixture: fixture.name)
@pytest.mark.some(4)
def test_findings_do_not_depend_on_where_texts_are(fixture: Fixture, tmp_path: Path) -> None:
    work = fixture.copy_to(tmp_path)
    # In memory no .gitignore is read; the one fixture that has one would differ.
    options = Options(select=("ALL",), minimum_torch=fixture.minimum_torch(), respect_gitignore=False, workers=1)
    on_disk = check([str(work)], options)
    texts = {str(path): path.read_bytes() for path in work.rglob("*") if path.is_file()}
    half = dict(list(texts.items())[::2])
    assert check([str(work)], options, workspace=Workspace.in_memory(texts)).findings == on_disk.findings
    assert check([str(work)], options, workspace=Workspace.over_disk(half)).findings == on_disk.findings


def test_a_buffer_counts_not_its_file(tmp_path: Path) -> None:
    (tmp_path / "mended.cpp").write_text(KERNEL)
    (tmp_path / "broken.cpp").write_text(CLEAN)
    workspace = Workspace.over_disk({str(tmp_path / "mended.cpp"): CLEAN, str(tmp_path / "broken.cpp"): KERNEL})
    report = check([str(tmp_path)], workspace=workspace)
    assert [os.path.basename(finding.path) for finding in report.findings] == ["broken.cpp"]
    (finding,) = report.findings
    assert SourcePositions(report.workspace).start(finding.path, finding.span) == (4, 5)


def test_a_registration_in_a_buffer_decides(tmp_path: Path) -> None:
    (tmp_path / "kernel.cpp").write_text(
        "at::Tensor scale(const at::Tensor& x) {\n  at::AutoNonVariableTypeMode g;\n  return op(x);\n}\n"
    )
    registration = 'TORCH_LIBRARY_IMPL(my, Autograd, m) {\n  m.impl("scale", scale);\n}\n'

    def decisions(workspace: Workspace) -> list[str | None]:
        found = check([str(tmp_path)], Options(select=("GF101",)), workspace=workspace).findings
        return [finding.decision.replacement if finding.decision else None for finding in found]

    assert decisions(DISK) == [None]
    beside = Workspace.over_disk({str(tmp_path / "ops.cpp"): registration})
    assert decisions(beside) == ["at::AutoDispatchBelowADInplaceOrView"]


def changed_since(kind: str, path: Path, before: bytes, after: bytes) -> bool:
    """Whether a file's new text is told from the one that was checked."""
    checked = check([str(path)], workspace=workspace_of(kind, path, before))
    (facts,) = checked.project
    return workspace_of(kind, path, after).unchanged(facts) is None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("after", "changed"),
    [
        pytest.param(KERNEL.encode(), False, id="the same"),
        pytest.param(b"\xef\xbb\xbf" + KERNEL.encode(), False, id="only a byte order mark more"),
        pytest.param(KERNEL.encode() + b"\n", True, id="a line more"),
        pytest.param(b"a\0", True, id="binary now"),
    ],
)
def test_changed_since_it_was_checked(kind: str, after: bytes, changed: bool, tmp_path: Path) -> None:
    assert changed_since(kind, tmp_path / "a.cpp", KERNEL.encode(), after) is changed


# -- other processes


def test_workers_are_sent_what_they_read(tmp_path: Path) -> None:
    texts = {str(tmp_path / f"{number}.cpp"): KERNEL for number in range(40)}
    workspace = Workspace.in_memory(texts)
    assert DISK.part(texts) is DISK
    part = pickle.loads(pickle.dumps(workspace.part(list(texts)[:2])))
    assert part.buffers == dict.fromkeys(list(texts)[:2], KERNEL.encode())
    assert part.has_disk is False
    expected = check([str(tmp_path)], Options(workers=1), workspace=workspace).findings
    assert len(expected) == 40
    assert check([str(tmp_path)], Options(workers=2), workspace=workspace).findings == expected
    with ProcessPoolExecutor(2) as executor:
        assert check([str(tmp_path)], executor=executor, workspace=workspace).findings == expected


def test_children_read_the_disk_and_buffers_stay_here(tmp_path: Path) -> None:
    for number in range(600):  # more than are searched before a child is forked
        (tmp_path / f"{number:03}.cpp").write_text(KERNEL if number % 100 == 0 else CLEAN)
    buffers = {str(tmp_path / "000.cpp"): CLEAN, str(tmp_path / "001.cpp"): KERNEL, str(tmp_path / "new.cpp"): KERNEL}

    def names(found: list[Finding]) -> list[str]:
        return [os.path.basename(finding.path) for finding in found]

    report = check([str(tmp_path)], Options(workers=3), workspace=Workspace.over_disk(buffers))
    assert names(report.findings) == ["001.cpp", *(f"{n}00.cpp" for n in range(1, 6)), "new.cpp"]
    assert report.files == 601


@pytest.mark.parametrize("over", ["memory", "disk"])
def test_the_limit_of_size_holds_for_new_texts(over: str, tmp_path: Path) -> None:
    """What is checked again, with the texts that fixes or an editor made, is read within the limits of the first check."""
    path = str(tmp_path / "a.cpp")
    small = b"void f() { at::AutoNonVariableTypeMode guard; }\n"
    large = small + b"// filler\n" * 1000
    Path(path).write_bytes(small)
    workspace = Workspace.in_memory({path: small}) if over == "memory" else DISK
    report = check([path], Options(workers=1, max_file_size=1 / 128, select=("GF001", "GF101")), workspace=workspace)
    assert [finding.code for finding in report.findings] == ["GF101"]
    again = report.again({path: large})
    assert [finding.message for finding in again.findings] == [
        "cannot read this file: it has 0.0 MB, and the largest that is read has 0.0078125 (max-file-size)"
    ]
    assert [finding.code for finding in again.again({path: small}).findings] == ["GF101"]
    with pytest.raises(Unreadable, match="max-file-size"):
        report.workspace.with_texts({path: large}).read(path)
