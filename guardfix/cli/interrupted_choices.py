"""The choices of a `migrate --interactive` that was interrupted: kept in the user's cache until they are written."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from guardfix.linter.files.user_cache import for_us_alone, made_folder, own_folder
from guardfix.regular_files import read_regular

if TYPE_CHECKING:
    from guardfix.codemods.fixable import FixableReport
    from guardfix.linter.facts.intents import Purpose


def _file() -> str:
    """Where those of this folder are; empty where others could have put something there."""
    here = hashlib.sha256(os.fsencode(os.path.realpath(os.curdir))).hexdigest()[:32]
    folder = own_folder("choices")
    return os.path.join(folder, f"{here}.json") if folder else ""


def keep_choices(chosen: Mapping[tuple[str, int], Purpose], report: FixableReport) -> None:
    """Keep what was chosen so far; where that can't be written, it isn't kept."""
    rows = [
        [os.path.realpath(path), _digest(path, report), offset, purpose] for (path, offset), purpose in chosen.items()
    ]
    with contextlib.suppress(OSError):
        path = _file()
        if path:
            made_folder(os.path.dirname(path))
            with open(path, "w", encoding="utf-8", opener=for_us_alone) as file:
                json.dump(rows, file)


def forget_choices() -> None:
    """They are written, or somebody decided against them."""
    with contextlib.suppress(OSError):
        os.unlink(_file())


def kept_choices(report: FixableReport) -> dict[tuple[str, int], Purpose]:
    """What was chosen in this folder for the open uses of files that are as they were then."""
    from guardfix.codemods.apply.personal_choices import offers, open_uses

    kept = {tuple(row[:3]): row[3] for row in _rows()}
    found: dict[tuple[str, int], Purpose] = {}
    for finding in open_uses(report) if kept else ():
        path, offset = finding.path, finding.span.start
        purpose = kept.get((os.path.realpath(path), _digest(path, report), offset))
        for offer in offers(finding, report) if purpose is not None else ():
            if offer.purpose == purpose:
                found[path, offset] = offer.purpose
    return found


def _rows() -> Iterator[list[object]]:
    try:
        rows = json.loads(read_regular(_file()))
    except (OSError, ValueError):
        return
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, list) and list(map(type, row)) == [str, str, int, str]:
            yield row


def _digest(path: str, report: FixableReport) -> str:
    source = report.unchanged(path)
    return hashlib.sha256(source.text).hexdigest() if source is not None else ""
