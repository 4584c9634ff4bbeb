"""The headers themselves: each stands alone, and none warns, with either compiler and standard."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pybind11
import pytest

from guardfix.runtime_shim.cpp import cpp_compilation, header_precompilation
from guardfix.runtime_shim.cpp.cpp_compilation import precompiled
from guardfix.runtime_shim.cpp.own_headers import (
    INCLUDE,
    forwarding_headers,
    own_include_folders,
    write_forwarding_headers,
)

from .running import guardfix_run

STREAMS = """\
#include <c10/core/Stream.h>
#include <torch/headeronly/core/DeviceType.h>
#include <torch/headeronly/core/Layout.h>
#include <torch/headeronly/core/MemoryFormat.h>
#include <torch/headeronly/core/ScalarType.h>
#include <torch/headeronly/util/BFloat16.h>
#include <torch/headeronly/util/Exception.h>
#include <torch/headeronly/util/Half.h>
#include <torch/headeronly/util/bit_cast.h>
#include <torch/headeronly/util/complex.h>
#include <torch/torch.h>
#include <iostream>
#include <unordered_set>

namespace tho = torch::headeronly;

int main() {
  const c10::Stream stream(c10::Stream::DEFAULT, c10::Device(c10::kCPU));
  const c10::Stream third(c10::Stream::UNSAFE, c10::Device(c10::kCPU), 3);
  stream.synchronize();
  std::cout << stream << std::endl;
  const auto packed = third.pack3();
  std::cout << stream.query() << " " << packed.stream_id << " "
            << (c10::Stream::unpack3(packed.stream_id, packed.device_index, packed.device_type) == third) << " "
            << (stream == third) << " " << std::unordered_set<c10::Stream>{stream, stream}.size() << std::endl;
  std::cout << static_cast<float>(tho::Half(1.5f)) << " " << tho::CppTypeToScalarType<float>::value << " "
            << tho::complex<float>(2, 0) << " " << tho::toString(tho::ScalarType::Half) << std::endl;
  const int n = 3;
  try {
    STD_TORCH_CHECK(n < 2, n, " is too many");
  } catch (const std::runtime_error& error) {
    const std::string text = error.what();
    std::cout << text.substr(0, text.find(",")) << text.substr(text.rfind(", ")) << std::endl;
  }
  STD_TORCH_CHECK(n < 4);
  try {
    c10::Stream(c10::Stream::DEFAULT, c10::Device(c10::kCUDA, 0)).query();
  } catch (const c10::Error& error) {
    std::cout << error.what_without_backtrace() << std::endl;
  }
}
"""

HEADERS = sorted(str(path.relative_to(INCLUDE)) for path in INCLUDE.rglob("*.h") if not path.stem.endswith("_inl"))
FORWARDING = forwarding_headers()
# Parts of at::Tensor, in files of their own for the reader; at::Tensor's header includes them where it is complete.
PARTS = {
    "ATen/core/TensorIndex.h",
    "guardfix/call.h",
    "guardfix/python_warnings.h",
    "guardfix/module_block.h",  # in place of pybind11, which other headers bring
    "torch/csrc/autograd/node.h",
    "torch/csrc/autograd/view_meta.h",
}

FOR_TESTS = {"ATen/core/boxing/impl/test_helpers.h"}  # PyTorch's own C++ tests; it includes GoogleTest


def has_googletest() -> bool:
    text = "#if !__has_include(<gtest/gtest.h>)\n#error\n#endif\n"
    command = [*COMPILERS[:1], "-E", "-x", "c++", "-"]
    return bool(COMPILERS) and not subprocess.run(command, input=text, capture_output=True, text=True).returncode


def code_of(header: str) -> list[str]:
    """The lines of a header that say something."""
    lines = (INCLUDE / header).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith(("//", "#pragma once"))]


def included_by(line: str) -> str | None:
    """The header with code that a line brings first."""
    name = line[len("#include <") : -1] if line.startswith("#include <") else None
    while name in FORWARDING:
        name = FORWARDING[name][0]
    return name


# What a header includes before anything else: compiling the header shows that this one stands alone.
SHOWN_BY_OTHERS = {included_by(code_of(header)[0]) for header in HEADERS if header not in PARTS}
COMPILERS = [name for name in ("g++", "clang++") if shutil.which(name)]
FIRST, *OTHERS = COMPILERS or ["g++"]
NOT_HERE = set() if has_googletest() else FOR_TESTS
COMPILED_ALONE = [header for header in HEADERS if header not in PARTS | SHOWN_BY_OTHERS | NOT_HERE]
ALL_HEADERS = "".join(
    f"#include <{header}>\n" for header in sorted([*HEADERS, *FORWARDING]) if header not in PARTS | NOT_HERE
)


def include_ours() -> list[str]:
    write_forwarding_headers()
    return [f"-I{folder}" for folder in own_include_folders()]


def syntax_check(text: str, compiler: str, standard: str) -> str:
    """What the compiler has to say of `text`, our headers counting as the program's own."""
    command = [
        compiler, f"-std={standard}", "-Wall", "-Wextra", "-fsyntax-only", "-x", "c++", "-DTORCH_API_INCLUDE_EXTENSION_H",
        *include_ours(), "-isystem", sysconfig.get_path("include"), "-isystem", pybind11.get_include(), "-",
    ]  # fmt: skip
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False).stderr


