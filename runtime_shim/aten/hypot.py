"""`hypot`: the length of the hypotenuse. Derivatives as in derivatives.yaml."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dtypes import Array
from ..dispatch.registration import op


@op(
    "hypot",
    inplace=True,
    self=lambda grad, self, result: grad * (self / result),
    other=lambda grad, other, result: grad * (other / result),
)
def hypot(self: Any, other: Any) -> Array:
    return np.hypot(self, other)
