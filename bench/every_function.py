#!/usr/bin/env python3
"""Calls every function of PyTorch with generic arguments of every dtype, there and on the shim, and compares.

    python bench/every_function.py [--gradients] [--only NAME,NAME] [--details KIND]

Needs the extra `oracle`. A call is a function of `torch`, `torch.nn.functional` or `torch.special`, or a method of
tensors, with one of the argument lists of `FORMS`, in one dtype. Compared are the outcome, and of a result its dtype,
shape, strides, version, whether it is a view, and its values; with `--gradients` instead, on arguments that require
gradients, the nodes and edges of results and the gradients of all arguments. A call that PyTorch refuses for its
arguments (TypeError) isn't counted: lists of arguments are mostly wrong for a function. `--details refused` prints an
example of each function that differs in that way. Exit status 1 if PyTorch isn't there.
"""

from __future__ import annotations

import argparse
import cmath
import importlib
import importlib.util
import inspect
import json
import multiprocessing
import re
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

SHIM = "guardfix.runtime_shim"
DTYPES = (
    *("bool", "uint8", "int8", "int16", "int32", "int64"),
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
)
OF_GRADIENTS = ("float16", "float32", "float64", "complex64")

# What takes or gives random numbers, unset memory or addresses, what changes the process, and what is asked of a
# tensor rather than computed.
LEFT_OUT = re.compile(
    r"_|is_|get_|set_|has_|cuda|cudnn|miopen|mkldnn|xpu|mps|q_|quantize|fbgemm|fake_|fused|choose|int_repr|dequantize|"
    r"sparse|to_sparse|ccol|crow|col_ind|row_ind|indices|values|coalesce|rand|empty|new_empty|seed|manual_|save|load|"
    r"from_file|compile|use_det|init_num|typename|import|parse|merge|autocast|batch_norm_|native_|unsafe_|slow_|thnn|"
    r"lobpcg|pca_|svd_lowrank|result_type|can_cast|promote|vmap|cond$|while_loop|fork|wait|backward|register_|retain_|"
    r"map_|map2_|apply_|share_|storage|untyped|data_ptr|resize|requires_grad_|record_|bernoulli|multinomial|normal|"
    r"poisson$|.*dropout|rrelu|uniform_|random_|exponential_|geometric_|cauchy_|log_normal_|gumbel|fractional|binomial|"
    r"kaiser|module_load|numpy|tolist|names|rename|refine|align|unflatten$|stft|istft|rnn|gru|lstm|sym_|"
    r"no_grad|enable_grad|inference_mode|pin_|xpu|pdist"
)


def tensor(torch: ModuleType, dtype: str, shape: tuple[int, ...], variant: int = 0) -> Any:
    """Small numbers, some of them equal, in the given dtype."""
    count = 1
    for n in shape:
        count *= n
    numbers: list[Any] = [((i * 7 + variant * 3) % 5) + (0.5 if i % 2 else 0.25) for i in range(count)]
    if dtype == "bool":
        numbers = [bool(int(v) % 2) for v in numbers]
    elif "int" in dtype:
        numbers = [int(v) + (1 if i % 3 else 0) for i, v in enumerate(numbers)]
    elif dtype.startswith("complex"):
        numbers = [complex(v, 1 - v) for v in numbers]
    else:
        numbers = [v / 4 for v in numbers]
    return torch.tensor(numbers, dtype=getattr(torch, dtype)).reshape(shape)


#: Arguments by a short name; `x(shape)` is a tensor of the dtype in question, `f`, `l` and `m` one of float32, int64
#: and bool.
FORMS: dict[str, str] = {
    "matrix": "x((2, 3))",
    "vector": "x((3,))",
    "square": "x((3, 3))",
    "two matrices": "x((2, 3)), x((2, 3), 1)",
    "two vectors": "x((3,)), x((3,), 1)",
    "two squares": "x((3, 3)), x((3, 3), 1)",
    "three matrices": "x((2, 3)), x((2, 3), 1), x((2, 3), 2)",
    "three squares": "x((3, 3)), x((3, 3), 1), x((3, 3), 2)",
    "and float32": "x((2, 3)), f((2, 3), 1)",
    "and int64": "x((2, 3)), l((2, 3), 1)",
    "and 2": "x((2, 3)), 2",
    "and 0.5": "x((2, 3)), 0.5",
    "and 1": "x((2, 3)), 1",
    "and True": "x((2, 3)), True",
    "and 2j": "x((2, 3)), 2j",
    "2 first": "2, x((2, 3))",
    "and two dimensions": "x((2, 3)), 0, 1",
    "and two numbers": "x((2, 3)), 0.25, 0.75",
    "and dimensions": "x((2, 3)), (0, 1)",
    "dim=": "x((2, 3)), dim=0",
    "keepdim=": "x((2, 3)), dim=-1, keepdim=True",
    "image": "x((1, 2, 4, 4))",
    "image and 2": "x((1, 2, 4, 4)), 2",
    "image and kernel": "x((1, 2, 4, 4)), x((3, 2, 2, 2))",
    "signal and kernel": "x((1, 2, 4)), x((3, 2, 2))",
    "list": "[x((2, 3)), x((2, 3), 1)]",
    "list and 1": "[x((2, 3)), x((2, 3), 1)], 1",
    "transposed": "x((3, 2)).t()",
    "transposed first": "x((3, 2)).t(), x((2, 3))",
    "number": "x(())",
    "number and 0": "x(()), 0",
    "nothing": "x((0, 3))",
    "nothing and 0": "x((0, 3)), 0",
    "and mask": "x((2, 3)), m((2, 3)), x((2, 3), 2)",
    "mask and 2": "x((2, 3)), m((2, 3)), 2",
    "mask first": "m((2, 3)), x((2, 3)), x((2, 3), 2)",
    "index": "x((2, 3)), 0, torch.tensor([1, 0])",
    "matrix of indices": "x((2, 3)), 0, torch.tensor([[1, 0, 0]])",
    "index and source": "x((2, 3)), 0, torch.tensor([1, 0]), x((2, 3), 1)",
    "indices and source": "x((2, 3)), 0, torch.tensor([[1, 0, 0]]), x((2, 3), 1)",
    "indices and 2": "x((2, 3)), 0, torch.tensor([[1, 0, 0]]), 2",
}


