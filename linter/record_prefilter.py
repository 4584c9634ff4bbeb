"""`python -m guardfix.linter.record_prefilter` writes `files/prefilter_table.py`: after a change of the rules, of the
guard table, or of the front ends.
"""

from __future__ import annotations

import os

from .files import prefilter_record
from .prefilter import recorded_text


def record() -> None:
    """Write the record."""
    path = os.path.join(os.path.dirname(prefilter_record.__file__), "prefilter_table.py")
    text = recorded_text()  # may fail, and nothing works without the file
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
    print(f"{os.path.relpath(path)} is up to date")


if __name__ == "__main__":
    record()
