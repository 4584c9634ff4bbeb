"""Paths -> files: which files of the given roots are looked at."""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import islice

from msgspec import Struct, field

from guardfix.regular_files import read_regular

from ..named_tuples import NamedTuple
from .ignore_patterns import IgnorePatterns, is_pattern, pattern_lines
from .languages import language_of
from .prefilter_table import LANGUAGES
from .project_root import CONFIGURATION_FILES
from .sources import Unreadable
from .workspace import DISK, Workspace

EVERY_NAME = sys.maxsize

SKIPPED_FOLDERS = frozenset(
    ".bzr .direnv .eggs .git .hg .mypy_cache .nox .pytest_cache .ruff_cache .svn .tox .venv "
    "CMakeFiles __pycache__ __pypackages__ node_modules".split()
)
"""What version control, caches, package managers and builds keep for themselves."""


class NoSuchPath(Exception):
    """A path on the command line that does not exist."""


class BadPattern(Exception):
    """A pattern that .gitignore's syntax gives no meaning, such as a lone `!`; the message is the pattern."""


class UnreadPlace(NamedTuple):
    """A folder that could not be listed, a .gitignore in it, or what was named and is not a file (a pipe, a socket)."""

    path: str
    reason: str
    language: str | None
    """By its name; None for a folder and for a .gitignore, which have none."""


class FoundFiles(Struct):
    """What was found, in the order in which it is looked at."""

    files: dict[str, list[str]] = field(default_factory=dict)
    """Paths by language."""
    unreadable: list[UnreadPlace] = field(default_factory=list)
    workspace: Workspace = DISK
    """Where their texts come from."""

    def __len__(self) -> int:
        return sum(map(len, self.files.values()))

    def paths(self) -> list[str]:
        """All of them, language by language."""
        return [path for paths in self.files.values() for path in paths]


_LARGEST_IGNORE_FILE = 1 << 20
"""Bytes; of a larger file nothing is read."""

Ignored = Callable[[str, bool], bool]
"""Whether a path (absolute, is it a folder) is ignored."""


class _IgnoreFile:
    """The patterns of one .gitignore, asked about paths below its folder."""

    def __init__(self, folder: str, lines: Iterable[str]) -> None:
        self.prefix = len(folder.rstrip(os.sep)) + 1
        """Characters of a path that come before what is matched."""
        self._patterns = IgnorePatterns(lines)

    def __call__(self, path: str, is_folder: bool) -> bool | None:
        """True ignored, False taken back by a `!` pattern, None when no pattern matches this very path."""
        relative = path[self.prefix :]
        return self._patterns.verdict(relative if os.sep == "/" else relative.replace(os.sep, "/"), is_folder)


def _read_ignore_file(folder: str, unread: list[UnreadPlace] | None = None, shown: str = "") -> _IgnoreFile | None:
    """The patterns of a folder's .gitignore. One that can't be read is added to `unread`, named `shown`."""
    path = os.path.join(folder, ".gitignore")
    try:
        data = read_regular(path, _LARGEST_IGNORE_FILE)
        if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise Unreadable("saved as UTF-16, which git can't read; save it as UTF-8")
    except (OSError, Unreadable) as error:
        if unread is not None and os.path.lexists(path) and not os.path.isdir(path):
            reason = (error.strerror if isinstance(error, OSError) else "") or str(error)
            unread.append(UnreadPlace(shown or path, f"{reason}; none of its patterns count", None))
        return None
    return _IgnoreFile(folder, pattern_lines(data))


def _ignore_files_above(root: str) -> list[_IgnoreFile]:
    """The .gitignore files of the folders above `root`, up to the top of its git repository."""
    above: list[_IgnoreFile] = []
    folder = root
    while not os.path.exists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return []
        folder = parent
        found = _read_ignore_file(folder)
        if found is not None:
            above.append(found)
    return above[::-1]


def _ignore_files_of(folder: str, root: str = "") -> list[_IgnoreFile]:
    """The .gitignore files that speak of a folder's files: its own, and those above it, at least up to `root`."""
    between = [folder]
    while root and between[-1] != root and between[-1] != os.path.dirname(between[-1]):
        between.append(os.path.dirname(between[-1]))
    own = filter(None, map(_read_ignore_file, reversed(between)))
    return [*_ignore_files_above(between[-1]), *own]


