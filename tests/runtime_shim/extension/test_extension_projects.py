"""A project with a setup.py: built in place, installed, and tested before and after a change of its C++."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from guardfix.runtime_shim.extension.cmake_package import write_torch_distribution
from guardfix.verify.programs.program_migration import Migration
from guardfix.verify.projects.project_tests import TestSettings, verify_project_tests

pytest.importorskip("setuptools")

SETUP = """\
import torch
from setuptools import setup
from torch.__config__ import parallel_info
from torch.utils.cpp_extension import BuildExtension, CppExtension, CUDAExtension

assert torch.version.cuda is None and not torch.cuda.is_available() and "backend" in parallel_info()
setup(
    name="doubling",
    version="1",
    install_requires=["torch>=2.0"],
    packages=["doubling"],
    ext_modules=[
        CUDAExtension(
            "doubling._C",
            ["module.cpp", "kernel.cc", "kernel.cu"],
            libraries=["torch", "c10"],
            define_macros=[("Py_LIMITED_API", "0x03090000")],
            extra_compile_args={"cxx": ["-O0", "-DPy_LIMITED_API=0x03090000"], "nvcc": ["-O3"]},
            py_limited_api=True,
        )
    ],
    cmdclass={"build_ext": BuildExtension.with_options(no_python_abi_suffix=True, use_ninja=False)},
)
"""
MODULE = """\
#include <Python.h>
#include <torch/library.h>
at::Tensor doubled(const at::Tensor& x);
TORCH_LIBRARY(doubling, m) { m.def("doubled", &doubled); }
extern "C" PyObject* PyInit__C() {
  static PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_C", nullptr, -1, nullptr};
  return PyModule_Create(&definition);
}
"""
KERNEL = """\
#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
at::Tensor doubled(const at::Tensor& x) {
  %s guard;
  return x * 2;
}
"""
TESTS = """\
import torch
import doubling._C

def test_values():
    assert torch.ops.doubling.doubled(torch.ones(2)).tolist() == [2, 2]

