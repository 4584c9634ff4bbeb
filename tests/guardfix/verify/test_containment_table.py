"""The table of what a contained program can do is what such a program finds, as root and as a user."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from containment_operations import OPERATIONS, PROGRAM, containment_table
from fixture_files import ROOT

START = """
import json, pathlib, sys
sys.path.insert(0, sys.argv.pop(1))
from door.containment import contain
own, outside = json.loads(sys.argv[1])[:2]
print(sorted(aspects := contain([pathlib.Path(own)], pathlib.Path(own, "tmp"))), file=sys.stderr, flush=True)
"""
NOBODY = 65534


def namespaces() -> bool:
    return subprocess.run(["unshare", "-Urmn", "true"], capture_output=True, check=False).returncode == 0


pytestmark = pytest.mark.skipif(sys.platform != "linux" or not namespaces(), reason="no user namespaces here")


def python_of(user: int | None) -> str | None:
    """An interpreter that the user can start, without the packages of ours: the containment needs none."""
    for python in (sys.executable, "/usr/bin/python3"):
        with contextlib.suppress(OSError):
            if subprocess.run([python, "-c", ""], user=user, cwd="/", capture_output=True, check=False).returncode == 0:
                return python
    return None


@pytest.fixture
def places(user: int | None) -> Iterator[list[object]]:
    """Own and other folders, outside of /tmp and inside, a service that listens, a process and shared memory."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name, tempfile.NamedTemporaryFile(dir="/dev/shm") as in_shm:
        top = Path(name)
        (top / "own" / "tmp").mkdir(parents=True)
        (top / "outside").mkdir()
        (top / "outside" / "file").write_text("kept")
        (top / "door").mkdir()
        for module in ("containment.py",):
            shutil.copy(ROOT / "runtime_shim" / "recording" / module, top / "door")
        libc = ctypes.CDLL(None)
        key = 0x6F6F0000 + os.getpid() % 0xFFFF
        memory = libc.shmget(key, 1, 0o1666)
        with (
            tempfile.NamedTemporaryFile(dir="/tmp") as in_tmp,
            socket.socket(socket.AF_UNIX) as service,
            subprocess.Popen(["sleep", "600"], user=user) as other,
        ):
            service.bind(str(top / "service"))
            service.listen()
            for path in (top, *top.rglob("*")):
                os.chown(path, *(user or os.getuid(),) * 2)
                path.chmod(0o777 if path.is_dir() or path.is_socket() else 0o644)
            for public in (in_tmp.name, in_shm.name):
                os.chmod(public, 0o644)
            try:
                yield [
                    str(top / "own"), str(top / "outside"), in_tmp.name, in_shm.name, str(top / "service"), other.pid, key,
                ]  # fmt: skip
            finally:
                other.kill()
                libc.shmctl(memory, 0, None)


@pytest.mark.parametrize("user", [pytest.param(None, id="as it is"), pytest.param(NOBODY, id="as a user of no rights")])
def test_the_table_is_what_a_program_finds(
    user: int | None, places: list[object], record_property: Callable[[str, object], None]
) -> None:
    record_property("attacks", len(OPERATIONS))
    if user is not None and os.getuid() != 0:
        pytest.skip("only root can become another user")
    python = python_of(user)
    if python is None:
        pytest.skip("no interpreter that the user can start")
    tried = {name: text for name, (_, _, text) in OPERATIONS.items()}
    top = str(Path(str(places[0])).parent)
    done = subprocess.run(
        [python, "-c", START + PROGRAM, top, json.dumps(places), json.dumps(tried)],
        user=user, group=user, cwd=str(places[0]), capture_output=True, text=True, check=False,
        # With a folder in the PATH that the user may not look into.
        env={"PATH": os.environ["PATH"] if user is None else "/usr/bin:/bin:/root/bin", "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    assert "'devices', 'files', 'metadata', 'network', 'processes', 'sockets', 'temporary'" in done.stderr, done.stderr
    assert json.loads(done.stdout) == {name: outcome for name, (_, outcome, _) in OPERATIONS.items()}
    assert Path(str(places[1]), "file").read_text() == "kept"
    assert os.listdir(str(places[1])) == ["file"]


def test_the_documentation_has_the_table() -> None:
    assert containment_table() in (ROOT / "docs" / "verify.md").read_text(encoding="utf-8")
