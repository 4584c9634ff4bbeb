"""`guardfix run`, all of one command (hence over 500 lines): options, statuses, errors in words, the cache, the trace."""

from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path

import pytest

from guardfix.runtime_shim.cpp import CompileError, CompilerOptions, compile_program
from guardfix.runtime_shim.cpp.compiler_diagnostics import missing_names

from .running import FIXTURES, guardfix_run


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def main_of(body: str, includes: str = "#include <torch/torch.h>\n#include <iostream>\n") -> str:
    return f"{includes}\nint main(int argc, char** argv) {{ (void)argc; (void)argv; {body} }}\n"


# ---- statuses and output


MAINS = {
    "main returns 0": ("return 0;", 0, "", ""),
    "main returns a status": ("return 7;", 7, "", ""),
    "main returns nothing": ("", 0, "", ""),
    "output without a line end is flushed": ('std::cout << "o"; std::cerr << "e";', 0, "o", "e"),
    "C and C++ output keep their order": (
        'std::printf("a\\n"); std::cout << "b\\n"; std::puts("c");',
        0,
        "a\nb\nc\n",
        "",
    ),
    "exit inside main": ('std::cout << "before\\n"; std::exit(3);', 3, "before\n", ""),
    "arguments": ("for (int i = 1; i < argc; ++i) std::cout << argv[i] << '|';", 0, "one|--two|", ""),
    "a tensor": ("std::cout << torch::ones({2}).sum().item<float>();", 0, "2", ""),
    "what PyTorch's headers bring of the standard library": (
        "std::set<int> s{2, 1}; std::deque<int> d(s.begin(), s.end()); std::bitset<8> b; std::cout << d.front();",
        0,
        "1",
        "",
    ),
    "an uncaught C++ exception": ('throw std::runtime_error("mine");', -6, "", "what():  mine"),
    "an uncaught check": ('TORCH_CHECK(false, "no ", 3);', -6, "", "what():  no 3\nException raised from main"),
    "an uncaught error of an op": (
        "torch::ones({2}).view({3});",
        -6,
        "",
        "what():  shape '[3]' is invalid for input of size 2",
    ),
}


@pytest.mark.parametrize(("body", "status", "out", "err"), MAINS.values(), ids=MAINS.keys())
@pytest.mark.few("an uncaught error of an op")
def test_main(tmp_path: Path, body: str, status: int, out: str, err: str) -> None:
    outcome = guardfix_run(write(tmp_path, "program.cpp", main_of(body)), "--", "one", "--two")
    assert (outcome.status, outcome.out) == (status, out), outcome.err
    assert err in outcome.err if err else outcome.err == ""


@pytest.mark.thorough
def test_static_objects_may_hold_tensors(tmp_path: Path) -> None:
    text = "static torch::Tensor early = torch::ones({3});\n" + main_of("std::cout << early.sum().item<int>();")
    source = write(tmp_path, "program.cpp", "#include <torch/torch.h>\n" + text)
    outcome = guardfix_run(source)
    assert (outcome.status, outcome.out, outcome.err) == (0, "3", "")


def test_program_without_torch(tmp_path: Path) -> None:
    source = write(tmp_path, "program.cpp", '#include <cstdio>\nint main() { std::printf("plain"); return 4; }\n')
    outcome = guardfix_run(source)
    assert (outcome.status, outcome.out) == (4, "plain")


# ---- options


@pytest.mark.thorough
def test_include_define_and_link(tmp_path: Path) -> None:
    write(tmp_path, "headers/mine.h", "inline int mine() { return VALUE + OTHER; }\n")
    body = "\n#ifdef FLAG\nstd::cout << mine() << std::pow(2.0, 3.0);\n#endif\n"
    source = write(tmp_path, "program.cpp", main_of(body, "#include <cmath>\n#include <iostream>\n#include <mine.h>\n"))
    outcome = guardfix_run(
        source,
        "--include",
        tmp_path / "headers",
        "--define",
        "VALUE=40",
        "-D",
        "OTHER=2",
        "-D",
        "FLAG",
        "--link",
        "m",
    )
    assert (outcome.status, outcome.out) == (0, "428"), outcome.err


