"""libcst confirms what `ast` proposes: the same places on both trees, and no finding where they differ."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from guardfix.codemods.apply.applying import apply_fixes
from guardfix.codemods.choice import FixChoice
from guardfix.codemods.fixable import fixes_for
from guardfix.linter.engine import Options, check
from guardfix.linter.facts import Form, Span
from guardfix.linter.facts.python_model import Kind, PythonFacts, PythonUse, SuspensionPoint
from guardfix.linter.files.sources import Source, decode
from guardfix.linter.frontends.python import libcst_tree, python_extraction
from guardfix.linter.frontends.python.libcst_confirmation import Confirmation
from guardfix.linter.frontends.python.libcst_tree import LibcstTrees
from guardfix.linter.frontends.python.python_extraction import extract_python


def source_of(code: str) -> Source:
    return decode(code.encode(), "module.py")


# -- what is reported stands where libcst's node stands

FORMS = [
    pytest.param("with torch.no_grad: pass", Form.WITH, "with torch.no_grad:", "torch.no_grad", id="with"),
    pytest.param(
        "with torch.no_grad():  # note: here\n    pass",
        Form.WITH,
        "with torch.no_grad():",
        "torch.no_grad()",
        id="a colon in the comment behind the header",
    ),
    pytest.param(
        "with (\n    a() as x,  # one: a\n    torch.no_grad() as (g),\n):\n    pass",
        Form.WITH,
        "with (\n    a() as x,  # one: a\n    torch.no_grad() as (g),\n):",
        "torch.no_grad()",
        id="items in brackets, on lines of their own",
    ),
    pytest.param("with (torch.no_grad()) as g: pass", Form.WITH, None, "torch.no_grad()", id="a guard in brackets"),
    pytest.param("with torch.no_grad(), {1: 2}[1]: pass", Form.WITH, None, "torch.no_grad()", id="a colon in an item"),
    pytest.param(
        "async def f():\n    async with torch.no_grad:\n        await x",
        Form.WITH,
        "async with torch.no_grad:",
        "torch.no_grad",
        id="async with",
    ),
    pytest.param(
        "@torch.no_grad() # why\n@other\ndef f(): pass", Form.DECORATOR, "@torch.no_grad()", "torch.no_grad()", id="@"
    ),
    pytest.param(
        "class A:\n\t@ torch.no_grad\n\tasync def f(self): yield",
        Form.DECORATOR,
        "@ torch.no_grad",
        "torch.no_grad",
        id="a decorator of a method, indented by a tab",
    ),
    pytest.param("torch.no_grad()", Form.TEMPORARY, "torch.no_grad()", "torch.no_grad()", id="a statement"),
    pytest.param("(torch.no_grad()) ; x", Form.TEMPORARY, "(torch.no_grad())", "torch.no_grad()", id="in brackets"),
    pytest.param("x = 1; torch.no_grad; y = 2", Form.REFERENCE, "torch.no_grad", "torch.no_grad", id="between others"),
    pytest.param(
        "if a: g = torch._C._InferenceMode(True) ;",
        Form.AUTO,
        "g = torch._C._InferenceMode(True)",
        "torch._C._InferenceMode(True)",
        id="a variable",
    ),
    pytest.param(
        "def f():\n    g: object = torch._C._InferenceMode (\n  True\n )",
        Form.AUTO,
        "g: object = torch._C._InferenceMode (\n  True\n )",
        "torch._C._InferenceMode (\n  True\n )",
        id="a variable with a type, its call on three lines",
    ),
    pytest.param(
        "class A:\n    def f(self):\n        self.g = torch . no_grad()",
        Form.MEMBER,
        "self.g = torch . no_grad()",
        "torch . no_grad()",
        id="an attribute, and a name with blanks in it",
    ),
    pytest.param("use((1, torch.no_grad()), k=2)", Form.ARGUMENT, None, "torch.no_grad()", id="part of a call"),
    pytest.param("x = (torch.no_grad(), 2)", Form.ARGUMENT, "(torch.no_grad(), 2)", None, id="part of a tuple"),
    pytest.param("f = lambda: torch.no_grad()", Form.ARGUMENT, None, "torch.no_grad()", id="in a lambda"),
    pytest.param(
        "from torch import AutoNonVariableTypeMode as Old, nn",
        Form.IMPORT,
        "from torch import AutoNonVariableTypeMode as Old, nn",
        "AutoNonVariableTypeMode as Old",
        id="an import",
    ),
    pytest.param(
        "é = 'ü'; torch.no_grad()", Form.TEMPORARY, "torch.no_grad()", "torch.no_grad()", id="wide characters"
    ),
    pytest.param("if a:\r\n\ttorch.no_grad()\r\n", Form.TEMPORARY, "torch.no_grad()", None, id="CRLF"),
    pytest.param("x = 1; \\\n  torch.no_grad()", Form.TEMPORARY, "torch.no_grad()", None, id="a continued line"),
    pytest.param(
        "match a:\n    case [torch.x] if b:\n        torch.no_grad()",
        Form.TEMPORARY,
        "torch.no_grad()",
        None,
        id="match",
    ),
    pytest.param(
        "def f[T](x: T) -> T:\n    torch.no_grad()",
        Form.TEMPORARY,
        "torch.no_grad()",
        None,
        id="type parameters (3.12)",
    ),
    pytest.param(
        "try: pass\nexcept* ValueError: torch.no_grad()", Form.TEMPORARY, "torch.no_grad()", None, id="except* (3.11)"
    ),
    pytest.param(
        "def f(*a: *T): return a[*b], torch.no_grad()", Form.ARGUMENT, None, "torch.no_grad()", id="unpacking (3.11)"
    ),
    pytest.param(
        "x = f'{a['b']}'\ntorch.no_grad()", Form.TEMPORARY, "torch.no_grad()", None, id="nested quotes (3.12)"
    ),
    pytest.param(
        "try: pass\nexcept (A, B) : pass\nexcept C as d : torch.no_grad()",
        Form.TEMPORARY,
        "torch.no_grad()",
        None,
        id="a blank that libcst forgets",
    ),
    pytest.param("x = t'{a}'\ntorch.no_grad()", Form.TEMPORARY, "torch.no_grad()", None, id="a t-string (3.14)"),
    pytest.param(
        "total = " + " + ".join("x" * 400) + "; torch.no_grad()",
        Form.TEMPORARY,
        "torch.no_grad()",
        None,
        id="a deep tree",
    ),
]


@pytest.mark.parametrize(("code", "form", "statement", "expression"), FORMS)
def test_both_trees_have_the_same_place(code: str, form: Form, statement: str | None, expression: str | None) -> None:
    source = source_of("import torch\n" + code)
    facts = extract_python(source, ["torch"])
    assert facts is not None
    assert facts.python is not None
    (use,) = facts.python.uses
    assert use.use.form is form
    confirmed = Confirmation(source, facts.python).use(use)
    assert confirmed == use
    assert isinstance(confirmed, PythonUse)
    if statement is not None:
        assert source.slice(confirmed.use.span) == statement
    if expression is not None:
        assert source.slice(confirmed.call_span) == expression


TARGETS = [
    pytest.param("with torch.no_grad() as g: pass", " as g", id="plain"),
    pytest.param("with (torch.no_grad()) as (g): pass", " as (g)", id="both in brackets"),
    pytest.param("with (torch.no_grad() as g): pass", " as g", id="the item in brackets"),
    pytest.param("with torch.no_grad()  as  g.h: pass", "  as  g.h", id="an attribute"),
    pytest.param("with torch.no_grad() as ((a, b)): pass", " as ((a, b))", id="a tuple"),
    pytest.param("with torch.no_grad() as [a, (b)]: pass", " as [a, (b)]", id="a list"),
]


@pytest.mark.parametrize(("code", "target"), TARGETS)
def test_the_target_of_a_with_item_is_the_same(code: str, target: str) -> None:
    source = source_of("import torch\n" + code)
    facts = extract_python(source, ["torch"])
    assert facts is not None
    assert facts.python is not None
    (use,) = facts.python.uses
    assert Confirmation(source, facts.python).use(use) == use
    assert use.target_span is not None
    assert source.slice(use.target_span) == target


# -- which part of a file libcst reads

METHODS = "import torch\nclass A:\n    @one\n    def f(self):\n        HERE\n\n    def g(self): pass\nx = 1\n"
REGIONS = [
    pytest.param(METHODS, "    @one\n    def f(self):\n        HERE\n", id="a method with its decorators"),
    pytest.param("a = 1\nwith b:\n    HERE\nc = 2\n", "with b:\n    HERE\n", id="a statement of the module"),
    pytest.param("a = 1; HERE; b = 2\nc = 3", "a = 1; HERE; b = 2\n", id="statements that share a row"),
    pytest.param("class A: HERE\nb = 2\n", "class A: HERE\n", id="a class on one row"),
    pytest.param("class A(HERE):\n    b = 2\n", "class A(HERE):\n    b = 2\n", id="a base class"),
    pytest.param("class A:\n  class B:\n    HERE\n    c = 2\n", "    HERE\n", id="a class in a class"),
    pytest.param("a = '''\nHERE\n'''\nb = 1\n", "a = '''\nHERE\n'''\n", id="a string of several rows"),
    pytest.param("a = 1\n# HERE\nb = 2", "a = 1\n# HERE\nb = 2", id="no statement: the whole file"),
    pytest.param("a = f'{b['c']}'\nHERE\n def", "a = f'{b['c']}'\nHERE\n def", id="not parsed: the whole file"),
]


@pytest.mark.parametrize(("code", "region"), REGIONS)
def test_reads_the_smallest_statement_that_holds_a_construct(code: str, region: str) -> None:
    source = source_of(code)
    at = source.text.index(b"HERE")
    found = LibcstTrees(source).region(Span(at, at + 4))
    assert source.slice(found) == region


# -- a disagreement is said, and nothing is reported or edited there

PROGRAM = """\
import torch


