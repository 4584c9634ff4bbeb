"""A baseline: the findings that a tree had when guardfix came, which a check passes over.

Findings are recognised by `Mark`, not by row: after lines have moved, after the file or the function has been renamed,
and after a function has gone to another file. Each entry answers for as many findings as it counts, so that the number
only falls.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from guardfix.linter.engine import Report
from guardfix.linter.findings import Finding
from guardfix.regular_files import read_regular

from .fingerprints import Mark, function_name, mark_of_finding

BASELINE_FILE = "guardfix-baseline.json"
_VERSION = 1
_INITIAL = "initial_count"
_FIELDS = ("path", "code", "function", "text", "count")


class BadBaseline(Exception):
    """A baseline that cannot be used; the message says where and why."""


class Known(NamedTuple):
    """A finding of a file, whatever its row."""

    path: str
    """From the baseline's folder on, with slashes."""
    mark: Mark


@dataclass(frozen=True)
class Compared:
    """A report against a baseline."""

    new: list[Finding]
    """Findings that the baseline does not hold."""
    passed_over: int
    """How many it holds."""
    stale: Counter[Known]
    """What it holds and the run did not find any more, although it looked."""
    kept: Counter[Known]
    """The baseline without what is stale, with the names that files and functions have now."""


@dataclass(frozen=True)
class Baseline:
    """The findings of a baseline's file."""

    folder: str
    """Where its paths start from, links resolved."""
    entries: Counter[Known]
    initial: int
    """How many findings it held when it was created; `updated` keeps this, so that progress can be shown."""

    @classmethod
    def of(cls, report: Report, folder: str) -> Baseline:
        """All findings of a report."""
        folder = os.path.realpath(folder)
        entries = Counter(_known(finding, report, folder) for finding in report.findings)
        return cls(folder, entries, entries.total())

    def updated(self, entries: Counter[Known]) -> Baseline:
        """The same baseline with what is left of it."""
        return Baseline(self.folder, entries, self.initial)

    @classmethod
    def read(cls, path: str) -> Baseline:
        """The baseline of a file. Raises `BadBaseline`."""
        try:
            stored = json.loads(read_regular(path).decode("utf-8"))
        except OSError as error:
            raise BadBaseline(f"{path}: {error.strerror or error}") from None
        except ValueError as error:
            raise BadBaseline(f"{path}: not valid JSON: {error}") from None
        except RecursionError:
            raise BadBaseline(f"{path}: not valid JSON: it nests too deep") from None
        folder = os.path.dirname(os.path.realpath(path))
        if not isinstance(stored, dict) or not isinstance(stored.get("findings"), list):
            raise BadBaseline(f"{path}: not a baseline; `guardfix baseline create` writes one")
        if stored.get("version") != _VERSION:
            raise BadBaseline(
                f"{path}: its version is {stored.get('version')!r}; this guardfix reads version {_VERSION}"
            )
        entries: Counter[Known] = Counter()
        for number, row in enumerate(stored["findings"]):
            if not _is_entry(row):
                raise BadBaseline(f"{path}: `findings[{number}]` is not an entry of a baseline")
            entries[Known(row["path"], Mark(row["code"], row["function"], row["text"]))] += row["count"]
        initial = stored.get(_INITIAL, entries.total())
        if type(initial) is not int or initial < 0:
            raise BadBaseline(f"{path}: `{_INITIAL}` is not a count")
        return cls(folder, entries, max(initial, entries.total()))

    def text(self) -> str:
        """The baseline as its file holds it: sorted, one line a row, so that branches that change it merge well."""
        rows = [
            json.dumps(dict(zip(_FIELDS, (known.path, *known.mark, count), strict=True)))
            for known, count in sorted(self.entries.items())
            if count
        ]
        inner = ",\n".join(f"    {row}" for row in rows)
        findings = f"[\n{inner}\n  ]" if rows else "[]"
        return f'{{\n  "version": {_VERSION},\n  "{_INITIAL}": {self.initial},\n  "findings": {findings}\n}}\n'

    def compared(self, report: Report) -> Compared:
        """What of a report is new, and what of the baseline is done."""
        names = {finding.path: _name(finding.path, self.folder) for finding in report.findings}
        left = Counter(self.entries)
        kept: Counter[Known] = Counter()
        open_: list[tuple[Finding, Known]] = []
        for finding in report.findings:
            known = Known(names[finding.path], mark_of_finding(finding, report))
            if left[known] > 0:
                left[known] -= 1
                kept[known] += 1
            else:
                open_.append((finding, known))
        left, unseen = self._seen(left, report)
        functions = {
            name: {function_name(one.qualified) for one in report.project.files[path].functions}
            for path, name in names.items()
            if path in report.project.files
        }
        candidates: dict[tuple[str, str], list[Known]] = {}
        for known in sorted(left):
            candidates.setdefault((known.mark.code, known.mark.text), []).append(known)
        new = []
        for finding, known in open_:
            old = next(
                (
                    one
                    for one in candidates.get((known.mark.code, known.mark.text), ())
                    if left[one] > 0 and _may_have_become(one, known, functions)
                ),
                None,
            )
            if old is None:
                new.append(finding)
            else:
                left[old] -= 1
                kept[known] += 1
        return Compared(new, sum(kept.values()), +left, kept + unseen)

    def _seen(self, left: Counter[Known], report: Report) -> tuple[Counter[Known], Counter[Known]]:
        """(entries that the run would have found again, the others): it looked at their files, by their rules."""
        looked_at = {_name(path, self.folder) for path in report.paths}
        codes = {rule.code for rule in report.rules}
        seen: Counter[Known] = Counter()
        unseen: Counter[Known] = Counter()
        for known, count in left.items():
            there = os.path.exists(os.path.join(self.folder, known.path))
            is_seen = known.mark.code in codes and (known.path in looked_at or not there)
            (seen if is_seen else unseen)[known] += count
        return +seen, +unseen


def _may_have_become(old: Known, new: Known, functions: Mapping[str, set[str]]) -> bool:
    """Whether a finding can be one that the baseline knows by another name."""
    if old.path == new.path:  # the function was renamed: it isn't there any more under its old name
        return old.mark.function not in functions.get(new.path, ())
    return old.mark.function == new.mark.function


def _known(finding: Finding, report: Report, folder: str) -> Known:
    return Known(_name(finding.path, folder), mark_of_finding(finding, report))


def _name(path: str, folder: str) -> str:
    above, name = os.path.split(os.path.abspath(path))
    full = os.path.join(os.path.realpath(above), name)
    try:
        return os.path.relpath(full, folder).replace(os.sep, "/")
    except ValueError:  # on another drive
        return full.replace(os.sep, "/")


def _is_entry(row: Any) -> bool:
    return (
        isinstance(row, dict)
        and all(isinstance(row.get(field), str) for field in _FIELDS[:-1])
        and type(row.get("count")) is int
        and row["count"] > 0
    )


def counts_by(entries: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """(label, count) pairs added up by label, the greatest first."""
    total: Counter[str] = Counter()
    for label, count in entries:
        total[label] += count
    return sorted(total.items(), key=lambda pair: (-pair[1], pair[0]))
