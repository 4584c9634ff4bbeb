"""From a C++ file to a shared object, compiled once for each content.

A compiled program is kept under a key of everything that goes into it: the text of the file and of each file that
it includes, the options, our headers, the compiler and the Python version. While the first program is compiled that
includes one of the large headers (torch/torch.h, …) with the same options, that header is precompiled for the next.
"""

from __future__ import annotations

import fcntl
import json
import os
import platform
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from .compiler_diagnostics import CompileError, LoadError, missing_names
from .compiler_processes import run_in_group, workplace
from .header_precompilation import (
    HeaderForm,
    Precompilation,
    Toolchain,
    find_toolchain,
    is_clang,
    start_precompiling,
    stopped_with_us,
)
from .own_headers import (
    cache_folder,
    digest,
    entry_is_current,
    has_own_header,
    headers_digest,
    is_own_header,
    manifest_files,
    own_include_folders,
    write_forwarding_headers,
)

_UMBRELLAS = ("torch/extension.h", "torch/torch.h", "torch/script.h", "torch/all.h", "ATen/ATen.h")
"""Headers worth precompiling: they bring everything, so a program that includes one sees nothing new by it."""

_FRONTEND = re.compile(
    r"\b(?:nn|optim|enumtype|OrderedDict|ExpandingArray|TORCH_MODULE(?:_IMPL)?|TORCH_ARG|"
    r"k(?:Linear|Conv(?:Transpose)?[123]D|Sigmoid|Tanh|ReLU|GELU|SiLU|Mish|LeakyReLU|FanIn|FanOut|Constant|Reflect|"
    r"Replicate|Circular|Nearest|NearestExact|Bilinear|Bicubic|Trilinear|Area|Zeros|Border|Reflection|Mean|Sum|Max|"
    r"None|BatchMean|RNN_TANH|RNN_RELU|LSTM|GRU|Valid|Same)|serialize|pickle_save|pickle_load)\b|"
    r"(?<!jit::)\b(?:save|load)\s*\("
)
"""The names by which a program uses torch/nn.h, torch/optim.h, torch/serialize.h or what those include."""

_DATA = re.compile(r"\b(?:data\s*::|make_data_loader|DataLoader\w*|\w*Dataset|\w+Sampler|TensorExample)\b")
"""The names by which a program uses torch/data.h."""

_REGISTRATION = re.compile(
    r"\b(?:class_|RegisterOperators|CustomClassHolder|getCustomClass|OperatorHandle|callBoxed|redispatchBoxed|"
    r"FunctionSchema|parseSchema|torch::schema|test_helpers|autogradNotImplementedFallback)\b"
)
"""The names by which a program uses torch/custom_class.h or op_registration.h, or calls ops with a stack."""

_NOT_PRECOMPILED = {
    "MODULES": re.compile(r"\b(?:jit|script|toModule|isModule)\b"),
    "NATIVE": re.compile(r"\b(?:native|TensorIterator\w*)\b"),
}
"""Further parts of the large headers that a program goes without as long as these are not precompiled, unless it uses
them by these names. The precompiled form has them, for it serves many programs."""

_KNOWN_INCLUDES = re.compile(r"<(?:\w+|g(?:test|mock)/[\w.-]+|(?:assert|ctype|errno|float|limits|math|signal|std\w+|"
                             r"string|time|unistd|pthread)\.h)>")  # fmt: skip
"""Headers of the C++ and C libraries and of gtest, which use nothing of torch."""


_LATE_COLLECTION = ("--param", "ggc-min-heapsize=262144")
"""GCC collects its garbage from 256 MB on: below, that takes 5 % of the time of a small program."""

_PRECOMPILED_AFTER = 5
"""Programs, where each has to wait until the header is precompiled."""


