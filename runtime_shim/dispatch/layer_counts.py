"""How often the layers did what inference mode is to save; tests assert on these, not on time."""

from __future__ import annotations

COUNTS = {"version_bumps": 0, "view_records": 0}
