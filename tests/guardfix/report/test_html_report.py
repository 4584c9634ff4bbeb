"""`guardfix report`: what the page holds, and that nothing in it can escape."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

pytest.importorskip("jinja2")
pytest.importorskip("pygments")

from finding_stories import STORY, report_of, steps_of
from guardfix import StepTaken
from guardfix.cli.report_command import command
from guardfix.codemods.fix import Edit
from guardfix.linter.facts import Span
from guardfix.linter.files.sources import Source
from guardfix.report.code_excerpts import LONGEST_LINE, highlighted
from guardfix.report.code_excerpts import excerpt as excerpt_of
from guardfix.report.fix_columns import columns
from guardfix.report.html_page import html_page
from guardfix.report.page_kit import fragment
from guardfix.report.report_content import CodeLinks, ReportContent, content_of
from guardfix.report.report_origin import checked_out

KERNEL = """#include <ATen/ATen.h>
#include <torch/library.h>

at::Tensor scale(const at::Tensor& x) {
  at::AutoNonVariableTypeMode guard;
  return at::mul(x, 2);
}

TORCH_LIBRARY_IMPL(my, Autograd, m) { m.impl("scale", scale); }
"""
UNKNOWN = "void helper(at::Tensor x) {\n  at::AutoNonVariableTypeMode guard;  // </script><b>&\n  x.add_(1);\n}\n"


def page_of(*arguments: str) -> str:
    ran = CliRunner().invoke(command, ["--isolated", "-o", "-", *arguments])
    assert ran.exit_code == 0, ran.output
    return ran.stdout


def findings_in(page: str) -> list[dict[str, Any]]:
    [data] = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    found: list[dict[str, Any]] = json.loads(data)["findings"]
    return found


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "kernel.cpp").write_text(KERNEL)
    (tmp_path / "src" / "helper.cpp").write_text(UNKNOWN)
    (tmp_path / "clean.cpp").write_text("int main() {}\n")
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_each_finding_has_its_code_evidence_and_fix(tree: Path) -> None:
    decided, open_one = findings_in(page_of("."))
    assert (decided["part"], open_one["part"]) == ("apply", "decide")
    assert (decided["rule"], decided["path"], decided["row"]) == ("GF101", "src/kernel.cpp", 5)
    assert (decided["context"], decided["confidence"], decided["fix"]) == ("kernel", "high", "safe")
    first, lines = decided["code"]
    assert (first, lines[2][0]) == (3, "  at::AutoNonVariableTypeMode guard;")
    [reason] = [one for one in decided["evidence"] if "registered" in one["text"]]
    assert (reason["place"], reason["href"]) == ("line 9", "src/kernel.cpp#L9")
    assert reason["code"][0] == 'TORCH_LIBRARY_IMPL(my, Autograd, m) { m.impl("scale", scale); }'
    [[_, changed, _]] = decided["columns"]
    assert changed == [5, "  at::AutoNonVariableTypeMode guard;", 5, "  at::AutoDispatchBelowADInplaceOrView guard;"]
    assert decided["intent"] == ""
    assert (open_one["context"], open_one["fix"], open_one["intent"]) == ("unknown", "none", "src/helper.cpp")


def content_with(steps: Sequence[StepTaken]) -> ReportContent:
    return content_of(report_of(steps), title="t", version="1", links=CodeLinks())


def test_steps_have_their_numbers_lines_and_links() -> None:
    [one] = content_with(steps_of()).findings
    assert [(step["number"], step["text"], step["place"], step["href"], step["code"][0]) for step in one["steps"]] == [
        (1, STORY[0][0], "features.py:4", "features.py#L4", "@torch.inference_mode()"),
        (2, STORY[1][0], "features.py:6", "features.py#L6", "    return torch.relu(x)"),
        (3, STORY[2][0], "line 8", "train.py#L8", "        return (feats * weight).sum()"),
    ]
    assert content_with(()).findings[0]["steps"] == []


def test_a_long_story_is_cut_in_the_middle() -> None:
    [one] = content_with([StepTaken(f"call {number}", "train.py", 0, 1) for number in range(1, 101)]).findings
    assert [step["number"] for step in one["steps"]] == [*range(1, 21), 0, *range(81, 101)]
    assert one["steps"][20] == {"number": 0, "text": "steps 21 to 80 are not shown"}


def test_without_javascript_steps_are_a_list() -> None:
    steps = [StepTaken("`x['<b>']` is </script> made", "a<i>.py", 0, 3), *steps_of()]
    page = html_page(content_with(steps))
    [plain] = re.findall(r"<noscript>(.*?)</noscript>", page, re.DOTALL)
    [told] = re.findall(r"<ol>(.*?)</ol>", plain)
    assert told.split("</li>")[:2] == [
        '<li value="1"><code>x[&#39;&lt;b&gt;&#39;]</code> is &lt;/script&gt; made '
        '(<a href="a%3Ci%3E.py#L3">a&lt;i&gt;.py:3</a>)',
        '<li value="2">inference mode begins (<a href="features.py#L4">features.py:4</a>)',
    ]
    assert "<b>" not in page
    assert page.count("</script>") == 2, "the data's and the code's"
    assert "<ol>" not in html_page(content_with(()))


def test_the_playground_lists_steps_too() -> None:
    def lists(steps: Sequence[StepTaken]) -> list[str]:
        answer = {
            "findings": content_with(steps).findings,
            "notes": (),
            "applied": 0,
            "refused": "",
            "language": "python",
            "choices": [],
            "unsafe": False,
        }
        shown = fragment("playground_answer.html", answer={**answer, "diff": ""})
        return re.findall(r'<ol class="evidence">(.*?)</ol>', shown, re.DOTALL)

    [told] = lists(steps_of())
    assert '<li value="2"><code>relu</code> makes an inference tensor (features.py:6)<code class="line">' in told
    assert lists(()) == []


def test_code_ends_no_element(tree: Path) -> None:
    page = page_of("src/helper.cpp")
    assert "</script><b>" not in page
    assert findings_in(page)[0]["code"][1][1][0].endswith("// </script><b>&")
    assert html.escape("// </script><b>&") in page, "in the plain table"


def test_nothing_is_loaded(tree: Path) -> None:
    page = page_of(".")
    [policy] = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy.startswith("default-src &#39;none&#39;; script-src &#39;sha256-")
    assert re.findall(r"<(?:link|img|iframe|script[^>]*\bsrc)\b", page) == []
    assert "@import" not in page
    assert "url(" not in page


def test_without_javascript_there_is_a_table(tree: Path) -> None:
    [plain] = re.findall(r"<noscript>(.*?)</noscript>", page_of("."), re.DOTALL)
    assert plain.count("<tr>") == 3
    assert '<a href="src/kernel.cpp#L5">src/kernel.cpp:5:3</a>' in plain
    assert "<code>at::AutoNonVariableTypeMode guard;</code>" in plain
    assert "safe: replace at::AutoNonVariableTypeMode with at::AutoDispatchBelowADInplaceOrView" in plain


LINKS = [
    pytest.param([], "src/kernel.cpp#L5", id="the file on the disk"),
    pytest.param(["--link", "https://x.y/b/{path}#L{line}"], "https://x.y/b/src/kernel.cpp#L5", id="a code browser"),
]


@pytest.mark.parametrize(("arguments", "href"), LINKS)
def test_links(tree: Path, arguments: list[str], href: str) -> None:
    assert findings_in(page_of("src/kernel.cpp", *arguments))[0]["href"] == href


def test_links_start_from_where_the_page_stands(tree: Path) -> None:
    (tree / "out").mkdir()
    ran = CliRunner().invoke(command, ["--isolated", "-o", "out/page.html", "src/kernel.cpp"])
    assert (ran.exit_code, ran.output) == (0, "Wrote out/page.html: 1 finding in 1 file.\n")
    page = (tree / "out" / "page.html").read_text(encoding="utf-8")
    assert findings_in(page)[0]["href"] == "../src/kernel.cpp#L5"


def test_intents_start_from_the_configuration(tree: Path) -> None:
    (tree / "src" / "guardfix.toml").write_text("")
    ran = CliRunner().invoke(command, ["-o", "-", "--config", "src/guardfix.toml", "src/helper.cpp"])
    assert findings_in(ran.stdout)[0]["intent"] in ("src/helper.cpp", "helper.cpp")


FAILURES = [
    pytest.param(["-o", "missing/page.html"], "missing/page.html: No such file or directory", id="no such folder"),
    pytest.param(["--link", "https://x.y"], "--link has no {path}", id="a link to nothing"),
    pytest.param(["nowhere"], "no such file or directory: nowhere", id="no such path"),
]


@pytest.mark.parametrize(("arguments", "message"), FAILURES)
def test_failures(tree: Path, arguments: list[str], message: str) -> None:
    ran = CliRunner().invoke(command, ["--isolated", *arguments])
    assert ran.exit_code != 0
    assert message in ran.output


def test_one_sentence_says_what_can_be_done(tree: Path) -> None:
    page = page_of("src", "clean.cpp")
    assert " ".join(re.findall(r"<h1>(.*?)</h1>", page, re.DOTALL)[0].split()) == "1 can be applied now, 1 needs you"
    assert re.findall(r'data-copy="([^"]*)"', page) == [
        "guardfix migrate --apply src clean.cpp",
        "guardfix migrate --interactive src clean.cpp",
    ]
    assert re.findall(r'<rect [^>]*data-part="(\w+)" x="([\d.]+)%" width="([\d.]+)%"', page) == [
        ("apply", "0.000", "50.000"),
        ("decide", "50.000", "50.000"),
    ]


CERTAIN = """#include <torch/script.h>
void {name}(torch::jit::Module& model, at::Tensor x) {{
  at::AutoNonVariableTypeMode guard;
  {body}
}}
"""


def test_findings_stand_by_part_group_and_confidence(tree: Path) -> None:
    (tree / "run.cpp").write_text(CERTAIN.format(name="run", body="model.forward({x});"))
    (tree / "more.cpp").write_text(KERNEL.replace("scale", "more"))
    shown = [(one["part"], one["group"], one["path"]) for one in findings_in(page_of("."))]
    assert shown == sorted(shown, key=lambda one: (("apply", "look", "decide").index(one[0]), one[1:]))
    assert [(part, group) for part, group, path in shown if path.endswith("helper.cpp")] == [
        ("decide", "nothing nearby says what the guard is for")
    ]


HEADS = {
    "a branch": {"HEAD": "ref: refs/heads/main\n", "refs/heads/main": f"{'a' * 40}\n"},
    "packed": {"HEAD": "ref: refs/heads/main\n", "packed-refs": f"# pack\n{'a' * 40} refs/heads/main\n"},
    "detached": {"HEAD": f"{'a' * 40}\n"},
}
NO_HEADS = {
    "nothing committed": {"HEAD": "ref: refs/heads/main\n"},
    "a path": {"HEAD": "ref: refs/../../secret\n", "../secret": "a" * 40},
    "no repository": {},
}


@pytest.mark.parametrize(
    ("files", "commit"),
    [*((files, "a" * 10) for files in HEADS.values()), *((files, "") for files in NO_HEADS.values())],
    ids=[*HEADS, *NO_HEADS],
)
def test_the_commit_is_read_from_the_files_of_the_repository(
    files: dict[str, str], commit: str, tmp_path: Path
) -> None:
    for name in ("objects", "refs/heads") if files else ():
        (tmp_path / ".git" / name).mkdir(parents=True)
    for name, text in files.items():
        (tmp_path / ".git" / name).write_text(text)
    assert checked_out(str(tmp_path)) == commit


def test_what_came_or_went_since_the_last_report(tree: Path) -> None:
    def trend() -> str:
        ran = CliRunner().invoke(command, ["--isolated", "-o", "report.html", "."])
        assert ran.exit_code == 0, ran.output
        [line] = re.findall(r"<p>(.*?)</p>", (tree / "report.html").read_text(), re.DOTALL)[:1]
        return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "DATE", line).partition(" · DATE")[2]

    assert trend() == ""
    assert trend() == " · as many as on DATE"
    (tree / "src" / "helper.cpp").unlink()
    assert trend() == " · 1 fewer than on DATE"
    (tree / "report.html").write_text('<script type="application/json" id="data">{"made": 3}</script>')
    assert trend() == "", "a trend was computed against a page that isn't a report"


def test_no_finding(tree: Path) -> None:
    page = page_of("clean.cpp")
    assert findings_in(page) == []
    assert "No findings in 1 file." in page


CODE = [
    pytest.param("a.cpp", ["#include <x.h>", "int f();  // c"], ["8p,1,5s", "3t,1,1f,5,4c"], id="C++"),
    pytest.param("a.py", ["@f", "def g(): return 1"], ["2p", "3k,1,1f,4,6k,1,1n"], id="Python"),
    pytest.param("a.cpp", ["/* a", "b */ int x;"], ["4c", "4c,1,3t,3"], id="a comment of two lines"),
    pytest.param("a.cpp", ["", ""], ["", ""], id="empty lines"),
]


@pytest.mark.parametrize(("path", "lines", "parts"), CODE)
def test_highlighting(path: str, lines: list[str], parts: list[str]) -> None:
    found = highlighted(lines, path)
    assert [line.text for line in found] == lines
    assert [line.parts for line in found] == parts
    for line in found:
        assert sum(int(re.match(r"\d+", part)[0]) for part in line.parts.split(",") if part) == len(line.text)  # type: ignore[index]


def test_of_a_long_line_the_part_that_counts_is_shown() -> None:
    source = Source("a.cpp", b"x" * 1000 + b"HERE" + b"y" * 1000)
    [line] = excerpt_of(source, 1, 1, column=1001).lines
    assert "HERE" in line.text
    assert len(line.text) == LONGEST_LINE + 2


COLUMNS = [
    pytest.param([(2, 3, "X")], [[(1, "a", 1, "a"), (2, "b", 2, "X"), (3, "c", 3, "c")]], id="a line changes"),
    pytest.param([(0, 0, "new\n")], [[(None, None, 1, "new"), (1, "a", 2, "a"), (2, "b", 3, "b")]], id="a line more"),
    pytest.param(
        [(2, 4, "")], [[(1, "a", 1, "a"), (2, "b", None, None), (3, "c", 2, "c"), (4, "d", 3, "d")]], id="a line less"
    ),
    pytest.param(
        [(0, 1, "A\nA"), (12, 13, "G")],
        [
            [(1, "a", 1, "A"), (None, None, 2, "A"), (2, "b", 3, "b")],
            [(6, "f", 7, "f"), (7, "g", 8, "G")],
        ],
        id="two places, the second moved",
    ),
]


@pytest.mark.parametrize(("edits", "expected"), COLUMNS)
def test_columns(edits: list[tuple[int, int, str]], expected: Any) -> None:
    source = Source("a.cpp", b"a\nb\nc\nd\ne\nf\ng\n")
    made = [Edit(Span(start, end), content) for start, end, content in edits]
    assert [list(map(tuple, place)) for place in columns(source, made)] == expected
