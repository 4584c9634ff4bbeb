"""Serves the ops of a project's libraries to the process that exercises them.

`python -P -m … SERVING COMMANDS ANSWERS` loads the libraries and modules that the file SERVING names, says which ops
and functions they have, and then runs one small program after another. Commands and answers are JSON, one a line, on
the two file descriptors. A program that crashes ends a child process alone: the next one starts in a fresh child.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import json
import os
import resource
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from . import guard_table
from .containment import PROCESSES, contain
from .fenced_memory import FencedMemory
from .open_files import FILE_LIMIT
from .program_execution import OPEN_FILES_LIMIT, PROCESS_LIMIT, lower_limit, seed_generators
from .run_specification import Specification
from .trace_events import Writer

PROGRAM_SECONDS = 10
"""How long one of the small programs may run."""


@dataclass(frozen=True)
class SourceGroup:
    """C++ files that become one library."""

    name: str
    sources: tuple[str, ...]
    include: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    is_module: bool = False
    """It is imported as a Python module of its name; else it is loaded for the ops that it registers."""


@dataclass(frozen=True)
class Serving:
    """What is loaded, and how it is contained."""

    groups: tuple[SourceGroup, ...] = ()
    modules: tuple[str, ...] = ()
    """Modules of Python, or of an extension that was built, by their names."""
    libraries: tuple[str, ...] = ()
    """Shared libraries that register ops while they are loaded."""
    search: tuple[str, ...] = ()
    """Folders that modules are imported from."""
    guard_table: str = ""
    writable: tuple[str, ...] = ()
    temporary: str = ""
    memory: int | None = None
    legacy_since19: bool = False

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def read(cls, path: str) -> Serving:
        with open(path, encoding="utf-8") as file:
            fields: dict[str, Any] = json.load(file)
        groups = tuple(SourceGroup(**_with_tuples(group)) for group in fields.pop("groups"))
        return cls(groups=groups, **_with_tuples(fields))


def _with_tuples(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()}


@dataclass
class ServedOps:
    """What was loaded: the ops and functions that can be called, and what could not be loaded."""

    ops: list[dict[str, Any]] = field(default_factory=list)
    failures: list[dict[str, Any]] = field(default_factory=list)
    names: dict[str, Any] = field(default_factory=dict)
    """What the programs find under which name, besides `torch`."""


def load_libraries(serving: Serving) -> ServedOps:
    """Loads everything. What fails is listed, and the rest goes on."""
    from ..extension.inline_modules import load
    from ..library.script_classes import load_library

    served = ServedOps()
    before = _registered()
    modules: list[ModuleType] = []

    def attempt(what: str, act: Callable[[], object]) -> None:
        try:
            act()
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            cause = error.__cause__
            missing = getattr(cause, "missing", None)
            served.failures.append({"what": what, "message": str(error)[-4000:], "missing": missing})

    for group in serving.groups:

        def build(group: SourceGroup = group) -> None:
            made = load(
                group.name,
                list(group.sources),
                extra_cflags=list(group.flags),
                extra_include_paths=list(group.include),
                is_python_module=group.is_module,
            )
            if group.is_module:
                modules.append(made)
                served.names[group.name] = made

        attempt(", ".join(group.sources), build)
    sys.path[:0] = serving.search

    def import_one(name: str) -> None:
        modules.append(importlib.import_module(name))
        served.names.setdefault(name.partition(".")[0], sys.modules[name.partition(".")[0]])

    for name in serving.modules:
        attempt(name, lambda name=name: import_one(name))  # type: ignore[misc]
    for path in serving.libraries:
        attempt(path, lambda path=path: load_library(path))  # type: ignore[misc]
    served.ops = [*_ops_beside(before), *(one for module in modules for one in _functions_of(module))]
    return served


def _registered() -> set[tuple[str, str]]:
    from ..library.custom_ops import REGISTRY

    return {(namespace, name) for namespace, ops in REGISTRY.items() for name in ops}


def _ops_beside(before: set[tuple[str, str]]) -> Iterator[dict[str, Any]]:
    """The ops that were registered since, with the arguments that their schemas have."""
    from ..library.custom_ops import REGISTRY
    from ..library.operator_schema import REQUIRED

    for namespace, ops in sorted(REGISTRY.items()):
        for name, op in sorted(ops.items()):
            schema = op._schema
            if schema is None or (namespace, name) in before:
                continue
            yield {
                "kind": "op",
                "name": op.name(),
                "call": f"torch.ops.{namespace}.{op._opname}" + (f".{schema.overload}" if schema.overload else ""),
                "signature": str(schema),
                "arguments": [
                    {
                        "name": argument.name,
                        "type": str(argument.type),
                        "required": argument.default is REQUIRED,
                        "keyword_only": argument.keyword_only,
                    }
                    for argument in schema.arguments
                ],
            }


def _functions_of(module: ModuleType) -> Iterator[dict[str, Any]]:
    """The functions of an extension module, with what pybind11 says of them; of a Python module those with annotations
    for tensors, and its autograd Functions."""
    from ..autograd.function import Function

    for name, value in sorted(vars(module).items()):
        described = {"name": f"{module.__name__}.{name}", "call": f"{module.__name__}.{name}"}
        if name.startswith("__") or not callable(value):
            continue
        if inspect.isbuiltin(value) and value.__doc__:
            yield {"kind": "binding", **described, "signature": value.__doc__}
        elif getattr(value, "__module__", None) != module.__name__:
            continue
        elif isinstance(value, type):
            if issubclass(value, Function) and "forward" in vars(value):
                skipped = int("setup_context" not in vars(value))
                parameters = list(inspect.signature(value.forward).parameters.values())[skipped:]
                described["call"] += ".apply"
                yield {"kind": "function", **described, "arguments": _annotated(parameters, "Tensor")}
        elif inspect.isfunction(value):
            parameters = list(inspect.signature(value).parameters.values())
            arguments = _annotated(parameters, "")
            if any("Tensor" in argument["type"] for argument in arguments):
                yield {"kind": "function", **described, "arguments": arguments}


def _annotated(parameters: list[inspect.Parameter], otherwise: str) -> list[dict[str, Any]]:
    empty = inspect.Parameter.empty
    found = []
    for parameter in parameters:
        if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            continue
        annotation = parameter.annotation
        text = otherwise if annotation is empty else annotation if isinstance(annotation, str) else _spelt(annotation)
        required = parameter.default is empty
        keyword_only = parameter.kind is inspect.Parameter.KEYWORD_ONLY
        found.append({"name": parameter.name, "type": text, "required": required, "keyword_only": keyword_only})
    return found


def _spelt(annotation: object) -> str:
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)


class ProgramServer:
    """Runs small programs and says what each did."""

    def __init__(self, serving: Serving) -> None:
        import guardfix.runtime_shim as shim

        from ..cpp import torch_backend
        from ..cpp.extension_module import bind_for_good
        from .recorder import Recorder, RecordingBackend, watching

        bind_for_good("guardfix.runtime_shim")
        self.torch = shim
        self.memory = FencedMemory()
        self.stream = io.StringIO()
        self.writer = Writer(self.stream)
        self.table = guard_table.GuardTable(serving.guard_table) if serving.guard_table else None
        self.recorder = Recorder(self.writer, table=self.table)
        backend = RecordingBackend(legacy_since19=serving.legacy_since19, guard_table=self.table)
        backend.recorder = self.recorder
        torch_backend.use(backend)
        self._within = contextlib.ExitStack()
        # Before anything is loaded, so that what a module imports by name is watched as well.
        self._within.enter_context(watching(self.recorder))
        self._within.enter_context(guard_table.within_reach(self.table))
        self.served = load_libraries(serving)

    def run(self, text: str, call: str, fill: int = 0) -> dict[str, Any]:
        """What a program does: the events of its recording, its output, how it ends, and the guards that it enters.

        `call` is what its recording names for an error that no function of torch raised; `fill`, the byte in memory
        that is not its own.
        """
        self.memory.watch(fill)
        self.stream.seek(0)
        self.stream.truncate()
        self.writer.start_over()
        self.recorder.start_over()
        counts = [] if self.table is None else self.table.counts()
        printed = io.StringIO()
        names: dict[str, Any] = {"__name__": "__main__", "torch": self.torch, **self.served.names}
        seed_generators(self.torch)
        error: BaseException | None = None
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a warning given once would be given by one program and not by the next
            try:
                exec(compile(text, "<program>", "exec"), names)
            except BaseException as raised:
                error = raised
        self.writer.close()
        if error is not None and self.recorder.thread.raised is not error:
            fields = {"error": type(error).__name__, "message": str(error)[:2000]}
            self.writer.write("raised", thread=max(0, self.recorder.thread.number), op=call, guards=(), **fields)
        now = [] if self.table is None else self.table.counts()
        reached = {
            str(number): [count.entered - old.entered, count.ops - old.ops]
            for number, (count, old) in enumerate(zip(now, counts, strict=True))
            if count != old
        }
        return {
            "events": [json.loads(line) for line in self.stream.getvalue().splitlines()],
            "output": printed.getvalue(),
            "error": None if error is None else [type(error).__name__, str(error)[:4000]],
            "results": self._kinds(names.get("y")),
            "reached": reached,
            "overran": self.memory.is_broken(),
        }

    def _kinds(self, value: object) -> list[str] | None:
        """What a call gave: `float`, `integer` or `other` for each part; None for a single value, no tensor."""
        tensor = self.torch.Tensor

        def kind(one: object) -> str:
            if not isinstance(one, tensor):
                return "other"
            return "float" if one.is_floating_point() else "integer"

        if isinstance(value, list | tuple):
            return ["several", *map(kind, value)]
        return [kind(value)] if isinstance(value, tensor) else None


def serve_libraries(path: str, commands: int, answers: int) -> int:
    """Loads what the file says, and serves until the commands end."""
    serving = Serving.read(path)
    if serving.guard_table:
        os.environ[guard_table.VARIABLE] = serving.guard_table
    if serving.writable:
        folders = [Path(folder) for folder in serving.writable]
        aspects = contain(folders, Path(serving.temporary), needed=[Path.cwd(), Path(path)], held=[commands, answers])
        if PROCESSES in aspects:
            lower_limit(resource.RLIMIT_NPROC, PROCESS_LIMIT)
    else:
        aspects = frozenset()
    lower_limit(resource.RLIMIT_FSIZE, FILE_LIMIT)
    lower_limit(resource.RLIMIT_NOFILE, OPEN_FILES_LIMIT)
    lower_limit(resource.RLIMIT_CORE, 0)
    server = ProgramServer(serving)
    _send(answers, {"ops": server.served.ops, "failures": server.served.failures, "contained": sorted(aspects)})
    while True:
        child = os.fork()
        if child == 0:
            _serve_in_child(server, serving, commands, answers)
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status):
            return 0
        _send(answers, {"signal": os.WTERMSIG(status)})


def _serve_in_child(server: ProgramServer, serving: Serving, commands: int, answers: int) -> None:
    from .program_execution import limit

    limit(Specification("", "", "", memory=serving.memory))
    with contextlib.suppress(BaseException):
        server.memory.install()
        for command in _lines(commands):
            signal.alarm(PROGRAM_SECONDS)
            answer = server.run(command["program"], command["call"], command["fill"])
            signal.alarm(0)
            _send(answers, answer)
    os._exit(0)


def _lines(descriptor: int) -> Iterator[dict[str, Any]]:
    """The commands as they come; each is asked for when the last one has been answered."""
    held = b""
    while True:
        line, end, rest = held.partition(b"\n")
        if end:
            held = rest
            yield json.loads(line)
            continue
        more = os.read(descriptor, 1 << 16)
        if not more:
            return
        held += more


def _send(descriptor: int, answer: dict[str, Any]) -> None:
    data = json.dumps(answer, default=str).encode() + b"\n"
    while data:
        data = data[os.write(descriptor, data) :]


if __name__ == "__main__":
    sys.exit(serve_libraries(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
