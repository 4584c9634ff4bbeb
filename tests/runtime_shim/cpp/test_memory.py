"""Running programs again and again leaves nothing behind: neither objects nor files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from .running import FIXTURES

# In one process, so that what a run leaves is still there to be counted.
COUNTING = """
import collections, gc, json, os, sys
from pathlib import Path
from guardfix.runtime_shim.native import run_cpp

source, runs = Path(sys.argv[1]), int(sys.argv[2])
terminal, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
os.dup2(nowhere, 1)
os.dup2(nowhere, 2)

def alive():
    gc.collect()
    return collections.Counter(type(o).__name__ for o in gc.get_objects())

for _ in range(20):
    run_cpp(source)
before, blocks = alive(), sys.getallocatedblocks()
for _ in range(runs):
    run_cpp(source)
after, grown = alive(), sys.getallocatedblocks() - blocks
os.dup2(terminal, 1)
left = {name: count - before[name] for name, count in after.items() if count - before[name] > runs // 2}
print(json.dumps({"left": left, "blocks": grown}))
"""


@pytest.mark.parametrize(
    "name", ["roi_align.after", "guard_in_backward.after", "worker_thread.after", "guard_struct.after"]
)
def test_a_hundred_runs_leave_no_objects(name: str) -> None:
    runs = 100
    done = subprocess.run(
        [sys.executable, "-c", COUNTING, str(FIXTURES / f"{name}.cpp"), str(runs)],
        capture_output=True,
        text=True,
        check=True,
    )
    counted = json.loads(done.stdout)
    assert counted["left"] == {}
    assert counted["blocks"] < 20 * runs, "what ctypes keeps of each call, and the like"


def test_a_run_leaves_no_files(tmp_path: Path) -> None:
    from .running import guardfix_run

    (tmp_path / "work").mkdir()
    source = tmp_path / "work" / "program.cpp"
    source.write_text("#include <torch/torch.h>\nint main() {}\n", encoding="utf-8")
    environment = {"GUARDFIX_CACHE_DIR": str(tmp_path / "cache"), "TMPDIR": str(tmp_path / "temporary")}
    (tmp_path / "temporary").mkdir()
    assert guardfix_run(source, environment=environment, cwd=tmp_path / "work").status == 0
    assert [path.name for path in (tmp_path / "work").iterdir()] == ["program.cpp"]
    assert list((tmp_path / "temporary").iterdir()) == []
    kept = {path.name for path in (tmp_path / "cache").rglob("*") if path.is_file()}
    assert kept == {"program.so", "manifest.json", "programs"}
