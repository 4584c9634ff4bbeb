"""Source distributions that are the same, byte for byte, whoever builds them: all else is in pyproject.toml."""

from __future__ import annotations

import gzip
import os
import tarfile
from typing import Any

from setuptools import setup
from setuptools.command.sdist import sdist


class ReproducibleSdist(sdist):
    """With SOURCE_DATE_EPOCH, nothing of the machine gets into the archive."""

    def make_archive(self, base_name: Any, format: str, *args: Any, base_dir: Any = None, **options: Any) -> str:
        epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
        if not epoch or format != "gztar":
            return super().make_archive(base_name, format, *args, base_dir=base_dir, **options)

        def plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
            member.uid = member.gid = 0
            member.uname = member.gname = ""
            member.mtime = int(epoch)
            member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            return member

        path = f"{base_name}.tar.gz"
        with (
            open(path, "wb") as file,
            gzip.GzipFile("", "wb", 9, file, int(epoch)) as packed,
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
        ):
            archive.add(base_dir, filter=plain)
        return path


setup(cmdclass={"sdist": ReproducibleSdist})
