"""`python -m guardfix.linter.record_funnel` writes `files/funnel_table.py` anew: after a change of what rules look for,
of the guard table, or of the front ends.
"""

from __future__ import annotations

import os

from .files import funnel_record
from .funnel import recorded_text


def record() -> None:
    """Write the record."""
    path = os.path.join(os.path.dirname(funnel_record.__file__), "funnel_table.py")
    text = recorded_text()  # may fail, and nothing works without the file
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
    print(f"{os.path.relpath(path)} is up to date")


if __name__ == "__main__":
    record()
