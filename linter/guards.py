"""The guard table: every guard that guardfix knows, as data, in one place.

Sources: torch 2.13's headers c10/core/InferenceMode.h, c10/core/GradMode.h,
ATen/core/LegacyTypeDispatch.h, ATen/record_function.h, torch/csrc/api/include/torch/utils.h; for Python
torch/autograd/grad_mode.py and torch/csrc/autograd/init.cpp.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from typing import Final

from msgspec import Struct

from .str_enum import StrEnum


class Takes(StrEnum):
    """What the constructor of a guard takes."""

    NOTHING = "nothing"
    OPTIONAL_BOOL = "bool, true when left out"
    BOOL = "bool"
    OTHER = "something else"


class Effect(StrEnum):
    """What a guard does to the thread's dispatch state while it lives."""

    INFERENCE = "inference mode"
    GRAD_MODE = "grad mode"
    BELOW_AUTOGRAD = "hides the Autograd keys"
    BELOW_ADINPLACEORVIEW = "hides the Autograd keys and ADInplaceOrView"
    NEIGHBOUR = "no effect on autograd; used beside guards"


class Guard(Struct, frozen=True):
    """One RAII guard class: where it lives, what it takes, what it does, and since when."""

    name: str
    namespaces: tuple[str, ...]
    """Namespaces through which the class is reachable, the defining one first."""
    takes: Takes
    effect: Effect
    headers: tuple[str, ...] = ()
    """Headers that bring the class, the narrowest first."""
    since: str | None = None
    deprecated_since: str | None = None
    companions: tuple[str, ...] = ()
    """Names beside the class that belong to it: the struct whose static functions do the same."""
    like: str = ""
    """Of a project's own guard: the one of PyTorch's that it does the same as. Its uses are then uses of that one."""


# `namespace at { using namespace c10; }` and `namespace torch { using namespace at; }` make every class of
# c10 reachable as at:: and torch::, and every class of at as torch::.
_FROM_C10: Final = ("c10", "at", "torch")
_FROM_AT: Final = ("at", "torch")

WIDE_HEADERS: Final = frozenset(
    {
        "torch/torch.h",
        "torch/script.h",
        "torch/extension.h",
        "torch/all.h",
        "torch/library.h",
        "torch/autograd.h",
        "torch/types.h",
        "torch/jit.h",
        "torch/nn.h",
        "ATen/ATen.h",
        "ATen/Functions.h",
        "ATen/NativeFunctions.h",
        "ATen/Tensor.h",
        "ATen/core/Tensor.h",
        "ATen/core/dispatch/Dispatcher.h",
        "ATen/core/op_registration/op_registration.h",
        "torch/csrc/autograd/custom_function.h",
        "torch/csrc/autograd/function.h",
        "torch/csrc/autograd/variable.h",
        "torch/csrc/jit/api/module.h",
        "torch/csrc/jit/mobile/import.h",
        "torch/csrc/jit/mobile/module.h",
        "torch/csrc/jit/runtime/custom_operator.h",
        "torch/csrc/jit/serialization/import.h",
        "LibTorch/LibTorch.h",
        "LibTorch-Lite/LibTorch-Lite.h",
        "Libtorch/Libtorch.h",
        "Libtorch-Lite/Libtorch-Lite.h",
    }
)
"""Headers that bring every guard of the table (`#include` or `#import`); read off torch 2.13's include graph."""

LEGACY: Final = "AutoNonVariableTypeMode"
LEGACY_API: Final = "NonVariableTypeMode"
INFERENCE_MODE: Final = "InferenceMode"
BELOW_AUTOGRAD: Final = "AutoDispatchBelowAutograd"
BELOW_ADINPLACEORVIEW: Final = "AutoDispatchBelowADInplaceOrView"

_LEGACY_HEADER: Final = "ATen/core/LegacyTypeDispatch.h"

