"""Functions whose code is replaced while a mode or a class is asked in their place."""

from __future__ import annotations

import traceback

from guardfix.runtime_shim.dispatch.function_overrides import _REPLACED
from guardfix.runtime_shim.overrides import TorchFunctionMode


def test_the_locals_of_frames_can_be_read() -> None:
    """As pytest does for a traceback; of functions that captured variables this ended Python."""
    read = set()
    with TorchFunctionMode():
        for replacement in _REPLACED.values():
            if replacement.code.co_freevars:
                try:
                    replacement.function(*[None] * 9)
                except Exception as error:
                    read |= {
                        frame.f_code.co_name for frame, _ in traceback.walk_tb(error.__traceback__) if frame.f_locals
                    }
    assert "_replaced" in read
