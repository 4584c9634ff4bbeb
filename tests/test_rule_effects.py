"""What the findings of the rules on scopes and choice come to when the program runs, and what their fixes change.

The programs are the fixtures themselves, run on the runtime shim; the expected outputs are those of torch 2.13.0.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fixture_files import FIXTURES
from guardfix.codemods.apply.applying import apply_fixes
from guardfix.codemods.choice import FixChoice
from guardfix.codemods.fixable import fixes_for
from guardfix.linter.engine import Options, check

pytestmark = pytest.mark.skipif(
    not any(shutil.which(name) for name in ("c++", "g++", "clang++")), reason="no C++ compiler is installed"
)

UNSAFE = FixChoice(unsafe=True)
RAISES_SOMETHING = "in place raises\noperator raises\nchain raises\nrequires_grad raises\n"

CHANGED = [
    pytest.param(
        "temporary_guard",
        "GF201",
        "scaled 1\nshifted 1\nsquared 1\nnegated 1\n",
        "scaled 0\nshifted 0\nsquared 0\nnegated 0\n",
        id="a temporary records gradients, a named guard does not",
    ),
    pytest.param(
        "vexing_parse_guard",
        "GF203",
        "scaled 1\nshifted 1\nnegated 1\ntraining 0\n",
        "scaled 0\nshifted 0\nnegated 1\ntraining 1\n",
        id="a function is not a guard, and a guard named like the flag ignores it",
    ),
    pytest.param(
        "guard_lost_in_thread",
        "GF207",
        "thread 1\nasync 1\nthreads 11\nnamed 11\n",
        "thread 0\nasync 0\nthreads 00\nnamed 00\n",
        id="a thread starts in the normal mode until the guard is repeated in it",
    ),
    pytest.param(
        "guard_lost_in_other_threads",
        "GF207",
        "container 1\nheap 1\npackaged 1\n",
        "container 0\nheap 0\npackaged 0\n",
        id="a thread in a container, on the heap or from a packaged task starts in the normal mode, too",
    ),
    pytest.param(
        "guard_after_run",
        "GF208",
        "recorded 1\n1\n",
        "recorded 0\n1\n",
        id="what runs above the guard is recorded until the guard moves up",
    ),
    pytest.param(
        "kernel_guard_in_user_code",
        "GF301",
        "gradient 6 (right: 2)\n",
        "backward refuses\n",
        id="the kernel guard gives a silently wrong gradient, InferenceMode an error",
    ),
    pytest.param(
        "guard_in_function_backward",
        "GF304",
        "first derivative 12\ncan be differentiated 0\n",
        "first derivative 12\ncan be differentiated 1\n",
        id="a guard in backward loses the second derivative",
    ),
    pytest.param(
        "redundant_in_function_forward",
        "GF302",
        "1 3\n",
        "1 3\n",
        id="a guard in forward changes nothing where the dispatcher is bypassed",
    ),
    pytest.param("redundant_guard", "GF303", "111\n", "111\n", id="a redundant guard changes nothing"),
]

AS_IT_IS = [
    pytest.param("guard_covers_nothing", "11\n", id="GF202: gradients are recorded behind the guard's scope"),
    pytest.param("static_guard", "this thread 0\nanother 1\n", id="GF204: main's thread is switched off, and no other"),
    pytest.param("heap_guard", "1\n0\n", id="GF205: a moment's guard does nothing, a leaked one never ends"),
    pytest.param("guard_member", "0\n1\n", id="GF206: the mode lasts as long as the object"),
    pytest.param("inference_escape", RAISES_SOMETHING, id="GF506: each use behind the scope raises"),
    pytest.param(
        "inference_backward",
        "made inside raises\nby function raises\nby a loss raises\nmade outside works\ngradient is an inference tensor: 1\n",
        id="GF507: a graph made inside has no gradient, one made outside gets an inference tensor",
    ),
    pytest.param("clean_named_temporaries", "000000\n", id="GF201 is silent: these guards live"),
    pytest.param("clean_guards_in_conditions", "0001 4\n", id="GF303 is silent: the guard in the head has ended"),
    pytest.param("clean_inference_paths", "4444222144\n", id="GF506 is silent: nothing here raises"),
    pytest.param("clean_destructor_does_the_work", "0\n0\n", id="GF202 is silent: the destructor runs under the guard"),
]


def run(program: Path, *arguments: str) -> str:
    """What the program prints on the shim."""
    done = subprocess.run(
        [sys.executable, "-m", "guardfix", "run", str(program), *arguments],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(("name", "code", "before", "after"), CHANGED)
@pytest.mark.few("a guard in backward loses the second derivative")
def test_the_fix_changes_what_the_program_does(name: str, code: str, before: str, after: str, tmp_path: Path) -> None:
    program = tmp_path / f"{name}.cpp"
    shutil.copy(FIXTURES / "cpp" / program.name, program)
    assert run(program) == before
    report = fixes_for(check([str(program)], Options(select=(code,), workers=1)), choice=UNSAFE)
    assert apply_fixes(report).written
    assert run(program) == after


@pytest.mark.thorough
def test_a_guard_that_moves_above_the_load_covers_the_parameters(tmp_path: Path) -> None:
    program = tmp_path / "guard_after_load.cpp"
    shutil.copy(FIXTURES / "cpp" / program.name, program)
    model = str(FIXTURES / "cpp_programs" / "models" / "classifier.pt")
    assert run(program, model) == "parameter 0 output 1\n"
    report = fixes_for(check([str(program)], Options(select=("GF208",), workers=1)), choice=UNSAFE)
    assert apply_fixes(report).written
    assert run(program, model) == "parameter 1 output 1\n"


@pytest.mark.thorough
def test_the_copy_that_gf506_shows_makes_an_ordinary_tensor(tmp_path: Path) -> None:
    program = tmp_path / "inference_escape.cpp"
    shutil.copy(FIXTURES / "cpp" / program.name, program)
    assert run(program) == RAISES_SOMETHING
    report = fixes_for(check([str(program)], Options(select=("GF506",), workers=1)), choice=UNSAFE)
    fixes = [finding.fix for finding in report.findings]
    assert not apply_fixes(report).written, "a display fix is never applied"
    text = program.read_bytes()
    for edit in sorted((edit for fix in fixes if fix for edit in fix.edits), reverse=True, key=lambda e: e.span.start):
        text = text[: edit.span.start] + edit.content.encode() + text[edit.span.end :]
    program.write_bytes(text)
    assert run(program) == RAISES_SOMETHING.replace("raises", "works")


@pytest.mark.parametrize(("name", "printed"), AS_IT_IS)
@pytest.mark.some(3)
def test_the_program_does_what_the_finding_says(name: str, printed: str) -> None:
    assert run(FIXTURES / "cpp" / f"{name}.cpp") == printed