def path_matcher(folder: str, patterns: Sequence[str]) -> Callable[[str, bool], bool]:
    """Whether an absolute path (second argument: is it a folder) matches patterns that start from `folder`.

    Raises `BadPattern`.
    """
    return _path_matcher(folder, tuple(patterns)) if patterns else lambda path, is_folder: False


@lru_cache(maxsize=1024)
def _path_matcher(folder: str, patterns: tuple[str, ...]) -> Callable[[str, bool], bool]:
    """A run asks for the same patterns again: in each folder with a configuration, and in each pass of fixes."""
    for pattern in patterns:
        if not is_pattern(pattern):
            raise BadPattern(pattern)
    ignore = IgnorePatterns(patterns)
    prefix = folder.rstrip(os.sep) + os.sep

    def matched(path: str, is_folder: bool) -> bool:
        # Outside the folder a pattern can still name a file or folder anywhere.
        relative = path[len(prefix) :] if path.startswith(prefix) else path.lstrip(os.sep)
        if os.sep != "/":
            relative = relative.replace(os.sep, "/")
        return below(relative[: max(0, relative.rfind("/"))]) or bool(ignore.verdict(relative, is_folder))

    @cache
    def below(folder: str) -> bool:
        """Whether a folder is ignored, or one above it."""
        above = folder[: max(0, folder.rfind("/"))]
        return bool(folder) and (below(above) or bool(ignore.verdict(folder, True)))

    return matched


def _any_of(*matchers: Callable[[str, bool], bool]) -> Callable[[str, bool], bool]:
    return lambda path, is_folder: any(matched(path, is_folder) for matched in matchers)


FolderPatterns = tuple[tuple[str, tuple[str, ...]], ...]
"""(folder, patterns in .gitignore's syntax that start from it) pairs."""


class PathPatterns(NamedTuple):
    """Which files a configuration leaves out."""

    exclude: FolderPatterns = ()
    include: FolderPatterns = ()
    """Only files that one of these matches are taken; all, when there are none."""

    def left_out(self) -> Ignored | None:
        """Whether a path is left out; None where none is. Raises `BadPattern`."""
        excluded = [path_matcher(os.path.realpath(folder), patterns) for folder, patterns in self.exclude if patterns]
        included = [path_matcher(os.path.realpath(folder), patterns) for folder, patterns in self.include if patterns]
        if not included:
            return _any_of(*excluded) if excluded else None
        return lambda path, is_folder: (
            any(matched(path, is_folder) for matched in excluded)
            or not (is_folder or any(matched(path, False) for matched in included))
        )


ALL_FILES = PathPatterns()
"""Leaves out none."""
_CONFIGURED = frozenset(CONFIGURATION_FILES)


def find_files(
    paths: Sequence[str],
    *,
    exclude: Sequence[str] = (),
    root: str = "",
    root_exclude: Sequence[str] = (),
    patterns: PathPatterns = ALL_FILES,
    patterns_in: Callable[[str], PathPatterns] | None = None,
    respect_gitignore: bool = True,
    force_exclude: bool = False,
    languages: Mapping[str, str] = LANGUAGES,
    found: Callable[[list[str], str], None] | None = None,
    workspace: Workspace = DISK,
    most: int = EVERY_NAME,
) -> FoundFiles:
    """The files of these languages (suffix in small letters -> language) at and below `paths`, each once.

    `exclude` holds patterns that start from the working folder, `root_exclude` such that start from `root`; `patterns`
    are further ones. `patterns_in` gives instead of `patterns` those that are in force in a folder (a real path): it
    is asked where the walk begins, and again where a configuration may be.
    Files that are named themselves are taken whatever .gitignore and `exclude` say (unless `force_exclude`),
    as Ruff does it. Symbolic links are followed only to places below the given roots; those that lead nowhere
    are passed over, as they have no text, unless they are named themselves. Paths are
    reported as given: relative roots give relative paths. `found` is called with the paths of each folder,
    language by language, while the walk goes on. Below a folder there are the disk's files and the workspace's
    texts in memory, which `exclude` and .gitignore leave out alike. The walk ends after `most` names.

    Raises `NoSuchPath`, `BadPattern`, and what `patterns_in` raises.
    """
    everywhere = ((os.curdir, tuple(exclude)), (root or os.curdir, tuple(root_exclude)))

    @cache
    def left_out_by(chosen: PathPatterns) -> Ignored | None:
        return chosen._replace(exclude=(*everywhere, *chosen.exclude)).left_out()

    def left_out_in(folder: str) -> Ignored | None:
        """What the patterns leave out that are in force in a folder."""
        return left_out_by(patterns if patterns_in is None else patterns_in(folder))

    _ = left_out_by(ALL_FILES), left_out_by(patterns)  # a bad pattern is an error whatever is found
    roots: list[tuple[str, str]] = []
    for path in paths:
        if not workspace.exists(path):
            raise NoSuchPath(f"{path} (a link to {os.readlink(path)})" if os.path.islink(path) else path)
        roots.append((path, workspace.key(path)))
    walk = _Walk(
        workspace,
        languages,
        found,
        left_out_in,
        patterns_vary=patterns_in is not None,
        respect_gitignore=respect_gitignore,
        force_exclude=force_exclude,
        result=FoundFiles({language: [] for language in languages.values()}, workspace=workspace),
        left=most,
    )
    for shown, real in roots:
        walk.take_root(shown, real)
    walk.follow_links(tuple(real.rstrip(os.sep) + os.sep for _, real in roots))
    return walk.result


