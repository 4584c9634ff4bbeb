"""Functions of numpy, without the look for `__array_function__` of the arguments.

That look takes as long as it takes to join two small arrays. These are for plain arrays alone: what a subclass of
ndarray does in their place isn't asked for.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_core: Any = getattr(np, "_core", None) or np.core
_compiled: Any = getattr(_core, "_multiarray_umath", np)

concatenate: Any = getattr(_compiled, "concatenate", np.concatenate)
where: Any = getattr(_compiled, "where", np.where)
