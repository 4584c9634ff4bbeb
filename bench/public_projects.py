#!/usr/bin/env python3
"""How `guardfix verify --test` does on public projects: units that compile, tests that pass, guards that tests reach.

    python bench/public_projects.py CHECKOUTS --torch PYTHON [--only NAME …] [--share 1/4] [--again] [--failures]
    python bench/public_projects.py CHECKOUTS --table docs/verify.md

`bench/public_projects.toml` lists the projects. Each is fetched into CHECKOUTS, once; PYTHON is an interpreter with
PyTorch 2.13 and pytest. What was measured is kept in CHECKOUTS, in `measured`. In C++ files new guards are written back
to old ones, and kernels that have none are given one; then the copy is migrated and verified. `--table` writes the
table. Exit status 1 when the mean share of tests is below 85 %.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from extension_tests import Project, passed_on_torch, short
from guardfix.runtime_shim.cpp import CompilerOptions
from guardfix.verify.programs.missing_names import check_files
from guardfix.verify.projects.project_tests import BuiltCopy, TestSettings
from guardfix.verify.runs.program_runs import pass_variables
from guardfix.verify.runs.tree_copies import TREE, TreeCopy
from guardfix.wording import count_of
from reached_guards import verify_json, with_old_guards

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MANIFEST = Path(__file__).with_suffix(".toml")
TARGET = 0.85
START, END = "<!-- projects: bench/public_projects.py writes this table -->\n", "<!-- end of projects -->"
_SKIPPED = re.compile(r"(?<![a-z])(cuda|hip|mps|xpu|tests?|third_?party|external|benchmarks?|examples?)(?![a-z])")
"""Words in the paths of sources that aren't compiled for the CPU, or aren't the project's own."""
_REGISTERED = re.compile(r"\.impl\(\s*(?:TORCH_SELECTIVE_NAME\()?\"[^\"]+\"\)?,\s*(?:TORCH_FN\(|&)?([\w:]+)")


