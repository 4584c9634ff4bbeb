"""A repository's commits: which one a revision means, and its files in a folder of our own.

Git is run with hooks, filters and file system monitors switched off, and what it checks out goes into a repository of
our own that borrows the objects: neither the configuration of the repository nor anything in it is executed, and
nothing is written to it.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from .campaign_manifest import is_url

_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
SNAPSHOT = "snapshot-"
"""What stands in front of the digest of a folder's files, where there is no commit."""
_QUIET = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_LFS_SKIP_SMUDGE": "1",
    "GIT_ASKPASS": "true",
    "GIT_SSH_COMMAND": "ssh -oBatchMode=yes",
    "LC_ALL": "C",
}
_OURS = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_ATTR_NOSYSTEM": "1"}
_INERT = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false")


class NoRepository(Exception):
    """A repository or a revision that can't be had; the message says why."""


def git_command(arguments: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """A command of git's that executes nothing of a repository, and its environment."""
    # A hook that runs guardfix has set variables that lead git to another repository.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or name in _KEPT}
    return ["git", *_INERT, *arguments], environment | _QUIET


def run_git(
    arguments: Sequence[str],
    *,
    ours: bool = False,
    text: bytes = b"",
    more: Mapping[str, str] | None = None,
    seconds: float | None = None,
) -> bytes:
    """What git prints. With `ours` no configuration is read, neither the user's nor the system's.

    Raises `NoRepository` when it fails, or takes longer than so many seconds.
    """
    command, environment = git_command(arguments)
    environment |= (_OURS if ours else {}) | dict(more or {})
    try:
        done = subprocess.run(command, input=text, capture_output=True, env=environment, timeout=seconds, check=False)
    except FileNotFoundError:
        raise NoRepository("git is not installed") from None
    except subprocess.TimeoutExpired:
        raise NoRepository(f"git {arguments[0]} took longer than {seconds:.0f} seconds") from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        told = [line for line in said if line.startswith(("fatal:", "error:"))] or said or ["it failed"]
        raise NoRepository(told[0].removeprefix("fatal: "))
    return done.stdout


_KEPT = frozenset({"GIT_SSL_CAINFO", "GIT_PROXY_COMMAND", "GIT_EXEC_PATH", "GIT_CEILING_DIRECTORIES"})


def commit_of(source: str, revision: str, *, seconds: float | None = None) -> str:
    """The commit that a revision of a source is now; of a folder without git, the digest of its files.

    Raises `NoRepository`.
    """
    if is_url(source):
        if _COMMIT.fullmatch(revision):
            return revision
        wanted = revision or "HEAD"
        listed = run_git(["ls-remote", source, wanted, f"{wanted}^{{}}"], seconds=seconds).decode().splitlines()
        if not listed:
            raise NoRepository(f"{source} has no revision `{wanted}`")
        # A tag with a message is followed by the commit that it points to.
        refs = {name: commit for line in listed for commit, _, name in [line.partition("\t")]}
        order = (f"refs/heads/{wanted}", f"refs/tags/{wanted}^{{}}", f"refs/tags/{wanted}", f"{wanted}^{{}}", wanted)
        return next((refs[name] for name in order if name in refs), next(iter(refs.values())))
    if not os.path.isdir(source):
        raise NoRepository(f"no such folder: {source}")
    if not is_repository(source):
        if revision:
            raise NoRepository(f"{source} is not the top of a git repository, and has no revision `{revision}`")
        return _snapshot_name(source)
    found = run_git(
        ["-C", source, "rev-parse", "--verify", "--quiet", f"{revision or 'HEAD'}^{{commit}}"], seconds=seconds
    )
    return found.decode().strip()


def _snapshot_name(folder: str) -> str:
    """A name for the files of a folder that changes when one of them does."""
    digest = hashlib.blake2b(digest_size=20)
    for above, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            path = os.path.join(above, name)
            digest.update(os.fsencode(os.path.relpath(path, folder)) + b"\0")
            try:
                if os.path.islink(path):
                    digest.update(os.fsencode(os.readlink(path)))
                elif os.path.isfile(path):
                    with open(path, "rb") as file:
                        while data := file.read(1 << 20):
                            digest.update(data)
            except OSError as error:
                raise NoRepository(f"{path}: {error.strerror or error}") from None
            digest.update(b"\0")
    return SNAPSHOT + digest.hexdigest()


def is_repository(folder: str) -> bool:
    """Whether a folder is the top of a git repository, or a bare one."""
    if os.path.exists(os.path.join(folder, ".git")):
        return True
    return all(os.path.exists(os.path.join(folder, name)) for name in ("HEAD", "objects", "refs"))


class CheckedOut:
    """The files of one commit in a folder, and the repository of our own that belongs to it."""

    def __init__(self, scratch: Path, source: str, commit: str) -> None:
        """Make the repository in an empty folder. `commit` is what `commit_of` says.

        Raises `NoRepository`.
        """
        self.tree = scratch / "tree"
        self._repository = scratch / "git"
        self.tree.mkdir()
        self._git("init", "--quiet", "--bare", "--template=", str(self._repository))
        (self.tree / ".git").write_text(f"gitdir: {self._repository}\n")
        if is_url(source):
            # With the user's configuration, which knows the credentials.
            run_git(["--git-dir", str(self._repository), "fetch", "--quiet", "--depth=1", "--no-tags", source, commit])
        elif not commit.startswith(SNAPSHOT):
            told = run_git(["-C", source, "rev-parse", "--git-path", "objects"]).decode().rstrip("\n")
            alternates = self._repository / "objects/info/alternates"
            alternates.parent.mkdir(parents=True, exist_ok=True)
            alternates.write_text(f"{os.path.join(source, told)}\n")
        else:
            commit = self._snapshot(source)
        self.commit = commit
        self.missing = self._check_out()

    def _snapshot(self, source: str) -> str:
        """The source's files, without those that .gitignore excludes, as a commit."""
        self._in(source, "add", "--all")
        tree = self._in(source, "write-tree").decode().strip()
        return self._commit(tree, "", f"The files of {os.path.basename(source)}\n", "@0 +0000")

    def _check_out(self) -> int:
        """Write the files; how many could not be, because the source lacks their objects."""
        self.git("read-tree", self.commit)
        try:
            self.git("checkout-index", "--all", "--quiet", "--force")
        except NoRepository:
            there = {os.fsencode(path.relative_to(self.tree)) for path in self.tree.rglob("*") if path.is_file()}
            listed = set(filter(None, self.git("ls-files", "-z").split(b"\0")))
            missing = len(listed - there)
            if missing == len(listed):
                raise
            return missing
        return 0

    def git(self, *arguments: str, text: bytes = b"") -> bytes:
        """Run git on the files. Raises `NoRepository`."""
        return self._in(str(self.tree), *arguments, text=text)

    def _in(self, folder: str, *arguments: str, text: bytes = b"") -> bytes:
        return self._git("--git-dir", str(self._repository), "--work-tree", folder, "-C", folder, *arguments, text=text)

    def _git(self, *arguments: str, text: bytes = b"", more: Mapping[str, str] | None = None) -> bytes:
        # Links become files that hold the name: nothing leads out of the folder, and nothing is checked twice.
        settings = (
            "-c",
            "core.symlinks=false",
            "-c",
            "core.bare=false",
            "-c",
            "gc.auto=0",
            "-c",
            "core.autocrlf=false",
        )
        return run_git([*settings, *arguments], ours=True, text=text, more=more)

    def commit_changes(self, paths: Sequence[str], message: str) -> str:
        """Commit what stands in these files now; the commit's time is that of the one below it, so that the same
        changes give the same commit. Raises `NoRepository`.
        """
        self.git("update-index", "-z", "--stdin", text=b"\0".join(os.fsencode(path) for path in paths))
        tree = self.git("write-tree", "--missing-ok").decode().strip()
        time = self.git("show", "--no-patch", "--format=@%ct +0000", self.commit).decode().strip()
        self.commit = self._commit(tree, self.commit, message, time)
        return self.commit

    def _commit(self, tree: str, parent: str, message: str, time: str) -> str:
        who = {
            f"GIT_{role}_{field}": value
            for role in ("AUTHOR", "COMMITTER")
            for field, value in (("NAME", "guardfix"), ("EMAIL", "guardfix@localhost"), ("DATE", time))
        }
        parents = ("-p", parent) if parent else ()
        made = self._git(
            "--git-dir", str(self._repository), "commit-tree", tree, *parents, text=message.encode(), more=who
        )
        return made.decode().strip()

    def write_patches(self, base: str, folder: Path) -> list[str]:
        """Write the commits since `base` as mails that `git am` takes; the names of the files."""
        if self.commit == base:
            return []
        self.git(
            "format-patch", "--quiet", "--no-signature", "--full-index", "--binary", f"--base={base}",
            "--output-directory", str(folder), f"{base}..{self.commit}",
        )  # fmt: skip
        return sorted(path.name for path in folder.iterdir())
