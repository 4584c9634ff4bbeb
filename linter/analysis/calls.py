"""What a call is, as far as its names show it: it loads a model, runs one, computes tensors, or computes nothing."""

from __future__ import annotations

import re

from ..facts import Call
from ..facts.expressions import (
    Bracketed,
    CallExpression,
    Expression,
    LiteralExpression,
    MemberAccess,
    NamePath,
    TypeName,
    chain_words,
    first_name,
    innermost_object,
    is_named,
    is_this,
    last_name,
    pointee,
    simple_name,
)
from ..lazy_regex import lazy_regex

# Functions of torch:: and at:: that compute no tensor: settings, types, threads, devices.
_SETTINGS = lazy_regex(
    r"(?:^|_)(?:parallel_for|parallel_reduce|num_threads|thread_num|interop_threads|in_parallel_region|launch"
    r"|is_available|device_count|synchronize|manual_seed|globalContext|hasCUDA|getCPUGenerator|save|load|pickle_save"
    r"|dtype|device|layout|requires_grad|TensorOptions|Device|Scalar|IntArrayRef|ArrayRef|Tensor|Dict|List|ScalarType"
    r"|kCPU|kCUDA|autocast_\w+|wrapPropagateTLSState|divup|intrusive_ptr|make_intrusive|optional|ThreadLocalState"
    r"|warn|typeMetaToScalarType|elementSize|str|init_num_threads)$"
)
_PATHS_TO_OPS = (("torch",), ("at",))
_SUBSPACES = frozenset({(), ("nn", "functional"), ("special",), ("linalg",), ("fft",), ("native",)})
# Methods whose names hardly anything but a tensor has. The table knows that of Python's libraries; in C++, threads
# detach and sets expand as well.
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
    if call.receiver is not None:
        return call.name in _METHODS and not _is_of_std(call.receiver)
    return names_op(call.path) and _SETTINGS.search(call.name) is None


def names_op(path: tuple[str, ...]) -> bool:
    """Whether a path can name an op: `torch::mm`, `at::native::add`, `torch.nn.functional.relu`."""
    return path[:1] in _PATHS_TO_OPS and path[1:-1] in _SUBSPACES and path[-1][:1].islower()


_LOADS = frozenset({"load", "_load_for_mobile", "_load_for_lite_interpreter", "load_jit"})
# The last ones are torch::deploy's and ExecuTorch's.
_LOAD_METHODS = frozenset(
    """load_jit _load_for_mobile _load_for_lite_interpreter _load_parameters import_ir_module pickle_load
    load_from_checkpoint from_pretrained loadPickle load_pickle acquireSession load_method load_forward""".split()
)
_RUNS = frozenset({"forward", "run_method", "runMethod", "get_method", "find_method", "run_async", "forward_async"})
_FORWARD_METHOD = lazy_regex(
    r"^forward(?:_|(?=[A-Z]))(?!as_tuple$|like$)(?!\w*(?:kernel|cuda|cpu|gpu|out|op|impl|backward|pass)_?$)\w+$",
    re.IGNORECASE,
)
"""`forward_encoder`, `forwardBatch`: methods that run a part of a model. Kernels are called `forward_cuda`."""
_PYTHON_METHODS = frozenset({"__call__", "forward", "predict", "infer", "inference", "generate"})
"""What is called on a model that is a Python object: `model.attr("forward")(x)`."""
_PYTHON_RUN = lazy_regex(
    r"(?:run|act|sample|decode|encode|embed|transcribe|translate|score|classify|detect|segment|complete|evaluate|process"
    r"|forward|predict|infer|generate)(?:_\w+)?$"
)
"""The same for an object that is named like a model: `policy_net.attr("act")(x)`."""
_OF_A_RESULT = frozenset({"toTensor", "toTuple", "toTupleRef", "toTensorVector", "toTensorList", "toGenericDict"})
"""What a value that a TorchScript module gives is asked for."""
_RUNS_A_MODEL = frozenset({"run", "predict", "infer", "operator()", "execute"})
_MODEL = lazy_regex(r"(?:[mM]odule|[mM]odel|[nN]et(?:work)?|(?:^|_)(?:predictor|_?_impl|encoder|decoder))_?$")
_MAKES_A_MODEL = lazy_regex(
    r"^(?:[A-Z]|(?:get|make|load|build|create|init|set|reset|save|store|read|write|open|close|free|delete|destroy|new|find"
    r"|register|define|parse|import|export|convert|compile|prepare|setup|copy|clone|test|check|is|has|use|update|populate|fill"
    r"|validate|verify|configure|describe|print|dump|log|show|list|select|choose|add|remove|attach|detach|bind|move|send"
    r"|transfer|fuse|quantize|prune|freeze|optimi[sz]e|trace|script|warm|train|fit|reload|unload|construct|allocate|resolve"
    r"|locate|lookup|fetch|download|warmup|share|swap|wrap|unwrap|replace|apply_to|count|compare|start|stop)"
    r"(?:_|(?=[A-Z])))"
)
"""Functions that are named after the model they make or handle, and classes: `buildModel()`, `Net()` run none."""


