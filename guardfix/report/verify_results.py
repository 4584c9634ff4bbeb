"""The verdicts of `guardfix verify --output-format json`, found again by the findings that they are about."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import Any

from guardfix.regular_files import read_regular

_WORST_FIRST = (
    "changed",
    "stricter",
    "not run",
    "unsupported",
    "repaired",
    "same",
    "not reached",
    "nothing to verify",
)

FindingPlace = tuple[str, str, int]
"""Real path, code, row."""


class BadVerifyResults(Exception):
    """The file holds no verdicts; the message says why."""


@dataclass(frozen=True)
class VerifyResults:
    """What verifying said of findings, by their places."""

    by_place: dict[FindingPlace, dict[str, Any]] = field(default_factory=dict)

    def about(self, path: str, code: str, row: int) -> dict[str, Any] | None:
        """The verdict on a finding: the worst of the programs that entered its guard. None where nothing was run."""
        return self.by_place.get((os.path.realpath(path), code, row))


def read_verify_results(path: str) -> VerifyResults:
    """Read the file; paths in it start from the working folder. Raises `BadVerifyResults`, OSError."""
    text = read_regular(path)
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        raise BadVerifyResults("it isn't JSON; write it with `guardfix verify --output-format json`") from None
    found = VerifyResults()
    try:
        for result in read:
            for place, entered in _places(result).items():
                verdict = _verdict(result, entered)
                known = found.by_place.get(place)
                if known is None or _rank(verdict) < _rank(known):
                    found.by_place[place] = verdict
    except (KeyError, TypeError, AttributeError, IndexError):
        raise BadVerifyResults("these aren't the results of `guardfix verify --output-format json`") from None
    return found


def _places(result: dict[str, Any]) -> dict[FindingPlace, bool]:
    """The places of the findings that a result is about, and whether their guards were entered."""
    found = {_place(fix): False for fix in result["migrated"]}
    for guard in result["guards"]:
        if guard["code"]:
            found[_place(guard)] = any(guard["entered"].values())
    return found


def _place(one: dict[str, Any]) -> FindingPlace:
    return os.path.realpath(one["filename"]), str(one["code"]), int(one["location"]["row"])


def _verdict(result: dict[str, Any], entered: bool) -> dict[str, Any]:
    is_told = entered or not result["guards"] or result["verdict"] == "unsupported"
    return {
        "verdict": str(result["verdict"]) if is_told else "not reached",
        "program": str(result["filename"]),
        "reason": str(result["reason"]) if is_told else "the program did not enter this guard",
        "advice": str(result["advice"] or "") if is_told else "",
        "trace": [_row(row) for row in result.get("trace", ())] if entered else [],
    }


def _row(row: dict[str, Any]) -> list[Any]:
    """A step as the page reads it: number, agreement, and on each side the guards and what it gives."""
    sides = [row[side] and [" > ".join(row[side]["guards"]), str(row[side]["message"])] for side in ("before", "after")]
    return [int(row["step"]), str(row["agreement"]), *sides]


def _rank(verdict: dict[str, Any]) -> int:
    name = verdict["verdict"]
    return _WORST_FIRST.index(name) if name in _WORST_FIRST else len(_WORST_FIRST)
