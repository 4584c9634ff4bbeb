#!/usr/bin/env python3
"""Which migrated files still compile against PyTorch's headers.

    bench/compiles.py SITES.tsv CHECKOUTS

For each C++ file of SITES.tsv (see bench/corpus.py) the compiler looks at it as it stands (`g++ -fsyntax-only`);
where that succeeds, the whole tree is migrated in memory with `--unsafe` and the file is looked at again, in a
scratch copy of its folder. Needs torch==2.13.0 beside the Python that runs this. Exit status 1 when a file that
compiled does not compile any more.
"""

from __future__ import annotations

import argparse
import csv
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import torch

from guardfix.codemods.apply.settling import settle
from guardfix.codemods.choice import FixChoice
from guardfix.codemods.fixable import fixes_for
from guardfix.linter.engine import Options, check
from guardfix.linter.files.languages import language_of

INCLUDE = Path(torch.__file__).parent / "include"


def compiles(path: Path, roots: list[Path]) -> tuple[bool, str]:
    """Whether the compiler accepts the file, and its first error."""
    language = ["-x", "c++"] if path.suffix in (".h", ".hpp", ".cpp", ".cc") else []
    includes = [INCLUDE, INCLUDE / "torch/csrc/api/include", sysconfig.get_paths()["include"], *roots]
    command = [
        "g++",
        "-std=c++20",
        "-fsyntax-only",
        "-w",
        *(f"-I{folder}" for folder in includes),
        *language,
        str(path),
    ]
    outcome = subprocess.run(command, capture_output=True, text=True, check=False)
    errors = [line for line in outcome.stderr.splitlines() if "error:" in line]
    return outcome.returncode == 0, errors[0] if errors else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sites", type=Path)
    parser.add_argument("checkouts", type=Path)
    arguments = parser.parse_args()
    with arguments.sites.open(newline="", encoding="utf-8") as lines:
        sites = list(csv.DictReader(lines, delimiter="\t"))
    files: dict[Path, set[str]] = {}
    for site in sites:
        if language_of(site["path"]) == "cpp" and not site["path"].endswith((".mm", ".cu")):
            tree = arguments.checkouts / f"{site['repo'].replace('/', '+')}@{site['commit']}"
            files.setdefault(tree, set()).add(site["path"])
    before = after = broken = 0
    for tree, paths in files.items():
        texts = {}
        report = fixes_for(check([str(tree)], Options(select=("GF1",))), choice=FixChoice(unsafe=True))
        for rewritten in settle(report).rewrites:
            texts[rewritten.source.path] = rewritten.source.encode(rewritten.text)
        for name in sorted(paths):
            path = tree / name
            roots = [tree, *(parent for parent in path.relative_to(tree).parents)]
            folders = [tree / folder for folder in roots]
            good, error = compiles(path, folders)
            if not good:
                print(f"  does not compile before: {name}: {error[:120]}")
                continue
            before += 1
            with tempfile.TemporaryDirectory() as scratch:
                copy = Path(scratch) / path.name
                for sibling in path.parent.iterdir():
                    if sibling.is_file() and sibling.suffix in (".h", ".hpp", ".cuh"):
                        shutil.copy(sibling, scratch)
                copy.write_bytes(texts.get(str(path), path.read_bytes()))
                good, error = compiles(copy, [path.parent, *folders])
            after += good
            broken += not good
            state = "migrated" if str(path) in texts else "unchanged"
            print(f"{'ok' if good else 'BROKEN'} {state}: {name} {error[:200]}")
    print(f"{before} files compile before, {after} of them after; {broken} broken")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
