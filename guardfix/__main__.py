"""`guardfix`, and `python -P -m guardfix`: without `-P`, modules are looked for in the current folder first."""

from __future__ import annotations

import gc
import os
import sys


def main() -> None:
    """Run the command line; ends the process with its exit status: 130 when it was interrupted, 143 after SIGTERM."""
    try:
        _main()
    except KeyboardInterrupt as error:
        number = getattr(error, "number", 2)
        sys.stderr.write("guardfix: interrupted\n" if number == 2 else "guardfix: terminated\n")
        sys.exit(128 + number)


def _main() -> None:
    from .cli.quick import is_clean
    from .cli.streams import cannot_go_on, guard_streams, open_streams

    open_streams()
    answer = is_clean(sys.argv[1:])
    if answer is not None:
        try:
            sys.stdout.write(answer)
            sys.stdout.flush()
        except OSError as error:
            sys.exit(cannot_go_on(error))
        return
    if sys.argv[1:2] == ["run"]:
        from .cli.program_running import run_named_program

        run_named_program(sys.argv[2:])
    else:
        guard_streams()
    if sys.argv[1:2] != ["check"]:
        from .cli.main import run

        run()
        return
    # What a check builds are values without cycles, by the million: looking for some only costs.
    gc.disable()
    try:
        from .cli.plain_check import run_plainly

        run_plainly(sys.argv[2:])
        from .cli.main import run

        run()
    except SystemExit as end:
        if not isinstance(end.code, int):
            raise
        _leave(end.code)


def _leave(status: int) -> None:
    """End the process without taking the facts of a whole tree apart first, one by one."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:  # the reader has gone, or the disk is full
        status = 2
    os._exit(status)


if __name__ == "__main__":
    main()
