"""What becomes of a run that ends in an error which says nothing about how the command was used."""

from __future__ import annotations

import os

from ..output.plain_echo import echo
from .streams import cannot_go_on, too_few_descriptors


def status_after(error: Exception) -> int:
    """The exit status after an error, which is reported; raises the interrupt that caused it, if one did."""
    if (interrupt := interrupt_in(error)) is not None:
        raise interrupt from None
    if os.environ.get("GUARDFIX_TRACEBACK"):
        raise error
    status = too_few_descriptors(error)
    if not status:
        status = cannot_go_on(error) if isinstance(error, OSError) else _bug(error)
    return status


def interrupt_in(error: BaseException | None) -> KeyboardInterrupt | None:
    """The interrupt of which an error is but what it left behind, as a pool of processes does."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error


def _bug(error: Exception) -> int:
    """The exit status after an unexpected error, which must not look like findings."""
    import traceback  # costs several milliseconds, which no good run pays

    place = traceback.extract_tb(error.__traceback__)[-1]
    echo(
        f"guardfix: internal error: {type(error).__name__}: {error}\n"
        f"It was raised at {place.filename}:{place.lineno}, in {place.name}. Unless that is one of your own rules, "
        "this is a bug in guardfix: report it with the file that caused it and the output with GUARDFIX_TRACEBACK=1.",
        err=True,
    )
    return 2
