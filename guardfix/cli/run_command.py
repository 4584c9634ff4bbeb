"""`guardfix run`: a C++ or Python program on the shim."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import click


@click.command(
    "run",
    context_settings={"ignore_unknown_options": False},
    short_help="Compile and run a C++ or Python program on the runtime shim.",
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("arguments", nargs=-1, metavar="[-- ARG...]")
@click.option(
    "--include",
    "-I",
    multiple=True,
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Also search DIR for headers.",
)
@click.option("--define", "-D", multiple=True, metavar="X[=V]", help="Define the macro X.")
@click.option("--link", "-l", multiple=True, metavar="LIB", help="Link the library LIB (a name or a file).")
@click.option("--std", "standard", default="c++17", show_default=True, help="The C++ standard.")
@click.option("--compiler", metavar="CXX", help="The C++ compiler; by default $CXX, then g++, clang++, c++.")
@click.option("--flag", "flags", multiple=True, metavar="FLAG", help="Pass FLAG to the compiler.")
@click.option(
    "--contain",
    is_flag=True,
    help="Keep the program to itself, as `guardfix verify` does: no network, nothing written but a temporary folder, "
    "no tokens in its environment, as far as the system supports that. It can still read your files.",
)
@click.option("--trace", is_flag=True, help="Print guard scopes and each op's kernels, flags and version to stderr.")
@click.option(
    "--legacy-since19",
    is_flag=True,
    help="Give AutoNonVariableTypeMode its meaning since PyTorch 1.9 (hides Autograd only); by default, it has "
    "the earlier meaning (also hides ADInplaceOrView).",
)
@click.option("--all-frames", is_flag=True, help="Show the shim's own frames in the traceback of a Python program.")
@click.option("--backend", default="guardfix.runtime_shim", show_default=True, hidden=True)
def command(
    file: Path,
    arguments: tuple[str, ...],
    include: tuple[Path, ...],
    define: tuple[str, ...],
    link: tuple[str, ...],
    standard: str,
    compiler: str | None,
    flags: tuple[str, ...],
    contain: bool,
    trace: bool,
    legacy_since19: bool,
    all_frames: bool,
    backend: str,
) -> None:
    """Run FILE on the runtime shim; no PyTorch is needed.

    A C++ file is compiled against the shim's headers (only once: the result is cached until something that went into
    it changes), and its main is called with FILE and the ARGs. A Python file is executed with `torch` bound to the
    shim. The program's output is passed through, and its exit status is returned; 2 if it couldn't be run at all.
    """
    from .program_running import is_python, run_program

    run = partial(
        run_program,
        file,
        arguments,
        trace=trace,
        legacy_since19=legacy_since19,
        all_frames=all_frames,
        backend=backend,
        include=include,
        define=define,
        link=link,
        standard=standard,
        flags=flags,
        compiler=compiler,
    )
    if contain:
        from ..verify.runs.contained_run import run_contained_program

        words = sys.argv[2:] if sys.argv[1:2] == ["run"] else []
        compiling = None if is_python(file) else partial(run, only_compile=True)
        sys.exit(run_contained_program([word for word in words if word != "--contain"], compiling))
    sys.exit(run())
