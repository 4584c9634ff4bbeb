"""What the pages of a campaign share: their frame, and a few pieces."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from guardfix.package_version import VERSION


@dataclass(frozen=True)
class _CampaignContent:
    title: str
    heading: str
    said: object
    body: list[object]
    back: str
    version: str = VERSION


def campaign_page(title: str, heading: str, said: str, body: Iterable[str], back: str = "") -> str:
    """A whole page, which needs nothing besides itself. `said` and `body` are HTML already; `back` is an address."""
    from markupsafe import Markup

    from guardfix.report.page_kit import rendered

    content = _CampaignContent(title, heading, Markup(said), [Markup(part) for part in body if part], back)
    return rendered("campaign_page.html", ("campaign_page.css",), (), content)


def html_table(head: Sequence[str], rows: Iterable[Sequence[str | int | float | None]], numbers: frozenset[int]) -> str:
    """A table. Texts are HTML already; `numbers` are the columns that are set to the right.

    Columns of numbers in which there is nothing but zeros are left out.
    """
    rows = list(rows)
    kept = [at for at in range(len(head)) if at not in numbers or not rows or any(row[at] for row in rows)]
    head, rows = [head[at] for at in kept], [[row[at] for at in kept] for row in rows]
    numbers = frozenset(new for new, old in enumerate(kept) if old in numbers)
    style = [' class="n"' if at in numbers else "" for at in range(len(head))]
    lines = ["".join(f"<th{one}>{escape(name)}</th>" for one, name in zip(style, head, strict=True))]
    lines += ["".join(f"<td{one}>{_shown(value)}</td>" for one, value in zip(style, row, strict=True)) for row in rows]
    name = escape(", ".join(head))
    body = "".join(f"<tr>{line}</tr>\n" for line in lines)
    return f'<div class="wide" tabindex="0" role="group" aria-label="{name}"><table>{body}</table></div>'


def _shown(value: str | int | float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.1f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else value


def html_tiles(tiles: Iterable[tuple[int, str, str]]) -> str:
    """Numbers with what they count, of one and of more; zeros say nothing and are left out."""
    shown = [
        f"<div><b>{number:,}</b><span>{escape(one if number == 1 else more)}</span></div>"
        for number, one, more in tiles
        if number
    ]
    return f'<div class="tiles">{"".join(shown)}</div>'