@pytest.mark.parametrize(
    ("compiler", "standard"),
    [
        (FIRST, "c++17"),
        pytest.param(FIRST, "c++20", marks=pytest.mark.thorough),
        *(
            pytest.param(other, standard, marks=pytest.mark.thorough)
            for other in OTHERS
            for standard in ("c++17", "c++20")
        ),
    ],
)
@pytest.mark.thorough
def test_all_headers_together_are_free_of_warnings(compiler: str, standard: str) -> None:
    assert syntax_check(ALL_HEADERS, compiler, standard) == ""


@pytest.mark.thorough
@pytest.mark.parametrize("header", COMPILED_ALONE)
def test_header_stands_alone(header: str) -> None:
    """And so does the one that it begins with, and the one that that one begins with."""
    assert syntax_check(f"#include <{header}>\n#include <{header}>\n", COMPILERS[0], "c++17") == ""


def test_every_header_may_be_included_twice() -> None:
    def guarded(header: str) -> bool:
        return "\n#pragma once\n" in "\n" + (INCLUDE / header).read_text(encoding="utf-8")

    assert [header for header in HEADERS if not guarded(header)] == []


def test_a_header_is_a_file_with_code_or_a_row_of_the_table() -> None:
    assert [header for header in HEADERS if all(line.startswith("#include") for line in code_of(header))] == []
    assert list(FORWARDING) == sorted(FORWARDING)
    ours = {*HEADERS, *FORWARDING}
    assert len(ours) == len(HEADERS) + len(FORWARDING)
    of_the_system = {name for included in FORWARDING.values() for name in included} - ours
    assert [name for name in of_the_system if "/" in name and not name.startswith("pybind11/")] == []


def test_forwarding_headers_are_written_by_one_of_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GUARDFIX_CACHE_DIR", str(tmp_path))
    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(write_forwarding_headers) for _ in range(8)]:
            done.result()
    _, folder = own_include_folders()
    assert folder.is_relative_to(tmp_path)
    assert {str(path.relative_to(folder)) for path in folder.rglob("*.h")} == set(FORWARDING)
    assert (
        folder / "ATen/Utils.h"
    ).read_text() == "#pragma once\n#include <ATen/Functions.h>\n#include <ATen/ATen.h>\n"
    assert [path.name for path in (tmp_path / "programs").iterdir() if path.name != "unfinished"] == ["headers"]
    assert list((tmp_path / "programs" / "unfinished").iterdir()) == []


def test_a_relative_cache_gives_absolute_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GUARDFIX_CACHE_DIR", "cache")
    assert all(folder.is_absolute() for folder in own_include_folders())


