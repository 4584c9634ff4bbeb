"""Runs of PyTorch in one compressed file, so that the suite needs no torch.

The file is JSON under xz. Each program has its lines and, for each line, the outcome, the value and those
variables whose appearance changed with it. A tensor is `[text, values, grad]`, the text holding everything of
fixed form:

    "float32 2,3 in- rg+ lf+ vw- 0 base=- fn=- same=a"
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .observe import Number, Plain, Seen
from .program import Program
from .runner import NORMAL, Step

FILE = Path(__file__).with_name("recorded.json.xz")
#: Programs in which the shim once differed, each cut down to what shows it.
FOUND = Path(__file__).with_name("found.json.xz")

# Digits that are kept: well beyond the tolerance of the comparison, well below what the file can afford.
DIGITS = 6
SEPARATOR = "\x1f"


@dataclass(frozen=True)
class Recording:
    program: Program
    watch: str
    steps: tuple[Step, ...]


def _flag(name: str, value: bool | str) -> str:
    return f"{name}{value}" if isinstance(value, str) else f"{name}{'+' if value else '-'}"


def _number(value: Number) -> Number:
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def _packed(value: Plain) -> Any:
    """Plain data as JSON: a tensor as an object with one key, so that lists stay lists."""
    if isinstance(value, Seen):
        return {"t": _packed_tensor(value)}
    if isinstance(value, list):
        return [_packed(item) for item in value]
    return _number(value) if isinstance(value, float) else value


def _packed_tensor(seen: Seen) -> list[Any]:
    text = SEPARATOR.join(
        [
            seen.dtype,
            ",".join(map(str, seen.shape)),
            _flag("in", seen.is_inference),
            _flag("rg", seen.requires_grad),
            _flag("lf", seen.is_leaf),
            _flag("vw", seen.is_view),
            str(seen.version),
            seen.base or "",
            seen.grad_fn or "",
            seen.same_as or "",
            *([seen.layout, seen.edges or ""] if seen.layout is not None else []),
        ]
    )
    values = seen.values if isinstance(seen.values, str) else [_number(value) for value in seen.values]
    grad = _packed_tensor(seen.grad) if isinstance(seen.grad, Seen) else seen.grad
    return [text, values] if grad is None else [text, values, grad]


def _unpacked(value: Any) -> Plain:
    if isinstance(value, dict):
        return _unpacked_tensor(value["t"])
    if isinstance(value, list):
        return [_unpacked(item) for item in value]
    return value


def _read_flag(text: str) -> bool | str:
    return text[2:] if len(text) > 3 else text.endswith("+")


def _unpacked_tensor(packed: list[Any]) -> Seen:
    dtype, shape, inference, requires, leaf, view, version, base, function, same, *details = packed[0].split(SEPARATOR)
    grad = packed[2] if len(packed) > 2 else None
    return Seen(
        dtype=dtype,
        shape=tuple(map(int, shape.split(","))) if shape else (),
        values=packed[1] if isinstance(packed[1], str) else tuple(packed[1]),
        is_inference=_read_flag(inference),
        requires_grad=_read_flag(requires),
        is_leaf=_read_flag(leaf),
        is_view=_read_flag(view),
        version=version if version.startswith("!") else int(version),
        base=base or None,
        grad_fn=function or None,
        same_as=same or None,
        grad=_unpacked_tensor(grad) if isinstance(grad, list) else grad,
        layout=details[0] if details else None,
        edges=(details[1] or None) if details else None,
    )


def _packed_steps(steps: Iterable[Step]) -> list[dict[str, Any]]:
    """Of each step only what says something: an outcome that is not "ok", a value, changed variables."""
    rows = []
    known: dict[str, Any] = {}
    for step in steps:
        now = {name: _packed(value) for name, value in step.variables.items()}
        changed = {name: value for name, value in now.items() if name not in known or known[name] != value}
        row: dict[str, Any] = {}
        if step.outcome != "ok":
            row["outcome"] = step.outcome
        if step.value is not None:
            row["value"] = _packed(step.value)
        if step.modes != NORMAL:
            row["modes"] = step.modes
        if changed:
            row["changed"] = changed
        if gone := [name for name in known if name not in now]:
            row["gone"] = gone
        rows.append(row)
        known = now
    return rows


def _unpacked_steps(rows: list[dict[str, Any]]) -> tuple[Step, ...]:
    steps = []
    known: dict[str, Plain] = {}
    for row in rows:
        known = {name: content for name, content in known.items() if name not in row.get("gone", ())}
        known |= {name: _unpacked(content) for name, content in row.get("changed", {}).items()}
        grad, inference = row.get("modes", NORMAL)
        value = _unpacked(row.get("value"))
        steps.append(Step(row.get("outcome", "ok"), value, dict(known), (grad, inference)))
    return tuple(steps)


def save(recordings: Iterable[Recording], torch_version: str, path: Path = FILE) -> None:
    content = {
        "torch": torch_version,
        "programs": [
            {
                "profile": item.program.profile,
                "seed": item.program.seed,
                "watch": item.watch,
                "lines": item.program.lines,
                "steps": _packed_steps(item.steps),
            }
            for item in recordings
        ],
    }
    text = json.dumps(content, separators=(",", ":"))
    path.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))


def keep(recordings: Iterable[Recording], torch_version: str, path: Path = FOUND) -> None:
    """Add to the programs in which a difference was found, once each."""
    kept = {item.program.lines: item for item in (*(load(path) if path.exists() else ()), *recordings)}
    save(kept.values(), torch_version, path)


def load(path: Path = FILE) -> list[Recording]:
    content = json.loads(lzma.decompress(path.read_bytes()))
    return [
        Recording(
            Program(item["profile"], item["seed"], tuple(item["lines"])),
            item["watch"],
            _unpacked_steps(item["steps"]),
        )
        for item in content["programs"]
    ]
