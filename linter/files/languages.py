"""Which language a file is in, by its name. Imported on every run, so it imports next to nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from .prefilter_table import LANGUAGES, ON_REQUEST


def language_of(name: str, languages: Mapping[str, str] = LANGUAGES) -> str | None:
    """The language that a file name's suffix stands for (`cpp`, `python`), or None."""
    suffix = name[name.rfind(".") :]
    return languages.get(suffix) or languages.get(suffix.lower())


def why_not_read(paths: Sequence[str]) -> str:
    """Why none of the files that are named is looked at, by the first of them; empty where folders are named."""
    named = next((path for path in paths if os.path.isfile(path)), "")
    if not named or len(named) > 200 or not named.isprintable():
        return ""
    if language_of(named, ON_REQUEST) is not None:
        return f"the C++ in the code blocks of {named} is checked with `--include-docs`"
    return f"{named} is in neither language, by its name" if language_of(named) is None else ""
