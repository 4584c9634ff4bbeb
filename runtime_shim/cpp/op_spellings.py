"""The ops whose C++ function has other parameters than Python's, each as the method `_op_` and its name."""

from __future__ import annotations

import copy
import io
import warnings
from collections.abc import Callable, Sequence
from typing import Any

AnyTensor = Any
"""A tensor of whichever module is behind."""

_HOOKS = "_hooks_from_cpp"
"""The attribute of a tensor that holds the handles of its hooks."""


class OpSpellings:
    """A part of `Backend`: what `Backend.op` finds before it looks in the module."""

    torch: Any

    def _op_is_nonzero(self, t: AnyTensor) -> bool:
        return bool(t)

    def _op_register_hook(self, t: AnyTensor, hook: Callable[[object], object]) -> int:
        """Where the hook is among those that C++ gave the tensor."""
        if not t.requires_grad:
            raise RuntimeError("cannot register a hook on a variable that doesn't require gradient")  # C++'s words
        handles = t.__dict__.setdefault(_HOOKS, [])
        handles.append(t.register_hook(hook))
        return len(handles) - 1

    def _op_remove_hook(self, t: AnyTensor, position: int) -> None:
        handles = t.__dict__.get(_HOOKS, ())
        if position >= len(handles):
            raise RuntimeError(f"Invalid index, no hook at position {position}")
        handles[position].remove()

    def _op_norm(self, t: AnyTensor, p: object = 2, *dims: object, **options: object) -> AnyTensor:
        return self.torch.ops.aten.norm(t, p, *dims, **options)  # Python's norm is another op

    def _op_square_(self, t: AnyTensor) -> AnyTensor:
        return t.pow_(2)

    def _op_nll_loss_nd(self, input: AnyTensor, target: AnyTensor, **options: object) -> AnyTensor:
        return self.torch.nn.functional.nll_loss(input, target, **options)

    _op_nll_loss2d = _op_nll_loss_nd

    def _op_tensordot(
        self, t: AnyTensor, other: AnyTensor, dims_self: Sequence[int], dims_other: Sequence[int]
    ) -> AnyTensor:
        return self.torch.tensordot(t, other, dims=(list(dims_self), list(dims_other)))

    def _op_cross_entropy_loss(self, input: AnyTensor, target: AnyTensor, **options: object) -> AnyTensor:
        return self.torch.nn.functional.cross_entropy(input, target, **options)

    def _op_embedding(
        self, weight: AnyTensor, indices: AnyTensor, padding_idx: int = -1, *options: object
    ) -> AnyTensor:
        padding = None if padding_idx == -1 else padding_idx
        by_frequency, sparse = options or (False, False)
        return self.torch.nn.functional.embedding(
            indices, weight, padding, scale_grad_by_freq=by_frequency, sparse=sparse
        )

    def _op_elu(self, t: AnyTensor, alpha: Any, scale: Any, input_scale: Any) -> AnyTensor:
        torch = self.torch
        if (scale, input_scale) == (1, 1):
            return torch.nn.functional.elu(t, alpha)
        return torch.where(t <= 0, ((t * input_scale).exp() - 1) * (alpha * scale), t * scale)

    def _op_log_sigmoid(self, t: AnyTensor) -> AnyTensor:
        return self.torch.nn.functional.logsigmoid(t)

    def _op_var_mean(
        self, t: AnyTensor, *args: object, keepdim: bool = False, **kwargs: object
    ) -> tuple[object, object]:
        return t.var(*args, keepdim=keepdim, **kwargs) if args else t.var(**kwargs), self._mean(t, args, keepdim)

    def _op_std_mean(
        self, t: AnyTensor, *args: object, keepdim: bool = False, **kwargs: object
    ) -> tuple[object, object]:
        return t.std(*args, keepdim=keepdim, **kwargs) if args else t.std(**kwargs), self._mean(t, args, keepdim)

    def _mean(self, t: AnyTensor, args: Sequence[object], keepdim: bool) -> AnyTensor:
        return t.mean(args[0], keepdim) if args and args[0] is not None else t.mean()

    def _op_slice(self, t: AnyTensor, dim: int, start: int | None, end: int | None, step: int) -> AnyTensor:
        if dim < 0:
            dim += t.dim()
        return t[(slice(None),) * dim + (slice(start, end, step),)]

    def _op_scalar_tensor(self, value: object, **options: object) -> AnyTensor:
        return self.torch.full((), value, **({"dtype": self.torch.float32} | options))

    def _op_dropout(self, input: AnyTensor, p: float, train: bool) -> AnyTensor:
        return self.torch.nn.functional.dropout(input, p, train)

    def _op_alpha_dropout(self, input: AnyTensor, p: float, train: bool) -> AnyTensor:
        return self.torch.nn.functional.alpha_dropout(input, p, train)

    def _op_alias(self, t: AnyTensor) -> AnyTensor:
        return self.torch.ops.aten.alias(t)

    def _op_mT(self, t: AnyTensor) -> AnyTensor:
        return t.mT

    def _op_mH(self, t: AnyTensor) -> AnyTensor:
        return t.mH

    def _op_take_along_dim(self, t: AnyTensor, indices: AnyTensor, dim: int | None) -> AnyTensor:
        return self.torch.take_along_dim(t, indices, dim=dim)

    def _op_randint_like(self, t: AnyTensor, low: int, high: int, **options: object) -> AnyTensor:
        return self.torch.randint_like(t, low, high, **options)

    def _op_rsub(self, t: AnyTensor, other: object, alpha: object = 1) -> AnyTensor:
        return self.torch.rsub(t if alpha == 1 else t * alpha, other)

    def _op_round(self, t: AnyTensor, decimals: int = 0) -> AnyTensor:
        return t.round(decimals=decimals)

    def _op_round_(self, t: AnyTensor, decimals: int = 0) -> AnyTensor:
        return t.round_(decimals=decimals)

    def _op_squeeze(self, t: AnyTensor, *dim: int) -> AnyTensor:
        return t.squeeze(*dim)

    def _op_max(self, t: AnyTensor, *args: object) -> object:
        return t.max(*args)

    def _op_min(self, t: AnyTensor, *args: object) -> object:
        return t.min(*args)

    # ---- padding and resampling, which Python has as modes of one function

    def _op_reflection_pad1d(self, t: AnyTensor, padding: Sequence[int]) -> AnyTensor:
        return self.torch.nn.functional.pad(t, list(padding), mode="reflect")

    _op_reflection_pad2d = _op_reflection_pad3d = _op_reflection_pad1d

    def _op_replication_pad1d(self, t: AnyTensor, padding: Sequence[int]) -> AnyTensor:
        return self.torch.nn.functional.pad(t, list(padding), mode="replicate")

    _op_replication_pad2d = _op_replication_pad3d = _op_replication_pad1d

    def _resampled(
        self, t: AnyTensor, mode: str, size: object, align_corners: bool | None, scales: object
    ) -> AnyTensor:
        return self.torch.nn.functional.interpolate(
            t, size=size, scale_factor=scales, mode=mode, align_corners=align_corners
        )

    def _op_upsample_linear1d(
        self, t: AnyTensor, size: object, align_corners: bool, scales: object = None
    ) -> AnyTensor:
        return self._resampled(t, "linear", size, align_corners, scales)

    def _op_upsample_bilinear2d(
        self, t: AnyTensor, size: object, align_corners: bool, scales: object = None
    ) -> AnyTensor:
        return self._resampled(t, "bilinear", size, align_corners, scales)

    def _op_upsample_bicubic2d(
        self, t: AnyTensor, size: object, align_corners: bool, scales: object = None
    ) -> AnyTensor:
        return self._resampled(t, "bicubic", size, align_corners, scales)

    def _op_upsample_trilinear3d(
        self, t: AnyTensor, size: object, align_corners: bool, scales: object = None
    ) -> AnyTensor:
        return self._resampled(t, "trilinear", size, align_corners, scales)

    def _op_upsample_nearest2d(self, t: AnyTensor, size: object, scales: object = None) -> AnyTensor:
        return self._resampled(t, "nearest", size, None, scales)

    _op_upsample_nearest1d = _op_upsample_nearest3d = _op_upsample_nearest2d

    # ---- unique: Python returns what was asked for, C++ three tensors

    def _three(self, found: object, inverse: bool, counts: bool) -> tuple[AnyTensor, AnyTensor, AnyTensor]:
        given = iter(found if isinstance(found, tuple) else (found,))
        values = next(given)
        empty = self.torch.empty(0, dtype=self.torch.int64)
        return values, next(given) if inverse else empty, next(given) if counts else empty

    def _op__unique2(self, t: AnyTensor, sorted: bool, inverse: bool, counts: bool) -> object:
        return self._three(t.unique(sorted, inverse, counts), inverse, counts)

    def _op__unique(self, t: AnyTensor, sorted: bool, inverse: bool) -> object:
        return self._three(t.unique(sorted, inverse), inverse, False)[:2]

    def _op_unique_dim(self, t: AnyTensor, dim: int, sorted: bool, inverse: bool, counts: bool) -> object:
        return self._three(t.unique(sorted, inverse, counts, dim), inverse, counts)

    def _op_unique_consecutive(self, t: AnyTensor, inverse: bool, counts: bool, dim: int | None) -> object:
        return self._three(t.unique_consecutive(inverse, counts, dim), inverse, counts)

    def _op_unique_dim_consecutive(self, t: AnyTensor, dim: int, inverse: bool, counts: bool) -> object:
        return self._op_unique_consecutive(t, inverse, counts, dim)

    # ---- types of results

    def result_type_name(self, a: object, b: object) -> str:
        """The dtype that arithmetic on tensors and numbers gives."""
        return str(self.torch.result_type(a, b)).removeprefix("torch.")

    def promoted_type_name(self, a: object, b: object) -> str:
        return str(self.torch.promote_types(a, b)).removeprefix("torch.")


