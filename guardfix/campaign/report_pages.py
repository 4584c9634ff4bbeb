"""A campaign's report: a page with what it comes to, and one for each repository with each of its uses."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from guardfix.wording import count_of

from .bar_plots import BarSeries, stacked_bars
from .page_style import campaign_page, html_table, html_tiles
from .result_store import ResultStore
from .result_tables import connect

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_FOLDER, _PAGES = "report", "repositories"
_CONFIDENCES = (BarSeries("high", "strong"), BarSeries("medium", "middle"), BarSeries("low", "pale"))
_STEPS = (
    BarSeries("apply", "good"),
    BarSeries("review", "warn"),
    BarSeries("decide", "bad"),
    BarSeries("none", "pale"),
)
_MOST_BARS = 15

_CAUSE = """CASE
  WHEN len(rules) = 0 THEN 'suppressed or not selected'
  WHEN context = 'unknown' AND len(evidence) = 0 THEN 'no evidence'
  WHEN context = 'unknown' THEN 'evidence on both sides'
  WHEN fix = 'unsafe' THEN 'the fix may change what the code does'
  WHEN fix = 'display' THEN 'only a person can make the edit'
  ELSE 'decided, but no edit fits the form'
END"""


_PLOTS_OF_OLD = (
    (
        "By context and confidence",
        "SELECT context, confidence, count(*) FROM uses WHERE old AND context IS NOT NULL GROUP BY ALL",
        _CONFIDENCES,
    ),
    (
        "Without a safe fix, by cause",
        f"SELECT {_CAUSE}, 'uses', count(*) FROM uses WHERE old AND next_step IS DISTINCT FROM 'apply' GROUP BY ALL",
        (BarSeries("uses", "warn"),),
    ),
    (
        "By repository and next step",
        "SELECT repository, coalesce(next_step, 'none'), count(*) FROM uses WHERE old GROUP BY ALL",
        _STEPS,
    ),
)


def write_report(store: ResultStore) -> Path:
    """Write the pages; the path of the first. Raises `BadStore`, `NoDuckDB`, OSError."""
    folder = store.folder / _FOLDER
    (folder / _PAGES).mkdir(parents=True, exist_ok=True)
    with connect(store) as connection:
        repositories = _rows(connection, _REPOSITORIES)
        names = _page_names(repositories)
        now = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
        body = _index(connection, repositories, names)
        _write(folder / "index.html", campaign_page("guardfix campaign", _sentence(repositories), escape(now), body))
        for name, page in names.items():
            [first, *_] = [row for row in repositories if row["repository"] == name]
            said = f"{escape(first['source'] or '')} at <code>{escape(first['commit'] or '')}</code>"
            body = _repository(connection, name, first, store)
            text = campaign_page(f"{name} - guardfix campaign", name, said, body, back="../index.html")
            _write(folder / _PAGES / page, text)
        for left in (folder / _PAGES).glob("*.html"):
            if left.name not in names.values():
                left.unlink()
    return folder / "index.html"


def _write(path: Path, text: str) -> None:
    new = path.with_name(f".{path.name}.new")
    new.write_text(text, encoding="utf-8", errors="replace")
    os.replace(new, path)


_REPOSITORIES = """
SELECT r.*, u.apply, u.review, u.decide FROM repositories r LEFT JOIN (
  SELECT repository, shard, count(*) FILTER (next_step = 'apply') AS apply,
    count(*) FILTER (next_step = 'review') AS review, count(*) FILTER (next_step = 'decide') AS decide
  FROM uses WHERE old GROUP BY ALL) u USING (repository, shard)
