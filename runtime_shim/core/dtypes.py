"""dtypes, sizes and type promotion.

Promotion follows torch.result_type: tensors with dimensions outrank 0-dim tensors, which outrank Python
numbers; a lower rank only counts when its category (bool < integer < floating < complex) is higher.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

NumpyDtype = np.dtype[Any]
Array = np.ndarray[Any, NumpyDtype]
Ints = tuple[int, ...]


class dtype:
    """An element type, shown as `torch.float32`; `numpy` is the numpy dtype that holds it."""

    __slots__ = (
        "is_complex",
        "is_floating_point",
        "is_signed",
        "itemsize",
        "name",
        "numpy",
        "scalar_name",
        "short",
    )

    def __init__(self, name: str, numpy_name: str, scalar_name: str, short: str) -> None:
        self.name = name
        self.numpy = np.dtype(numpy_name)
        self.scalar_name = scalar_name  # c10::ScalarType, as error messages print it
        self.short = short  # as printf-style messages print it ("double")
        self.is_floating_point = self.numpy.kind == "f"
        self.is_complex = self.numpy.kind == "c"
        self.is_signed = self.numpy.kind not in "ub"
        self.itemsize = self.numpy.itemsize

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> Any:
        return by_name, (self.name,)

    @property
    def type_text(self) -> str:
        """The type of a tensor as messages from C++ print it."""
        return f"CPU{self.scalar_name}Type" if self.numpy.kind in "bc" else f"torch.{self.scalar_name}Tensor"

    @property
    def is_inexact(self) -> bool:
        """Whether elements are floating or complex, so that they can have gradients."""
        return self.is_floating_point or self.is_complex

    def to_complex(self) -> dtype:
        return complex64 if self.itemsize <= 4 else complex128


class _FloatBesideNumpy(dtype):
    """A floating type that numpy itself doesn't have."""

    __slots__ = ()

    def __init__(self, name: str, scalar_name: str, itemsize: int) -> None:
        self.name = name
        self.scalar_name = scalar_name
        self.short = f"c10::{scalar_name}"
        self.is_floating_point = self.is_signed = True
        self.is_complex = False
        self.itemsize = itemsize


class NamedType(_FloatBesideNumpy):
    """A type that has a name, and no tensors: numpy has no such elements. Every use for a tensor is refused."""

    __slots__ = ()

    @property
    def numpy(self) -> NumpyDtype:  # type: ignore[override]
        raise NotImplementedError(f"the shim has no torch.{self.name} tensors: numpy has no elements of this type")


class LateType(_FloatBesideNumpy):
    """A type whose elements a library brings, which is imported when a program first asks for such a tensor.

    Its numpy dtype is of kind V: what floating types of numpy's own are asked for by their kind passes it by.
    """

    __slots__ = ("_numpy",)

    def __init__(self, name: str, scalar_name: str, itemsize: int) -> None:
        super().__init__(name, scalar_name, itemsize)
        self._numpy: NumpyDtype | None = None

    @property
    def numpy(self) -> NumpyDtype:  # type: ignore[override]
        if self._numpy is None:
            try:
                import ml_dtypes
            except ImportError:
                raise NotImplementedError(
                    f"the shim has torch.{self.name} tensors only where ml_dtypes is installed: "
                    "pip install 'guardfix[bfloat16]'"
                ) from None
            self._numpy = np.dtype(getattr(ml_dtypes, self.name))
            BY_CHAR[self._numpy.char] = self
            for tell in WHEN_LATE_TYPES:
                tell()
        return self._numpy

    @property
    def in_use(self) -> bool:
        """Whether there may be tensors of this type."""
        return self._numpy is not None

    @property
    def type_text(self) -> str:
        return f"CPU{self.scalar_name}Type"


#: Called when the first tensor of a late type is about to be made.
WHEN_LATE_TYPES: list[Callable[[], None]] = []

bfloat16 = LateType("bfloat16", "BFloat16", 2)
complex32 = NamedType("complex32", "ComplexHalf", 4)
float8_e4m3fn = NamedType("float8_e4m3fn", "Float8_e4m3fn", 1)
float8_e4m3fnuz = NamedType("float8_e4m3fnuz", "Float8_e4m3fnuz", 1)
float8_e5m2 = NamedType("float8_e5m2", "Float8_e5m2", 1)
float8_e5m2fnuz = NamedType("float8_e5m2fnuz", "Float8_e5m2fnuz", 1)
float16 = dtype("float16", "float16", "Half", "c10::Half")
float32 = dtype("float32", "float32", "Float", "float")
float64 = dtype("float64", "float64", "Double", "double")
int8 = dtype("int8", "int8", "Char", "signed char")
int16 = dtype("int16", "int16", "Short", "short int")
int32 = dtype("int32", "int32", "Int", "int")
int64 = dtype("int64", "int64", "Long", "long int")
uint16 = dtype("uint16", "uint16", "UInt16", "unsigned short int")
uint32 = dtype("uint32", "uint32", "UInt32", "unsigned int")
uint64 = dtype("uint64", "uint64", "UInt64", "long unsigned int")
uint8 = dtype("uint8", "uint8", "Byte", "unsigned char")
bool_ = dtype("bool", "bool", "Bool", "bool")
complex64 = dtype("complex64", "complex64", "ComplexFloat", "c10::complex<float>")
complex128 = dtype("complex128", "complex128", "ComplexDouble", "c10::complex<double>")

