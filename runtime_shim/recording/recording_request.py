"""What the recorder of a project's tests is told, by environment variables: whatever starts the tests passes them on."""

from __future__ import annotations

import os
from dataclasses import dataclass

_FOLDER = "GUARDFIX_RECORDING_FOLDER"
_GUARDS = "GUARDFIX_RECORDED_GUARDS"
_SINCE_19 = "GUARDFIX_LEGACY_SINCE19"


@dataclass(frozen=True)
class RecordingRequest:
    """Where the recordings go, and what they are of."""

    folder: str
    """Gets a file for each process."""
    guards: int = 0
    """How many guards are counted."""
    legacy_since19: bool = False

    def variables(self) -> dict[str, str]:
        return {_FOLDER: self.folder, _GUARDS: str(self.guards), _SINCE_19: "1" if self.legacy_since19 else ""}

    @classmethod
    def told(cls) -> RecordingRequest | None:
        """What this process is told; None when it is to record nothing."""
        folder = os.environ.get(_FOLDER)
        if not folder:
            return None
        return cls(folder, int(os.environ.get(_GUARDS) or 0), bool(os.environ.get(_SINCE_19)))
