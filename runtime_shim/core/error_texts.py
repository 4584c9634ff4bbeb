"""Messages shared with PyTorch 2.13, word for word, and the error for what the shim does not have."""

from __future__ import annotations

from guardfix.pytorch_messages.message_table import wording

INPLACE_ON_INFERENCE = wording("inference-tensor-written")
SAVED_INFERENCE = wording("inference-tensor-saved")
NO_VERSION = wording("inference-tensor-version")
REQUIRES_GRAD_ON_INFERENCE = wording("inference-tensor-requires-grad")
NOT_RECORDED = wording("nothing-recorded")
INPUT_NOT_RECORDED = wording("input-requires-no-grad")
NOT_IN_GRAPH = wording("not-used-in-graph")
LEAF_INPLACE = wording("leaf-written")
LEAF_VIEW_INPLACE = wording("leaf-written", 1)
LEAF_DIRTY = wording("leaf-written", 2)
_AMBIGUOUS = (
    "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by "
    "moving "
    "both the view and the inplace either both inside the {block} block (if you don't want the inplace to be "
    "tracked) or both outside (if you want the inplace to be tracked)."
)
TAIL_NO_GRAD = _AMBIGUOUS.format(block="no_grad")
TAIL_INFERENCE = _AMBIGUOUS.format(block="inference_mode")
TAIL_MULTI_OUTPUT = (
    "This view is the output of a function that returns multiple views. Such functions do not allow the "
    "output "
    "views to be modified inplace. You should replace the inplace operation by an out-of-place one."
)
TAIL_CUSTOM = (
    "This view was created inside a custom Function (or because an input was returned as-is) and the "
    "autograd "
    "logic to handle view+inplace would override the custom backward associated with the custom Function, "
    "leading to incorrect gradients. This behavior is forbidden. You can fix this by cloning the output "
    "of the "
    "custom Function."
)
HINT_ANOMALY_OFF = (
    "Hint: enable anomaly detection to find the operation that failed to compute its gradient, with "
    "torch.autograd.set_detect_anomaly(True, check_nan=False)."
)
HINT_ANOMALY_ON = (
    "Hint: the backtrace further above shows the operation that failed to compute its gradient. The "
    "variable in "
    "question was changed in there or anywhere later. Good luck!"
)
SAVED_HOOKS_TWICE = (
    "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of hooks is "
    "allowed at a time."
)
SAVED_HOOKS_FREED = (
    "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the graph are "
    "freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward through "
    "the graph a second time or if you need to access saved variables after calling backward."
)
BACKWARD_TWICE = wording("graph-freed")
DETACH_VIEW = (
    "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for "
    "training, and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence "
    "detach_() cannot be called on these gradients. To fix this error, please refer to the "
    "Optimizer.zero_grad() "
    "function in torch/optim/optimizer.py as the solution."
)
SAVED_DETACHED = (
    "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_()."
    "This is not supported, please use out-of-place `.detach()` instead"
)
WRITE_OVERLAP = (
    "unsupported operation: more than one element of the written-to tensor refers to a single memory "
    "location. "
    "Please clone() the tensor before performing the operation."
)
PARTIAL_OVERLAP = (
    "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single "
    "memory "
    "location. Please clone() the tensor before performing the operation."
)
PACK_HOOK_WRITES = (
    "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook cannot be "
    "modified by in-place operations as this can lead to unexpected side-effects. Please open an issue if you need "
    "to perform in-place operations on the input to a pack hook."
)
NON_LEAF_FLAG = wording("flag-of-computed-tensor")
DEEPCOPY_NON_LEAF = (
    "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the "
    "moment.  "
    "If you were attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm "
    "usage, see "
    "https://github.com/pytorch/pytorch/pull/103001"
)


class UnsupportedError(NotImplementedError, AttributeError):
    """A name that PyTorch has and the shim has not.

    Also an AttributeError, so that `hasattr` and the copy, pickle and numpy protocols can probe for it.
    """


def out_requires_grad(name: str) -> RuntimeError:
    return RuntimeError(
        f"{name}(): functions with out=... arguments don't support automatic differentiation, "
        "but one of the arguments requires grad."
    )


DEEPCOPY_WRAPPER = (
    "The default implementation of __deepcopy__() for wrapper subclasses only works for subclass types that implement "
    "clone() and for which cloning returns another instance of the same subclass. You should either properly implement "
    "clone() for your subclass or override __deepcopy__() if it is intended behavior for clone() to return an instance "
    "of a different type."
)
DEEPCOPY_SUBCLASS = (
    "The default implementation of __deepcopy__() for non-wrapper subclasses only works for subclass types that "
    "implement new_empty() and for which that function returns another instance of the same subclass. You should "
    "either properly implement new_empty() for your subclass or override __deepcopy__() if it is intended behavior for "
    "new_empty() to return an instance of a different type."
)