def functions(torch: ModuleType) -> Iterator[tuple[str, str]]:
    """(namespace, name) of all that is called."""
    for namespace, owner in namespaces(torch).items():
        for name in sorted(dir(owner)):
            found = inspect.getattr_static(owner, name)
            is_function = callable(getattr(owner, name)) and not isinstance(found, type)
            defined = getattr(found, "__module__", None) or ""
            if (
                LEFT_OUT.match(name)
                or not is_function
                or defined.startswith(("typing", "torch._jit", "torch.overrides"))
            ):
                continue
            if namespace != "Tensor" or name.endswith("_") or not hasattr(torch, name):
                yield namespace, name


def namespaces(torch: ModuleType) -> dict[str, Any]:
    return {
        "torch": torch,
        "functional": importlib.import_module(f"{torch.__name__}.nn.functional"),
        "special": torch.special,
        "Tensor": torch.Tensor,
    }


def call(torch: ModuleType, function: Callable[..., Any], form: str, dtype: str, in_place: bool, grads: bool) -> Any:
    """What a call came to, as plain data."""
    made: list[Any] = []

    def x(shape: tuple[int, ...], variant: int = 0, kind: str = dtype) -> Any:
        found = tensor(torch, kind, shape, variant)
        if grads and (found.is_floating_point() or found.is_complex()):
            made.append(found.requires_grad_())
            if in_place and len(made) == 1:
                return found.clone()
        return found

    def of(kind: str) -> Callable[..., Any]:
        return lambda shape, variant=0: x(shape, variant, kind)

    names = {"x": x, "f": of("float32"), "l": of("int64"), "m": of("bool"), "torch": torch, "function": function}
    try:
        result = eval(f"function({FORMS[form]})", names)  # of the table above
    except Exception as error:
        text = str(error).replace(torch.__name__, "torch").split("\n")[0]
        return [type(error).__name__, text]
    return ["ok", of_graph(torch, result, made) if grads else plain(torch, result)]


def plain(torch: ModuleType, result: Any) -> Any:
    """A result as JSON: of a tensor its dtype, shape, strides, version, whether it is a view, and values."""
    if isinstance(result, torch.Tensor):
        strided = result.layout == torch.strided
        try:
            wide = torch.complex128 if result.is_complex() else torch.float64
            values = [str(v) for v in result.detach().to(wide).flatten().tolist()[:24]]
        except Exception as error:
            values = [type(error).__name__]
        return {
            "dtype": str(result.dtype).replace(torch.__name__, "torch"),
            "shape": list(result.shape),
            "strides": list(result.stride()) if strided else None,
            "version": None if result.is_inference() else result._version,
            "view": result._is_view(),
            "values": values,
        }
    if isinstance(result, tuple | list):
        return [plain(torch, part) for part in result[:8]]
    return result if isinstance(result, int | float | bool | str | None) else type(result).__name__


def of_graph(torch: ModuleType, result: Any, leaves: list[Any]) -> Any:
    """The nodes and edges of results, and the gradients of a polynomial of them."""
    parts = [result] if isinstance(result, torch.Tensor) else result if isinstance(result, tuple | list) else []
    outputs = [part for part in parts if isinstance(part, torch.Tensor)]
    nodes = [None if t.grad_fn is None else t.grad_fn.name() for t in outputs]
    edges = [
        None if t.grad_fn is None else [None if n is None else n.name() for n, _ in t.grad_fn.next_functions][:6]
        for t in outputs
    ]
    found: dict[str, Any] = {"node": nodes, "edges": edges}
    reached = [t for t in outputs if t.requires_grad and t.layout == torch.strided]
    if reached and leaves:
        try:
            total = sum((t * t.conj()).real.sum() if t.is_complex() else (t * (t + 1)).sum() for t in reached)
            grads = torch.autograd.grad(total, leaves, allow_unused=True)
            found["gradients"] = [None if g is None else {**plain(torch, g), "version": 0, "view": 0} for g in grads]
        except Exception as error:
            found["gradients"] = f"{type(error).__name__}: {error}"
    return found


