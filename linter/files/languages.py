"""Which language a file is in, by its name. Imported on every run, so it imports next to nothing."""

from __future__ import annotations

from collections.abc import Mapping

CPP_SUFFIXES = frozenset(".c .cc .cpp .cxx .c++ .h .hh .hpp .hxx .h++ .inl .ipp .tpp .cu .cuh .hip .mm .m".split())
PYTHON_SUFFIXES = frozenset({".py", ".pyi"})
DOCS_SUFFIXES = frozenset({".md", ".markdown", ".rst"})

LANGUAGES = dict.fromkeys(CPP_SUFFIXES, "cpp") | dict.fromkeys(PYTHON_SUFFIXES, "python")
"""The language of each suffix in small letters; `.C` and the like are looked up by `language_of`."""
LANGUAGES_AND_DOCS = LANGUAGES | dict.fromkeys(DOCS_SUFFIXES, "docs")
"""With `docs` for Markdown and reStructuredText."""


def language_of(name: str, languages: Mapping[str, str] = LANGUAGES) -> str | None:
    """`cpp`, `python` or None, by the file name's suffix."""
    suffix = name[name.rfind(".") :]
    return languages.get(suffix) or languages.get(suffix.lower())
