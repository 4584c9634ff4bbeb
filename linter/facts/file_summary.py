"""What a look at a file's bytes says about a project: what the file defines, what it does with models and gradients.

A file summary is made of every file of a project when a use stays open, so it must cost little: no parser, a few
patterns.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from ..named_tuples import NamedTuple
from ..str_enum import StrEnum


class Topic(StrEnum):
    """What the code of a project can be about."""

    OP = "defines ops"
    """It registers kernels with the dispatcher, writes autograd Functions or nodes, or extends Python with ops."""
    AUTOGRAD = "defines gradients"
    """It writes autograd Functions, builds graphs, or registers kernels under an Autograd key."""
    BINDING = "binds to Python"
    GRADIENT = "computes gradients"
    LOAD = "loads models"
    RUN = "runs models"
    TENSOR = "computes with tensors"


class Mention(NamedTuple):
    """How often a file mentions a topic, and where first."""

    times: int
    offset: int
    row: int
    text: str


class FileSummary(Struct, frozen=True):
    """One file, by its bytes alone."""

    path: str
    functions: frozenset[str] = frozenset()
    """Unqualified names of the functions that have a body there, and of the members that are given a lambda."""
    classes: frozenset[str] = frozenset()
    """Names of the classes that are defined there."""
    mentions: Mapping[Topic, Mention] = field(default_factory=dict)
    digest: bytes = b""
    """Of the text that was looked at."""
