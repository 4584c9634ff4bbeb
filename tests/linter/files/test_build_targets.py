"""Which files a build makes one program of, as far as its description says it."""

from __future__ import annotations

import os

import pytest

from guardfix.linter.files.build_targets import BuildTargets
from guardfix.linter.files.workspace import Workspace

ROOT = os.path.abspath("/project")


def targets(**texts: str) -> BuildTargets:
    """Those of the descriptions, by file name; `__` stands for a folder's separator."""
    files = {os.path.join(ROOT, name.replace("__", "/")): text for name, text in texts.items()}
    return BuildTargets(ROOT, Workspace.in_memory(files))


def path(name: str) -> str:
    return os.path.join(ROOT, name)


CMAKE = "CMakeLists.txt"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        pytest.param({}, None, id="nothing is described"),
        pytest.param({CMAKE: "add_library(a SHARED one.cpp two.cpp)"}, True, id="a library"),
        pytest.param({CMAKE: "add_executable(a one.cpp)\nadd_executable(b two.cpp)"}, False, id="two programs"),
        pytest.param({CMAKE: "add_library(a one.cpp) # two.cpp"}, None, id="a comment"),
        pytest.param({CMAKE: 'set(S "one.cpp" two.cpp)\nadd_library(a ${S})'}, True, id="a variable"),
        pytest.param({CMAKE: "set(S one.cpp)\nset(S ${S} two.cpp)\nadd_library(a ${S})"}, True, id="a longer variable"),
        pytest.param({CMAKE: "set(S a)\nadd_library(${S} one.cpp)\ntarget_sources(a PRIVATE two.cpp)"}, True, id="added later"),
        pytest.param({CMAKE: "file(GLOB S *.cpp)\nadd_library(a ${S})"}, True, id="a glob"),
        pytest.param({CMAKE: "file(GLOB S o*.cpp)\nadd_library(a ${S})\nadd_library(b two.cpp)"}, False, id="a narrow glob"),
        pytest.param({CMAKE: "aux_source_directory(. S)\nadd_library(a ${S})"}, True, id="a folder of sources"),
        pytest.param(
            {CMAKE: "add_library(a ${CMAKE_CURRENT_SOURCE_DIR}/one.cpp ${PROJECT_SOURCE_DIR}/two.cpp)"}, True, id="folders"
        ),
        pytest.param({CMAKE: "pybind11_add_module(a one.cpp two.cpp)"}, True, id="a command of a package"),
        pytest.param({CMAKE: "install(FILES one.cpp two.cpp DESTINATION x)"}, None, id="a command that builds nothing"),
        pytest.param({CMAKE: "add_library(a ${UNKNOWN})\nadd_library(b two.cpp)"}, None, id="an unknown variable"),
        pytest.param(
            {CMAKE: "add_library(a one.cpp)\nadd_library(b two.cpp)\ntarget_link_libraries(b PUBLIC a)"}, True, id="linked"
        ),
        pytest.param(
            {CMAKE: "add_library(a one.cpp)\nadd_library(b two.cpp)\nadd_executable(c c.cpp)\ntarget_link_libraries(c a b)"},
            True,
            id="both linked into a third",
        ),
        pytest.param(
            {CMAKE: "add_library(a one.cpp)\nadd_library(b two.cpp)\ntarget_link_libraries(b ${LIBRARIES})"},
            None,
            id="linked with what isn't known",
        ),
        pytest.param({"setup.py": "CUDAExtension(name='a', sources=['one.cpp', 'two.cpp'])"}, True, id="an extension"),
        pytest.param(
            {"setup.py": "here = os.path.dirname(__file__)\nS = glob.glob(os.path.join(here, '*.cpp'))\nCppExtension('a', S)"},
            True,
            id="an extension by a glob",
        ),
        pytest.param(
            {"setup.py": "S = ['one.cpp']\nif cuda:\n    S += [str(Path('.') / 'two.cpp')]\nExtension('a', S)"},
            True,
            id="an extension with conditions",
        ),
        pytest.param(
            {"setup.py": "Extension('a', [f'{n}.cpp' for n in ('one', 'two')])"}, True, id="an extension by a comprehension"
        ),
        pytest.param({"setup.py": "Extension('a', ['one.cpp'])\nExtension('b', ['two.cpp'])"}, False, id="two extensions"),
        pytest.param({"setup.py": "Extension('a', ['one.cpp', 'two.cpp'"}, None, id="no Python"),
        pytest.param({"setup.py": "S = S + ['one.cpp', 'two.cpp']\nExtension('a', S)"}, True, id="a list made of itself"),
        pytest.param({"BUILD": 'cc_library(name = "a", srcs = ["one.cpp", "two.cpp"])'}, True, id="Bazel"),
        pytest.param({"TARGETS": 'cpp_library(name = "a", srcs = glob(["*.cpp"]))'}, True, id="Buck, by a glob"),
        pytest.param(
            {"BUILD.bazel": 'cc_library(name = "a", srcs = ["one.cpp"])\ncc_test(name = "b", srcs = ["two.cpp"], deps = ["//:a"])'},
            True,
            id="Bazel, linked",
        ),
        pytest.param(
            {"BUCK": 'cxx_library(name = "a", srcs = ["one.cpp"])\ncxx_test(name = "b", srcs = ["two.cpp"])'},
            False,
            id="Buck, not linked",
        ),
    ],
)  # fmt: skip
def test_one_program(files: dict[str, str], expected: bool | None) -> None:
    assert targets(**files).are_one_program(path("one.cpp"), path("two.cpp")) is expected


@pytest.mark.parametrize(
    ("files", "name", "expected"),
    [
        pytest.param({"setup.py": ""}, "src/a.cpp", "", id="of Python"),
        pytest.param({"lib__setup.py": "", "setup.py": ""}, "lib/src/a.cpp", "lib", id="the nearest"),
        pytest.param({"lib__CMakeLists.txt": "project(lib)"}, "lib/a.cpp", "lib", id="of CMake"),
        pytest.param({"lib__CMakeLists.txt": "add_library(a a.cpp)"}, "lib/a.cpp", None, id="a part of one of CMake"),
        pytest.param({}, "a.cpp", None, id="none"),
    ],
)
def test_library(files: dict[str, str], name: str, expected: str | None) -> None:
    found = targets(**files).library(path(name))
    assert found == ("" if expected is None else os.path.normpath(path(expected)))
