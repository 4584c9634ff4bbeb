"""Files that nothing links to a use say nothing about it: what is decided is what would be decided without them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from decided_trees import BLEND, GUARD, MARK, SAID, Said, answer, python

RUNS = "return model.forward({x}).toTensor();"
FUNCTION = "std::function<at::Tensor(at::Tensor)>"
AROUND = {
    "what it calls runs a model": Said(
        f"at::Tensor compute(at::Tensor x);\nat::Tensor blend(at::Tensor x) {{ {GUARD} return compute(x); }}\n",
        f"torch::jit::Module model;\nat::Tensor compute(at::Tensor x) {{ {RUNS} }}\n",
    ),
    "a class of the name runs a model": Said(
        f"struct Engine;\nat::Tensor blend(Engine& e, at::Tensor x) {{ {GUARD} return e.compute(x); }}\n",
        f"struct Engine {{ torch::jit::Module model; at::Tensor compute(at::Tensor x) {{ {RUNS} }} }};\n",
    ),
    "what implements the interface runs a model": Said(
        "struct Backend { virtual at::Tensor compute(at::Tensor x) = 0; };\n"
        f"at::Tensor blend(Backend& e, at::Tensor x) {{ {GUARD} return e.compute(x); }}\n",
        "struct Script : Backend { torch::jit::Module model; "
        f"at::Tensor compute(at::Tensor x) override {{ {RUNS} }} }};\n",
    ),
    "the stored callback runs a model": Said(
        f"struct Loop {{ {FUNCTION} body; at::Tensor once(at::Tensor x) {{ {GUARD} return body(x); }} }};\n",
        "struct Loop; void fill(Loop& l, torch::jit::Module model) "
        f"{{ l.body = [model](at::Tensor x) mutable {{ {RUNS} }}; }}\n",
    ),
    "the class is a module": Said(
        f"at::Tensor Net::go(at::Tensor x) {{ {GUARD} return x + 1; }}\n",
        "struct Net : torch::nn::Module { torch::jit::Module inner; at::Tensor go(at::Tensor x); };\n",
    ),
    "the project runs models": Said(
        f"at::Tensor blend(at::Tensor a) {{ {GUARD} return a.index({{0}}).clone(); }}\n",
        f'auto model = torch::jit::load("m.pt");\nat::Tensor f(at::Tensor x) {{ {RUNS} }}\n',
    ),
    "the project has ops": Said(
        f'#include "model.h"\nat::Tensor blend(at::Tensor a) {{ {GUARD} return a.index({{0}}).clone(); }}\n'
        f"at::Tensor f(at::Tensor x) {{ {RUNS} }}\n",
        'TORCH_LIBRARY(other, m) { m.def("scale", scale); }\n',
    ),
}
"""Evidence that is not about the name of the function."""


def in_test(said: Said) -> dict[str, str]:
    return {"tests/test_lint.py": "def test():\n    lint('''\n" + MARK + said.text + "''')\n"}


def in_template(said: Said) -> dict[str, str]:
    own = f"\nHEAD = '''\n{BLEND}'''\n"
    return {"tools/make.py": python(MARK + said.text) + own}


def in_document(said: Said) -> dict[str, str]:
    return {"docs/ops.md": f"# Ops\n\n```cpp\n{MARK}{said.text}```\n"}


def in_restructured_document(said: Said) -> dict[str, str]:
    text = "".join(f"   {line}\n" for line in (MARK + said.text).splitlines())
    return {"docs/ops.rst": f"Ops\n===\n\n.. code-block:: cpp\n\n{text}\n"}


def in_folder_of_tests(said: Said) -> dict[str, str]:
    return {"tests/check.cpp" if not said.base else "tests/check.h": "#include <torch/torch.h>\n" + MARK + said.text}


def in_test_beside(said: Said) -> dict[str, str]:
    suffix = "h" if said.base else "cpp"
    return {f"src/blend_test.{suffix}": "#include <torch/torch.h>\n" + MARK + said.text}


def other_file(said: Said, folder: str) -> dict[str, str]:
    name = f"{folder}/other.{'h' if said.base else 'cpp'}"
    own = "#include <torch/torch.h>\nat::Tensor blend(at::Tensor a) { return a; }\n"
    user = {f"{folder}/user.cpp": '#include "other.h"\n'} if said.base else {}
    return {name: "#include <torch/torch.h>\n" + MARK + said.text, f"{folder}/own.cpp": own, **user}


def in_cmake_target(said: Said) -> dict[str, str]:
    lists = "add_library(run src/run.cpp src/run.h)\nfile(GLOB OTHERS other/*.cpp other/*.h)\nadd_library(other ${OTHERS})\n"
    return {"CMakeLists.txt": lists, **other_file(said, "other")}


def in_bazel_target(said: Said) -> dict[str, str]:
    build = 'cc_library(name = "{0}", srcs = glob(["{1}/*.cpp"]), hdrs = glob(["{1}/*.h"]))\n'
    return {"BUILD.bazel": build.format("run", "src") + build.format("other", "other"), **other_file(said, "other")}


def in_extension(said: Said) -> dict[str, str]:
    setup = (
        "setup(ext_modules=[\n"
        "  CppExtension('run', glob.glob('src/*.cpp') + ['src/run.h']),\n"
        "  CppExtension('other', sources=[os.path.join('other', f) for f in ('other.cpp', 'other.h', 'own.cpp', 'user.cpp')]),\n"
        "])\n"
    )
    return {"setup.py": setup, **other_file(said, "other")}


def in_other_package(said: Said) -> dict[str, str]:
    return {"src/setup.py": "setup()\n", "libs/other/setup.py": "setup()\n", **other_file(said, "libs/other")}


def in_other_project(said: Said) -> dict[str, str]:
    lists = "project({})\n"
    return {
        "src/CMakeLists.txt": lists.format("run"),
        "other/CMakeLists.txt": lists.format("other"),
        **other_file(said, "other"),
    }


def in_vendored_library(said: Said) -> dict[str, str]:
    return other_file(said, "third_party/other")


def in_notebook(said: Said) -> dict[str, str]:
    code = python(MARK + said.text)
    cells = [
        ("code", code, {"outputs": [], "execution_count": None}),
        ("markdown", f"```cpp\n{MARK}{said.text}```\n", {}),
    ]
    notebook = {
        "cells": [{"cell_type": kind, "metadata": {}, "source": text, **more} for kind, text, more in cells],
        "metadata": {"language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return {"docs/ops.ipynb": json.dumps(notebook)}


def in_docstring(said: Said) -> dict[str, str]:
    code = "".join(f"    {line}\n" for line in (MARK + said.text).splitlines())
    return {"src/ops.py": f'"""Ops.\n\n.. code-block:: cpp\n\n{code}"""\n'}


def in_file_that_a_test_writes(said: Said) -> dict[str, str]:
    text = "#include <torch/torch.h>\n" + MARK + said.text
    return {"tests/test_build.py": f"def test(tmp_path):\n    (tmp_path / 'a.cpp').write_text({text!r})\n"}


def in_benchmark(said: Said) -> dict[str, str]:
    return {f"benchmarks/speed.{'h' if said.base else 'cpp'}": "#include <torch/torch.h>\n" + MARK + said.text}


def in_folder_of_cmake(said: Said) -> dict[str, str]:
    return {
        "CMakeLists.txt": "project(all)\nadd_subdirectory(src)\nadd_subdirectory(other)\n",
        "src/CMakeLists.txt": "file(GLOB OWN *.cpp *.h)\nadd_library(run ${OWN})\n",
        "other/CMakeLists.txt": "file(GLOB OWN *.cpp *.h)\nadd_executable(other ${OWN})\n",
        **other_file(said, "other"),
    }


def in_package_of_python(said: Said) -> dict[str, str]:
    return {"src/pyproject.toml": "", "other/pyproject.toml": "", **other_file(said, "other")}


def in_submodule(said: Said) -> dict[str, str]:
    return other_file(said, "extern/other")


STRANGERS = {
    "a string in a test": in_test,
    "a string of a tool, with its own definition": in_template,
    "a document": in_document,
    "a document in reStructuredText": in_restructured_document,
    "a folder of tests": in_folder_of_tests,
    "a test beside the file": in_test_beside,
    "another target of CMake": in_cmake_target,
    "another target of Bazel": in_bazel_target,
    "another extension": in_extension,
    "another package": in_other_package,
    "another project of CMake": in_other_project,
    "a vendored library": in_vendored_library,
    "a notebook": in_notebook,
    "a docstring": in_docstring,
    "a file that a test writes": in_file_that_a_test_writes,
    "a benchmark": in_benchmark,
    "another folder of CMake": in_folder_of_cmake,
    "another package of Python": in_package_of_python,
    "a submodule": in_submodule,
}


@pytest.mark.parametrize("said", [*SAID.values(), *AROUND.values()], ids=[*SAID, *AROUND])
@pytest.mark.parametrize("stranger", STRANGERS.values(), ids=STRANGERS)
@pytest.mark.some(5)
def test_strangers_say_nothing(stranger: object, said: Said, tmp_path: Path) -> None:
    own = {said.path: "#include <torch/torch.h>\n" + said.about, "src/a.h": "int a();\n", "src/b.h": "int b();\n"}
    alone = answer(tmp_path / "alone", said.path, own)
    assert callable(stranger)
    assert answer(tmp_path / "tree", said.path, {**own, **stranger(said)}, docs=True) == alone
