"""Records what PyTorch does: `python -m tests.runtime_shim.networks` with torch 2.13.0 installed.

With `--compare`, prints what the shim does otherwise instead.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

from .cases import EXPRESSIONS
from .observe import differences, evaluate
from .program import LINES
from .program import outcomes as run_program

RECORDED = Path(__file__).with_name("recorded.json")
PROGRAM = Path(__file__).with_name("modules.json")


def main() -> None:
    torch = importlib.import_module("torch")
    torch.manual_seed(0)
    outcomes = {name: evaluate(code, torch) for name, code in EXPRESSIONS.items()}
    done = run_program(torch)
    if "--compare" not in sys.argv:
        lines = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in outcomes.items()]
        program = [f"[{json.dumps(a)}, {json.dumps(b)}]" for a, b in zip(LINES, done, strict=True)]
        PROGRAM.write_text("[\n" + ",\n".join(program) + "\n]\n", encoding="utf-8")
        RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
        return
    shim = importlib.import_module("guardfix.runtime_shim")
    wrong = 0
    for name, code in EXPRESSIONS.items():
        found = differences(outcomes[name], evaluate(code, shim))
        wrong += bool(found)
        if found:
            print(name, *found[:4], sep="\n    ")
    for line, want, got in zip(LINES, done, run_program(shim), strict=True):
        if want != got:
            wrong += 1
            print(line, want, got, sep="\n    ")
    print(f"{wrong} of {len(outcomes) + len(LINES)} differ")


if __name__ == "__main__":
    main()
