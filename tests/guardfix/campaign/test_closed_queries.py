"""A query reads the campaign's tables and nothing else; names in a manifest stay inside the results."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from campaign_repositories import UNCALLED
from guardfix.campaign.campaign_manifest import BadManifest, read_manifest
from guardfix.campaign.result_store import ResultStore
from guardfix.campaign.result_tables import BadQuery, query

COMMAND = [sys.executable, "-m", "guardfix", "campaign"]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("campaign")
    (folder / "one").mkdir()
    (folder / "one" / "a.py").write_text(UNCALLED)
    (folder / "list.txt").write_text("one\n")
    subprocess.run([*COMMAND, "run", "list.txt", "-o", "out"], cwd=folder, capture_output=True, check=True)
    return folder / "out"


@pytest.mark.parametrize(
    "text",
    [
        "select * from read_text('/etc/passwd')",
        "select * from read_csv('/etc/passwd')",
        "select * from '/etc/passwd'",
        "select * from glob('/etc/*')",
        "copy (select 1) to '{out}/written.csv'",
        "export database '{out}/written'",
        "attach '{out}/written.db' as other",
        "install httpfs",
        "load httpfs",
        "set enable_external_access = true",
        "reset enable_external_access",
        "set temp_directory = '{out}'",
        "create table large as select * from range(30000000) a, range(9) b order by random()",
        "select * from large_number",
        "select 1; copy (select 1) to '{out}/written.csv'",
    ],
)
def test_what_a_query_can_not_do(text: str, results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(results)
    large_number = np.array([1])  # noqa: F841 - DuckDB finds variables of Python where it is let
    with pytest.raises(BadQuery):
        query(ResultStore(results), text.replace("{out}", str(results)))
    assert not [*results.glob("written*"), *results.glob(".tmp")]


def test_what_a_query_can_do(results: Path) -> None:
    _, rows = query(
        ResultStore(results), "select u.rules, r.outcome from uses u join repositories r using (repository)"
    )
    assert rows == [(["GF403"], "done")]
    assert query(ResultStore(results), "describe uses")[1]
    _, rows = query(ResultStore(results), f"select count(*) > 0 from glob('{results}/*')", unrestricted=True)
    assert rows == [(True,)]


@pytest.mark.skipif(os.name == "nt", reason="no SIGTERM there")
@pytest.mark.thorough
@pytest.mark.parametrize("seconds", [0.6, 1.2, 2, 3, 5])
def test_a_query_ends_when_it_is_told_to(seconds: float, results: Path) -> None:
    endless = "select sum(a.range * b.range) from range(10000000) a, range(10000000) b"
    command = [*COMMAND, "query", "-o", str(results), endless]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        time.sleep(seconds)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=30)
    # Python itself ends without a word where it hadn't come to guardfix's code yet.
    not_begun = process.returncode == -signal.SIGTERM and not said and seconds < 5
    assert process.returncode == 143 or not_begun, said


@pytest.mark.parametrize("name", ["..", ".", "a/../b", "/a", "a/", "a\\\\b", "a\\u0000"])
def test_names_that_are_no_folder(name: str, tmp_path: Path) -> None:
    (tmp_path / "m.toml").write_text(f'[[repository]]\nsource = "one"\nname = "{name}"\n')
    with pytest.raises(BadManifest, match=r"can't be the name|must be a text"):
        read_manifest(str(tmp_path / "m.toml"))
