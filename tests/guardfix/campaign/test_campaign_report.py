"""`guardfix campaign report`: pages that are complete, whatever repositories are called."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

import pytest
from click.testing import CliRunner
from lxml import html

from campaign_repositories import UNCALLED, MakeRepository
from guardfix.cli.main import cli

UNKNOWN = (
    "#include <ATen/ATen.h>\nat::Tensor f(at::Tensor t) {\n  at::AutoNonVariableTypeMode g;\n  return g_<t>(t);\n}\n"
)
HOSTILE = "a<script>alert(1)</script>&'b"


@pytest.fixture
def report(tmp_path: Path, repository: MakeRepository) -> Path:
    repository("one", {HOSTILE: UNKNOWN, "x&y/<b>.cpp": UNKNOWN, "a.py": UNCALLED})
    repository("nothing", {"a.py": "print(1)\n"})
    (tmp_path / "list.toml").write_text(
        f'[[repository]]\nsource = "one"\nname = "{HOSTILE}"\n[[repository]]\nsource = "nothing"\n'
        '[[repository]]\nsource = "gone"\n'
    )
    out = tmp_path / "out"
    runner = CliRunner()
    assert (
        runner.invoke(cli, ["campaign", "run", str(tmp_path / "list.toml"), "-o", str(out), "-j", "1"]).exit_code == 1
    )
    done = runner.invoke(cli, ["campaign", "report", "-o", str(out)])
    assert done.exit_code == 0, done.output
    assert done.stdout == f"Wrote {out}/report/index.html.\n"
    return out / "report"


def test_pages_show_all_and_run_nothing_of_a_repository(report: Path) -> None:
    pages = [report / "index.html", *sorted((report / "repositories").iterdir())]
    assert len(pages) == 2
    for page in pages:
        text = page.read_text(encoding="utf-8")
        tree = html.fromstring(text)
        assert len(tree.xpath("//script")) == 1, "the page's own, whose digest the policy has"
        assert tree.xpath("//link | //img | //@onclick | //@style") == []
        [policy] = tree.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
        assert policy.startswith("default-src 'none'; script-src 'sha256-")
        for link in tree.xpath("//a/@href"):
            assert (page.parent / unquote(link)).is_file(), link
    index, repository = (html.fromstring(page.read_text(encoding="utf-8")) for page in pages)
    tiles = dict(
        zip(
            index.xpath("//div[@class='tiles']//span/text()"),
            index.xpath("//div[@class='tiles']//b/text()"),
            strict=True,
        )
    )
    assert (tiles["repositories"], tiles["old guard"]) == ("3", "1")
    assert index.xpath("//h1/text()") == ["1 needs you"]
    assert "2 of 3 done, 1 failed" in index.text_content()
    assert "no such folder" in index.text_content()
    assert [one.text_content() for one in index.xpath("//main/ul/li")] == [
        "1 failed: the reasons are below; guardfix campaign run --retry tries them again.",
        "No programs were run: guardfix campaign run --verify runs them before and after migration.",
        "1 needs a decision: each repository's page shows why.",
    ]
    heads = index.xpath("//h2[text()='Repositories']/following-sibling::div//th/text()")
    assert "review" not in heads, "a column of zeros"
    assert heads[:2] == ["repository", "commit"]
    assert "1 more in which nothing was found." in index.text_content()
    assert [figure.text_content() for figure in index.xpath("//figcaption")] == [
        "By context and confidence",
        "Without a safe fix, by cause",
        "By repository and next step",
        "Uses by guard",
        "Findings by rule and next step",
    ]
    assert [one.text_content().split()[0] for one in repository.xpath("//summary")] == ["x&y/<b>.cpp:3", "a.py:3"]
    assert HOSTILE in repository.xpath("//h1/text()")[0]


def test_a_page_of_nothing_says_so(tmp_path: Path, repository: MakeRepository) -> None:
    repository("nothing", {"a.py": "print(1)\n"})
    (tmp_path / "list.txt").write_text("nothing\n")
    runner = CliRunner()
    for words in (["run", str(tmp_path / "list.txt"), "-j", "1"], ["report"]):
        assert runner.invoke(cli, ["campaign", *words, "-o", str(tmp_path / "out")]).exit_code == 0
    index = html.fromstring((tmp_path / "out" / "report" / "index.html").read_text(encoding="utf-8"))
    assert [one.text_content() for one in index.xpath("//main/ul/li")] == [
        "No guards were found, so there is nothing to migrate."
    ]
    assert index.xpath("//h2 | //figure | //table") == []


@pytest.mark.thorough
def test_pages_of_what_is_gone_are_removed(report: Path) -> None:
    (report / "repositories/old.html").write_text("")
    CliRunner().invoke(cli, ["campaign", "report", "-o", str(report.parent)])
    assert len(list((report / "repositories").iterdir())) == 1
