"""A campaign's results as tables: DuckDB writes them as Parquet, and answers queries about them."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any

from guardfix.output.plain_echo import echo
from guardfix.regular_files import read_regular_text

from .repository_work import FINDINGS, USES
from .result_store import REPOSITORY, KnownTask, ResultStore

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


class NoDuckDB(Exception):
    """DuckDB is not installed; the message says what to install."""


class BadQuery(Exception):
    """A query that DuckDB refuses; the message is DuckDB's."""


_FIX = {"fix": "VARCHAR", "fix_message": "VARCHAR", "next_step": "VARCHAR", "patch": "VARCHAR"}
_USES = {
    "path": "VARCHAR",
    "row": "INTEGER",
    "column": "INTEGER",
    "end_row": "INTEGER",
    "end_column": "INTEGER",
    "start": "BIGINT",
    "end": "BIGINT",
    "guard": "VARCHAR",
    "old": "BOOLEAN",
    "form": "VARCHAR",
    "function": "VARCHAR",
    "text": "VARCHAR",
    "rules": "VARCHAR[]",
    "message": "VARCHAR",
    "context": "VARCHAR",
    "confidence": "VARCHAR",
    "replacement": "VARCHAR",
    "evidence": "VARCHAR[]",
    **_FIX,
    "verdict": "VARCHAR",
    "verdict_reason": "VARCHAR",
}
_FINDINGS = {
    "path": "VARCHAR",
    "row": "INTEGER",
    "column": "INTEGER",
    "rule": "VARCHAR",
    "name": "VARCHAR",
    "severity": "VARCHAR",
    "message": "VARCHAR",
    "function": "VARCHAR",
    "context": "VARCHAR",
    "confidence": "VARCHAR",
    "steps": "VARCHAR[]",
    **_FIX,
}
_REPOSITORIES = {
    "repository": "VARCHAR",
    "shard": "INTEGER",
    "shards": "INTEGER",
    "source": "VARCHAR",
    "revision": "VARCHAR",
    "commit": "VARCHAR",
    "outcome": "VARCHAR",
    "reason": "VARCHAR",
    "files": "BIGINT",
    "missing_files": "BIGINT",
    "partly_parsed": "BIGINT",
    "uses": "BIGINT",
    "old_uses": "BIGINT",
    "findings": "BIGINT",
    "patches": "BIGINT",
    "fixes": "BIGINT",
    "seconds": "DOUBLE",
    "cpu_seconds": "DOUBLE",
    "peak_megabytes": "DOUBLE",
    "started_at": "TIMESTAMP",
}
TIME_COLUMNS = ("seconds", "cpu_seconds", "peak_megabytes", "started_at")
"""What another run of the same measures again; all other columns are the same."""
TABLE_NAMES = ("uses", "findings", "repositories")
_STAMP = ".tables"
_MEMORY = "1GB"


def connect(store: ResultStore) -> DuckDBPyConnection:
    """A connection that sees the campaign's tables, made again where results have come since.

    Raises `BadStore`, `NoDuckDB`.
    """
    duckdb = _duckdb()
    tasks = store.tasks()
    stamp = store.stamp()
    at = store.folder / _STAMP
    if not at.is_file() or read_regular_text(at) != stamp:
        _write_tables(store, tasks)
        at.write_text(stamp, encoding="utf-8")
    connection: DuckDBPyConnection = duckdb.connect(config=_offline({"memory_limit": _MEMORY}))
    for table in TABLE_NAMES:
        path = _quoted(store.folder / f"{table}.parquet")
        connection.execute(f"CREATE VIEW {table} AS SELECT * FROM read_parquet({path})")
    return connection


_Rows = tuple[list[str], list[tuple[Any, ...]]]


def query(store: ResultStore, text: str, *, unrestricted: bool = False) -> _Rows:
    """(the columns' names, the rows) of a query, which reads the campaign's tables and nothing else.

    `unrestricted` lets it read and write files, too. An interrupt ends it. Raises `BadStore`, `NoDuckDB`, `BadQuery`.
    """
    answer: Future[_Rows] = Future()
    # Not `is_alive`: until Python 3.12, an interrupt of `join` makes a running thread look ended.
    ended = threading.Event()
    opened: list[DuckDBPyConnection] = []

    def work() -> None:
        try:
            answer.set_result(_answer(store, text, opened, unrestricted))
        except BaseException as error:
            answer.set_exception(error)
        finally:
            ended.set()

    # In a thread, where no signal is handled: it would wait for the query's end, or abort DuckDB's import.
    try:
        threading.Thread(target=work, daemon=True).start()
        while not ended.wait(_LOOK):
            pass
    except BaseException:
        deadline = time.monotonic() + _PATIENCE
        while not ended.wait(_LOOK) and time.monotonic() < deadline:
            for connection in opened:
                connection.interrupt()
        if not ended.is_set():  # it would be torn down in the middle of DuckDB, which aborts
            echo("guardfix: the query didn't end, and was killed", err=True)
            os._exit(128 + signal.SIGTERM)
        raise
    return answer.result()


