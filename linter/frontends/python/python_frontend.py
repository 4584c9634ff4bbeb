"""Python as a language of guardfix: what reads its files, each part imported when it is needed."""

from __future__ import annotations

from collections.abc import Iterable

from ... import guards
from ...facts import Facts, Span
from ...files.search_terms import SearchTerms
from ...files.sources import Source
from ...guards import Effect
from ..frontend import Confirms, Frontend


def _extract(source: Source, watched: frozenset[str], terms: SearchTerms | None) -> Facts | None:
    from .python_extraction import extract_python

    return extract_python(source, watched, terms)


def _extract_named(
    source: Source, watched: frozenset[str], terms: SearchTerms | None, named: frozenset[str]
) -> Facts | None:
    from .python_extraction import extract_python

    return extract_python(source, watched, terms, named=named)


def _may_fill(text: bytes) -> bool:
    from .lazy_fill_signs import may_fill

    return may_fill(text)


def _comments(text: bytes) -> Iterable[Span]:
    from .python_comments import python_comments

    return python_comments(text)


def _parse_errors(path: str, text: bytes) -> tuple[int, ...]:
    from .python_parsing import reads

    return (0 if reads(text.decode("utf-8")) else 1,)


def _silenced_row(source: Source, offset: int) -> int:
    """Inside a string there is no place for a comment: it follows its end."""
    from .python_comments import string_end

    end = string_end(source.text, offset)
    return source.row(offset if end is None else end)


def _confirmation(source: Source, facts: Facts) -> Confirms:
    from .libcst_confirmation import Confirmation

    assert facts.python is not None
    return Confirmation(source, facts.python)


FRONTEND = Frontend(
    name="python",
    title="Python",
    guards=guards.PYTHON,
    suffixes=frozenset({".py", ".pyi"}),
    extract=_extract,
    extract_named=_extract_named,
    may_fill=_may_fill,
    comments=_comments,
    line_comment="#",
    silencing="noqa: {codes}",
    look=f"{__package__}.python_look",
    parse_errors=_parse_errors,
    silenced_row=_silenced_row,
    separator=".",
    confirmation=_confirmation,
    replacements={
        Effect.INFERENCE: f"torch.{guards.PYTHON_INFERENCE_MODE}()",
        Effect.BELOW_ADINPLACEORVIEW: f"torch._C.{guards.C_BELOW_ADINPLACEORVIEW}()",
        Effect.BELOW_AUTOGRAD: f"torch._C.{guards.C_BELOW_AUTOGRAD}()",
    },
    embeds_in="a string",
    resolves_imports=True,
    runs_at_top_level=True,
)
