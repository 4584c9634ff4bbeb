#!/usr/bin/env python3
"""Measures the decisions on real uses whose maintainers' choice is known.

    bench/corpus.py SITES.tsv CHECKOUTS [--verbose]

SITES.tsv and CHECKOUTS are as bench/labelled_sites.py says; each tree is checked as a user would check it, and nothing
is written. Exit status 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

from guardfix.linter.findings import Applicability
from labelled_sites import LabelledSite, labelled_sites, read_table

TARGET = 0.97
UNTOUCHED = "no-touch"


def is_edited(site: LabelledSite) -> bool:
    """Whether any fix that could be applied touches the row."""
    facts = site.report.project.files.get(site.path)
    if facts is None:
        return False
    plain = [f.fix for f in site.report.findings if f.path == site.path and f.fix is not None]
    fixes = [one for fix in plain for one in (fix, *fix.further)]
    return any(
        facts.row(edit.span.start) <= site.line <= facts.row(edit.span.end)
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
    rows = read_table(arguments.sites)
    tally: Counter[str] = Counter()
    for site in labelled_sites(rows, arguments.checkouts):
        finding = site.finding
        decided, confidence = UNTOUCHED, "-"
        if finding is not None and finding.decision is not None:
            decided, confidence = finding.decision.context.value, finding.decision.confidence.value
        right = decided in site.accepted
        tally["right" if right else "wrong"] += 1
        tally["exact"] += decided == site.label or (decided == "unknown" and site.label == "ambiguous")
        tally["wrong with high confidence"] += not right and confidence == "high"
        tally["no-touch lines edited"] += site.label == UNTOUCHED and is_edited(site)
        if arguments.verbose or not right:
            fix = finding.fix.applicability.value if finding is not None and finding.fix is not None else "-"
            said = f"{'ok   ' if right else 'WRONG'} {site.row['id']} {decided}/{confidence}/{fix}"
            print(f"{said} accept={site.row['accept']} {site.row['path']}:{site.line}")
    share = tally["right"] / len(rows)
    print(
        f"{tally['right']} of {len(rows)} decided within `accept` ({share:.1%}), {tally['exact']} exactly as labelled"
    )
    print(f"{tally['wrong with high confidence']} wrong with high confidence")
    print(f"{tally['no-touch lines edited']} no-touch lines edited")
    failed = share < TARGET or tally["wrong with high confidence"] or tally["no-touch lines edited"]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