def test_a_header_of_one_op_brings_it() -> None:
    ops = sorted(Path(header).stem for header in FORWARDING if header.startswith("ATen/ops/"))
    text = "".join(f"#include <ATen/ops/{op}.h>\nnamespace of_{op} {{ using at::{op}; }}\n" for op in ops)
    assert len(ops) > 100
    assert syntax_check(text, FIRST, "c++17") == ""


def test_streams_and_names_without_c10(tmp_path: Path) -> None:
    source = tmp_path / "program.cpp"
    source.write_text(STREAMS, encoding="utf-8")
    outcome = guardfix_run(source)
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out.splitlines() == [
        "stream 0 on device cpu",
        "1 3 1 0 1",
        "1.5 Float (2,0) Half",
        "main, 3 is too many",
        "the shim has streams of the CPU alone, and none of cuda:0",
    ]


@pytest.mark.thorough
@pytest.mark.parametrize(("compiler", "standard"), [(FIRST, "c++17"), *((other, "c++20") for other in OTHERS)])
def test_programs_are_free_of_warnings(tmp_path: Path, compiler: str, standard: str) -> None:
    """Templates are only looked at where they are used. The headers are read once, and the programs on top of them."""
    found = header_precompilation.find_toolchain(compiler)
    command = [
        str(found.compiler), f"-std={standard}", "-Wall", "-Wextra", "-DTORCH_API_INCLUDE_EXTENSION_H",
        *include_ours(), "-isystem", sysconfig.get_path("include"), "-isystem", pybind11.get_include(),
    ]  # fmt: skip
    if compiler == "g++":  # forgets, in precompiled headers, where one of them has switched this off
        command.append("-Wno-init-list-lifetime")
    headers = precompiled(tmp_path, ALL_HEADERS, command, found, programs=0)
    assert headers
    for source in sorted((Path(__file__).parent / "programs").glob("*.cpp"))[::2]:  # each takes seconds
        checked = [*command, *headers, "-fsyntax-only", str(source)]
        assert subprocess.run(checked, capture_output=True, text=True, check=False).stderr == "", source.name


def test_headers_are_in_the_wheel() -> None:
    """Package data is listed by patterns: each header and table must fall under one."""
    try:
        import tomllib
    except ModuleNotFoundError:  # Python 3.10; pytest brings it
        import tomli as tomllib

    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = project["tool"]["setuptools"]["package-data"]["guardfix.runtime_shim"]
    root = INCLUDE.parents[1]
    listed = {path for pattern in patterns for path in root.glob(pattern)}
    needed = {INCLUDE.with_name("forwarding_headers.txt"), *(path for path in INCLUDE.rglob("*") if path.is_file())}
    assert needed <= listed


@pytest.mark.parametrize(
    ("text", "left_out"),
    [
        ("#include <torch/torch.h>\n#include <iostream>\nint main() { torch::ones({2}); }\n", ["MODULES", "NATIVE"]),
        ("#include <torch/torch.h>\nint main() { torch::jit::load(name); }\n", ["NATIVE"]),
        ("#include <torch/torch.h>\nauto m = value.toModule();\n", ["NATIVE"]),
        ("#include <ATen/ATen.h>\nauto y = at::native::relu(x);\n", ["MODULES"]),
        ("#include <ATen/ATen.h>\nat::TensorIteratorConfig config;\n", ["MODULES"]),
        ('#include <torch/torch.h>\n#include "net.h"\nint main() {}\n', []),
        ("#include <torch/torch.h>\n#include <boost/any.hpp>\nint main() {}\n", []),
    ],
)
def test_what_a_program_goes_without_until_headers_are_precompiled(text: str, left_out: list[str]) -> None:
    """What it may use, or a file that it includes, is there."""
    found = cpp_compilation._left_out(text, cpp_compilation.CompilerOptions())
    assert found == tuple(f"-DGUARDFIX_WITHOUT_{name}" for name in left_out)
