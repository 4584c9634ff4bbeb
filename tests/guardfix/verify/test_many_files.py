"""Programs of several files, as build directories, databases and patterns describe them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from guardfix.cli.verify_command import command
from guardfix.codemods.apply.leftovers import Why
from guardfix.verify.judging.guard_sites import SourcePlace
from guardfix.verify.programs.program_discovery import Program
from guardfix.verify.programs.program_migration import Left, Migration

FILES = {
    "include/model.h": """\
#pragma once
#include <torch/script.h>
at::Tensor predict(const at::Tensor& x);
""",
    "src/model.cpp": """\
#include "model.h"
#ifndef SCALE
#error "the project's defines are missing"
#endif
at::Tensor predict(const at::Tensor& model_input) {
  at::AutoNonVariableTypeMode guard(true);
  return model_input * SCALE;
}
""",
    "src/unused.cpp": "int unused() { return missing_function(); }\n",
    "src/helper.cpp": "int helper() { return 3; }\n",
    "app/one.cpp": """\
#include "model.h"
#include <iostream>
int helper();
int main() { std::cout << predict(torch::ones({2})).sum().item<float>() + helper() << std::endl; }
""",
    "app/two.cpp": """\
#include "model.h"
#include <iostream>
int main() { std::cout << predict(torch::ones({5})).sum().item<float>() << std::endl; }
""",
}
CMAKE = """\
cmake_minimum_required(VERSION 3.16)
project(example CXX)
set(CMAKE_CXX_STANDARD 14)
add_library(model STATIC src/model.cpp)
target_include_directories(model PUBLIC include)
target_compile_definitions(model PRIVATE SCALE=2)
add_executable(one app/one.cpp src/helper.cpp)
target_link_libraries(one model)
add_executable(two app/two.cpp)
target_link_libraries(two model)
"""


def verified(*arguments: str | Path) -> tuple[int, list[dict[str, Any]]]:
    done = CliRunner().invoke(command, [*map(str, arguments), "--output-format", "json", "--isolated"])
    assert done.exit_code in (0, 1), done.output
    return done.exit_code, json.loads(done.stdout)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / ".git").mkdir()  # what shows where the project is
    return folder


def check(status: int, entries: list[dict[str, Any]]) -> None:
    shown = {Path(entry["filename"]).name: (entry["verdict"], entry["reason"]) for entry in entries}
    assert (status, {name: verdict for name, (verdict, _) in shown.items()}) == (
        0,
        {"one.cpp": "same", "two.cpp": "same"},
    ), shown
    assert [entry["before"]["stdout"] for entry in entries] == ["7\n", "10\n"]
    for entry in entries:
        [guard] = entry["guards"]
        assert guard["filename"].endswith("model.cpp")
        assert guard["entered"] == {"before": 1, "after": 1}


def database(project: Path) -> None:
    """A compilation database as CMake writes it, and as a user may, with `arguments`."""
    define, include = "-DSCALE=2", "-Iinclude"
    entries = [
        {
            "directory": str(project),
            "file": name,
            "command": f"c++ {define if 'model' in name else ''} {include} -std=gnu++14 "
            f"-o CMakeFiles/{target}.dir/{name}.o -c {name}",
            "output": f"CMakeFiles/{target}.dir/{name}.o",
        }
        for name, target in (("app/one.cpp", "one"), ("src/helper.cpp", "one"), ("app/two.cpp", "two"))
    ]
    entries.append(
        {
            "directory": str(project / "src"),
            "file": "model.cpp",
            "arguments": ["c++", define, "-I", "../include", "-c", "model.cpp", "-o", "model.o"],
        }
    )
    (project / "compile_commands.json").write_text(json.dumps(entries))


@pytest.mark.thorough
def test_a_compilation_database(project: Path, cache: Path) -> None:
    """Only what changed is compiled twice: the model, but not `one`, `two` and the helper."""
    database(project)
    check(*verified(project))
    assert len(list(cache.glob("programs/objects/**/unit.o"))) == 5


@pytest.mark.skipif(shutil.which("cmake") is None, reason="no cmake")
@pytest.mark.thorough
def test_cmakes_file_api(project: Path) -> None:
    (project / "CMakeLists.txt").write_text(CMAKE)
    build = project / "build"
    query = build / ".cmake" / "api" / "v1" / "query"
    query.mkdir(parents=True)
    (query / "codemodel-v2").touch()
    done = subprocess.run(["cmake", "-S", str(project), "-B", str(build)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    check(*verified(project, "--exclude", "build/"))


@pytest.mark.thorough
def test_patterns(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several mains over common sources: what no program uses is not linked, and need not compile."""
    monkeypatch.chdir(project)
    arguments = ("--source", "src/*.cpp", "--include", "include", "--define", "SCALE=2")
    check(*verified("app", *arguments))
    check(*verified("app/one.cpp", "app/two.cpp", *arguments))


