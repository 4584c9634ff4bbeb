"""The table of what a contained program can do is what such a program finds, as root and as a user."""

from __future__ import annotations

import ast
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

from containment_operations import OPERATIONS, PROGRAM, containment_table, namespaces
from fixture_files import ROOT

SEALED = """
import sys
sys.path.insert(0, sys.argv[1])
from door.containment import start_sealed
start_sealed(sys.argv[2:])
"""
START = """
import json, pathlib, sys
sys.path.insert(0, sys.argv.pop(1))
from door.containment import contain
own, outside = json.loads(sys.argv[1])[:2]
print(sorted(aspects := contain([pathlib.Path(own)], pathlib.Path(own, "tmp"))), file=sys.stderr, flush=True)
"""
NOBODY = 65534
RECORDING = ROOT / "runtime_shim" / "recording"
MODULES = ("containment.py", "open_files.py", "system_filter.py")


pytestmark = pytest.mark.skipif(not namespaces(), reason="no user namespaces here")


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
        for module in MODULES:
            shutil.copy(RECORDING / module, top / "door")
        libc = ctypes.CDLL(None)
        key = 0x6F6F0000 + os.getpid() % 0xFFFF
        memory = libc.shmget(key, 1, 0o1666)
        with (
            tempfile.NamedTemporaryFile(dir="/tmp") as in_tmp,
            socket.socket(socket.AF_UNIX) as service,
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as datagrams,
            subprocess.Popen(["sleep", "600"], user=user) as other,
        ):
            service.bind(str(top / "service"))
            service.listen()
            datagrams.bind(str(top / "service.datagrams"))
            os.mkfifo(top / "service.pipe")
            reader = os.open(top / "service.pipe", os.O_RDONLY | os.O_NONBLOCK)
            for path in (top, *top.rglob("*")):
                os.chown(path, *(user or os.getuid(),) * 2)
                path.chmod(0o777 if not path.is_file() else 0o644)
            for public in (in_tmp.name, in_shm.name):
                os.chmod(public, 0o644)
            try:
                yield [
                    str(top / "own"), str(top / "outside"), in_tmp.name, in_shm.name, str(top / "service"), other.pid, key,
                ]  # fmt: skip
            finally:
                os.close(reader)
                other.kill()
                libc.shmctl(memory, 0, None)


def told(file: Path) -> tuple[int, ...]:
    """What the file system says of a file that nothing but reading happened to."""
    status = file.stat()
    return status.st_mode, status.st_uid, status.st_gid, status.st_size, status.st_mtime_ns, status.st_ctime_ns


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
    file = Path(str(places[1]), "file")
    before = told(file)
    with file.open() as given:
        done = subprocess.run(
            [python, "-c", SEALED, top, python, "-c", START + PROGRAM, top, json.dumps(places), json.dumps(tried)],
            user=user, group=user, cwd=str(places[0]), stdin=given, capture_output=True, text=True, check=False,
        # With a folder in the PATH that the user may not look into.
            env={
                "PATH": os.environ["PATH"] if user is None else "/usr/bin:/bin:/root/bin", "PYTHONDONTWRITEBYTECODE": "1"
            },
        )  # fmt: skip
    assert "'devices', 'files', 'metadata', 'network', 'processes', 'sockets', 'temporary'" in done.stderr, done.stderr
    assert json.loads(done.stdout) == {name: outcome for name, (_, outcome, _) in OPERATIONS.items()}
    assert file.read_text() == "kept"
    assert told(file) == before
    assert os.listdir(str(places[1])) == ["file"]


def test_the_documentation_has_the_table() -> None:
    assert containment_table() in (ROOT / "docs" / "verify.md").read_text(encoding="utf-8")


def test_every_protection_is_looked_at() -> None:
    """What says whether something is contained is never called for its effect alone."""
    trees = [ast.parse((RECORDING / module).read_text(encoding="utf-8")) for module in MODULES]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    says = {
        node.name
        for node in nodes
        if isinstance(node, ast.FunctionDef) and isinstance(node.returns, ast.Name) and node.returns.id == "bool"
    }
    dropped = [
        node.value.func.id
        for node in nodes
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name)
        if node.value.func.id in says
    ]
    assert {"_own_processes", "_replace_folder", "_give_up_capabilities"} <= says
    assert dropped == []
