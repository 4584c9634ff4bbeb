"""Memory around arrays that shows what reads and writes outside of them. In a process of its own: it is for good."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import ctypes
import numpy as np
from guardfix.runtime_shim.recording.fenced_memory import FencedMemory

memory = FencedMemory()
assert memory.install()

def cells(array):
    return ctypes.cast(array.ctypes.data, ctypes.POINTER(ctypes.c_float))

for fill in (0, 0x7F):
    memory.watch(fill)
    array, zeros = np.empty(3, np.float32), np.zeros(3, np.float32)
    print(cells(array)[-1] == cells(array)[0] == cells(array)[3] == cells(array)[2000], zeros.tolist())
    grown = np.arange(4.0)
    grown.resize(400, refcheck=False)
    print(grown.sum(), memory.is_broken())
cells(array)[3] = 1
print(memory.is_broken(), memory.is_broken())
memory.watch(0)
print(memory.is_broken())
other = np.empty(3, np.float32)
cells(other)[-1] = 1
del other
print(memory.is_broken())
"""


def test_fences() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == [
        *["True [0.0, 0.0, 0.0]", "6.0 False"] * 2,
        "True False",
        "False",
        "True",
    ], done.stderr
