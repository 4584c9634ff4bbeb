"""The rows of a query as a table, CSV or JSON lines."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from guardfix.foreign_text import printable
from guardfix.output.json_text import json_text
from guardfix.output.terminal_layout import displayable

_WIDEST = 60
"""Characters of a table's cell; more are cut."""


def rows_as_text(columns: Sequence[str], rows: Sequence[Sequence[Any]], output_format: str) -> str:
    """The rows as `table`, `csv` or `json`, one object a line."""
    if output_format == "json":
        return "".join(json_text(dict(zip(columns, row, strict=True)), default=_plain) + "\n" for row in rows)
    if output_format == "csv":
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([_cell(value) for value in row] for row in rows)
        return file.getvalue()
    return _table(columns, rows)


def _plain(value: object) -> object:
    if isinstance(value, (date, datetime)):
        return value.isoformat()
    return float(value) if isinstance(value, Decimal) else str(value)


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, (list, tuple)):
        return "; ".join(map(_cell, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def _table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    cells = [[_cut(displayable(printable(_cell(value)))) for value in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    numbers = [
        bool(rows) and all(isinstance(row[at], (int, float)) and not isinstance(row[at], bool) for row in rows)
        for at in range(len(columns))
    ]
    lines = [columns, ["-" * width for width in widths], *cells]
    return "".join(
        "  ".join(
            cell.rjust(width) if number else cell.ljust(width)
            for cell, width, number in zip(line, widths, numbers, strict=True)
        ).rstrip()
        + "\n"
        for line in lines
    )


def _cut(text: str) -> str:
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"
