"""When Python looks for garbage. Reading files makes objects by the million, nearly all of which are kept meanwhile."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collection_paused() -> Iterator[None]:
    """No garbage collection meanwhile: trees and facts hold no cycles, and looking for some takes longer than making
    them."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
