"""Checkpoints that keep the results of some ops: `torch.utils.checkpoint.create_selective_checkpoint_contexts`.

Source of the behaviour and of the words: torch/utils/checkpoint.py of 2.13.
"""

from __future__ import annotations

import enum
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from ..core.tensor import Tensor, alias
from ..library.custom_ops import AtenPacket, OpOverload, OpOverloadPacket, ops
from ._python_dispatch import TorchDispatchMode
from ._pytree import tree_map


class CheckpointPolicy(enum.Enum):
    """What becomes of an op's result: kept, or computed again. `MUST_…` isn't to be overridden by a compiler."""

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


_KEEPS = (CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE)


class SelectiveCheckpointContext:
    """What a policy is told beside the op: its result."""

    def __init__(self, *, is_recompute: bool, op_output: Any = None) -> None:
        self.is_recompute = is_recompute
        self.op_output = op_output


class _Kept:
    """A result that is kept, with the version that it had."""

    def __init__(self, val: Any) -> None:
        # Without its history, which would keep the checkpoint alive; with its version.
        self.val = alias(val, val._array, val._keys, val._version_counter) if isinstance(val, Tensor) else val
        self.version = None if not isinstance(val, Tensor) or val.is_inference() else val._version

    def get(self, allow_mutation: bool) -> Any:
        if self.version is not None and not allow_mutation and self.val._version != self.version:
            raise RuntimeError("Tensor cached during selective activation checkpoint has been mutated")
        return self.val


_AGAIN = object()
_CONSUMED = object()
_MISMATCH = (
    "This can happen if the operations in the checkpointed region are nondeterministic or depend on global state that "
    "changed between forward and backward."
)
_Storage = defaultdict[Any, dict[int, Any]]


class _CachingTorchDispatchMode(TorchDispatchMode):
    """In forward: keeps what the policy says, op by op and call by call."""

    def __init__(self, policy_fn: Callable[..., Any], storage: _Storage) -> None:
        self.policy_fn = policy_fn
        self.storage = storage
        self.func_counter: dict[Any, int] = defaultdict(int)

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        if func is ops.aten.detach.default:
            return out
        index = self.func_counter[func]
        self.func_counter[func] += 1
        policy = self.policy_fn(SelectiveCheckpointContext(is_recompute=False, op_output=out), func, *args, **kwargs)
        keeps = policy if isinstance(policy, bool) else policy in _KEEPS
        self.storage[func][index] = tree_map(_Kept, out) if keeps else _AGAIN
        return out


class _CachedTorchDispatchMode(TorchDispatchMode):
    """When forward runs again: gives what was kept, once."""

    def __init__(self, policy_fn: Any, storage: _Storage, allow_cache_entry_mutation: bool = False) -> None:
        self.storage = storage
        self.allow_cache_entry_mutation = allow_cache_entry_mutation
        self.func_counter: dict[Any, int] = defaultdict(int)

    def __enter__(self) -> Any:
        self.func_counter.clear()
        return super().__enter__()

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
        if func is ops.aten.detach.default:
            return func(*args, **(kwargs or {}))
        index = self.func_counter[func]
        self.func_counter[func] += 1
        found = self.storage.get(func)
        if found is None:
            raise RuntimeError(f"{func} encountered during backward but not found in storage. {_MISMATCH}")
        entry = found.get(index)
        if entry is None:
            raise RuntimeError(
                f"{func} invocation index {index} encountered during backward but not found in storage. {_MISMATCH}"
            )
        if entry is _CONSUMED:
            raise RuntimeError(
                "Trying to backward an extra time. You are only allowed to backward once on any region computed under "
                "selective activation checkpoint."
            )
        if entry is _AGAIN:
            return func(*args, **(kwargs or {}))
        found[index] = _CONSUMED
        return tree_map(lambda kept: kept.get(self.allow_cache_entry_mutation), entry)


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Any, allow_cache_entry_mutation: bool = False
) -> tuple[TorchDispatchMode, TorchDispatchMode]:
    """The two contexts that a checkpoint's `context_fn` returns.

    A policy is called with a SelectiveCheckpointContext, the op and its arguments, and returns a CheckpointPolicy or
    whether to keep the result; a list names the ops whose results are kept. ValueError if it names something else.
    """
    policy: Any
    if isinstance(policy_fn_or_list, list):
        for op in policy_fn_or_list:
            _check_overload(op)

        def policy(context: Any, op: Any, *args: Any, **kwargs: Any) -> bool:
            return op in policy_fn_or_list

    elif callable(policy_fn_or_list):
        policy = policy_fn_or_list
    else:
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    storage: _Storage = defaultdict(dict)
    return (
        _CachingTorchDispatchMode(policy, storage),
        _CachedTorchDispatchMode(None, storage, allow_cache_entry_mutation),
    )


def _check_overload(op: Any) -> None:
    if isinstance(op, OpOverload) or (isinstance(op, AtenPacket) and op._overload):
        return
    more = (
        "Please update the OpOverloadPacket to a specific OpOverload.For example, if you have `torch.ops.aten.mm`, "
        "change it to `torch.ops.aten.mm.default`."
        if isinstance(op, AtenPacket | OpOverloadPacket)
        else ""
    )
    raise ValueError(f"Expected op in `op_list` to be an OpOverload but got: {op} of type {type(op)}. {more}")
