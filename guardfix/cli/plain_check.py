"""A plain `guardfix check PATH…`, with flags at most, without click: importing it takes longer than Python's own start.

What click would make of the arguments follows from `check_arguments.py`. Anything that is not plainly in it, and every
mistake, is left to the real command.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

from .check_arguments import ENVIRONMENT, FLAGS, LISTS


def run_plainly(arguments: Sequence[str]) -> None:
    """Run a check, which ends in `SystemExit`. Returns, with nothing done, where it takes the real command."""
    given = plain_arguments(arguments)
    if given is None:
        return
    from .checking import CheckOptions, check
    from .ending_signals import end_as_interrupted
    from .unexpected_errors import status_after

    end_as_interrupted()
    try:
        check(CheckOptions.of(given))
    except KeyboardInterrupt:
        sys.stderr.write("\n")  # after the terminal's `^C`, as click does it
        raise
    except Exception as error:
        click = sys.modules.get("click")
        if click is not None and isinstance(error, click.ClickException):
            return  # the message depends on the command
        sys.exit(status_after(error))


def plain_arguments(arguments: Sequence[str]) -> dict[str, Any] | None:
    """What click makes of the arguments of a check, without those left at their defaults; None if they aren't plain."""
    if os.name == "nt" or any(name in os.environ for name in ENVIRONMENT):
        return None
    given: dict[str, Any] = {}
    paths: list[str] = []
    waiting = iter(arguments)
    for argument in waiting:
        if not argument.startswith("-"):
            paths.append(argument)
        elif argument in FLAGS:
            given[FLAGS[argument]] = True
        else:
            option, equals, value = argument.partition("=")
            name = LISTS.get(option)
            if name is None:
                return None
            if not equals:
                following = next(waiting, None)
                if following is None:
                    return None
                value = following
            given[name] = (*given.get(name, ()), value)
    given["paths"] = tuple(paths)
    return given
