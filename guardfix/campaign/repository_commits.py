"""A repository's commits: which one a revision means, and its files in our own folder.

Git is only run through `closed_git`: neither the configuration of the repository nor anything in it is executed, and
nothing is written to it.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Sequence
from pathlib import Path

from guardfix.closed_git import ClosedRepository, closed_repository, git_folders, refs_at
from guardfix.git_files import NoRepository, refuse_pipes_in_tree

from .campaign_manifest import is_url

_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
SNAPSHOT = "snapshot-"
"""Prefix of what identifies a folder without a commit: a digest of its files follows."""


def commit_of(source: str, revision: str, *, seconds: float | None = None) -> str:
    """The commit that a revision of a source is now; of a folder without git, the digest of its files.

    Raises `NoRepository`.
    """
    if is_url(source):
        if _COMMIT.fullmatch(revision):
            return revision
        wanted = revision or "HEAD"
        refs = refs_at(source, wanted, seconds=seconds)
        if not refs:
            raise NoRepository(f"{source} has no revision `{wanted}`")
        # A tag with a message is followed by the commit that it points to.
        order = (f"refs/heads/{wanted}", f"refs/tags/{wanted}^{{}}", f"refs/tags/{wanted}", f"{wanted}^{{}}", wanted)
        return next((refs[name] for name in order if name in refs), next(iter(refs.values())))
    if not os.path.isdir(source):
        raise NoRepository(f"no such folder: {source}")
    folders = git_folders(source)
    if folders is None:
        if revision:
            raise NoRepository(f"{source} is not the top of a git repository, and has no revision `{revision}`")
        return _snapshot_name(source)
    with closed_repository(folders, revision) as git:
        return git.commit(revision or "HEAD", seconds=seconds)


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


class CheckedOut:
    """The files of one commit in a folder, and the repository of our own that belongs to it."""

    def __init__(self, scratch: Path, source: str, commit: str) -> None:
        """Make the repository in an empty folder. `commit` is what `commit_of` says.

        Raises `NoRepository`.
        """
        self.tree = scratch / "tree"
        self.tree.mkdir()
        snapshot, fetched = commit.startswith(SNAPSHOT), is_url(source)
        self._repository = ClosedRepository(scratch, None if snapshot or fetched else git_folders(source))
        (self.tree / ".git").write_text(f"gitdir: {self._repository.folder}\n")
        if fetched:
            self._repository.fetch(source, commit)
        self.commit = self._snapshot(source) if snapshot else commit
        self.missing = self._check_out()

    def _snapshot(self, source: str) -> str:
        """The source's files, without those that .gitignore excludes, as a commit."""
        # What is in a repository of its own would only become a link to it, and git would read its configuration.
        paths = ["."]
        for above, folders, files in os.walk(source):
            if above != source and ".git" in (*folders, *files):
                paths.append(f":(exclude,literal){os.path.relpath(above, source)}")
                folders.clear()
        refuse_pipes_in_tree(source)
        given = b"\0".join(map(os.fsencode, paths))
        self._repository.run("add", "--all", "--pathspec-from-file=-", "--pathspec-file-nul", tree=source, text=given)
        tree = self.git("write-tree").decode().strip()
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
        return self._repository.run(*arguments, tree=self.tree, text=text)

    def commit_changes(self, paths: Sequence[str], message: str) -> str:
        """Commit what is in these files now; the commit's time is that of the one below it, so that the same
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
        made = self._repository.run("commit-tree", tree, *parents, text=message.encode(), more=who)
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
