"""The errors of the command line for modules that every check imports: click is imported with the error."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import click

    from .command_failure import Failure


def failure(message: str) -> Failure:
    """What to raise where a run cannot be made."""
    from .command_failure import Failure

    return Failure(message)


def usage_error(message: str) -> click.UsageError:
    """What to raise where the command is not used as it can be."""
    import click

    return click.UsageError(message)
