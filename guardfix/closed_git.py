"""Git behind a closed door. Nothing else in guardfix starts it; a test looks for what does.

A repository's configuration names programs for git to run, in some hundred ways, and each version of git adds some. So
git never sees it. It is run on our own repository, which borrows the objects of the other one and has copies of
its names: no program, hook, filter, attribute or remote of the other repository takes part, and what is missing from it
is missing. Of its configuration, only how it stores objects and names is looked up, as data, and for a revision with
`@{`, which branch follows which.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from .git_files import (
    NoRepository,
    copy_file,
    copy_folder,
    copy_refs,
    refuse_pipes_in_objects,
    refuse_pipes_in_tree,
    small_text,
)


class _TooSlow(NoRepository):
    """Git was ended, because it took too long."""


@dataclass(frozen=True)
class GitFolders:
    """Where a repository keeps its things."""

    own: str
    """HEAD and the index: in a linked worktree, not those of the repository."""
    common: str
    """Objects and refs."""
    top: str
    """The working tree; empty where there is none."""

    @property
    def is_shallow(self) -> bool:
        """Whether the history is cut off."""
        return bool(small_text(os.path.join(self.common, "shallow")))

    @property
    def is_partial(self) -> bool:
        """Whether objects were left out for git to fetch when it wants them."""
        packs = os.path.join(self.common, "objects", "pack")
        with contextlib.suppress(OSError):
            if any(name.endswith(".promisor") for name in os.listdir(packs)):
                return True
        return bool(_stored(os.path.join(self.common, "config")).partial)


def git_folders(folder: str) -> GitFolders | None:
    """Those of the repository whose top a folder is, or which it is; None where it is neither."""
    place = os.path.join(folder, ".git")
    if os.path.isfile(place):  # a worktree's or a submodule's
        linked = small_text(place).removesuffix("\n")
        found = (
            _whole(os.path.join(folder, linked[len("gitdir: ") :]), folder) if linked.startswith("gitdir: ") else None
        )
        if found is None:
            raise NoRepository(f"{place} doesn't lead to a git repository")
        return found
    return _whole(place, folder) or _whole(folder, "")


def _whole(own: str, top: str) -> GitFolders | None:
    common = os.path.join(own, small_text(os.path.join(own, "commondir")).strip())
    parts = (os.path.join(own, "HEAD"), os.path.join(common, "objects"), os.path.join(common, "refs"))
    if not all(map(os.path.lexists, parts)):
        return None
    return GitFolders(os.path.abspath(own), os.path.abspath(common), os.path.abspath(top) if top else "")


def git_folders_above(folder: str) -> GitFolders:
    """Those of the repository that a folder is in. Raises `NoRepository` where it is in none."""
    here = os.path.realpath(folder)
    ceilings = {os.path.realpath(one) for one in os.environ.get("GIT_CEILING_DIRECTORIES", "").split(os.pathsep) if one}
    while True:
        found = git_folders(here)
        if found is not None:
            return found
        above = os.path.dirname(here)
        if above == here or above in ceilings:
            raise NoRepository(f"{folder}: not a git repository, and in none")
        here = above


_NEUTRAL = {
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_NO_CONFIGURATION = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
_SETTINGS = (
    # git before 2.32 reads the user's configuration all the same.
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "core.bare=false",
    "core.autocrlf=false",
    # Links become files that hold the name: nothing leads out of a folder, and nothing is checked twice.
    "core.symlinks=false",
)
_NO_ATTRIBUTES = "* -text -crlf !eol -ident -filter !working-tree-encoding !diff !merge !whitespace\n"
"""In `info/attributes`, which counts more than any `.gitattributes`."""


def _environment() -> dict[str, str]:
    """The variables for git: none that leads it elsewhere, and a PATH without the current folder."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**kept, "PATH": os.pathsep.join(_program_folders()), **_NEUTRAL}


def _program_folders() -> list[str]:
    return [folder for folder in os.environ.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(folder)]


def _program() -> str:
    """The path of git: by its name alone, Windows would look for it in the current folder first."""
    for folder in _program_folders():
        found = shutil.which(os.path.join(folder, "git"))
        if found is not None:
            return found
    raise NoRepository("git is not installed")