ALL = (
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
    bool_,
    complex64,
    complex128,
)
#: dtype of a numpy array, by its dtype's character code (numpy has two codes for int64 on some platforms).
BY_CHAR: dict[str, dtype] = {d.numpy.char: d for d in ALL}
for _char in "lqip":
    BY_CHAR.setdefault(_char, {4: int32, 8: int64}[np.dtype(_char).itemsize])
for _char in "LQIP":
    BY_CHAR.setdefault(_char, {4: uint32, 8: uint64}[np.dtype(_char).itemsize])


def by_name(name: str) -> dtype:
    """The dtype called `name`; dtypes are single objects, also after pickling."""
    return next(d for d in (*ALL, bfloat16) if d.name == name)


#: Kinds of numpy's dtypes whose elements can have gradients; bfloat16 is of kind V.
INEXACT = "fcV"

#: What `dtype=float` and the like mean.
OF_PYTHON: dict[Any, dtype] = {float: float64, int: int64, bool: bool_, complex: complex128}
ALIASES = {
    "half": float16,
    "float": float32,
    "double": float64,
    "short": int16,
    "int": int32,
    "long": int64,
    "cfloat": complex64,
    "cdouble": complex128,
}

_default = float32


def get_default_dtype() -> dtype:
    return _default


def set_default_dtype(d: dtype) -> None:
    """Set the dtype of Python floats; only floating dtypes are allowed (TypeError otherwise)."""
    global _default
    if not d.is_floating_point:
        raise TypeError(f"only floating-point types are supported as the default type, but got {d}")
    _default = d
    _promoted.clear()


def of(array: Array, *, given: bool = False) -> dtype:
    """The dtype of a numpy array; TypeError for element types that tensors cannot hold, or that a program's own array,
    which is `given`, can't have.
    """
    try:
        if given and array.dtype.kind == "V":
            raise KeyError
        return BY_CHAR[array.dtype.char]
    except KeyError:
        raise TypeError(
            f"can't convert np.ndarray of type numpy.{array.dtype.name if array.dtype.kind != 'O' else 'object_'}. The "
            "only supported types are: float64, float32, float16, complex64, complex128, int64, int32, int16, int8, "
            "uint64, uint32, uint16, uint8, and bool."
        ) from None


def floating_limits(target: NumpyDtype) -> Any:
    """The limits of a floating type."""
    if target.kind != "V":
        return np.finfo(target)
    import ml_dtypes

    return ml_dtypes.finfo(target)  # type: ignore[no-untyped-call]


_promoted: dict[tuple[str, str], NumpyDtype] = {}


def promote(a: NumpyDtype, b: NumpyDtype) -> NumpyDtype:
    """torch.promote_types on numpy dtypes: unlike numpy, an integer never widens a floating type."""
    if a is b:
        return a
    key = (a.char, b.char)
    found = _promoted.get(key)
    if found is None:
        inexact = a.kind in INEXACT, b.kind in INEXACT
        if a == b:
            found = a
        elif "V" in (a.kind, b.kind) and inexact == (True, True):
            other = b if a.kind == "V" else a  # of its own kind, or twice bfloat16
            found = float32.numpy if other.char == "e" else other
        elif inexact == (True, False):
            found = a
        elif inexact == (False, True):
            found = b
        elif {a.char, b.char} == {"e", "F"}:
            found = b if b.kind == "c" else a
        else:
            found = np.promote_types(a, b)
        _promoted[key] = found
    return found


def is_inexact(numpy_dtype: NumpyDtype) -> bool:
    """Whether elements are floating or complex, so that they can have gradients."""
    return numpy_dtype.kind in INEXACT


_BOOL, _INT64 = np.dtype(bool), np.dtype(np.int64)


def of_number(value: object) -> NumpyDtype:
    """The dtype that a Python number has in promotion."""
    if isinstance(value, bool | np.bool_):
        return _BOOL
    if isinstance(value, int | np.integer):
        return _INT64
    if isinstance(value, complex | np.complexfloating) and not isinstance(value, float):
        return _default.to_complex().numpy
    return _default.numpy