@dataclass(frozen=True)
class CompilerOptions:
    """How a program is compiled: what `guardfix run` takes."""

    include: tuple[Path, ...] = ()
    define: tuple[str, ...] = ()
    link: tuple[str, ...] = ()
    standard: str = "c++17"
    flags: tuple[str, ...] = ()
    """More options for the compiler, passed as they are."""
    compiler: str | None = None
    quoted_include: tuple[Path, ...] = ()
    """Folders for `#include "…"` alone."""
    precompile: bool = True
    """Use precompiled headers."""
    start_precompiling: bool = True
    """Begin to precompile a header that is not, for the next program."""
    workplace: Path | None = None
    """Where the compiler works, on the file system of the cache; by default in the cache."""

    def for_compiling(self) -> list[str]:
        """The part that decides what the headers mean: a precompiled header fits no other."""
        return [
            f"-std={self.standard}",
            "-O0",
            "-g1",  # line numbers, which a recording gives its steps
            "-fPIC",
            "-pthread",
            *(f"-D{define}" for define in self.define),
            *self.flags,
        ]

    def for_including(self) -> list[str]:
        """The program's own folders of headers: those of ours don't depend on them."""
        quoted = [word for folder in self.quoted_include for word in ("-iquote", str(folder))]
        return [*(f"-I{folder}" for folder in self.include), *quoted]

    def for_linking(self) -> list[str]:
        libraries = [f"-l{name}" if not _is_file(name) else str(Path(name).resolve()) for name in self.link]
        if "gtest" in self.link and "gtest_main" not in self.link:
            # gtest's own main, for a test file that has none.
            libraries += ["-lgtest_main", "-lgtest"]
        return libraries


def _is_file(name: str) -> bool:
    return "/" in name or name.endswith((".a", ".so"))


@dataclass(frozen=True)
class Compiled:
    """A program ready to be loaded."""

    path: Path
    source: Path
    cached: bool = field(compare=False)
    """True when nothing had to be compiled."""
    files: tuple[Path, ...] = field(default=(), compare=False, repr=False)
    """What went into the program: its sources, and the files that they include, but for headers of the system."""
    left_out: CompileError | None = field(default=None, compare=False, repr=False)
    """Why a source that might have been needed is not part of it: the first that does not compile."""


def compile_program(
    source: Path, options: CompilerOptions | None = None, *, meanwhile: Callable[[], object] = lambda: None
) -> Compiled:
    """Compiles `source`, or finds it compiled already.

    `meanwhile` is called while the compiler works: the caller's own preparations cost nothing then.

    Raises ToolchainMissing, CompileError, or OSError when `source` can't be read or the cache can't be written.
    """
    options = options or CompilerOptions()
    toolchain = find_toolchain(options.compiler)
    text = source.read_bytes()
    common = _common_command(text.decode(errors="replace"), toolchain, options)
    command = [*common, *options.for_including()]
    key = digest(
        str(source.resolve()),
        text,
        *command,
        *options.for_linking(),
        _environment(toolchain),
    )
    entry = cache_folder() / key[:2] / key
    if entry_is_current(entry):
        return _compiled(entry, source, cached=True)

    with stopped_with_us(), workplace(options.workplace or cache_folder() / "unfinished") as temporary:
        header, _ = _header_form(text.decode(errors="replace"), common, toolchain, options)
        header = header or _left_out(text.decode(errors="replace"), options)
        built, dependencies = temporary / "program.so", temporary / "dependencies"
        run_compiler(
            [
                *command,
                *header,
                "-MMD",
                "-MF",
                str(dependencies),
                str(source.resolve()),
                "-shared",
                # The program's own functions are its own, even where the interpreter has one of the same name.
                "-Wl,-Bsymbolic-functions",
                "-Wl,-u,main",
                *options.for_linking(),
                "-o",
                str(built),
            ],
            source,
            temporary,
            meanwhile,
            options.include,
        )
        included = [path for path in read_dependencies(dependencies.read_text()) if not is_own_header(path)]
        manifest = {str(path): digest(path.read_bytes()) for path in included}
        (temporary / "manifest.json").write_text(json.dumps(manifest))
        entry.mkdir(parents=True, exist_ok=True)
        os.replace(built, entry / "program.so")
        os.replace(temporary / "manifest.json", entry / "manifest.json")
    return _compiled(entry, source, cached=False)


