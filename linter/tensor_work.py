"""Calls that compute tensors, as far as their names show it."""

from __future__ import annotations

import re

from .decision.inference import is_load, is_run
from .facts import Call

# Functions of torch:: and at:: that compute no tensor: settings, types, threads, devices.
_SETTINGS = re.compile(
    r"(?:^|_)(?:parallel_for|parallel_reduce|num_threads|thread_num|interop_threads|in_parallel_region|launch"
    r"|is_available|device_count|synchronize|manual_seed|globalContext|hasCUDA|getCPUGenerator|save|load|pickle_save"
    r"|dtype|device|layout|requires_grad|TensorOptions|Device|Scalar|IntArrayRef|ArrayRef|Tensor|Dict|List|ScalarType"
    r"|kCPU|kCUDA|autocast_\w+|wrapPropagateTLSState|divup|intrusive_ptr|make_intrusive|optional|ThreadLocalState"
    r"|warn|typeMetaToScalarType|elementSize|str|init_num_threads)$"
)
_SPACES = re.compile(
    r"^(?:::)?(?:torch|at)::(?:nn::functional::|special::|linalg::|fft::|native::)?(?P<name>[a-z]\w*)$"
)
# Methods whose names hardly anything but a tensor has.
_METHODS = frozenset(
    """add_ sub_ mul_ div_ copy_ zero_ fill_ clamp_ matmul mm bmm addmm softmax log_softmax sigmoid relu tanh unsqueeze
    squeeze permute index_select masked_fill masked_select argmax requires_grad_ toTensor normal_ uniform_""".split()
)


def computes_tensors(call: Call) -> bool:
    """Whether the call runs a model or an op: `model.forward(x)`, `torch::mm(a, b)`, `x.add_(y)`."""
    if is_load(call):
        return False
    if is_run(call):
        return True
    space = _SPACES.match(re.sub(r"<.*", "", call.callee)) if not call.receiver else None
    if space is not None:
        return _SETTINGS.search(space["name"]) is None
    return bool(call.receiver) and call.name in _METHODS and not call.receiver.startswith("std::")
