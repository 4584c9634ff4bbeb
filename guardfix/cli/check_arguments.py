"""The arguments of `guardfix check` as click reads them, for checks that are too short for it.

Written by `python -m guardfix.cli.record_arguments`; a test holds it to what click says.
"""

from __future__ import annotations

FLAGS: dict[str, str] = {
    "--no-gitignore": "no_gitignore",
    "--force-exclude": "force_exclude",
    "--isolated": "isolated",
    "--no-plugins": "no_plugins",
    "--no-cache": "no_cache",
    "-n": "no_cache",
    "--include-docs": "include_docs",
    "--quiet": "quiet",
    "-q": "quiet",
    "--fix": "fix",
    "--fix-only": "fix_only",
    "--add-noqa": "add_noqa",
    "--watch": "watch",
    "-w": "watch",
    "--unsafe": "unsafe",
    "--no-hoist": "no_hoist",
    "--remove-redundant": "remove_redundant",
    "--preserve": "preserve",
    "--compat": "compat",
    "--no-baseline": "no_baseline",
    "--statistics": "statistics",
    "--verbose": "verbose",
    "-v": "verbose",
    "--exit-zero": "exit_zero",
    "-e": "exit_zero",
    "--exit-non-zero-on-fix": "exit_non_zero_on_fix",
}
LISTS: dict[str, str] = {
    "--select": "select",
    "--ignore": "ignore",
    "--extend-select": "extend_select",
    "--exclude": "exclude",
    "--extend-exclude": "extend_exclude",
    "--config": "configs",
}
ENVIRONMENT: tuple[str, ...] = (
    "GUARDFIX_CONFIG",
    "GUARDFIX_NO_CACHE",
    "GUARDFIX_NO_PLUGINS",
    "GUARDFIX_OUTPUT_FILE",
    "GUARDFIX_OUTPUT_FORMAT",
)
