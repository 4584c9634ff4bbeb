"""Which language a file is in, by its name. Imported on every run, so it imports nothing."""

from __future__ import annotations

CPP_SUFFIXES = frozenset(".c .cc .cpp .cxx .c++ .h .hh .hpp .hxx .h++ .inl .ipp .tpp .cu .cuh .hip .mm .m".split())
PYTHON_SUFFIXES = frozenset({".py", ".pyi"})
DOCS_SUFFIXES = frozenset({".md", ".markdown", ".rst"})

_LANGUAGES = dict.fromkeys(CPP_SUFFIXES, "cpp") | dict.fromkeys(PYTHON_SUFFIXES, "python")


def language_of(name: str) -> str | None:
    """`cpp`, `python` or None, by the file name's suffix."""
    suffix = name[name.rfind(".") :]
    return _LANGUAGES.get(suffix) or _LANGUAGES.get(suffix.lower())


def language_or_docs(name: str) -> str | None:
    """`docs` for Markdown and reStructuredText, else as `language_of`."""
    return "docs" if name[name.rfind(".") :].lower() in DOCS_SUFFIXES else language_of(name)
