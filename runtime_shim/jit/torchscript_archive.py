"""The files of TorchScript: a zip archive of limited size, and what its pickles may name.

PyTorch writes every record below one folder, aligned to 64 bytes by padding in the local header, tensors stored and
code deflated (`caffe2/serialize/inline_container.cc`). An archive that departs from what any zip writer would do
(overlapping or duplicate entries, names that leave the folder, sizes that lie) is refused as a whole.
"""

from __future__ import annotations

import io
import os
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import IO, Any, Protocol

from ..core.pickle_machine import VALUE_OPCODES, Builder, Global, Malformed, Opcode, PickleMachine, protocols
from ..core.resource_budget import Budget, LimitReached, pay
from .script_values import ArchiveError


class Readable(Protocol):
    """A binary file object."""

    def read(self, size: int = -1, /) -> bytes: ...


ArchiveSource = str | os.PathLike[str] | Readable

_LOCAL_HEADER = struct.Struct("<4s22xHH")
_ENCRYPTED = 0x1


def _is_folder(entry: zipfile.ZipInfo) -> bool:
    # `ZipInfo.is_dir` raises IndexError for an entry without a name.
    return entry.filename.endswith("/") and entry.file_size == 0


@dataclass(frozen=True)
class ArchiveLimits:
    """What an archive may ask for. Sizes in bytes."""

    deflated: int = 256 << 20
    """All compressed records together, unpacked. PyTorch compresses only code and debug records."""
    ratio: int = 200
    """How many times larger than its compressed form one record may be (above 64 KiB; deflate ends at 1032)."""
    tensor: int = 16 << 30
    """One tensor as its sizes declare it; strides of zero can make it larger than its storage."""
    load_steps: int = 1_000_000
    """Opcodes, nodes of the code, statements of `__setstate__` and elements of lists while the archive is loaded. Each
    byte of the archive adds two.
    """
    load_size: int = 192 << 20
    """Values that are made meanwhile, source code counted hundredfold, as its tree is so large. Each byte of the
    archive adds 100.
    """
    load_seconds: float = 1.5
    """Every 4 MiB of the archive add a second."""
    run_steps: int = 10_000_000
    """Statements and elements of lists in one call of a method."""
    run_size: int = 256 << 20
    """Values that are alive at a time, in one call. Each byte of the archive and of the arguments adds 64."""
    run_seconds: float = 60.0

    def of_a_load(self, size: int) -> Budget:
        """What loading an archive of so many bytes may cost."""
        return Budget(
            self.load_steps + 2 * size, self.load_size + 100 * size, self.load_seconds + size / _BYTES_PER_SECOND
        )

    def of_a_run(self, size: int) -> Budget:
        """What a call may cost; `size` is that of the archive and the arguments, in bytes."""
        return Budget(self.run_steps, self.run_size + 64 * size, self.run_seconds)


_SMALL = 64 << 10
_BYTES_PER_SECOND = 4 << 20


class Archive:
    """An open archive. Records are named without the leading folder: `data.pkl`, `code/__torch__.py`."""

    def __init__(self, file: IO[bytes], name: str, limits: ArchiveLimits) -> None:
        self.name = name
        self.limits = limits
        self._file = file
        self.length = file.seek(0, os.SEEK_END)
        """Bytes of the whole file."""
        try:
            self._zip = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError, struct.error) as error:
            raise ArchiveError(
                f"not a readable zip file ({error}), which an archive of torch.jit.save is",
                archive=name,
            ) from error
        self._entries = self._checked_entries()

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()
        self._file.close()

    def __contains__(self, record: str) -> bool:
        return record in self._entries

    def names(self) -> list[str]:
        return list(self._entries)

    def size(self, record: str) -> int:
        return self._entries[record].file_size

    def read(self, record: str) -> bytes:
        """The bytes of a record. ArchiveError when it is missing, cut short, or fails its checksum."""
        entry = self._entries.get(record)
        if entry is None:
            raise ArchiveError("this record is missing", archive=self.name, record=record)
        pay(1, entry.file_size)
        try:
            with self._zip.open(entry) as stream:
                data = stream.read(entry.file_size + 1)
        except (
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            OSError,
            NotImplementedError,
            RuntimeError,
        ) as error:
            raise ArchiveError(f"cannot be read: {error}", archive=self.name, record=record) from error
        if len(data) != entry.file_size:
            raise ArchiveError(
                f"holds {len(data)} bytes where the directory declares {entry.file_size}",
                archive=self.name,
                record=record,
            )
        return data

    def _checked_entries(self) -> dict[str, zipfile.ZipInfo]:
        entries: dict[str, zipfile.ZipInfo] = {}
        folders: set[str] = set()
        files = [entry for entry in self._zip.infolist() if not _is_folder(entry)]
        deflated = 0
        for entry in files:
            folder, record = self._split(entry)
            folders.add(folder)
            if len(folders) > 1:
                shown = ", ".join(sorted(folders))
                raise ArchiveError(f"expected one folder at the top, found {shown}", archive=self.name)
            if record in entries:
                raise ArchiveError("this name stands twice in the directory", archive=self.name, record=record)
            entries[record] = entry
            self._check_size(entry, record)
            if entry.compress_type != zipfile.ZIP_STORED:
                deflated += entry.file_size
        if deflated > self.limits.deflated:
            raise ArchiveError(
                f"compressed records declare {deflated} bytes; at most {self.limits.deflated} are unpacked",
                archive=self.name,
            )
        self._check_overlap(files)
        return entries

    def _split(self, entry: zipfile.ZipInfo) -> tuple[str, str]:
        # orig_filename is what is in the file; zipfile cuts `filename` at a NUL.
        name = entry.orig_filename
        parts = name.split("/")
        if "\\" in name or "\0" in name or ":" in parts[0] or any(part in ("", ".", "..") for part in parts):
            raise ArchiveError(f"the name {name!r} is not a plain path inside the archive", archive=self.name)
        if len(parts) < 2:
            raise ArchiveError(
                f"the record {name!r} is in no folder; torch.jit.save puts all records in one",
                archive=self.name,
            )
        return parts[0], "/".join(parts[1:])

    def _check_size(self, entry: zipfile.ZipInfo, record: str) -> None:
        if entry.flag_bits & _ENCRYPTED:
            raise ArchiveError("is encrypted", archive=self.name, record=record)
        if entry.compress_type == zipfile.ZIP_STORED:
            if entry.file_size != entry.compress_size:
                raise ArchiveError(
                    f"is stored, but declares {entry.file_size} bytes in {entry.compress_size}",
                    archive=self.name,
                    record=record,
                )
        elif entry.compress_type != zipfile.ZIP_DEFLATED:
            raise ArchiveError(
                f"uses compression method {entry.compress_type}; only stored (0) and deflated (8) are read",
                archive=self.name,
                record=record,
            )
        elif entry.file_size > max(_SMALL, self.limits.ratio * entry.compress_size):
            raise ArchiveError(
                f"declares {entry.file_size} bytes from {entry.compress_size}: refused as a zip bomb",
                archive=self.name,
                record=record,
            )

    def _check_overlap(self, files: list[zipfile.ZipInfo]) -> None:
        end_of_data = self._zip.start_dir
        position = 0
        for entry in sorted(files, key=lambda entry: entry.header_offset):
            if entry.header_offset < position:
                raise ArchiveError(f"the record {entry.filename!r} overlaps another", archive=self.name)
            self._file.seek(entry.header_offset)
            header = self._file.read(_LOCAL_HEADER.size)
            if len(header) < _LOCAL_HEADER.size or not header.startswith(b"PK\3\4"):
                raise ArchiveError(f"the record {entry.filename!r} has no header", archive=self.name)
            _, name_length, extra_length = _LOCAL_HEADER.unpack(header)
            position = entry.header_offset + _LOCAL_HEADER.size + name_length + extra_length + entry.compress_size
            if position > end_of_data:
                raise ArchiveError(f"the record {entry.filename!r} reaches beyond the data", archive=self.name)