def _compiled(entry: Path, source: Path, *, cached: bool) -> Compiled:
    return Compiled(entry / "program.so", source, cached, (source, *map(Path, manifest_files(entry))))


def object_command(text: str, toolchain: Toolchain, options: CompilerOptions) -> tuple[list[str], tuple[str, ...]]:
    """The compiler's command for one file of a program, and the options that use its precompiled header, if any."""
    common = _common_command(text, toolchain, options)
    header, _ = _header_form(text, common, toolchain, replace(options, start_precompiling=False))
    return [*common, *options.for_including()], header


def toolchain_digest(toolchain: Toolchain) -> str:
    """What decides on a compiled file besides its text and options."""
    return _environment(toolchain)


def _common_command(text: str, toolchain: Toolchain, options: CompilerOptions) -> list[str]:
    """The part of the compiler's command that decides what our headers mean."""
    # Warnings are for what the program itself says. But headers of the system come last, and ours have to come before
    # those of a checkout of PyTorch that is one of the program's folders.
    how = "-I" if _may_bring_pytorchs(options) else "-isystem"
    command = [str(toolchain.compiler), *options.for_compiling(), "-DGUARDFIX_PROGRAM"]
    command += [f"{how}{folder}" for folder in own_include_folders()]
    command += ["-isystem", str(toolchain.python_include)]
    if not is_clang(toolchain):
        command += _LATE_COLLECTION
    if _may_use(_REGISTRATION, text, options):
        command.append("-DGUARDFIX_WITH_REGISTRATION")
    uses_data = _may_use(_DATA, text, options)
    if not uses_data:
        command.append("-DGUARDFIX_WITHOUT_DATA")
    if not uses_data and not _may_use(_FRONTEND, text, options):
        command.append("-DGUARDFIX_WITHOUT_FRONTEND")
    return command


def _may_bring_pytorchs(options: CompilerOptions) -> bool:
    """Whether one of the program's folders of headers may have some that ours replace."""
    if any(flag.startswith(("-I", "-iquote", "-isystem")) for flag in options.flags):
        return True
    folders = (*options.include, *options.quoted_include)
    return any((folder / name).is_dir() for folder in folders for name in ("torch", "ATen", "c10", "caffe2"))


def _may_use(names: re.Pattern[str], text: str, options: CompilerOptions) -> bool:
    """Whether the program needs the headers of these names. torch/torch.h brings them, for most of its time.

    True unless it names nothing of theirs, and neither can a file that it includes.
    """
    if options.flags or names.search(" ".join([text, *options.define])):
        return True
    included = re.findall(r"^[ \t]*#[ \t]*(?:include|import)\b[ \t]*(.*?)[ \t]*(?://.*|/\*.*)?$", text, flags=re.M)
    return not all(_KNOWN_INCLUDES.fullmatch(name) or has_own_header(name.strip('<>"')) for name in included)


def _left_out(text: str, options: CompilerOptions) -> tuple[str, ...]:
    """The options that leave out of the large headers what a program doesn't use."""
    return tuple(
        f"-DGUARDFIX_WITHOUT_{name}" for name, names in _NOT_PRECOMPILED.items() if not _may_use(names, text, options)
    )


def _environment(toolchain: Toolchain) -> str:
    return f"{toolchain.identity} {platform.python_version()} {platform.machine()} {headers_digest()}"


def read_dependencies(rule: str) -> Iterable[Path]:
    """The files of the one make rule that -MMD writes; system headers are not among them."""
    _, _, names = rule.replace("\\\n", " ").partition(":")
    return [Path(name.replace("\\ ", " ")) for name in re.findall(r"(?:\\ |\S)+", names)]


