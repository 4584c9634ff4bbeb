"""The command line: one module a command, `NAME_command.py`, imported when it is called."""

from __future__ import annotations

import importlib
import os
import sys

import click

from ..package_version import VERSION
from .command_failure import did_you_mean
from .ending_signals import end_as_interrupted
from .unexpected_errors import interrupt_in, status_after

_SUFFIX = "_command.py"
_WHOLE = 1000
_EXAMPLES = [
    ("guardfix check src/", "find guards that are used wrongly, and see why"),
    ("guardfix migrate src/", "show a diff that fixes them"),
    ("guardfix migrate --apply src/", "apply it"),
]


class _Commands(click.Group):
    """Finds its commands by their modules' names, so that a new command is a new file."""

    def list_commands(self, context: click.Context) -> list[str]:
        modules = os.listdir(os.path.dirname(__file__))
        return sorted(name.removesuffix(_SUFFIX).replace("_", "-") for name in modules if name.endswith(_SUFFIX))

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in self.list_commands(context):
            return None
        module = importlib.import_module(f"{__package__}.{name.replace('-', '_')}{_SUFFIX[:-3]}")
        command: click.Command = module.command
        return command

    def format_help_text(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_help_text(context, formatter)
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_dl(_EXAMPLES)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        commands = {name: self.get_command(context, name) for name in self.list_commands(context)}
        # click would cut what does not fit in one line.
        rows = [(name, one.get_short_help_str(limit=_WHOLE)) for name, one in commands.items() if one is not None]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(context, args)
        except click.UsageError as error:
            guess = did_you_mean(args[0], self.list_commands(context))
            raise click.UsageError(f"{error.message.rstrip('.')}{guess or '.'}", context) from None


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(VERSION, prog_name="guardfix")
def cli() -> None:
    """Check, migrate and verify PyTorch's gradient-mode guards in C++ and Python code.

    Exit status: 0 if nothing was found or everything was done, 1 if there are findings or changes to make, 2 if the
    run failed.
    """


def run() -> None:
    """Run the command line, and end the process with its status: 2 when the run failed.

    Raises `KeyboardInterrupt` when it was interrupted.
    """
    end_as_interrupted()
    try:
        sys.exit(cli(prog_name="guardfix", standalone_mode=False))
    except click.ClickException as error:
        from .stderr_notes import show_error

        show_error(error)
        status = error.exit_code
    except click.Abort as error:
        raise interrupt_in(error) or KeyboardInterrupt from None
    except Exception as error:
        status = status_after(error)
    sys.exit(status)
