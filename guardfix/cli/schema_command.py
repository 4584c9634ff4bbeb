"""`guardfix schema`: JSON Schemas of what guardfix reads and writes."""

from __future__ import annotations

import json
from importlib.resources import files

import click

from ..output.plain_echo import echo

_SUFFIX = ".schema.json"
_FOLDER = files(__package__.rpartition(".")[0]) / "schemas"


def schema_names() -> list[str]:
    """The schemas that come with guardfix."""
    return sorted(path.name.removesuffix(_SUFFIX) for path in _FOLDER.iterdir() if path.name.endswith(_SUFFIX))


def schema_text(name: str) -> str:
    """One of them, as JSON."""
    return (_FOLDER / f"{name}{_SUFFIX}").read_text(encoding="utf-8")


class _WithNames(click.Command):
    """Its help says what each schema describes, as the schema itself has it."""

    def format_epilog(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Schemas"):
            formatter.write_dl([(name, json.loads(schema_text(name))["description"]) for name in schema_names()])


@click.command("schema", cls=_WithNames, short_help="Print a JSON schema for a file that guardfix writes or reads.")
@click.argument("name", type=click.Choice(schema_names()), metavar="NAME")
def command(name: str) -> None:
    """Print the JSON schema NAME (draft-07) of a file that guardfix writes or reads, for editors and validators.

    \b
      guardfix schema findings > findings.schema.json
      check-jsonschema --schemafile findings.schema.json found.json
    """
    echo(schema_text(name), nl=False)
