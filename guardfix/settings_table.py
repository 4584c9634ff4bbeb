"""The settings of a configuration file: one row each, from which reading, checking, the JSON schema and the
documentation are made."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from guardfix.linter.analysis.project import REINDENT_LIMIT
from guardfix.linter.facts.intents import PURPOSES
from guardfix.linter.files.sources import DEFAULT_MEGABYTES


class SettingKind(Struct, frozen=True):
    """What a setting takes."""

    expected: str
    """As messages say it, after `must be`."""
    accepts: Callable[[Any], bool]
    schema: Mapping[str, Any]


class Setting(Struct, frozen=True):
    """One setting."""

    key: str
    kind: SettingKind
    summary: str
    default: Any
    example: str
    """As TOML, without the key."""
    whole_run: bool = False
    """It is read from the configuration of the working folder, whatever configurations there are below it."""


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def is_version(text: str) -> bool:
    """Whether a text is a version number: `2`, `1.13`, `2.1.0`."""
    return re.fullmatch(r"[0-9]{1,6}(?:\.[0-9]{1,6}){0,5}", text) is not None


def _is_guard(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and _is_text(value.get("name"))
        and _is_text(value.get("like"))
        and _is_texts(value.get("headers", []))
        and value.keys() <= {"name", "like", "headers"}
    )


_TEXT = {"type": "string", "minLength": 1}
_TEXTS = {"type": "array", "items": {"type": "string"}}
_SELECTOR = {
    "type": "string",
    "minLength": 2,
    "description": "A code (GF101), a prefix (GF4), a name (legacy-guard), a group (raises) or ALL",
}
_SELECTORS = {"type": "array", "items": {"$ref": "#/definitions/selector"}}

SWITCH = SettingKind("true or false", lambda value: isinstance(value, bool), {"type": "boolean"})
SELECTORS = SettingKind("a list of strings", _is_texts, _SELECTORS)
PATTERNS = SettingKind("a list of strings", _is_texts, _TEXTS)
FILE = SettingKind("a path", _is_text, _TEXT)
NAMES = SettingKind("a list of strings", _is_texts, _TEXTS)
TORCH_VERSION = SettingKind(
    'a version, such as "1.13"',
    lambda value: isinstance(value, str) and (not value or is_version(value)),
    {"type": "string", "pattern": r"^([0-9]+(\.[0-9]+)*)?$"},
)
SELECTORS_BY_PATTERN = SettingKind(
    "a table that maps patterns to lists of rules",
    lambda value: isinstance(value, dict) and all(map(_is_texts, value.values())),
    {"type": "object", "additionalProperties": _SELECTORS},
)
INTENTS = SettingKind(
    f'a table of patterns, such as "src/kernels/**" = "kernel"; what can be declared is {", ".join(PURPOSES)}',
    lambda value: (
        isinstance(value, dict) and all(isinstance(word, str) and word in PURPOSES for word in value.values())
    ),
    {"type": "object", "additionalProperties": {"enum": list(PURPOSES)}},
)
LINES = SettingKind(
    "a number of lines, 0 or more",
    lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= 0,
    {"type": "integer", "minimum": 0},
)
MEGABYTES = SettingKind(
    f"a number of megabytes, such as {DEFAULT_MEGABYTES:g}",
    lambda value: isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < 1 << 20,
    {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1 << 20},
)
FORMAT_NAME = SettingKind("the name of an output format", _is_text, _TEXT)
GUARDS = SettingKind(
    'a list of tables such as { name = "MyNoGrad", like = "torch::NoGradGuard" }',
    lambda value: isinstance(value, list) and all(map(_is_guard, value)),
    {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "name": {**_TEXT, "description": "The class, with its namespaces: my::NoGrad"},
                "like": {**_TEXT, "description": "The PyTorch guard that does the same"},
                "headers": {**_TEXTS, "description": "The headers that declare it"},
            },
            "required": ["name", "like"],
            "additionalProperties": False,
        },
    },
)

SETTINGS = (
    Setting(
        "extend",
        FILE,
        "A configuration file that this one extends; its settings apply unless this file overrides them.",
        "",
        '"../guardfix.toml"',
    ),
    Setting("select", SELECTORS, "The rules to run, instead of the default ones.", (), '["GF1", "raises"]'),
    Setting("ignore", SELECTORS, "Rules to leave out.", (), '["GF104"]'),
    Setting("extend-select", SELECTORS, "Rules to run in addition.", (), '["GF002"]'),
    Setting("extend-ignore", SELECTORS, "Additional rules to leave out.", (), '["GF208"]'),
    Setting("exclude", PATTERNS, "Files and folders to leave out, in .gitignore's syntax.", (), '["third_party/"]'),
    Setting("extend-exclude", PATTERNS, "Additional files and folders to leave out.", (), '["generated/"]'),
    Setting(
        "include",
        PATTERNS,
        "The only files to check in folders, in .gitignore's syntax; by default all C++ and Python files.",
        (),
        '["src/**"]',
    ),
    Setting(
        "per-file-ignores",
        SELECTORS_BY_PATTERN,
        "Rules to leave out in the files that match a pattern.",
        {},
        '{ "tests/**" = ["GF101"] }',
    ),
    Setting(
        "extend-per-file-ignores",
        SELECTORS_BY_PATTERN,
        "Additional rules to leave out in the files that match a pattern.",
        {},
        '{ "bench/**" = ["GF4"] }',
    ),
    Setting(
        "minimum-torch",
        TORCH_VERSION,
        "The oldest version of torch that the code supports; used by GF505.",
        "",
        '"1.13"',
    ),
    Setting(
        "intent",
        INTENTS,
        "What the old guard is for in the files that match a pattern; the last pattern that matches counts.",
        {},
        '{ "src/kernels/**" = "kernel" }',
        whole_run=True,
    ),
    Setting(
        "reindent-limit",
        LINES,
        "How many lines a safe fix may reindent.",
        REINDENT_LIMIT,
        "20",
        whole_run=True,
    ),
    Setting(
        "max-file-size",
        MEGABYTES,
        "The size in megabytes up to which a file is read; a larger one is reported as GF001.",
        DEFAULT_MEGABYTES,
        "8",
        whole_run=True,
    ),
    Setting("respect-gitignore", SWITCH, "Leave out what .gitignore excludes.", True, "false", whole_run=True),
    Setting(
        "force-exclude",
        SWITCH,
        "Leave out excluded files even if they are named on the command line.",
        False,
        "true",
        whole_run=True,
    ),
    Setting(
        "include-docs", SWITCH, "Also check C++ in code blocks of .md and .rst files.", False, "true", whole_run=True
    ),
    Setting("output-format", FORMAT_NAME, "How `guardfix check` writes findings.", "full", '"concise"', whole_run=True),
    Setting(
        "baseline", FILE, "The baseline that `guardfix check` uses.", "", '"guardfix-baseline.json"', whole_run=True
    ),
    Setting(
        "guards",
        GUARDS,
        "Your own guard classes, each like one of PyTorch's.",
        (),
        '[{ name = "my::NoGrad", like = "torch::NoGradGuard" }]',
        whole_run=True,
    ),
    Setting(
        "plugins",
        NAMES,
        "Entry points in the group `guardfix.rules` whose rules are loaded. They are code and run with your "
        "permissions.",
        (),
        '["my-rules"]',
        whole_run=True,
    ),
)

BY_KEY: Mapping[str, Setting] = {setting.key: setting for setting in SETTINGS}
SELECTOR = _SELECTOR
