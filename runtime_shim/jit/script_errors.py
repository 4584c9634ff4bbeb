"""What can go wrong with a TorchScript archive, one exception type per thing a caller handles."""

from __future__ import annotations


class ArchiveError(RuntimeError):
    """The file is not an archive that can be loaded: damaged, hostile, or made of what is not supported.

    `reason` says what is wrong and what to do; `archive` names the file; `record` the file inside the
    archive; `line` the line of that record, counted from 1. What is not known is None.
    """

    def __init__(
        self,
        reason: str,
        *,
        archive: str | None = None,
        record: str | None = None,
        line: int | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.archive = archive
        self.record = record
        self.line = line

    def __str__(self) -> str:
        inside = self.record if self.line is None else f"{self.record}:{self.line}"
        places = [place for place in (self.archive, inside) if place]
        return ": ".join([*places, self.reason])


class Error(Exception):
    """A `raise` or `assert` of the model itself: PyTorch's `torch.jit.Error`, which is not a RuntimeError
    either.
    """