CPP: Final[dict[str, Guard]] = {
    guard.name: guard
    for guard in (
        Guard(
            LEGACY,
            _FROM_AT,
            Takes.OPTIONAL_BOOL,
            Effect.BELOW_AUTOGRAD,
            (_LEGACY_HEADER,),
            deprecated_since="1.9",
            companions=(LEGACY_API,),
        ),
        Guard(
            INFERENCE_MODE,
            _FROM_C10,
            Takes.OPTIONAL_BOOL,
            Effect.INFERENCE,
            ("c10/core/InferenceMode.h",),
            since="1.9",
        ),
        Guard(
            BELOW_AUTOGRAD,
            _FROM_AT,
            Takes.NOTHING,
            Effect.BELOW_AUTOGRAD,
            (_LEGACY_HEADER,),
            since="1.9",
        ),
        Guard(
            BELOW_ADINPLACEORVIEW,
            _FROM_AT,
            Takes.NOTHING,
            Effect.BELOW_ADINPLACEORVIEW,
            (_LEGACY_HEADER,),
            since="1.9",
        ),
        Guard("NoGradGuard", _FROM_C10, Takes.NOTHING, Effect.GRAD_MODE, ("c10/core/GradMode.h",)),
        Guard("AutoGradMode", _FROM_C10, Takes.BOOL, Effect.GRAD_MODE, ("c10/core/GradMode.h",)),
        Guard("AutoFwGradMode", _FROM_C10, Takes.BOOL, Effect.GRAD_MODE, ("c10/core/GradMode.h",)),
        Guard("ExcludeDispatchKeyGuard", ("c10::impl",), Takes.OTHER, Effect.NEIGHBOUR),
        Guard("IncludeDispatchKeyGuard", ("c10::impl",), Takes.OTHER, Effect.NEIGHBOUR),
        Guard("GraphOptimizerEnabledGuard", ("torch::jit",), Takes.BOOL, Effect.NEIGHBOUR),
        Guard("ThreadLocalStateGuard", _FROM_AT, Takes.OTHER, Effect.NEIGHBOUR),
        Guard("NoTracerDispatchMode", ("at::tracer::impl",), Takes.NOTHING, Effect.NEIGHBOUR),
    )
}


# torch/__init__.py and torch/autograd/__init__.py re-export what torch/autograd/grad_mode.py defines.
_PUBLIC: Final = ("torch", "torch.autograd", "torch.autograd.grad_mode")
_PRIVATE: Final = ("torch._C",)

NO_GRAD: Final = "no_grad"
ENABLE_GRAD: Final = "enable_grad"
SET_GRAD_ENABLED: Final = "set_grad_enabled"
PYTHON_INFERENCE_MODE: Final = "inference_mode"
C_INFERENCE_MODE: Final = "_InferenceMode"
C_BELOW_AUTOGRAD: Final = "_AutoDispatchBelowAutograd"
C_BELOW_ADINPLACEORVIEW: Final = "_AutoDispatchBelowADInplaceOrView"

PYTHON: Final[dict[str, Guard]] = {
    guard.name: guard
    for guard in (
        Guard(NO_GRAD, _PUBLIC, Takes.NOTHING, Effect.GRAD_MODE),
        Guard(ENABLE_GRAD, _PUBLIC, Takes.NOTHING, Effect.GRAD_MODE),
        Guard(SET_GRAD_ENABLED, _PUBLIC, Takes.BOOL, Effect.GRAD_MODE),
        Guard(PYTHON_INFERENCE_MODE, _PUBLIC, Takes.OPTIONAL_BOOL, Effect.INFERENCE, since="1.9"),
        Guard(C_INFERENCE_MODE, _PRIVATE, Takes.BOOL, Effect.INFERENCE, since="1.9"),
        Guard(C_BELOW_AUTOGRAD, _PRIVATE, Takes.NOTHING, Effect.BELOW_AUTOGRAD),
        Guard(C_BELOW_ADINPLACEORVIEW, _PRIVATE, Takes.NOTHING, Effect.BELOW_ADINPLACEORVIEW),
        # PyTorch never gave the old guard to Python; projects that bind it themselves, and the shim, do.
        # The string literals of a Python file can hold C++, so the companions are searched for as well.
        Guard(LEGACY, (), Takes.OPTIONAL_BOOL, Effect.BELOW_AUTOGRAD, deprecated_since="1.9", companions=(LEGACY_API,)),
    )
}
"""The guards that Python code names. A guard without namespaces is taken from whatever module it comes."""

