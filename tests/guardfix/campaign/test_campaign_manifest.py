"""Manifests: what they may say, and what is said of one that can't be used."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from guardfix.campaign.campaign_manifest import BadManifest, read_manifest

NAMES = [
    pytest.param(["https://example.org/owner/name.git"], ["owner/name"], id="the owner is part of the name"),
    pytest.param(["git@example.org:owner/name.git"], ["owner/name"], id="as ssh writes it"),
    pytest.param(["checkouts/a", "checkouts/b"], ["a", "b"], id="folders"),
    pytest.param(["a/repo", "b/repo", "c"], ["a/repo", "b/repo", "c"], id="as much as tells them apart"),
    pytest.param(["/data/vision/repo", "b"], ["vision/repo", "b"], id="a folder that is called like any other"),
    pytest.param(["https://x.org/o/n", "https://y.org/o/n"], ["x.org/o/n", "y.org/o/n"], id="two hosts"),
]


@pytest.mark.parametrize(("sources", "names"), NAMES)
def test_repositories_have_short_names(tmp_path: Path, sources: list[str], names: list[str]) -> None:
    manifest = tmp_path / "list.txt"
    manifest.write_text("# a comment\n\n" + "".join(f"{source}\n" for source in sources))
    assert [entry.name for entry in read_manifest(str(manifest))] == names


def test_a_list_has_a_source_and_a_revision(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("one v1.0\nhttps://example.org/o/two\n")
    first, second = read_manifest(str(tmp_path / "list.txt"))
    assert (first.source, first.revision) == (str(tmp_path / "one"), "v1.0")
    assert (second.source, second.revision) == ("https://example.org/o/two", "")


def test_toml_says_more(tmp_path: Path) -> None:
    (tmp_path / "strict.toml").write_text('select = ["GF1"]\n')
    (tmp_path / "m.toml").write_text(
        '[[repository]]\nsource = "one"\nname = "first"\nrevision = "main"\nconfiguration = "strict.toml"\n'
        'test = "pytest tests/"\nshards = 3\n\n[[repository]]\nsource = "two"\nshards = [["a"], ["b", "c"]]\n'
    )
    first, second = read_manifest(str(tmp_path / "m.toml"))
    assert (first.name, first.revision, first.test, first.shard_count) == ("first", "main", "pytest tests/", 3)
    assert first.configuration is not None
    assert first.configuration.value("select") == ["GF1"]
    assert (second.name, second.shards, second.shard_count) == ("two", (("a",), ("b", "c")), 2)


BAD = [
    pytest.param("m.txt", "", "it names no repository", id="empty"),
    pytest.param("m.txt", "a b c\n", "m.txt:1: a line has a repository and, behind it, a revision", id="three words"),
    pytest.param("m.txt", "--upload-pack=x\n", "neither a folder nor a git URL", id="an option of git's"),
    pytest.param("m.txt", "a --exec=x\n", "is not a revision", id="an option as a revision"),
    pytest.param("m.txt", "a\na\n", "two repositories are called", id="the same twice"),
    pytest.param("m.toml", "x = 1\n", "unknown key `x`", id="an unknown key at the top"),
    pytest.param("m.toml", '[[repository]]\nname = "a"\n', "`source` is missing", id="no source"),
    pytest.param("m.toml", '[[repository]]\nsource = "a"\nshard = 2\n', "unknown key `shard`", id="an unknown key"),
    pytest.param("m.toml", '[[repository]]\nsource = "a"\nshards = 0\n', "`shards` must be", id="no shard"),
    pytest.param(
        "m.toml",
        '[[repository]]\nsource = "a"\nshards = 99999999\n',
        "`shards` must be",
        id="more shards than any repository has",
    ),
    pytest.param(
        "m.toml", '[[repository]]\nname = "a"\nsource = "a\\u0000"\n', "`source` must be", id="no name of a folder"
    ),
    pytest.param("m.toml", '[[repository]]\nsource = "a"\nshards = true\n', "`shards` must be", id="a truth value"),
    *(
        pytest.param("m.toml", f'[[repository]]\nsource = "a"\nshards = [["b", "{path}"]]\n', "leads out of", id=path)
        for path in ("/etc", "..", "../other", "b/../../c", "/etc/../tmp")
    ),
    pytest.param("m.toml", '[[repository]]\nsource = "a"\nconfiguration = "x.toml"\n', "x.toml", id="no such file"),
    pytest.param("m.toml", "[[repository]\n", "not valid TOML", id="no TOML"),
]


@pytest.mark.parametrize(("name", "text", "said"), BAD)
def test_a_bad_manifest_says_where_and_why(tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(BadManifest, match=re.escape(said)) as caught:
        read_manifest(str(tmp_path / name))
    assert name in str(caught.value)
