"""The answer for files that hold no guard, before anything else is imported.

pre-commit calls `guardfix check FILE…` at every commit, and nearly always there is nothing to say. Importing the
command line and the front ends would cost ten times what reading the files does. Whatever is not plainly this
case, options, folders, configuration, trouble with a file, is left to the real command: this module only ever
answers "nothing", and a test holds it to the same words.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from guardfix.regular_files import read_regular

from ..wording import passed

_COMMANDS = ("check",)
_LARGEST = 8 << 20
"""Bytes of a file that is read here; a larger one may be too large altogether."""


def is_clean(arguments: Sequence[str]) -> str | None:
    """What to print when the named files plainly hold nothing; None when the real command has to look."""
    if not arguments or arguments[0] not in _COMMANDS:
        return None
    # What pre-commit calls. Whether an excluded file is left out makes no difference when it holds nothing.
    end = arguments.index("--") if "--" in arguments else len(arguments)
    paths = [argument for argument in arguments[1:end] if argument != "--force-exclude"]
    if any(path.startswith("-") for path in paths):
        return None
    paths += arguments[end + 1 :]
    if not paths or not all(map(os.path.isfile, paths)):
        return None
    from guardfix.linter.files import prefilter_record, prefilter_table
    from guardfix.linter.files.languages import language_of, why_not_read
    from guardfix.linter.files.project_root import find_configuration
    from guardfix.linter.files.search import candidates, names_a_code

    if any(name.startswith("GUARDFIX_OUTPUT") or name == "GUARDFIX_CONFIG" for name in os.environ):
        return None
    # A file is checked by the configuration that is nearest to it.
    folders = {os.path.realpath(os.path.dirname(path) or os.curdir) for path in paths} | {os.path.abspath(os.curdir)}
    if any(map(find_configuration, folders)) or not prefilter_record.is_current():
        return None
    seen = set()
    for path in paths:
        language = language_of(path)
        if language is None:
            continue
        seen.add(os.path.realpath(path))
        for _, trouble in candidates((path,), prefilter_table.NEEDLES[language], comments=names_a_code):
            if trouble or language not in prefilter_table.LOOKS or _may_matter(path, prefilter_table.LOOKS[language]):
                return None
    return passed(len(seen), why_not_read(paths) if not seen else "")


def _may_matter(path: str, look: str) -> bool:
    """Whether a file that holds a needle needs the real command, by the second look of its front end."""
    if os.path.getsize(path) > _LARGEST:
        return True
    may_matter = __import__(look, fromlist=("may_matter",)).may_matter
    data = read_regular(path)
    return data[:2] in (b"\xff\xfe", b"\xfe\xff") or may_matter(data)
