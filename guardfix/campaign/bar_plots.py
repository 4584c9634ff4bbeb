"""Bars as SVG inside a page: no script, no file beside it, and a table's worth of text for who can't see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

_WIDTH, _LABEL, _ROW, _BAR = 760, 290, 26, 16
_NUMBER = 56


class BarSeries(NamedTuple):
    """One color of the bars: its name in the legend, and its class in the page's style."""

    name: str
    style: str


def stacked_bars(title: str, rows: Mapping[str, Mapping[str, int]], series: Sequence[BarSeries]) -> str:
    """A figure with a bar for each row, in parts; `rows` has for each label the parts by their series' names."""
    if not rows:
        return ""
    totals = {label: sum(parts.values()) for label, parts in rows.items()}
    scale = (_WIDTH - _LABEL - _NUMBER) / max(1, *totals.values())
    height = _ROW * len(rows)
    shown = []
    for number, (label, parts) in enumerate(rows.items()):
        y = number * _ROW
        middle = y + _ROW / 2
        name = f"{escape(_short(label))}<title>{escape(label)}</title>"
        shown.append(f'<text x="{_LABEL - 8}" y="{middle:g}" class="label">{name}</text>')
        x = float(_LABEL)
        for one in series:
            count = parts.get(one.name, 0)
            if count:
                tooltip = escape(f"{label}, {one.name}: {count:,}" if len(series) > 1 else f"{label}: {count:,}")
                width = max(1.0, count * scale)
                shown.append(
                    f'<rect x="{x:.1f}" y="{y + (_ROW - _BAR) / 2:g}" width="{width:.1f}" height="{_BAR}" '
                    f'class="{one.style}"><title>{tooltip}</title></rect>'
                )
                x += width
        shown.append(f'<text x="{x + 6:.1f}" y="{middle:g}" class="number">{totals[label]:,}</text>')
    legend = ""
    if len(series) > 1:
        keys = "".join(f'<span><i class="{one.style}"></i>{escape(one.name)}</span>' for one in series)
        legend = f'<p class="legend">{keys}</p>'
    return (
        f"<figure><figcaption>{escape(title)}</figcaption>{legend}"
        f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{escape(title)}">{"".join(shown)}</svg></figure>'
    )


def _short(label: str) -> str:
    return label if len(label) <= 38 else "…" + label[-37:]