def _run(
    arguments: Iterable[str],
    place: Path,
    environment: Mapping[str, str],
    text: bytes = b"",
    seconds: float | None = None,
) -> bytes:
    """What git prints, standing in our own folder. Raises `NoRepository`."""
    command = [_program(), *arguments]
    try:
        done = subprocess.run(
            command, cwd=place, env=environment, input=text, capture_output=True, timeout=seconds, check=False
        )
    except OSError as error:
        raise NoRepository(f"git cannot be run: {error.strerror or error}") from None
    except subprocess.TimeoutExpired:
        raise _TooSlow(f"git took longer than {seconds:.0f} seconds") from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        reasons = [line for line in said if line.startswith(("fatal:", "error:"))] or said or ["git failed"]
        raise NoRepository(reasons[0].removeprefix("fatal: ").removeprefix("error: "))
    return done.stdout


@dataclass(frozen=True)
class _Stored:
    """What a configuration says of how a repository is stored. The rest of it isn't for us."""

    objects: str = ""
    names: str = ""
    partial: bool = False
    followed: tuple[tuple[str, str, str], ...] = ()
    """(section, key, value), which `@{upstream}` needs."""


_FOLLOWED = re.compile(
    r"(?P<section>branch\..+)\.(?P<key>remote|merge)\n(?P<value>[\w./-]+)"
    r"|(?P<remote>remote\..+)\.fetch\n(?P<refs>\+?refs/[\w./*-]+:refs/[\w./*-]+)"
)
_WANTED = (
    r"^(extensions\.(objectformat|refstorage|partialclone)|branch\..+\.(remote|merge)|remote\..+\.(fetch|promisor))$"
)


def _stored(path: str) -> _Stored:
    """Read by git as a file of its syntax, not as its configuration: nothing that it says is done, or included."""
    if not os.path.isfile(path):
        return _Stored()
    with tempfile.TemporaryDirectory(prefix="guardfix-git-") as place:
        # No repository: a folder's own is not looked for then.
        environment = {**_environment(), **_NO_CONFIGURATION, "GIT_DIR": os.path.join(place, "none")}
        arguments = ["config", "--file", os.path.abspath(path), "--no-includes", "--null", "--get-regexp", _WANTED]
        try:
            printed = _run(arguments, Path(place), environment)
        except NoRepository:  # it says none of these, or can't be read
            return _Stored()
    entries = printed.decode("utf-8", "surrogateescape").split("\0")
    values = dict(entry.partition("\n")[::2] for entry in entries)
    matches = [found for entry in entries if (found := _FOLLOWED.fullmatch(entry)) is not None]
    return _Stored(
        values.get("extensions.objectformat", ""),
        values.get("extensions.refstorage", ""),
        "extensions.partialclone" in values or any(name.endswith(".promisor") for name in values),
        tuple(
            (one["section"], one["key"], one["value"]) if one["section"] else (one["remote"], "fetch", one["refs"])
            for one in matches
        ),
    )


