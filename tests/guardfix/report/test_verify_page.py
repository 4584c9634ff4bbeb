"""`guardfix verify --html`: what the page says of two runs, and the graphs that it draws."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

pytest.importorskip("grandalf")
pytest.importorskip("jinja2")

from lxml import html

from guardfix.cli.verify_command import command
from guardfix.report.autograd_drawing import MOST_NODES, GraphNode, drawing
from guardfix.report.verify_content import MOST_STEPS, guard_kind, program_content
from guardfix.report.verify_page import verify_page
from guardfix.verify.judging.guard_sites import linkless_path
from guardfix.verify.judging.verdicts import Judgement, Verdict
from guardfix.verify.program_copies import Settings
from guardfix.verify.programs.program_discovery import Program
from guardfix.verify.programs.program_migration import Migration
from guardfix.verify.runs.program_runs import ProgramRun
from guardfix.verify.verifying import Result, verify_against

PROGRAM = """import torch
x = torch.ones(2, 2, requires_grad=True)
y = x * x
with {mode}():
    c = torch.ones(2)
    with torch.no_grad():
        row = y[0]
z = (y * 2).sum()
z.backward()
(c * x).sum()
print("<b>done</b>")
"""


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Result:
    folder = tmp_path_factory.mktemp("programs")
    for name, mode in (("before", "torch.no_grad"), ("after", "torch.inference_mode")):
        (folder / f"{name}.py").write_text(PROGRAM.format(mode=mode))
    return verify_against(folder / "before.py", folder / "after.py", Settings(detailed=True))


def test_tensors_are_told_apart(result: Result) -> None:
    sides = [row.before for row in program_content(result).rows if row.before is not None]
    [product, *_] = [side for side in sides if side.op == "mul"]
    [row] = [side for side in sides if side.op == "getitem"]
    assert (product.tensors[0].name, row.tensors[0].facts[1]) == ("t2", ("view of t2", False))
    assert "gradient of t1" in [side.op for side in sides]


def test_guards_are_bands_that_open_once(result: Result) -> None:
    content = program_content(result)
    sides = [row.after for row in content.rows if row.after is not None and row.after.guards]
    assert [[(guard.name, guard.opens) for guard in side.guards] for side in sides] == [
        [("inference_mode", True)],
        [("inference_mode", False), ("no_grad", True)],
    ]
    assert sides[1].inside == "no_grad inside inference_mode"


def test_the_step_at_which_they_part_is_marked_once(result: Result) -> None:
    content = program_content(result)
    assert content.verdict == "stricter"
    [parting] = [row for row in content.rows if row.is_parting]
    assert parting.before is not None
    assert parting.after is not None
    assert (parting.before.op, parting.after.op) == ("mul", "mul")
    assert parting.after.raised.startswith("RuntimeError: Inference tensors cannot be saved for backward.")
    assert [row.agreement for row in content.rows].count("marks") == 1, "the tensor that is an inference tensor now"


def test_a_changed_fact_is_marked(result: Result) -> None:
    [row] = [row for row in program_content(result).rows if row.agreement == "marks"]
    assert row.after is not None
    facts = dict(row.after.tensors[0].facts)
    assert facts == {"no version counter": True, "memory 3": False, "inference tensor": True}


def test_guards_are_bars_on_the_timeline(result: Result) -> None:
    before, after = program_content(result).scopes
    assert [(scope.name, scope.depth, scope.kind) for scope in after] == [
        ("inference_mode", 0, "inference"),
        ("no_grad", 1, "nograd"),
    ]
    outer, inner = after
    assert outer.start < inner.start
    assert inner.start + inner.length == pytest.approx(outer.start + outer.length), "they close together"
    assert [(scope.name, scope.start) for scope in before] == [("no_grad", outer.start), ("no_grad", inner.start)]


def test_what_one_side_alone_came_to_is_no_difference(result: Result) -> None:
    content = program_content(result)
    assert [row.agreement for row in content.rows].count("ended") == sum(row.after is None for row in content.rows) > 0
    assert content.differences == 2


def test_what_the_code_predicts_stands_beside_what_was_seen(tmp_path: Path) -> None:
    text = PROGRAM.format(mode="torch.inference_mode")
    path = tmp_path / "p.py"
    path.write_text(text)
    migration = Migration(texts={linkless_path(path): text.encode()})
    runs = [ProgramRun(0, "", "", []), ProgramRun(1, "", "", [])]
    judgement = Judgement(Verdict.CHANGED, "", headline="it fails")
    shown = program_content(Result(Program(path, tmp_path, named=True), judgement, *runs, migration=migration))
    assert [line.partition(": ")[0] for line in shown.predicted] == ["GF501, line 10 of the migrated file"]


def test_the_page_is_whole_and_loads_nothing(result: Result) -> None:
    text = verify_page([result], version="1", backend="shim")
    page = html.fromstring(text)
    assert page.xpath("//*[@src or @rel='stylesheet']") == []
    assert "<b>done" not in text
    rows = page.xpath("//tr[contains(@class, 'step ')]")
    assert len(rows) == len(page.xpath("//table[contains(@class, 'trace')]/tbody/tr[th]"))
    assert len(page.xpath("//tr[@class='parting']")) == 1
    ids = page.xpath("//@id")
    assert len(ids) == len(set(ids))
    [drawn] = page.xpath("//svg[@class='graph'][contains(@aria-label, 'SumBackward0')]")[:1]
    assert drawn.xpath(".//text/text()") == ["SumBackward0", "MulBackward0", "MulBackward0", "t1.grad"]


def test_what_ran_once_has_one_side(result: Result) -> None:
    alone = Result(result.program, result.judgement, result.before)
    page = html.fromstring(verify_page([alone], version="1", backend="shim"))
    assert page.xpath("//div[@class='timeline']/span/text()") == ["guards"]
    assert page.xpath("//table[contains(@class, 'trace')]/thead//th/text()") == ["Step", "What it does"]


@pytest.mark.thorough
def test_the_command_writes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, mode in (("before", "torch.no_grad"), ("after", "torch.inference_mode")):
        (tmp_path / f"{name}.py").write_text(PROGRAM.format(mode=mode))
    monkeypatch.chdir(tmp_path)
    arguments = ["--isolated", "--yes", "before.py", "--against", "after.py", "--html", "page.html"]
    ran = CliRunner().invoke(command, arguments)
    assert ran.exit_code == 1, ran.output
    assert html.fromstring((tmp_path / "page.html").read_text()).xpath("//h1/text()") == ["before.py against after.py"]


WRONG = [
    pytest.param(
        ["--test", "pytest"], "--html shows the steps of programs, but --test runs something else", id="tests"
    ),
    pytest.param(["--exercise"], "--html shows the steps of programs, but --exercise runs something else", id="ops"),
    pytest.param(["--decide"], "--html shows the steps of programs, but --decide runs something else", id="decide"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG)
def test_it_is_about_programs(arguments: list[str], message: str, tmp_path: Path) -> None:
    ran = CliRunner().invoke(command, [str(tmp_path), "--html", str(tmp_path / "page.html"), *arguments])
    assert ran.exit_code == 2
    assert message in ran.output


KINDS = [
    ("c10::InferenceMode(true)", "inference"), ("inference_mode", "inference"),
    ("at::AutoNonVariableTypeMode", "legacy"), ("at::AutoDispatchBelowADInplaceOrView", "below"),
    ("torch::NoGradGuard", "nograd"), ("no_grad", "nograd"), ("enable_grad", "grad"), ("scale [Autograd]", "other"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "kind"), KINDS)
def test_what_a_band_s_color_says(name: str, kind: str) -> None:
    assert guard_kind(name) == kind


GRAPHS = [
    # (nodes by number, the root, the labels that are drawn, how many edges)
    pytest.param({1: GraphNode("A", ())}, 1, ["A"], 0, id="one node"),
    pytest.param(
        {1: GraphNode("A", (2, 3)), 2: GraphNode("B", (4,)), 3: GraphNode("C", (4,)), 4: GraphNode("Acc", (), "t7")},
        1,
        ["A", "B", "C", "t7.grad"],
        4,
        id="two ways to a leaf",
    ),
    pytest.param(
        {1: GraphNode("A", (2,)), 2: GraphNode("B", ()), 3: GraphNode("C", (1,))},
        1,
        ["A", "B"],
        1,
        id="only what is behind it",
    ),
    pytest.param(
        {1: GraphNode("A<b>", (9,))}, 1, ["A<b>"], 0, id="a node that the recording lacks, and a name with signs"
    ),
    pytest.param({}, 1, [], 0, id="no graph"),
]


@pytest.mark.parametrize(("graph", "root", "labels", "edges"), GRAPHS)
def test_a_graph_as_svg(graph: dict[int, GraphNode], root: int, labels: list[str], edges: int) -> None:
    drawn = drawing(graph, root)
    if not labels:
        assert drawn == ""
        return
    svg = html.fromstring(drawn)
    assert svg.xpath(".//text/text()") == labels
    assert len(svg.xpath(".//path")) == edges
    boxes = [tuple(float(rect.get(key)) for key in ("x", "y", "width", "height")) for rect in svg.xpath(".//rect")]
    left, top, width, height = map(float, svg.get("viewbox").split())
    for x, y, w, h in boxes:
        assert left <= x, "inside of the drawing"
        assert x + w <= left + width
        assert top <= y
        assert y + h <= top + height
    for one, (x, y, w, h) in enumerate(boxes):
        for x2, y2, w2, h2 in boxes[one + 1 :]:
            assert x + w <= x2 or x2 + w2 <= x or y + h <= y2 or y2 + h2 <= y, "boxes don't overlap"


def test_of_a_large_graph_the_near_part_is_drawn() -> None:
    chain = {number: GraphNode(f"N{number}", (number + 1,)) for number in range(1, 500)}
    labels = html.fromstring(drawing(chain, 1)).xpath(".//text/text()")
    assert len(labels) == MOST_NODES
    assert labels[-1] == f"N{MOST_NODES} …"


def test_of_a_long_run_the_differences_are_shown() -> None:
    def events(odd: str) -> list[dict[str, object]]:
        return [
            {
                "event": "step",
                "thread": 0,
                "op": "next",
                "kernels": [],
                "guards": [],
                "results": [odd if n == 2000 else "0"],
            }
            for n in range(5_000)
        ]

    runs = [ProgramRun(0, "", "", events(odd)) for odd in ("1", "2")]
    found = program_content(Result(Program(Path("a.py"), Path(), named=True), Judgement(Verdict.CHANGED, ""), *runs))
    assert len(found.rows) < MOST_STEPS
    assert found.steps == 5_000
    assert sum(row.left_out for row in found.rows) + sum(row.before is not None for row in found.rows) == 5_000
    [parting] = [row for row in found.rows if row.is_parting]
    assert parting.before is not None
    assert (parting.before.number, found.differences) == (2001, 1)
    assert re.fullmatch(r"`next`: 1 before, 2 after", parting.difference)
