"""Records what PyTorch does inside of nested guards: `python docsite/record_pytorch_nestings.py`, with torch installed.

The page "The guards explained" shows it beside the shim's answers; a test with the marker `oracle` compares the two.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from guard_nesting import RECORDED, written


def recording(torch: Any) -> dict[str, Any]:
    """What the file holds: the version, without what was built, and the answers."""
    return {"version": torch.__version__.partition("+")[0], "nestings": written(torch)}


if __name__ == "__main__":
    import torch

    RECORDED.write_text(json.dumps(recording(torch), indent=1) + "\n", encoding="utf-8")