@pytest.mark.thorough
def test_standard(tmp_path: Path) -> None:
    source = write(tmp_path, "program.cpp", main_of("std::cout << __cplusplus;"))
    assert guardfix_run(source).out == "201703"
    assert guardfix_run(source, "--std", "c++20").out.startswith("2020")


def test_python_program_has_the_shim_as_torch(tmp_path: Path) -> None:
    text = (
        "import sys\nimport torch\nimport torch.nn.functional as F\nfrom torch.autograd import Function\n"
        "with torch.inference_mode():\n    t = torch.ones(2)\n"
        "print(torch.__name__, t.is_inference(), F.relu(-t).sum().item(), sys.argv[1:], Function.__name__)\n"
        "sys.exit(5)\n"
    )
    outcome = guardfix_run(write(tmp_path, "program.py", text), "--", "a", "b")
    assert outcome.out == "guardfix.runtime_shim True 0.0 ['a', 'b'] Function\n", outcome.err
    assert outcome.status == 5


def test_python_program_that_raises(tmp_path: Path) -> None:
    source = write(tmp_path, "program.py", "import torch\nprint('before')\ntorch.ones(2).view(3)\n")
    outcome = guardfix_run(source)
    assert (outcome.status, outcome.out) == (1, "before\n")
    assert "line 3, in <module>" in outcome.err
    assert outcome.err.rstrip().endswith("RuntimeError: shape '[3]' is invalid for input of size 2")
    assert "runpy" not in outcome.err


@pytest.mark.parametrize("change", ["os.chdir('/')", "sys.path.clear()", "sys.path.pop(0)"])
def test_python_program_changes_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "program.py", f"import os, sys\nimport torch\n{change}\nprint(torch.ones(1))\n")
    outcome = guardfix_run(Path("program.py"))
    assert (outcome.status, outcome.out, outcome.err) == (0, "tensor([1.])\n", "")


@pytest.mark.parametrize("name", ["linalg.eigvals", "special.zeta"])
def test_python_program_asks_for_a_function_that_is_not_there(tmp_path: Path, name: str) -> None:
    outcome = guardfix_run(write(tmp_path, "program.py", f"import torch\ntorch.{name}()\n"))
    assert outcome.status == 1
    assert f"UnsupportedError: the shim has no torch.{name}; supported: " in outcome.err


def test_python_program_imports_a_module_that_pytorch_lacks_as_well(tmp_path: Path) -> None:
    outcome = guardfix_run(write(tmp_path, "program.py", "import torch.onxx\n"))
    assert outcome.status == 1
    assert outcome.err.splitlines()[-1] == "ModuleNotFoundError: No module named 'torch.onxx'"


# ---- what is missing, in words


def only(folder: Path, *tools: str) -> dict[str, str]:
    """An environment whose PATH has these programs alone."""
    folder.mkdir()
    for tool in tools:
        found = shutil.which(tool)
        assert found is not None
        (folder / tool).symlink_to(found)
    return {"PATH": str(folder), "CXX": ""}


def test_no_compiler(tmp_path: Path) -> None:
    source = write(tmp_path, "program.cpp", main_of(""))
    outcome = guardfix_run(source, environment=only(tmp_path / "bin"))
    assert outcome.status == 2
    assert outcome.err.startswith("guardfix run: no C++ compiler found (looked for g++, clang++, c++); install one")


def test_the_compiler_that_was_asked_for_is_missing(tmp_path: Path) -> None:
    source = write(tmp_path, "program.cpp", main_of(""))
    outcome = guardfix_run(source, "--compiler", "no-such-compiler")
    assert outcome.status == 2
    assert "the C++ compiler 'no-such-compiler' (--compiler) was not found" in outcome.err
    assert "($CXX)" in guardfix_run(source, environment={"CXX": "no-such-compiler"}).err


def test_no_python_headers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from guardfix.runtime_shim.cpp import ToolchainMissing, header_precompilation

    monkeypatch.setattr(header_precompilation.sysconfig, "get_path", lambda name: str(tmp_path))
    with pytest.raises(ToolchainMissing, match=r"no Python\.h in .*apt-get install python3\.\d+-dev"):
        header_precompilation.find_toolchain()


