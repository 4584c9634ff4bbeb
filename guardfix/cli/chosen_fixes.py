"""What the options come to that say which fixes a command takes."""

from __future__ import annotations

from msgspec import Struct

from guardfix.codemods.choice import FixChoice

from .lazy_click_errors import usage_error


class FixOptions(Struct, frozen=True):
    """The options of `choosing`."""

    unsafe: bool = False
    no_hoist: bool = False
    remove_redundant: bool = False
    preserve: bool = False
    compat: bool = False


def choice_from(options: FixOptions, minimum_torch: str) -> FixChoice:
    """The fixes that the options choose; the oldest torch, if one is named, has to fit."""
    if options.preserve or options.compat:
        _check_torch(options, minimum_torch)
    return FixChoice(
        unsafe=options.unsafe,
        hoist=not options.no_hoist,
        remove_redundant=options.remove_redundant,
        preserve=options.preserve,
        compat=options.compat,
    )


def _check_torch(options: FixOptions, minimum_torch: str) -> None:
    from guardfix.codemods.edits.torch_in_use import NEW_GUARDS_SINCE, version_of

    older = not minimum_torch or version_of(minimum_torch) < NEW_GUARDS_SINCE
    if options.preserve and older:
        raise usage_error(
            "--preserve needs --minimum-torch 1.9 or newer (or `minimum-torch` in the configuration): before 1.9, the "
            "old guard did what no single new guard does"
        )
    if options.compat and minimum_torch and not older:
        raise usage_error(
            f"--compat keeps the old guard for torch before 1.9, but the oldest supported version is {minimum_torch}"
        )
