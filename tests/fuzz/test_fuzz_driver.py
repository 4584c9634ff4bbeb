"""What the fuzzer is for, planted: it finds each, makes it small, keeps it, and fails."""

from __future__ import annotations

import importlib.util
import mmap
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
sys.path.insert(0, str(Path(__file__).parent))

from fuzz_targets import Target
from input_bounds import bounded

import fuzz


def _takes_memory(data: bytes) -> str:
    if b"!" in data:
        # Not from the heap, where memory that an earlier test has left would do.
        with mmap.mmap(-1, 200 << 20) as memory:
            for page in range(0, len(memory), mmap.PAGESIZE):
                memory[page] = 1
    return ""


def _takes_time(data: bytes) -> str:
    end = time.process_time() + 0.05
    while b"!" in data and time.process_time() < end:
        pass
    return ""


def _hangs(data: bytes) -> str:
    if b"!" in data:
        time.sleep(30)
    return ""


def _ends(data: bytes) -> str:
    if b"!" in data:
        signal.raise_signal(signal.SIGKILL)
    return ""


def _fails(data: bytes) -> str:
    return "ValueError: planted" if b"!" in data else ""


@pytest.mark.parametrize(
    ("check", "seconds", "why"),
    [
        pytest.param(_takes_memory, 9, " MB", id="memory"),
        pytest.param(_takes_time, 0.04, "takes 0.", id="time"),
        pytest.param(_fails, 9, "ValueError: planted", id="an error"),
        pytest.param(lambda data: "", 9, "", id="nothing"),
    ],
)
def test_what_one_input_takes_is_measured(check: Callable[[bytes], str], seconds: float, why: str) -> None:
    failure = bounded(check, seconds, megabytes=64)
    found = failure(b"ab!")
    assert why in found
    assert bool(found) is bool(why)
    assert failure(b"ab") == ""  # the peak of the input before is forgotten


@pytest.mark.parametrize(
    ("check", "why", "reduced"),
    [
        pytest.param(_takes_memory, " MB\n", True, id="memory"),
        pytest.param(_fails, "ValueError: planted", True, id="an error"),
        pytest.param(_hangs, "hangs", False, id="a hang"),
        pytest.param(_ends, "the process ended with status -9", False, id="a process that ends"),
    ],
)
@pytest.mark.few("memory")
def test_a_planted_failure_is_found(
    check: Callable[[bytes], str], why: str, reduced: bool,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    inputs = st.lists(st.sampled_from("ab!"), max_size=9).map(lambda found: "".join(found).encode())
    target = Target(".txt", inputs, bounded(check, megabytes=64), list)
    monkeypatch.setitem(fuzz.TARGETS, "planted", target)
    monkeypatch.setattr(fuzz, "CORPUS", tmp_path)
    if check is _hangs:
        monkeypatch.setattr(fuzz, "LONGEST", 1)
    assert not fuzz.run("planted", 1, 60)
    assert why in capsys.readouterr().out
    (kept,) = (tmp_path / "planted").iterdir()
    assert kept.read_bytes() == b"!" if reduced else b"!" in kept.read_bytes()


@pytest.mark.thorough
@pytest.mark.skipif(importlib.util.find_spec("atheris") is None, reason="needs atheris (the extra `fuzz`)")
def test_atheris_looks_for_inputs_that_reach_new_code(tmp_path: Path) -> None:
    assert fuzz.run("configuration", 1, 4, tmp_path)
    assert len(list((tmp_path / "configuration").iterdir())) > len(fuzz.TARGETS["configuration"].seeds())