def test_changed_later():
    torch.ops.doubling.doubled(torch.ones(2)).add_(1)
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    for name, text in (
        ("setup.py", SETUP),
        ("module.cpp", MODULE),
        ("kernel.cc", KERNEL % "at::AutoDispatchBelowADInplaceOrView"),
        ("kernel.cu", "__global__ void kernel() {}\n"),
        ("doubling/__init__.py", ""),
        ("tests/test_doubling.py", TESTS),
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def run(project: Path, *command: str) -> str:
    """Runs Python in the project, where `torch` is the shim, and returns what it says."""
    torch = write_torch_distribution(project.parent / "torch")
    done = subprocess.run(
        [sys.executable, *command],
        cwd=project,
        env=os.environ | {"PYTHONPATH": str(torch)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.mark.thorough
def test_setup_py_builds_in_place(project: Path) -> None:
    said = run(project, "setup.py", "build_ext", "--inplace")
    assert "doubling._C: kernel.cu is left out: the shim has no GPU" in said
    assert (project / "doubling" / "_C.so").is_file()
    assert (
        run(project, "-c", "import torch, doubling._C; print(torch.ops.doubling.doubled(torch.ones(1)))")
        == "tensor([2.])\n"
    )


@pytest.mark.thorough
def test_tests_of_an_extension_before_and_after(project: Path) -> None:
    migration = Migration({(project / "kernel.cc").resolve(): (KERNEL % "c10::InferenceMode").encode()})
    result = verify_project_tests(project, migration, TestSettings("python -m pytest -q -p no:cacheprovider tests"))
    verdicts = {
        test.name.rpartition("::")[2]: (test.judgement.verdict.value, test.judgement.reason) for test in result.tests
    }
    assert verdicts["test_values"][0] == "same"
    assert verdicts["test_changed_later"][0] == "stricter"
    assert "an inference tensor is changed in place outside the scope" in verdicts["test_changed_later"][1]


@pytest.mark.thorough
def test_tests_of_an_installed_extension(project: Path) -> None:
    """Installing writes nothing into the interpreter, which is not the project's to change."""
    (project / "doubling").rename(project / "python")
    setup = SETUP.replace('packages=["doubling"]', 'packages=["doubling"], package_dir={"doubling": "python"}')
    (project / "setup.py").write_text(setup)
    settings = TestSettings("python -m pytest -q -p no:cacheprovider tests", "pip install -e . --no-build-isolation")
    result = verify_project_tests(project, Migration({}), settings)
    assert [test.before.outcome for test in result.tests if test.before is not None] == ["passed", "passed"]
    assert subprocess.run([sys.executable, "-c", "import doubling"], capture_output=True, cwd="/").returncode == 1


SEVERAL = """\
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension, CUDAExtension

setup(
    name="doubling",
    version="1",
    packages=["doubling"],
    ext_modules=[
        CppExtension("doubling._missing", ["missing.cpp"]),
        CUDAExtension("doubling._gpu", ["kernel.cu"]),
        CppExtension("doubling._C", ["module.cpp", "kernel.cc"]),
    ],
    cmdclass={"build_ext": BuildExtension},
)
"""
MISSING = MODULE.replace("_C", "_missing").replace("doubling, m", "lacking, m") + (
    "at::Tensor doubled(const at::Tensor& x) { return at::no_op_of_this_name(x); }\n"
)


@pytest.mark.thorough
def test_what_can_not_be_built_stops_its_own_tests(project: Path) -> None:
    (project / "setup.py").write_text(SEVERAL)
    (project / "missing.cpp").write_text(MISSING)
    (project / "tests" / "test_missing.py").write_text("import doubling._missing\n\ndef test_it():\n    pass\n")
    migration = Migration({(project / "kernel.cc").resolve(): (KERNEL % "c10::InferenceMode").encode()})
    result = verify_project_tests(project, migration, TestSettings("python -m pytest -q -p no:cacheprovider tests"))
    verdicts = {test.name.rpartition("/")[2]: test.judgement for test in result.tests}
    assert {name: judgement.verdict.value for name, judgement in verdicts.items()} == {
        "test_missing.py": "unsupported" if "lack" in verdicts["test_missing.py"].reason else "not run",
        "test_doubling.py::test_values": "same",
        "test_doubling.py::test_changed_later": "stricter",
    }
    assert "no_op_of_this_name" in verdicts["test_missing.py"].reason


def test_the_distribution_is_the_shim(tmp_path: Path) -> None:
    said = run(
        tmp_path,
        "-c",
        "import importlib.metadata, torch, torch.nn.functional as f\n"
        "print(importlib.metadata.version('torch'), torch.__version__, torch.__name__, f.__name__, f.__spec__.name)",
    )
    functional = "guardfix.runtime_shim.nn.functional"
    assert said == f"2.13.0 2.13.0+guardfix.shim guardfix.runtime_shim {functional} {functional}\n"


CMAKE = """\
cmake_minimum_required(VERSION 3.18)
project(doubling CXX)
set(CMAKE_CXX_STANDARD 17)
execute_process(COMMAND "${PYTHON}" -c "import torch; print(torch.utils.cmake_prefix_path, end='')"
                OUTPUT_VARIABLE PREFIX)
list(APPEND CMAKE_PREFIX_PATH "${PREFIX}")
find_package(Torch 2.1 REQUIRED)
find_library(TORCH_PYTHON_LIBRARY torch_python PATHS "${TORCH_INSTALL_PREFIX}/lib" REQUIRED)
add_library(_C MODULE module.cpp kernel.cc)
target_compile_definitions(_C PRIVATE Py_LIMITED_API=0x03090000)
set_target_properties(_C PROPERTIES PREFIX "")
target_link_libraries(_C PRIVATE ${TORCH_LIBRARIES} ${TORCH_PYTHON_LIBRARY})
install(TARGETS _C DESTINATION doubling)
"""
CMAKE_SETUP = """\
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext


class CMakeBuild(build_ext):
    def get_ext_filename(self, fullname):
        return fullname.replace(".", "/") + ".so"

    def build_extension(self, extension):
        folder = Path(self.get_ext_fullpath(extension.name)).resolve().parent.parent
        subprocess.check_call(["cmake", "-S", ".", "-B", "build", f"-DPYTHON={sys.executable}"])
        subprocess.check_call(["cmake", "--build", "build"])
        subprocess.check_call(["cmake", "--install", "build", "--prefix", str(folder)])


setup(
    name="doubling",
    version="1",
    packages=["doubling"],
    ext_modules=[Extension("doubling._C", [])],
    cmdclass={"build_ext": CMakeBuild},
)
"""


@pytest.mark.skipif(shutil.which("cmake") is None, reason="no cmake")
@pytest.mark.thorough
def test_a_project_that_is_built_by_cmake(project: Path) -> None:
    (project / "CMakeLists.txt").write_text(CMAKE)
    (project / "setup.py").write_text(CMAKE_SETUP)
    migration = Migration({(project / "kernel.cc").resolve(): (KERNEL % "c10::InferenceMode").encode()})
    result = verify_project_tests(project, migration, TestSettings("python -m pytest -q -p no:cacheprovider tests"))
    verdicts = {test.name.rpartition("::")[2]: test.judgement.verdict.value for test in result.tests}
    assert verdicts == {"test_values": "same", "test_changed_later": "stricter"}
    assert not (project / "build").exists()
