"""Names of C++ as they are written and as they are qualified."""

from __future__ import annotations


def names_agree(written: tuple[str, ...], qualified: tuple[str, ...]) -> bool:
    """Whether a name as written can mean the qualified one: one is a tail of the other."""
    short, long = sorted((written, qualified), key=len)
    return long[len(long) - len(short) :] == short
