"""What the options come to that say which fixes a command takes."""

from __future__ import annotations

from typing import Any

from guardfix.codemods.choice import FixChoice

from .lazy_click_errors import usage_error


def choice_from(arguments: dict[str, Any], minimum_torch: str) -> FixChoice:
    """Take the options of `choosing` out of a command's arguments; the oldest torch, if one is named, has to fit."""
    if arguments["preserve"] or arguments["compat"]:
        _check_torch(arguments, minimum_torch)
    return FixChoice(
        unsafe=arguments.pop("unsafe"),
        hoist=not arguments.pop("no_hoist"),
        remove_redundant=arguments.pop("remove_redundant"),
        preserve=arguments.pop("preserve"),
        compat=arguments.pop("compat"),
    )


def _check_torch(arguments: dict[str, Any], minimum_torch: str) -> None:
    from guardfix.codemods.edits.torch_in_use import NEW_GUARDS_SINCE, version_of

    older = not minimum_torch or version_of(minimum_torch) < NEW_GUARDS_SINCE
    if arguments["preserve"] and older:
        raise usage_error(
            "--preserve needs --minimum-torch 1.9 or newer (or `minimum-torch` in the configuration): before 1.9, the "
            "old guard did what no single new guard does"
        )
    if arguments["compat"] and minimum_torch and not older:
        raise usage_error(
            f"--compat keeps the old guard for torch before 1.9, but the oldest supported version is {minimum_torch}"
        )
