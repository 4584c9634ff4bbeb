"""What a program that is verified can't do, and what is asked before it is run."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from containment_operations import namespaces
from guardfix.cli.verify_command import command

PROGRAM = """\
import os
import signal
import socket
import subprocess
import sys
import torch


def attempt(name, action):
    try:
        action()
    except OSError:
        print(name, "refused")
    else:
        print(name, "done")


def write(path):
    with open(path, "w") as file:
        file.write("x")


print(torch.ones(1).item())
attempt("beside", lambda: write("beside.txt"))
attempt("temporary", lambda: write(os.path.join(os.environ["TMPDIR"], "file")))
attempt("home", lambda: write(os.path.expanduser("~/file")))
attempt("outside", lambda: write(sys.argv[1]))
attempt("network", lambda: socket.create_connection(("192.0.2.1", 9), timeout=5))
subprocess.Popen(["setsid", "sleep", sys.argv[2]], start_new_session=True)
if len(sys.argv) > 3:
    os.kill(os.getpid(), signal.SIGSEGV)
sys.exit(200)
"""


def running(seconds: str) -> bool:
    found = subprocess.run(["pgrep", "-f", f"sleep {seconds}$"], capture_output=True, check=False)
    return found.returncode == 0


@pytest.mark.skipif(not namespaces(), reason="no user namespaces here")
@pytest.mark.parametrize("ending", [(200, ()), (-11, ("--argument", "crash"))], ids=["exit status", "signal"])
def test_a_program_is_kept_to_itself(tmp_path: Path, cache: Path, ending: tuple[int, tuple[str, ...]]) -> None:
    status, more = ending
    folder = tmp_path / "project"
    folder.mkdir()
    program = folder / "program.py"
    program.write_text(PROGRAM)
    outside = tmp_path / "outside.txt"
    seconds = f"4711.{os.getpid()}"
    arguments = [program, "--against", program, "--argument", outside, "--argument", seconds, *more]
    done = CliRunner().invoke(command, [*map(str, arguments), "--output-format", "json", "--isolated"])
    [entry] = json.loads(done.stdout)
    assert (entry["verdict"], entry["before"]["status"]) == ("not run", status), entry
    assert entry["before"]["stdout"].splitlines() == [
        "1.0", "beside done", "temporary done", "home done", "outside refused", "network refused",
    ]  # fmt: skip
    assert not outside.exists()
    assert [path.name for path in folder.iterdir()] == ["program.py"]
    assert not running(seconds)


@pytest.mark.skipif(not namespaces(), reason="no user namespaces here")
def test_a_thread_that_is_still_ending_is_waited_for(tmp_path: Path) -> None:
    """A process with a second thread gets no namespace, and a thread that was joined can take a moment to go."""
    text = f"""\
import pathlib, threading, time
from guardfix.runtime_shim.recording.containment import contain
threading.Thread(target=time.sleep, args=(0.2,), daemon=True).start()
print(sorted(contain([], pathlib.Path({str(tmp_path)!r}))))
"""
    alone = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # as in each run: numpy keeps threads otherwise
    done = subprocess.run([sys.executable, "-c", text], env=alone, capture_output=True, text=True, check=True)
    assert {"network", "processes"} <= set(ast.literal_eval(done.stdout)), done.stdout


def asked(folder: Path, cache: Path, *more: str, answer: str = "") -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "GUARDFIX_YES"}
    return subprocess.run(
        [sys.executable, "-m", "guardfix", "verify", str(folder), "--isolated", *more],
        env={**environment, "GUARDFIX_CACHE_DIR": str(cache)},
        input=answer,
        capture_output=True,
        text=True,
        check=False,
    )


def test_nothing_is_run_before_it_is_agreed_to(tmp_path: Path, cache: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import torch\nprint(torch.ones(1))\n")
    assert "about to run" not in asked(tmp_path, cache).stderr, "there is nothing to run"
    program.write_text("import torch\nwith torch.inference_mode(), torch.no_grad():\n    print(torch.ones(1))\n")
    first = asked(tmp_path, cache)
    assert (first.returncode, first.stdout) == (2, "")
    assert f"about to run programs of {tmp_path}: in copies" in first.stderr
    assert "pass --yes to agree" in first.stderr
    agreed = asked(tmp_path, cache, "--yes")
    assert (agreed.returncode, "about to run" in agreed.stderr) == (0, False)
    again = asked(tmp_path, cache)
    assert (again.returncode, "about to run" in again.stderr) == (0, False), "it was agreed to before"


def test_a_private_home_takes_no_cache_away(tmp_path: Path) -> None:
    """What is compiled is kept in the user's cache, although programs have another home."""
    environment = {
        name: value for name, value in os.environ.items() if not name.endswith(("_CACHE_DIR", "_CACHE_HOME"))
    }
    program = tmp_path / "project" / "program.cpp"
    program.parent.mkdir()
    program.write_text("int main() {}\n")
    done = subprocess.run(
        [sys.executable, "-m", "guardfix", "verify", str(program), "--against", str(program), "--isolated"],
        env={**environment, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, "nothing to verify" in done.stdout) == (0, True), done
    assert len(list((tmp_path / ".cache" / "guardfix" / "programs").glob("*/*/program.so"))) == 2
