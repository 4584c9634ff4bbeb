"""The front end of C++ that stands in strings and code blocks: it has no files of its own."""

from __future__ import annotations

from ...facts import Facts
from ...files.sought import Sought
from ...files.sources import Source
from ..cpp.cpp_frontend import FRONTEND as CPP_FRONTEND
from ..frontend import Frontend


def _extract(source: Source, watched: frozenset[str], sought: Sought | None) -> Facts:
    from ..cpp.cpp_extraction import extract_cpp

    return extract_cpp(source, watched, sought, whole=True)


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
