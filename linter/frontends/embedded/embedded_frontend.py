"""The front end of C++ that is in strings and code blocks: it has no files of its own."""

from __future__ import annotations

from ...facts import Facts
from ...files.search_terms import SearchTerms
from ...files.sources import Source
from ..cpp.cpp_frontend import FRONTEND as CPP_FRONTEND
from ..frontend import Frontend


def _extract(source: Source, watched: frozenset[str], terms: SearchTerms | None) -> Facts:
    from ..cpp.cpp_extraction import extract_cpp

    return extract_cpp(source, watched, terms, whole=True)


FRONTEND = Frontend(
    name="embedded",
    title="C++ in strings and code blocks",
    guards=CPP_FRONTEND.guards,
    extract=_extract,
    comments=CPP_FRONTEND.comments,
    replacements=CPP_FRONTEND.replacements,
    is_fragment=True,
    runs_at_top_level=True,
)