@pytest.mark.thorough
def test_what_is_included_where_no_build_says_anything(project: Path) -> None:
    """The header in another folder, and the source of its name; `unused.cpp` would not link."""
    model = project / "src" / "model.cpp"
    model.write_text(model.read_text().replace("#ifndef SCALE", "#define SCALE 2\n#ifndef SCALE"))
    (project / "app" / "one.cpp").write_text(FILES["app/one.cpp"].replace("int helper();", '#include "helper.h"'))
    (project / "src" / "helper.h").write_text("int helper();\n")
    (project / "src" / "unused.cpp").write_text("int unused() { extern int missing(); return missing(); }\n")
    check(*verified(project))


@pytest.mark.thorough
def test_a_needed_source_that_does_not_compile(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Said as the compiler says it, not as a missing symbol."""
    monkeypatch.chdir(project)
    status, [program, _] = verified("app/two.cpp", "--source", "src/*.cpp", "--include", "include")
    assert (status, program["verdict"]) == (1, "unsupported")
    assert program["reason"] == (
        'the program does not compile as it is: src/model.cpp:3: #error "the project\'s defines are missing"'
    )


@pytest.mark.oracle
def test_with_pytorch(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same programs from the same sources; what does not compile is said where it is needed."""
    pytest.importorskip("torch")
    monkeypatch.chdir(project)
    arguments = ("--source", "src/*.cpp", "--include", "include", "--backend", "torch")
    check(*verified("app", *arguments, "--define", "SCALE=2"))
    _, [program, _] = verified("app/two.cpp", *arguments)
    assert program["reason"].endswith('src/model.cpp:3: #error "the project\'s defines are missing"')


def test_a_database_that_is_none(project: Path) -> None:
    (project / "compile_commands.json").write_text('{"directory": 1}')
    done = CliRunner().invoke(command, [str(project), "--isolated"])
    assert done.exit_code == 2
    assert "compile_commands.json: not a compilation database" in done.stderr


OPTIONS = {
    "net.h": "#include <torch/torch.h>\ntorch::nn::Conv2d layer();\n",
    "net.cpp": '#include "net.h"\ntorch::nn::Conv2d layer() { return torch::nn::Conv2d(1, 1, 1); }\n',
    "main.cpp": """\
#include "net.h"
#include <iostream>
int main() {
  at::AutoNonVariableTypeMode guard(true);
  std::cout << layer()->forward(torch::ones({1, 1, 2, 2})).sizes() << std::endl;
}
""",
}


@pytest.mark.thorough
def test_options_of_one_source_mean_the_same_in_another(tmp_path: Path) -> None:
    for name, text in OPTIONS.items():
        (tmp_path / name).write_text(text)
    status, [entry] = verified(tmp_path)
    assert (status, entry["verdict"], entry["before"]["stdout"]) == (0, "same", "[1, 1, 2, 2]\n"), entry


@pytest.mark.thorough
def test_a_source_that_is_named_beside_its_program_is_a_part_of_it(tmp_path: Path) -> None:
    """As in `guardfix verify *.cpp`."""
    (tmp_path / "scale.h").write_text("#include <torch/script.h>\nat::Tensor predict(const at::Tensor& x);\n")
    library, program = tmp_path / "scale.cpp", tmp_path / "main.cpp"
    library.write_text(
        '#include "scale.h"\nat::Tensor predict(const at::Tensor& model_input) {\n'
        "  torch::NoGradGuard no_grad;\n  at::AutoNonVariableTypeMode guard(true);\n  return model_input * 3;\n}\n"
    )
    program.write_text(
        '#include "scale.h"\n#include <iostream>\n'
        "int main() { std::cout << predict(torch::ones({2})).sum().item<float>() << std::endl; }\n"
    )
    status, entries = verified(library, program)
    assert (status, [(entry["filename"], entry["verdict"]) for entry in entries]) == (0, [(str(program), "same")])
    [guard] = entries[0]["guards"]
    assert guard["entered"] == {"before": 1, "after": 1}


@pytest.mark.parametrize(
    ("text", "reason", "advice"),
    [
        ("int other() { return 1; }", "{} defines no main(): there is nothing to run", "name a program with a main"),
        ("int other(); int main() { return other(); }", "{} uses other(), which nothing defines: ", "see `--source`"),
    ],
)
@pytest.mark.thorough
def test_what_cannot_be_loaded_is_told_of_the_users_file(tmp_path: Path, text: str, reason: str, advice: str) -> None:
    program = tmp_path / "program.cpp"
    program.write_text(
        "#include <torch/script.h>\nat::Tensor predict(at::Tensor model_input) {\n"
        f"  torch::NoGradGuard no_grad;\n  at::AutoNonVariableTypeMode guard(true);\n  return model_input * 3;\n}}\n{text}\n"
    )
    status, [entry] = verified(program)
    assert (status, entry["verdict"]) == (1, "unsupported")
    assert entry["reason"].startswith("the program can't be loaded: " + reason.format(os.path.relpath(program)))
    assert entry["advice"].startswith(advice)


def test_a_program_s_own_findings_come_first() -> None:
    places = [SourcePlace(f"{name}.py", 3, 1, "GF402") for name in ("helper", "program", "other")]
    migration = Migration(left=tuple(Left(place, Why.NO_FIX, "", True) for place in places))
    program = Program(Path("program.py"), Path(), named=True)
    assert [one.place.path for one in migration.of(program).left] == ["program.py", "helper.py", "other.py"]
