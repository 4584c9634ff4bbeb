#!/usr/bin/env python3
"""The image of the Dockerfile: built, and run as docs/ci.md says. Needs Linux, root and buildah, but no Docker engine.

    bench/image.py [--python FOLDER] [--suite bookworm] [--mirror URL] [-- BUILD-OPTION…]

With --python, the Dockerfile's base image doesn't come from a registry: it is made by debootstrap, with the Python of
that folder (an installation of the version that the tag names, as pyenv makes them) in /usr/local, where the real
image has its own. What follows `--` goes to `buildah build`, such as `--volume /etc/pip.conf:/etc/pip.conf:ro`.

Printed: the time and the size, and a line for each thing tried. Exit status 1 when one is wrong.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "fixtures/cpp/inference_load_and_run.cpp"
MIGRATED = ROOT / "fixtures/cpp/inference_load_and_run.migrated.cpp"
IMAGE = "localhost/guardfix"
LIBRARIES = (
    "ca-certificates", "libbz2-1.0", "libexpat1", "libffi8", "liblzma5", "libreadline8", "libsqlite3-0", "libssl3",
    "libuuid1", "zlib1g",
)  # fmt: skip
"""What the standard library is linked to, besides C's."""
SOMEBODY = "1234:1234"
"""A user that the image doesn't know, as `--user "$(id -u):$(id -g)"` gives."""


class Buildah:
    """buildah with its own store, for builds without a daemon and without namespaces."""

    def __init__(self, folder: Path) -> None:
        self._options = ["--storage-driver", "vfs", "--root", str(folder / "store"), "--runroot", str(folder / "run")]

    def __call__(self, *arguments: str, given: str | None = None) -> subprocess.CompletedProcess[str]:
        command = ["buildah", *self._options, *arguments]
        return subprocess.run(command, input=given, capture_output=True, text=True, check=False)

    def must(self, *arguments: str) -> str:
        done = self(*arguments)
        if done.returncode:
            sys.exit(f"buildah {arguments[0]} failed:\n{done.stdout}{done.stderr}")
        return done.stdout.strip()


def base_image(buildah: Buildah, folder: Path, python: Path, suite: str, mirror: str | None) -> None:
    """Debian with this Python, tagged with the name that the Dockerfile asks for."""
    (name,) = {*re.findall(r"^FROM (\S+)", (ROOT / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)}
    system, version = folder / "system", name.removeprefix("python:").removesuffix("-slim")
    if not (python / f"bin/python{version}").exists():
        sys.exit(f"{python} has no Python {version}, the one that the Dockerfile builds on")
    command = ["debootstrap", "--variant=minbase", f"--include={','.join(LIBRARIES)}", suite, str(system)]
    subprocess.run([*command, mirror] if mirror else command, check=True, stdout=subprocess.DEVNULL)
    left_out = shutil.ignore_patterns("__pycache__", "site-packages", "test")
    shutil.copytree(python, system / "usr/local", symlinks=True, dirs_exist_ok=True, ignore=left_out)
    (system / f"usr/local/lib/python{version}/site-packages").mkdir()
    inside = ["chroot", str(system), "/bin/sh", "-ec"]
    script = f"""
        ldconfig; cd /usr/local/bin; ln -sf python{version} python
        python -m ensurepip; ln -sf pip3 pip
    """
    subprocess.run([*inside, script], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    archive = folder / "system.tar"
    subprocess.run(["tar", "-C", str(system), "-cf", str(archive), "."], check=True)
    described = "FROM scratch\nADD system.tar /\nENV PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin\n"
    (folder / "Base").write_text(described, encoding="utf-8")
    buildah.must("build", "--isolation=chroot", "--file", str(folder / "Base"), "--tag", f"docker.io/library/{name}",
                 str(folder))  # fmt: skip


def try_it(buildah: Buildah, folder: Path) -> int:
    """Runs what docs/ci.md shows; the number of things that went wrong."""
    container = buildah.must("from", "--pull-never", IMAGE)
    shown = "{{.OCIv1.Config.Entrypoint}} {{.OCIv1.Config.Cmd}} {{.OCIv1.Config.User}} {{.OCIv1.Config.WorkingDir}}"
    described = buildah.must("inspect", "--format", shown, container)
    sources = folder / "sources"
    sources.mkdir()
    program = sources / "program.cpp"
    shutil.copy(PROGRAM, program)
    diff = subprocess.run(["git", "diff", "--no-index", "/dev/null", program.name], cwd=sources, capture_output=True,
                          text=True, check=False).stdout  # fmt: skip
    for path in (sources, program):
        shutil.chown(path, *map(int, SOMEBODY.split(":")))

    def run(*arguments: str, mode: str = "ro", user: str = "", given: str | None = None) -> tuple[int, str]:
        options = ["--isolation=chroot", "--volume", f"{sources}:/src:{mode}"] + ["--user", user] * bool(user)
        done = buildah("run", *options, container, "--", *arguments, given=given)
        return done.returncode, done.stdout + done.stderr

    def found(told: tuple[int, str]) -> bool:
        return told[0] == 1 and told[1].startswith("program.cpp:8:3: GF101")

    applied = "guardfix", "migrate", "--apply", "."
    elsewhere = diff.replace("@@ -0,0 +1", "@@ -0,0 +101")
    tried = {
        "entry point, command, user, folder": described == "[guardfix] [--help] guardfix /src",
        "it isn't root": "uid=1000(guardfix)" in run("id")[1],
        "--version": run("guardfix", "--version")[1].startswith("guardfix, version "),
        "check .": found(run("guardfix", "check", ".")),
        "check --diff - .": found(run("guardfix", "check", "--diff", "-", ".", given=diff)),
        "check of another line": run("guardfix", "check", "--diff", "-", ".", given=elsewhere)[0] == 0,
        "migrate --apply as another user": run(*applied, mode="rw", user=SOMEBODY)[0] == 0
        and program.read_bytes() == MIGRATED.read_bytes(),
        "check afterwards": run("guardfix", "check", ".")[0] == 0,
    }  # fmt: skip
    for what, works in tried.items():
        print(f"{'ok   ' if works else 'WRONG'}  {what}")
    return sum(not works for works in tried.values())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--python", type=Path, metavar="FOLDER")
    parser.add_argument("--suite", default="bookworm")
    parser.add_argument("--mirror", metavar="URL")
    parser.add_argument("build", nargs="*", metavar="BUILD-OPTION")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="guardfix-image-") as name:
        folder = Path(name)
        buildah = Buildah(folder)
        if arguments.python:
            base_image(buildah, folder, arguments.python, arguments.suite, arguments.mirror)
        pull = "--pull-never" if arguments.python else "--pull"
        began = time.perf_counter()
        buildah.must("build", "--isolation=chroot", pull, *arguments.build, "--tag", IMAGE, str(ROOT))
        took = time.perf_counter() - began
        size = buildah.must("images", "--format", "{{.Size}}", IMAGE)
        print(f"built in {took:.0f} s, {size} with its base image")
        try:
            return 1 if try_it(buildah, folder) else 0
        finally:
            buildah("rm", "--all")


if __name__ == "__main__":
    sys.exit(main())
