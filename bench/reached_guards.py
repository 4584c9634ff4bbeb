#!/usr/bin/env python3
"""How many migrated guards of public extensions their own tests reach, as `guardfix verify --test` counts them.

    python bench/reached_guards.py CHECKOUTS [--only NAME] [--exercise]

CHECKOUTS is a folder as `bench/extensions.py` makes it. Most of their authors have migrated: in a copy each guard that
excludes autograd keys is written back to the deprecated one. Then guardfix migrates the copy, builds both and runs
the tests on the shim. `--exercise` also calls the ops that no test reaches, with made-up inputs. Exit status 1 when
fewer than 90 % of the guards are reached.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from extension_tests import PROJECTS, Project
from guardfix.linter.frontends.cpp.cpp_frontend import FRONTEND
from guardfix.verify.runs.tree_copies import TREE, TreeCopy

TARGET = 0.9
_MISSED = "not reached"
_OLD = b"AutoNonVariableTypeMode"
_NEW = re.compile(rb"\b(?:at::|c10::)?(?:AutoDispatchBelowADInplaceOrView|AutoDispatchBelowAutograd|InferenceMode)\b")


def with_old_guards(root: Path) -> int:
    """Writes the new guards of a copy's sources back to the old one; how many."""
    count = 0
    for path in sorted(root.rglob("*")):
        if path.suffix in FRONTEND.suffixes and path.is_file():
            text, times = _NEW.subn(b"at::" + _OLD, path.read_bytes())
            if times:
                path.write_bytes(text)
                count += times
    return count


def verified(project: Project, root: Path, *, exercise: bool) -> dict[str, Any]:
    """The report of `guardfix verify` on a copy with old guards."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder).resolve() / root.name
        TreeCopy(root, copy, TREE).restore({})
        project.prepare(copy)
        with_old_guards(copy)
        build = f"sh -c 'cd {project.built_in} && python setup.py build_ext --inplace'" if project.built_in else ""
        command = f"python -m pytest -q -p no:cacheprovider {project.tests}"
        return verify_json(copy, command, 3000, build, exercise=exercise)


def verify_json(
    copy: Path, tests: str, seconds: float, build: str = "", *, variables: tuple[str, ...] = (), exercise: bool = False
) -> dict[str, Any]:
    """The report of `guardfix verify --test` on a folder."""
    command = [sys.executable, "-m", "guardfix", "verify", "--yes", "--isolated", "--output-format", "json"]
    command += ["--test", tests, "--timeout", str(seconds)]
    command += ["--test-build", build] if build else []
    command += ["--exercise"] if exercise else []
    command += [word for name in variables for word in ("--env", name)]
    run = subprocess.run([*command, str(copy)], capture_output=True, text=True, check=False)
    try:
        report: dict[str, Any] = json.loads(run.stdout)
    except ValueError:
        print(f"{copy.name}: {run.stdout[-1000:]}{run.stderr[-2000:]}", file=sys.stderr)
        return {"tests": [], "guards": []}
    return report


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("--only", metavar="NAME")
    parser.add_argument("--exercise", action="store_true", help="call the ops that no test reaches")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="compilers at a time")
    options = parser.parse_args()
    os.environ["MAX_JOBS"] = str(options.jobs)
    verdicts: Counter[str] = Counter()
    for project in PROJECTS:
        root = (options.checkouts / project.name).resolve()
        if options.only not in (None, project.name) or not root.is_dir() or not _has_guards(root):
            continue
        started = time.monotonic()
        report = verified(project, root, exercise=options.exercise)
        found = Counter(guard["verdict"] for guard in report["guards"])
        verdicts += found
        seconds = time.monotonic() - started
        print(f"{project.name}: {_in_words(found)}; {len(report['tests'])} tests, {seconds:.0f} s", flush=True)
        for guard in report["guards"]:
            if guard["verdict"] == _MISSED:
                print(f"    {guard['filename']}:{guard['location']['row']}: {guard['reason']}")
    total = verdicts.total()
    reached = total - verdicts[_MISSED]
    print(f"{reached} of {total} migrated guards are reached (target: {TARGET:.0%})")
    return 0 if total and reached / total >= TARGET else 1


def _has_guards(root: Path) -> bool:
    files = (path for path in root.rglob("*") if path.suffix in FRONTEND.suffixes and path.is_file())
    return any(_OLD in text or _NEW.search(text) for text in map(Path.read_bytes, files))


def _in_words(verdicts: Counter[str]) -> str:
    return ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common()) or "no guard is migrated"


if __name__ == "__main__":
    sys.exit(main())
