"""A repository's history of guards as a page with a plot, as CSV, and as lines for a terminal."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from datetime import datetime
from html import escape

from guardfix.foreign_text import printable
from guardfix.linter.guards import CPP
from guardfix.wording import count_of

from .guard_history import GuardHistory, HistoryPoint
from .page_style import campaign_page, html_table

_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 960, 320, 48, 26, 10
_STYLES = ("strong", "good", "warn", "middle", "soft-line", "pale")
_MOST_COMMITS = 500


def is_old(guard: str) -> bool:
    """Whether a guard is deprecated."""
    return CPP[guard].deprecated_since is not None


def history_lines(history: GuardHistory) -> Iterator[str]:
    """A table of the guards: when each came, when there were most, and when it went."""
    yield (
        f"{printable(history.repository)}: {count_of(history.commits, 'commit')}, "
        f"{count_of(history.versions, 'version')} of files, {history.read} read now"
    )
    if not history.points:
        yield "No guard was ever used."
        return
    width = max(5, *(len(guard) for guard in history.guards))
    yield ""
    yield f"{'guard':<{width}}  {'first':<10}  {'most':<16}  {'now':>5}"
    for guard in sorted(history.guards, key=lambda guard: (not is_old(guard), guard)):
        uses = [(point.time, point.counts.get(guard, 0)) for point in history.points]
        first = next(time for time, count in uses if count)
        peak, most = max(((time, count) for time, count in uses), key=lambda pair: pair[1])
        line = f"{guard:<{width}}  {first:%Y-%m-%d}  {f'{most} ({peak:%Y-%m-%d})':<16}  {uses[-1][1]:>5}"
        gone = next(
            (time for (time, count), (_, before) in zip(reversed(uses), reversed(uses[:-1]), strict=False) if before),
            None,
        )
        yield line + (f"  gone {gone:%Y-%m-%d}" if not uses[-1][1] and gone is not None else "")


def history_csv(history: GuardHistory) -> str:
    """A row for each commit that changes a count, with a column for each guard."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    guards = history.guards
    writer.writerow(["commit", "time", *guards])
    for point in history.points:
        writer.writerow([point.commit, point.time.isoformat(), *(point.counts.get(guard, 0) for guard in guards)])
    return file.getvalue()


def history_page(history: GuardHistory, name: str) -> str:
    """The page: a plot of the counts over time, and the commits that changed how many old guards there are."""

    def body() -> Iterator[str]:
        if not history.points:
            yield "<p>No guard was ever used.</p>"
            return
        yield "<h2>Uses of guards</h2>"
        yield _plot(history)
        changes = list(_changes(history))
        yield f"<h2>{count_of(len(changes), 'commit')} changed the number of old guards</h2>"
        rows = [
            (
                f"<code>{point.time:%Y-%m-%d}</code>",
                f"<code>{point.commit[:10]}</code>",
                f"{change:+}",
                after,
                escape(printable(point.subject)),
            )
            for point, change, after in changes[-_MOST_COMMITS:]
        ]
        yield html_table(("date", "commit", "change", "uses", "subject"), rows, frozenset({2, 3}))

    said = f"{count_of(history.commits, 'commit')} to <code>{escape(history.head)}</code>"
    return campaign_page(f"{printable(name)}: guards over time", printable(name), said, body())


def _changes(history: GuardHistory) -> Iterator[tuple[HistoryPoint, int, int]]:
    """(commit, how many more old guards, how many there are then)."""
    before = 0
    for point in history.points:
        now = _old_of(point.counts)
        if now != before:
            yield point, now - before, now
        before = now


def _old_of(counts: Mapping[str, int]) -> int:
    return sum(count for guard, count in counts.items() if is_old(guard))


def _plot(history: GuardHistory) -> str:
    """Lines in steps: time to the right, uses upwards."""
    assert history.first is not None
    assert history.last is not None
    start, end = min(history.first, history.points[0].time), max(history.last, history.points[-1].time)
    seconds = max(1.0, (end - start).total_seconds())
    guards = sorted(
        history.guards,
        key=lambda guard: (not is_old(guard), -max(point.counts.get(guard, 0) for point in history.points), guard),
    )
    shown = guards[: len(_STYLES) + 1]
    most = max(point.counts.get(guard, 0) for point in history.points for guard in shown)

    def x(time: datetime) -> float:
        return _LEFT + (time - start).total_seconds() / seconds * (_WIDTH - _LEFT - 10)

    def y(count: int) -> float:
        return _HEIGHT - _BOTTOM - count / max(1, most) * (_HEIGHT - _BOTTOM - _TOP)

    parts = []
    for count in sorted({0, most // 2, most}):
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH}" y1="{y(count):.1f}" y2="{y(count):.1f}"/>')
        parts.append(f'<text class="axis" x="{_LEFT - 8}" y="{y(count):.1f}" text-anchor="end">{count:,}</text>')
    for year in range(start.year + 1, end.year + 1):
        at = x(datetime(year, 1, 1, tzinfo=start.tzinfo))
        parts.append(f'<line class="grid" x1="{at:.1f}" x2="{at:.1f}" y1="{_TOP}" y2="{_HEIGHT - _BOTTOM}"/>')
        parts.append(f'<text class="axis" x="{at:.1f}" y="{_HEIGHT - 9}" text-anchor="middle">{year}</text>')
    legend = []
    others = iter(_STYLES)
    for guard in shown:
        style = "bad" if is_old(guard) else next(others, "pale")
        path = [f"M{x(start):.1f} {y(0):.1f}"]
        for point in history.points:
            path.append(f"H{x(point.time):.1f}V{y(point.counts.get(guard, 0)):.1f}")
        path.append(f"H{x(end):.1f}")
        parts.append(f'<path class="line {style}" d="{"".join(path)}"><title>{escape(guard)}</title></path>')
        legend.append(f'<span><i class="{style}"></i>{escape(guard)}</span>')
    return (
        f'<figure><p class="legend">{"".join(legend)}</p><svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="uses of guards over time">{"".join(parts)}</svg></figure>'
    )
