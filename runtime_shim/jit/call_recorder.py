"""Recording what a function does to tensors as lines of TorchScript: the calls of public functions, while they run.

What such a call is made of isn't seen. An op that comes from nowhere else is refused, so that nothing is missing from
the lines. Sizes are integers that know where they come from; other numbers that are taken out of tensors are
constants from then on, of which a TracerWarning tells.
"""

from __future__ import annotations

import contextlib
import functools
import json
import math
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any, cast

from ..core.device import device
from ..core.dtypes import Size, dtype
from ..core.error_texts import UnsupportedError
from ..core.function_table import AnyFunction
from ..core.tensor import Tensor
from ..core.thread_state import tls
from ..core.tracing import Trace
from .calls.call_registry import LISTS
from .traced_spellings import CODE_OF_DTYPE, Spelling, spelling


class TracerWarning(Warning):
    """A trace may not do what the function does."""


class TracedInt(int):
    """A size of a tensor: an integer that knows the expression which gives it."""

    code: str

    def __new__(cls, value: int, code: str) -> TracedInt:
        made = super().__new__(cls, value)
        made.code = code
        return made


def _arithmetic(name: str, op: str, *, reflected: bool) -> Callable[[TracedInt, Any], Any]:
    plain = getattr(int, name)

    def compute(self: TracedInt, other: object) -> Any:
        found = plain(int(self), other if not isinstance(other, TracedInt) else int(other))
        if type(found) is not int or not isinstance(other, int):
            return found
        codes = [self.code, other.code if isinstance(other, TracedInt) else repr(int(other))]
        return TracedInt(found, f"torch.{op}({', '.join(reversed(codes) if reflected else codes)})")

    return compute


for _name, _op in {"add": "add", "sub": "sub", "mul": "mul", "floordiv": "floordiv"}.items():
    for _reflected in (False, True):
        _method = f"__{'r' if _reflected else ''}{_name}__"
        setattr(TracedInt, _method, _arithmetic(_method, _op, reflected=_reflected))

_OURS = __name__.partition(".jit.")[0] + "."
_LEAKS = {
    "__bool__": "Python boolean",
    "__int__": "Python integer",
    "__index__": "Python index",
    "__float__": "Python float",
    "item": "Python number",
    "tolist": "Python list",
    "numpy": "NumPy array",
    "__array__": "NumPy array",
}
_LEAK = (
    "Converting a tensor to a {} might cause the trace to be incorrect. We can't record the data flow of Python "
    "values, so this value will be treated as a constant in the future. This means that the trace might not generalize "
    "to other inputs!"
)
_ITERATES = (
    "Iterating over a tensor might cause the trace to be incorrect. Passing a tensor of different shape won't change "
    "the number of iterations executed (and might lead to errors or silently give incorrect results)."
)


