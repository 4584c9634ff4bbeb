"""Compiling C++ programs against the headers of `../include` and running them on the shim."""

from __future__ import annotations

from .compile import Compiled, Options, cache_folder, compile_program
from .errors import CompileError, LoadError, ProgramError, ToolchainMissing
from .program import run_cpp, run_python

__all__ = [
    "CompileError",
    "Compiled",
    "LoadError",
    "Options",
    "ProgramError",
    "ToolchainMissing",
    "cache_folder",
    "compile_program",
    "run_cpp",
    "run_python",
]