def _combine(higher: NumpyDtype | None, lower: NumpyDtype | None) -> NumpyDtype | None:
    if higher is None or lower is None:
        return higher if lower is None else lower
    if higher.kind == "c":
        return higher
    if higher.kind in "fV":
        return BY_CHAR[higher.char].to_complex().numpy if lower.kind == "c" else higher
    if higher.kind == "b" or lower.kind in INEXACT:
        return promote(higher, lower)
    return higher


def result_type(*operands: object) -> NumpyDtype:
    """The dtype that arrays and Python numbers promote to together."""
    dimensioned: NumpyDtype | None = None
    zero: NumpyDtype | None = None
    number: NumpyDtype | None = None
    for x in operands:
        if isinstance(x, np.ndarray):
            if x.ndim:
                dimensioned = x.dtype if dimensioned is None else promote(dimensioned, x.dtype)
            else:
                zero = x.dtype if zero is None else promote(zero, x.dtype)
        else:
            kind = of_number(x)
            number = kind if number is None else promote(number, kind)
    found = _combine(dimensioned, _combine(zero, number))
    assert found is not None
    return found


def can_cast(source: NumpyDtype, target: NumpyDtype) -> bool:
    """Whether an op may write a result of dtype `source` into a tensor of dtype `target`."""
    if source.kind == "c" and target.kind != "c":
        return False
    if source.kind in INEXACT and target.kind in "biu":
        return False
    return not (source.kind != "b" and target.kind == "b")


def cast_error(source: NumpyDtype, target: NumpyDtype) -> RuntimeError:
    return RuntimeError(
        f"result type {BY_CHAR[source.char].scalar_name} can't be cast to the desired output type "
        f"{BY_CHAR[target.char].scalar_name}"
    )


def _greatest(target: NumpyDtype) -> Any:
    return float(floating_limits(target).max)


_C_NAMES = {
    "e": "c10::Half",
    "E": "c10::BFloat16",
    "f": "float",
    "d": "double",
    "b": "int8_t",
    "B": "uint8_t",
    "h": "int16_t",
    "i": "int",
}


def check_number(value: object, target: NumpyDtype) -> None:
    """RuntimeError if a number does not fit `target`: a complex one, or an integer out of range."""
    if target.kind in "cb":
        return
    fits = not isinstance(value, complex | np.complexfloating) or value.imag == 0
    if fits and target.kind in "iu" and isinstance(value, int | np.integer):
        limits = np.iinfo(target)
        fits = (-limits.max if target.kind == "u" else limits.min) <= value <= limits.max
    elif fits and target.kind in "iu" and isinstance(value, float | np.floating):
        limits = np.iinfo(target)
        fits = (-limits.max if target.kind == "u" else limits.min) - 1 < value < limits.max + 1
    elif fits and target.kind in "fV" and isinstance(value, int | float | np.integer | np.floating):
        fits = not math.isfinite(value) or abs(value) <= _greatest(target)
    if not fits:
        name = _C_NAMES.get(target.char, "int64_t")
        raise RuntimeError(f"value cannot be converted to type {name} without overflow")


class Size(tuple[int, ...]):
    """A shape."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    __str__ = __repr__

    def numel(self) -> int:
        n = 1
        for size in self:
            n *= size
        return n

    def __getitem__(self, index: Any) -> Any:
        found = tuple.__getitem__(self, index)
        return Size(found) if isinstance(index, slice) else found

    def __add__(self, other: Any) -> Size:
        return Size(tuple.__add__(self, tuple(other)))


def sizes(shape: Iterable[int]) -> str:
    """A shape as error messages print it: `[2, 3]`."""
    return f"[{', '.join(map(str, shape))}]"


def broadcast_shapes(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that two shapes broadcast to; RuntimeError with PyTorch's text if they do not."""
    n = max(len(a), len(b))
    shape = []
    for i in range(n - 1, -1, -1):
        x = a[i - n + len(a)] if i - n + len(a) >= 0 else 1
        y = b[i - n + len(b)] if i - n + len(b) >= 0 else 1
        if x != y and x != 1 and y != 1:
            raise RuntimeError(
                f"The size of tensor a ({x}) must match the size of tensor b ({y}) at non-singleton dimension {i}"
            )
        shape.append(y if x == 1 else x)
    return tuple(reversed(shape))


def wrap_dim(dim: int, ndim: int) -> int:
    """`dim` counted from the front; IndexError with PyTorch's text if out of range. 0-dim tensors have dims
    -1, 0.
    """
    n = ndim or 1
    try:
        inside = -n <= dim < n
    except TypeError:
        from .error_texts import not_an_int

        raise not_an_int(dim) from None
    if not inside:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})")
    return dim + n if dim < 0 else dim
