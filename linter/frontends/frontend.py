"""A front end is a language: what its files are called, and how a text of it becomes facts.

Each sub-package `X` here has a module `X_frontend.py` with a `FRONTEND`; it is found by itself. Facts name their
front end (`Facts.language`), and `frontend_named` gives the object: code that depends on how languages differ asks it
and compares no names. These modules import their parsers only when they are asked to read something.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Protocol

from msgspec import Struct

from ..facts import Facts, GuardUse, Span
from ..facts.file_summary import FileSummary
from ..facts.header_facts import HeaderFacts
from ..facts.python_model import Disagreement
from ..files.search_terms import SearchTerms
from ..files.sources import Source
from ..guards import Effect, Guard


class UnknownFrontend(Exception):
    """A language that no front end has."""


def _nowhere(text: bytes) -> Iterable[Span]:
    return ()


def _reads_all(path: str, text: bytes) -> tuple[int, ...]:
    return ()


def _row_of(source: Source, offset: int) -> int:
    return source.row(offset)


class Confirms(Protocol):
    """A parser of record, asked about what was found in one file."""

    def construct(self, span: Span, use: GuardUse | None) -> Span | Disagreement:
        """The construct at the span, anchored to the parser's own node, or in what it differs."""


class Frontend(Struct, frozen=True, kw_only=True, eq=False):
    """One language, or one kind of file that holds code of another.

    The functions are given by the front end's module, which imports what they need when they are called.
    """

    name: str
    """As `Facts.language` and `Rule.languages` have it."""
    title: str
    """As users read it: `C++`."""
    guards: dict[str, Guard]
    """The rows of the guard table that its code can name."""
    extract: Callable[[Source, frozenset[str], SearchTerms | None], Facts | None]
    """(source, watched, terms) -> the facts of a text, or None when nothing in it can matter. Names that are watched
    are reported like guards; `terms` is what the rules look for, None when that is what is recorded."""
    extract_named: Callable[[Source, frozenset[str], SearchTerms | None, frozenset[str]], Facts | None] | None = None
    """(source, watched, terms, names) -> the facts of a text, of which the functions with these names matter as well,
    and its classes, and what it does with models; None where `extract` reads all of a text."""
    may_fill: Callable[[bytes], bool] | None = None
    """Whether a model in a text may fill its own cache when it is run first (GF503), by the text's bytes alone;
    None where there are no such models."""
    file_summary: Callable[[Source], FileSummary] | None = None
    """What a text's bytes say about the project; None where questions about a project look at no such text."""
    suffixes: frozenset[str] = frozenset()
    """In small letters, with the dot; empty when its texts are pieces of other files."""
    header_suffixes: frozenset[str] = frozenset()
    """Those of files that other files include."""
    header: Callable[[Source], HeaderFacts] | None = None
    """What a preprocessor makes of a text; None for a language that has none."""
    comments: Callable[[bytes], Iterable[Span]] = _nowhere
    """Where comments are in a text."""
    line_comment: str = "//"
    """What begins a comment that goes to the end of its line."""
    silencing: str = "NOLINT({codes})"
    """What a comment after a statement says to silence rules."""
    look: str = ""
    """The module whose `may_matter(text)` looks at a file that holds a needle more closely, still by its bytes alone;
    empty when there is none. It imports next to nothing."""
    parse_errors: Callable[[str, bytes], tuple[int, ...]] = _reads_all
    """(path, text) -> how many places of the text the parser cannot read, in each way in which it is asked."""
    silenced_row: Callable[[Source, int], int] = _row_of
    """(source, offset) -> the row at whose end a comment silences what is at the offset."""
    separator: str = "::"
    """What is between the parts of a name: `torch::nn`, `torch.nn`."""
    replacements: Mapping[Effect, str] = {}
    """Effect -> what is written for a guard of that effect where the old guard was."""
    confirmation: Callable[[Source, Facts], Confirms] | None = None
    """The parser of record for a file, where facts come from a faster one; None where they are the record's own."""
    on_request: bool = False
    """Its files are looked at only when they are asked for (`--include-docs`), or named."""
    is_fragment: bool = False
    """Its texts are pieces of other files: what surrounds them is not in sight."""
    embeds_in: str = ""
    """What C++ in its files is in, as messages say it: `a string`."""
    resolves_imports: bool = False
    """A name means what an import in the same file says, and not what a namespace holds."""
    runs_at_top_level: bool = False
    """Statements outside of functions run one after the other, so that a guard there covers those after it."""

    def is_header(self, path: str) -> bool:
        """Whether other files can include this one."""
        return path.endswith(tuple(self.header_suffixes))


@cache
def frontends() -> Mapping[str, Frontend]:
    """All front ends by name, in the order of their folders' names."""
    folder = os.path.dirname(__file__)
    found: dict[str, Frontend] = {}
    for name in sorted(os.listdir(folder)):
        if os.path.exists(os.path.join(folder, name, f"{name}_frontend.py")):
            frontend: Frontend = importlib.import_module(f"{__package__}.{name}.{name}_frontend").FRONTEND
            found[frontend.name] = frontend
    return MappingProxyType(found)


def frontend_named(language: str) -> Frontend:
    """The front end that facts name. Raises `UnknownFrontend`."""
    try:
        return frontends()[language]
    except KeyError:
        raise UnknownFrontend(language) from None


def frontend_of(path: str) -> Frontend | None:
    """The front end that reads a file, by its suffix; None when none does."""
    suffix = path[path.rfind(".") :].lower()
    return next((frontend for frontend in frontends().values() if suffix in frontend.suffixes), None)
