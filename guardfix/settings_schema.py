"""The JSON schema of the settings, for editors, as SchemaStore wants it: `python -m guardfix.settings_schema FILE`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from .settings_table import SELECTOR, SETTINGS


def settings_schema() -> dict[str, Any]:
    """The schema of `[tool.guardfix]`, and of guardfix.toml."""
    properties = {}
    for setting in SETTINGS:
        row: dict[str, Any] = {"description": setting.summary, **setting.kind.schema}
        if setting.default not in ("", (), {}):
            row["default"] = setting.default
        if setting.key == "select":
            row = {**row, "minItems": 1}
        properties[setting.key] = row
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": "https://json.schemastore.org/guardfix.json",
        "title": "Settings of guardfix",
        "description": "guardfix.toml, or [tool.guardfix] in pyproject.toml.",
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "definitions": {"selector": SELECTOR},
    }


def schema_file_text() -> str:
    """What `guardfix/schemas/settings.schema.json` should say."""
    return json.dumps(settings_schema(), indent=2) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(schema_file_text(), encoding="utf-8", newline="\n")
