"""What can go wrong between a C++ file and its running."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence

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


def print_traceback(error: BaseException, source: str, *, all_frames: bool = False) -> str:
    """Print an error that left a program, from the program's first frame on; what was printed.

    The shim's frames are left out, unless PyTorch would raise no such error there.
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != source:
        trace = trace.tb_next
    shown = traceback.TracebackException(type(error), error, trace or error.__traceback__)
    if not all_frames:
        _leave_out_own(shown, set())
    text = "".join(shown.format())
    print(text, end="", file=sys.stderr)
    return text


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
