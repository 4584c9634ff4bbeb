"""Which language a file is in, by its name. Imported on every run, so it imports next to nothing."""

from __future__ import annotations

from collections.abc import Mapping

from .funnel_table import LANGUAGES


def language_of(name: str, languages: Mapping[str, str] = LANGUAGES) -> str | None:
    """The language that a file name's suffix stands for (`cpp`, `python`), or None."""
    suffix = name[name.rfind(".") :]
    return languages.get(suffix) or languages.get(suffix.lower())
