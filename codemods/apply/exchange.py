"""Two files change places in one step, where the system can do that."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from functools import cache

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_CANNOT = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)
"""What systems and file systems answer that don't know the call."""


@cache
def _renameat2() -> Callable[[bytes, bytes], int] | None:
    if sys.platform != "linux":
        return None
    import ctypes

    try:
        function = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):  # an older C library
        return None
    function.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)

    def call(one: bytes, other: bytes) -> int:
        if function(_AT_FDCWD, one, _AT_FDCWD, other, _RENAME_EXCHANGE) == 0:
            return 0
        return ctypes.get_errno()

    return call


def exchange(one: str, other: str) -> bool:
    """Let two files of one folder change places; False where that cannot be done in one step. Raises OSError."""
    function = _renameat2()
    if function is None:
        return False
    number = function(os.fsencode(one), os.fsencode(other))
    if number in _CANNOT:
        return False
    if number:
        raise OSError(number, os.strerror(number), one)
    return True
