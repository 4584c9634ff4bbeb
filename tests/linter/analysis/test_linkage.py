"""What a file says about a name counts for another file only where the code shows that they are one program."""

from __future__ import annotations

from pathlib import Path

import pytest

from decided_trees import BLEND, DECLARED, MARK, SAID, Said, answer
from guardfix.linter.engine import Options, check
from guardfix.linter.project_reading import MOST_NAMING


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


@pytest.mark.parametrize(("many", "expected"), [(MOST_NAMING - 3, "kernel high"), (MOST_NAMING, "unknown low")])
def test_a_name_that_many_files_have_shows_nothing(many: int, expected: str, tmp_path: Path) -> None:
    """They aren't all read, so any of them may define it."""
    others = {f"more/{number}.cpp": "int blend = 1;\n" for number in range(many)}
    registers = {"other.cpp": OTHER + FORWARD + KERNEL.text}
    found = answer(tmp_path, "run.cpp", {"run.cpp": RUN, **registers, **others})
    assert f"{found.context} {found.confidence}" == expected


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
