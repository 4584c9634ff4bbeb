"""The traceback of a program on the shim: its own frames, as PyTorch's would show none of what runs below an op."""

from __future__ import annotations

import os
import sys
import traceback

_SHIM = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def print_traceback(error: BaseException, source: str, *, all_frames: bool = False) -> str:
    """Print an error that left a program, from the program's first frame on; what was printed.

    The shim's frames are left out, unless the error is no one that PyTorch would raise there.
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
