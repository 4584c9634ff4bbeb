"""The front end of Markdown and reStructuredText, whose code blocks may hold C++."""

from __future__ import annotations

from collections.abc import Iterable

from ... import guards
from ...facts import Facts, Span
from ...files.search_terms import SearchTerms
from ...files.sources import Source
from ..frontend import Frontend


def _extract(source: Source, watched: frozenset[str], terms: SearchTerms | None) -> Facts:
    from .markdown_code import extract_markdown

    return extract_markdown(source, terms)


def _comments(text: bytes) -> Iterable[Span]:
    from .markdown_code import document_comments

    return document_comments(text)


FRONTEND = Frontend(
    name="docs",
    title="documents",
    guards=guards.CPP,
    suffixes=frozenset({".md", ".markdown", ".rst"}),
    extract=_extract,
    comments=_comments,
    embeds_in="a code block",
    on_request=True,
)
