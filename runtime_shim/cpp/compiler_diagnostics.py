"""Reading what a compiler or loader says for the one question that matters here: which name do our headers lack?"""

from __future__ import annotations

import ctypes
import os
import re
import traceback
from collections.abc import Iterable, Sequence
from pathlib import Path

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
    # a namespace that the program gives another name, or opens: the name is in the line that is quoted below
    (
        re.compile(
            rf"error: (?:'\w+' is not a namespace-name|expected namespace name)\n"
            rf"[^\n]*\bnamespace\b[^\n;]*?\b({_NAMESPACES})"
        ),
        "{0}",
    ),
    # an overload: GCC names the class of a method, and that of a function is in what it says next
    (
        re.compile(
            rf"error: no matching function for call to '({_NAMESPACES})(?:<.*>)?(\([^\n]*\))'",
        ),
        "{0} for {1}",
    ),
    (
        re.compile(
            r"error: no matching (?:member )?function for call to '(?:\w+::)*(\w+)(?:\([^\n]*\))?'\n"
            r"(?:[^\n]*\n){0,40}?[^\n]*note: candidate(?:: '[^\n(]*?| function not viable[^\n]*?)"
            r"\b((?:torch|at|c10|caffe2)::(?:\w+::)*)\1\("
        ),
        "{1}{0} for these arguments",
    ),
    # Clang shows the declarations that it considered, which are in our headers
    (
        re.compile(
            r"error: no matching (?:member )?function for call to '(\w+)'\n"
            r"(?:[^\n]*\n){1,2}[^\n]*/include/(?:ATen|torch|c10)/[^\n]*: note: candidate"
        ),
        "{0} for these arguments",
    ),
    (
        re.compile(
            r"error: too many arguments to function call[^\n]*\n"
            r"(?:[^\n]*\n){1,2}[^\n]*/include/(?:ATen|torch|c10)/[^\n]*: note: '(\w+)' declared here"
        ),
        "{0} for so many arguments",
    ),
    (
        re.compile(rf"error: too many arguments to function '[^\n(]*?\b({_NAMESPACES})\("),
        "{0} for so many arguments",
    ),
    # macros, which have no namespace; one that defines something is where the compiler expects a declaration
    (
        re.compile(
            r"error: (?:expected constructor, destructor, or type conversion before|unknown type name)[^\n]*\n"
            r"(?: *\d+ \| )?((?:TORCH|AT|C10)_[A-Z0-9_]+)\("
        ),
        "the macro {0}",
    ),
    (
        re.compile(r"error: (?:use of undeclared identifier )?'((?:TORCH|AT|C10)_[A-Z0-9_]+)'"),
        "the macro {0}",
    ),
)


def missing_names(diagnostics: str, folders: Iterable[Path] = ()) -> list[str]:
    """The torch names that the compiler (GCC or Clang, in English) says it does not know, in its order.

    A header that is in `folders` of PyTorch's own, where ours has none, counts as missing and is alone: the two
    don't go together, and what the compiler says of that tells no one why.
    """
    header = _header_of_pytorch(diagnostics, folders)
    if header is not None:
        return [f"<{header}>"]
    found = [
        (match.start(), form.format(*match.groups()))
        for pattern, form in _PATTERNS
        for match in pattern.finditer(diagnostics)
    ]
    return list(dict.fromkeys(name for _, name in sorted(found)))


def _header_of_pytorch(diagnostics: str, folders: Iterable[Path]) -> str | None:
    """The outermost header, of those that led to the first error, that comes from a checkout of PyTorch."""
    before, found, _ = diagnostics.partition("error: ")
    if not found:
        return None
    for folder in folders:
        if not (folder / "c10" / "macros" / "Macros.h").is_file():
            continue
        name = re.escape(str(folder)) + r"/((?:torch|ATen|c10|caffe2)/[\w./+-]+):\d+"
        through = re.findall(rf"from {name}", before)
        if through:  # GCC names the innermost first, Clang the outermost
            return str(through[-1] if "\n                 from " in before else through[0])
        place = re.search(rf"^{name}[^\n]*$", before, flags=re.M)
        if place is not None:
            return place[1]
    return None


