"""Reading a compiler's messages for the one question that matters here: which name do our headers lack?"""

from __future__ import annotations

import re

_NAMESPACES = r"(?:torch|at|c10|caffe2)\b[\w:]*"

_PATTERNS: tuple[tuple[re.Pattern[str], str], ...] = (
    # a header: GCC says "torch/nn.h: No such file or directory", Clang "'torch/nn.h' file not found"
    (
        re.compile(r"fatal error: '?((?:torch|ATen|c10|caffe2)/[\w./+-]+)'?(?:: No such file| file not found)"),
        "<{0}>",
    ),
    # a member of a class of ours
    (
        re.compile(
            rf"error: '(?:const |struct |class )*({_NAMESPACES})(?: ?\{{aka [^}}]*\}})?[^']*' "
            r"has no member named '([\w~]+)'"
        ),
        "{0}::{1}",
    ),
    (re.compile(rf"error: no member named '([\w~]+)' in (?:namespace )?'({_NAMESPACES})"), "{1}::{0}"),
    # a name in a namespace of ours
    (re.compile(rf"error: '(\w+)' (?:is not a member of|in namespace) '({_NAMESPACES})'"), "{1}::{0}"),
    (re.compile(rf"error: '(\w+)' in namespace '({_NAMESPACES})' does not name"), "{1}::{0}"),
    (
        re.compile(rf"error: no (?:type|template) named '(\w+)' in (?:namespace )?'({_NAMESPACES})'"),
        "{1}::{0}",
    ),
    (re.compile(rf"error: '(\w+)' has not been declared in '({_NAMESPACES})'"), "{1}::{0}"),
    (re.compile(rf"error: '({_NAMESPACES})' has not been declared"), "{0}"),
    # macros, which have no namespace
    (
        re.compile(r"error: (?:use of undeclared identifier )?'((?:TORCH|AT|C10)_[A-Z0-9_]+)'"),
        "the macro {0}",
    ),
)


def missing_name(diagnostics: str) -> str | None:
    """The first torch name that the compiler (GCC or Clang, in English) says it does not know; else None."""
    for line in diagnostics.splitlines():
        for pattern, form in _PATTERNS:
            found = pattern.search(line)
            if found:
                return form.format(*found.groups())
    return None
