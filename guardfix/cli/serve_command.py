"""`guardfix serve`: a playground, and the live report of a folder, on this machine."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from ..output.plain_echo import echo
from .command_failure import Failure, raise_unless_missing
from .options import choosing, selection
from .verify_page_file import PAGE_LIBRARIES
from .watching import change_filter

if TYPE_CHECKING:
    from ..playground.live_report import LiveReport

_NEEDED = (*PAGE_LIBRARIES, "starlette", "uvicorn", "watchfiles")


@click.command("serve", short_help="Serve a playground and the live report of a folder on this machine.")
@selection
@choosing
@click.option("--port", type=click.IntRange(0, 65535), default=8390, show_default=True, help="0 means any free port.")
@click.option("--open", "opens", is_flag=True, help="Open the browser.")
def command(port: int, opens: bool, **arguments: Any) -> None:
    """Serve a page that checks pasted C++ or Python, and the report of PATHS, updated after each save.

    Only this machine can reach it, at an address with a secret part, which is printed. Nothing is executed, and no
    file is written. Without PATHS, there is only the playground.
    """
    try:
        import uvicorn

        from ..playground.patient_protocol import PatientProtocol
        from ..playground.playground_app import playground_app
    except ImportError as error:
        why = "`guardfix serve` needs Starlette and uvicorn: `pip install 'guardfix[serve]'`"
        raise_unless_missing(error, _NEEDED, why)
    listening = _listen(port)
    number = listening.getsockname()[1]
    secret = secrets.token_urlsafe(16)
    address = f"http://127.0.0.1:{number}/{secret}/"
    live = _live_report(click.get_current_context(), number, secret) if arguments["paths"] else None
    config = uvicorn.Config(
        playground_app(secret, number, live),
        log_level="warning",
        access_log=False,
        server_header=False,
        http=PatientProtocol,
        limit_concurrency=512,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=1,
    )
    echo(f"The playground: {address}")
    if live is not None:
        echo(f"The report:     {address}report")
    echo("Ctrl-C ends.")
    if opens:
        click.launch(address if live is None else f"{address}report")
    with listening:
        uvicorn.Server(config).run(sockets=[listening])


def _listen(port: int) -> socket.socket:
    """A socket that this machine alone reaches, and already does."""
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind(("127.0.0.1", port))
        found.listen()  # connections made before the server is up wait for it
    except OSError as error:
        found.close()
        raise Failure(f"port {port}: {error.strerror or error}; `--port 0` uses any free port") from None
    return found


def _live_report(context: click.Context, port: int, secret: str) -> LiveReport:
    from ..playground.live_report import LiveReport

    paths = context.params["paths"]
    missing = next((path for path in paths if not os.path.exists(path)), None)
    if missing is not None:
        raise Failure(f"no such file or directory: {missing}")
    link = f"http://127.0.0.1:{port}/{secret}/source/{{path}}#L{{line}}"
    return LiveReport([*_given_options(context), "--link", link, "--", *paths], paths, change_filter())


def _given_options(context: click.Context) -> Iterator[str]:
    """The options on the command line that `guardfix report` knows too, as they are written."""
    for option in context.command.params:
        name = option.name or ""
        if not isinstance(option, click.Option) or name in ("port", "opens"):
            continue
        if context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        value = context.params[name]
        if option.is_flag:
            yield (option.opts if value else option.secondary_opts)[0]
        else:
            for one in value if option.multiple else (value,):
                yield f"{max(option.opts, key=len)}={one}"