class ClosedRepository:
    """A repository of our own, on which alone git is run."""

    def __init__(self, place: Path, source: GitFolders | None = None) -> None:
        """Make it in a folder that is ours; it borrows the objects of another repository.

        Raises `NoRepository`.
        """
        self._place = place
        self._source = source
        self._common = place / "repository"
        self._own = self._common
        self._environment = {**_environment(), **_NO_CONFIGURATION}
        stored = _Stored() if source is None else _stored(os.path.join(source.common, "config"))
        self._followed = stored.followed
        kinds = {"objects": ("--object-format", stored.objects), "names": ("--ref-format", stored.names)}
        # Without the options that older versions of git don't know, where they say what is so anyway.
        formats = [f"{option}={value}" for option, value in kinds.values() if value not in ("", "sha1", "files")]
        _run(["init", "--quiet", "--bare", "--template=", *formats, str(self._common)], place, self._environment)
        info, alternates = self._common / "info", self._common / "objects/info/alternates"
        info.mkdir(exist_ok=True)
        (info / "attributes").write_text(_NO_ATTRIBUTES)
        if source is not None:
            objects = os.path.realpath(os.path.join(source.common, "objects"))
            refuse_pipes_in_objects(objects)
            quoted = objects.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
            alternates.parent.mkdir(exist_ok=True)
            alternates.write_bytes(os.fsencode(f'"{quoted}"\n'))
            copy_file(Path(source.common, "shallow"), self._common / "shallow")

    @property
    def folder(self) -> Path:
        """Where it is, for a file `.git` that leads to it."""
        return self._own

    def run(
        self,
        *arguments: str,
        tree: str | Path = "",
        text: bytes = b"",
        more: Mapping[str, str] | None = None,
        seconds: float | None = None,
    ) -> bytes:
        """What git prints; `tree` is the working tree of commands that need one. Raises `NoRepository`."""
        return _run(self._arguments(arguments, tree), self._place, {**self._environment, **(more or {})}, text, seconds)

    def _arguments(self, arguments: Iterable[str], tree: str | Path = "") -> list[str]:
        settings = [part for setting in _SETTINGS for part in ("-c", setting)]
        where = ["--git-dir", str(self._own), *(("--work-tree", os.path.abspath(tree)) if tree else ())]
        return [*settings, *where, *arguments]

    def copy_names(self, revision: str) -> None:
        """Give it HEAD, branches, tags and the like, so that a revision means what it means in the other repository."""
        assert self._source is not None, "only a repository that borrows has names to copy"
        own, common = Path(self._source.own), Path(self._source.common)
        if own != common:
            self._own = self._place / "worktree"
            self._own.mkdir()
            (self._own / "commondir").write_text(str(self._common))
        for source, target in {common: self._common, own: self._own}.items():
            (target / "HEAD").unlink(missing_ok=True)
            for folder in ("reftable", *(("logs",) if "@{" in revision else ())):
                if (source / folder).is_dir():
                    shutil.rmtree(target / folder, ignore_errors=True)
                    copy_folder(source / folder, target / folder)
            copy_refs(source, target)
            for name in filter(re.compile("(?:[A-Z]+_)*HEAD").fullmatch, os.listdir(source)):
                copy_file(source / name, target / name)
        if "@{" in revision:
            sections = [f'[{_section(section)}]\n\t{key} = "{value}"\n' for section, key, value in self._followed]
            with open(self._common / "config", "a", encoding="utf-8", errors="surrogateescape") as file:
                file.writelines(sections)

    def copy_index(self) -> None:
        """Give it the index, with the times of files by which git knows that they are unchanged, and the list of what
        the other repository alone ignores. Submodules are left out: git would read their configurations."""
        assert self._source is not None, "only a repository that borrows has an index to copy"
        own = Path(self._source.own)
        for name in ("index", *(name for name in os.listdir(own) if name.startswith("sharedindex."))):
            copy_file(own / name, self._own / name)
        copy_file(Path(self._source.common, "info/exclude"), self._common / "info/exclude")
        tree = self._source.top
        refuse_pipes_in_tree(tree)
        entries = self.run("ls-files", "--stage", "-z", tree=tree).split(b"\0")
        submodules = [entry.partition(b"\t")[2] for entry in entries if entry.startswith(b"160000 ")]
        if submodules:
            self.run("update-index", "--force-remove", "-z", "--stdin", tree=tree, text=b"\0".join(submodules))

    def commit(self, revision: str, *, seconds: float | None = None) -> str:
        """The commit that a revision is. Raises `NoRepository`."""
        name = "" if revision.startswith("-") else self._parsed(revision, seconds)
        if not name:
            raise NoRepository(f"git knows no commit `{revision}`{self.hint(revision)}")
        commit = self._parsed(f"{name}^{{commit}}", seconds)
        if not commit:
            raise NoRepository(f"`{revision}` is {name}, which is no commit, or is missing here{self.hint(revision)}")
        return commit

    def _parsed(self, revision: str, seconds: float | None) -> str:
        try:
            return self.run("rev-parse", "--verify", "--quiet", revision, seconds=seconds).decode().strip()
        except _TooSlow:
            raise
        except NoRepository:
            return ""

    def hint(self, revision: str) -> str:
        """What helps where the other repository isn't whole: a CI server fetched the last commit only, or objects were
        left out."""
        if self._source is not None and self._source.is_shallow:
            return "; this clone is shallow: fetch the whole history (`fetch-depth: 0`, `GIT_DEPTH: 0`)"
        if self._source is not None and self._source.is_partial:
            return (
                "; this is a partial clone, and guardfix fetches nothing: "
                f"`git diff --merge-base {revision}` or `git fetch --refetch` gets what is missing"
            )
        return ""

    def blobs(self, names: Iterable[str]) -> Iterator[bytes]:
        """The contents of blobs, read by one process; of what is missing, nothing. Raises `NoRepository`."""
        command = [_program(), *self._arguments(["cat-file", "--batch", "--buffer"])]
        pipe, nowhere, asked = subprocess.PIPE, subprocess.DEVNULL, list(names)
        with subprocess.Popen(
            command, cwd=self._place, env=self._environment, stdin=pipe, stdout=pipe, stderr=nowhere
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            # In its own thread: git answers before it has read all questions.
            asking = threading.Thread(target=_ask, args=(process.stdin, asked), daemon=True)
            asking.start()
            for _ in asked:
                head = process.stdout.readline().split()
                data = b""
                if len(head) == 3:
                    data = process.stdout.read(int(head[2]))
                    process.stdout.read(1)
                yield data
            asking.join()

    def fetch(self, url: str, commit: str) -> None:
        """Fetch one commit, with the user's own configuration, which knows the credentials. Raises `NoRepository`."""
        arguments = ["fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", _address(url), commit]
        _run(self._arguments(arguments), self._place, _online())


def _ask(questions: IO[bytes], names: list[str]) -> None:
    with contextlib.suppress(BrokenPipeError), questions:
        questions.writelines(f"{name}\n".encode() for name in names)


def _section(name: str) -> str:
    """A section's name as a configuration has it: `branch "main"`."""
    kind, _, rest = name.partition(".")
    escaped = rest.replace("\\", r"\\").replace('"', r"\"")
    return f'{kind} "{escaped}"'


@contextlib.contextmanager
def closed_repository(source: GitFolders, revision: str) -> Iterator[ClosedRepository]:
    """A repository of our own, gone at the end, with the objects of another one, in which a revision means the same.

    Raises `NoRepository`.
    """
    with tempfile.TemporaryDirectory(prefix="guardfix-git-") as place:
        repository = ClosedRepository(Path(place), source)
        repository.copy_names(revision)
        yield repository


_ADDRESS = re.compile(r"(?:https|ssh)://|[\w.-]+@[\w.-]+:(?!//)", re.IGNORECASE)


def _address(url: str) -> str:
    if _ADDRESS.match(url) is None:
        raise NoRepository(f"{url}: repositories are fetched by https or ssh alone; clone it, and name its folder")
    return url


def _online() -> dict[str, str]:
    """The variables for what goes to a server: with the user's configuration, by two protocols, without questions."""
    certificates = {name: os.environ[name] for name in ("GIT_SSL_CAINFO", "GIT_SSL_CAPATH") if name in os.environ}
    return {
        **_environment(),
        **certificates,
        "GIT_ALLOW_PROTOCOL": "https:ssh",
        "GIT_ASKPASS": "true",
        "GIT_SSH_COMMAND": "ssh -oBatchMode=yes",
    }


def refs_at(url: str, revision: str, *, seconds: float | None = None) -> dict[str, str]:
    """Name -> commit, of what a repository at a URL calls so, in its order. Raises `NoRepository`."""
    with tempfile.TemporaryDirectory(prefix="guardfix-git-") as place:
        # Not in the current folder: the configuration of a repository there would say where the URL leads.
        where = ["--git-dir", os.path.join(place, "none")]
        settings = [part for setting in _SETTINGS for part in ("-c", setting)]
        arguments = [*settings, *where, "ls-remote", _address(url), revision, f"{revision}^{{}}"]
        listed = _run(arguments, Path(place), _online(), seconds=seconds).decode().splitlines()
    return {name: commit for line in listed for commit, _, name in [line.partition("\t")]}


def ignored_everywhere() -> str:
    """The file with the patterns that the user's own git ignores in every repository; empty for git's default."""
    with tempfile.TemporaryDirectory(prefix="guardfix-git-") as place:
        environment = {**_environment(), "GIT_DIR": os.path.join(place, "none")}
        with contextlib.suppress(NoRepository):
            printed = _run(["config", "--null", "--type=path", "--get", "core.excludesFile"], Path(place), environment)
            return os.fsdecode(printed.rstrip(b"\0"))
    return ""