@contextlib.contextmanager
def made_whole(target: Path) -> Iterator[Path]:
    """A folder that becomes `target` when all is in it, and is gone when something fails."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        yield Path(folder)
        found = [path for path in Path(folder).iterdir() if path.is_dir()]
        (found[0] if len(found) == 1 else Path(folder)).rename(target)
        Path(folder).mkdir(exist_ok=True)  # which is to be removed


def fetched(row: dict[str, Any], checkouts: Path) -> Path:
    """The project's folder, which is made if it isn't there."""
    root: Path = checkouts / row["name"]
    if root.is_dir():
        return root
    kind, _, source = row["source"].partition(":")
    with made_whole(root) as folder:
        if kind == "github":
            name, _, commit = source.partition("@")
            clone = str(folder / "clone")
            subprocess.run(["git", "clone", "--quiet", f"https://github.com/{name}", clone], check=True)
            if commit:
                subprocess.run(["git", "-C", clone, "checkout", "--quiet", commit], check=True)
        else:
            options = ["--quiet", "--no-deps", "--no-binary", ":all:", "--no-build-isolation", "--dest", str(folder)]
            subprocess.run([sys.executable, "-m", "pip", "download", *options, source], check=True, timeout=300)
            with tarfile.open(next(folder.glob("*.tar.gz"))) as archive:
                archive.extractall(folder, filter="data")
    return root


def provided(row: dict[str, Any], checkouts: Path) -> str:
    """The folder with what its tests import beside torch."""
    target: Path = checkouts / "needs" / row["name"]
    if row.get("needs") and not target.is_dir():
        with made_whole(target) as folder:
            command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder / "all")]
            subprocess.run([*command, *row["needs"]], check=True, timeout=300)
    return str(target)


@contextlib.contextmanager
def set_variables(variables: dict[str, str]) -> Iterator[None]:
    """These variables are set for what is run inside, and are then what they were."""
    before = dict(os.environ)
    os.environ.update(variables)
    pass_variables(tuple(variables))
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def units_of(root: Path) -> list[str]:
    """The C++ sources for the CPU, without those of tests and of other libraries."""
    found = (path for suffix in ("cpp", "cc") for path in root.rglob(f"*.{suffix}"))
    return sorted(str(p) for p in found if not _SKIPPED.search(str(p.relative_to(root)).lower()))


def with_planted_guards(root: Path) -> int:
    """Puts the old guard into kernels that have none; how many."""
    count = 0
    for path in map(Path, units_of(root)):
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
        if "_LIBRARY_IMPL(" not in text and ".impl(" not in text:
            continue
        for name in dict.fromkeys(found.rpartition("::")[2] for found in _REGISTERED.findall(text)):
            body = re.search(rf"^[\w:<>,&* ]+\b{name}\s*\([^;{{}}]*\)\s*\{{", text, re.MULTILINE)
            if body is not None and "Guard" not in text[body.end() : body.end() + 300]:
                text = f"{text[: body.end()]} at::AutoNonVariableTypeMode guard_of_a_test;{text[body.end() :]}"
                count += 1
        path.write_text(text, encoding="utf-8", errors="surrogateescape")
    return count


def measure(row: dict[str, Any], checkouts: Path, python: str | None, seconds: float, known: dict[str, Any]) -> Any:
    """What is known about the project, with what could be measured now."""
    root = fetched(row, checkouts)
    variables = {"PYTHONPATH": provided(row, checkouts), **row.get("variables", {})}
    with set_variables(variables):
        return measured_in(row, root, tuple(variables), python, seconds, known)


def measured_in(
    row: dict[str, Any], root: Path, variables: tuple[str, ...], python: str | None, seconds: float, known: Any
) -> dict[str, Any]:
    project = Project(row["name"], row["tests"], built_in=row.get("built_in", ""))
    found: dict[str, Any] = {"name": row["name"], "round": row["round"], "torch": known.get("torch")}
    if python and not found["torch"]:
        began = time.monotonic()
        passed, took = passed_on_torch(project, root, python, os.cpu_count() or 1, seconds)
        found["torch"] = {"passed": sorted(passed), "tests": took, "all": time.monotonic() - began}
    units = units_of(root)
    if units:
        checked = [file for file in check_files(units, {}, CompilerOptions()) if file.path.endswith(("cpp", "cc"))]
        found["refused"] = {
            file.path: file.error or ", ".join(file.names) for file in checked if file.error or file.names
        }
        found["units"] = len(checked)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder).resolve() / root.name
        TreeCopy(root, copy, TREE).restore({})
        guards = (with_old_guards(copy), with_planted_guards(copy)) if units else (0, 0)
        began = time.monotonic()
        command = f"python -m pytest -q -p no:cacheprovider {row['tests']}"
        if any(guards):
            report = verify_json(copy, command, seconds, variables=variables)
            found["seconds"] = time.monotonic() - began
            tests = {test["name"]: (test["before"], test["missing"] or test["reason"]) for test in report["tests"]}
            found["guards"] = {
                "written": guards,
                "verdicts": Counter(one["verdict"] for one in report["guards"]),
                "reasons": [f"{one['verdict']}: {one['reason']}" for one in report["guards"] if one["reason"]],
                "tests": Counter(test["verdict"] for test in report["tests"]),
            }
        else:
            built = BuiltCopy(copy, Path(folder) / "run", TestSettings(command, seconds=seconds))
            made_at = time.monotonic()
            made = built.test()
            found["build"], found["seconds"] = made_at - began, time.monotonic() - made_at
            tests = {name: (run.outcome, run.missing or run.said) for name, run in made.tests.items()}
            if not tests:
                print((made.failed_build or made.output)[-1500:])
    found["shim"] = {short(name): [outcome or "", why] for name, (outcome, why) in tests.items()}
    return found


def share(found: dict[str, Any]) -> tuple[int, int]:
    """How many tests pass on the shim, of those that pass on PyTorch."""
    wanted = set((found.get("torch") or {}).get("passed", ()))
    ours = {name for name, (outcome, _) in found["shim"].items() if outcome in ("passed", "xpassed")}
    return len(wanted & ours), len(wanted)


def in_words(found: dict[str, Any]) -> list[str]:
    """A row of the table."""
    passed, wanted = share(found)
    units, guards = found.get("units"), found.get("guards")
    verdicts = Counter(guards["verdicts"]) if guards else Counter[str]()
    reached = sum(verdicts[name] for name in ("same", "repaired", "stricter", "changed"))
    return [
        found["name"],
        f"{units - len(found['refused'])} of {units}" if units else "",
        found.get("first", ""),
        f"{passed} of {wanted}" if wanted else "not known",
        f"{reached} of {verdicts.total()}" if guards else "",
        f"{(found.get('torch') or {}).get('tests', 0):.0f}",
        f"{found['seconds']:.0f}{' twice' if guards else ''}",
    ]


def table(rows: list[dict[str, Any]]) -> Iterator[str]:
    """The table, round by round."""
    titles = {1: "Failures here are looked into", 2: "Only measured"}
    for number, title in titles.items():
        chosen = [row for row in rows if row["round"] == number]
        shares = [passed / wanted for passed, wanted in map(share, chosen) if wanted]
        if not shares:
            continue
        mean, median = statistics.mean(shares), statistics.median(shares)
        yield f"\n{title} ({count_of(len(shares), 'project')}; tests: mean {mean:.0%}, median {median:.0%}):\n"
        yield (
            "| project | units | at first sight | tests that pass, of those on PyTorch | guards reached | "
            "seconds on PyTorch | here |"
        )
        yield "|---|---|---|---|---|---|---|"
        yield from (f"| {' | '.join(in_words(row))} |" for row in chosen)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("--torch", metavar="PYTHON", help="an interpreter that has PyTorch")
    parser.add_argument("--only", metavar="NAME", action="append")
    parser.add_argument("--share", metavar="N/M", default="1/1", help="the Nth of M parts of the list")
    parser.add_argument("--again", action="store_true", help="measure anew what was measured on the shim")
    parser.add_argument("--failures", action="store_true", help="print why tests fail on the shim")
    parser.add_argument("--seconds", type=float, default=300, help="limit of a project's tests")
    parser.add_argument("--table", type=Path, help="the page that has the table")
    options = parser.parse_args()
    kept = options.checkouts.resolve() / "measured"
    kept.mkdir(parents=True, exist_ok=True)
    part, parts = map(int, options.share.split("/"))
    rows = tomllib.loads(MANIFEST.read_text(encoding="utf-8"))["project"]
    measured = []
    for row in rows[part - 1 :: parts]:
        if options.only and row["name"] not in options.only:
            continue
        record = kept / f"{row['name']}.json"
        known = json.loads(record.read_text()) if record.is_file() else {}
        if not options.table and (options.again or not known):
            try:
                known = measure(row, options.checkouts.resolve(), options.torch, options.seconds, known)
            except (subprocess.SubprocessError, OSError) as error:
                print(f"{row['name']}: {error}", flush=True)
                continue
            record.write_text(json.dumps(known, indent=1))
        if not known:
            continue
        known |= {"round": row["round"], "first": row.get("first", "")}
        measured.append(known)
        print(" | ".join(in_words(known)), flush=True)
        if options.failures:
            wanted = set((known.get("torch") or {}).get("passed", ()))
            passed = {name for name in wanted if known["shim"].get(name, [""])[0] == "passed"}
            why = Counter(known["shim"].get(name, ["", "did not run"])[1] for name in wanted - passed)
            for reason, times in [*why.most_common(8), *Counter(known.get("refused", {}).values()).most_common(5)]:
                print(f"    {times:>4}  {reason[:200]}")
    if options.table:
        text = options.table.read_text(encoding="utf-8")
        before, _, rest = text.partition(START)
        made = "\n".join(table(measured))
        options.table.write_text(f"{before}{START}{made}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")
    shares = [passed / wanted for passed, wanted in map(share, measured) if wanted]
    print(f"tests: mean {statistics.mean(shares):.1%}, median {statistics.median(shares):.1%}" if shares else "nothing")
    return 0 if shares and statistics.mean(shares) >= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
