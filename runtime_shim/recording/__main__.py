"""The process that runs one program."""

from __future__ import annotations

import sys

from .recorded_run import run_program

sys.exit(run_program(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else None))