@pytest.mark.parametrize("compiler", ["g++", pytest.param("clang++", marks=pytest.mark.thorough)])
@pytest.mark.parametrize(
    ("text", "missing"),
    [
        pytest.param(main_of("torch::ones({2}).lstsq(torch::ones({2}));"), "at::Tensor::lstsq", id="a method"),
        pytest.param(main_of("torch::igamma(torch::ones({2}), torch::ones({2}));"), "torch::igamma", id="a function"),
        pytest.param(main_of("torch::special::erf(torch::ones({2}));"), "torch::special", id="a namespace"),
        pytest.param(
            "#include <torch/torch.h>\nnamespace F = torch::special;\n" + main_of(""),
            "torch::special",
            id="a renamed namespace",
        ),
        pytest.param(
            "#include <torch/torch.h>\nusing namespace torch::sparse;\n" + main_of(""),
            "torch::sparse",
            id="an opened namespace",
        ),
        pytest.param(
            "#include <torch/torch.h>\nTORCH_NO_SUCH_BLOCK(a, b) { b.def(1); }\n" + main_of(""),
            "the macro TORCH_NO_SUCH_BLOCK",
            id="a macro that defines something",
        ),
        pytest.param(main_of("C10_NO_SUCH_CHECK(1 == argc);"), "the macro C10_NO_SUCH_CHECK", id="a macro"),
        pytest.param(main_of("auto k = c10::DispatchKey::FooBar;"), "c10::DispatchKey::FooBar", id="a dispatch key"),
        pytest.param(
            main_of("torch::ones({2}, torch::kFloat8_e5m2);"), "torch::kFloat8_e5m2", id="a dtype under its short name"
        ),
        pytest.param(main_of("auto d = at::ScalarType::Bits8;"), "c10::ScalarType::Bits8", id="a dtype"),
        pytest.param(main_of("at::ThreadLocalStateGuard guard;"), "at::ThreadLocalStateGuard", id="a class"),
        pytest.param("#include <torch/special.h>\n" + main_of(""), "<torch/special.h>", id="a header"),
        pytest.param(
            "#include <ATen/cuda/CUDAContext.h>\n" + main_of(""),
            "<ATen/cuda/CUDAContext.h>",
            id="a deep header",
        ),
    ],
)
@pytest.mark.few("a class-g++")
def test_a_name_that_the_headers_lack_is_the_first_line(tmp_path: Path, compiler: str, text: str, missing: str) -> None:
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler}")
    source = write(tmp_path, "program.cpp", text)
    outcome = guardfix_run(source, "--compiler", compiler)
    first, rest = outcome.err.split("\n", 1)
    assert outcome.status == 2
    assert first == f"guardfix run: the shim's C++ headers lack {missing}, which {source} uses"
    assert "error" in rest


@pytest.mark.parametrize(
    ("compiler", "missing"),
    [("g++", "at::Tensor::sum for (const c10::ScalarType&, int, int, int)"), ("clang++", "sum for these arguments")],
)
def test_an_overload_that_the_headers_lack_is_the_first_line(tmp_path: Path, compiler: str, missing: str) -> None:
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler}")
    source = write(tmp_path, "program.cpp", main_of("torch::ones({2}).sum(torch::kFloat, 1, 2, 3);"))
    outcome = guardfix_run(source, "--compiler", compiler)
    assert outcome.err.startswith(f"guardfix run: the shim's C++ headers lack {missing}")
    assert outcome.err.splitlines()[0].endswith(f", which {source} uses")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param(
            "#include <torch/torch.h>\nnamespace at { Tensor special(const Tensor&, int64_t); }\n"
            + main_of("at::special(torch::ones({2}), 1);"),
            "the shim's C++ headers lack at::special(at::Tensor const&, long), which {source} declares itself",
            id="a function of torch that the program declares",
        ),
        pytest.param(
            "namespace mine { template <class T> T help(T); }\n" + main_of("return mine::help(argc);", ""),
            "{source} uses int mine::help<int>(int), which nothing defines: name the library or object file",
            id="a function of its own",
        ),
        pytest.param(
            'extern "C" int helper(int);\n' + main_of("return helper(argc);", ""),
            "{source} uses helper, which nothing defines: name the library or object file",
            id="a function of C",
        ),
    ],
)
@pytest.mark.few("a function of its own")
def test_a_name_that_nothing_defines_is_the_first_line(tmp_path: Path, text: str, words: str) -> None:
    source = write(tmp_path, "program.cpp", text)
    outcome = guardfix_run(source)
    assert outcome.status == 2
    assert outcome.err.startswith("guardfix run: " + words.format(source=source))


