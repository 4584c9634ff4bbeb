"""Running programs again and again leaves nothing behind: neither objects nor files."""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from guardfix.runtime_shim.cpp import cache_folder
from guardfix.runtime_shim.cpp.compiler_processes import compiler_pool, run_in_group, workplace

from .running import FIXTURES

# In one process, so that what a run leaves is still there to be counted.
COUNTING = """
import collections, gc, json, os, sys
from pathlib import Path
from guardfix.runtime_shim.cpp import run_cpp

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


@pytest.mark.thorough
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


KEPT = {"program.so", "manifest.json", "programs", "precompiled.h", "precompiled.h.gch"}
"""What the cache holds of a program, and of the header that was precompiled behind it."""
DIGEST = re.compile(r"[0-9a-f]{64}")
"""The name of the file with the kept key of the headers."""


@pytest.mark.thorough
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
    deadline = time.monotonic() + 60
    while (kept := _names_in(tmp_path / "cache")) != KEPT:
        assert time.monotonic() < deadline, kept
        time.sleep(0.05)


def _names_in(folder: Path) -> set[str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    # The headers that only include others lie there for every program.
    names = sorted(path.name for path in files if not any(part.startswith("forwarding-") for part in path.parts))
    digests = [name for name in names if DIGEST.fullmatch(name)]
    assert len(digests) <= 2, digests  # of the headers, and of the rows of new ops
    return {name for name in names if name not in digests}


SLOW_COMPILER = """\
#!/bin/sh
# Begins its output, says so, and is at work for long.
case "$*" in *--version*) exec g++ "$@" ;; esac
while [ $# -gt 1 ]; do [ "$1" = -o ] && echo begun > "$2"; shift; done
touch "$TMPDIR/unfinished.s" "{begun}"
exec sleep 30
"""


@pytest.fixture
def slow_compiler(tmp_path: Path) -> tuple[Path, Path]:
    """A compiler that does not end, and the file that it makes when it is at work."""
    begun, compiler = tmp_path / "begun", tmp_path / "slow-g++"
    compiler.write_text(SLOW_COMPILER.format(begun=begun), encoding="utf-8")
    compiler.chmod(0o755)
    return compiler, begun


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
@pytest.mark.parametrize("command", ["run", "verify"])
@pytest.mark.few("run-SIGTERM")
def test_stopped_while_it_compiles(
    tmp_path: Path, slow_compiler: tuple[Path, Path], number: signal.Signals, command: str
) -> None:
    compiler, begun = slow_compiler
    for folder in ("cache", "temporary", "work"):
        (tmp_path / folder).mkdir()
    source = tmp_path / "work" / "program.cpp"
    source.write_text("#include <torch/torch.h>\nint main() { at::AutoNonVariableTypeMode guard; }\n", encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "guardfix", command, str(source), "--compiler", str(compiler)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"GUARDFIX_CACHE_DIR": str(tmp_path / "cache"), "TMPDIR": str(tmp_path / "temporary")},
        # What a shell puts in the background ignores interrupts, below nohup also hang-ups, and that is inherited.
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 60
    while not begun.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert begun.exists()
    process.send_signal(number)
    assert process.wait(30) != 0
    assert [path.name for path in (tmp_path / "work").iterdir()] == ["program.cpp"]
    assert list((tmp_path / "temporary").iterdir()) == []
    # No leavings: a header that waits to be precompiled, the mark of who has asked for it, what was agreed to be run.
    left = [
        path
        for path in (tmp_path / "cache").rglob("*")
        if path.is_file() and not {"headers", "agreed"} & set(path.parts)
    ]
    assert left == []


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GUARDFIX_CACHE_DIR", str(tmp_path))
    unfinished = cache_folder() / "unfinished"
    abandoned, held, new = (unfinished / f"compiling-{name}" for name in ("abandoned", "held", "new"))
    for folder in (abandoned, held, new):
        folder.mkdir(parents=True)
        (folder / "program.so").touch()
    for folder in (abandoned, held):
        os.utime(folder, (0, 0))
    lock = os.open(held, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    with workplace(unfinished) as mine:
        assert sorted(unfinished.iterdir()) == sorted([held, new, mine])
    os.close(lock)
    with workplace(unfinished):
        assert not held.exists()


GREEDY_COMPILER = """\
#!/bin/sh
# Has a child that goes on writing when the compiler itself is gone.
(while true; do : > "$TMPDIR/written"; done) &
echo $! > "{begun}.new"
mv "{begun}.new" "{begun}"
wait
"""


@pytest.mark.parametrize("threads", [False, True], ids=["alone", "in-threads"])
def test_a_compiler_ends_with_all_that_it_started(tmp_path: Path, threads: bool) -> None:
    begun, compiler = tmp_path / "begun", tmp_path / "greedy-g++"
    compiler.write_text(GREEDY_COMPILER.format(begun=begun), encoding="utf-8")
    compiler.chmod(0o755)

    def interrupt() -> None:
        deadline = time.monotonic() + 60
        while not begun.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        raise KeyboardInterrupt

    def compile_until_interrupted() -> None:
        with workplace(tmp_path / "unfinished") as folder:
            if not threads:
                run_in_group([str(compiler)], folder, interrupt)
            with compiler_pool(1) as pool:
                pool.submit(run_in_group, [str(compiler)], folder)
                interrupt()

    with pytest.raises(KeyboardInterrupt):
        compile_until_interrupted()
    assert list((tmp_path / "unfinished").iterdir()) == []
    writer = Path("/proc", begun.read_text().strip(), "stat")
    assert not writer.exists() or writer.read_text().rpartition(") ")[2].startswith("Z")
