"""Fences around the memory of arrays, so that a kernel which reads or writes outside of it is found out.

numpy takes the memory of arrays from functions that can be exchanged (NEP 49). Ours put a fence before and after each
array, filled with one byte, as is memory that nothing has been written to. What reads outside of a tensor gives other
results under another byte; what writes there breaks the fence. This needs no other build, as AddressSanitizer does.
"""

from __future__ import annotations

import ctypes
from contextlib import suppress
from typing import Any

import numpy as np

BEFORE, BEHIND = 1 << 12, 1 << 14
"""Bytes of the fences. The small inputs that are made up rarely lead further."""

_SET_HANDLER = 304
"""The place of `PyDataMem_SetHandler` in numpy's table of functions, since 1.22."""

_MALLOC = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
_CALLOC = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)
_REALLOC = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
_FREE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


class _Handler(ctypes.Structure):
    """numpy's `PyDataMem_Handler`."""

    _fields_ = (
        ("name", ctypes.c_char * 127),
        ("version", ctypes.c_uint8),
        ("context", ctypes.c_void_p),
        ("malloc", _MALLOC),
        ("calloc", _CALLOC),
        ("realloc", _REALLOC),
        ("free", _FREE),
    )


class FencedMemory:
    """The memory of all arrays that are made from now on, in this thread. It must live as long as they do."""

    def __init__(self) -> None:
        self.fill = 0
        """The byte that fences and fresh memory are filled with."""
        self.broken = False
        """A fence was written to since `watch`."""
        self._live: dict[int, tuple[int, int]] = {}
        """By the address of an array: its size, and the byte of its fences."""
        self._whole: dict[int, Any] = {}
        """By its byte, a fence as it is when nothing has written to it."""
        libc = ctypes.CDLL(None)
        self._differs = libc.memcmp
        self._differs.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
        self._malloc, self._free = libc.malloc, libc.free
        self._malloc.restype, self._malloc.argtypes = ctypes.c_void_p, (ctypes.c_size_t,)
        self._free.restype, self._free.argtypes = None, (ctypes.c_void_p,)
        self._handler = _Handler(
            b"guardfix_fences",
            1,
            None,
            _MALLOC(lambda _, size: self._new(size)),
            _CALLOC(lambda _, count, size: self._new(count * size, zeroed=True)),
            _REALLOC(lambda _, place, size: self._resized(place, size)),
            _FREE(lambda _, place, size: self._release(place)),
        )

    def install(self) -> bool:
        """Use it for arrays of this thread; False where numpy can't."""
        with suppress(AttributeError, OSError, ValueError):
            make, read = ctypes.pythonapi.PyCapsule_New, ctypes.pythonapi.PyCapsule_GetPointer
            make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
            read.restype, read.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
            table = ctypes.cast(read(_functions_of_numpy(), None), ctypes.POINTER(ctypes.c_void_p))
            set_handler = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(table[_SET_HANDLER])
            set_handler(make(ctypes.addressof(self._handler), b"mem_handler", None))
            return True
        return False

    def watch(self, fill: int) -> None:
        """Begin with a program: memory is filled with this byte."""
        self.fill, self.broken = fill, False

    def is_broken(self) -> bool:
        """Whether something was written outside of an array since `watch`."""
        written = [self._is_written(place) for place in list(self._live)]
        return self.broken or any(written)

    def _new(self, size: int, *, zeroed: bool = False) -> int | None:
        start = self._malloc(BEFORE + size + BEHIND)
        if not start:
            return None
        place = int(start) + BEFORE
        ctypes.memset(start, self.fill, BEFORE + (0 if zeroed else size))
        if zeroed:
            ctypes.memset(place, 0, size)
        ctypes.memset(place + size, self.fill, BEHIND)
        self._live[place] = size, self.fill
        return place

    def _resized(self, place: int | None, size: int) -> int | None:
        new = self._new(size)
        if new is not None and place:
            ctypes.memmove(new, place, min(size, self._live.get(place, (size, 0))[0]))
            self._release(place)
        return new

    def _release(self, place: int | None) -> None:
        if not place:
            return
        self.broken = self.broken or self._is_written(place)
        self._live.pop(place, None)
        self._free(place - BEFORE)

    def _is_written(self, place: int) -> bool:
        size, fill = self._live.get(place, (0, -1))
        if fill < 0:
            return False
        if fill not in self._whole:
            self._whole[fill] = ctypes.create_string_buffer(bytes((fill,)) * BEHIND, BEHIND)
        whole = self._whole[fill]
        if not (self._differs(place - BEFORE, whole, BEFORE) or self._differs(place + size, whole, BEHIND)):
            return False
        self._live[place] = size, -1  # once is enough
        return True


def _functions_of_numpy() -> object:
    core = getattr(np, "_core", None) or np.core
    return core._multiarray_umath._ARRAY_API
