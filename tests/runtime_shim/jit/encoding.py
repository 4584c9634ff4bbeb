"""Values of recorded calls as JSON: tensors with dtype, shape and bytes, so that nothing is rounded."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np


def encode(value: Any) -> Any:
    """A value that PyTorch gave or took."""
    if hasattr(value, "is_leaf"):
        array = value.detach().contiguous().numpy()
        encoded = {
            "tensor": str(value.dtype).removeprefix("torch."),
            "shape": list(value.shape),
            "data": base64.b64encode(array.tobytes()).decode().rstrip("="),
        }
        return encoded | {"requires_grad": True} if value.requires_grad else encoded
    if isinstance(value, float):
        return {"float": repr(value)}
    if isinstance(value, complex):
        return {"complex": [repr(value.real), repr(value.imag)]}
    if isinstance(value, list):
        return [encode(item) for item in value]
    if isinstance(value, tuple):
        return {"tuple": [encode(item) for item in value]}
    if isinstance(value, dict):
        return {"dict": [[encode(key), encode(item)] for key, item in value.items()]}
    if value is None or isinstance(value, (bool, int, str)):
        return value
    return {"text": str(value)}


def array_of(encoded: dict[str, Any]) -> np.ndarray[Any, Any]:
    data = np.frombuffer(base64.b64decode(encoded["data"] + "=="), dtype=encoded["tensor"])
    return data.reshape(encoded["shape"]).copy()


def decode(encoded: Any, backend: Any) -> Any:
    """The value again, with tensors of `backend`."""
    if isinstance(encoded, list):
        return [decode(item, backend) for item in encoded]
    if not isinstance(encoded, dict):
        return encoded
    if "tensor" in encoded:
        tensor = backend.from_numpy(array_of(encoded))
        return tensor.requires_grad_(True) if "requires_grad" in encoded else tensor
    if "float" in encoded:
        return float(encoded["float"])
    if "complex" in encoded:
        return complex(*map(float, encoded["complex"]))
    if "tuple" in encoded:
        return tuple(decode(item, backend) for item in encoded["tuple"])
    if "dict" in encoded:
        return {decode(key, backend): decode(item, backend) for key, item in encoded["dict"]}
    return encoded["text"]


def differences(actual: Any, expected: Any, path: str = "result") -> list[str]:
    """Where a value of the backend differs from an encoded one; empty when nowhere."""
    if isinstance(expected, dict) and "tensor" in expected:
        return _tensor_differences(actual, expected, path)
    plain = encode(actual)
    if isinstance(expected, dict) and "dict" in expected:
        if not isinstance(actual, dict) or [encode(key) for key in actual] != [key for key, _ in expected["dict"]]:
            return [f"{path}: {actual!r} is not a dict with keys {[key for key, _ in expected['dict']]}"]
        items = [item for _, item in expected["dict"]]
        return [
            d
            for key, item in zip(actual, items, strict=True)
            for d in differences(actual[key], item, f"{path}[{key!r}]")
        ]
    if isinstance(expected, list) or (isinstance(expected, dict) and "tuple" in expected):
        kind, items = (list, expected) if isinstance(expected, list) else (tuple, expected["tuple"])
        if not isinstance(actual, kind) or len(actual) != len(items):
            return [f"{path}: {actual!r} is not a {kind.__name__} of {len(items)}"]
        return [d for i, item in enumerate(items) for d in differences(actual[i], item, f"{path}[{i}]")]
    if isinstance(expected, dict) and "float" in expected and isinstance(actual, float):
        close = np.isclose(actual, float(expected["float"]), rtol=1e-6, atol=0, equal_nan=True)
        return [] if close else [f"{path}: {actual!r}, expected {expected['float']}"]
    return [] if plain == expected and type(plain) is type(expected) else [f"{path}: {plain!r}, expected {expected!r}"]


def _tensor_differences(actual: Any, expected: dict[str, Any], path: str) -> list[str]:
    if not hasattr(actual, "is_leaf"):
        return [f"{path}: {actual!r} is not a tensor"]
    found = []
    dtype = str(actual.dtype).rpartition(".")[2]
    for what, value in (
        ("dtype", dtype),
        ("shape", list(actual.shape)),
        ("requires_grad", actual.requires_grad),
    ):
        wanted = expected.get("tensor" if what == "dtype" else what, False)
        if value != wanted:
            found.append(f"{path}.{what}: {value!r}, expected {wanted!r}")
    if not found:
        array, wanted_array = np.asarray(actual.detach().numpy()), array_of(expected)
        exact = wanted_array.dtype.kind in "biu"
        close = (
            np.array_equal(array, wanted_array)
            if exact
            else np.allclose(array, wanted_array, rtol=2e-5, atol=2e-6, equal_nan=True)
        )
        if not close:
            found.append(f"{path}: {array.tolist()}, expected {wanted_array.tolist()}")
    return found
