"""`torch.distributions`: the distributions that most programs use, and the divergences between them."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from ..core.supported_names import missing as _missing
from .continuous_distributions import (
    Independent,
    MultivariateNormal,
    Normal,
    Uniform,
)
from .discrete_distributions import Bernoulli, Categorical, kl_divergence, register_kl
from .distribution import Distribution, _standard_normal, lazy_property
from .transforms import (
    AffineTransform,
    ComposeTransform,
    ExpTransform,
    LogNormal,
    SigmoidTransform,
    TanhTransform,
    Transform,
    TransformedDistribution,
    identity_transform,
)

#: The modules of PyTorch's package, and what programs import from them.
_HOMES: dict[str, tuple[Any, ...]] = {
    "bernoulli": (Bernoulli,),
    "categorical": (Categorical,),
    "independent": (Independent,),
    "kl": (kl_divergence, register_kl),
    "log_normal": (LogNormal,),
    "multivariate_normal": (MultivariateNormal,),
    "normal": (Normal,),
    "transformed_distribution": (TransformedDistribution,),
    "uniform": (Uniform,),
    "utils": (_standard_normal, lazy_property),
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        made = globals()[name] = ModuleType(f"torch.distributions.{name}")
        made.__dict__.update({found.__name__: found for found in _HOMES[name]})
        return made
    return _missing("torch.distributions", name)


__all__ = [
    "AffineTransform", "Bernoulli", "Categorical", "ComposeTransform", "Distribution", "ExpTransform",
    "Independent", "LogNormal", "MultivariateNormal", "Normal", "SigmoidTransform", "TanhTransform", "Transform",
    "TransformedDistribution", "Uniform", "identity_transform", "kl_divergence", "register_kl",
]  # fmt: skip
