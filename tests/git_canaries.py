"""Repositories whose configuration, attributes, hooks and variables all name a program: the canary.

The program leaves a file, named after the place that named it. A repository is hostile in one way at a time where git
itself is shown to sing for it, and in every way at once where guardfix is shown not to.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from campaign_repositories import OLD

SOURCES = {
    "a.cpp": OLD,
    "crlf.cpp": OLD.replace("\n", "\r\n"),
    ".gitattributes": "*.cpp filter=evil diff=evil merge=evil\n",
}
KEPT = frozenset({"extensions.objectformat", "extensions.refstorage", "core.repositoryformatversion"})
"""How a repository stores its objects and names: everything else is set to the canary."""
MORE_KEYS = (
    "filter.evil.clean filter.evil.smudge filter.evil.process diff.evil.command diff.evil.textconv merge.evil.driver "
    "remote.origin.uploadpack remote.origin.receivepack remote.origin.proxy remote.origin.vcs remote.origin.url "
    "remote.origin.promisor remote.origin.partialclonefilter extensions.partialclone url.ext::sh.insteadof "
    "credential.helper credential.https://example.org.helper core.sshcommand core.askpass core.editor core.pager "
    "core.fsmonitor core.hookspath core.gitproxy core.alternaterefscommand gpg.program gpg.x509.program "
    "gpg.ssh.program gpg.ssh.defaultkeycommand uploadpack.packobjectshook sequence.editor alias.log alias.diff-index "
    "alias.rev-parse pager.log pager.diff diff.external include.path includeif.gitdir:/.path includeif.onbranch:main.path "
    "interactive.difffilter difftool.evil.cmd mergetool.evil.cmd man.evil.cmd browser.evil.cmd sendemail.tocmd "
    "submodule.sub.update submodule.sub.url submodule.sub.fetchrecursesubmodules trailer.evil.command trailer.evil.cmd "
    "tar.evil.command hook.evil.command hook.evil.event core.attributesfile core.excludesfile core.worktree "
    "init.templatedir http.proxy http.sslcert protocol.allow protocol.ext.allow index.sparse core.sparsecheckout "
    "core.untrackedcache core.splitindex core.precomposeunicode core.autocrlf core.eol core.safecrlf "
    "extensions.worktreeconfig guitool.evil.cmd imap.tunnel receive.certnonceseed lsrefs.unborn web.browser"
).split()


def every_key() -> list[str]:
    """Each key of `git help --config`, with a name where it has a placeholder, and those that it doesn't list."""
    listed = subprocess.run(["git", "help", "--config"], capture_output=True, text=True, check=True).stdout.split()
    keys = {re.sub(r"<[^>]*>|\*", "evil", key).lower() for key in listed if "." in key}
    return sorted(
        {key for key in keys | set(MORE_KEYS) if re.fullmatch(r"[a-z][a-z0-9-]*(\..+)?\.[a-z][a-z0-9-]*", key)} - KEPT
    )


class Canary:
    """A program that says who named it, by a file in the folder `sung`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "sung"
        self._folder.mkdir()
        self.program = folder / "canary"
        self.program.write_text(f'#!/bin/sh\ntouch "{self._folder}/${{1-hook}}"\nexit 1\n')
        self.program.chmod(0o755)

    def named(self, place: str) -> str:
        """A command that says that this place named it."""
        return f"{self.program} {re.sub('[^a-z0-9.-]+', '_', place)} #"

    @property
    def sung(self) -> list[str]:
        """Who named it."""
        return sorted(path.name for path in self._folder.iterdir())

    def forget(self) -> None:
        for path in self._folder.iterdir():
            path.unlink()


def git_directory(folder: Path) -> Path:
    return folder / ".git" if (folder / ".git").exists() else folder


def write_settings(folder: Path, settings: Mapping[str, str]) -> None:
    """Add to a repository's configuration, without git, which some of it would stop."""
    lines = []
    for key, value in settings.items():
        section, _, variable = key.rpartition(".")
        name, dot, rest = section.partition(".")
        quoted = value.replace("\\", "\\\\").replace('"', '\\"')
        lines.append(f'[{name}{f" {chr(34)}{rest}{chr(34)}" if dot else ""}]\n\t{variable} = "{quoted}"\n')
    with open(git_directory(folder) / "config", "a") as file:
        file.write("".join(lines))


HOOKS = (
    "applypatch-msg pre-applypatch post-applypatch pre-commit prepare-commit-msg commit-msg post-commit pre-rebase "
    "post-checkout post-merge pre-push pre-auto-gc post-rewrite reference-transaction post-index-change "
    "fsmonitor-watchman p4-pre-submit push-to-checkout update pre-receive post-receive"
).split()