class BackwardChecks:
    """The part of `Backend` for them."""

    torch: Any

    def is_backward_explained(self) -> bool:
        """Whether backward says what an error comes from."""
        return bool(self.torch.is_anomaly_enabled())

    def keep_warnings(self) -> object:
        """Keeps warnings until `kept_warnings` is given what comes back."""
        kept = warnings.catch_warnings(record=True)
        said = kept.__enter__()
        warnings.simplefilter("always")
        return kept, said

    def kept_warnings(self, kept: Any) -> list[str]:
        """The texts of UserWarnings, but for that on `create_graph`, which the headers give."""
        context, said = kept
        context.__exit__(None, None, None)
        texts = [str(warning.message) for warning in said if warning.category is UserWarning]
        return [text for text in texts if not text.startswith("Using backward() with create_graph=True")]

    def _expect_real(self, outputs: list[Any], grads: list[Any]) -> None:
        """A complex number has no gradient of its own; C++ says so in other words than Python."""
        for i, output in enumerate(outputs):
            given = grads[i] if i < len(grads) else None
            if given is None and output.requires_grad and output.numel() == 1 and output.is_complex():
                name = "ComplexDouble" if output.dtype == self.torch.complex128 else "ComplexFloat"
                raise RuntimeError(f"grad can be computed only for real scalar outputs but got {name}")

    def _expect_recorded(self, inputs: list[Any], outputs: list[Any]) -> None:
        """An input without history is refused, in C++'s words; an output without one is refused before."""
        for i, tensor in enumerate(inputs):
            if not tensor.requires_grad and all(output.requires_grad for output in outputs):
                raise RuntimeError(f"element {i} of the input tensors does not require grad")  # C++'s words