def is_load(call: Call) -> bool:
    """`torch::jit::load`, `torch::load`, `_load_for_mobile`: a model comes from a file."""
    if call.name in _LOAD_METHODS:
        return True
    if call.name not in _LOADS or not isinstance(call.called, NamePath) or call.called.template_arguments is not None:
        return False
    return call.path not in (("load",), ("std", "load"))


_PREPARES = frozenset(
    "freeze freeze_module optimize_for_inference optimizeForMobile optimize_for_mobile load_state_dict".split()
)


def prepares_model_for_use(call: Call) -> bool:
    """`model.eval()`, `torch::jit::freeze(m)`, `net->load_state_dict(d)`: a model is about to be run."""
    if call.name == "eval":
        return call.receiver is not None and not call.arguments and _is_model(call.receiver)
    return call.name in _PREPARES


def is_run(call: Call) -> bool:
    """A model is run: `model.forward(x)`, `module->run_method("f", x)`, `net(x)`, Python's `self.net(x)`."""
    receiver = call.receiver
    if receiver is not None and (call.name in _RUNS or _FORWARD_METHOD.match(call.name)):
        return first_name(receiver) not in ("std", "ctx")
    if receiver is not None and call.name in _OF_A_RESULT and isinstance(receiver, CallExpression):
        return _is_called_with_list(receiver)
    if isinstance(call.called, CallExpression):
        return _is_python_method(call.called)
    if receiver is not None and call.name in _RUNS_A_MODEL:
        return _is_model(receiver)
    if receiver is None and (len(call.path) != 1 or not simple_name(call.called)):
        return False
    return (
        (receiver is None or is_named(receiver, "self"))
        and _MODEL.search(call.name) is not None
        and not call.name.isupper()
        and not _MAKES_A_MODEL.search(call.name)
    )


def _is_called_with_list(given: CallExpression) -> bool:
    """`encoder_({x})`, `(*scorer)({x, y})`, `session.fromMovable(net)({x})`: an object whose call takes one list.

    The modules of TorchScript and of torch::deploy are such objects.
    """
    called = pointee(given.callee)
    if isinstance(called, CallExpression):
        is_object = True
        called = called.callee
    elif isinstance(called, MemberAccess):
        is_object = is_this(called.object)
    else:
        is_object = isinstance(called, NamePath) and len(called.path) == 1
    listed = len(given.arguments) == 1 and isinstance(given.arguments[0], Bracketed)
    return is_object and last_name(called)[:1].islower() and listed and str(given.arguments[0]).startswith("{")