def undefined_symbol(message: str) -> str | None:
    """The name, in C++, of what the loader says nothing defines; else None."""
    found = re.search(r"undefined symbol: (\w+)", message) or re.search(r"[Ss]ymbol not found[^\w]+_(\w+)", message)
    return None if found is None else _demangled(found[1])


def is_of_torch(name: str) -> bool:
    """Whether a demangled name is one of PyTorch's namespaces: the first that it names is its own."""
    plain, before = name, ""
    while plain != before:  # without template arguments, which nest
        before, plain = plain, re.sub(r"<[^<>]*>", "", plain)
    # A template's name follows its result, that of a table the words "vtable for".
    own = (plain.partition("(")[0].split() or [""])[-1]
    return re.match(r"(?:torch|at|c10|caffe2)::", own) is not None


def _demangled(symbol: str) -> str:
    """`symbol` as it is written in C++; itself when it is none of C++, or the C++ runtime cannot be asked."""
    try:
        demangle = ctypes.CDLL("libstdc++.so.6").__cxa_demangle
    except (OSError, AttributeError):
        return symbol
    demangle.restype = ctypes.c_void_p
    status = ctypes.c_int()
    text = demangle(symbol.encode(), None, None, ctypes.byref(status))
    if status.value != 0 or not text:
        return symbol
    name = ctypes.cast(text, ctypes.c_char_p).value or b""
    free = ctypes.CDLL(None).free
    free.argtypes = [ctypes.c_void_p]
    free(text)
    return name.decode()


_SHOWN_NAMES = 20


def in_a_row(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`; at most twenty."""
    shown = list(names[:_SHOWN_NAMES])
    if len(names) > _SHOWN_NAMES:
        shown.append(f"{len(names) - _SHOWN_NAMES} more")
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


class ProgramError(Exception):
    """A program could not be brought to run. The message says where, what, and what to do."""


class ToolchainMissing(ProgramError):
    """No compiler, or no Python headers; says what to install."""


class CompileError(ProgramError):
    """The compiler refused the program.

    `missing` is the name that our headers lack, when that is why: `at::Tensor::foo`, `torch/nn.h`; else None.
    `all_missing` are all such names. `diagnostics` is what the compiler printed.
    """

    def __init__(self, source: str, diagnostics: str, all_missing: Sequence[str] = ()) -> None:
        self.diagnostics = diagnostics
        self.all_missing = tuple(all_missing)
        self.missing = all_missing[0] if all_missing else None
        lead = f"the shim's C++ headers lack {in_a_row(all_missing)}, which {source} uses\n" if all_missing else ""
        super().__init__(f"{lead}{diagnostics.rstrip()}")


class LoadError(ProgramError):
    """The compiled program could not be loaded, or has no `main`.

    `missing` is the torch name that it declares itself and nothing defines, when that is why; else None.
    """

    def __init__(self, message: str, missing: str | None = None) -> None:
        self.missing = missing
        super().__init__(message)


class PyTorchMissing(ProgramError):
    """PyTorch is not installed, or it is not the one that is needed."""


_SHIM = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def traceback_text(error: BaseException, source: str, *, all_frames: bool = False) -> str:
    """What is to be printed of an error that left a program, from the program's first frame on.

    The shim's frames are left out, unless PyTorch would raise no such error there.
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != source:
        trace = trace.tb_next
    if trace is None and isinstance(error, SyntaxError):  # the program itself can't be read
        return "".join(traceback.format_exception_only(error))
    shown = traceback.TracebackException(type(error), error, trace or error.__traceback__)
    if not all_frames:
        _leave_out_own(shown, set())
    return "".join(shown.format())


def _leave_out_own(shown: traceback.TracebackException, done: set[int]) -> None:
    if id(shown) in done:
        return
    done.add(id(shown))
    kept = [frame for frame in shown.stack if not os.path.abspath(frame.filename).startswith(_SHIM)]
    if kept:
        shown.stack = traceback.StackSummary.from_list(kept)
    further = [shown.__cause__, shown.__context__, *(getattr(shown, "exceptions", None) or ())]
    for one in further:
        if one is not None:
            _leave_out_own(one, done)