ORDER BY old_uses DESC NULLS LAST, uses DESC NULLS LAST, repository, shard"""


def _rows(connection: DuckDBPyConnection, sql: str, given: tuple[object, ...] = ()) -> list[dict[str, Any]]:
    found = connection.execute(sql, given)
    columns = [column[0] for column in found.description or ()]
    return [dict(zip(columns, row, strict=True)) for row in found.fetchall()]


def _page_names(repositories: list[dict[str, Any]]) -> dict[str, str]:
    """The file names of the pages of repositories that have something to show."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for row in repositories:
        name = row["repository"]
        if name in names or not (row["uses"] or row["findings"]):
            continue
        stem = re.sub(r"[^\w.+-]", "_", name.replace("/", "+"))
        page, number = f"{stem}.html", 1
        while page.lower() in taken:  # names that differ in what files can't be called
            number += 1
            page = f"{stem}-{number}.html"
        taken.add(page.lower())
        names[name] = page
    return names


def _table_of(connection: DuckDBPyConnection, sql: str) -> dict[str, dict[str, int]]:
    """Rows (label, part, count) as bars; the longest first."""
    bars: dict[str, dict[str, int]] = {}
    for label, part, count in connection.execute(sql).fetchall():
        bars.setdefault(str(label), {})[str(part)] = count
    return dict(sorted(bars.items(), key=lambda pair: (-sum(pair[1].values()), pair[0]))[:_MOST_BARS])


def _sentence(repositories: list[dict[str, Any]]) -> str:
    """What is to be done, as the page's heading."""
    sums = {name: sum(row[name] or 0 for row in repositories) for name in _STEP_WORDS}
    counts = [f"{count:,} {_STEP_WORDS[name][count != 1]}" for name, count in sums.items() if count]
    if not counts and any(row["outcome"] == "waiting" for row in repositories):
        return "Not finished; no old guards so far"
    return ", ".join(counts) or "No old guards"


_STEP_WORDS = {
    "apply": ("can be applied now", "can be applied now"),
    "review": ("wants a look", "want a look"),
    "decide": ("needs you", "need you"),
}


def _index(
    connection: DuckDBPyConnection, repositories: list[dict[str, Any]], names: Mapping[str, str]
) -> Iterator[str]:
    outcomes = {"done": 0, "failed": 0, "waiting": 0}
    for row in repositories:
        outcomes[row["outcome"] if row["outcome"] in outcomes else "failed"] += 1
    total = len(repositories)
    others = "".join(f", {count:,} {name}" for name, count in outcomes.items() if count and name != "done")
    yield f"<p>{outcomes['done']:,} of {total:,} done{others}</p>"
    styles = (("done", "good"), ("failed", "bad"), ("waiting", "pale"))
    at = 0.0
    parts = ""
    for name, style in styles:
        width = 100 * outcomes[name] / max(1, total)
        parts += f'<rect class="{style}" x="{at:.2f}%" width="{width:.2f}%" height="12"/>'
        at += width
    yield f'<svg class="progress" width="100%" height="12" role="img" aria-label="progress">{parts}</svg>'
    by_step = "SELECT coalesce(next_step, 'none'), count(*) FROM uses WHERE old GROUP BY ALL"
    steps = dict(connection.execute(by_step).fetchall())
    sums = {name: sum(row[name] or 0 for row in repositories) for name in ("files", "uses", "old_uses", "patches")}
    with_old = len({row["repository"] for row in repositories if row["old_uses"]})
    yield from _next_steps(outcomes, sums, steps, connection)
    yield html_tiles(
        [
            (len({row["repository"] for row in repositories}), "repository", "repositories"),
            (sums["files"], "file", "files"),
            (sums["old_uses"], "old guard", "old guards"),
            (with_old, "repository with an old guard", "repositories with an old guard"),
            (sums["patches"], "patch", "patches"),
        ]
    )
    yield from _figures(
        "Old guards",
        (
            stacked_bars(title, _table_of(connection, sql), series)
            for title, sql, series in (
                *_PLOTS_OF_OLD,
                ("Verified, by verdict", _VERDICTS, (BarSeries("uses", "strong"),)),
            )
        ),
    )
    guards = "SELECT guard, 'uses', count(*) FROM uses GROUP BY ALL"
    rules = "SELECT rule || ' ' || name, coalesce(next_step, 'none'), count(*) FROM findings GROUP BY ALL"
    yield from _figures(
        "All guards and findings",
        (
            stacked_bars("Uses by guard", _table_of(connection, guards), (BarSeries("uses", "strong"),)),
            stacked_bars("Findings by rule and next step", _table_of(connection, rules), _STEPS),
        ),
    )
    yield from _failures(repositories)
    if names:
        yield "<h2>Repositories</h2>"
        yield _repository_table(repositories, names)


