"""The command line: one module a command, in `commands/`, imported when it is called."""

from __future__ import annotations

import importlib
import os
import sys

import click

from . import __version__


class _Commands(click.Group):
    """Finds its commands by their modules' names, so that a new command is a new file."""

    def list_commands(self, context: click.Context) -> list[str]:
        folder = os.path.join(os.path.dirname(__file__), "commands")
        return sorted(name[:-3] for name in os.listdir(folder) if name.endswith(".py") and name[0] != "_")

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in self.list_commands(context):
            return None
        module = importlib.import_module(f"{__package__}.commands.{name}")
        command: click.Command = module.command
        return command


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="guardfix")
def cli() -> None:
    """Check, migrate and verify PyTorch's gradient-mode guards in C++ and Python code.

    \b
      guardfix check src/            every guard that is used wrongly, and why
      guardfix migrate src/          the diff that would mend it
      guardfix migrate --apply src/  mend it

    Exit status: 0 nothing found or everything done, 1 findings or changes that would be made, 2 the run failed.
    """


def run() -> None:
    """Run the command line. Internal errors end with status 2, as every failed run does."""
    try:
        cli(prog_name="guardfix")
    except BrokenPipeError:
        # The reader (`| head`) has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(2)
    except Exception as error:  # the last resort: nothing may look like findings that is none
        if os.environ.get("GUARDFIX_TRACEBACK"):
            raise
        click.echo(
            f"guardfix: internal error: {type(error).__name__}: {error}\n"
            "This is a bug in guardfix. Set GUARDFIX_TRACEBACK=1 to see where, and report it with the file that "
            "caused it.",
            err=True,
        )
        sys.exit(2)
