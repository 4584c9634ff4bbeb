"""A request to end that comes where Python discards exceptions ends the run all the same."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

LOST = """\
import os, time, weakref
from guardfix.cli.ending_signals import end_as_interrupted
class Lock: pass
def released(reference):  # as importlib's, when a module has been imported
    os.kill(os.getpid(), {number})
    for _ in range(1000):
        pass
end_as_interrupted()
lock = Lock()
reference = weakref.ref(lock, released)
del lock
try:
    time.sleep(30)
except KeyboardInterrupt as interrupt:
    raise SystemExit(f"ended by {{getattr(interrupt, 'number', 2)}}")
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_where_exceptions_are_discarded(number: signal.Signals) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOST.format(number=int(number))],
        capture_output=True,
        text=True,
        timeout=20,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # it may be ignored here
    )
    assert (done.returncode, done.stderr.strip()) == (1, f"ended by {int(number)}")
