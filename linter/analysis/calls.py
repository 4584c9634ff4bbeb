"""What a call is, as far as its names show it: it loads a model, runs one, computes tensors, or computes nothing."""

from __future__ import annotations

import re

from ..facts import Call

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


_LOADS = re.compile(r"(?:^|::)(?:jit::)?(?:load|_load_for_mobile|_load_for_lite_interpreter|load_jit)$")
_LOAD_METHODS = frozenset(
    {
        "load_jit",
        "_load_for_mobile",
        "_load_for_lite_interpreter",
        "load_from_checkpoint",
        "from_pretrained",
    }
)
_RUNS = frozenset({"forward", "run_method", "runMethod", "get_method", "find_method", "run_async", "forward_async"})
_RUNS_A_MODEL = frozenset({"run", "predict", "infer", "operator()", "execute"})
_MODEL = re.compile(
    r"(?:^|[._>*(])_?(?:\w*[mM]odule|\w*[mM]odel|\w*[nN]et(?:work)?|predictor|_impl|encoder|decoder)_?\W*$"
)
_MAKES_A_MODEL = re.compile(
    r"^(?:[A-Z]|(?:get|make|load|build|create|init|set|reset|save|store|read|write|open|close|free|delete|destroy|new|find"
    r"|register|define|parse|import|export|convert|compile|prepare|setup|copy|clone|test|check|is|has|use|update)"
    r"(?:_|(?=[A-Z])))"
)
"""Functions that are named after the model they make or handle, and classes: `buildModel()`, `Net()` run none."""


def is_load(call: Call) -> bool:
    """`torch::jit::load`, `torch::load`, `_load_for_mobile`: a model comes from a file."""
    if call.name in _LOAD_METHODS:
        return True
    return not call.receiver and _LOADS.search(call.callee) is not None and call.callee not in ("load", "std::load")


def is_run(call: Call) -> bool:
    """A model is run: `model.forward(x)`, `module->run_method("f", x)`, `net(x)`, Python's `self.net(x)`."""
    if call.name in _RUNS and call.receiver:
        return not call.receiver.startswith(("std", "ctx"))
    if call.name in _RUNS_A_MODEL and call.receiver:
        return _MODEL.search(call.receiver) is not None
    return (
        call.receiver in ("", "self")
        and "::" not in call.callee
        and _MODEL.search(call.callee) is not None
        and not call.callee.isupper()
        and not _MAKES_A_MODEL.search(call.name)
    )


# Calls that compute no tensor: bookkeeping on the context, on containers and on values.
_IDLE = frozenset(
    """save_for_backward mark_dirty mark_non_differentiable set_materialize_grads get_saved_variables saved_data
    make_tuple make_pair tie move forward_as_tuple get value has_value value_or push_back emplace_back reserve size
    sizes dim defined options dtype scalar_type device numel toInt toBool toDouble toTensor toTensorVector toString
    toIntVector
    toDoubleVector Tensor Variable variable_list tensor_list IValue intrusive_from_this static_cast c_str data begin end
    empty_tensor nullopt vector make_unique make_shared reset release swap""".split()
)


def computes_nothing(call: Call) -> bool:
    """A call that computes no tensor."""
    receiver = call.receiver.split("->")[0].split(".")[0]
    return receiver in ("ctx", "context", "std") or call.name in _IDLE or call.callee.startswith("std::")