def ends_early():
    g = torch._C._InferenceMode(True)
    return 1


def steps(loss):
    with torch.inference_mode(True):
        with torch.no_grad():
            yield loss
        loss.backward()
    loss.backward()


@torch.no_grad()
async def load():
    return 1


torch.no_grad
"""
FOUND = [("GF401", 17), ("GF403", 22), ("GF405", 5), ("GF406", 12), ("GF407", 11), ("GF502", 13)]
YIELD = Span(PROGRAM.index("yield loss"), PROGRAM.index("yield loss") + len("yield loss"))
Alteration = Callable[[PythonFacts], PythonFacts]


def altered_use(guard: str, form: Form, /, **changes: object) -> Alteration:
    """What `ast` would have proposed if it had read one guard use otherwise."""

    def alter(use: PythonUse) -> PythonUse:
        if use.use.guard != guard or use.use.form is not form:
            return use
        inner = {name: value for name, value in changes.items() if hasattr(use.use, name)}
        outer = {name: value for name, value in changes.items() if name not in inner}
        return replace(use, use=replace(use.use, **inner), **outer)  # type: ignore[arg-type]

    return lambda facts: replace(facts, uses=tuple(map(alter, facts.uses)))


def a_generator(facts: PythonFacts) -> PythonFacts:
    uses = tuple(
        use if use.decorated is None else replace(use, decorated=use.decorated._replace(kind=Kind.ASYNC_GENERATOR))
        for use in facts.uses
    )
    return replace(facts, uses=uses)


PLANTED = [
    pytest.param(
        altered_use("no_grad", Form.REFERENCE, form=Form.TEMPORARY, called=True), ["GF402", "GF403"], id="another form"
    ),
    pytest.param(altered_use("no_grad", Form.REFERENCE, call_span=Span(0, 5)), ["GF403"], id="another place"),
    pytest.param(altered_use("no_grad", Form.REFERENCE, local=True), ["GF403"], id="in a function"),
    pytest.param(altered_use("_InferenceMode", Form.AUTO, variable="h"), ["GF405"], id="another variable"),
    pytest.param(altered_use("_InferenceMode", Form.AUTO, mode=None), ["GF405"], id="another argument"),
    pytest.param(altered_use("_InferenceMode", Form.AUTO, span=Span(0, 12)), ["GF405"], id="another statement"),
    pytest.param(
        altered_use("inference_mode", Form.WITH, suspension_points=(SuspensionPoint("await", YIELD),)),
        ["GF406", "GF502"],
        id="another pause",
    ),
    pytest.param(altered_use("inference_mode", Form.WITH, scope=Span(0, 6)), ["GF406", "GF502"], id="another block"),
    pytest.param(altered_use("inference_mode", Form.WITH, items=2), ["GF406", "GF502"], id="more items"),
    pytest.param(altered_use("no_grad", Form.WITH, around=(3, 1)), ["GF407"], id="more guards around it"),
    pytest.param(altered_use("no_grad", Form.WITH, sole=True), ["GF407"], id="the only statement of its block"),
    pytest.param(a_generator, ["GF401"], id="another kind of function"),
]


def plant(monkeypatch: pytest.MonkeyPatch, alter: Alteration) -> None:
    real = python_extraction.python_facts
    monkeypatch.setattr(python_extraction, "python_facts", lambda *given, **named: alter(real(*given, **named)))


def found(path: Path, *select: str) -> list[tuple[str, int]]:
    report = check([str(path)], Options(workers=1, select=select))
    return sorted((one.code, report.project.files[one.path].row(one.span.start)) for one in report.findings)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    return path


def test_what_both_parsers_read_is_reported(program: Path) -> None:
    assert found(program) == FOUND
    assert not check([str(program)], Options(workers=1)).partial


@pytest.mark.parametrize(("alter", "lost"), PLANTED)
def test_what_libcst_reads_otherwise_is_not_reported(
    alter: Alteration, lost: list[str], program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, alter)
    rows = found(program)
    assert [code for code, _ in rows].count("GF001") == 1
    assert [one for one in rows if one[0] != "GF001"] == [one for one in FOUND if one[0] not in lost]


@pytest.mark.parametrize(("alter", "lost"), PLANTED)
def test_where_the_parsers_disagree_nothing_is_edited(
    alter: Alteration, lost: list[str], program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch, alter)
    report = check([str(program)], Options(workers=1, select=tuple(lost)))
    assert report.findings == []
    assert [facts.path for facts in report.partial] == [str(program)], "the run does not say that it left something out"
    apply_fixes(fixes_for(report, choice=FixChoice(unsafe=True)))
    assert program.read_text() == PROGRAM


def test_a_statement_that_libcst_cannot_write_back_is_reported_and_not_edited(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    code = "import torch\n\n\n@torch.no_grad()\nasync def f():\n    try:\n        g()\n    except A : pass\n"
    path.write_text(code)
    report = check([str(path)], Options(workers=1))
    assert [finding.code for finding in report.findings] == ["GF401"]
    apply_fixes(fixes_for(report, choice=FixChoice(unsafe=True)))
    assert path.read_text() == code


def test_a_file_that_libcst_cannot_read_is_said_to_be_in_doubt(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libcst_tree, "parse_with_libcst", lambda text: None)
    assert {code for code, _ in found(program)} == {"GF001"}
    assert len(found(program)) == len(FOUND) - 1  # two rules spoke about `inference_mode`


def test_a_file_that_changes_meanwhile_is_not_reported_on(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = python_extraction.python_facts

    def change(*arguments: object, **options: object) -> PythonFacts:
        program.write_text("import torch\n")
        return real(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(python_extraction, "python_facts", change)
    report = check([str(program)], Options(workers=1))
    assert [finding.message for finding in report.findings] == [
        "cannot read this file: it changed while it was being checked"
    ]


def test_a_disagreement_says_what_each_parser_reads(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(monkeypatch, altered_use("no_grad", Form.REFERENCE, form=Form.TEMPORARY, called=True))
    (finding,) = [one for one in check([str(program)], Options(workers=1)).findings if one.code == "GF001"]
    assert finding.message == (
        "can't tell what this is: Python's own parser reads `temporary`, libcst `reference`; "
        "nothing is reported or edited here"
    )


# -- libcst is imported for a finding, and for nothing else

IMPORTS = [
    pytest.param("with torch.no_grad():\n    pass\n", False, id="a guard that is right"),
    pytest.param("def f():\n    with torch.no_grad():\n        return (yield)\n", True, id="a finding"),
    pytest.param("torch.no_grad()  # noqa: GF402\n", False, id="a finding that a comment silences"),
    pytest.param("@torch.inference_mode\ndef f(x):\n    return x\n", False, id="a decorator without brackets"),
    pytest.param("x = f'{a['b']}'\nwith no_grad():\n    yield\n", False, id="newer syntax, and no guard of torch"),
]


@pytest.mark.parametrize(("code", "imported"), IMPORTS)
def test_libcst_is_imported_only_for_a_finding(code: str, imported: bool, tmp_path: Path) -> None:
    if "a['b']" in code and sys.version_info < (3, 12):
        pytest.skip("this interpreter needs libcst to read the file")
    path = tmp_path / "module.py"
    path.write_text("import torch\n" + code)
    command = [sys.executable, "-X", "importtime", "-m", "guardfix", "check", "--isolated", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == int(imported), done.stdout
    assert ("libcst" in done.stderr) is imported
