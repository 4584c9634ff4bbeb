#!/usr/bin/env python3
"""Verifies many programs in a row and shows what is left of it: nothing, in memory or on disk.

    python bench/verify.py [--programs 100]

The programs are copies of the fixtures', C++ and Python in turn, each with its own text, so that each is
compiled. They are verified first one after the other in one process, then by one command. Prints the time, how much
the process grew (resident memory, blocks of the allocator, objects, open files, child processes) in its second half,
and the files that are left in the temporary folders. Exit status 1: something is left, or the process grew by more
than the noise allowed.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import os
import subprocess
import sys
import tempfile
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

ROOT = Path(__file__).parent.parent
FIXTURES = [
    *sorted((ROOT / "fixtures" / "cpp_programs").glob("*.before.cpp")),
    *sorted((ROOT / "fixtures" / "python_programs").glob("*.before.py")),
]
GROWTH_MB = 4.0


def write_programs(folder: Path, count: int) -> list[Path]:
    """Programs that differ in a comment."""
    written = []
    for number, fixture in zip(range(count), itertools.cycle(FIXTURES), strict=False):
        comment = "#" if fixture.suffix == ".py" else "//"
        path = folder / f"program_{number:03}{fixture.suffix}"
        path.write_text(f"{fixture.read_text()}{comment} {number}\n")
        written.append(path)
    (folder / "models").symlink_to(ROOT / "fixtures" / "cpp_programs" / "models")
    return written


def state() -> dict[str, float]:
    """What a process holds."""
    gc.collect()
    with open("/proc/self/statm") as file:
        resident = int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")
    with open(f"/proc/self/task/{os.getpid()}/children") as file:
        children = len(file.read().split())
    return {
        "resident MB": resident / 1e6,
        "blocks": sys.getallocatedblocks(),
        "objects": len(gc.get_objects()),
        "open files": len(os.listdir("/proc/self/fd")),
        "children": children,
    }


def in_one_process(programs: list[Path]) -> tuple[float, dict[str, float]]:
    """Seconds, and what the second half of the programs added to this process."""
    from guardfix.cli.verify_command import command

    def verify(path: Path) -> None:
        try:
            command.main([str(path), "--isolated"])
        except SystemExit as end:
            if end.code not in (0, 1):
                raise

    started = time.monotonic()
    middle = len(programs) // 2
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        for path in programs[:middle]:
            verify(path)
        before = state()
        for path in programs[middle:]:
            verify(path)
        after = state()
    return time.monotonic() - started, {name: after[name] - before[name] for name in before}


def by_one_command(folder: Path) -> tuple[float, int, float]:
    """Seconds, the exit status, and the most that the command and each program took, in MB."""
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "guardfix", "verify", str(folder), "--isolated", "--quiet"],
        stdout=subprocess.DEVNULL,
        check=False,
    )
    import resource

    return time.monotonic() - started, done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3


def left(*folders: Path) -> list[Path]:
    """Files outside the caches of compiled programs and of facts, and folders that verify made."""
    kept = {
        "program.so", "manifest.json", "programs", "precompiled.h", "precompiled.h.gch", "precompiled.h.pch",
        "CACHEDIR.TAG",
    }  # fmt: skip
    while any(list(folder.glob("programs/unfinished/*")) for folder in folders):
        time.sleep(0.1)  # a header that is being precompiled
    found = [
        path
        for folder in folders
        for path in folder.rglob("*")
        if path.parent.name not in ("agreed", "facts", "digests")
    ]
    return [path for path in found if path.name not in kept and (path.is_file() or path.name == "verify")]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=100)
    count = parser.parse_args().programs
    with tempfile.TemporaryDirectory() as folder:
        sources, cache, temporary = (Path(folder) / name for name in ("sources", "cache", "temporary"))
        for path in (sources, cache, temporary):
            path.mkdir()
        os.environ |= {"GUARDFIX_CACHE_DIR": str(cache), "TMPDIR": str(temporary), "GUARDFIX_YES": "1"}
        tempfile.tempdir = None
        programs = write_programs(sources, count)
        before = sorted(sources.rglob("*"))

        seconds, grown = in_one_process(programs)
        print(f"one process: {count} programs in {seconds:.0f} s; the second half added", end=" ")
        print(", ".join(f"{amount:.1f} {name}" for name, amount in grown.items()))
        left_first = left(cache, temporary)

        seconds, status, most = by_one_command(sources)
        print(
            f"one command: {count} programs in {seconds:.0f} s, exit status {status}, at most {most:.0f} MB a process"
        )
        found = left_first + left(cache, temporary) + sorted(set(sources.rglob("*")) - set(before))
        print(f"files left: {', '.join(map(str, found)) or 'none'}")
    grew = grown["resident MB"] > GROWTH_MB or grown["open files"] > 0 or grown["children"] > 0
    return 1 if found or grew or status not in (0, 1) else 0


if __name__ == "__main__":
    sys.exit(main())