def _is_python_method(called: CallExpression) -> bool:
    """`model.attr("forward")` of pybind11 and of torch::deploy."""
    if last_name(called.callee) != "attr" or not called.arguments:
        return False
    method = called.arguments[0]
    name = method.text.strip("\"'") if isinstance(method, LiteralExpression) else ""
    if name in _PYTHON_METHODS:
        return True
    held = isinstance(called.callee, MemberAccess) and _is_model(called.callee.object)
    return held and _PYTHON_RUN.match(name) is not None


def _is_model(receiver: Expression) -> bool:
    """Whether an object is named like a model: `model_`, `(*net)`, `self.encoder`, `std::move(model)`, `getModel()`."""
    bare = pointee(receiver)
    if isinstance(bare, CallExpression) and len(bare.arguments) == 1:
        return _is_model(bare.arguments[0])
    if isinstance(bare, CallExpression) and not bare.arguments:
        bare = bare.callee
    return _MODEL.search(last_name(bare)) is not None


QUERIES = frozenset(
    """numel size sizes dim ndimension stride strides scalar_type dtype device is_contiguous is_cuda is_cpu
    element_size itemsize nbytes get_device device_index storage_offset defined options""".split()
)
"""Methods by which C++ asks what a tensor is; the table doesn't have those that aren't ops."""
# Calls that compute no tensor: bookkeeping on the context, on containers and on values.
_IDLE = QUERIES | frozenset(
    """save_for_backward mark_dirty mark_non_differentiable set_materialize_grads get_saved_variables saved_data
    make_tuple make_pair tie move forward_as_tuple get value has_value value_or push_back emplace_back reserve
    toInt toBool toDouble toTensor toTensorVector toString toIntVector toDoubleVector Tensor Variable variable_list
    tensor_list IValue intrusive_from_this static_cast c_str data begin end empty_tensor nullopt vector reset release
    swap unsafeGetTensorImpl unsafeGetStorageImpl getIntrusivePtr unsafe_opaque_handle opaque_handle key_set
    dynamic_cast reinterpret_cast""".split()
)
_MAKERS = frozenset({"make_unique", "make_shared", "make_intrusive"})
_PLAIN_SPACES = frozenset({"std", "at", "torch", "c10"})


def builds_object(made: Expression) -> bool:
    """Whether a type is a class of the program's own: its constructor can do anything. `at::Tensor`'s does nothing."""
    name = made.name if isinstance(made, TypeName) else made
    if isinstance(made, TypeName) and made.marks:
        return False
    if not isinstance(name, NamePath) or name.path[0] in _PLAIN_SPACES or name.path[-1] in _IDLE:
        return False
    return (
        name.name[:1].isupper() and not name.name.isupper() and not name.name.endswith(("Guard", "Mode", "List", "Ref"))
    )


def computes_nothing(call: Call) -> bool:
    """A call that computes no tensor."""
    if call.name in _MAKERS and isinstance(call.called, NamePath):
        return not any(map(builds_object, call.called.template_arguments or ()))
    if call.name in _IDLE:
        return not is_run(call)
    if call.receiver is None:
        return call.path[:1] == ("std",)
    if is_named(innermost_object(call.receiver), "ctx", "context"):
        # An engine's context runs things: `context->enqueueV2(…)`.
        return _OF_CONTEXT.match(call.name) is not None or "saved_data" in chain_words(call.receiver)
    return _is_of_std(call.receiver)


_OF_CONTEXT = lazy_regex(r"save_|saved_|get_saved|mark_|set_materialize|needs_|has_|is_|forward$|unpack")
"""Methods of `AutogradContext` and of Python's `ctx`."""


# Functions of the standard library that give what they are given.
_HANDS_ON = frozenset(
    {"move", "forward", "get", "ref", "as_const", "exchange", "dynamic_pointer_cast", "static_pointer_cast"}
)


def _is_of_std(receiver: Expression) -> bool:
    """Whether the object is the standard library's: `std::chrono::steady_clock::now()`, and not `std::move(x)`."""
    innermost = innermost_object(pointee(receiver))
    return isinstance(innermost, NamePath) and innermost.path[0] == "std" and innermost.name not in _HANDS_ON
