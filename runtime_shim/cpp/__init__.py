"""Compiling C++ programs against the headers of `../include` and running them on the shim."""

from __future__ import annotations

from .compile_cache import cache_folder
from .cpp_compilation import Compiled, CompilerOptions, compile_program
from .cpp_program import run_cpp, run_python
from .program_errors import CompileError, LoadError, ProgramError, ToolchainMissing

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
