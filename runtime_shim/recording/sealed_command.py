"""Runs a command from a place where nothing can change its executable: `python -P -m … COMMAND…`.

A process that contains itself later can't leave the executable behind that it was started with.
"""

from __future__ import annotations

import sys

from .containment import start_sealed

if __name__ == "__main__":
    start_sealed(sys.argv[1:])
