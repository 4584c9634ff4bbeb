"""What can go wrong between a C++ file and its running."""

from __future__ import annotations


class ProgramError(Exception):
    """A program could not be brought to run. The message says where, what, and what to do."""


class ToolchainMissing(ProgramError):
    """No compiler, or no Python headers; says what to install."""


class CompileError(ProgramError):
    """The compiler refused the program.

    `missing` is the name that our headers lack, when that is why: `at::Tensor::foo`, `torch/nn.h`; else None.
    `diagnostics` is what the compiler printed.
    """

    def __init__(self, source: str, diagnostics: str, missing: str | None) -> None:
        self.diagnostics = diagnostics
        self.missing = missing
        lead = f"the shim's C++ headers lack {missing}, which {source} uses\n" if missing else ""
        super().__init__(f"{lead}{diagnostics.rstrip()}")


class LoadError(ProgramError):
    """The compiled program could not be loaded, or has no `main`.

    `missing` is the torch name that it declares itself and nothing defines, when that is why; else None.
    """

    def __init__(self, message: str, missing: str | None = None) -> None:
        self.missing = missing
        super().__init__(message)


class PyTorchMissing(ProgramError):
    """PyTorch is not installed, or it is not the one that is needed."""
