"""`guardfix schema`."""

from __future__ import annotations

from importlib.resources import files

import click

_SUFFIX = ".schema.json"
_FOLDER = files(__package__.rpartition(".")[0]) / "schemas"


def schema_names() -> list[str]:
    """The schemas that come with guardfix."""
    return sorted(path.name.removesuffix(_SUFFIX) for path in _FOLDER.iterdir() if path.name.endswith(_SUFFIX))


def schema_text(name: str) -> str:
    """One of them, as JSON."""
    return (_FOLDER / f"{name}{_SUFFIX}").read_text(encoding="utf-8")


@click.command("schema")
@click.argument("name", type=click.Choice(schema_names()))
def command(name: str) -> None:
    """Print the JSON schema of what guardfix writes and reads: its findings, statistics, rules, baseline, settings."""
    click.echo(schema_text(name), nl=False)
