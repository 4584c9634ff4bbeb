"""Uses whose maintainers' choice is known, read from tables, with what guardfix finds at each of them.

A table has the columns id, repo, commit, path, line, label and accept, separated by tabs. Its folder of checkouts holds
one tree for each repository and commit, named `owner+name@commit` or with the first ten digits of the commit.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from guardfix.codemods.fixable import FixableFinding, FixableReport, fixes_for
from guardfix.linter.engine import Options, check


class LabelledSite(NamedTuple):
    """One row of a table, and what the check of its tree says."""

    row: dict[str, str]
    report: FixableReport
    path: str
    line: int
    finding: FixableFinding | None
    """What decides about the use; None where nothing is reported."""

    @property
    def label(self) -> str:
        return self.row["label"]

    @property
    def accepted(self) -> frozenset[str]:
        """Every context that a careful maintainer would accept."""
        accepted = {"unknown" if label == "ambiguous" else label for label in self.row["accept"].split(";")}
        return frozenset(accepted | {"unknown"} if self.label == "ambiguous" else accepted)


def read_table(table: Path) -> list[dict[str, str]]:
    with table.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def labelled_sites(rows: Iterable[dict[str, str]], checkouts: Path) -> Iterator[LabelledSite]:
    """The rows whose trees are there, each tree checked once, as a user would check it; the others are named."""
    reports: dict[Path, FixableReport] = {}
    for row in rows:
        tree = _tree(row, checkouts)
        if tree is None:
            print(f"{row['id']}: no checkout of {row['repo']} at {row['commit']} in {checkouts}", file=sys.stderr)
            continue
        if tree not in reports:
            reports[tree] = fixes_for(check([str(tree)], Options(select=("GF1",), workers=1)))
        report, path, line = reports[tree], str(tree / row["path"]), int(row["line"])
        yield LabelledSite(row, report, path, line, _finding_at(report, path, line))


def _tree(row: dict[str, str], checkouts: Path) -> Path | None:
    name = f"{row['repo'].replace('/', '+')}@{row['commit']}"
    candidates = (checkouts / name, checkouts / name[: name.index("@") + 11])
    return next((tree for tree in candidates if tree.is_dir()), None)


def _finding_at(report: FixableReport, path: str, line: int) -> FixableFinding | None:
    facts = report.project.files.get(path)
    if facts is None:
        return None
    legacy = (finding for finding in report.findings if finding.path == path and finding.code == "GF101")
    return next((finding for finding in legacy if facts.row(finding.span.start) == line), None)
