#!/usr/bin/env python3
"""Times the language server as an editor meets it: from the message that opens or changes a text to its diagnostics.

    bench/server_latency.py [--files 5000] [--edits 40]

Needs the extra `server`. A project of so many C++ files is made, with its registration in another file; then texts of
1,000 lines in it are opened, and one is edited key by key. Printed for each: the median and the worst time by the
clock without the debounce, and the server's processor time. Exit status 1 when a median misses its target: 100 ms for
a text that is opened once the server is warm, 50 ms for an edit.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "guardfix" / "server"))

from editor_client import EditorClient, span  # type: ignore[import-not-found]  # noqa: E402

OPENED, EDITED = 100.0, 50.0
"""Milliseconds."""
DEBOUNCE = 10

_FUNCTIONS = "".join(f"int g{n}(int a) {{\n  int b = a * {n};\n  return b + 1;\n}}\n" for n in range(248))
DECIDED = f"""#include <ATen/ATen.h>
{_FUNCTIONS}at::Tensor scale_kernel(at::Tensor x) {{
  at::AutoNonVariableTypeMode guard;
  return at::mul(x, 2);
}}
"""
OPEN = DECIDED.replace("scale_kernel", "of_no_known_purpose")
PYTHON = (
    "import torch\n\n"
    + "".join(f"def g{n}(a):\n    b = a * {n}\n    return b + 1\n\n" for n in range(248))
    + "def evaluate(model, x):\n    torch.no_grad()\n    return model(x)\n"
)
TEXTS = {"C++, decided": (".cpp", DECIDED), "C++, unknown": (".cpp", OPEN), "Python": (".py", PYTHON)}


def processor_time(pid: int) -> float:
    """Milliseconds that a process has had so far; 0 where the system doesn't say."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) * 1000 / float(os.sysconf("SC_CLK_TCK"))


def make_project(top: Path, files: int) -> None:
    """So many files of 80 lines, in folders of a hundred."""
    (top / ".git").mkdir()
    for number in range(files):
        folder = top / f"part{number // 100}"
        folder.mkdir(exist_ok=True)
        text = f"#include <vector>\nint f{number}(int a) {{ return a + {number}; }}\n" * 40
        (folder / f"f{number}.cpp").write_text(text)
    (top / "registered.cpp").write_text('TORCH_LIBRARY_IMPL(my, Autograd, m) { m.impl("scale", scale_kernel); }\n')


def timed(editor: EditorClient, work: Callable[[], object], after: float = 0.0) -> tuple[float, float]:
    """(milliseconds by the clock, of the server's processor) without the time that it waits on purpose."""
    used, begun = processor_time(editor.pid), time.perf_counter()
    work()
    return (time.perf_counter() - begun) * 1000 - after, processor_time(editor.pid) - used


def shown(editor: EditorClient, path: Path, text: str) -> None:
    """Open a text, and wait for what is found in it."""
    editor.diagnostics(editor.open(path, text))


def changed(editor: EditorClient, uri: str, version: int) -> None:
    """Type a character, or take it back, and wait for what is found then."""
    typed = {"text": "", "range": span(1, 0, 1, 1)} if version % 2 else {"text": "x", "range": span(1, 0, 1, 0)}
    editor.type(uri, version, typed)
    editor.diagnostics(uri, version)


def told(name: str, times: list[tuple[float, float]], target: float) -> bool:
    """Print what was measured; whether the target is met."""
    clock = [one for one, _ in times]
    median, used = statistics.median(clock), statistics.fmean(one for _, one in times)
    print(
        f"  {name:24} {median:6.0f} ms, worst {max(clock):6.0f}; {used:5.0f} ms of the processor (target {target:.0f})"
    )
    return median <= target


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--files", type=int, default=5000)
    parser.add_argument("--edits", type=int, default=40)
    given = parser.parse_args()
    met = True
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder).resolve()
        make_project(top, given.files)
        for name, (suffix, text) in TEXTS.items():
            print(f"{name}: {text.count(chr(10))} lines, {given.files} files in the project")
            with EditorClient(top, options={"debounce": DEBOUNCE}) as editor:
                editor.diagnostics(editor.open(top / f"warm{suffix}", text))
                opened = [timed(editor, partial(shown, editor, top / f"opened{n}{suffix}", text)) for n in range(5)]
                met &= told("opened", opened, OPENED)
                uri = (top / f"opened0{suffix}").as_uri()
                versions = range(2, given.edits + 2)
                edited = [timed(editor, partial(changed, editor, uri, version), DEBOUNCE) for version in versions]
                met &= told("edited", edited, EDITED)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
