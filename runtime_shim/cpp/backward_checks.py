"""What C++ checks before backward, and its warnings, which a C++ program's handler gets: guardfix/python_warnings.h."""

from __future__ import annotations

import warnings
from typing import Any


class BackwardChecks:
    """The part of `Backend` for them."""

    torch: Any

    def is_backward_explained(self) -> bool:
        """Whether backward says what an error comes from."""
        return bool(self.torch.is_anomaly_enabled())

    def keep_warnings(self) -> Any:
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
