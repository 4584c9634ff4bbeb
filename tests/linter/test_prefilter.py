"""One source for what is searched for: the guard table and the rules' own declarations, whichever way they are asked."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fixture_files import ROOT
from guardfix.linter import prefilter
from guardfix.linter.engine import Options, check
from guardfix.linter.facts import Facts
from guardfix.linter.files import prefilter_record, prefilter_table
from guardfix.linter.findings import Finding
from guardfix.linter.guards import Effect, Guard, Takes, no_guards
from guardfix.linter.rule import Rule

NEW_RULE = '''"""GF990 {name}: a rule that looks at calls.

What it flags: every call of `{call}`.
"""

from ..rule import Rule
from ..guards import no_guards

RULE = Rule("GF990", "{name}", languages=("{language}",), guards=no_guards, needles=(b"{call}",))


@RULE.check_file
def calls(facts, project):
    for call in facts.calls:
        if call.name == "{call}":
            yield RULE.at(facts, call.span, "a call of {call}")
'''
NEW_ROW = '        Guard("MyNoGradScope", _FROM_AT, Takes.NOTHING, Effect.GRAD_MODE),\n'
NEW_FRONTEND = '''"""A front end for a language of which every line is a guard or is not."""

from ... import guards
from ...facts import Facts, Form, GuardUse, Span
from ...facts.expressions import NamePath
from ..frontend import Frontend


def _extract(source, watched, terms):
    at = source.text.find(b"AutoNonVariableTypeMode")
    span = Span(at, at + len(b"AutoNonVariableTypeMode"))
    use = GuardUse("AutoNonVariableTypeMode", Form.DECLARATION, span, span, NamePath(("AutoNonVariableTypeMode",)))
    return Facts(source.path, "toy", guard_uses=(use,), line_starts=source.line_starts)


FRONTEND = Frontend(name="toy", title="Toy", guards=guards.CPP, extract=_extract, suffixes=frozenset({".toy"}))
'''
TOY_RULE = '''"""GF991 toy-guard: a rule for the toy language."""

from ..rule import Rule

RULE = Rule("GF991", "toy-guard", languages=("toy",))


@RULE.check_use
def uses(use, facts, project):
    yield RULE.at(facts, use.span, "a guard in a toy")
'''


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The packages, as an installation has them, to be changed."""
    site = tmp_path / "site"
    kept = shutil.ignore_patterns("__pycache__", "linter", "codemods", "runtime_shim")
    shutil.copytree(ROOT / "guardfix", site / "guardfix", ignore=kept)
    for package in ("linter", "codemods"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / package, site / "guardfix" / package, ignore=ignored)
    return site


