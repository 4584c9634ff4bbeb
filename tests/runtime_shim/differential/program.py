"""A program: source lines with the indentation of Python, one statement a line, and nothing but `with`
opening a block.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

INDENT = "    "
PRELUDES = [Path(__file__).with_name(name) for name in ("prelude.py", "marked_functions.py")]


@dataclass(frozen=True)
class Program:
    """`profile` and `seed` say where the lines came from; a shrunk program keeps those of the one it was cut
    from.
    """

    profile: str
    seed: int
    lines: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.profile}-{self.seed}"


def depth_of(line: str) -> int:
    return (len(line) - len(line.lstrip(" "))) // len(INDENT)


def without(lines: tuple[str, ...], start: int, stop: int) -> tuple[str, ...]:
    """`lines` without `lines[start:stop]`; a body whose `with` goes moves to the left, a `with` without body
    goes too.
    """
    kept: list[str] = []
    removed: list[int] = []  # depths of the removed `with` lines that are still open
    for number, line in enumerate(lines):
        depth = depth_of(line)
        while removed and depth <= removed[-1]:
            removed.pop()
        if start <= number < stop:
            if line.endswith(":"):
                removed.append(depth)
            continue
        kept.append(INDENT * (depth - len(removed)) + line.lstrip(" "))
    return tuple(_without_empty_blocks(kept))


def _without_empty_blocks(lines: list[str]) -> Iterator[str]:
    kept: list[str] = []
    for line in reversed(lines):
        followed = bool(kept) and depth_of(kept[-1]) > depth_of(line)
        if not line.endswith(":") or followed:
            kept.append(line)
    return reversed(kept)


@cache
def _prelude_sources() -> dict[str, str]:
    """Source text of what the preludes' `define` define, by name."""
    sources = {}
    for text in (path.read_text() for path in PRELUDES):
        body = ast.parse(text).body
        define = next(node for node in body if isinstance(node, ast.FunctionDef) and node.name == "define")
        for node in define.body:
            lines = text.splitlines()[_first_line(node) - 1 : node.end_lineno]
            source = "\n".join(line.removeprefix(INDENT) for line in lines)
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                sources[node.name] = source
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                sources[node.targets[0].id] = source
    return sources


def _first_line(node: ast.stmt) -> int:
    decorators = node.decorator_list if isinstance(node, (ast.ClassDef, ast.FunctionDef)) else []
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _names(source: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}


def script(program: Program, failing: frozenset[int] = frozenset(), module: str = "torch") -> str:
    """The program as a script of its own, the lines that are known to raise (`failing`) wrapped in `try`."""
    sources = _prelude_sources()
    body: list[str] = []
    for number, line in enumerate(program.lines):
        if number in failing and not line.endswith(":"):
            indent = INDENT * depth_of(line)
            body += [f"{indent}try:", INDENT + line, f"{indent}except Exception as error:"]
            body.append(f"{indent}{INDENT}print(type(error).__name__, error)")
        else:
            body.append(line)
    if body and body[-1].endswith(":"):
        body.append(INDENT * (depth_of(body[-1]) + 1) + "pass")
    text = "\n".join(body)
    wanted: list[str] = []
    pending = [text]
    while pending:
        for name in sorted(_names(pending.pop()) & sources.keys()):
            if name not in wanted:
                wanted.append(name)
                pending.append(sources[name])
    definitions = [sources[name] for name in sources if name in wanted]
    heading = "import torch" if module == "torch" else f"import {module} as torch"
    return "\n".join([heading, *definitions, text, ""])
