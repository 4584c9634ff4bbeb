"""The tests that fail on PyTorch itself, as pytest or unittest said there."""

from __future__ import annotations

import re
from collections.abc import Iterator

_PYTEST = re.compile(r"(?:FAILED|ERROR) (\S+?\.py\b.*)$")
_UNITTEST = re.compile(r"(?:FAIL|ERROR): (\w+) \(([\w.]+)\)")


def known_failures(output: str) -> frozenset[str]:
    """The names of the failed tests in what a command printed, among its summary's lines."""
    return frozenset(name for line in output.splitlines() for name in _names(line.strip()))


def _names(line: str) -> Iterator[str]:
    if found := _UNITTEST.match(line):
        test, inside = found.groups()
        yield inside if inside.endswith(f".{test}") else f"{inside}.{test}"  # since Python 3.11, or before
    elif found := _PYTEST.match(line):
        # `FAILED tests/test_a.py::test_b[1 - 2] - ValueError: 3 - 4`: where the name ends can't be seen.
        parts = found[1].split(" - ")
        yield from (" - ".join(parts[:count]) for count in range(1, len(parts) + 1))
