"""Compiling C++ programs against the headers of `../include` and running them on the shim."""

from __future__ import annotations

from .compiler_diagnostics import CompileError, LoadError, ProgramError, ToolchainMissing
from .cpp_compilation import Compiled, CompilerOptions, compile_program
from .cpp_program import run_cpp, run_python
from .own_headers import cache_folder

__all__ = [
    "CompileError",
    "Compiled",
    "CompilerOptions",
    "LoadError",
    "ProgramError",
    "ToolchainMissing",
    "cache_folder",
    "compile_program",
    "run_cpp",
    "run_python",
]
