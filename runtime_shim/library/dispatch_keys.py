"""Dispatch keys by the names that registrations give them."""

from __future__ import annotations

import re

from ..core.thread_state import ADINPLACEORVIEW, AUTOGRAD, BACKEND
from .custom_ops import AUTOGRAD_ALIAS, BACKEND_ALIAS, COMPOSITE

KEYS = {
    "Autograd": AUTOGRAD_ALIAS,
    "AutogradCPU": AUTOGRAD,
    "ADInplaceOrView": ADINPLACEORVIEW,
    "CPU": BACKEND,
    "CompositeExplicitAutograd": BACKEND_ALIAS,
    "CompositeImplicitAutograd": COMPOSITE,
}
#: Keys of tensors that the shim does not have: their kernels are accepted and never run.
ELSEWHERE = re.compile(
    r"(?:Autograd|Autocast|Sparse|Quantized|SparseCsr|NestedTensor)?"
    r"(?:CUDA|HIP|XLA|MPS|IPU|XPU|HPU|VE|Lazy|MTIA|MAIA|PrivateUse[123]|Meta)"
    r"|(?:Sparse|Quantized|SparseCsr|NestedTensor)CPU|AutogradOther|AutogradNestedTensor"
)
#: Keys that calls on the CPU pass through in PyTorch, and not here.
REFUSED = re.compile(
    r"AutocastCPU|BackendSelect|Conjugate|Negative|ZeroTensor|Python\w*|PreDispatch|Functionalize|FuncTorch\w+"
    r"|CompositeExplicitAutogradNonFunctional|CompositeImplicitAutogradNestedTensor"
)
