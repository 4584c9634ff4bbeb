# Long because it is a table.
"""What PyTorch says when a guard is in the wrong place, and what to do then: one row a message.

The rules, the shim, `guardfix explain`, `guardfix why` and docs/errors.md take their words from here. The texts are
those of PyTorch 2.13 and, where they differ, those read from the libraries of 1.9 to 2.10. `{}` stands for what varies.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple


class MessageText(NamedTuple):
    """One wording."""

    words: str
    until: str = ""
    """The last release seen with it; empty for one that PyTorch 2.13 still has."""
    since: str = ""
    """The first release seen with it; empty for 1.9 or older."""
    cpp_only: bool = False

    @property
    def title(self) -> str:
        """The wording in one line: its first sentence, with an ellipsis for what varies."""
        words = self.words.replace("{}", "…")
        end = words.find(". ")
        return words[:end] if end > 0 else words.split(".You ")[0].rstrip(".")


class Cure(NamedTuple):
    """A change that makes the message go away."""

    change: str
    cost: str
    """What it costs, or when it is the wrong one."""
    kind: str = ""
    """Which edit `guardfix why --apply` can make of it, `rule` for that of a rule; empty where a person has to."""


class KnownMessage(NamedTuple):
    """One thing that PyTorch says, in all its wordings."""

    key: str
    """The anchor in docs/errors.md."""
    texts: tuple[MessageText, ...]
    """The wording of today first."""
    cause: str
    cures: tuple[Cure, ...]
    rules: tuple[str, ...] = ()
    """Codes of the rules that find it before the program runs."""
    kind: str = "error"
    """`error`, `warning`, or `symptom` for what shows without a message."""
    blames: str = ""
    """Which guards can be to blame: `inference`, `any`, or none, where a guard is missing or has no part in it."""

    @property
    def title(self) -> str:
        """The wording of today in one line."""
        return self.texts[0].title


_TO_NO_GRAD = Cure(
    "use `no_grad` (C++: `NoGradGuard`) in place of inference mode for the block that makes the tensor",
    "the block runs a little slower, since version counters and view tracking stay on; everything else stays as it is",
    "no_grad",
)
_CLONE = Cure(
    "clone the tensor after the block, outside inference mode: `x = x.clone()`",
    "one copy of the tensor; each tensor that is used this way needs its own",
    "clone",
)

_IDLE_GUARDS = ("GF402", "GF403", "GF401", "GF404")
"""Rules about guards that are there and have no effect."""

_MESSAGES = (
    KnownMessage(
        "inference-tensor-saved",
        (
            MessageText(
                "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode "
                "in computation tracked by autograd. To work around this, you can make a clone to get a normal tensor "
                "and use it in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`.",
                since="2.10",
            ),
            MessageText(
                "Inference tensors cannot be saved for backward. To work around you can make a clone to get a normal "
                "tensor and use it in autograd.",
                until="2.8",
            ),
        ),
        "A tensor was made in inference mode, and outside the mode it takes part in a computation that autograd "
        "records. An op that needs it for the gradient of another tensor (`x * w`, `linear`, a loss) has to save it, "
        "which PyTorch refuses: it can't tell whether an inference tensor changes later. The tensor stays an inference "
        "tensor after the block has ended.",
        (
            _TO_NO_GRAD,
            _CLONE,
            Cure(
                "move the computation that needs gradients into code that never runs after inference mode, or the "
                "guard to the code that needs none",
                "none at run time, but it changes where the guard is",
            ),
        ),
        ("GF501", "GF506", "GF503", "GF508"),
        blames="inference",
    ),
    KnownMessage(
        "inference-tensor-written",
        (
            MessageText(
                "Inplace update to inference tensor outside InferenceMode is not allowed."
                "You can make a clone to get a normal tensor before doing inplace update."
                "See https://github.com/pytorch/rfcs/pull/17 for more details."
            ),
        ),
        "A tensor was made in inference mode, and outside the mode it is changed in place: by `add_`, `+=`, `x[i] = "
        "…`, `out=`, `copy_`, a buffer's update, or an optimizer's step. The tensor may also be a gradient or an "
        "optimizer's state that was made while inference mode was on. The data has already been changed when PyTorch "
        "raises.",
        (
            _TO_NO_GRAD,
            _CLONE,
            Cure(
                "write to it inside inference mode as well",
                "right only if nothing that trains reads the tensor",
            ),
        ),
        ("GF501", "GF506", "GF503", "GF502", "GF508"),
        blames="inference",
    ),
    KnownMessage(
        "inference-tensor-requires-grad",
        (MessageText("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed."),),
        "A tensor was made in inference mode, and outside the mode it is made to require gradients: by "
        "`requires_grad_()`, `requires_grad = True` or `nn.Parameter(x)`.",
        (_TO_NO_GRAD, _CLONE),
        ("GF501", "GF506"),
        blames="inference",
    ),
    KnownMessage(
        "inference-tensor-version",
        (
            MessageText("Inference tensors do not track version counter."),
            MessageText("Cannot set version_counter for inference tensor"),
            MessageText(
                "Tried to call torch.autograd._unsafe_set_version() on a tensor that does not have a version counter. "
                "Was it created in inference mode?",
                since="2.0",
            ),
        ),
        "Something asks an inference tensor for its version counter, which it hasn't: `x._version`, or a library that "
        "wraps modules and their tensors (FSDP, torch.compile, XLA) and meets one that was made in inference mode.",
        (_TO_NO_GRAD, _CLONE),
        ("GF501", "GF506", "GF504"),
        blames="inference",
    ),
    KnownMessage(
        "nothing-recorded",
        (MessageText("element {} of tensors does not require grad and does not have a grad_fn"),),
        "`backward()` or `autograd.grad` is called on a tensor that has no graph. Either it was computed where "
        "autograd records nothing (under `no_grad`, inference mode, `set_grad_enabled(False)`, a decorator on a "
        "function further up, `autograd.Function.forward` or `backward`, a kernel's guard, or after a switch that was "
        "never turned back), or it was detached on the way (`.detach()`, `.data`, `.item()`, `.numpy()`), or nothing "
        "that went into it requires gradients.",
        (
            Cure(
                "wrap the computation in `with torch.enable_grad():` (C++: `torch::AutoGradMode enable(true);`)",
                "works under `no_grad`; under inference mode nothing is recorded all the same",
                "enable_grad",
            ),
            Cure(
                "compute what is differentiated outside the guard",
                "the graph takes memory, as training does",
                "ungrad",
            ),
            Cure(
                "where nothing is to be learned, as in validation, don't call it: `if torch.is_grad_enabled():`",
                "none",
            ),
            Cure(
                "if no guard is on the way: give the inputs or parameters `requires_grad=True`, and look for "
                "`.detach()`, `.data` and a `torch.tensor(loss)` that copies the value",
                "none",
            ),
        ),
        ("GF502", "GF507", "GF406", "GF408", "GF410", "GF204", "GF205", "GF206"),
        blames="any",
    ),
    KnownMessage(
        "input-requires-no-grad",
        (
            MessageText("One of the differentiated Tensors does not require grad"),
            MessageText("element {} of the input tensors does not require grad", since="2.4", cpp_only=True),
        ),
        "`autograd.grad(outputs, inputs)` is asked for the gradient of an input that doesn't require one. It was "
        "detached, or made under a guard from something that requires gradients, or `requires_grad_()` was forgotten.",
        (
            Cure("call `x.requires_grad_()` before the computation, outside the guard", "the graph takes memory"),
            Cure("compute the input outside `no_grad` or inference mode", "the graph takes memory"),
        ),
        ("GF502", "GF507"),
        blames="any",
    ),
    KnownMessage(
        "not-used-in-graph",
        (
            MessageText(
                "The differentiated Tensor at index {} appears to not have been used in the graph. Set "
                "allow_unused=True if this is the desired behavior.",
                since="2.13",
            ),
            MessageText(
                "One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True "
                "if this is the desired behavior.",
                until="2.10",
            ),
        ),
        "The output has a graph, but the input isn't in it. Often the part of the computation that uses the input ran "
        "under a guard, or the input was replaced by a copy (`x = x.to(device)`) before it was used.",
        (
            Cure("run the part that uses the input outside the guard", "the graph takes memory"),
            Cure("differentiate with respect to the tensor that was really used", "none"),
            Cure("pass `allow_unused=True`", "the gradient is None: right only if the input may be unused"),
        ),
        ("GF502", "GF507"),
        blames="any",
    ),
    KnownMessage(
        "leaf-written",
        (
            MessageText("a leaf Variable that requires grad is being used in an in-place operation."),
            MessageText("a view of a leaf Variable that requires grad is being used in an in-place operation."),
            MessageText("a leaf Variable that requires grad has been used in an in-place operation."),
        ),
        "A parameter, or another tensor with `requires_grad=True`, is changed in place while autograd records. The "
        "change would become part of the graph, and the tensor would be no leaf any more.",
        (
            Cure(
                "change it under `with torch.no_grad():` (C++: `torch::NoGradGuard`)",
                "the change isn't recorded, which is what an update or an initialization wants",
                "under_no_grad",
            ),
            Cure("compute a new tensor: `y = w + 1`", "a copy; `y` is part of the graph, `w` keeps its value"),
        ),
        ("GF509",),
    ),
    KnownMessage(
        "view-written",
        (
            MessageText(
                "A view was created in no_grad mode and is being modified inplace with grad mode enabled. Given that "
                "this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both "
                "the view and the inplace either both inside the no_grad block (if you don't want the inplace to be "
                "tracked) or both outside (if you want the inplace to be tracked)."
            ),
            MessageText(
                "A view was created in inference mode and is being modified inplace in normal mode. Given that this "
                "use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the "
                "view and the inplace either both inside the inference_mode block (if you don't want the inplace to "
                "be tracked) or both outside (if you want the inplace to be tracked)."
            ),
            MessageText("{} is a view of a view which was created in no_grad mode and is being modified inplace"),
            MessageText("{} is a view of a view which was created in inference mode and is being modified inplace"),
        ),
        "A view (`x[0]`, `x.view(…)`, `x.t()`) was made where nothing is recorded, and is changed in place where "
        "autograd records. PyTorch can't tell whether the change should be part of the graph.",
        (
            Cure("change it under `no_grad` as well", "the change isn't recorded", "under_no_grad"),
            Cure("make the view where the change is made, with recording on", "the change becomes part of the graph"),
            Cure("change a clone of the view", "a copy; the base isn't changed"),
        ),
        ("GF509",),
        blames="any",
    ),
    KnownMessage(
        "several-views-written",
        (
            MessageText(
                "Output {} of {} is a view and is being modified inplace. This view is the output of a function that "
                "returns multiple views. Such functions do not allow the output views to be modified inplace. You "
                "should replace the inplace operation by an out-of-place one."
            ),
        ),
        "`unbind`, `split` or `chunk` returned the view, and it is changed in place while autograd records. No guard "
        "is to blame.",
        (
            Cure("compute a new tensor, or change the base by an index: `x[0] = …`", "a copy, or none"),
            Cure("change it under `no_grad`, if no gradient should see the change", "the change isn't recorded"),
        ),
    ),
    KnownMessage(
        "graph-freed",
        (
            MessageText(
                "Trying to backward through the graph a second time (or directly access saved tensors after they have "
                "already been freed). Saved intermediate values of the graph are freed when you call .backward() or "
                "autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or "
                "if you need to access saved tensors after calling backward."
            ),
            MessageText(
                "Trying to backward through the graph a second time (or directly access saved variables after they "
                "have already been freed).",
                until="1.9",
            ),
        ),
        "A graph is differentiated twice. Often a tensor of an earlier step (a hidden state, a cache, a target) still "
        "has its graph, because it was computed without `no_grad` and never detached.",
        (
            Cure(
                "detach what is kept from one step to the next: `h = h.detach()`, or compute it under `no_grad`",
                "no gradient flows into the earlier step",
            ),
            Cure("`backward(retain_graph=True)`", "memory grows by one graph for each step"),
        ),
    ),
    KnownMessage(
        "saved-tensor-changed",
        (
            MessageText(
                "one of the variables needed for gradient computation has been modified by an inplace operation: [{}] "
                "is at version {}; expected version {} instead."
            ),
            MessageText(
                "one of the variables needed for gradient computation has been modified by an inplace operation: [{}], "
                "which is output {} of {}, is at version {}; expected version {} instead."
            ),
        ),
        "A tensor that autograd saved for backward was changed in place before `backward()`. `no_grad` around the "
        "change doesn't help: the change is still counted, so that PyTorch notices it. (In inference mode, and below "
        "a kernel's guard, changes of normal tensors aren't counted in every case, and the gradient is silently "
        "wrong.)",
        (
            Cure("change it after `backward()`, or use the out-of-place form: `y = x + 1`", "a copy"),
            Cure("clone the tensor before it is used in the forward pass", "a copy"),
        ),
    ),
    KnownMessage(
        "numpy-requires-grad",
        (MessageText("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."),),
        "The tensor is part of a graph: it was computed without a guard. In code that only evaluates or plots, the "
        "guard is what is missing.",
        (
            Cure("compute it under `no_grad` or inference mode", "none, if no gradient is needed"),
            Cure("`x.detach().numpy()`", "none; the graph has taken its memory by then", "detach"),
        ),
        _IDLE_GUARDS,
    ),
    KnownMessage(
        "scalar-requires-grad",
        (
            MessageText(
                "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.", since="2.8"
            ),
        ),
        "`float(x)` or an index takes the value of a tensor that is part of a graph; the number isn't.",
        (
            Cure("`x.detach()` first, or `x.item()`", "none"),
            Cure("compute it under `no_grad`, where no gradient is needed", "none"),
        ),
        kind="warning",
    ),
    KnownMessage(
        "flag-of-computed-tensor",
        (
            MessageText(
                "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in "
                "a subgraph that doesn't require differentiation use var_no_grad = var.detach()."
            ),
            MessageText("you can only change requires_grad flags of leaf variables."),
        ),
        "`requires_grad` is set on a tensor that was computed while autograd recorded. Only leaves have that switch.",
        (
            Cure("`x = x.detach()`, for a tensor without a graph", "no gradient flows through it"),
            Cure("compute it under `no_grad`, then set the flag", "it becomes a leaf of a new graph"),
        ),
    ),
    KnownMessage(
        "gradient-of-computed-tensor",
        (
            MessageText(
                "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute "
                "won't be populated during autograd.backward(). If you indeed want the .grad field to be populated "
                "for a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor "
                "by mistake, make sure you access the leaf Tensor instead."
            ),
        ),
        "The tensor was computed from another one (`w = torch.randn(3, requires_grad=True).to(device)`, or a parameter "
        "that was re-bound: `w = w - lr * g`), so that its `.grad` stays None.",
        (
            Cure("make the leaf last: `torch.randn(3, device=device, requires_grad=True)`", "none"),
            Cure("update the parameter in place under `no_grad`: `w -= lr * g`", "none"),
            Cure("`x.retain_grad()` before `backward()`", "the gradient is kept"),
        ),
        kind="warning",
    ),
    KnownMessage(
        "computed-tensor-optimized",
        (MessageText("can't optimize a non-leaf Tensor"),),
        "An optimizer is given a tensor that was computed while autograd recorded.",
        (
            Cure("`x = x.detach().requires_grad_()`, or make it under `no_grad`", "the graph before it is cut off"),
            Cure("`nn.Parameter(x.detach())`", "the graph before it is cut off"),
        ),
    ),
    KnownMessage(
        "gradient-not-kept",
        (
            MessageText("can't retain_grad on Tensor that has requires_grad=False"),
            MessageText("cannot register a hook on a tensor that doesn't require gradient"),
            MessageText("cannot register a hook on a variable that doesn't require gradient", cpp_only=True),
        ),
        "The tensor has no graph: nothing that requires gradients went into it, or it was computed under a guard.",
        (
            Cure("compute it outside the guard", "the graph takes memory"),
            Cure("`x.requires_grad_()` first, for a leaf", "none"),
        ),
        ("GF502",),
        blames="any",
    ),
    KnownMessage(
        "checkpoint-without-gradients",
        (
            MessageText("None of the inputs have requires_grad=True. Gradients will be None"),
            MessageText("none of output has requires_grad=True, this checkpoint() is not necessary"),
        ),
        "`checkpoint(…, use_reentrant=True)` runs its function without recording, and records the call only if an "
        "input requires gradients. The parameters inside get no gradient.",
        (
            Cure("`use_reentrant=False`", "none: it is the recommended form", "not_reentrant"),
            Cure("give the first input `requires_grad_()`", "one more gradient is computed"),
        ),
        kind="warning",
    ),
    KnownMessage(
        "guard-not-called",
        (
            MessageText("'type' object does not support the context manager protocol", since="2.0"),
            MessageText("AttributeError: __enter__"),
        ),
        "`with torch.no_grad:` names the class, without the parentheses that make a guard of it. (Other classes give "
        "the same message.)",
        (Cure("`with torch.no_grad():`", "none", "rule"),),
        ("GF403", "GF505"),
    ),
    KnownMessage(
        "legacy-guard-deprecated",
        (
            MessageText(
                "AutoNonVariableTypeMode is deprecated and will be removed in 1.10 release. For kernel "
                "implementations please use AutoDispatchBelowADInplaceOrView instead, If you are looking for a user "
                "facing API to enable running your inference-only workload, please use c10::InferenceMode. Using "
                "AutoDispatchBelowADInplaceOrView in user code is under risk of producing silent wrong result in some "
                "edge cases. See Note [AutoDispatchBelowAutograd] for more details.",
                cpp_only=True,
            ),
        ),
        "The old guard is used. Since PyTorch 1.9 it hides only the Autograd keys, and what it should be replaced by "
        "depends on what it is for.",
        (
            Cure("`guardfix migrate`", "none: each replacement is shown with its evidence"),
            Cure(
                "`c10::InferenceMode` where a model is run and nothing needs gradients",
                "tensors made there stay inference tensors",
            ),
            Cure(
                "`at::AutoDispatchBelowADInplaceOrView` in an autograd kernel that calls the dispatcher again", "none"
            ),
        ),
        ("GF101", "GF105"),
        kind="warning",
    ),
    KnownMessage(
        "legacy-switch-gone",
        (
            MessageText("no member named 'NonVariableTypeMode' in namespace 'at'", cpp_only=True),
            MessageText("'NonVariableTypeMode' is not a member of 'at'", cpp_only=True),
            MessageText("'at::NonVariableTypeMode' has not been declared", cpp_only=True),
        ),
        "`at::NonVariableTypeMode::is_enabled` and `set_enabled` were removed from PyTorch.",
        (Cure("use a guard: `guardfix check` shows which", "none"),),
        ("GF104",),
    ),
    KnownMessage(
        "autograd-kernel-missing",
        (
            MessageText(
                "{}: an autograd kernel was not registered to the Autograd key(s) but we are trying to backprop "
                "through it. This may lead to silently incorrect behavior.",
                since="2.1",
            ),
            MessageText(
                "Trying to backward through {} but no autograd formula was registered. Please use register_autograd to "
                "add one.",
                since="2.4",
            ),
        ),
        "An op of an extension has kernels for CPU or CUDA alone, and its result is differentiated. What its kernel "
        "computes below a guard is not recorded.",
        (
            Cure("register a formula: `torch::autograd::Function`, or `torch.library.register_autograd`", "code"),
            Cure(
                "register `CompositeImplicitAutograd`, if the kernel calls differentiable ops without a guard", "none"
            ),
        ),
        kind="warning",
    ),
    KnownMessage(
        "guard-in-script",
        (
            MessageText("Unknown builtin op: aten::inference_mode."),
            MessageText("With item expression must return an object"),
            MessageText('undefined value {}:\n  File "{}torch/utils/_contextlib.py"', since="2.0"),
            MessageText('undefined value {}:\n  File "{}torch/autograd/grad_mode.py"', until="1.13"),
        ),
        "`torch.jit.script` compiles a function with a guard. It knows `with torch.no_grad():`; inference mode and "
        "`set_grad_enabled` it doesn't. Of a function that a guard decorates it compiles the body without the guard, "
        "and looks its names up in PyTorch's own module.",
        (
            Cure("put the guard around the call of the scripted function", "none"),
            Cure(
                "`with torch.no_grad():` in the scripted code",
                "tensors are normal ones, a little slower",
                "script_no_grad",
            ),
        ),
        ("GF411",),
    ),
    KnownMessage(
        "computed-tensor-sent",
        (
            MessageText(
                "Cowardly refusing to serialize non-leaf tensor which requires_grad, since autograd does not support "
                "crossing process boundaries."
            ),
        ),
        "A tensor with a graph is sent to another process. The guard around the computation is missing, or doesn't "
        "reach it: a guard is in force in one thread and one process alone.",
        (
            Cure("compute it under `no_grad` in the worker", "none"),
            Cure("`x.detach()` before it is sent", "none; the graph has taken its memory by then"),
        ),
        ("GF207",),
    ),
    KnownMessage(
        "computed-tensor-copied",
        (
            MessageText(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the "
                "moment."
            ),
        ),
        "`copy.deepcopy` meets a tensor with a graph: a cache or a buffer that was computed without a guard.",
        (
            Cure("compute what is kept under `no_grad`, or keep `x.detach()`", "no gradient flows into it"),
            Cure("`x.clone()` in place of deepcopy", "the copy is part of the graph"),
        ),
        _IDLE_GUARDS,
    ),
    KnownMessage(
        "out-requires-grad",
        (
            MessageText(
                "{}(): functions with out=... arguments don't support automatic differentiation, but one of the "
                "arguments requires grad."
            ),
        ),
        "`out=` is used where autograd records.",
        (
            Cure("leave `out=` out", "a new tensor"),
            Cure("call it under `no_grad`", "nothing is recorded"),
        ),
    ),
    KnownMessage(
        "kernel-calls-itself",
        (
            MessageText("an autograd kernel calls itself until the stack overflows", cpp_only=True),
            MessageText("segmentation fault in an op with an Autograd kernel", cpp_only=True),
        ),
        "A kernel that is registered for an Autograd key calls its own op again, without a guard that hides the key. "
        "The dispatcher calls the same kernel, and so on; the process ends by a signal, without a message.",
        (
            Cure("`at::AutoDispatchBelowADInplaceOrView guard;` before the call, in the kernel", "none"),
            Cure("call the backend's kernel or another op in its place", "none"),
        ),
        ("GF306",),
        kind="symptom",
    ),
    KnownMessage(
        "memory-grows",
        (
            MessageText("CUDA out of memory. Tried to allocate"),
            MessageText("memory grows with each step, or prediction takes as much memory as training"),
        ),
        "Without a guard each forward pass keeps its graph for as long as something holds the result. `model.eval()` "
        "doesn't change that. A list of losses, a running sum (`total += loss`) or a cache of outputs keeps all "
        "graphs. A guard covers one thread: a worker or a callback needs its own.",
        (
            Cure(
                "run prediction and validation under `torch.inference_mode()` (C++: `c10::InferenceMode`)",
                "the results can't be used in training",
            ),
            Cure("the same under `no_grad`", "a little slower; the results can be used anywhere"),
            Cure("keep numbers, not tensors: `total += loss.item()`, `x.detach()`", "none"),
        ),
        ("GF201", "GF202", "GF207", "GF208", "GF209", "GF409", "GF411"),
        kind="symptom",
    ),
    KnownMessage(
        "gradient-is-none",
        (
            MessageText("grad is None after backward"),
            MessageText("unsupported operand type(s) for {}: '{}' and 'NoneType'"),
            MessageText("'NoneType' object has no attribute 'zero_'"),
        ),
        "`backward()` raised nothing, and a parameter's `.grad` is None: it isn't in the graph. The part that uses it "
        "ran under a guard, its data came from an inference tensor, or the name was re-bound to a computed tensor (`w "
        "= w - lr * g`).",
        (
            Cure("run the part that uses the parameter outside the guard", "the graph takes memory"),
            Cure("update in place under `no_grad`: `w -= lr * g`", "none"),
        ),
        ("GF502", "GF501", "GF408", "GF304", "GF307"),
        kind="symptom",
        blames="any",
    ),
    KnownMessage(
        "guard-without-effect",
        (
            MessageText("no_grad or NoGradGuard has no effect, requires_grad is still True"),
            MessageText("results still require grad under no_grad"),
        ),
        "The guard isn't in force where the work is done: it was destroyed at once (`torch::NoGradGuard();` has no "
        "name, `torch.no_grad()` is a statement alone), it is declared below the work, it decorates an `async def`, a "
        "generator or a class, or the work runs in another thread.",
        (
            Cure("give the guard a name (C++), or write `with torch.no_grad():` (Python)", "none"),
            Cure("put the guard into the function that the thread runs", "none"),
        ),
        ("GF201", "GF203", "GF202", "GF208", "GF207", "GF401", "GF402", "GF404", "GF405", "GF406", "GF409", "GF411"),
        kind="symptom",
    ),
)


@cache
def known_messages() -> Mapping[str, KnownMessage]:
    """All rows, by key."""
    return {message.key: message for message in _MESSAGES}


def wording(key: str, index: int = 0) -> str:
    """What PyTorch says, word for word; the wording of today unless another one is meant."""
    return known_messages()[key].texts[index].words


def brief_wording(key: str) -> str:
    """As much of what PyTorch says as names the message."""
    words = wording(key).replace("{}", "0")
    return words.split(". ")[0].split(".You ")[0].rstrip(".")