@pytest.mark.thorough
def test_a_checkout_of_pytorch_may_be_an_include_folder(tmp_path: Path) -> None:
    """Our headers come first; one that only the checkout has is missing, whatever its contents make of it."""
    write(tmp_path, "checkout/c10/macros/Macros.h", "#error not ours\n")
    write(tmp_path, "checkout/torch/torch.h", "#error not ours\n")
    write(tmp_path, "checkout/torch/csrc/deep.h", "#include <torch/csrc/deeper.h>\n")
    write(tmp_path, "checkout/torch/csrc/deeper.h", "struct Deeper : at::NoSuchBase {};\n")
    write(tmp_path, "checkout/test/support.h", "#include <torch/torch.h>\n")
    checkout = ("--include", tmp_path / "checkout")
    outcome = guardfix_run(write(tmp_path, "a.cpp", main_of("return 3;", "#include <test/support.h>\n")), *checkout)
    assert outcome.status == 3, outcome.err
    for compiler in ("g++", "clang++"):
        if shutil.which(compiler):
            source = write(tmp_path, "b.cpp", "#include <torch/torch.h>\n#include <torch/csrc/deep.h>\n" + main_of(""))
            outcome = guardfix_run(source, *checkout, "--compiler", compiler)
            assert outcome.err.startswith(
                f"guardfix run: the shim's C++ headers lack <torch/csrc/deep.h>, which {source} uses\n"
            )


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
@pytest.mark.thorough
def test_warnings_are_about_the_programs_own_files_alone(tmp_path: Path, compiler: str) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    write(tmp_path, "own/mine.h", "inline int doubled(int x) { int narrowed = 2.5; return x * narrowed; }\n")
    body = "int x = 1;\n{ int x = 2; return doubled(x); }\nno_such_name();"
    source = write(tmp_path, "a.cpp", main_of(body, "#include <torch/torch.h>\n#include <mine.h>\n"))
    options = ["--compiler", compiler, "--include", tmp_path / "own"]
    options += [f"--flag=-W{name}" for name in ("all", "extra", "pedantic", "shadow", "conversion")]
    outcome = guardfix_run(source, *options)
    assert outcome.status == 2
    files = {Path(line.partition(":")[0]).name for line in outcome.err.splitlines() if "warning:" in line}
    assert files == {"a.cpp", "mine.h"}, outcome.err


@pytest.mark.thorough
def test_a_fault_of_the_program_is_not_blamed_on_the_headers(tmp_path: Path) -> None:
    outcome = guardfix_run(write(tmp_path, "program.cpp", main_of("int n = undeclared;")))
    assert outcome.status == 2
    assert "the shim's C++ headers lack" not in outcome.err
    assert "'undeclared' was not declared" in outcome.err


@pytest.mark.parametrize(
    ("line", "missing"),
    [
        ("x.cpp:1:1: error: 'foo' was not declared in this scope", None),
        ("x.cpp:1:1: error: 'class std::vector<int>' has no member named 'foo'", None),
        ("x.cpp:1:1: error: 'foo' is not a member of 'std'", None),
        ("x.cpp:1:1: error: 'foo' is not a member of 'c10::impl'", "c10::impl::foo"),
        ("x.cpp:1:1: error: 'Foo' has not been declared in 'torch::autograd'", "torch::autograd::Foo"),
        ("x.cpp:1:1: error: 'struct torch::autograd::AutogradContext' has no member named 'foo'",
         "torch::autograd::AutogradContext::foo"),
        ("x.cpp:1:1: error: no member named 'foo' in 'at::Tensor'", "at::Tensor::foo"),
        ("x.cpp:1:1: error: no type named 'Foo' in namespace 'torch::nn'", "torch::nn::Foo"),
        ("x.cpp:1:1: error: 'TORCH_SOMETHING' was not declared in this scope", "the macro TORCH_SOMETHING"),
    ],
)  # fmt: skip
def test_reading_diagnostics(line: str, missing: str | None) -> None:
    assert missing_names(f"x.cpp: In function 'int main()':\n{line}\n") == ([missing] if missing else [])


