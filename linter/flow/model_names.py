"""Models and losses that only their names tell: what is presumed of what they give."""

from __future__ import annotations

import re

from . import making
from .guards_entered import why_unrecorded
from .paths import Interpreter, Place
from .saving_hazards import saving
from .state import State
from .values import (
    NONE,
    NOT_REQUIRED,
    Grad,
    Ref,
    Step,
    Tensor,
    Value,
)

_MODEL = re.compile(
    r"(?:^|_|\b)(?:model|models|net|nets|network|module|backbone|encoder|decoder|unet|vae|policy|actor|critic|teacher|student|"
    r"generator|discriminator|classifier|clf|head|llm|transformer|embedder|extractor|predictor|detector|segmentor|"
    r"ref_model|reward_model|base_model)\d*_?$",
    re.IGNORECASE,
)


RUNS = re.compile(
    r"^(?:forward|__call__|generate|encode|decode|embed|predict|extract|sample|get|encode_\w+|forward_\w+)$"
)


MODULE_ONLY = frozenset(
    "eval train parameters named_parameters state_dict load_state_dict zero_grad children modules named_modules".split()
)


_LOSS = re.compile(r"(?:^|_|\.)(?:criterion|crit|loss|loss_fn|loss_func|loss_function|objective)\w*$", re.IGNORECASE)


def is_loss_name(shown: str) -> bool:
    """Whether what is called has a name that programs give their losses."""
    return bool(_LOSS.search(shown))


_SETTINGS = re.compile(
    r"(?:^|[._])(?:args|arguments|config|configs|cfg|conf|hparams|hyperparameters|opt|opts|options|settings|flags)$",
    re.IGNORECASE,
)


def holds_settings(shown: str) -> bool:
    """Whether an object has a name that programs give their settings, which are numbers, flags and texts."""
    return bool(_SETTINGS.search(shown))


def is_model_name(shown: str) -> bool:
    """Whether what is called has a name that programs give their models."""
    parts = [part for part in re.split(r"[.\[]", shown) if part]
    if not parts:
        return False
    if parts[-1] in ("forward", "module"):
        parts = parts[:-1] or parts
    return bool(_MODEL.search(parts[-1]))


def loss_result(machine: Interpreter, shown: str, arguments: tuple[Value, ...], state: State, place: Place) -> Ref:
    """What an unknown loss gives: it presumably saves what it compares."""
    ref = state.add(Tensor(None, NOT_REQUIRED, False))
    grad: Grad = frozenset((ref.number,))
    hazards = tuple(
        saving(machine, value, NONE, grad, state, place, shown)._replace(presumed=f"if `{shown}` saves it")
        for value in arguments
        if isinstance(value, Ref) and making.is_inference(value, state) and making.is_tensor(value, state)
    )
    state.change(ref, grad=grad, hazards=hazards)
    return ref


def model_result(machine: Interpreter, shown: str, grads: Grad, state: State, place: Place) -> Ref:
    """What a model gives where nothing is recorded: presumably new tensors, perhaps in an object or a tuple."""
    off = why_unrecorded(state)
    unrecorded: tuple[Step, ...] = ()
    if off is not None:
        unrecorded = (
            Step(off.path, off.span, f"`{off.name}` begins: nothing is recorded"),
            place.step(f"`{shown}` runs, and records nothing"),
        )
    return making.new_tensor(
        state,
        place,
        f"`{shown}`",
        presumed=f"if `{shown}` returns a new tensor",
        open_=True,
        leaf=False,
        unrecorded=unrecorded,
    )


def presume_tensor(value: Value, shown: str, state: State) -> None:
    """What a function that is called as a model is gives: presumably tensors, where it computes with its arguments."""
    tensor = state.tensor(value)
    if tensor is not None and not tensor.shown and isinstance(value, Ref):
        state.change(value, shown=True, presumed=f"if `{shown}` returns a tensor")
