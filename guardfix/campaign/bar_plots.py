"""Bars inside a page: no script and no file beside it. Labels and numbers are the page's own text, so they wrap."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import NamedTuple

_BAR = 16
"""Height in pixels; across, a bar is as wide as the page lets it."""


class BarSeries(NamedTuple):
    """One color of the bars: its name in the legend, and its class in the page's style."""

    name: str
    style: str


def stacked_bars(title: str, rows: Mapping[str, Mapping[str, int]], series: Sequence[BarSeries]) -> str:
    """A figure with a bar for each row, in parts; `rows` has for each label the parts by their series' names."""
    if not rows:
        return ""
    totals = {label: sum(parts.values()) for label, parts in rows.items()}
    most = max(1, *totals.values())
    shown = []
    for label, parts in rows.items():
        counted = [(one, parts[one.name]) for one in series if parts.get(one.name)]
        said = ", ".join(f"{one.name}: {count:,}" for one, count in counted) if len(series) > 1 else ""
        heard = f'role="img" aria-label="{escape(said)}"' if said else 'aria-hidden="true"'
        shown.append(
            f'<li><span class="label">{escape(label)}</span>'
            f'<svg width="100%" height="{_BAR}" {heard}>{"".join(_pieces(counted, most))}</svg>'
            f'<span class="number">{totals[label]:,}</span></li>'
        )
    legend = ""
    if len(series) > 1:
        keys = "".join(f'<span><i class="{one.style}"></i>{escape(one.name)}</span>' for one in series)
        legend = f'<p class="legend">{keys}</p>'
    return f'<figure><figcaption>{escape(title)}</figcaption>{legend}<ul class="bars">{"".join(shown)}</ul></figure>'


def _pieces(counted: Sequence[tuple[BarSeries, int]], most: int) -> Iterator[str]:
    at = 0.0
    for one, count in counted:
        width = max(0.3, 100 * count / most)
        yield (
            f'<rect x="{at:.2f}%" width="{width:.2f}%" height="{_BAR}" class="{one.style}">'
            f"<title>{escape(one.name)}: {count:,}</title></rect>"
        )
        at += width