def run_compiler(
    command: list[str],
    source: Path,
    folder: Path,
    meanwhile: Callable[[], object],
    include: Iterable[Path] = (),
) -> None:
    """Runs the compiler on `source`, its temporary files in `folder`. Raises CompileError with what it says.

    `include` are the program's own folders of headers, which may contain one of PyTorch's.
    """
    write_forwarding_headers()
    status, diagnostics = run_in_group(command, folder, meanwhile)
    if status == 0:
        return
    if status < 0:
        raise LoadError(f"the compiler was stopped by signal {-status} on {source}")
    raise CompileError(str(source), diagnostics, _all_missing(command, diagnostics, folder, list(include)))


_MOST_HEADERS = 50


def _all_missing(command: list[str], diagnostics: str, folder: Path, include: Sequence[Path]) -> list[str]:
    """All names that our headers lack, when that is why. The compiler stops at the first header that it does not find,
    so it goes on with an empty one in its place."""
    found = dict.fromkeys(missing_names(diagnostics, include))
    empty = folder / "empty"
    last = diagnostics
    for _ in range(_MOST_HEADERS):
        header = re.search(r"fatal error: '?((?:torch|ATen|c10|caffe2)/[\w./+-]+)'?(?::| file not found)", last)
        if header is None or (empty / header[1]).exists():
            break
        (empty / header[1]).parent.mkdir(parents=True, exist_ok=True)
        (empty / header[1]).touch()
        _, last = run_in_group([*command, "-fsyntax-only", f"-I{empty}"], folder)
        found |= dict.fromkeys(missing_names(last, include))
    return list(found)


def included_umbrella(text: str) -> str | None:
    """The first of the large headers that C++ text includes."""
    included = set(re.findall(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', text, flags=re.M))
    return next((name for name in _UMBRELLAS if name in included), None)


def _header_form(
    text: str, command: list[str], toolchain: Toolchain, options: CompilerOptions
) -> tuple[tuple[str, ...], Precompilation | None]:
    """The options that use the precompiled form of the large header that the program includes, if there is one.

    Else that form is begun, unless somebody else is at it.
    """
    header = included_umbrella(text) if options.precompile else None
    if header is None:
        return (), None
    form = HeaderForm.below(cache_folder() / "headers" / digest(header, *command, _environment(toolchain)), toolchain)
    if form.form.is_file():
        return form.use, None
    if not options.start_precompiling:
        return (), None
    write_forwarding_headers()
    return (), start_precompiling(form, f"#include <{header}>\n", command, cache_folder() / "unfinished")


def precompile_for(source: Path, options: CompilerOptions) -> Precompilation | None:
    """Begins to precompile the large header that a program includes; None when there is nothing to do.

    Raises ToolchainMissing, or OSError when `source` can't be read or the cache can't be written.
    """
    toolchain = find_toolchain(options.compiler)
    text = source.read_text(encoding="utf-8", errors="replace")
    return _header_form(text, _common_command(text, toolchain, options), toolchain, options)[1]


def precompiled(
    folder: Path,
    text: str,
    command: list[str],
    toolchain: Toolchain,
    *,
    programs: int = _PRECOMPILED_AFTER,
    work: Path | None = None,
) -> list[str]:
    """The options that use the precompiled form of the header with this text, if there is one in `folder`.

    The first `programs` programs are compiled without (making the form takes as long as some of them do); each
    leaves a mark, and the next one makes it. Whoever comes meanwhile does without.
    """
    header = HeaderForm.below(folder, toolchain)
    stub, form, use = header.stub, header.form, list(header.use)
    if form.is_file():
        return use
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "programs", "ab", buffering=0) as marks:
        try:
            fcntl.flock(marks, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return []  # it is being made
        if marks.tell() < programs:
            marks.write(b".")
            return []
        if form.is_file():
            return use
        with workplace(work or cache_folder() / "unfinished") as temporary:
            write_forwarding_headers()
            stub.write_text(text)
            built = temporary / form.name
            status, _ = run_in_group([*command, "-x", "c++-header", str(stub), "-o", str(built)], temporary)
            if status != 0:
                return []  # compiling the program itself will say why
            os.replace(built, form)
    return use
