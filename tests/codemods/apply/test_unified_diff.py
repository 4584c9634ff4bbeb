"""Diffs are applied by the real `patch` and `git apply`."""

from __future__ import annotations

import codecs
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from guardfix.codemods.apply.rewriting import Rewrite
from guardfix.codemods.apply.unified_diff import base_of, unified_diff
from guardfix.linter.files.sources import Source

CODE = """// {0}
class F : public torch::autograd::Function<F> {{
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& x) {{
    at::AutoNonVariableTypeMode g;
    return f(x);
  }}
}};
"""
PLAIN = CODE.format("plain").encode()
TOOLS = {
    "patch": ["patch", "-p1", "--no-backup-if-mismatch", "--binary", "-s"],
    "git apply": ["git", "apply", "-p1"],
}


def migrated(data: bytes) -> bytes:
    return data.replace(b"NonVariableTypeMode", b"DispatchBelowADInplaceOrView")


@pytest.mark.parametrize(
    "tool", [pytest.param("git apply", id="git apply"), pytest.param("patch", id="patch", marks=pytest.mark.thorough)]
)
@pytest.mark.parametrize(
    ("name", "data", "cwd", "argument", "base"),
    [
        pytest.param("a.cpp", PLAIN, ".", "a.cpp", ".", id="a plain path"),
        pytest.param("src/a.cpp", PLAIN, ".", ".", ".", id="a folder"),
        pytest.param("src/a.cpp", PLAIN, ".", "src/../src", ".", id="a roundabout path"),
        pytest.param("my src/a b.cpp", PLAIN, ".", "my src", ".", id="spaces"),
        pytest.param("größe/解.cpp", PLAIN, ".", "größe", ".", id="a name beyond ASCII"),
        pytest.param('we"ird\\\t.cpp', PLAIN, ".", ".", ".", id="a name that must be quoted"),
        pytest.param("a.cpp", PLAIN.replace(b"\n", b"\r\n"), ".", "a.cpp", ".", id="CRLF"),
        pytest.param("a.cpp", PLAIN.replace(b"\n", b"\r\n", 4), ".", "a.cpp", ".", id="mixed line ends"),
        pytest.param("a.cpp", PLAIN[:-1], ".", "a.cpp", ".", id="no newline at the end"),
        pytest.param("a.cpp", CODE.format("größe 解\f\x85").encode(), ".", "a.cpp", ".", id="UTF-8"),
        pytest.param(
            "a.cpp", CODE.format("\x1b[2J\u202e\x07\u2028 ::error::").encode(), ".", "a.cpp", ".", id="controls"
        ),
        pytest.param("a\u202e\x07.cpp", PLAIN, ".", ".", ".", id="a name with controls"),
        pytest.param("a.cpp", codecs.BOM_UTF8 + PLAIN, ".", "a.cpp", ".", id="a byte order mark in the first hunk"),
        pytest.param("a.cpp", CODE.format("größe").encode("latin-1"), ".", "a.cpp", ".", id="Latin-1"),
        pytest.param("a.cpp", PLAIN, "src", "../a.cpp", ".", id="a path above the working folder"),
        pytest.param("src/a.cpp", PLAIN, "src", "..", ".", id="the folder above"),
        pytest.param("lib/a.cpp", PLAIN, "src", "../lib", "lib", id="a folder beside the working folder"),
        pytest.param("src/a.cpp", PLAIN, ".", "{root}/src", ".", id="an absolute path in the working folder"),
        pytest.param("a.cpp", PLAIN, "src", "{root}/a.cpp", ".", id="an absolute path elsewhere"),
    ],
)
@pytest.mark.some(4)
def test_the_diff_can_be_applied(
    tool: str, name: str, data: bytes, cwd: str, argument: str, base: str, tmp_path: Path
) -> None:
    if shutil.which(TOOLS[tool][0]) is None:
        pytest.skip(f"no {tool} here")
    for folder in ("src", "lib"):
        (tmp_path / folder).mkdir()
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    with tempfile.TemporaryFile() as patch:
        outcome = subprocess.run(
            [sys.executable, "-m", "guardfix", "migrate", argument.format(root=tmp_path)],
            cwd=tmp_path / cwd,
            stdout=patch,
            stderr=subprocess.PIPE,
            check=False,
        )
        patch.seek(0)
        written = patch.read()
    assert outcome.returncode == 1, outcome.stderr
    assert path.read_bytes() == data
    start = (tmp_path / base).resolve()
    stated = f"note: paths in the diff are relative to {start}; apply it there" in outcome.stderr.decode()
    assert stated is (start != (tmp_path / cwd).resolve())
    applied = subprocess.run(TOOLS[tool], cwd=start, input=written, capture_output=True, check=False)
    assert applied.returncode == 0, (written, applied)
    assert path.read_bytes() == migrated(data)
    assert sorted(file for file in tmp_path.rglob("*") if file.is_file()) == [path]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_diff_of_utf_16_is_said_to_be_for_reading(encoding: str, tmp_path: Path) -> None:
    mark = codecs.BOM_UTF16_LE if encoding == "utf-16-le" else codecs.BOM_UTF16_BE
    data = mark + CODE.format("größe").encode(encoding)
    (tmp_path / "a.cpp").write_bytes(data)
    command = [sys.executable, "-m", "guardfix", "migrate"]
    outcome = subprocess.run([*command, "."], cwd=tmp_path, capture_output=True, check=False)
    assert "+    at::AutoDispatchBelowADInplaceOrView g;\n" in outcome.stdout.decode()
    assert (
        f"note: a.cpp: this diff is only for reading, because patch and git apply don't accept {encoding.upper()}; use `--apply` to write it"
        in outcome.stderr.decode()
    )
    subprocess.run([*command, "--apply", "."], cwd=tmp_path, capture_output=True, check=True)
    assert (tmp_path / "a.cpp").read_bytes() == mark + migrated(data[2:].decode(encoding).encode()).decode().encode(
        encoding
    )


def test_a_link_is_named_by_what_it_leads_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "real.cpp").write_bytes(b"int a;\n")
    (tmp_path / "link.cpp").symlink_to("real.cpp")
    diff = unified_diff(Rewrite(Source("link.cpp", b"int a;\n"), b"int b;\n"), base_of(["link.cpp"]))
    assert diff[0] == b"--- a/real.cpp\n"


def test_the_diff_keeps_line_ends_and_says_when_the_last_is_missing() -> None:
    assert b"".join(unified_diff(Rewrite(Source(os.path.join("src", "a.cpp"), b"a\r\nb"), b"a\r\nc"))) == (
        b"--- a/src/a.cpp\n+++ b/src/a.cpp\n@@ -1,2 +1,2 @@\n a\r\n-b\n\\ No newline at end of file\n"
        b"+c\n\\ No newline at end of file\n"
    )
