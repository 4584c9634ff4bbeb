"""`guardfix server`: the language server for editors."""

from __future__ import annotations

import gc
import logging
import os
import sys

import click

from ..output.plain_echo import echo
from .command_failure import raise_unless_missing


@click.command("server")
@click.option("--stdio", is_flag=True, help="Use standard input and output (always the case).")
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    default="warning",
    show_default=True,
    help="How much to write to standard error.",
)
def command(stdio: bool, log_level: str) -> None:
    """Run the language server (usually started by an editor).

    It shows the findings of `guardfix check` as you type, offers fixes, and explains the guard under the cursor.
    docs/editors.md says how to set up VS Code, Neovim, Helix, Emacs, Zed, Sublime Text and CLion.
    """
    try:
        from ..server.server_features import new_server
    except ImportError as error:
        why = "the server needs the package pygls: `pip install 'guardfix[server]'`"
        raise_unless_missing(error, ("pygls", "lsprotocol"), why)
    if sys.stdin.isatty():
        echo("guardfix server: waiting for an editor on standard input (Ctrl-C ends)", err=True)
    logging.basicConfig(level=log_level.upper(), stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    gc.freeze()  # what was imported stays: the collector need not look at it again
    server = new_server()
    server.start_io()
    # No one is left to receive the result of a check that is still running. Ending without goodbye is a failure, by
    # the protocol.
    sys.stderr.flush()
    os._exit(0 if server.is_shut_down else 1)