def add_hooks(folder: Path, canary: Canary) -> None:
    hooks = git_directory(folder) / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in HOOKS:
        (hooks / name).write_text(f"#!/bin/sh\n{canary.named('hook.' + name)}\n")
        (hooks / name).chmod(0o755)


def missing_commit(folder: Path, canary: Canary, settings: Mapping[str, str]) -> None:
    """Make a repository a partial clone that lacks its commit."""
    write_settings(
        folder,
        {
            "core.repositoryformatversion": "1",
            "extensions.partialclone": "origin",
            "remote.origin.promisor": "true",
            **settings,
        },
    )
    git_folder = git_directory(folder)
    commit = (git_folder / "refs/heads/main").read_text().strip()
    (git_folder / "objects" / commit[:2] / commit[2:]).unlink()


LAZY_FETCHES: Mapping[str, Callable[[Canary, Path], dict[str, str]]] = {
    "remote.uploadpack": lambda canary, other: {
        "remote.origin.url": str(other),
        "remote.origin.uploadpack": canary.named("remote.uploadpack"),
    },
    "core.gitproxy": lambda canary, other: {
        "remote.origin.url": "git://127.0.0.1:9/x",
        "core.gitproxy": str(canary.program),
    },
    "ext": lambda canary, other: {
        "remote.origin.url": f"ext::{canary.program} ext",
        "protocol.ext.allow": "always",
    },
    "core.sshcommand": lambda canary, other: {
        "remote.origin.url": "ssh://127.0.0.1/x",
        "core.sshcommand": canary.named("core.sshcommand"),
    },
    "remote.vcs": lambda canary, other: {
        "remote.origin.url": f"{canary.program} vcs",
        "remote.origin.vcs": "ext",
        "protocol.ext.allow": "always",
    },
    "url.insteadof": lambda canary, other: {
        "remote.origin.url": "https://127.0.0.1:9/x",
        f"url.ext::{canary.program} insteadof #.insteadof": "https://127.0.0.1:9/",
        "protocol.ext.allow": "always",
    },
}
"""What a partial clone that lacks a commit has git run, to fetch it."""


def hostile_environment(canary: Canary, folder: Path) -> dict[str, str]:
    """Variables that lead git to programs, to other repositories, or have it write files."""
    programs = folder / "programs"
    programs.mkdir()
    real = subprocess.run(["git", "--exec-path"], capture_output=True, text=True, check=True).stdout.strip()
    for path in Path(real).iterdir():
        if path.name not in ("git", "git-remote-https"):
            shutil.copy(canary.program, programs / path.name)
    template = folder / "template/hooks"
    template.mkdir(parents=True)
    for name in HOOKS:
        shutil.copy(canary.program, template / name)
    commands = (
        "GIT_EXTERNAL_DIFF GIT_SSH GIT_SSH_COMMAND GIT_PROXY_COMMAND GIT_ASKPASS GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER"
    ).split()
    traces = (
        "GIT_TRACE GIT_TRACE2 GIT_TRACE2_EVENT GIT_TRACE2_PERF GIT_TRACE_SETUP GIT_TRACE_PACKET GIT_TRACE_CURL".split()
    )
    return {
        **{name: canary.named(name.lower()) for name in commands},
        **{name: str(folder / "sung" / name.lower()) for name in traces},
        "GIT_EXEC_PATH": str(programs),
        "GIT_TEMPLATE_DIR": str(template.parent),
        "GIT_CONFIG_COUNT": "2",
        "GIT_CONFIG_KEY_0": "core.fsmonitor",
        "GIT_CONFIG_VALUE_0": canary.named("git_config_value"),
        "GIT_CONFIG_KEY_1": "diff.external",
        "GIT_CONFIG_VALUE_1": canary.named("git_config_value"),
        "GIT_CONFIG_PARAMETERS": f"'core.fsmonitor'='{canary.named('git_config_parameters')}'",
        "GIT_DIR": str(folder / "nowhere"),
        "GIT_WORK_TREE": str(folder / "nowhere"),
        "GIT_INDEX_FILE": str(folder / "nowhere/index"),
        "GIT_OBJECT_DIRECTORY": str(folder / "nowhere/objects"),
        "GIT_COMMON_DIR": str(folder / "nowhere"),
        "GIT_NAMESPACE": "nowhere",
        "GIT_ALLOW_PROTOCOL": "ext:file:git:ssh:https",
        "PATH": os.pathsep.join((".", "", os.environ["PATH"])),
    }
