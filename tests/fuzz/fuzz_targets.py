"""What is fuzzed: texts and archives of every kind that guardfix reads, each with what must hold for it.

A target makes inputs with hypothesis, which also reduces those that fail. What once failed is kept in `corpus/`, in a
folder for each target, and tried again at every change. A fuzzer that follows the coverage changes `seeds` as well.
"""

from __future__ import annotations

import io
import os
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import strategies as st

HERE = Path(__file__).parent
CORPUS = HERE / "corpus"
sys.path[:0] = [str(HERE), str(HERE.parent / "mutants"), str(HERE.parent / "runtime_shim" / "jit")]

import forging  # type: ignore[import-not-found]  # noqa: E402
from input_bounds import bounded  # type: ignore[import-not-found]  # noqa: E402
from invariants import broken  # type: ignore[import-not-found]  # noqa: E402
from mutations import mutant, sources  # type: ignore[import-not-found]  # noqa: E402


class Target(NamedTuple):
    suffix: str
    inputs: st.SearchStrategy[bytes]
    failure: Callable[[bytes], str]
    """What does not hold for an input; empty when all does."""
    seeds: Callable[[], list[bytes]]
    """Inputs of which nothing fails, to begin with."""


def _soup(*tokens: str, most: int = 60) -> st.SearchStrategy[bytes]:
    return st.lists(st.sampled_from(tokens), max_size=most).map(lambda parts: "".join(parts).encode())


# C++ and Python.

_CPP = _soup(
    *"{ } ( ) ; , < > & * = : :: . -> [ ] # \n".split(" "), " ", "\\\n", "\r\n", '"', "'", 'R"(', ')"', "/*", "*/", "//",
    "at::", "AutoNonVariableTypeMode ", "guard", "(true)", "InferenceMode ", "c10::", "torch::", "NoGradGuard ", "x", "struct ",
    "class ", "namespace ", "using ", "typedef ", "template <", "typename ", "auto ", "void f", "return ", "if (", "else ", "for (",
    "[&] {", "new ", "std::optional<", "#if 0\n", "#endif\n", "#define G ", "#include <x>\n", "// NOLINT(GF101)\n", "static ",
    "m.forward(x);", "at::AutoNonVariableTypeMode g(true);\n", "int main() {", "TORCH_LIBRARY_IMPL(a, CPU, m) {", "m.impl(", "0",
)  # fmt: skip
_PYTHON = _soup(
    "\n", "\n  ", "\n    ", " ", "\t", ":", "(", ")", "[", "]", ",", "=", ".", "@", "#", "'", '"', "'''", "\\\n", "f'{", "}'",
    "import torch\n", "from torch import no_grad\n", "torch", "no_grad()", "inference_mode()", "with ", "async ", "def f(x)", "class A",
    "return ", "yield ", "lambda: ", "if x", "else", "try", "except", "await ", "x", "self", "as g", "# noqa: GF401\n", "torch.no_grad()",
    "AutoNonVariableTypeMode()", "set_grad_enabled(False)", ".backward()", "match x", "case _", "del ", ":=", "*", "**", "pass", "\x0c",
)  # fmt: skip


def _mutants(suffix: str) -> st.SearchStrategy[bytes]:
    @cache
    def files() -> list[Path]:
        return [path for path in sources() if path.suffix == suffix]

    return st.integers(0, 1 << 40).map(lambda number: mutant(number, files())[1])


def _reads(name: str) -> Callable[[bytes], str]:
    return lambda data: str(broken(name, data, twice=True))


# Settings and patterns.

_SETTINGS = _soup(
    "select", "ignore", "exclude", "extend", "per-file-ignores", "max-file-size", "minimum-torch", "intent", "guards", "plugins",
    "reindent-limit", "output-format", "baseline", "respect-gitignore", " = ", "[", "]", "{", "}", '"', "'", ",", "\n", "GF101", "ALL",
    "true", "false", "inf", "nan", "-1", "1e400", "9" * 30, "0", "1.5", "*", "**/", "!", "/", "\\", "a", ".", "tool.guardfix", '"kernel"',
    "1979-05-27", "\ud7ff", '"""', "#", '["a"]', '{"a" = "inference"}', '"1.9"', most=14,
)  # fmt: skip


def _configured(data: bytes) -> str:
    import guardfix
    from guardfix.configuration import BadConfiguration, inline_settings, read_configuration
    from guardfix.linter.files.discovery import BadPattern
    from guardfix.linter.rule import UnknownRule

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "guardfix.toml")
        Path(path).write_bytes(data)
        workspace = guardfix.Workspace.in_memory({"a.cpp": "void f() { at::AutoNonVariableTypeMode g; }\n"})
        try:
            options = read_configuration(path, folder).options()
            guardfix.check("a.cpp", options=options, workspace=workspace)
        except (BadConfiguration, BadPattern, UnknownRule):
            pass
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        try:
            inline_settings(data.decode("utf-8", "replace"))
        except BadConfiguration:
            pass
        except Exception as error:
            return f"--config: {type(error).__name__}: {error}"
    return ""


_PATTERNS = _soup(
    "a", "b", "/", "*", "**", "?", "[ab]", "[!a]", "[", "]", "!", "\\", " ", "\n", "#", ".", "**/", "/**", "-", "\u00e9"
)


