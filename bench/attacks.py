#!/usr/bin/env python3
"""All attacks that the tests know, at length: what was tried, and what got through.

    bench/attacks.py [KIND…]        runs them and keeps the counts in bench/last_attacks.json
    bench/attacks.py --table PAGE   writes the counts into the page, between its two comments

With names of kinds, the others keep their counts. A test tells how many attacks it makes by the property `attacks`;
otherwise it is one. Exit status 1 if one got through. The whole takes some 40 minutes.
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
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
_COUNTS = ROOT / "bench" / "last_attacks.json"
_BLOCK = re.compile(r"(<!-- attacks: generated -->\n).*?(<!-- end of attacks -->)", re.DOTALL)

KINDS = {
    "git": (
        "git runs nothing that a repository, its hooks or the environment name, and fetches nothing that is missing",
        ["tests/guardfix/test_closed_git.py"],
    ),
    "modules": (
        "no module of ours comes from the current folder; every start of a program is known",
        ["tests/guardfix/test_started_programs.py", "tests/guardfix/test_module_command.py"],
    ),
    "terminal": (
        "nothing printed acts on a terminal, in a log or on a page",
        ["tests/guardfix/test_terminal_tree.py", "tests/guardfix/output/test_foreign_text.py"],
    ),
    "containment": (
        "what a contained program can do is what the table says",
        ["tests/guardfix/verify/test_containment_table.py"],
    ),
    "server": (
        "the language server answers every request once, or ends, whatever it is sent",
        ["tests/guardfix/server/test_hostile_frames.py"],
    ),
    "pages": (
        "`serve` shows only the report's files, and no client can keep it waiting",
        ["tests/guardfix/playground"],
    ),
    "campaign": (
        "a query reads the campaign's tables alone; a manifest names nothing outside of the results",
        ["tests/guardfix/campaign/test_closed_queries.py", "tests/guardfix/campaign/test_campaign_manifest.py"],
    ),
    "cache": ("nothing is read from a cache that others can write to", ["tests/linter/files/test_shared_cache.py"]),
    "last lines": ("no fix changes how a text ends", ["tests/codemods/test_last_line.py"]),
}
"""Of each kind the promise, and the tests that attack it."""


def attacked(tests: list[str]) -> dict[str, int]:
    """How many attacks the tests made, and how many got through or could not be made here."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder, "results.xml")
        command = [sys.executable, "-m", "pytest", "-q", "-m", "", f"--junitxml={results}", *tests]
        start = time.monotonic()
        subprocess.run(command, cwd=ROOT, check=False, env={"GUARDFIX_ATTACKS": "5", **os.environ})
        counts = {"attacks": 0, "through": 0, "not tried": 0, "seconds": round(time.monotonic() - start)}
        for case in ElementTree.parse(results).iter("testcase"):
            made = sum(int(one.get("value", "")) for one in case.iter("property") if one.get("name") == "attacks") or 1
            kind = "attacks" if case.find("skipped") is None else "not tried"
            counts[kind] += made
            counts["through"] += case.find("failure") is not None or case.find("error") is not None
    return counts


def table(counts: dict[str, Any]) -> str:
    """The promises, their tests and the counts, as a table for the documentation."""
    rows = ["| promise | tests | attacks in the last run | got through |", "|---|---|---|---|"]
    for kind, (promise, tests) in KINDS.items():
        found = counts[kind]
        left_out = f"; {found['not tried']} can't be made there" if found["not tried"] else ""
        names = ", ".join(f"`{name}`" for name in tests)
        rows.append(f"| {promise} | {names} | {found['attacks']:,}{left_out} | {found['through']} |")
    return "\n".join(rows) + "\n"


def with_table(page: str) -> str:
    """The page with the table of the last run."""
    counts = json.loads(_COUNTS.read_text(encoding="utf-8"))
    return _BLOCK.sub(lambda found: f"{found[1]}{table(counts)}{found[2]}", page)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", type=Path, metavar="PAGE")
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(KINDS))
    options = parser.parse_args()
    if options.table:
        options.table.write_text(with_table(options.table.read_text(encoding="utf-8")), encoding="utf-8")
        return 0
    counts = json.loads(_COUNTS.read_text(encoding="utf-8")) if _COUNTS.exists() else {}
    for kind in options.kinds or KINDS:
        counts[kind] = attacked(KINDS[kind][1])
        print(f"{kind}: {counts[kind]}", flush=True)
        _COUNTS.write_text(json.dumps(counts, indent=2) + "\n", encoding="utf-8")
    return 1 if any(one["through"] for one in counts.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
