"""What a use is declared to be for, by a person: in a comment at the use, or in the configuration."""

from __future__ import annotations

from ..named_tuples import NamedTuple
from ..str_enum import StrEnum
from .spans import Span


class Purpose(StrEnum):
    """What can be declared. All but the last are contexts that guardfix decides on as well."""

    INFERENCE = "inference"
    KERNEL = "kernel"
    BELOW_AUTOGRAD = "below_autograd"
    REMOVE = "remove"
    PRESERVE = "preserve"
    """Whatever the old guard does today, which since torch 1.9 is what `AutoDispatchBelowAutograd` does."""

    @property
    def is_of_kernels(self) -> bool:
        """Whether a guard that is made for kernels is meant to be there."""
        return self in (Purpose.KERNEL, Purpose.BELOW_AUTOGRAD, Purpose.PRESERVE)


PURPOSES = {purpose.value: purpose for purpose in Purpose} | {"below-autograd": Purpose.BELOW_AUTOGRAD}
"""The purposes by what is written for them."""


class Intent(NamedTuple):
    """A comment that declares what the guards on some rows are for: `// guardfix: kernel`."""

    purpose: Purpose
    span: Span
    """The whole comment."""
    rows: range
    """Its own rows; those down to the code below it, where nothing else is on them."""
    says_more: bool
    """The comment holds other words too."""