class ScriptModuleQuestions:
    """The part of `Backend` for them."""

    torch: Any

    def jit_load(self, source: str | bytes, extra_files: dict[str, object]) -> object:
        """The module of an archive, by its path or its bytes; what it has of the extra files is put in."""
        archive = io.BytesIO(source) if isinstance(source, bytes) else source
        return self.torch.jit.load(archive, _extra_files=extra_files)

    def jit_save(self, module: object, extra_files: dict[str, object]) -> bytes:
        file = io.BytesIO()
        self.torch.jit.save(module, file, _extra_files=extra_files)
        return file.getvalue()

    def jit_run_method(self, module: object, name: str, arguments: list[object]) -> object:
        return getattr(module, name)(*arguments)

    def jit_train(self, module: Any, on: bool) -> None:
        module.train(on)

    def jit_to(self, module: Any, where: Any) -> None:
        module.to(where)

    def jit_copy(self, module: object, deep: bool) -> object:
        return copy.deepcopy(module) if deep else copy.copy(module)

    def jit_freeze(self, module: object, preserved: list[str]) -> object:
        """The module as a frozen one; one that is frozen already has no flag `training`."""
        return self.torch.jit.freeze(module, preserved) if hasattr(module, "training") else module

    def jit_named(self, module: object, kind: str) -> list[tuple[str, object]]:
        return list(getattr(module, f"named_{kind}")())

    def is_module(self, value: object) -> bool:
        return isinstance(value, self.torch.nn.Module)

    def jit_attr(self, module: object, name: str) -> object:
        return getattr(module, name)

    def jit_type_name(self, module: Any) -> str:
        """The qualified name of a module's class."""
        return str(module._c._type().annotation_str)

    def jit_has_method(self, module: object, name: str) -> bool:
        return callable(getattr(module, name, None))

    def jit_hasattr(self, module: object, name: str) -> bool:
        return hasattr(module, name)