class CallRecorder(Trace):
    """Lines of TorchScript for the calls of one thread. `codes` has the expression of each tensor that is known."""

    def __init__(self, codes: dict[int, str], kept: list[Any]) -> None:
        super().__init__()
        self.codes = codes
        self.kept = kept
        """What must not be freed meanwhile, for it is known by its address."""
        self.lines: list[str] = []
        self.constants: list[Tensor] = []
        self.depth = 0
        self.thread = threading.get_ident()
        self._number = 0

    # ---- what the layers tell

    def record(self, op: str, keys: int, result: object) -> None:
        if self.depth == 0 and op != "create" and threading.get_ident() == self.thread:
            raise UnsupportedError(
                f"the shim's torch.jit.trace can't follow a function that calls the op {op}: it has no spelling here; "
                "use torch.jit.script, or call the op by its own name"
            )

    # ---- calls

    def watched(self, spell: Spelling, function: Callable[..., object]) -> AnyFunction:
        """`function`, each call of which becomes a line."""

        @functools.wraps(function)
        def call(*args: object, **kwargs: object) -> Any:
            if self.depth or threading.get_ident() != self.thread:
                return function(*args, **kwargs)
            spelled = None
            with self.unseen(), contextlib.suppress(TypeError):  # wrong arguments: the function itself says so
                spelled = spell(*args, **kwargs)
            if spelled is None:
                return function(*args, **kwargs)
            before = [self.code(value) for value in spelled[1:] if not isinstance(value, dict)]
            keywords = [f"{key}={self.code(v)}" for value in spelled[1:] if isinstance(value, dict)
                        for key, v in value.items()]  # fmt: skip
            with self.unseen():
                result = function(*_plain(args), **_plain(kwargs))
            self._bind(result, spelled[0], f"torch.{spelled[0]}({', '.join([*before, *keywords])})")
            return result

        return call

    @contextlib.contextmanager
    def unseen(self) -> Iterator[None]:
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1

    def name(self) -> str:
        self._number += 1
        return f"_{self._number - 1}"

    def _bind(self, result: object, op: str, expression: str) -> None:
        """A line that gives the tensors of a result their names."""
        if isinstance(result, Tensor):
            self._know(result, self.name())
            # In TorchScript these give the places as well.
            others = f", {self.name()}," if op.startswith("adaptive_max_pool") else ""
            self.lines.append(f"{self.codes[id(result)]}{others} = {expression}")
        elif isinstance(result, (list, tuple)) and all(isinstance(part, Tensor) for part in result):
            if op in LISTS:
                name = self.name()
                self.lines.append(f"{name} = {expression}")
                for number, part in enumerate(result):
                    self._know(part, f"{name}[{number}]")
            elif result:
                for part in result:
                    self._know(part, self.name())
                self.lines.append(f"{', '.join(self.codes[id(part)] for part in result)}, = {expression}")

    def _know(self, tensor: Tensor, code: str) -> None:
        self.codes[id(tensor)] = code
        self.kept.append(tensor)

    def code(self, value: object) -> str:
        """The expression for an argument. UnsupportedError for what TorchScript has no expression for."""
        match value:
            case Tensor():
                return self.codes.get(id(value)) or self._constant(value)
            case TracedInt():
                return value.code
            case None | bool():
                return repr(value)
            case int():
                return repr(int(value))
            case float():
                return (
                    repr(value) if math.isfinite(value) else "nan" if value != value else "inf" if value > 0 else "-inf"
                )
            case str():
                return json.dumps(value)
            case dtype():
                return str(CODE_OF_DTYPE[value.name])
            case device():
                return f'torch.device("{value}")'
            case list() | tuple():
                return f"[{', '.join(map(self.code, value))}]"
        raise UnsupportedError(f"the shim's torch.jit.trace can't write a {type(value).__name__} into a trace")

    def _constant(self, tensor: Tensor) -> str:
        if tensor.requires_grad and not tensor.is_leaf:
            raise RuntimeError(
                "Cannot insert a Tensor that requires grad as a constant. Consider making it a parameter or input, or "
                f"detaching the gradient\nTensor:\n{tensor}"
            )
        # As it is now: what is written to it later is written when the trace runs as well.
        with self.unseen():
            self.constants.append(tensor.detach().clone())
        self._know(tensor, f"CONSTANTS.c{len(self.constants) - 1}")
        return self.codes[id(tensor)]

    # ---- sizes

    def sized(self, function: Callable[..., object]) -> AnyFunction:
        """`Tensor.size`."""

        @functools.wraps(function)
        def call(tensor: Tensor, dim: int | None = None) -> Any:
            if self.depth or threading.get_ident() != self.thread:
                return function(tensor) if dim is None else function(tensor, dim)
            sizes = tensor._array.shape
            if dim is not None:
                function(tensor, int(dim))
                return self._size_of(tensor, int(dim) % len(sizes))
            return Size(self._size_of(tensor, number) for number in range(len(sizes)))

        return call

    def shape(self, getter: Callable[[Tensor], Any]) -> Callable[[Tensor], Any]:
        sized = self.sized(lambda tensor: getter(tensor))
        return lambda tensor: sized(tensor)

    def _size_of(self, tensor: Tensor, dim: int) -> int:
        value = int(tensor._array.shape[dim])
        known = self.codes.get(id(tensor), "CONSTANTS")
        if known.startswith(("CONSTANTS", "self.", "getattr(")):
            return value
        return TracedInt(value, f"torch.size({known}, {dim})")

    # ---- subscripts

    def subscript(self, function: Callable[..., object]) -> AnyFunction:
        """`Tensor.__getitem__`."""

        @functools.wraps(function)
        def call(tensor: Tensor, index: object) -> Any:
            if self.depth or threading.get_ident() != self.thread:
                return function(tensor, index)
            expression = self._indexed(self.code(tensor), tensor._array.ndim, index)
            with self.unseen():
                result = function(tensor, _plain(index))
            self._bind(result, "index", expression)
            return result

        return call

    def assignment(self, function: Callable[..., object]) -> AnyFunction:
        """`Tensor.__setitem__`."""

        @functools.wraps(function)
        def call(tensor: Tensor, index: object, value: object) -> None:
            if self.depth or threading.get_ident() != self.thread:
                function(tensor, index, value)
                return
            code, given = self.code(tensor), self.code(value)
            parts = index if isinstance(index, tuple) else (index,)
            if any(isinstance(part, (Tensor, list)) for part in parts):
                listed = self._tensor_indices(tensor._array.ndim, parts)
                if not isinstance(value, Tensor):
                    with self.unseen():
                        given = self._constant(tensor.new_tensor(value))
                self.lines.append(f"{self.name()} = torch.index_put_({code}, {listed}, {given})")
            else:
                view = self._indexed(code, tensor._array.ndim, index)
                op = "copy_" if isinstance(value, Tensor) else "fill_"
                self.lines.append(f"{self.name()} = torch.{op}({view}, {given})")
            with self.unseen():
                function(tensor, _plain(index), value)

        return call

    def _indexed(self, code: str, rank: int, index: object) -> str:
        parts = list(index) if isinstance(index, tuple) else [index]
        if any(isinstance(part, (Tensor, list)) for part in parts):
            if all(isinstance(part, (Tensor, list)) or part is Ellipsis or _is_whole(part) for part in parts):
                return f"torch.index({code}, {self._tensor_indices(rank, parts)})"
            raise UnsupportedError(
                "the shim's torch.jit.trace can't write a subscript of tensors beside numbers or slices; index in two "
                "steps"
            )
        consumed = sum(part is not None and part is not Ellipsis for part in parts)
        dim = 0
        for part in parts:
            if part is Ellipsis:
                dim += rank - consumed
            elif part is None:
                code, dim = f"torch.unsqueeze({code}, {dim})", dim + 1
            elif isinstance(part, slice):
                if part != slice(None):
                    start, stop = ("None" if end is None else self.code(end) for end in (part.start, part.stop))
                    code = f"torch.slice({code}, {dim}, {start}, {stop}, {self.code(part.step or 1)})"
                dim += 1
            elif isinstance(part, int) and not isinstance(part, bool):
                code = f"torch.select({code}, {dim}, {self.code(part)})"
            else:
                raise UnsupportedError(f"the shim's torch.jit.trace can't write a subscript of a {type(part).__name__}")
        return code

    def _tensor_indices(self, rank: int, parts: Any) -> str:
        listed: list[str] = []
        for part in parts:
            if part is Ellipsis:
                listed += ["None"] * (rank - len(parts) + 1)
            elif isinstance(part, list):
                import guardfix.runtime_shim as shim

                with self.unseen():
                    made = shim.tensor(part)
                listed.append(self._constant(made))
            else:
                listed.append("None" if _is_whole(part) else self.code(part))
        return f"annotate(List[Optional[Tensor]], [{', '.join(listed)}])"

    # ---- what leaves the tensors

    def leaking(self, name: str, function: Callable[..., object]) -> AnyFunction:
        @functools.wraps(function)
        def call(tensor: Tensor, *args: object, **kwargs: object) -> Any:
            if not self.depth and threading.get_ident() == self.thread and id(tensor) in self.codes:
                if sys._getframe(1).f_globals.get("__name__", "").startswith(_OURS):
                    raise UnsupportedError(
                        f"the shim's torch.jit.trace can't follow {sys._getframe(1).f_code.co_name}, whose steps here "
                        "depend on the values of tensors; use torch.jit.script"
                    )
                warnings.warn(_LEAK.format(_LEAKS[name]), TracerWarning, stacklevel=2)
            with self.unseen():
                return function(tensor, *args, **kwargs)

        return call

    def iterated(self, function: Callable[..., object]) -> AnyFunction:
        @functools.wraps(function)
        def call(tensor: Tensor) -> Any:
            if self.depth or threading.get_ident() != self.thread or id(tensor) not in self.codes:
                return function(tensor)
            warnings.warn(_ITERATES, TracerWarning, stacklevel=2)
            with self.unseen():
                parts = tensor.unbind(0)
            self._bind(parts, "unbind", f"torch.unbind({self.code(tensor)}, 0)")
            return iter(parts)

        return call