_VERDICTS = "SELECT verdict, 'uses', count(*) FROM uses WHERE verdict IS NOT NULL GROUP BY ALL"


def _figures(title: str, figures: Iterator[str] | tuple[str, ...]) -> Iterator[str]:
    shown = list(filter(None, figures))
    if shown:
        yield f'<h2>{title}</h2><div class="figures">'
        yield from shown
        yield "</div>"


def _next_steps(
    outcomes: Mapping[str, int], sums: Mapping[str, int], steps: Mapping[str, int], connection: DuckDBPyConnection
) -> Iterator[str]:
    """What to do now, where something is still missing from the page."""
    notices = []
    if not sum(outcomes.values()):
        notices.append("The manifest names no repositories: add some, then run <code>guardfix campaign run</code>.")
    elif outcomes["waiting"]:
        notices.append(
            f"{outcomes['waiting']:,} waiting: run the same <code>guardfix campaign run</code> again to go on."
        )
    if outcomes["failed"]:
        again = "<code>guardfix campaign run --retry</code> tries them again"
        notices.append(f"{outcomes['failed']:,} failed: the reasons are below; {again}.")
    if outcomes["done"] and not sums["uses"]:
        notices.append("No guards were found, so there is nothing to migrate.")
    elif sums["patches"] and not connection.execute(_VERDICTS).fetchall():
        notices.append(
            "No programs were run: <code>guardfix campaign run --verify</code> runs them before and after migration."
        )
    if count := steps.get("decide"):
        needs = f"{count:,} {'needs' if count == 1 else 'need'} a decision"
        notices.append(f"{needs}: each repository's page shows why.")
    if notices:
        yield f"<ul>{''.join(f'<li>{line}</li>' for line in notices)}</ul>"


def _failures(repositories: list[dict[str, Any]]) -> Iterator[str]:
    failed = [row for row in repositories if row["outcome"] not in ("done", "waiting")]
    if failed:
        yield "<h2>Failed</h2>"
        rows = [(escape(_label(row)), escape(row["outcome"]), escape(row["reason"] or "")) for row in failed]
        yield html_table(("repository", "outcome", "reason"), rows, frozenset())


def _label(row: Mapping[str, Any]) -> str:
    return (
        row["repository"] if row["shards"] in (None, 1) else f"{row['repository']} ({row['shard'] + 1}/{row['shards']})"
    )


def _repository_table(repositories: list[dict[str, Any]], names: Mapping[str, str]) -> str:
    head = ("repository", "commit", "files", "guards", "old", "apply", "review", "decide", "patches", "seconds", "MB")
    shown = []
    for row in repositories:
        if not (row["uses"] or row["findings"]):
            continue
        link = f'<a href="{_PAGES}/{quote(names[row["repository"]])}">{escape(_label(row))}</a>'
        counts = [row[name] or 0 for name in ("files", "uses", "old_uses", "apply", "review", "decide", "patches")]
        commit = f"<code>{escape(_short_commit(row))}</code>"
        shown.append((link, commit, *counts, row["seconds"], row["peak_megabytes"]))
    without = sum(row["outcome"] == "done" and not (row["uses"] or row["findings"]) for row in repositories)
    note = f'<p class="soft">{without:,} more in which nothing was found.</p>' if without else ""
    return html_table(head, shown, frozenset(range(2, len(head)))) + note


def _short_commit(row: Mapping[str, Any]) -> str:
    return (row["commit"] or "").rpartition("-")[2][:10]


