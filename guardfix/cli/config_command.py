"""`guardfix config`: the settings there are, and those that are in force."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from ..configuration import BadConfiguration, Configuration, configuration_for, inline_settings, read_configuration
from ..foreign_text import printable
from ..output.json_text import json_text
from ..output.plain_echo import echo
from ..output.terminal_layout import terminal_width, wrapped
from ..settings_table import BY_KEY, SETTINGS, Setting
from .command_failure import Failure, did_you_mean, no_such_rule

if TYPE_CHECKING:
    from guardfix.linter.engine import Options


@click.command("config", short_help="Show all settings, or those in effect for a file.")
@click.argument("key", required=False)
@click.option(
    "--show-settings", "shown", metavar="FILE", type=click.Path(), help="Show the settings in effect for FILE."
)
@click.option(
    "--show-files",
    "roots",
    multiple=True,
    metavar="PATH",
    type=click.Path(exists=True),
    help="List the files at and below PATH that would be checked.",
)
@click.option("--config", "configs", multiple=True, metavar="FILE or 'KEY = VALUE'", help="As for `guardfix check`.")
def command(key: str | None, shown: str | None, roots: tuple[str, ...], configs: tuple[str, ...]) -> None:
    """Describe the setting KEY, or list all settings. With --show-settings or --show-files, show the result."""
    if shown is not None:
        _show_settings(shown, configs)
    if roots:
        _show_files(roots, configs)
    if shown is None and not roots:
        _describe(key)


def _describe(key: str | None) -> None:
    if key is None:
        width = max(len(setting.key) for setting in SETTINGS)
        for setting in SETTINGS:
            lines = wrapped(setting.summary, terminal_width(), first=width + 2, indent=" " * (width + 2))
            echo("\n".join([f"{setting.key:<{width}}  {lines[0]}", *lines[1:]]))
        return
    if key not in BY_KEY:
        raise Failure(f"there is no setting `{key}`{did_you_mean(key, BY_KEY) or '; `guardfix config` lists them'}")
    setting = BY_KEY[key]
    lines = [setting.summary, "", f"Default: {_toml(setting.default)}", f"Example: {setting.key} = {setting.example}"]
    if setting.whole_run:
        lines.append("It holds for the whole run, and is read from the configuration of the working folder.")
    for line in lines:
        echo("\n".join(wrapped(line, terminal_width())))


def _configuration_of(path: str, configs: tuple[str, ...]) -> Configuration:
    try:
        inline = [settings for text in configs if (settings := inline_settings(text)) is not None]
        files = [text for text in configs if inline_settings(text) is None]
        folder = path if os.path.isdir(path) else os.path.dirname(path) or os.curdir
        found = read_configuration(files[-1]) if files else configuration_for(folder)
        # A file without its own configuration is checked by that of the working folder.
        return (found if found.sources else configuration_for()).with_values(inline)
    except BadConfiguration as error:
        raise Failure(str(error)) from None


def _show_settings(path: str, configs: tuple[str, ...]) -> None:
    """What is in force for a file, each setting with where it comes from."""
    from guardfix.linter.rule import UnknownRule

    configuration = _configuration_of(path, configs)
    try:
        plugins = configuration_for().options().rules
        rules = [rule.code for rule in configuration.options().changed(rules=plugins).chosen()]
    except UnknownRule as error:
        raise Failure(f"{configuration.path}: {no_such_rule(str(error))}") from None
    except BadConfiguration as error:
        raise Failure(str(error)) from None
    echo(f"# {printable(path)}: {printable(configuration.path) or 'no configuration'}")
    for setting in SETTINGS:
        for value, where in _values(setting, configuration):
            echo(f"{setting.key} = {_toml(value)}" + (f"  # {printable(where)}" if where else ""))
    echo(f"# rules: {', '.join(rules)}")


def _values(setting: Setting, configuration: Configuration) -> Iterator[tuple[Any, str]]:
    """(value, file) of a setting: one, and of those that add up each."""
    said = [source for source in configuration.sources if setting.key in source.values]
    if setting.key.startswith("extend") and said:
        for source in said:
            yield source.values[setting.key], source.path or "--config"
    elif said:
        yield said[-1].values[setting.key], said[-1].path or "--config"
    elif setting.key != "extend":
        yield setting.default, ""


def _toml(value: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, dict):
        inner = ", ".join(f"{json_text(key)} = {_toml(one)}" for key, one in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    return json_text(value)


def _show_files(roots: tuple[str, ...], configs: tuple[str, ...]) -> None:
    from guardfix.linter.engine import found_files
    from guardfix.linter.files.discovery import BadPattern

    from ..configuration import nearest_options

    configuration = _configuration_of(os.curdir, configs)
    try:
        options: Options = configuration.options()
        if not any(inline_settings(text) is None for text in configs):
            inline = [settings for text in configs if (settings := inline_settings(text)) is not None]
            options = replace(
                options, nearest=nearest_options(lambda other: other.with_values(inline).options(), {}, options)
            )
        found = found_files(roots, options)
    except BadConfiguration as error:
        raise Failure(str(error)) from None
    except BadPattern as error:
        raise Failure(f"{configuration.path}: `{error}` is not a pattern in .gitignore's syntax") from None
    for path in sorted(found):
        echo(printable(path))