def _ignored(data: bytes) -> str:
    """`.gitignore` as git reads it, and in linear time; pathspec says the same for nearly all patterns, and faster."""
    from pathspec import GitIgnoreSpec

    from guardfix.linter.files.discovery import find_files

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, ".gitignore").write_bytes(data)
        names = ["a.cpp", "b.cpp", "ab/a.cpp", "a" * 60 + ".cpp", "b/a/b/a/b.cpp"]
        for name in names:
            Path(folder, name).parent.mkdir(parents=True, exist_ok=True)
            Path(folder, name).write_text("")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                found = {os.path.relpath(path, folder) for path in find_files([folder]).paths()}
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                spec = GitIgnoreSpec.from_lines(data.decode("utf-8").splitlines())
        except (ValueError, re.error):  # git passes over a line that it cannot read
            return ""
        # What stands below a folder that is left out cannot come back: git does not look there.
        wanted = {name for name in names if not any(_left_out(spec, name))}
        if found != wanted and shutil.which("git"):  # pathspec reads a few patterns in another way than git does
            wanted = _seen_by_git(folder)
        return "" if found == wanted else f"finds {sorted(found)}, and not {sorted(wanted)}"


def _seen_by_git(folder: str) -> set[str]:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    for command in (["init", "-q"], ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]):
        done = subprocess.run(["git", *command], cwd=folder, env=environment, capture_output=True, check=True)
    return {name for name in os.fsdecode(done.stdout).split("\0") if name.endswith(".cpp")}


def _left_out(spec: Any, name: str) -> list[bool]:
    parts = name.split("/")
    folders = ["/".join(parts[:count]) + "/" for count in range(1, len(parts))]
    return [bool(spec.match_file(path)) for path in (*folders, name)]


# Pickles and archives.

_CHANGES = st.lists(
    st.tuples(
        st.integers(0, 1 << 16), st.sampled_from(["change", "cut", "repeat", "insert"]),
        st.sampled_from([b"\xff", b"\x00", b"\xff" * 4, b"\x00" * 8, b"(", b"]", b"t", b"R", b"e", b"u", b"b", b"\x81", b"q", b"h", b"."]),
    ),
    min_size=1, max_size=6,
)  # fmt: skip


def _changed(data: bytes, changes: list[tuple[int, str, bytes]]) -> bytes:
    for place, kind, what in changes:
        place %= len(data) + 1
        end = min(len(data), place + len(what))
        data = {
            "change": data[:place] + what + data[end:],
            "cut": data[:place] + data[end:],
            "repeat": data[:end] + data[place:],
            "insert": data[:place] + what + data[place:],
        }[kind]
    return data


@cache
def _saved() -> list[bytes]:
    import guardfix.runtime_shim as torch

    base = torch.arange(6.0).reshape(2, 3)
    values = [
        torch.nn.Linear(2, 3).state_dict(),
        [base, base[1:], base.t(), {"step": 1, "betas": (0.9, 0.999)}],
        {"a": {1, 2}, "b": frozenset("xy"), "c": [torch.float32, torch.Size([2]), slice(1, 2), b"bytes"]},
    ]
    found = []
    for value in values:
        out = io.BytesIO()
        torch.save(value, out)
        found.append(out.getvalue())
    return found


@cache
def _archives() -> list[str]:
    return sorted(path.stem for path in forging.ARCHIVES.glob("*.pt") if path.stat().st_size < 100_000)


def _forged(base: int, record: int, changes: list[tuple[int, str, bytes]]) -> bytes:
    names = _archives()
    records = dict(forging.records_of(names[base % len(names)]))
    name = sorted(records)[record % len(records)]
    records[name] = _changed(records[name], changes)
    return bytes(forging.zipped(records))


def _loaded(data: bytes) -> str:
    import guardfix.runtime_shim as torch

    return _refused(lambda: torch.load(io.BytesIO(data)))


def _loaded_archive(data: bytes) -> str:
    from guardfix.runtime_shim import jit

    return _refused(lambda: jit.load(io.BytesIO(data)))


def _refused(load: Callable[[], object]) -> str:
    from guardfix.runtime_shim import jit

    try:
        load()
    except (jit.ArchiveError, pickle.UnpicklingError):
        pass
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def _small(suffix: str) -> Callable[[], list[bytes]]:
    return lambda: [text for path in sources() if path.suffix == suffix and len(text := path.read_bytes()) < 2000]


def _kept(name: str) -> Callable[[], list[bytes]]:
    return lambda: [path.read_bytes() for path in sorted((CORPUS / name).iterdir())]


def _whole_archives() -> list[bytes]:
    return [bytes(forging.zipped(dict(forging.records_of(name)))) for name in _archives()]


_PICKLES = st.builds(lambda number, changes: _changed(_saved()[number], changes), st.integers(0, 2), _CHANGES)
_FORGED = st.builds(_forged, st.integers(0, 99), st.integers(0, 99), _CHANGES)
TARGETS = {
    "cpp": Target(".cpp", st.one_of(_CPP, _mutants(".cpp")), bounded(_reads("a.cpp")), _small(".cpp")),
    "python": Target(".py", st.one_of(_PYTHON, _mutants(".py")), bounded(_reads("a.py")), _small(".py")),
    "gitignore": Target(".gitignore", _PATTERNS, bounded(_ignored), _kept("gitignore")),
    "configuration": Target(".toml", _SETTINGS, bounded(_configured), _kept("configuration")),
    "pickle": Target(".pkl", _PICKLES, bounded(_loaded), _saved),
    "archive": Target(".pt", _FORGED, bounded(_loaded_archive), _whole_archives),
}
