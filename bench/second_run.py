#!/usr/bin/env python3
"""Measures whether a second `guardfix migrate --apply` finds anything to change.

    bench/second_run.py [--old] CHECKOUT…

Each CHECKOUT is a source tree, or a git directory, whose newest commit is then read. Its sources are
copied, migrated twice with the safe fixes and, in another copy, twice with the unsafe ones as well. Printed for each:
files changed by the first run, by the second one, refused, and the passes and seconds that the first took. Exit status
1 when a second run changes something. With --old, every new guard of the copy is first written as the old one, so
that there is something to migrate. Nothing is written to the trees themselves.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from guardfix.codemods.apply.applying import write_settled
from guardfix.codemods.apply.settling import settle
from guardfix.codemods.choice import FixChoice
from guardfix.codemods.fixable import fixes_for
from guardfix.linter.engine import Options, check
from guardfix.linter.files.languages import language_of

_NEW = re.compile(
    rb"(?<![\w:.])(?:::)?(?:(?:at|c10|torch)::)?(?:InferenceMode|AutoDispatchBelow(?:ADInplaceOrView|Autograd))"
    rb"(?=[ \t]+[A-Za-z_]\w*[ \t]*[;({])"
)


def sources(checkout: Path) -> Iterator[tuple[str, bytes]]:
    """(path, text) of the files that guardfix reads; of a git directory, those of its newest commit that it has."""
    if not (checkout / "HEAD").is_file():
        for path in checkout.rglob("*"):
            if path.is_file() and language_of(path.name) is not None:
                yield str(path.relative_to(checkout)), path.read_bytes()
        return
    git = ["git", "--git-dir", str(checkout)]
    listed = subprocess.run([*git, "ls-tree", "-r", "-z", "HEAD"], capture_output=True, check=True).stdout
    with subprocess.Popen([*git, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as batch:
        assert batch.stdin is not None
        assert batch.stdout is not None
        for entry in filter(None, listed.split(b"\0")):
            about, _, name = entry.partition(b"\t")
            mode, kind, digest = about.split()
            if kind != b"blob" or mode == b"120000" or language_of(os.fsdecode(name)) is None:
                continue
            batch.stdin.write(digest + b"\n")
            batch.stdin.flush()
            head = batch.stdout.readline().split()
            if len(head) == 3:
                yield os.fsdecode(name), batch.stdout.read(int(head[2]) + 1)[:-1]


def copy_of(checkout: Path, folder: Path, *, with_old_guard: bool) -> Path:
    """The sources, alone in a folder."""
    target = folder / "tree"
    for name, text in sources(checkout):
        place = target / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(_NEW.sub(b"at::AutoNonVariableTypeMode", text) if with_old_guard else text)
    return target


def run(tree: Path, *, unsafe: bool) -> tuple[int, int, int]:
    """(files changed, files in which not all was done, passes) of one run."""
    settled = settle(fixes_for(check([str(tree)], Options()), FixChoice(unsafe=unsafe)))
    outcome = write_settled(settled)
    return len(outcome.written), len(outcome.refused) + len(outcome.failed), settled.passes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", type=Path, nargs="+", metavar="CHECKOUT")
    parser.add_argument("--old", action="store_true", help="write new guards as the old one first")
    arguments = parser.parse_args()
    unstable = 0
    print(f"{'checkout':44} {'fixes':7} {'changed':>7} {'again':>6} {'refused':>7} {'passes':>6} {'seconds':>8}")
    for checkout in arguments.checkouts:
        for unsafe in (False, True):
            with tempfile.TemporaryDirectory() as scratch:
                tree = copy_of(checkout, Path(scratch), with_old_guard=arguments.old)
                start = time.perf_counter()
                changed, refused, passes = run(tree, unsafe=unsafe)
                seconds = time.perf_counter() - start
                again, _, _ = run(tree, unsafe=unsafe)
            unstable += again > 0
            name = checkout.parent.name if checkout.name in ("repo", ".git") else checkout.name
            kind = "unsafe" if unsafe else "safe"
            print(f"{name:44} {kind:7} {changed:7} {again:6} {refused:7} {passes:6} {seconds:8.1f}", flush=True)
    print(f"{unstable} of {2 * len(arguments.checkouts)} second runs change something")
    return 1 if unstable else 0


if __name__ == "__main__":
    sys.exit(main())
