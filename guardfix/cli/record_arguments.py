"""`python -m guardfix.cli.record_arguments` writes `check_arguments.py` again: after a change of `check`'s options."""

from __future__ import annotations

import os

import click

from .check_command import command

RECORD = os.path.join(os.path.dirname(__file__), "check_arguments.py")
_HEAD = '''"""The arguments of `guardfix check` as click reads them, for checks that are too short for it.

Written by `python -m guardfix.cli.record_arguments`; a test holds it to what click says.
"""

from __future__ import annotations

'''


def recorded_arguments() -> str:
    """What `check_arguments.py` should say."""
    options = [one for one in command.params if isinstance(one, click.Option)]
    plain = [one for one in options if one.callback is None and not one.secondary_opts and one.name is not None]
    flags = {opt: one.name for one in plain if one.is_bool_flag for opt in one.opts}
    lists = {
        opt: one.name
        for one in plain
        if one.multiple and one.nargs == 1 and type(one.type) is click.types.StringParamType
        for opt in one.opts
        if opt.startswith("--")
    }
    variables = sorted({one.envvar for one in options if isinstance(one.envvar, str)})
    values: dict[str, object] = {
        "FLAGS: dict[str, str]": flags,
        "LISTS: dict[str, str]": lists,
        "ENVIRONMENT: tuple[str, ...]": tuple(variables),
    }
    return _HEAD + "".join(f"{name} = {_literal(value)}\n" for name, value in values.items())


def _literal(value: object) -> str:
    """As Python writes it, one row a line."""
    if isinstance(value, dict):
        rows, ends = [f"{key!r}: {given!r}" for key, given in value.items()], "{}"
    else:
        assert isinstance(value, tuple)
        rows, ends = [repr(one) for one in value], "()"
    return "\n".join((ends[0], *(f"    {row},".replace("'", '"') for row in rows), ends[1]))


if __name__ == "__main__":
    with open(RECORD, "w", encoding="utf-8", newline="\n") as file:
        file.write(recorded_arguments())