@pytest.mark.thorough
def test_all_missing_names_are_said_at_once(tmp_path: Path) -> None:
    text = (
        "#include <torch/torch.h>\n#include <torch/first_header.h>\n#include <ATen/second_header.h>\n"
        "int main() { at::Tensor t; t.one_method(); torch::one_function(t); t.one_method(); }\n"
    )
    outcome = guardfix_run(write(tmp_path, "program.cpp", text))
    assert outcome.status == 2
    assert outcome.err.startswith(
        "guardfix run: the shim's C++ headers lack <torch/first_header.h>, <ATen/second_header.h>, at::Tensor::one_method "
        "and torch::one_function, which "
    )


@pytest.mark.thorough
def test_no_main(tmp_path: Path) -> None:
    outcome = guardfix_run(write(tmp_path, "program.cpp", "#include <torch/torch.h>\n"))
    assert outcome.status == 2
    assert "defines no main(): there is nothing to run" in outcome.err


def test_no_such_file(tmp_path: Path) -> None:
    assert guardfix_run(tmp_path / "none.cpp").status == 2


def test_what_the_shim_lacks_at_run_time_is_an_error_of_its_own(tmp_path: Path) -> None:
    body = (
        "try { torch::ones({2}).to(torch::kCUDA); } catch (const c10::Error& e) "
        '{ std::cout << (std::string(e.what_without_backtrace()).find("cuda") != std::string::npos); }'
    )
    assert guardfix_run(write(tmp_path, "program.cpp", main_of(body))).out == "1"


# ---- the cache


def test_a_program_is_compiled_once_for_its_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GUARDFIX_CACHE_DIR", str(tmp_path / "cache"))
    header = write(tmp_path, "mine.h", "inline int value() { return 1; }\n")
    source = write(tmp_path, "program.cpp", '#include "mine.h"\nint main() { return value(); }\n')
    first = compile_program(source)
    assert not first.cached
    assert compile_program(source) == first
    assert compile_program(source).cached

    header.write_text("inline int value() { return 2; }\n", encoding="utf-8")
    assert not compile_program(source).cached, "a header that it includes has changed"
    assert compile_program(source).cached
    assert not compile_program(source, CompilerOptions(define=("X",))).cached, "another option"
    source.write_text(source.read_text(encoding="utf-8") + "// more\n", encoding="utf-8")
    assert not compile_program(source).cached, "another text"
    os.utime(source)
    assert compile_program(source).cached, "the content counts, not the time"


def test_nothing_is_left_of_a_program_that_does_not_compile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GUARDFIX_CACHE_DIR", str(tmp_path / "cache"))
    source = write(tmp_path, "program.cpp", "int main() { return }\n")
    with pytest.raises(CompileError):
        compile_program(source)
    headers = tmp_path / "cache" / "programs" / "headers"  # which every program needs
    left = [path for path in (tmp_path / "cache").rglob("*") if path.is_file() and not path.is_relative_to(headers)]
    assert left == []
    assert {path.name for path in tmp_path.iterdir()} == {"cache", "program.cpp"}


def precompiled_headers(folder: Path, seconds: float = 0) -> int:
    """How many precompiled headers are there, after that time at most."""
    deadline = time.monotonic() + seconds
    while True:
        found = len([*folder.glob("*/headers/*/*.gch"), *folder.glob("*/headers/*/*.pch")])
        if found or time.monotonic() >= deadline:
            return found
        time.sleep(0.05)


