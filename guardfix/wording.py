"""Words that several commands and output formats share. The quick answer needs them, so nothing is imported here."""

from __future__ import annotations


def count_of(number: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def passed(files: int, why_none: str = "") -> str:
    """The summary of a run without findings; `why_none` says why no file was looked at."""
    if files == 0:
        return f"No C++ or Python files to check{f': {why_none}' if why_none else ''}.\n"
    return f"All checks passed ({count_of(files, 'file')}).\n"