def _repository(connection: DuckDBPyConnection, name: str, first: dict[str, Any], store: ResultStore) -> Iterator[str]:
    patches = list(_patches(store, name))
    if patches:
        yield "<h2>Patches</h2><p>In the order in which <code>git am</code> takes them:</p><ul>"
        yield from (f'<li><a href="{quote(link)}"><code>{escape(file)}</code></a></li>' for file, link in patches)
        yield "</ul>"
    uses = _rows(
        connection, 'SELECT * FROM uses WHERE repository = ? ORDER BY old DESC, path, "row", "column"', (name,)
    )
    for old, title in ((True, "Old guards"), (False, "Other guards")):
        some = [row for row in uses if row["old"] is old]
        if some:
            yield f"<h2>{title}: {count_of(len(some), 'use')}</h2>"
            yield from (_use(row, first) for row in some)
    findings = 'SELECT * FROM findings WHERE repository = ? ORDER BY path, "row", "column", rule'
    found = _rows(connection, findings, (name,))
    if found:
        yield f"<h2>{count_of(len(found), 'finding')}</h2>"
        rows = [
            (_place(row, first), f"{row['rule']} {escape(row['name'])}", escape(row["message"]), row["fix"])
            for row in found
        ]
        yield html_table(("place", "rule", "message", "fix"), rows, frozenset())


def _patches(store: ResultStore, name: str) -> Iterator[tuple[str, str]]:
    """(name, link from the page) of a repository's patches."""
    for task in store.tasks():
        if task.repository == name and task.result is not None:
            for path in sorted((task.result / "patches").glob("*.patch")):
                yield path.name, os.path.relpath(path, store.folder / _FOLDER / _PAGES).replace(os.sep, "/")


def _place(row: Mapping[str, Any], repository: Mapping[str, Any]) -> str:
    """Where a row is, as a link where the page of the file is known."""
    shown = f"<code>{escape(row['path'])}:{row['row']}</code>"
    host = re.fullmatch(r"https://(github|gitlab)\.com/([\w.-]+/[\w.-]+?)(?:\.git)?/?", repository["source"] or "")
    if host is None or not repository["commit"]:
        return shown
    page = f"https://{host[1]}.com/{host[2]}/blob/{repository['commit']}/{quote(row['path'])}#L{row['row']}"
    return f'<a href="{escape(page)}">{shown}</a>'


def _use(row: Mapping[str, Any], repository: Mapping[str, Any]) -> str:
    decided = f"{row['context']}, {row['confidence']} confidence" if row["context"] else ""
    becomes = f" → <code>{escape(row['replacement'])}</code>" if row["replacement"] else ""
    tags = [decided, row["fix"] and f"{row['fix']} fix", row["verdict"]]
    shown = " ".join(f'<span class="badge">{escape(tag)}</span>' for tag in tags if tag)
    evidence = "".join(f"<li>{escape(one)}</li>" for one in row["evidence"] or ())
    rows = [
        f"<pre>{escape(row['text'] or '')}</pre>",
        f"<p>{escape(' '.join(row['rules'] or ()))} {escape(row['message'])}</p>" if row["message"] else "",
        f"<ul>{evidence}</ul>" if evidence else "",
        f"<p>Fix: {escape(row['fix_message'])}</p>" if row["fix_message"] else "",
        f"<p>Verified: {escape(row['verdict'])} {escape(row['verdict_reason'] or '')}</p>" if row["verdict"] else "",
        f'<p class="soft">{escape(row["form"])}'
        + (f" in <code>{escape(row['function'])}</code>" if row["function"] else "")
        + (f", in <code>{escape(row['patch'])}</code>" if row["patch"] else "")
        + "</p>",
    ]
    head = f"{_place(row, repository)} <code>{escape(row['guard'])}</code>{becomes} {shown}"
    return f"<details><summary>{head}</summary><div>{''.join(rows)}</div></details>"