def _is_whole(part: object) -> bool:
    return isinstance(part, slice) and part == slice(None)


def _plain(value: Any) -> Any:
    """Arguments with integers for sizes."""
    if isinstance(value, TracedInt):
        return int(value)
    if type(value) in (list, tuple):
        return type(value)(map(_plain, value))
    if isinstance(value, Size):
        return Size(map(int, value))
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, slice):
        return slice(*map(_plain, (value.start, value.stop, value.step)))
    return value


@contextlib.contextmanager
def recording_calls(recorder: CallRecorder) -> Iterator[None]:
    """Inside, the calls of this thread become lines."""
    import guardfix.runtime_shim as shim

    from ..aten import FUNCTIONS
    from ..nn import functional

    undo: list[Callable[[], None]] = []

    def put(holder: object, name: str, value: object) -> None:
        before = vars(holder)[name]
        undo.append(lambda: setattr(holder, name, before))
        setattr(holder, name, value)

    own = {"size": recorder.sized, "__getitem__": recorder.subscript, "__setitem__": recorder.assignment,
           "__iter__": recorder.iterated}  # fmt: skip
    for name, value in list(vars(Tensor).items()):
        spell = spelling("Tensor", name)
        if name == "shape":
            getter = value.fget if isinstance(value, property) else value.__get__
            put(Tensor, name, property(recorder.shape(cast("Callable[[Tensor], Any]", getter))))
        elif name in own:
            put(Tensor, name, own[name](value))
        elif name in _LEAKS:
            put(Tensor, name, recorder.leaking(name, value))
        elif isinstance(value, property) and spell is not None and value.fget is not None:
            put(Tensor, name, property(recorder.watched(spell, value.fget), value.fset, value.fdel, value.__doc__))
        elif callable(value) and not isinstance(value, type) and spell is not None:
            put(Tensor, name, recorder.watched(spell, value))
    functions = dict(FUNCTIONS)
    undo.append(lambda: FUNCTIONS.update(functions))
    for name, value in functions.items():
        spell = spelling("torch", name)
        if spell is not None:
            FUNCTIONS[name] = recorder.watched(spell, value)
            if vars(shim).get(name) is value:
                put(shim, name, FUNCTIONS[name])
    for name, value in list(vars(functional).items()):
        spell = spelling("functional", name)
        if spell is not None and callable(value) and not isinstance(value, type):
            put(functional, name, recorder.watched(spell, value))
    state = tls.state
    outer, state.tracer = state.tracer, recorder
    try:
        yield
    finally:
        state.tracer = outer
        for step in reversed(undo):
            step()
