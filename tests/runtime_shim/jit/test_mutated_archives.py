"""Mutants of archives and of saved files: each loads or is refused, in little time and memory, and no process ends."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from .forging import ARCHIVES, records_of, zipped

SCRIPT = """
import io, json, pickle, resource, sys, time
import guardfix.runtime_shim as torch
from guardfix.runtime_shim import jit
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
slow, other = [], []
for name in json.load(sys.stdin):
    data = open(name, "rb").read()
    start = time.process_time()
    try:
        torch.load(io.BytesIO(data)) if name.endswith(".pkl") else jit.load(io.BytesIO(data))
    except (jit.ArchiveError, pickle.UnpicklingError):
        pass
    except Exception as error:
        other.append(f"{name}: {type(error).__name__}: {error}")
    if time.process_time() - start > 2:
        slow.append(name)
# Not ru_maxrss, which counts what the process that forked this one had.
peak = next(int(line.split()[1]) >> 10 for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps({"slow": slow, "other": other, "peak": peak}))
"""


def mutated(rng: random.Random, data: bytes) -> bytes:
    """A few bytes changed, cut, repeated or moved."""
    for _ in range(rng.randint(1, 5)):
        place = rng.randrange(len(data) + 1)
        end = min(len(data), place + rng.choice([1, 1, 4, 16]))
        data = rng.choice(
            [
                data[:place] + bytes([rng.randrange(256)]) + data[place + 1 :],
                data[:place] + data[end:],
                data[:end] + data[place:],
                data[:place] + rng.choice([b"\xff" * 4, b"\x00" * 8, b"(", b"]", b"t", b"R", b"e", b"u", b"b", b"\x81"]) + data[place:],
            ]
        )  # fmt: skip
    return data


def archives(rng: random.Random, count: int, folder: Path) -> list[str]:
    """Sound containers with mutated records: a flipped bit of the container itself fails its checksum."""
    names = sorted(path.stem for path in ARCHIVES.glob("*.pt") if path.stat().st_size < 200_000)
    written = []
    for number in range(count):
        records = dict(records_of(rng.choice(names)))
        for record in rng.sample(sorted(records), min(len(records), rng.randint(1, 2))):
            if records[record]:
                records[record] = mutated(rng, records[record])
        path = folder / f"{number}.pt"
        path.write_bytes(zipped(records))
        written.append(str(path))
    return written


def saved(rng: random.Random, count: int, folder: Path) -> list[str]:
    import guardfix.runtime_shim as torch

    base = torch.arange(6.0).reshape(2, 3)
    values = [
        torch.nn.Linear(2, 3).state_dict(),
        [base, base[1:], base.t(), {"step": 1, "betas": (0.9, 0.999)}],
        {"a": {1, 2}, "b": frozenset("xy"), "c": [torch.float32, torch.Size([2]), slice(1, 2), b"bytes"]},
    ]
    written = []
    for number in range(count):
        path = folder / f"{number}.pkl"
        torch.save(rng.choice(values), path)
        path.write_bytes(mutated(rng, path.read_bytes()))
        written.append(str(path))
    return written


def assert_harmless(files: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", SCRIPT], input=json.dumps(files), capture_output=True, text=True, check=False
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["slow"] == []
    assert found["other"] == []
    assert found["peak"] < 512


def test_some_mutants(tmp_path: Path) -> None:
    rng = random.Random(1)
    assert_harmless([*archives(rng, 15, tmp_path), *saved(rng, 100, tmp_path)])


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(2, 8))
def test_many_mutants(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    assert_harmless([*archives(rng, 500, tmp_path), *saved(rng, 3000, tmp_path)])
