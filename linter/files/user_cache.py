"""Where guardfix keeps what it has found out: a folder of the user's, outside every tree that is checked."""

from __future__ import annotations

import os
import stat
import struct

VARIABLE = "GUARDFIX_CACHE_DIR"
"""The environment variable that names another folder."""

_TAG = """Signature: 8a477f597d28d172789f06886806bc55
# This file marks a cache: backup programs leave its folder out. See https://bford.info/cachedir/
"""


def user_cache_folder() -> str:
    """$GUARDFIX_CACHE_DIR, else guardfix in the user's cache folder. It need not exist."""
    given = os.environ.get(VARIABLE)
    if given:
        return given
    return os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "guardfix")


def facts_folder() -> str:
    """Where facts about files are kept."""
    return os.path.join(user_cache_folder(), "facts")


def own_folder(name: str) -> str:
    """The folder of that name in the cache; empty where others could have put something into it."""
    return "" if writable_by_others(folder := os.path.join(user_cache_folder(), name)) else folder


def writable_by_others(path: str) -> bool:
    """Whether another user can put something into a folder of the cache, or has: what is found there is then not ours.

    A folder that isn't there yet is asked about by those above it; in one like /tmp, no one can replace what is ours.
    """
    if os.name == "nt" or not hasattr(os, "geteuid"):
        return False
    ours, place, innermost = (0, os.geteuid()), os.path.realpath(path), True
    while True:
        try:
            found = os.stat(place)
        except OSError:
            found = None
        if found is not None:
            shared = found.st_mode & stat.S_IWOTH or (found.st_mode & stat.S_IWGRP and _is_of_more(place, found.st_gid))
            if found.st_uid not in ours or (shared and (innermost or not found.st_mode & stat.S_ISVTX)):
                return True
            if innermost and any(_owner(entry) not in ours for entry in _entries(place)):
                return True  # put there before the folder was ours alone
        innermost = False
        if place == os.path.dirname(place):
            return False
        place = os.path.dirname(place)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _owner(entry: os.DirEntry[str]) -> int:
    """The owner; of what is gone by now, root."""
    try:
        return entry.stat(follow_symlinks=False).st_uid
    except OSError:
        return 0


def _is_of_more(place: str, group: int) -> bool:
    """Whether others than this user and root can have the rights that a folder's group has, or its access list gives.

    Where there is a list, the mode's bits for the group are the most that it gives to anybody named there.
    """
    import grp
    import pwd

    if hasattr(os, "getxattr"):
        try:
            entries = struct.iter_unpack("<HHI", os.getxattr(place, "system.posix_acl_access")[4:])
        except (OSError, struct.error):
            entries = iter(())
        if any(tag in _NAMED_IN_ACL for tag, _, _ in entries):
            return True
    try:
        name = pwd.getpwuid(os.geteuid()).pw_name
        group_name, _, _, members = grp.getgrgid(group)  # of one's own name it is for one alone; `staff` is everybody's
    except KeyError:
        return group != os.getegid()
    return group_name not in (name, "root") or not set(members) <= {name, "root"}


_NAMED_IN_ACL = (0x02, 0x08)
"""Tags of entries for a user and a group other than the folder's own."""


def made_folder(path: str) -> str:
    """The folder `path` of the cache, made if there is none, for this user alone. Raises `OSError`."""
    os.makedirs(path, mode=0o700, exist_ok=True)
    tag = os.path.join(os.path.dirname(path), "CACHEDIR.TAG")
    if not os.path.exists(tag):
        with open(tag, "w", encoding="utf-8") as file:
            file.write(_TAG)
    return path


def for_us_alone(path: str, flags: int) -> int:
    """Opens a file of the cache, which no other user reads."""
    return os.open(path, flags, 0o600)
