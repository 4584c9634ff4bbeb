#!/usr/bin/env python3
"""Measures the decisions on real uses whose maintainers' choice is known.

    bench/corpus.py SITES.tsv CHECKOUTS [--verbose]

SITES.tsv has the columns id, repo, commit, path, line, kind, label, accept, why. CHECKOUTS holds one folder for each
repository and commit, named `owner+name@commit`: the whole tree at that commit. Each tree is checked as a user
would check it; nothing is written. Exit status 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections import Counter
from pathlib import Path

from guardfix.codemods.fix import Applicability
from guardfix.codemods.fixable import FixableFinding, FixableReport, fixes_for
from guardfix.linter.engine import Options, check

TARGET = 0.97
UNTOUCHED = "no-touch"


def finding_at(report: FixableReport, path: str, row: int) -> FixableFinding | None:
    facts = report.project.files.get(path)
    if facts is None:
        return None
    legacy = (finding for finding in report.findings if finding.path == path and finding.code == "GF101")
    return next((finding for finding in legacy if facts.row(finding.span.start) == row), None)


def is_edited(report: FixableReport, path: str, row: int) -> bool:
    """Whether any fix that could be applied touches the row."""
    facts = report.project.files.get(path)
    if facts is None:
        return False
    plain = [f.fix for f in report.findings if f.path == path and f.fix is not None]
    fixes = [one for fix in plain for one in (fix, *fix.further)]
    return any(
        facts.row(edit.span.start) <= row <= facts.row(edit.span.end)
        for fix in fixes
        if fix.applicability is not Applicability.DISPLAY
        for edit in fix.edits
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sites", type=Path)
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("--verbose", action="store_true", help="a line for every use, not only for the wrong ones")
    arguments = parser.parse_args()
    with arguments.sites.open(newline="", encoding="utf-8") as lines:
        sites = list(csv.DictReader(lines, delimiter="\t"))

    reports: dict[Path, FixableReport] = {}
    tally: Counter[str] = Counter()
    for site in sites:
        tree = arguments.checkouts / f"{site['repo'].replace('/', '+')}@{site['commit']}"
        if not tree.is_dir():
            print(f"{site['id']}: no checkout at {tree}", file=sys.stderr)
            tally["missing"] += 1
            continue
        if tree not in reports:
            reports[tree] = fixes_for(check([str(tree)], Options(select=("GF1",))))
        report = reports[tree]
        path, row = str(tree / site["path"]), int(site["line"])
        finding = finding_at(report, path, row)
        accepted = {("unknown" if label == "ambiguous" else label) for label in site["accept"].split(";")}
        if site["label"] == "ambiguous":
            accepted.add("unknown")
        decided, confidence = UNTOUCHED, "-"
        if finding is not None and finding.decision is not None:
            decided, confidence = finding.decision.context.value, finding.decision.confidence.value
        right = decided in accepted
        tally["right" if right else "wrong"] += 1
        tally["exact"] += decided == site["label"] or (decided == "unknown" and site["label"] == "ambiguous")
        tally["wrong with high confidence"] += not right and confidence == "high"
        tally["no-touch lines edited"] += site["label"] == UNTOUCHED and is_edited(report, path, row)
        if arguments.verbose or not right:
            fix = finding.fix.applicability.value if finding is not None and finding.fix is not None else "-"
            mark = "ok   " if right else "WRONG"
            print(f"{mark} {site['id']} {decided}/{confidence}/{fix} accept={site['accept']} {site['path']}:{row}")
    total = len(sites)
    share = tally["right"] / total
    print(f"{tally['right']} of {total} decided within `accept` ({share:.1%}), {tally['exact']} exactly as labelled")
    print(f"{tally['wrong with high confidence']} wrong with high confidence")
    print(f"{tally['no-touch lines edited']} no-touch lines edited")
    failed = share < TARGET or tally["wrong with high confidence"] or tally["no-touch lines edited"]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
