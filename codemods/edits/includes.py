"""The `#include` that a replacement needs: added only when nothing that the file includes brings the class."""

from __future__ import annotations

import os
import re
from functools import lru_cache

from guardfix.linter import guards
from guardfix.linter.facts import Conditional, Facts, Include, Span
from guardfix.linter.files.workspace import Workspace
from guardfix.linter.frontends.cpp.cpp_masking import code_only, with_plain_lines
from guardfix.linter.lazy_regex import lazy_regex

from ..fix import Edit
from ..site import Site
from .statements import newline_of

_TORCH = lazy_regex(r"^(?:torch|ATen|c10|caffe2|LibTorch|Libtorch)\b")
_DEPTH = 6


def brings(header: str, guard: str) -> bool:
    """Whether a header of PyTorch's brings the class."""
    return header in guards.WIDE_HEADERS or header in guards.CPP[guard].headers


def needed_include(site: Site, guard: str) -> Edit | None:
    """The edit that includes the guard's own header, or None where the class is there already.

    Headers of the project are followed, as far as they are found. A header that is not found is given the
    benefit of the doubt: the old guard came from somewhere too.
    """
    facts, folder = site.facts, os.path.dirname(site.facts.path)
    if any(_reaches(include, folder, guard, site.workspace, _DEPTH) is not False for include in facts.includes):
        return None
    return _insertion(facts, site.text, guards.CPP[guard].headers[0])


def _reaches(include: Include, folder: str, guard: str, workspace: Workspace, depth: int) -> bool | None:
    """Whether the header brings the guard; None when that cannot be known."""
    if brings(include.header, guard):
        return True
    if _TORCH.match(include.header):
        return False
    path = _find(include.header, folder, workspace)
    if path is None:
        return None if "/" in include.header or not include.system else False
    if depth == 0:
        return None
    source = workspace.read_or_none(path)
    inside = _includes_of(source.text) if source is not None else ()
    verdicts = [_reaches(inner, os.path.dirname(path), guard, workspace, depth - 1) for inner in inside]
    if True in verdicts:
        return True
    return None if None in verdicts else False


def _find(header: str, folder: str, workspace: Workspace) -> str | None:
    """The file that a quoted include means: beside the including file, or below a folder above it."""
    for _ in range(5):
        for place in (header, os.path.join("include", header)):
            path = os.path.normpath(os.path.join(folder, place))
            if workspace.is_file(path):
                return path
        parent = os.path.dirname(os.path.abspath(folder))
        if parent == folder:
            break
        folder = parent
    return None


@lru_cache(maxsize=512)
def _includes_of(text: bytes) -> tuple[Include, ...]:
    from guardfix.linter.frontends.cpp.cpp_extraction import find_includes

    return find_includes(text)


def _insertion(facts: Facts, text: bytes, header: str) -> Edit:
    newline = newline_of(text, 0).decode()
    text = with_plain_lines(text)
    directive = "#include"
    if facts.includes and all(text[i.span.start : i.span.end].lstrip().startswith(b"#import") for i in facts.includes):
        directive = "#import"
    line = f"{directive} <{header}>"
    gates = [c.span for c in facts.conditionals if not _is_include_guard(c, text)]
    code = code_only(text)
    free = [
        i
        for i in facts.includes
        if not any(gate.holds(i.span) for gate in gates)
        and code.count(b"{", 0, i.span.start) == code.count(b"}", 0, i.span.start)  # not inside `extern "C" {`
    ]
    group = [i for i in free if _TORCH.match(i.header)] or [i for i in free if i.system] or free
    for include in group:
        if include.header > header:
            return Edit(Span(include.span.start, include.span.start), line + newline)
    if group:
        # Behind a comment on the include's line, if there is one.
        line_end = re.compile(rb"\r?\n|\Z").search(text, group[-1].span.end)
        end = line_end.start() if line_end is not None else len(text)
        return Edit(Span(end, end), newline + line)
    start = _top(text)
    return Edit(Span(start, start), line + newline + newline)


def _is_include_guard(conditional: Conditional, text: bytes) -> bool:
    """`#ifndef NAME`, `#define NAME` at once, and nothing but comments after its `#endif`."""
    name = re.fullmatch(r"!defined\((\w+)\)", conditional.branches[0].condition)
    if name is None or len(conditional.branches) > 1:
        return False
    defines = re.compile(rb"\s*#[ \t]*define[ \t]+" + name[1].encode() + rb"\b")
    rest = text[conditional.span.end :]
    return defines.match(text, conditional.branches[0].directive.end) is not None and not code_only(rest).strip()


_TOP = lazy_regex(
    rb"(?:\s*(?://[^\n\\]*(?:\\(?:\r?\n)?[^\n\\]*)*(?:\n|\Z)|/\*.*?\*/|#[ \t]*pragma[ \t]+once[^\n]*\n"
    rb"|#[ \t]*ifndef[^\n]*\n[ \t]*#[ \t]*define[^\n]*\n))*\s*",
    re.DOTALL,
)


def _top(text: bytes) -> int:
    """Behind the leading comments, `#pragma once` and include guard."""
    match = _TOP.match(text)
    return match.end() if match else 0
