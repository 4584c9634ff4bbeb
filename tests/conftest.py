"""What all tests share."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
import zlib
from pathlib import Path

import pytest
from hypothesis import settings

# Modules that the tests share and that aren't tests; importlib mode leaves their folder off the path.
sys.path.insert(0, str(Path(__file__).parent))

# A machine that is busy with other things is slow, and not wrong. The same inputs each time: a change is not stopped
# by what it didn't touch. `pytest --hypothesis-profile searching` tries others, as `make fuzz` does.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.register_profile("searching", deadline=None)
settings.load_profile("repeatable")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leaves files without a smoke test unread in a smoke test: reading all of them takes longer than running it."""
    if config.option.markexpr != "smoke" or not collection_path.is_file():
        return None
    return True if b"pytest.mark.smoke" not in collection_path.read_bytes() else None


def pytest_xdist_auto_num_workers() -> int:
    """One more than there are processors: tests wait for a fifth of their time, for processes, files and deadlines."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(tryfirst=True)  # before rows are chosen by their markers
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of a table marked `few`, the other rows are thorough; of one marked `some`, those that chance leaves out."""
    for item in items:
        few, some = item.get_closest_marker("few"), item.get_closest_marker("some")
        row = item.callspec.id if few or some else ""  # type: ignore[attr-defined]
        if (few and row not in few.args) or (some and zlib.crc32(row.encode()) % some.args[0]):
            item.add_marker("thorough")


_CACHE = "GUARDFIX_CACHE_DIR"
_YES = "GUARDFIX_YES"
_MADE_BY_TESTS = pytest.StashKey[str]()


def pytest_configure(config: pytest.Config) -> None:
    """One cache of compiled programs and precompiled headers for the whole run; never the user's own.

    The workers of pytest-xdist inherit it from the process that starts them, so what one has compiled, all have.
    """
    # A shell's background ignores it, and what the tests start would inherit that.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ["GUARDFIX_NO_CACHE"] = "1"  # no test depends on what another one has read
    os.environ[_YES] = "1"  # `guardfix verify` runs what tests write without asking
    if not hasattr(config, "workerinput"):
        config.stash[_MADE_BY_TESTS] = os.environ[_CACHE] = tempfile.mkdtemp(prefix="guardfix-tests-")
    starts_workers = bool(config.getoption("numprocesses", None))
    if sys.dont_write_bytecode and not starts_workers:  # each command that a test starts would compile all modules anew
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = str(Path(os.environ[_CACHE], "bytecode"))


def pytest_unconfigure(config: pytest.Config) -> None:
    folder = config.stash.get(_MADE_BY_TESTS, None)
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)  # PyTorch's headers alone are 0.7 GB, precompiled


@pytest.fixture
def own_megabytes() -> int:
    """The address space of this process: a limit on what is forked from it counts from there."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    return pages * os.sysconf("SC_PAGESIZE") >> 20


@pytest.fixture
def away_from_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For texts that have only a name: with them is read what lies around, and that is this repository otherwise."""
    monkeypatch.chdir(tmp_path)
