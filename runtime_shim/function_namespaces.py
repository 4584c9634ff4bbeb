"""`torch.linalg`, `torch.special` and `torch.functional`: functions of `aten` under other names."""

from __future__ import annotations

from types import ModuleType

from .aten import FUNCTIONS, LATE_FUNCTIONS
from .aten.matrices.matrix_functions import LinAlgError
from .core.late_modules import late_module
from .core.supported_names import missing as _missing

_SAME_IN_SPECIAL = frozenset(
    "digamma erf erfc erfinv exp2 expm1 log1p log_softmax logit logsumexp polygamma sinc softmax xlogy".split()
)
_SPECIAL = {"expit": "sigmoid", "gammaln": "lgamma", "psi": "digamma", **{name: name for name in _SAME_IN_SPECIAL}}
_LINALG = {"matmul": "matmul"}
_FUNCTIONAL = frozenset(
    "atleast_1d atleast_2d atleast_3d broadcast_shapes broadcast_tensors cdist "
    "einsum meshgrid norm split tensordot unique unique_consecutive".split()
)


class _Namespace(ModuleType):
    """A module that looks its functions up when they are asked for."""

    def _name_of(self, name: str) -> str:
        if self.__name__ == "torch.linalg":
            return _LINALG.get(name, f"linalg_{name}")
        return (
            _SPECIAL.get(name, f"special_{name}")
            if self.__name__ == "torch.special"
            else name
            if name in _FUNCTIONAL
            else ""
        )

    def __getattr__(self, name: str) -> object:
        if name == "LinAlgError" and self.__name__ == "torch.linalg":
            return LinAlgError
        function = self._name_of(name)
        if function in LATE_FUNCTIONS and function not in FUNCTIONS:
            late_module(f"aten.{LATE_FUNCTIONS[function]}")
        if function in FUNCTIONS:
            return FUNCTIONS[function]
        return _missing(self.__name__, name)


linalg, special, functional = (_Namespace(f"torch.{name}") for name in ("linalg", "special", "functional"))