class _Walk(Struct):
    """One search for files: how it chooses, and what it has met so far."""

    workspace: Workspace
    languages: Mapping[str, str]
    found: Callable[[list[str], str], None] | None
    left_out_in: Callable[[str], Ignored | None]
    patterns_vary: bool
    respect_gitignore: bool
    force_exclude: bool
    result: FoundFiles
    left: int
    """How many more names are looked at."""
    folders: set[str] = field(default_factory=set)
    named: set[str] = field(default_factory=set)
    """Real paths of files that are not to be taken again."""
    met: list[tuple[str, int, list[str]]] = field(default_factory=list)
    """What folders gave, for `named` if a second name turns up: noting each file by itself takes longer."""
    links: list[tuple[str, str]] = field(default_factory=list)

    def take_root(self, shown: str, real: str) -> None:
        """What is at and below one of the given paths, on the disk and in memory."""
        workspace = self.workspace
        inside = workspace.below(shown)
        on_disk = workspace.has_disk and os.path.isdir(real)
        if on_disk:
            above = _ignore_files_above(real) if self.respect_gitignore else []
            waiting = [(shown, real, above, self.left_out_in(real))]
            while waiting:  # no recursion: folders may lie in one another deeper than Python's stack
                waiting += reversed(list(self._visit(*waiting.pop())))
        elif not inside:
            self._take_named(shown, real)
        for path in inside:
            language = language_of(path, self.languages)
            full = workspace.key(path)
            if language is None or not SKIPPED_FOLDERS.isdisjoint(full[len(real) :].split(os.sep)):
                continue
            if not self._is_left_out(full, real):
                self._take_new(path, full, language)

    def _take_named(self, shown: str, real: str) -> None:
        """A file that is named itself."""
        language = language_of(shown, self.languages) or language_of(real, self.languages)
        if language is None:
            return
        if not self.workspace.is_file(shown):
            # Opening a named pipe would wait for somebody to write into it.
            self.result.unreadable.append(UnreadPlace(shown, "not a regular file", language))
        elif not (self.force_exclude and self._is_left_out(real)):
            self._take_new(shown, real, language)

    def _is_left_out(self, path: str, root: str = "") -> bool:
        """Whether a file to which no walk has led is left out."""
        folder = os.path.dirname(path)
        if (
            self.respect_gitignore
            and self.workspace.has_disk
            and _ignored_or_below(path, _ignore_files_of(folder, root))
        ):
            return True
        excluded = self.left_out_in(folder)
        return excluded is not None and excluded(path, False)

    def _visit(
        self, shown: str, real: str, ignores: list[_IgnoreFile], excluded: Ignored | None
    ) -> Iterator[tuple[str, str, list[_IgnoreFile], Ignored | None]]:
        """Take what a folder holds; the folders in it, which are to be visited next."""
        if real in self.folders or not self.left:
            return
        self.folders.add(real)
        try:
            with os.scandir(real) as entries:
                listed: list[os.DirEntry[str]] = list(islice(entries, self.left))
        except OSError as error:
            self.result.unreadable.append(UnreadPlace(shown, error.strerror or str(error), None))
            return
        self.left -= len(listed)
        prefix = "" if shown == os.curdir else shown.rstrip(os.sep) + os.sep
        if self.respect_gitignore and any(entry.name == ".gitignore" for entry in listed):
            own = _read_ignore_file(real, self.result.unreadable, prefix + ".gitignore")
            if own is not None:
                ignores = [*ignores, own]
        if self.patterns_vary and any(entry.name in _CONFIGURED for entry in listed):
            excluded = self.left_out_in(real)
        files, folders = self._sorted_out(listed, prefix, ignores, excluded)
        for language, paths in files.items():
            if paths:
                self.met.append((real.rstrip(os.sep) + os.sep, len(prefix), paths))
                self._take(paths, language)
        yield from ((*folder, ignores, excluded) for folder in folders)

    def _sorted_out(
        self, listed: Sequence[os.DirEntry[str]], prefix: str, ignores: list[_IgnoreFile], excluded: Ignored | None
    ) -> tuple[dict[str, list[str]], list[tuple[str, str]]]:
        """The files of a folder that are taken, by language, and the folders in it that are visited."""
        languages, named = self.languages, self.named
        folders: list[tuple[str, str]] = []
        files: dict[str, list[str]] = {language: [] for language in self.result.files}
        all_kept = not ignores and excluded is None and not named
        for entry in listed:
            name = entry.name
            language = languages.get(name[name.rfind(".") :])
            if language is None or not entry.is_file(follow_symlinks=False):
                if entry.is_dir(follow_symlinks=False):
                    if name not in SKIPPED_FOLDERS and not _left_out(entry.path, True, ignores, excluded):
                        folders.append((prefix + name, entry.path))
                    continue
                language = language_of(name, languages)
                if language is None:
                    continue
                if not entry.is_file(follow_symlinks=False):
                    if entry.is_symlink():
                        self.links.append((prefix + name, os.path.realpath(entry.path)))
                    continue
            if all_kept or not (entry.path in named or _left_out(entry.path, False, ignores, excluded)):
                files[language].append(prefix + name)
        return files, folders

    def _take(self, paths: list[str], language: str) -> None:
        self.result.files[language] += paths
        if self.found is not None:
            self.found(paths, language)

    def _take_new(self, shown: str, real: str, language: str) -> None:
        """Take a file, unless it was taken under another name."""
        for folder, start, names in self.met:
            self.named.update(folder + name[start:] for name in names)
        self.met.clear()
        if real not in self.named:
            self.named.add(real)
            self._take([shown], language)

    def follow_links(self, tops: tuple[str, ...]) -> None:
        """Take what links lead to below the roots: files that the walk met under another name, or passed over."""
        for shown, real in self.links:
            if real.startswith(tops) and os.path.isfile(real):
                language = language_of(shown, self.languages)
                excluded = self.left_out_in(os.path.dirname(real))
                if language is not None and not (excluded is not None and excluded(real, False)):
                    self._take_new(shown, real, language)


def _left_out(path: str, is_folder: bool, ignores: Sequence[_IgnoreFile], excluded: Ignored | None) -> bool:
    return _ignored(path, is_folder, ignores) or (excluded is not None and excluded(path, is_folder))


def _ignored(path: str, is_folder: bool, ignores: Sequence[_IgnoreFile]) -> bool:
    # The nearest .gitignore that has a pattern for the path decides.
    for ignore in reversed(ignores):
        verdict = ignore(path, is_folder)
        if verdict is not None:
            return verdict
    return False


def _ignored_or_below(path: str, ignores: Sequence[_IgnoreFile]) -> bool:
    """Whether a file is ignored, or a folder above it: nothing takes back what is in an ignored folder."""
    end = path.find(os.sep, min((ignore.prefix for ignore in ignores), default=len(path)))
    while end >= 0:
        if _ignored(path[:end], True, [ignore for ignore in ignores if ignore.prefix <= end]):
            return True
        end = path.find(os.sep, end + 1)
    return _ignored(path, False, ignores)
