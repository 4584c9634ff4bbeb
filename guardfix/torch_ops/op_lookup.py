"""From what a program writes to the rows: functions, methods, operators, C++, layers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from .op_table import Layer, Op, ops, table

_UNARY = {"unary -": "neg", "unary +": "Tensor.__pos__", "~": "bitwise_not", "abs": "abs", "[]": "Tensor.__getitem__"}

_BINARY = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "div",
    "//": "floor_divide",
    "%": "remainder",
    "**": "pow",
    "@": "matmul",
    "&": "bitwise_and",
    "|": "bitwise_or",
    "^": "bitwise_xor",
    "<<": "bitwise_left_shift",
    ">>": "bitwise_right_shift",
    "==": "eq",
    "!=": "ne",
    "<": "lt",
    "<=": "le",
    ">": "gt",
    ">=": "ge",
}

_REFLECTED = {
    "+": "radd",
    "-": "rsub",
    "*": "rmul",
    "/": "rtruediv",
    "//": "rfloordiv",
    "%": "rmod",
    "**": "rpow",
    "&": "rand",
    "|": "ror",
    "^": "rxor",
    "<<": "rlshift",
    ">>": "rrshift",
}
"""Methods for a number on the left."""

_DUNDERS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "div": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "matmul": "@",
    "and": "&",
    "or": "|",
    "xor": "^",
    "lshift": "<<",
    "rshift": ">>",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
}

_CPP_NAMESPACES = {
    "at::": "",
    "torch::": "",
    "torch::nn::functional::": "nn.functional.",
    "torch::linalg::": "linalg.",
    "torch::special::": "special.",
    "torch::fft::": "fft.",
    "torch::nn::init::": "nn.init.",
    "torch::nn::utils::rnn::": "nn.utils.rnn.",
}


def function(path: str) -> tuple[Op, ...]:
    """The overloads of a function by its path in Python without `torch.`; none if it isn't known."""
    if path.startswith("ops.aten."):
        name, _, overload = path[len("ops.aten.") :].partition(".")
        found = _aten(name)
        return tuple(op for op in found if op.overload == overload.replace("default", "")) if overload else found
    if path.startswith("Tensor."):
        return method(path[len("Tensor.") :])
    aten = table().spellings.get(path)
    if aten is not None:
        return _aten(aten)
    return ops(path, "p") or ops(path, "f")


def method(name: str) -> tuple[Op, ...]:
    """The overloads of `Tensor.NAME` in Python."""
    if found := ops(f"Tensor.{name}", "p"):
        return found
    if name.startswith("__") and name.endswith("__"):
        bare = name[2:-2]
        if bare in _DUNDERS:
            return _plain(_DUNDERS[bare])
        if bare[:1] == "i" and bare[1:] in _DUNDERS:
            return operator(_DUNDERS[bare[1:]] + "=")
        return {"neg": operator("unary -"), "invert": operator("~"), "abs": operator("abs")}.get(bare, ())
    return ops(name, "m")


def operator(symbol: str) -> tuple[Op, ...]:
    """The overloads of an operator: `*`, `unary -`, `[]`, `*=`. With a number on the left, it is the first argument."""
    if symbol in _UNARY:
        name = _UNARY[symbol]
        return ops(name, "p") or tuple(op for op in ops(name, "c") if not writes_out(op))
    if symbol == "[]=":
        return ops("Tensor.__setitem__", "p")
    if symbol in _BINARY:
        reflected = ops(f"Tensor.__{_REFLECTED[symbol]}__", "p") if symbol in _REFLECTED else ()
        return _plain(symbol) + tuple(op._replace(arguments=op.arguments[::-1]) for op in reflected)
    if symbol[-1:] == "=" and symbol[:-1] in _BINARY:
        name = _BINARY[symbol[:-1]]
        # Without a method in place, Python computes and assigns.
        return ops(f"{name}_", "m") or _plain(symbol[:-1])
    return ()


def _plain(symbol: str) -> tuple[Op, ...]:
    return tuple(op for op in ops(_BINARY[symbol], "c") if not writes_out(op))


def cpp(name: str) -> tuple[Op, ...]:
    """The overloads of a function by its name in C++ with namespaces; `at::mul_out` has `out` first, as in C++."""
    name = name.removeprefix("::")
    if name.startswith("at::_ops::"):
        return _generated(name[len("at::_ops::") :].partition("::")[0])
    namespace, _, bare = name.rpartition("::")
    prefix = _CPP_NAMESPACES.get(f"{namespace}::")
    if prefix is None:
        return ()
    if prefix:
        known = function(prefix + bare)
        return known or (_aten(bare) if bare.startswith(prefix.replace(".", "_")) else ())
    found = tuple(op for op in ops(bare, "c") if not writes_out(op))
    return found or tuple(_out_overloads(bare)) or _factories(bare)


def cpp_method(name: str) -> tuple[Op, ...]:
    """The overloads of a method of at::Tensor."""
    return ops(name, "m")


def layer(name: str) -> Layer | None:
    """A class of torch.nn or torch::nn, by its bare name."""
    line = table().layers.get(name)
    if line is None:
        return None
    marks, training, evaluation, result = line.split("\t")
    said = {"yes": True, "no": False, "?": None}
    return Layer(name, "p" in marks, said[training], said[evaluation], result, "i" in marks)


def only_tensors_have(method: str) -> bool:
    """Whether Tensor has the method, and no array, string, container, data frame or number does."""
    return method in table().tensor_methods


def modules_have(method: str) -> bool:
    """Whether torch.nn.Module has a method of this name as well: `float`, `requires_grad_`, `to`."""
    return method in table().module_methods


class _Properties(Mapping[str, str]):
    """Attributes of Tensor that are read without a call, and what reading gives; the file is read when asked."""

    def __getitem__(self, name: str) -> str:
        return table().attributes[name]

    def __iter__(self) -> Iterator[str]:
        return iter(table().attributes)

    def __len__(self) -> int:
        return len(table().attributes)


TENSOR_PROPERTIES: Mapping[str, str] = _Properties()


def _aten(name: str) -> tuple[Op, ...]:
    return tuple(op for op in dict.fromkeys(ops(name, "c") + ops(name, "m")))


def writes_out(op: Op) -> bool:
    """Whether it is the form of an op that writes its result to `out=`."""
    return any(argument.keyword_only and f"alias:{argument.name}" in op.results for argument in op.arguments)


def _out_overloads(name: str) -> Iterator[Op]:
    base, _, ending = name.rpartition("_")
    if ending not in {"out", "outf"}:
        return
    for op in ops(base, "c"):
        if writes_out(op):
            out = tuple(
                argument._replace(keyword_only=False)
                for argument in op.arguments
                if f"alias:{argument.name}" in op.results
            )
            others = tuple(argument for argument in op.arguments if f"alias:{argument.name}" not in op.results)
            yield op._replace(arguments=out + others if ending == "out" else others + out)


def _generated(name: str) -> tuple[Op, ...]:
    """`mul_Tensor`: the op, an underscore, the overload."""
    for place in range(len(name), 0, -1):
        if place == len(name) or name[place] == "_":
            overload = name[place + 1 :]
            if found := tuple(op for op in _aten(name[:place]) if op.overload == overload):
                return found
    return ()


def _factories(name: str) -> tuple[Op, ...]:
    """`torch::tensor`, `torch::from_blob`: they take no tensor."""
    return ops(name, "p") if name in {"tensor", "from_blob"} else ()