def _answer(store: ResultStore, text: str, opened: list[DuckDBPyConnection], unrestricted: bool) -> _Rows:
    kind = _duckdb().Error
    with connect(store) as connection:
        opened.append(connection)
        if not unrestricted:
            _restrict(connection)
        try:
            found = connection.execute(text)
            return [column[0] for column in found.description or ()], found.fetchall()
        except kind as error:
            raise BadQuery(str(error)) from None
        finally:
            opened.clear()


def _restrict(connection: DuckDBPyConnection) -> None:
    """Puts the tables into memory, and closes everything else: no file, no extension, no setting that opens them."""
    for table in TABLE_NAMES:
        connection.execute(f"CREATE TABLE restricted_{table} AS SELECT * FROM {table}")
        connection.execute(f"DROP VIEW {table}")
        connection.execute(f"ALTER TABLE restricted_{table} RENAME TO {table}")
    connection.execute("SET temp_directory = ''")  # what takes more memory than there is would go to the current folder
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


_LOOK, _PATIENCE = 0.2, 5.0
"""Seconds between two looks for signals, and for which an interrupted query is waited for."""


def _offline(config: dict[str, Any]) -> dict[str, Any]:
    """The settings, with which DuckDB fetches nothing: all that is needed here is part of it."""
    return {**config, "autoinstall_known_extensions": False}


def _duckdb() -> Any:
    try:
        import duckdb
    except ImportError:
        raise NoDuckDB("this needs DuckDB: pip install 'guardfix[campaign]'") from None
    return duckdb


def _write_tables(store: ResultStore, tasks: Sequence[KnownTask]) -> None:
    """All tables as Parquet, sorted, each file whole or not at all."""
    done = [(number, task, task.result) for number, task in enumerate(tasks) if task.result is not None]
    folder = store.folder / ".duckdb"
    config = {"memory_limit": _MEMORY, "temp_directory": str(folder), "threads": 2}
    with _duckdb().connect(config=_offline(config)) as connection:
        connection.execute(
            "CREATE TABLE results (file VARCHAR, number INTEGER, task_repository VARCHAR, task_shard INTEGER)"
        )
        if done:
            rows = [(str(path), number, task.repository, task.shard) for number, task, path in done]
            connection.executemany("INSERT INTO results VALUES (?, ?, ?, ?)", rows)
        connection.execute(f"CREATE TABLE done AS {_select(REPOSITORY, _REPOSITORIES, [path for *_, path in done])}")
        # What was not looked at yet is a row as well.
        waiting = [(task.repository, task.shard) for task in tasks if task.result is None]
        if waiting:
            connection.executemany("INSERT INTO done (repository, shard, outcome) VALUES (?, ?, 'waiting')", waiting)
        _copy(
            connection,
            "SELECT * EXCLUDE (file, line) FROM done ORDER BY repository, shard",
            store.folder,
            "repositories",
        )
        connection.execute(
            "CREATE TABLE origins AS SELECT file, repository, shard, commit, seconds, started_at FROM done"
        )
        for table, columns, name in (("uses", _USES, USES), ("findings", _FINDINGS, FINDINGS)):
            files = [path for *_, path in done if (path / name).is_file()]
            _copy(
                connection,
                f"SELECT o.repository, o.commit, o.shard, r.* EXCLUDE (file, line), o.seconds, o.started_at "
                f"FROM ({_select(name, columns, files)}) r JOIN origins o USING (file) "
                "ORDER BY o.repository, o.shard, r.line",
                store.folder,
                table,
            )
    for left in folder.glob("*") if folder.is_dir() else ():
        left.unlink(missing_ok=True)


def _select(name: str, columns: Mapping[str, str], folders: Sequence[Path]) -> str:
    """A query for the rows of the files of that name in the folders, with the folder as `file` and the row's number."""
    shown = ", ".join(f'"{column}"' for column in columns)
    if not folders:
        nothing = ", ".join(f'NULL::{kind} AS "{column}"' for column, kind in columns.items())
        return f"SELECT {nothing}, NULL::VARCHAR AS file, NULL::BIGINT AS line WHERE false"
    kinds = ", ".join(f"'{column}': '{kind}'" for column, kind in columns.items())
    files = ", ".join(_quoted(folder / name) for folder in folders)
    return (
        f"SELECT {shown}, regexp_replace(filename, '/[^/]*$', '') AS file, row_number() OVER () AS line "
        f"FROM read_json([{files}], columns = {{{kinds}}}, format = 'newline_delimited', filename = true)"
    )


def _copy(connection: DuckDBPyConnection, select: str, folder: Path, table: str) -> None:
    new = folder / f".{table}.parquet.new"
    connection.execute(f"COPY ({select}) TO {_quoted(new)} (FORMAT parquet, COMPRESSION zstd)")
    os.replace(new, folder / f"{table}.parquet")


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"
