"""What dtype out= must have, op by op, and in what words PyTorch 2.13 refuses another.

Elementwise ops convert (`run_out` checks that they may); these do not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core import dtypes
from ..dispatch.op_description import OPS

_SAME = "Expected out tensor to have dtype {want.short}, but got {got.short} instead"
_SCALAR = "{name}(): self and result must have the same scalar type"
_FOUND = "Found dtype {got.scalar_name} but expected {want.scalar_name}"
_EXTREME = (
    "Expected the dtype for input and out to match, but got {want.scalar_name} for input's dtype and "
    "{got.scalar_name} for out's dtype."
)
_JOINED = "torch.cat(): input types can't be cast to the desired output type {got.scalar_name}"

_REFUSALS = {
    **dict.fromkeys(("argmax", "argmin", "gather", "mm", "bmm", "addmm"), _SAME),
    **dict.fromkeys(("index_select", "masked_select"), _SCALAR),
    **dict.fromkeys(("clamp", "clamp_tensor"), _FOUND),
    **dict.fromkeys(("amax", "amin"), _EXTREME),
    "dot": "result dtype {got.scalar_name} does not match input dtype {want.scalar_name}",
}


def _exactly(name: str, text: str) -> Callable[[Any, Any], None]:
    def check(want: Any, got: Any) -> None:
        if want != got:
            raise RuntimeError(text.format(name=name, want=dtypes.BY_CHAR[want.char], got=dtypes.BY_CHAR[got.char]))

    return check


def _castable(want: Any, got: Any) -> None:
    if not dtypes.can_cast(want, got):
        raise TypeError(_JOINED.format(got=dtypes.BY_CHAR[got.char]))


def _computed_in(want: Any, got: Any) -> None:
    """The reduction was computed in the dtype of out=, so nothing can be wrong with it."""


for _name, _text in _REFUSALS.items():
    OPS[_name].check_out = _exactly(_name, _text)
for _name in ("cat", "stack"):
    OPS[_name].check_out = _castable
for _name in ("sum_dim", "sum_all"):
    OPS[_name].check_out = _computed_in
for _name in ("cat", "stack", "gather", "index_select", "masked_select"):
    OPS[_name].stands_apart = True
for _name in ("clamp", "clamp_tensor"):
    OPS[_name].elementwise = True