@pytest.mark.thorough
def test_the_second_program_finds_the_large_header_precompiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is made by a process of its own, which outlives the one that compiles the first program."""
    cache = tmp_path / "cache"
    monkeypatch.setenv("GUARDFIX_CACHE_DIR", str(cache))
    programs = [write(tmp_path, f"p{n}.cpp", main_of(f"return torch::full({{}}, {n}).item<int>();")) for n in range(2)]
    assert guardfix_run(programs[0]).status == 0
    assert precompiled_headers(cache, seconds=60) == 1
    assert guardfix_run(programs[1]).status == 1
    assert precompiled_headers(cache) == 1
    assert list((cache / "programs" / "unfinished").iterdir()) == []


@pytest.mark.thorough
def test_a_precompiled_header_hides_no_missing_include(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GUARDFIX_CACHE_DIR", str(tmp_path / "cache"))
    narrow = '#include <c10/core/InferenceMode.h>\nint main() { c10::InferenceMode guard; torch::jit::load("x"); }\n'
    for number in range(2):
        with pytest.raises(CompileError):
            compile_program(write(tmp_path, "program.cpp", narrow + f"// {number}\n"))


# ---- the trace


@pytest.mark.thorough
def test_trace_of_guards_and_ops(tmp_path: Path) -> None:
    body = """
      auto x = torch::ones({2}, torch::requires_grad()).clone();
      {
        c10::InferenceMode guard;
        x.mul_(2);
        auto y = x + x;
      }
      at::AutoDispatchBelowADInplaceOrView guard;
      x.add_(1);
    """
    outcome = guardfix_run(write(tmp_path, "program.cpp", main_of(body)), "--trace")
    lines = [" ".join(line.split()) for line in outcome.err.splitlines()]
    assert lines[1:] == [
        "clone Autograd ADInplaceOrView CPU -> float32[2] normal requires_grad CloneBackward0 version 0",
        "c10::InferenceMode(true) {",
        "mul_ ADInplaceOrView CPU -> float32[2] normal requires_grad CloneBackward0 version 1",
        "add ADInplaceOrView CPU -> float32[2] inference no version",
        "}",
        "at::AutoDispatchBelowADInplaceOrView {",
        "add_ CPU -> float32[2] normal requires_grad CloneBackward0 version 1",
        "}",
    ]


@pytest.mark.thorough
def test_trace_of_registered_kernels() -> None:
    outcome = guardfix_run(FIXTURES / "inplace_kernel.after.cpp", "--trace")
    lines = [" ".join(line.split()) for line in outcome.err.splitlines()]
    start = lines.index("mine::decay_ [AutogradCPU] {")
    assert lines[start : start + 5] == [
        "mine::decay_ [AutogradCPU] {",
        "at::AutoDispatchBelowAutograd {",
        "mine::decay_ [ADInplaceOrView] {",
        "at::AutoDispatchBelowADInplaceOrView {",
        "mine::decay_ [CPU] {",
    ]


@pytest.mark.thorough
def test_trace_of_another_thread(tmp_path: Path) -> None:
    body = "std::thread([] { c10::InferenceMode guard; torch::ones({1}).exp(); }).join();"
    source = write(tmp_path, "program.cpp", "#include <thread>\n" + main_of(body))
    err = guardfix_run(source, "--trace").err
    assert "c10::InferenceMode(true) {" in err
    assert "exp" in err


def test_trace_of_a_python_program(tmp_path: Path) -> None:
    text = "import torch\nx = torch.ones(2)\nwith torch.no_grad():\n    x.exp_()\n"
    outcome = guardfix_run(write(tmp_path, "program.py", text), "--trace")
    assert "no_grad {" in outcome.err
    assert "exp_" in outcome.err


@pytest.mark.thorough
def test_without_trace_nothing_is_written(tmp_path: Path) -> None:
    outcome = guardfix_run(write(tmp_path, "program.cpp", main_of("torch::ones({2}).exp();")))
    assert (outcome.out, outcome.err) == ("", "")


# ---- clean under the sanitizers


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="preloads the sanitizer's library")
@pytest.mark.parametrize(
    "name", ["roi_align.after", "inplace_kernel.after", "worker_thread.after", "guard_in_backward.after"]
)
def test_sanitizers_find_nothing(name: str) -> None:
    import subprocess

    names = ("libasan.so", "libstdc++.so.6")  # the second so that the first finds __cxa_throw
    commands = [["g++", f"-print-file-name={name}"] for name in names]
    libraries = [subprocess.run(c, capture_output=True, text=True, check=True).stdout.strip() for c in commands]
    outcome = guardfix_run(
        FIXTURES / f"{name}.cpp", "--flag=-fsanitize=address,undefined", "--flag=-fno-sanitize-recover=undefined",
        environment={"LD_PRELOAD": " ".join(libraries), "ASAN_OPTIONS": "detect_leaks=0", "CXX": "g++"},
    )  # fmt: skip
    assert outcome.status == 0, outcome.err
    assert "Sanitizer" not in outcome.err
    assert outcome.out == (FIXTURES / f"{name}.out").read_text(encoding="utf-8")