def open_archive(source: ArchiveSource, limits: ArchiveLimits) -> Archive:
    """Opens a path, or a binary file object from its current position.

    FileNotFoundError and other OSErrors of opening a path pass through; ArchiveError for anything else.
    """
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        file: IO[bytes] = open(path, "rb")  # noqa: SIM115 - the Archive closes it
        name = path
    elif callable(getattr(source, "read", None)):
        data = source.read()
        name = str(getattr(source, "name", "archive"))
        if not isinstance(data, bytes):
            raise TypeError("jit.load needs a path or a file opened in binary mode")
        file = io.BytesIO(data)
    else:
        raise TypeError(f"jit.load needs a path or a binary file, not {type(source).__name__}")
    try:
        return Archive(file, name, limits)
    except BaseException:
        file.close()
        raise


_OPCODES: dict[str, Opcode] = {
    **VALUE_OPCODES,
    "PROTO": protocols(2),
    "SHORT_BINSTRING": PickleMachine.push,
    "BINSTRING": PickleMachine.push,
    "BINPERSID": PickleMachine.persistent,
}


class Instances(Protocol):
    """Makes the archive's own classes."""

    def new(self, name: str) -> Any:
        """An empty instance of the class with this qualified name."""

    def build(self, instance: object, state: object) -> None:
        """Gives an instance its state."""

    def enumerator(self, name: str, value: object) -> object:
        """The member of an enumeration with this value."""


class _ArchiveNames:
    """The names in one record: builders of values, types of storages, and the archive's own classes."""

    def __init__(self, builders: Mapping[str, Builder], storage: Callable[[Any], Any], instances: Instances) -> None:
        self._builders = builders
        self._instances = instances
        self.persistent = storage

    def known(self, name: Global) -> bool:
        if name.module == "torch" and name.name.endswith("Storage"):
            return True
        return name.module.startswith("__torch__") or name.key in self._builders

    def call(self, name: Global, arguments: object) -> Any:
        if name.module.startswith("__torch__"):  # an enumerator: the argument is its value, in no tuple
            return self._instances.enumerator(str(name), arguments)
        if not isinstance(arguments, tuple):
            raise ValueError("REDUCE needs a tuple")
        builder = self._builders.get(name.key)
        if builder is None:
            raise ValueError(f"{name} cannot be called")
        return builder(*arguments)

    def new(self, name: Global, arguments: object) -> Any:
        if not name.module.startswith("__torch__") or arguments != ():
            raise ValueError("NEWOBJ needs a class of the archive and no arguments")
        return self._instances.new(str(name))

    def build(self, instance: object, state: object) -> None:
        self._instances.build(instance, state)


def unpickle(
    data: bytes,
    record: str,
    builders: Mapping[str, Builder],
    storage: Callable[[object], object],
    instances: Instances,
) -> object:
    """The value of the pickle `data`; `record` names it in errors. Raises ArchiveError."""
    try:
        return PickleMachine(_OPCODES, _ArchiveNames(builders, storage, instances)).load(data)
    except (Malformed, LimitReached) as error:
        raise ArchiveError(str(error), record=record) from error
    except ArchiveError as error:
        if error.record is None:
            error.record = record
        raise
