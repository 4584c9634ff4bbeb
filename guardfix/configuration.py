"""Configuration: `[tool.guardfix]` in pyproject.toml, or guardfix.toml.

For each source file the nearest configuration counts, in its folder or one above it up to the top of the git
repository; `extend` names one that it adds to. Patterns start from the folder of the file that they are in.
"""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

from guardfix.linter.files.project_root import UnknownSettings, find_configuration
from guardfix.linter.lazy_regex import lazy_regex
from guardfix.regular_files import read_regular

from .settings_table import BY_KEY

if TYPE_CHECKING:
    from guardfix.linter.engine import Options

_DEEPEST = 20
"""Files that extend each other."""
_KEY = lazy_regex(rb"[^\s=,\[\]{}]+")
_MOST_DOTS = 1000
"""In one key: the parser's time grows with the square of their number."""
_LARGEST = 8 << 20
"""Bytes of the largest configuration that is read."""


class BadConfiguration(UnknownSettings):
    """A configuration that cannot be used; the message says where and why."""


class SettingsOf(Struct, frozen=True):
    """What one file says, or one `--config key=value`, by key; the values are those of TOML, checked."""

    path: str
    folder: str
    """Where its patterns start from; the working folder when empty."""
    values: Mapping[str, Any]

    def patterns(self, key: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """(folder, patterns) of a setting; none when it isn't set."""
        return ((self.folder or os.curdir, tuple(self.values[key])),) if self.values.get(key) else ()

    def strings(self, key: str) -> tuple[str, ...]:
        """A list; none when it isn't set."""
        return tuple(self.values.get(key, ()))


class Configuration(Struct, frozen=True):
    """What a configuration file says, with those that it extends."""

    path: str = ""
    sources: tuple[SettingsOf, ...] = ()
    """The first extends nothing; each adds to those before it."""

    def value(self, key: str) -> Any:
        """What the last file says that says something, or the default."""
        for source in reversed(self.sources):
            if key in source.values:
                return source.values[key]
        return BY_KEY[key].default

    def source_of(self, key: str) -> SettingsOf | None:
        """The file that decides a setting; None for a default."""
        return next((source for source in reversed(self.sources) if key in source.values), None)

    @property
    def folder(self) -> str:
        """The folder of the configuration."""
        return self.sources[-1].folder if self.sources else ""

    @property
    def output_format(self) -> str:
        """The output format that is asked for; empty when none is."""
        return self.value("output-format") if self.source_of("output-format") else ""

    def baseline_path(self) -> str:
        """The baseline, from the working folder; empty when there is none."""
        source = self.source_of("baseline")
        return _from(source.folder, self.value("baseline")) if source and self.value("baseline") else ""

    def with_values(self, overrides: Iterable[SettingsOf]) -> Configuration:
        """This configuration, with what the command line says over it."""
        return structs.replace(self, sources=(*self.sources, *overrides))

    def without_plugins(self) -> Configuration:
        """This configuration, without the code that it names, and without what it says of the rules that this gives."""
        if not self.value("plugins"):
            return self
        kept = (structs.replace(source, values=_about_own_rules(source.values)) for source in self.sources)
        return structs.replace(self, sources=tuple(kept))

    def options(self) -> Options:
        """What a run makes of it without other options. Raises `BadConfiguration`."""
        from guardfix.linter.engine import Options
        from guardfix.linter.files.discovery import PathPatterns
        from guardfix.linter.rule import Selection

        from .extensions import BadExtension, own_guards, plugin_rules

        try:
            guards, rules = own_guards(self.value("guards")), plugin_rules(self.value("plugins"))
        except BadExtension as error:
            raise BadConfiguration(f"{self.path or '--config'}: {error}") from None
        excludes, include = self._last_patterns("exclude"), self._last_patterns("include")
        layers = [Selection()]
        for source in self.sources:
            ignore = (*source.strings("ignore"), *source.strings("extend-ignore"))
            layers.append(Selection(source.strings("select"), ignore, source.strings("extend-select")))
        *before, last = layers
        intents = self.source_of("intent")
        return Options(
            select=last.select,
            ignore=last.ignore,
            extend_select=last.extend,
            layers=tuple(layer for layer in before if any(layer)),
            root=self.folder,
            patterns=PathPatterns(
                (*excludes, *(pair for source in self.sources for pair in source.patterns("extend-exclude"))), include
            ),
            more_per_file_ignores=tuple(self._per_file_ignores()),
            respect_gitignore=self.value("respect-gitignore"),
            force_exclude=self.value("force-exclude"),
            include_docs=self.value("include-docs"),
            max_file_size=self.value("max-file-size"),
            minimum_torch=self.value("minimum-torch"),
            reindent_limit=self.value("reindent-limit"),
            intents=tuple(self.value("intent").items()),
            intents_from=os.path.relpath(intents.path) if intents is not None and intents.path else "",
            guards=guards,
            rules=rules,
        )

    def _last_patterns(self, key: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
        source = self.source_of(key)
        return source.patterns(key) if source is not None else ()

    def _per_file_ignores(self) -> Iterable[tuple[str, str, tuple[str, ...]]]:
        last = self.source_of("per-file-ignores")
        tables = [(last, "per-file-ignores")] if last is not None else []
        tables += [(source, "extend-per-file-ignores") for source in self.sources]
        for source, key in tables:
            for pattern, rules in source.values.get(key, {}).items():
                yield source.folder, pattern, tuple(rules)


def _about_own_rules(values: Mapping[str, Any]) -> dict[str, Any]:
    from guardfix.linter.rule import UnknownRule, select_rules

    def known(selector: str) -> bool:
        try:
            select_rules([selector])
        except UnknownRule:
            return False
        return True

    found: dict[str, Any] = {}
    for key, value in values.items():
        if key in ("select", "extend-select", "ignore", "extend-ignore"):
            value = [one for one in value if known(one)]
        elif key in ("per-file-ignores", "extend-per-file-ignores"):
            value = {pattern: [one for one in rules if known(one)] for pattern, rules in value.items()}
        if key != "plugins":
            found[key] = value
    return found


def _from(folder: str, path: str) -> str:
    """A path that starts from a folder, as it is reached from the working folder."""
    full = os.path.join(folder or os.curdir, os.path.expanduser(path))
    try:
        short = os.path.relpath(full)
    except ValueError:  # on another drive
        return full
    return full if short.startswith(os.pardir) else short


def configuration_for(folder: str = os.curdir) -> Configuration:
    """The configuration that is in force in a folder; its patterns start from where it is.

    Code is loaded for that of the working folder alone: any other comes without its plugins. Raises `BadConfiguration`.
    """
    found = find_configuration(folder)
    if found is None:
        return Configuration()
    configuration = read_configuration(found, os.path.dirname(found))
    return configuration if found == find_configuration(os.curdir) else configuration.without_plugins()


def nearest_options(
    change: Callable[[Configuration], Options], known: Mapping[str, Options], fallback: Options
) -> Callable[[str], Options]:
    """A function from a folder to what is in force there: the nearest configuration's, changed, or `fallback`.

    `known` are those that are made already, by the configuration's path. The same configuration gives the same object.
    The rules of plugins are those of `fallback`: what a folder below says is never run.
    The function raises `BadConfiguration`.
    """

    @cache
    def options_of(path: str) -> Options:
        if path in known:
            return known[path]
        found = change(read_configuration(path, os.path.dirname(path)).without_plugins())
        return found.changed(rules=fallback.rules)

    def options_in(folder: str) -> Options:
        found = find_configuration(folder)
        return options_of(found) if found is not None else fallback

    return options_in


def read_configuration(path: str, folder: str = "") -> Configuration:
    """The settings of one file and of those that it extends. Without a `folder` its patterns start from the working
    folder.

    Raises `BadConfiguration`.
    """
    sources = [SettingsOf(path, folder, checked(_table_of(path), path))]
    met = [os.path.realpath(path)]
    while "extend" in sources[0].values:
        child = sources[0]
        base = os.path.join(os.path.dirname(child.path), os.path.expanduser(child.values["extend"]))
        shorter = os.path.normpath(base)
        if os.path.realpath(shorter) == os.path.realpath(base):  # `link/..` isn't the folder that the link is in
            base = shorter
        if os.path.realpath(base) in met:
            raise BadConfiguration(f"{child.path}: `extend` comes back to {base}")
        if len(met) > _DEEPEST:
            raise BadConfiguration(f"{child.path}: more than {_DEEPEST} configurations extend one another")
        met.append(os.path.realpath(base))
        if not os.path.isfile(base):
            raise BadConfiguration(f"{child.path}: `extend` names {base}, which is not a file")
        sources.insert(0, SettingsOf(base, os.path.dirname(os.path.abspath(base)), checked(_table_of(base), base)))
    return Configuration(path, tuple(sources))


def _table_of(path: str) -> Mapping[str, Any]:
    """The table of guardfix's settings in a file."""
    try:
        table: Mapping[str, Any] = _toml().loads(_utf8(read_regular(path, _LARGEST), path))
    except OSError as error:
        raise BadConfiguration(f"{path}: {error.strerror}; --isolated reads no configuration") from None
    except RecursionError:
        raise BadConfiguration(f"{path}: not valid TOML: it nests too deep") from None
    except _toml().TOMLDecodeError as error:
        raise BadConfiguration(f"{path}: not valid TOML: {error}") from None
    except ValueError as error:  # a number of too many digits, a date that does not exist
        raise BadConfiguration(f"{path}: not valid TOML: {_in_short(error)}") from None
    tool = table.get("tool")
    if os.path.basename(path) == "pyproject.toml" or (isinstance(tool, dict) and "guardfix" in tool):
        for name in ("tool", "guardfix"):
            table = table.get(name, {})
            if not isinstance(table, dict):
                raise BadConfiguration(f"{path}: `{name}` must be a table: settings go under `[tool.guardfix]`")
    return table


def _utf8(data: bytes, path: str) -> str:
    """The text of a configuration, which may begin with a byte order mark. Raises `BadConfiguration`."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or b"\0" in data:
        kind = "contains NUL bytes, as UTF-16 has them" if b"\0" in data else "begins like UTF-16"
        raise BadConfiguration(f"{path}: not UTF-8, which TOML requires: it {kind}; save it as UTF-8")
    if any(key.count(b".") > _MOST_DOTS for key in _KEY.findall(data.translate(None, b" \t"))):
        raise BadConfiguration(f"{path}: not valid TOML: it nests too deep")
    try:
        return data.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"not valid UTF-8 at byte {error.start}, which TOML requires; save it as UTF-8"
        raise BadConfiguration(f"{path}: {message}") from None


def _in_short(error: ValueError) -> str:
    """What Python says of a value that can't be read, without advice for programmers."""
    return "a number has too many digits" if "set_int_max_str_digits" in str(error) else str(error)


def _toml() -> Any:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    return tomllib


def inline_settings(text: str) -> SettingsOf | None:
    """The settings of `--config 'key = value'`; None for the name of a file.

    Raises `BadConfiguration`.
    """
    if "=" not in text or ("\0" not in text and os.path.exists(text)):
        return None
    try:
        table = _toml().loads(text)
    except RecursionError:
        raise BadConfiguration("--config: not valid TOML: it nests too deep") from None
    except ValueError as error:  # not TOML, or a number of too many digits, or a date that does not exist
        raise BadConfiguration(f"--config: `{text}` is neither a file nor valid TOML: {_in_short(error)}") from None
    return SettingsOf("", "", checked(table, "--config"))


def checked(table: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    """The table, if all its settings are known and have values that they take. Raises `BadConfiguration`."""
    for key, value in table.items():
        if key not in BY_KEY:
            raise BadConfiguration(f"{where}: unknown setting `{key}`{_suggestion(key)}")
        if not BY_KEY[key].kind.accepts(value):
            raise BadConfiguration(f"{where}: `{key}` must be {BY_KEY[key].kind.expected}")
        if _holds_nul(value):
            raise BadConfiguration(f"{where}: `{key}` holds the character NUL, which no name has")
    if table.get("select") == []:
        raise BadConfiguration(f"{where}: `select` is empty; leave it out to run the default rules")
    return table


def _holds_nul(value: object) -> bool:
    if isinstance(value, Mapping):
        return any(map(_holds_nul, (*value, *value.values())))
    return "\0" in value if isinstance(value, str) else isinstance(value, list) and any(map(_holds_nul, value))


_OPTIONS_ALONE = frozenset(
    "add-noqa color diff executor exit-zero fix fix-only jobs memory no-cache output-file preserve quiet since "
    "statistics timeout-per-file unsafe watch".split()
)
"""Options of `guardfix check` that belong to one run and can't be set for a project."""


def _suggestion(key: str) -> str:
    """What an unknown key may have been meant to be; else the settings there are."""
    from difflib import get_close_matches

    if (option := key.lower().replace("_", "-")) in _OPTIONS_ALONE:
        return f"; that is an option of the command line only: `guardfix check --{option}`"
    close = get_close_matches(key.lower().replace("_", "-"), BY_KEY, n=2, cutoff=0.7)
    if close:
        return f"; did you mean {' or '.join(f'`{one}`' for one in close)}?"
    return f"; the settings are {', '.join(sorted(BY_KEY))}"
