"""What a file says about a name counts for another file only where the code shows that they are one program."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import Struct

from guardfix.codemods.fixable import fixes_for
from guardfix.linter.engine import Options, check
from guardfix.linter.findings import Applicability

GUARD = "at::AutoNonVariableTypeMode guard(true);"
BLEND = f"at::Tensor blend(at::Tensor a) {{\n  {GUARD}\n  return at::add(a, a);\n}}\n"
DECLARED = "#pragma once\n#include <torch/torch.h>\nat::Tensor blend(at::Tensor a);\n"
REGISTERED = 'TORCH_LIBRARY_IMPL(my, {key}, m) {{ m.impl("blend", blend); }}\n'


class Said(Struct, frozen=True):
    """A piece of evidence: the file that it is about, and what another file says."""

    about: str
    text: str
    path: str = "src/run.cpp"
    header: str = DECLARED
    """What links the two where both include it; empty where one has to include the other."""
    base: bool = False
    """The file that it is about includes the other one."""


SAID = {
    "registered under Autograd": Said(BLEND, REGISTERED.format(key="Autograd")),
    "registered under AutogradCUDA": Said(BLEND, REGISTERED.format(key="AutogradCUDA")),
    "registered under ADInplaceOrView": Said(BLEND, REGISTERED.format(key="ADInplaceOrView")),
    "registered under CPU": Said(BLEND, REGISTERED.format(key="CPU")),
    "registered without a key": Said(BLEND, 'TORCH_LIBRARY(my, m) { m.def("blend", blend); }\n'),
    "called from a workload": Said(
        BLEND, 'at::Tensor f(at::Tensor x) { auto m = torch::jit::load("m.pt"); return blend(x); }\n'
    ),
    "called from a kernel": Said(
        BLEND,
        'at::Tensor f(at::Tensor x) { return blend(x); }\nTORCH_LIBRARY_IMPL(my, Autograd, m) { m.impl("f", f); }\n',
    ),
    "a functor that is registered": Said(
        f"struct Blend {{ at::Tensor operator()(at::Tensor a) {{ {GUARD} return at::add(a, a); }} }};\n",
        'static auto registry = torch::RegisterOperators().op("my::blend", '
        "torch::RegisterOperators::options().kernel<Blend>(c10::DispatchKey::Autograd));\n",
        path="src/run.h",
        header="",
    ),
    "a functor, defined outside its class, that is registered": Said(
        f"at::Tensor Blend::operator()(at::Tensor a) {{ {GUARD} return at::add(a, a); }}\n",
        'static auto registry = torch::RegisterOperators().op("my::blend", '
        "torch::RegisterOperators::options().kernel<Blend>(c10::DispatchKey::Autograd));\n",
        header="#pragma once\n#include <torch/torch.h>\nstruct Blend { at::Tensor operator()(at::Tensor a); };\n",
    ),
    "the class of a method": Said(
        f"at::Tensor Net::forward(at::Tensor a) {{ {GUARD} return at::add(a, a); }}\n",
        "struct Net : torch::autograd::Function<Net> { static at::Tensor forward(at::Tensor a); };\n",
        header="",
        base=True,
    ),
    "the class of a process group's method": Said(
        f"void Ring::reduce(int peer) {{ {GUARD} send(peer); }}\n",
        "struct Ring : c10d::Backend { void reduce(int peer); };\n",
        header="",
        base=True,
    ),
    "the base of a class": Said(
        f"struct Net : Base<Net> {{ static at::Tensor forward(at::Tensor a) {{ {GUARD} return at::add(a, a); }} }};\n",
        "template <class T> struct Base : torch::autograd::Function<T> {};\n",
        header="",
        base=True,
    ),
    "a struct of guards": Said(
        "struct Scope { at::AutoNonVariableTypeMode guard{true}; };\n",
        "at::Tensor f(at::Tensor x) { Scope scope; return model.forward({x}).toTensor(); }\n",
        path="src/run.h",
        header="",
    ),
    "a macro": Said(
        f"#define SCOPE {GUARD[:-1]}\n",
        "at::Tensor f(at::Tensor x) { SCOPE; return model.forward({x}).toTensor(); }\n",
        path="src/run.h",
        header="",
    ),
}
MARK = f"void unrelated() {{ {GUARD} }}\n"
"""A guard, so that each of the other files is read whether or not it is asked about a name."""


class Answer(Struct, frozen=True):
    context: str
    confidence: str
    fix: str
    places: frozenset[str]


def answer(folder: Path, about: str, files: dict[str, str], docs: bool = False) -> Answer:
    """What is decided about the first use in a file, by what places."""
    folder.mkdir(exist_ok=True)
    (folder / "guardfix.toml").touch()
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    report = fixes_for(check([str(folder)], Options(workers=1, select=("GF1",), include_docs=docs)))
    found = [one for one in report.findings if one.path == str(folder / about) and one.decision is not None]
    decision = found[0].decision
    assert decision is not None
    fix = found[0].fix.applicability if found[0].fix is not None else Applicability.DISPLAY
    places = frozenset(Path(one.path).relative_to(folder).as_posix() for one in decision.evidence)
    return Answer(decision.context.value, decision.confidence.value, fix.value, places)


def python(text: str, name: str = "CODE") -> str:
    return f'{name} = """\n{text}"""\n'


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
        "  CppExtension('other', sources=[os.path.join('other', f) for f in ('other.cpp', 'other.h', 'own.cpp')]),\n"
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
}


@pytest.mark.parametrize("said", SAID.values(), ids=SAID)
@pytest.mark.parametrize("stranger", STRANGERS.values(), ids=STRANGERS)
@pytest.mark.some(2)
def test_strangers_say_nothing(stranger: object, said: Said, tmp_path: Path) -> None:
    own = {said.path: "#include <torch/torch.h>\n" + said.about}
    alone = answer(tmp_path / "alone", said.path, own)
    assert callable(stranger)
    assert answer(tmp_path / "tree", said.path, {**own, **stranger(said)}, docs=True) == alone


def linked(said: Said) -> dict[str, str]:
    """The two files, each of which includes what links them."""
    shared = {"src/blend.h": said.header} if said.header else {}
    include = '#include "blend.h"\n' if said.header else '#include "run.h"\n'
    about = (
        '#include "blend.h"\n' if said.header else '#include "other.h"\n' if said.base else "#include <torch/torch.h>\n"
    )
    other = "src/other.h" if said.base else "src/other.cpp"
    text = ("#include <torch/torch.h>\n" if said.base else include) + MARK + said.text
    return {said.path: about + said.about, other: text, **shared}


@pytest.mark.parametrize("said", SAID.values(), ids=SAID)
def test_what_is_linked_counts(said: Said, tmp_path: Path) -> None:
    files = linked(said)
    alone = answer(tmp_path / "alone", said.path, {said.path: files[said.path]})
    both = answer(tmp_path / "tree", said.path, files)
    assert (both.context, both.confidence) != (alone.context, alone.confidence)
    assert both.context in ("kernel", "inference")


@pytest.mark.parametrize("said", SAID.values(), ids=SAID)
def test_what_nothing_links_makes_nothing_sure(said: Said, tmp_path: Path) -> None:
    other = "src/other.h" if said.base else "src/other.cpp"
    files = {
        said.path: "#include <torch/torch.h>\n" + said.about,
        other: "#include <torch/torch.h>\n" + MARK + said.text,
    }
    found = answer(tmp_path, said.path, files)
    assert found.confidence in ("low", "medium")
    assert found.fix != "safe"


KERNEL = SAID["registered under Autograd"]
RUN = "#include <torch/torch.h>\n" + BLEND
OTHER = "#include <torch/torch.h>\n" + MARK
FORWARD = "at::Tensor blend(at::Tensor a);\n"
OWN = "#include <torch/torch.h>\nat::Tensor blend(at::Tensor a) { return a; }\n"
LINKS = [
    pytest.param({"other.cpp": OTHER + FORWARD + KERNEL.text}, "high", id="the registering file declares it"),
    pytest.param({"other.cpp": '#include "run.cpp"\n' + MARK + KERNEL.text}, "high", id="it includes the source"),
    pytest.param(
        {"other.cpp": '#include "a.h"\n' + MARK + KERNEL.text, "a.h": '#include "b.h"\n', "b.h": DECLARED},
        "high",
        id="by a header in a header",
    ),
    pytest.param(
        {"other.cpp": "#include <lib/b.h>\n" + MARK + KERNEL.text, "include/lib/b.h": DECLARED},
        "high",
        id="by a header in a folder of headers",
    ),
    pytest.param({"other.cpp": OTHER + KERNEL.text}, "medium", id="nothing"),
    pytest.param(
        {"other.cpp": OTHER + "at::Tensor blended(at::Tensor a);\n" + KERNEL.text}, "medium", id="another name"
    ),
    pytest.param(
        {"other.cpp": OTHER + "namespace other { at::Tensor blend(at::Tensor a); }\n" + KERNEL.text},
        "low",
        id="the declaration is in another namespace",
    ),
    pytest.param(
        {"other.cpp": OTHER + KERNEL.text, "CMakeLists.txt": "add_library(one run.cpp other.cpp)\n"},
        "high",
        id="one target of CMake",
    ),
    pytest.param(
        {
            "other.cpp": OTHER + KERNEL.text,
            "CMakeLists.txt": "set(S run.cpp)\nlist(APPEND S other.cpp)\nadd_library(a ${S})\n",
        },
        "high",
        id="one target of CMake, by a variable",
    ),
    pytest.param(
        {
            "other.cpp": OTHER + KERNEL.text,
            "CMakeLists.txt": "add_library(a run.cpp)\nadd_library(b other.cpp)\ntarget_link_libraries(b PRIVATE a)\n",
        },
        "high",
        id="targets that are linked",
    ),
    pytest.param(
        {"other.cpp": OTHER + KERNEL.text, "CMakeLists.txt": "add_library(a run.cpp)\nadd_library(b other.cpp)\n"},
        "low",
        id="targets that aren't",
    ),
    pytest.param(
        {"other.cpp": OTHER + KERNEL.text, "setup.py": "CppExtension('a', sources=glob.glob('*.cpp'))\n"},
        "high",
        id="one extension",
    ),
    pytest.param(
        {"other.cpp": OTHER + KERNEL.text, "BUCK": 'cxx_library(name = "a", srcs = ["run.cpp", "other.cpp"])\n'},
        "high",
        id="one target of Buck",
    ),
    pytest.param(
        {
            "other.cpp": OTHER + KERNEL.text,
            "BUILD": 'cc_library(name = "a", srcs = ["run.cpp"])\n'
            'cc_library(name = "b", srcs = ["other.cpp"], deps = [":a"])\n',
        },
        "high",
        id="targets of Bazel that are linked",
    ),
    pytest.param(
        {
            "other.cpp": OTHER + KERNEL.text,
            "build/compile_commands.json": "["
            + ",".join(
                f'{{"directory": "..", "file": "{n}.cpp", "command": "c++ -o CMakeFiles/a.dir/{n}.o -c {n}.cpp"}}'
                for n in ("run", "other")
            )
            + "]",
        },
        "high",
        id="one target, by the commands",
    ),
    pytest.param(
        {"lib/other.cpp": OTHER + FORWARD + KERNEL.text, "lib/own.cpp": OWN},
        "low",
        id="another definition is nearer to where it is declared",
    ),
    pytest.param(
        {"other.cpp": OTHER + FORWARD + KERNEL.text, "own.cpp": OWN}, "medium", id="another definition is as near"
    ),
    pytest.param(
        {
            "other.cpp": OTHER + FORWARD + KERNEL.text,
            "own.cpp": OWN.replace("at::Tensor blend", "static at::Tensor blend"),
        },
        "high",
        id="another definition is that of its file alone",
    ),
    pytest.param(
        {
            "other.cpp": OTHER + FORWARD + KERNEL.text,
            "run.cpp": "#include <torch/torch.h>\nnamespace {\n" + BLEND + "}\n",
        },
        "low",
        id="the function is that of its file alone",
    ),
    pytest.param(
        {"tests/other.cpp": '#include "../blend.h"\n' + MARK + KERNEL.text, "blend.h": DECLARED},
        "high",
        id="a test that includes the header",
    ),
    pytest.param(
        {"build.py": f"load_inline('m', cpp_sources=[open('run.cpp').read(), '''{MARK}{KERNEL.text}'''])\n"},
        "high",
        id="a string that is built with the file",
    ),
    pytest.param(
        {"build.py": "TEXT = '''\n#include \"run.cpp\"\n" + MARK + KERNEL.text + "'''\n"},
        "high",
        id="a string that includes it",
    ),
    pytest.param(
        {"build.py": "TEXT = '''\n#include \"blend.h\"\n" + MARK + KERNEL.text + "'''\n", "blend.h": DECLARED},
        "high",
        id="a string that includes its header",
    ),
    pytest.param(
        {"README.md": '```cpp\n#include "run.cpp"\n' + MARK + KERNEL.text + "```\n"},
        "low",
        id="a document that includes it",
    ),
    pytest.param(
        {"build.py": f"load_inline('m', cpp_sources=[open('lib/run.cpp').read(), '''{MARK}{KERNEL.text}'''])\n"},
        "low",
        id="a string that is built with another file",
    ),
    pytest.param(
        {"build.py": "TEXT = '''\n" + FORWARD + MARK + KERNEL.text + "'''\n"},
        "low",
        id="a string that declares it itself",
    ),
]


@pytest.mark.parametrize(("files", "expected"), LINKS)
def test_links(files: dict[str, str], expected: str, tmp_path: Path) -> None:
    found = answer(tmp_path, "run.cpp", {"run.cpp": RUN, **files}, docs=True)
    assert (found.context, found.confidence) == (("unknown" if expected == "low" else "kernel"), expected)
    assert (found.fix == "safe") == (expected == "high")


KERNEL_TEXT, REGISTER_TEXT = "'''\n" + BLEND + "'''", "'''\n" + KERNEL.text + "'''"
TOGETHER = [
    pytest.param("load_inline('m', cpp_sources=[A, B])\n", "kernel high", id="one list of sources"),
    pytest.param("load_inline('m', cpp_sources=A, cuda_sources=B)\n", "kernel high", id="sources of two kinds"),
    pytest.param("load_inline('m', [A, B])\n", "kernel high", id="by place"),
    pytest.param("SOURCES = [A, B]\nload_inline(name='m', cpp_sources=SOURCES)\n", "kernel high", id="by a variable"),
    pytest.param("TEXT = A + B\n", "kernel high", id="joined by +"),
    pytest.param("TEXT = '\\n'.join([A, B])\n", "kernel high", id="joined by join"),
    pytest.param("TEXT = f'{A}\\n{B}'\n", "kernel high", id="in an f-string"),
    pytest.param("file.write(A)\nfile.write(B)\n", "kernel high", id="written to one file"),
    pytest.param("", "unknown low", id="only in one module"),
    pytest.param("CASES = [A, B]\n", "unknown low", id="only in one list"),
    pytest.param("load_inline('a', A)\nload_inline('b', B)\n", "unknown low", id="built one by one"),
    pytest.param("one.write(A)\ntwo.write(B)\n", "unknown low", id="written to two files"),
    pytest.param("check(A, B)\n", "unknown low", id="arguments of something else"),
]


@pytest.mark.parametrize(("built", "expected"), TOGETHER)
def test_strings_that_are_built_together(built: str, expected: str, tmp_path: Path) -> None:
    found = answer(tmp_path, "make.py", {"make.py": f"A = {KERNEL_TEXT}\nB = {REGISTER_TEXT}\n{built}"})
    assert f"{found.context} {found.confidence}" == expected


def test_the_strings_of_two_tests_are_two_programs(tmp_path: Path) -> None:
    text = "def test_a():\n    code = {}\n    load_inline('a', code)\ndef test_b():\n    code = {}\n    load_inline('b', code)\n"
    found = answer(tmp_path, "test_it.py", {"test_it.py": text.format(KERNEL_TEXT, REGISTER_TEXT)})
    assert f"{found.context} {found.confidence}" == "unknown low"


def test_evidence_in_a_string_has_its_line_in_the_file(tmp_path: Path) -> None:
    text = "\n\nTEXT = '''\n#include \"run.cpp\"\n" + MARK + KERNEL.text + "'''\n"
    (tmp_path / "guardfix.toml").touch()
    (tmp_path / "run.cpp").write_text(RUN)
    (tmp_path / "make.py").write_text(text)
    decisions = [
        one.decision for one in check([str(tmp_path)], Options(workers=1)).findings if one.decision is not None
    ]
    places = {(one.path, one.row) for decision in decisions for one in decision.evidence}
    assert (str(tmp_path / "make.py"), 6) in places
    assert all(Path(path).is_file() for path, _ in places)