GuardChoice = Callable[[Guard], bool]
"""Which rows of the table a rule looks at."""


def gradient_guards(guard: Guard) -> bool:
    """Those that do something to autograd: all but the neighbours."""
    return guard.effect is not Effect.NEIGHBOUR


def deprecated_guards(guard: Guard) -> bool:
    """The deprecated ones."""
    return gradient_guards(guard) and guard.deprecated_since is not None


def current_guards(guard: Guard) -> bool:
    """Those that are not deprecated."""
    return gradient_guards(guard) and guard.deprecated_since is None


def public_guards(guard: Guard) -> bool:
    """Those of Python that `torch` itself exports."""
    return guard.namespaces[:1] == _PUBLIC[:1]


def torch_c_guards(guard: Guard) -> bool:
    """Those of Python that are C++'s classes, bound in `torch._C`."""
    return guard.namespaces == _PRIVATE


def needs_argument(guard: Guard) -> bool:
    """Those that nothing but an argument makes: `set_grad_enabled()` raises TypeError."""
    return guard.takes in (Takes.BOOL, Takes.OTHER)


def no_guards(guard: Guard) -> bool:
    """For a rule that looks at calls or other text only."""
    return False


def guards_with(*effects: Effect) -> GuardChoice:
    """The guards of these effects."""
    return lambda guard: guard.effect in effects


class GuardNames(Set[str]):
    """The names of the rows that a choice takes from a table, as the table is when it is asked."""

    def __init__(self, table: Mapping[str, Guard], choice: GuardChoice) -> None:
        self._table, self._choice = table, choice

    def __contains__(self, name: object) -> bool:
        return name in self._table and self._choice(self._table[str(name)])

    def __iter__(self) -> Iterator[str]:
        return (name for name, guard in self._table.items() if self._choice(guard))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @classmethod
    def _from_iterable(cls, names: Iterable[str]) -> Set[str]:  # type: ignore[override]
        return frozenset(names)


@contextmanager
def extended(table: dict[str, Guard], rows: Iterable[Guard]) -> Iterator[None]:
    """The table with further rows meanwhile: those that a configuration brings."""
    added = {guard.name: guard for guard in rows if guard.name not in table}
    table |= added
    try:
        yield
    finally:
        for name in added:
            table.pop(name, None)


PYTHON_MODULES: Final = ("torch", "guardfix.runtime_shim")
"""Modules that mean torch, whatever alias they are imported under."""


ENTERED_MODE: Final = "context manager that contains a guard"
"""What stands for a guard's name where a project's own context manager may enter one."""


def python_guard(dotted: str) -> str | None:
    """The name in the table that a dotted Python name stands for (`torch.autograd.no_grad` -> `no_grad`)."""
    if dotted == ENTERED_MODE:
        return dotted
    if dotted.startswith("guardfix.runtime_shim."):
        dotted = "torch" + dotted[len("guardfix.runtime_shim") :]
    module, _, name = dotted.rpartition(".")
    guard = PYTHON.get(name)
    if guard is None or (guard.namespaces and module not in guard.namespaces):
        return None
    return name


def canonical_name(name: str) -> str:
    """A dotted name in torch's own spelling, whatever module stands in for torch."""
    return PYTHON_MODULES[0] + name[len(shim) :] if name.startswith((shim := PYTHON_MODULES[1]) + ".") else name


ASKS_FOR_GRADIENTS, MAKES_LEAF = b"autograd::grad(", b"torch::requires_grad("
STEPS = (b".grad()", b"parameters()) ")
GRAD_MODE_SETTER = "GradMode::set_enabled"
"""What C++ sets the mode with by a call; to what follows it is like a guard."""
LAYER_WRITES = (b"->weight.", b"->bias.")
"""Texts of C++ by which functions that no guard reaches are run: PyTorch may raise in them as well."""
