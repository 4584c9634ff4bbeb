"""Comments that silence findings, written where the findings are: `--add-noqa`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from guardfix.codemods.apply.rewriting import apply_edits
from guardfix.codemods.fix import Edit, insertion
from guardfix.linter.engine import Report
from guardfix.linter.facts import Span
from guardfix.linter.files.sources import Source
from guardfix.linter.findings import Finding
from guardfix.linter.frontends.frontend import Frontend, frontend_of
from guardfix.linter.lazy_regex import lazy_regex

_NOLINT = lazy_regex(rb"\bNOLINT\((?P<codes>[^)\n]*)\)")
_NOQA = lazy_regex(rb"#[ \t]*(?i:noqa)[ \t]*:[ \t]*(?P<codes>[\w-]+(?:[ \t]*,[ \t]*[\w-]+)*)")


@dataclass(frozen=True)
class Commented:
    """A file with comments for its findings."""

    source: Source
    text: bytes
    above: tuple[int, ...]
    """The rows of the old text that have a line more above them now."""

    def row_now(self, row: int) -> int:
        """Where a row of the old text is in the new one."""
        return row + sum(1 for other in self.above if other <= row)


def commented(report: Report, after: Iterable[Finding], above: Iterable[Finding] = ()) -> list[Commented]:
    """The files of the findings, with a comment at the end of the line of each, or on a line above it.

    In Python `# noqa: GF401`, elsewhere `// NOLINT(GF101)`; codes are added to a comment that lists some already.
    """
    by_path: dict[str, tuple[list[Finding], list[Finding]]] = {}
    for place, findings in enumerate((after, above)):
        for finding in findings:
            by_path.setdefault(finding.path, ([], []))[place].append(finding)
    found = []
    for path, (at_end, on_top) in by_path.items():
        source, frontend = report.positions.source(path), frontend_of(path)
        if source is None or frontend is None or not source.text:
            continue
        silenced = frontend.silenced_row
        end_rows = _codes((silenced(source, finding.span.start), finding.code) for finding in at_end)
        top_rows = _codes((source.row(finding.span.start), finding.code) for finding in on_top)
        edits = [_behind(source, row, codes, frontend) for row, codes in end_rows.items()]
        edits += [_above(source, row, codes, frontend) for row, codes in top_rows.items()]
        found.append(Commented(source, apply_edits(source.text, edits), tuple(top_rows)))
    return found


def _codes(pairs: Iterable[tuple[int, str]]) -> dict[int, list[str]]:
    """The codes of each row, each once."""
    rows: dict[int, list[str]] = {}
    for row, code in pairs:
        if code not in rows.setdefault(row, []):
            rows[row].append(code)
    return rows


def _line(source: Source, row: int) -> Span:
    """A row without its end."""
    start = source.line_starts[row - 1]
    end = source.line_starts[row] if row < len(source.line_starts) else len(source.text)
    line = source.text[start:end]
    return Span(start, start + len(line.rstrip(b"\r\n")))


def _behind(source: Source, row: int, codes: list[str], frontend: Frontend) -> Edit:
    """The edit that silences codes at the end of a row."""
    line = _line(source, row)
    text = source.text[slice(*line)]
    as_ruff = frontend.silencing.startswith("noqa")
    known = (_NOQA if as_ruff else _NOLINT).search(text)
    if known is not None and known["codes"].strip():
        separator = ", " if as_ruff or b", " in known["codes"] else ","
        return insertion(line.start + known.end("codes"), "".join(separator + code for code in codes))
    end = line.start + len(text.rstrip())
    comment = frontend.silencing.format(codes=(", " if as_ruff else ",").join(codes))
    if not as_ruff and text.rstrip().endswith(b"\\"):  # the line goes on: a comment to its end would take that too
        end = line.start + len(text.rstrip()[:-1].rstrip())
        return Edit(Span(end, line.start + len(text.rstrip()) - 1), f"  /* {comment} */ ")
    return Edit(Span(end, line.end), f"  {frontend.line_comment} {comment}")


def _above(source: Source, row: int, codes: list[str], frontend: Frontend) -> Edit:
    """The edit that silences codes by a line above a row."""
    line = _line(source, row)
    text = source.text[slice(*line)]
    indent = text[: len(text) - len(text.lstrip())].decode("utf-8")
    newline = "\r\n" if b"\r\n" in source.text else "\n"
    return insertion(line.start, f"{indent}{frontend.line_comment} NOLINTNEXTLINE({','.join(codes)}){newline}")