def run(site: Path, *arguments: str, module: str = "guardfix", cwd: Path | None = None) -> str:
    outcome = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=cwd or site,
        env={**os.environ, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not outcome.stderr.startswith("Traceback"), outcome.stderr
    return outcome.stdout


def test_a_rule_that_fails_is_named(copy: Path, tmp_path: Path) -> None:
    rule = NEW_RULE.format(name="sets-the-mode", call="set_enabled", language="cpp").replace("yield RULE", "yield oops")
    (copy / "guardfix/linter/rules/gf990_sets_the_mode.py").write_text(rule)
    (tmp_path / "a.cpp").write_text("void f() {\n  at::GradMode::set_enabled(false);\n}\n")
    command = [sys.executable, "-m", "guardfix", "check", str(tmp_path / "a.cpp")]
    outcome = subprocess.run(
        command, cwd=copy, env={**os.environ, "PYTHONPATH": str(copy)}, capture_output=True, text=True, check=False
    )
    assert outcome.returncode == 2
    assert "NameError: name 'oops' is not defined" in outcome.stderr
    assert "linter/rules/gf990_sets_the_mode.py:" in outcome.stderr


PLANTED = [
    pytest.param(
        {"linter/rules/gf990_sets_the_mode.py": NEW_RULE.format(name="sets-the-mode", call="set_enabled", language="cpp")},
        "a.cpp",
        "void f() {\n  at::GradMode::set_enabled(false);\n}\n",
        "a.cpp:2:3: GF990",
        id="a rule about calls, in a file without a guard",
    ),
    pytest.param(
        {"linter/rules/gf990_sets_the_mode.py": NEW_RULE.format(name="sets-the-mode", call="set_enabled", language="cpp")},
        "a.cpp",
        "void g() {\n  at::GradMode::set_enabled(false);\n}\n"
        "void f() {\n  torch::NoGradGuard guard;\n  model.forward(x);\n}\n",
        "a.cpp:2:3: GF990",
        id="a rule about calls, in another function than the guard",
    ),
    pytest.param(
        {"linter/rules/gf990_sets_dtypes.py": NEW_RULE.format(name="sets-dtypes", call="set_default_dtype", language="python")},
        "a.py",
        "import torch\n\ndef f():\n    torch.set_default_dtype(torch.float64)\n",
        "a.py:4:5: GF990",
        id="a rule about calls in Python",
    ),
    pytest.param(
        {"linter/guards.py": NEW_ROW},
        "a.cpp",
        "#include <torch/torch.h>\nvoid f() {\n  at::MyNoGradScope();\n  model.forward(x);\n}\n",
        "a.cpp:3:3: GF201",
        id="a row of the guard table",
    ),
    pytest.param(
        {"linter/frontends/toy/toy_frontend.py": NEW_FRONTEND, "linter/frontends/toy/__init__.py": '"""Toy."""\n',
         "linter/rules/gf991_toy_guard.py": TOY_RULE},
        "a.toy",
        "use AutoNonVariableTypeMode\n",
        "a.toy:1:5: GF991",
        id="a front end, with a rule for it",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("files", "name", "text", "found"), PLANTED)
@pytest.mark.parametrize(
    "recorded", [False, pytest.param(True, marks=pytest.mark.thorough)], ids=["as it is", "recorded anew"]
)
@pytest.mark.few("as it is-a row of the guard table", "as it is-a rule about calls, in a file without a guard")
def test_what_is_planted_is_found_by_every_way_in(
    files: dict[str, str], name: str, text: str, found: str, recorded: bool, copy: Path, tmp_path: Path
) -> None:
    package = copy / "guardfix"
    work = tmp_path / "work"
    work.mkdir()
    (work / name).write_text(text)
    assert "All checks passed" in run(copy, "check", name, cwd=work) or name.endswith(".toy")
    for path, content in files.items():
        (package / path).parent.mkdir(exist_ok=True)
        if path == "linter/guards.py":
            table = (package / path).read_text()
            content = table.replace('        Guard("NoGradGuard"', content + '        Guard("NoGradGuard"')
            newer = (package / "linter/files/prefilter_table.py").stat().st_mtime + 60
        (package / path).write_text(content)
        if path == "linter/guards.py":
            os.utime(package / path, (newer, newer))
    if recorded:
        run(copy, module="guardfix.linter.record_prefilter")
    for arguments in ([name], ["."], ["--isolated", name]):
        assert found in run(copy, "check", *arguments, cwd=work), arguments
    if recorded:
        (work / name).write_text("nothing\n")
        imported = "import sys; from guardfix.cli.quick import is_clean; print(is_clean(['check', sys.argv[1]]))"
        quick = subprocess.run(
            [sys.executable, "-c", imported, name], cwd=work, env={**os.environ, "PYTHONPATH": str(copy)},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert quick.stdout == "All checks passed (1 file).\n\n"


def test_a_rule_that_cannot_be_imported_leaves_the_record_as_it_was(copy: Path) -> None:
    record = copy / "guardfix/linter/files/prefilter_table.py"
    before = record.read_text(encoding="utf-8")
    (copy / "guardfix/linter/rules/gf990_broken.py").write_text("RULE = (\n")
    command = [sys.executable, "-m", "guardfix.linter.record_prefilter"]
    outcome = subprocess.run(
        command, cwd=copy, env={**os.environ, "PYTHONPATH": str(copy)}, capture_output=True, text=True
    )
    assert (outcome.returncode, "gf990_broken.py" in outcome.stderr) == (1, True)
    assert record.read_text(encoding="utf-8") == before


def test_the_record_is_current() -> None:
    path = Path(prefilter_table.__file__)
    assert path.read_text(encoding="utf-8") == prefilter.recorded_text(), (
        "run `python -m guardfix.linter.record_prefilter` (or `make generate`)"
    )
    assert prefilter_record.is_current()


CHANGES = [
    pytest.param("linter/rules/gf990_new.py", None, 0, False, id="a rule that is not recorded"),
    pytest.param("linter/rules/gf201_temporary_guard.py", "", 0, False, id="a rule that is gone"),
    pytest.param("linter/rules/gf201_temporary_guard.py", "languages=('python',), ", 60, False, id="a new declaration"),
    pytest.param(
        "linter/rules/gf201_temporary_guard.py", None, 60, False, id="what a declaration names may have changed"
    ),
    pytest.param("linter/rules/gf201_temporary_guard.py", None, 0, False, id="an edit right after the record"),
    pytest.param("linter/guards.py", None, 60, False, id="a new guard table"),
    pytest.param("linter/guards.py", None, 0, False, id="a new guard table right after the record"),
    pytest.param("linter/guards.py", None, -60, False, id="a new guard table with an old date"),
    pytest.param("linter/frontends/toy/toy_frontend.py", None, 0, False, id="a front end that is not recorded"),
    pytest.param("linter/frontends/toy/toy_words.py", None, 0, True, id="a folder that a front end left behind"),
    pytest.param("linter/engine.py", None, 60, True, id="what declares nothing"),
]


@pytest.mark.parametrize(("path", "edit", "seconds", "current"), CHANGES)
def test_a_record_that_is_behind_is_not_asked(
    path: str, edit: str | None, seconds: int, current: bool, copy: Path
) -> None:
    changed = copy / "guardfix" / path
    changed.parent.mkdir(exist_ok=True)
    if edit == "":
        changed.unlink()
    elif edit:
        changed.write_text(changed.read_text().replace("\nRULE = Rule(", f"\nRULE = Rule({edit}", 1))
    else:
        changed.write_text((changed.read_text() if changed.exists() else "") + "\n# more\n")
    if changed.exists():
        at = (copy / "guardfix/linter/files/prefilter_table.py").stat().st_mtime + seconds
        os.utime(changed, (at, at))
    code = "from guardfix.linter.files.prefilter_record import is_current; print(is_current())"
    outcome = subprocess.run(
        [sys.executable, "-c", code], cwd=copy, env={**os.environ, "PYTHONPATH": str(copy)}, capture_output=True, text=True
    )  # fmt: skip
    assert outcome.stdout == f"{current}\n", outcome.stderr


@pytest.mark.parametrize(
    ("needles", "shortened"),
    [
        pytest.param((b"NoGradGuard", b"InferenceMode"), (b"NoGradGuard", b"InferenceMode"), id="nothing in common"),
        pytest.param((b"AutoNonVariableTypeMode", b"NonVariableTypeMode"), (b"NonVariableTypeMode",), id="one in another"),
        pytest.param((b"AutoDispatchBelowA", b"AutoDispatchBelowB"), (b"AutoDispatchBelow",), id="a long beginning"),
        pytest.param((b"AutoGradMode", b"AutoFwGradMode"), (b"AutoGradMode", b"AutoFwGradMode"), id="a short beginning"),
        pytest.param((b"AutoDispatchBelowA", b"AutoDispatchBelowB", b"BelowB"), (b"AutoDispatchBelow", b"BelowB"), id="three"),
        pytest.param((b"x", b""), (b"",), id="every file"),
    ],
)  # fmt: skip
def test_needles_are_shared_where_they_can_be(needles: tuple[bytes, ...], shortened: tuple[bytes, ...]) -> None:
    assert prefilter.shortened(needles) == shortened


def test_a_rule_that_looks_at_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="GF990 looks at no guards"):
        Rule("GF990", "nothing", guards=no_guards)


def _rule_at_run_time() -> Rule:
    rule = Rule("GF990", "house-rule", guards=no_guards, needles=(b"set_enabled",))

    @rule.check_file
    def calls(facts: Facts, project: object) -> Iterator[Finding]:
        for call in facts.calls:
            if call.name == "set_enabled":
                yield rule.at(facts, call.span, "house rule")

    return rule


MINE = Guard("MyNoGradScope", ("mine",), Takes.NOTHING, Effect.GRAD_MODE)
RUN_TIME = [
    pytest.param("void f() {\n  mine::MyNoGradScope();\n  m.forward(x);\n}\n", {"guards": (("cpp", MINE),)}, ["GF201"], id="a guard"),
    pytest.param("void f() {\n  GradMode::set_enabled(true);\n}\n", {"rules": (_rule_at_run_time(),)}, ["GF990"], id="a rule"),
    pytest.param("void f() {\n  GradMode::set_enabled(true);\n}\n", {"rules": (_rule_at_run_time(),), "ignore": ("GF990",)}, [], id="an ignored rule"),
    pytest.param("void f() {\n  GradMode::set_enabled(true);\n}\n", {"rules": (_rule_at_run_time(),), "select": ("house-rule",)}, ["GF990"], id="a selected rule"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "options", "codes"), RUN_TIME)
@pytest.mark.parametrize("files", [1, 30], ids=["one process", "a pool"])
def test_guards_and_rules_of_a_run(
    text: str, options: dict[str, object], codes: list[str], files: int, tmp_path: Path
) -> None:
    for number in range(files):
        (tmp_path / f"{number}.cpp").write_text(text)
    report = check([str(tmp_path)], Options(workers=1 if files == 1 else 2, **options))  # type: ignore[arg-type]
    assert [finding.code for finding in report.findings] == codes * files
    assert check([str(tmp_path)], Options(workers=1)).findings == []
