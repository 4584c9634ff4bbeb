"""What the pages of a campaign share: the head, the style, and a few pieces."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from guardfix.foreign_text import printed_page
from guardfix.package_version import VERSION

_STYLE = """
:root { color-scheme: light dark; --ink: #1c2330; --soft: #5b6575; --paper: #fff; --line: #dde2ea; --tint: #f4f6f9;
  --strong: #2f6fb5; --middle: #7fb0dc; --faint: #c3d9ee; --good: #3f9b63; --warn: #d99a2b; --bad: #c4503f; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e8ef; --soft: #9aa5b5; --paper: #14181f; --line: #2c3440;
  --tint: #1b212b; --strong: #6aa9e6; --middle: #3f74a8; --faint: #28435f; --good: #55b57c; --warn: #d9a441;
  --bad: #dd6f5f; } }
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 76rem;
  margin: 0 auto; padding: 1.5rem; }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.15rem; margin: 2rem 0 .6rem; }
a { color: var(--strong); } .soft { color: var(--soft); }
code, pre { font: 13px/1.5 ui-monospace, monospace; }
pre { background: var(--tint); padding: .6rem .8rem; overflow-x: auto; }
.tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(9.5rem, 1fr)); gap: .7rem; margin: 1.2rem 0; }
.tiles div { background: var(--tint); border-radius: 6px; padding: .6rem .8rem; }
.tiles b { display: block; font-size: 1.5rem; font-variant-numeric: tabular-nums; } .tiles span { color: var(--soft); }
.progress { display: flex; height: 12px; border-radius: 6px; overflow: hidden; background: var(--tint); }
.progress i { display: block; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr)); gap: 1.2rem 2rem; }
figure { margin: 0; } figcaption { font-weight: 600; margin-bottom: .3rem; } svg { width: 100%; height: auto; }
svg text { font: 13px system-ui, sans-serif; fill: var(--ink); dominant-baseline: central; }
@media (max-width: 640px) { figure svg { overflow: visible; } svg .label, svg .number { font-size: 17px; } }
svg .label { text-anchor: end; } svg .number, svg .axis { fill: var(--soft); } svg .grid { stroke: var(--line); }
.strong { fill: var(--strong); background: var(--strong); } .middle { fill: var(--middle); background: var(--middle); }
.faint { fill: var(--faint); background: var(--faint); } .good { fill: var(--good); background: var(--good); }
.warn { fill: var(--warn); background: var(--warn); } .bad { fill: var(--bad); background: var(--bad); }
svg .line { fill: none; stroke-width: 2; } .line.strong { stroke: var(--strong); } .line.good { stroke: var(--good); }
.line.warn { stroke: var(--warn); } .line.middle { stroke: var(--middle); } .line.faint { stroke: var(--faint); }
.line.bad { stroke: var(--bad); } .line.soft-line { stroke: var(--soft); } .soft-line { background: var(--soft); }
.legend { margin: 0 0 .3rem; color: var(--soft); font-size: 13px; } .legend span { margin-right: 1rem; }
.legend i { display: inline-block; width: 10px; height: 10px; border-radius: 2px; margin-right: .35rem; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: 14px; }
th, td { text-align: left; padding: .3rem .7rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--soft); font-weight: 600; white-space: nowrap; } td:first-child code { white-space: nowrap; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
details { border-bottom: 1px solid var(--line); padding: .35rem 0; }
summary { cursor: pointer; overflow-wrap: anywhere; }
details > div { padding: .2rem 0 .6rem 1.1rem; } details ul { margin: .3rem 0; padding-left: 1.2rem; }
.tag { border-radius: 4px; padding: .05rem .4rem; font-size: 12px;
  border: 1px solid var(--line); white-space: nowrap; }
"""


def campaign_page(title: str, body: Iterable[str]) -> str:
    """A whole page, which needs nothing besides itself and runs no script, whatever a repository is called."""
    return printed_page(
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f'<meta name="generator" content="guardfix {VERSION}"><title>{escape(title)}</title>'
        f"<style>{_STYLE}</style></head>\n"
        f"<body><main>\n{''.join(f'{part}' + chr(10) for part in body if part)}</main></body></html>\n"
    )


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
    return f'<div class="scroll" tabindex="0" role="group" aria-label="{name}"><table>{body}</table></div>'


def _shown(value: str | int | float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.1f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else value


def html_tiles(tiles: Iterable[tuple[int, str]]) -> str:
    """Numbers with what they count."""
    return (
        '<div class="tiles">'
        + "".join(f"<div><b>{number:,}</b><span>{escape(what)}</span></div>" for number, what in tiles)
        + "</div>"
    )
