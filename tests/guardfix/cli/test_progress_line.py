"""Where the line is shown that says what a long run is doing."""

from __future__ import annotations

import io
import signal
import sys
import threading

import pytest

from guardfix.cli.progress_line import ProgressLine, shown_progress
from guardfix.output.plain_echo import PrintingStream

PLACES = [
    pytest.param(True, "xterm", False, True, id="a terminal"),
    pytest.param(True, "xterm", True, False, id="quiet"),
    pytest.param(False, "xterm", False, False, id="a pipe"),
    pytest.param(True, "dumb", False, False, id="a terminal that can't take a line back"),
]


@pytest.mark.skipif(
    not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread(), reason="no timers"
)
@pytest.mark.parametrize(("is_terminal", "kind", "quiet", "is_shown"), PLACES)
def test_where_progress_is_shown(
    is_terminal: bool, kind: str, quiet: bool, is_shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal, raising=False)
    monkeypatch.setenv("TERM", kind)
    with shown_progress(quiet) as progress:
        assert (progress is not None) is is_shown
    assert signal.getsignal(signal.SIGALRM) == signal.SIG_DFL


def test_the_line_is_taken_back_on_the_guarded_stream_too(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stderr", PrintingStream.around(io.TextIOWrapper(raw, encoding="utf-8")))
    line = ProgressLine("searching \x1b[2J")
    line.show(0, None)
    line.clear()
    assert raw.getvalue().decode() == "\r\x1b[Ksearching ␛[2J\r\x1b[K"
