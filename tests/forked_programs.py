"""Python programs run in processes of their own, forked from one in which torch, or the shim in its place, is imported.

Importing takes longer than most programs of the fixtures run.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import runpy
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

SECONDS = 120


@contextmanager
def programs_on(module: str) -> Iterator[ProgramServer]:
    """A server whose programs import `module` by the name of torch."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(module, theirs), daemon=True)
    process.start()
    theirs.close()
    try:
        yield ProgramServer(ours)
    finally:
        ours.close()
        process.join(SECONDS)


class ProgramServer:
    """Runs a program at a time."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def output_of(self, path: Path, folder: Path) -> list[str]:
        """The lines that the program prints; `folder` takes them meanwhile. Raises `AssertionError` if it fails."""
        output, errors = folder / "output", folder / "errors"
        self._connection.send((path, output, errors))
        assert self._connection.poll(SECONDS), f"{path.name} runs for more than {SECONDS} s"
        status = self._connection.recv()
        assert status == 0, errors.read_text()
        return output.read_text().splitlines()


def _serve(module: str, connection: Connection) -> None:
    importlib.import_module(module)
    if module != "torch":
        for name, loaded in list(sys.modules.items()):
            if name == module or name.startswith(module + "."):
                sys.modules["torch" + name[len(module) :]] = loaded
    sys.path.insert(0, str(Path(__file__).parent / "python_modules"))
    while True:
        try:
            path, output, errors = connection.recv()
        except EOFError:
            return
        child = os.fork()
        if not child:
            _run(path, output, errors)
        _, status = os.waitpid(child, 0)
        connection.send(os.waitstatus_to_exitcode(status))


def _run(path: Path, output: Path, errors: Path) -> None:
    """Run the program as a script; ends the process."""
    status = 1
    for number, file in ((1, output), (2, errors)):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
    try:
        warnings.simplefilter("ignore")
        sys.argv = [str(path)]
        runpy.run_path(str(path), run_name="__main__")
        status = 0
    except BaseException:  # whatever a program raises is its failure, not the server's
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
