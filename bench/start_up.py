"""What each way of starting faster saves, alone: guardfix with and without it, in pairs.

Each trick is taken out of a copy of the packages by a replacement in one file. A clean C++ file, one with a hit and a
Python file with a hit are checked by both copies in turn; the row has the median of the differences of the pairs in
milliseconds, of time and of processor time.

    python bench/start_up.py [--runs 41] [--only NAME]
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("linter", "codemods", "runtime_shim")


class Trick(NamedTuple):
    """What is replaced to be without it."""

    name: str
    file: str
    old: str
    new: str


TRICKS = (
    Trick("nothing (the noise)", "guardfix/__main__.py", "import gc\n", "import gc\n"),
    Trick("the quick path", "guardfix/__main__.py", "answer = is_clean(sys.argv[1:])", "answer = None"),
    Trick("checks without click", "guardfix/__main__.py", "        run_plainly(sys.argv[2:])\n", ""),
    Trick("no garbage collection", "guardfix/__main__.py", "    gc.disable()\n", ""),
    Trick("leaving by os._exit", "guardfix/__main__.py", "    os._exit(status)", "    sys.exit(status)"),
    Trick(
        "lazy regular expressions",
        "linter/lazy_regex.py",
        "    uncompiled: Any = _Uncompiled(pattern, flags)\n",
        "    import re\n    uncompiled: Any = re.compile(pattern, flags)\n",
    ),
    Trick("NamedTuple of our own", "linter/named_tuples.py", "if TYPE_CHECKING or", "if True or"),
    Trick("BLAKE2 without OpenSSL", "linter/files/digests.py", "from _blake2 import", "from hashlib import"),
    Trick(
        "imports while files are searched",
        "guardfix/cli/checking.py",
        "check_with(run, _import_the_rest)",
        "check_with(run)",
    ),
)

FILES = {
    "clean": ("clean.cpp", "#include <vector>\nint main() { return 0; }\n"),
    "C++ hit": ("hit.cpp", "#include <torch/script.h>\nvoid f() {\n  at::AutoNonVariableTypeMode g;\n}\n"),
    "Python hit": ("hit.py", "import torch\n\n\ndef f(x):\n    torch.no_grad()\n    return x\n"),
}


def copy_packages(to: Path) -> None:
    """guardfix as it is installed: the linked packages are in it."""
    ignored = shutil.ignore_patterns("__pycache__", *PACKAGES)
    shutil.copytree(ROOT / "guardfix", to / "guardfix", ignore=ignored)
    for package in PACKAGES:
        shutil.copytree(ROOT / package, to / "guardfix" / package, ignore=shutil.ignore_patterns("__pycache__"))


def place(top: Path, file: str) -> Path:
    return top / file if file.startswith("guardfix/") else top / "guardfix" / file


def times(top: Path, file: Path) -> tuple[float, float]:
    """Milliseconds of one check: passed, and of processor time."""
    command = [sys.executable, "-P", "-m", "guardfix", "check", "--no-cache", str(file)]
    if file.stem == "clean":  # with options, the quick path has no say
        command.remove("--no-cache")
    variables = os.environ | {"PYTHONPATH": str(top)}
    started = time.perf_counter()
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=variables, cwd=file.parent
    )
    _, _, usage = os.wait4(process.pid, 0)
    return (time.perf_counter() - started) * 1e3, (usage.ru_utime + usage.ru_stime) * 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=41)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        usual, without = Path(folder, "usual"), Path(folder, "without")
        for top in (usual, without):
            copy_packages(top)
        files = {}
        for kind, (name, text) in FILES.items():
            files[kind] = Path(folder, name)
            files[kind].write_text(text, encoding="utf-8")
        print(f"{'trick':<34}" + "".join(f"{kind:>22}" for kind in FILES))
        for trick in TRICKS:
            if arguments.only not in trick.name:
                continue
            changed = place(without, trick.file)
            text = changed.read_text(encoding="utf-8")
            assert trick.old in text, trick.name
            changed.write_text(text.replace(trick.old, trick.new), encoding="utf-8")
            row = ""
            for file in files.values():
                for top in (usual, without):  # compiles what is new
                    times(top, file)
                pairs = [(times(usual, file), times(without, file)) for _ in range(arguments.runs)]
                passed, spent = (statistics.median(new[i] - old[i] for old, new in pairs) for i in (0, 1))
                row += f"{passed:>11.1f} {spent:>5.1f} cpu"
            print(f"{trick.name:<34}{row}", flush=True)
            changed.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
