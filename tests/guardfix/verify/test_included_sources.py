"""What belongs to a program of a project that no build describes: found by what is included."""

from __future__ import annotations

from pathlib import Path

import pytest

from guardfix.verify.programs import included_sources
from guardfix.verify.programs.included_sources import ProjectFiles, project_above
from guardfix.verify.programs.program_discovery import find_programs, is_main_file, with_builds

MAIN = "int main() { return 0; }\n"

PROJECTS = [
    pytest.param(
        {"app/main.cpp": '#include "net.h"\n', "include/net.h": "", "src/net.cpp": ""},
        ["include"], ["src/net.cpp"], id="a header in a folder of its own, with its source",
    ),
    pytest.param(
        {"main.cpp": '#include "net.h"\n', "net.h": "", "net.cpp": '#include "util.h"\n', "util.h": "", "util.cc": ""},
        [], ["net.cpp", "util.cc"], id="what a source includes in turn",
    ),
    pytest.param(
        {"main.cpp": '#include "xml.h"\n', "xml.h": "", "xml.cpp": "", "xmlparser.cpp": "", "xml_test.cpp": "",
         "other/xmlwriter.cpp": "", "html.cpp": ""},
        [], ["xml.cpp", "xmlparser.cpp"], id="a header with several sources beside it",
    ),
    pytest.param(
        {"main.cpp": "template <class T> void fill(T& x);\nvoid train(Net& net,\n           int n = size());\n\nstd::vector<int> *read();\n"
                     "  void inside();\nint own();\nint own() { return 1; }\n",
         "train.cpp": "void step();\nvoid train(Net& net, int n) {\n}\n", "steps.cpp": "void step() {}\n",
         "io.cpp": "std::vector<int> *read()\n{\n}\n", "uses.cpp": "int use() {\n  train(net, 1);\n}\n",
         "other.cpp": "int own() { return 2; }\nvoid inside() {}\nvoid fill(int& x);\n",
         "away/train.cpp": "void train(Net& net, int n) {}\n", "demo.cpp": "void train(Net& net, int n) {}\n" + MAIN},
        [], ["io.cpp", "steps.cpp", "train.cpp"], id="functions that a source declares and another beside it defines",
    ),
    pytest.param(
        {"app/main.cpp": "#include <nets/net.hpp>\n", "include/nets/net.hpp": "", "lib/net.cpp": ""},
        ["include"], ["lib/net.cpp"], id="a path in angle brackets",
    ),
    pytest.param(
        {"a/main.cpp": '#include "util.h"\n', "a/inc/util.h": "", "b/inc/util.h": "", "b/util.cpp": ""},
        ["a/inc"], ["b/util.cpp"], id="the nearest of two headers",
    ),
    pytest.param(
        {"main.cpp": '#include "util.h"\n', "a/util.h": "int a();\n", "b/util.h": "int b();\n"},
        [], [], id="two that are as near",
    ),
    pytest.param(
        {"main.cpp": '#include "util.h"\n', "io/include/util.h": "", "io/src/util.h": "", "io/src/util.cpp": ""},
        ["io/include"], ["io/src/util.cpp"], id="two that are as near, copies of each other",
    ),
    pytest.param(
        {"app/main.cpp": '#include "../lib/net.h"\n', "lib/net.h": "", "lib/net.cpp": ""},
        [], ["lib/net.cpp"], id="a path from the file itself",
    ),
    pytest.param(
        {"main.cpp": '#include "other.h"\n', "other.h": "", "other.cpp": MAIN}, [], [], id="another program's main",
    ),
    pytest.param(
        {"main.cpp": "#include <torch/torch.h>\n#include <vector>\n", "third_party/torch/torch.h": "", "vector": ""},
        [], [], id="PyTorch's headers and the language's",
    ),
    pytest.param(
        {"main.cpp": '#include "net.h"\n', ".cache/net.h": ""}, [], [], id="a hidden folder",
    ),
    pytest.param(
        {"main.cpp": '// #include "net.h"\n#include "a.h"\n', "a.h": '#include "main.cpp"\n', "inc/net.h": ""},
        [], [], id="a comment, and a circle",
    ),
]  # fmt: skip


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + (MAIN if path.name == "main.cpp" else ""))
    return next(folder.rglob("main.cpp"))


@pytest.mark.parametrize(("files", "folders", "sources"), PROJECTS)
def test_what_a_main_is_built_with(
    files: dict[str, str], folders: list[str], sources: list[str], tmp_path: Path
) -> None:
    main = written(tmp_path, files)
    found = ProjectFiles(tmp_path, is_main_file).included_by(main)
    assert [folder.relative_to(tmp_path).as_posix() for folder in found.folders] == folders
    assert sorted(unit.path.relative_to(tmp_path).as_posix() for unit in found.units) == sources
    assert all(unit.include == found.folders and unit.on_demand for unit in found.units)


def test_a_project_that_is_too_large_is_not_looked_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(included_sources, "MOST_PROJECT_FILES", 2)
    main = written(tmp_path, {"app/main.cpp": '#include "net.h"\n', "include/net.h": "", "src/net.cpp": ""})
    assert ProjectFiles(tmp_path, is_main_file).included_by(main).units == ()


def test_a_program_alone_looks_no_further_than_its_project(tmp_path: Path) -> None:
    main = written(tmp_path, {"p/CMakeLists.txt": "", "p/x/CMakeLists.txt": "", "p/x/main.cpp": '#include "net.h"\n',
                              "p/lib/net.h": "", "p/lib/net.cpp": ""})  # fmt: skip
    assert project_above(main) == tmp_path / "p"
    [program] = with_builds(find_programs([str(main)]), (), ())
    assert [unit.path.name for unit in program.build.units] == ["net.cpp"]
    assert program.root == tmp_path / "p", "what is copied holds all that is compiled"
    (tmp_path / "p/x/.git").mkdir()
    assert project_above(main) == tmp_path / "p/x"
    [program] = with_builds(find_programs([str(main)]), (), ())
    assert program.build.units == ()
