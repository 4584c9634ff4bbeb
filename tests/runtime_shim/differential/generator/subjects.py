"""The register of the functions that write statements."""

from __future__ import annotations

from collections.abc import Callable

from .scene import Scene

Writer = Callable[[Scene], None]
SUBJECTS: dict[str, list[tuple[Writer, float]]] = {}
LONG_SUBJECTS: dict[str, list[tuple[Writer, float]]] = {}


def subject(name: str, weight: float = 1.0) -> Callable[[Writer], Writer]:
    """Registers a function that appends statements to a scene, or none where the scene has nothing for it."""

    def register(write: Writer) -> Writer:
        SUBJECTS.setdefault(name, []).append((write, weight))
        return write

    return register


def long_subject(name: str, weight: float = 1.0) -> Callable[[Writer], Writer]:
    """Registers a function for programs of the profile "long" alone."""

    def register(write: Writer) -> Writer:
        LONG_SUBJECTS.setdefault(name, []).append((write, weight))
        return write

    return register