def run(module: str, calls: list[tuple[str, str]], grads: bool, into: Any) -> None:
    """All outcomes on a module, function by function; in its own process, since PyTorch may end it."""
    warnings.simplefilter("ignore")
    torch = importlib.import_module(module)
    owners = namespaces(torch)
    for namespace, name in calls:
        function = getattr(owners[namespace], name, None)
        if function is None:
            into.put((namespace, name, None))
            continue
        in_place = name.endswith("_")
        dtypes = OF_GRADIENTS if grads else DTYPES
        outcomes = {f"{f}, {d}": call(torch, function, f, d, in_place, grads) for f in FORMS for d in dtypes}
        into.put((namespace, name, outcomes))
    into.put(None)


def outcomes(module: str, calls: list[tuple[str, str]], grads: bool) -> dict[str, Any]:
    """What every call came to; a function in which the process ended is left out, and said."""
    found: dict[str, Any] = {}
    left = list(calls)
    context = multiprocessing.get_context("spawn")
    while left:
        queue: Any = context.SimpleQueue()
        process = context.Process(target=run, args=(module, left, grads, queue))
        process.start()
        while True:
            while queue.empty() and process.is_alive():
                process.join(0.01)
            if queue.empty():
                namespace, name = left.pop(0)
                print(f"{module} ended in {namespace}.{name}", file=sys.stderr)
                break
            item = queue.get()
            if item is None:
                return found
            namespace, name, of_name = item
            left.remove((namespace, name))
            found[f"{namespace}.{name}"] = of_name
    return found


def close(a: Any, b: Any) -> bool:
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(close(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(close, a, b))
    if a == b:
        return True
    try:
        x, y = complex(a), complex(b)
    except (TypeError, ValueError):
        return False
    if cmath.isnan(x) or cmath.isnan(y):
        return cmath.isnan(x) and cmath.isnan(y)
    return abs(x - y) <= 0.02 * max(1.0, abs(x))  # of bfloat16


def difference(want: Any, got: Any) -> str:
    """In what two outcomes differ; empty if they don't."""
    if close(want, got):
        return ""
    if want[0] != got[0]:
        return "not refused" if got[0] == "ok" else "refused" if want[0] == "ok" else "type of the error"
    if want[0] != "ok":
        return "text of the error"
    for a, b in zip(*(v if isinstance(v, list) else [v] for v in (want[1], got[1])), strict=False):
        if isinstance(a, dict) and isinstance(b, dict):
            for key in a:
                if not close(a[key], b.get(key)):
                    return str(key)
    return "values"


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--gradients", action="store_true", help="compare nodes, edges and gradients instead of results"
    )
    parser.add_argument("--only", metavar="NAME,NAME", help="functions of these names alone")
    parser.add_argument("--details", metavar="KIND", help="print examples of this kind of difference")
    arguments = parser.parse_args(argv)
    if importlib.util.find_spec("torch") is None:
        print("PyTorch is not installed: pip install -e '.[oracle]'", file=sys.stderr)
        return 1
    only = arguments.only.split(",") if arguments.only else None
    calls = [c for c in functions(importlib.import_module("torch")) if only is None or c[1] in only]
    wanted, got = (outcomes(module, calls, arguments.gradients) for module in ("torch", SHIM))
    kinds: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    compared = missing = 0
    for function, of_torch in wanted.items():
        of_shim = got.get(function)
        if of_shim is None:
            missing += 1
            continue
        for arguments_of_call, want in of_torch.items():
            if want[0] == "TypeError":
                continue
            compared += 1
            kind = difference(want, of_shim[arguments_of_call])
            if kind:
                example = (
                    f"{arguments_of_call}: {json.dumps(want)[:150]} | {json.dumps(of_shim[arguments_of_call])[:150]}"
                )
                kinds[kind][function].append(example)
    print(f"{len(wanted)} functions, {missing} of them not on the shim; {compared} calls that PyTorch takes as such")
    for kind, by_function in sorted(kinds.items(), key=lambda item: -sum(map(len, item[1].values()))):
        count = sum(map(len, by_function.values()))
        print(f"{kind:<18} {count:>6} calls {count / compared:>7.2%}  {len(by_function):>4} functions")
        if arguments.details == kind:
            for function, examples in sorted(by_function.items(), key=lambda item: -len(item[1])):
                print(f"  {len(examples):>4} {function}: {examples[0]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
