"""Backtraces with addresses in place of names, of programs that are compiled here."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from guardfix.why.program_addresses import frames_at_addresses
from guardfix.why.tracebacks import StackFrame

pytestmark = pytest.mark.skipif(
    shutil.which("addr2line") is None or shutil.which("g++") is None, reason="needs g++ and addr2line"
)

PROGRAM = """\
#include <dlfcn.h>
#include <execinfo.h>
#include <cstdio>
static void show() {
  void* frames[8];
  int count = backtrace(frames, 8);
  for (int i = 1; i < count; ++i) {
    Dl_info found;
    dladdr(frames[i], &found);
    char* offset = (char*)frames[i] - (long)found.dli_fbase;
    std::printf("frame #%d: <unknown function> + %p (%p in %s)\\n", i, (void*)offset, frames[i], found.dli_fname);
  }
}
static void step() {
  show();
}
int main() {
  step();
}
"""


@pytest.fixture
def backtrace(tmp_path: Path, request: pytest.FixtureRequest) -> str:
    (tmp_path / "train.cpp").write_text(PROGRAM)
    command = ["g++", *request.param, "train.cpp", "-o", "train", "-ldl"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=120)
    return subprocess.run(["./train"], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=20).stdout


@pytest.mark.parametrize("backtrace", [["-g", "-O0"]], indirect=True)
def test_lines_are_found_in_the_program(backtrace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source = str(tmp_path / "train.cpp")
    expected = (StackFrame(source, 18, "main"), StackFrame(source, 15, "step"))
    assert frames_at_addresses(backtrace) == expected
    monkeypatch.chdir("/")
    assert frames_at_addresses(backtrace) == ()


@pytest.mark.parametrize("backtrace", [["-O0"]], indirect=True)
def test_without_debug_information_there_are_none(
    backtrace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert frames_at_addresses(backtrace) == ()


def test_only_a_program_that_is_there_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes").write_text("no program\n")
    assert frames_at_addresses("frame #1: <unknown function> + 0x12 (0x55 in ./notes)") == ()
    assert frames_at_addresses("frame #1: <unknown function> + 0x12 (0x55 in -notes)") == ()
    assert frames_at_addresses("./notes(+0x12) [0x55]") == ()


def test_a_log_starts_few_lookups_and_none_asks_a_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tool = tmp_path / "bin" / "addr2line"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\necho \"$DEBUGINFOD_URLS\" >> asked\nprintf 'st\\377ep\\nx.cpp:3\\n'\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:/usr/bin:/bin")
    monkeypatch.setenv("DEBUGINFOD_URLS", "https://debuginfo.example")
    for number in range(20):
        (tmp_path / f"train{number}").write_text("program\n")
    log = "".join(f"frame #{n}: <unknown function> + 0x12 (0x55 in ./train{n})\n" for n in range(20))
    assert frames_at_addresses(log) == (StackFrame("x.cpp", 3, "st\N{REPLACEMENT CHARACTER}ep"),) * 8
    assert (tmp_path / "asked").read_text() == "\n" * 8
