"""The front end of C++, CUDA and Objective-C++."""

from __future__ import annotations

from collections.abc import Iterable

from ... import guards
from ...facts import Facts, Span
from ...facts.file_summary import FileSummary
from ...facts.header_facts import HeaderFacts
from ...files.search_terms import SearchTerms
from ...files.sources import Source
from ...guards import Effect
from ..frontend import Frontend

HEADERS = frozenset(".h .hh .hpp .hxx .h++ .cuh .inl .ipp .tpp".split())
MODULES = frozenset(".ixx .cppm .mpp .ccm .cxxm .c++m".split())
"""Interface units of C++20 modules, as MSVC, Clang, GCC and CMake know them."""
SOURCES = frozenset(".c .cc .cpp .cxx .c++ .cu .hip .mm .m".split())


def _extract(source: Source, watched: frozenset[str], terms: SearchTerms | None) -> Facts:
    from .cpp_extraction import extract_cpp

    return extract_cpp(source, watched, terms)


def _extract_named(source: Source, watched: frozenset[str], terms: SearchTerms | None, named: frozenset[str]) -> Facts:
    from .cpp_extraction import extract_cpp

    return extract_cpp(source, watched, terms, named=named)


def _file_summary(source: Source) -> FileSummary:
    from .cpp_file_summary import summarize_cpp

    return summarize_cpp(source)


def _header(source: Source) -> HeaderFacts:
    from .header_reading import read_header

    return read_header(source)


def _comments(text: bytes) -> Iterable[Span]:
    from .cpp_masking import cpp_comments

    return cpp_comments(text)


def _parse_errors(path: str, text: bytes) -> tuple[int, ...]:
    from .cpp_parsing import parse_errors

    return parse_errors(path, text)


_REPLACEMENTS = {
    Effect.INFERENCE: f"c10::{guards.INFERENCE_MODE}",
    Effect.BELOW_ADINPLACEORVIEW: f"at::{guards.BELOW_ADINPLACEORVIEW}",
    Effect.BELOW_AUTOGRAD: f"at::{guards.BELOW_AUTOGRAD}",
}

FRONTEND = Frontend(
    name="cpp",
    title="C++",
    guards=guards.CPP,
    suffixes=SOURCES | HEADERS | MODULES,
    header_suffixes=HEADERS,
    extract=_extract,
    extract_named=_extract_named,
    file_summary=_file_summary,
    header=_header,
    comments=_comments,
    parse_errors=_parse_errors,
    replacements=_REPLACEMENTS,
)
