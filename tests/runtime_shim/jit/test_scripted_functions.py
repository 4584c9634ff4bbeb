"""`torch.jit.script` of functions: what runs, what is refused and in which words. PyTorch gives the same answers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from .written_modules import assert_pytorch_answers, imported

SOURCE = """
from typing import Dict, List, Optional, Tuple

import {module} as torch

FACTOR = 2
CONSTANTS = [1, 2]


def helper(x):
    return x * 3


def total(xs: List[torch.Tensor], start: Optional[torch.Tensor] = None, times: int = 1) -> torch.Tensor:
    out = torch.zeros(2) if start is None else start
    for i in range(times):
        for x in xs:
            out = out + helper(x)
    return out


def scripting(x):
    return x, torch.jit.is_scripting()


def sized(x, sizes: Tuple[int, int], names: Dict[str, int]) -> List[int]:
    assert x.dim() == 1, "one dimension"
    if x.numel() > 3:
        raise ValueError(f"too many: {x.numel()}")
    return [n for n in sizes] + [names["a"]]


def with_guard(x):
    with torch.no_grad():
        return x * 2


@torch.jit.ignore
def outside(x):
    return eval("x + 1")


def calls_ignored(x):
    return outside(x)


def variadic(*xs):
    return xs


def with_lambda(x):
    return (lambda y: y)(x)


def with_try(x):
    try:
        return x
    except RuntimeError:
        return x


def with_import(x):
    import math

    return x


def unknown_name(x):
    return nothing(x)


def calls_unknown(x):
    return unknown_name(x)


def recursive(x):
    return recursive(x)


def uses_list(x):
    return CONSTANTS


def uses_number(x):
    return x * FACTOR


def uses_attribute(x):
    return x * torch.pi


def opens(x):
    return open("x")


def signature_comment(x, sizes):
    # type: (Tensor, Tuple[int, int]) -> Tensor
    return x * sizes[0]


def comments(
    x,  # type: Tensor
    n,  # type: int
):
    # type: (...) -> Tensor
    return x * n


def no_result(x, n):
    # type: (Tensor, int)
    return x * n


def too_many_types(x):
    # type: (Tensor, int, int) -> Tensor
    return x


def unknown_type(x, n):
    # type: (Tensor, Nothing) -> Tensor
    return x


def no_such_op(x):
    return torch.no_such_op(x)


def fails_in_op(x):
    return x @ x
"""


@pytest.fixture(scope="module")
def shim(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return sample(tmp_path_factory.mktemp("scripted"), "guardfix.runtime_shim")


def sample(folder: Path, torch: str) -> ModuleType:
    return imported(folder / "sample_functions.py", SOURCE, torch)


Call = Callable[[Any, Any], Any]

RESULTS: list[Any] = [
    pytest.param(lambda m, s: s(m.total)([m.torch.ones(2)]).tolist(), [3.0, 3.0], id="defaults, a helper"),
    pytest.param(lambda m, s: s(m.total)([m.torch.ones(2)], times=2).tolist(), [6.0, 6.0], id="keyword"),
    pytest.param(lambda m, s: s(m.total)([], m.torch.ones(1)).tolist(), [1.0], id="an optional tensor"),
    pytest.param(
        lambda m, s: round(s(m.uses_attribute)(m.torch.ones(1)).item(), 4), 3.1416, id="an attribute of a module"
    ),
    pytest.param(lambda m, s: s(m.scripting)(m.torch.ones(1))[1], True, id="is_scripting inside"),
    pytest.param(lambda m, s: m.scripting(m.torch.ones(1))[1], False, id="is_scripting outside"),
    pytest.param(lambda m, s: s(m.sized)(m.torch.ones(3), (1, 2), {"a": 5}), [1, 2, 5], id="tuple, dictionary, list"),
    pytest.param(
        lambda m, s: s(m.with_guard)(m.torch.ones(1, requires_grad=True)).requires_grad, False, id="a guard in it"
    ),
    pytest.param(lambda m, s: s(m.calls_ignored)(m.torch.ones(1)).tolist(), [2.0], id="an ignored function"),
    pytest.param(lambda m, s: s(m.signature_comment)(m.torch.ones(1), (2, 1)).tolist(), [2.0], id="a type comment"),
    pytest.param(lambda m, s: str(s(m.comments).schema), "comments(Tensor x, int n) -> Tensor", id="one a parameter"),
    pytest.param(lambda m, s: str(s(m.no_result).schema), "no_result(Tensor x, int n) -> Tensor", id="no result"),
    pytest.param(lambda m, s: s(s(m.helper)).name, "helper", id="scripted twice"),
    pytest.param(lambda m, s: type(s(m.helper)).__name__, "ScriptFunction", id="its type"),
]
REFUSALS: list[Any] = [
    pytest.param(lambda m, s: s(m.variadic), "Compiled functions can't take variable number of arguments", id="*xs"),
    pytest.param(lambda m, s: s(m.with_lambda), "Lambda aren't supported|lambda", id="lambda"),
    pytest.param(lambda m, s: s(m.with_try), "try blocks aren't supported", id="try"),
    pytest.param(lambda m, s: s(m.with_import), "import statements aren't supported", id="import"),
    pytest.param(lambda m, s: s(m.unknown_name), r"undefined value nothing", id="a name that is nothing"),
    pytest.param(lambda m, s: s(m.calls_unknown), r"undefined value nothing", id="the same in a function it calls"),
    pytest.param(lambda m, s: s(m.recursive), "is called recursively|recursive", id="recursion"),
    pytest.param(lambda m, s: s(m.uses_list), "python value of type 'list' cannot be used as a value", id="a list"),
    pytest.param(lambda m, s: s(m.uses_number), "python value of type 'int' cannot be used as a value", id="a number"),
    pytest.param(lambda m, s: s(m.too_many_types), r"Number of type annotations \(3\) did not match", id="3 types"),
    pytest.param(lambda m, s: s(m.unknown_type), "Unknown type name 'Nothing'", id="an unknown type"),
    pytest.param(
        lambda m, s: s(m.signature_comment)(m.torch.ones(1), m.torch.ones(1)),
        "signature_comment\\(\\) Expected a value of type",
        id="another type than the comment's",
    ),
    pytest.param(lambda m, s: s(m.opens), "Python builtin <built-in function open> is currently not", id="open"),
    pytest.param(
        lambda m, s: s(m.helper)(3),
        r"helper\(\) Expected a value of type 'Tensor( \(inferred\))?' for argument 'x' but instead found type 'int'",
        id="a number for a tensor",
    ),
    pytest.param(lambda m, s: s(m.helper)(), r"helper\(\) is missing value for argument 'x'", id="an argument less"),
    pytest.param(
        lambda m, s: s(m.helper)(m.torch.ones(1), y=1), "Unknown keyword argument 'y'|at most 1", id="keyword"
    ),
    pytest.param(lambda m, s: s(m.sized)(m.torch.ones(4), (1, 2), {}), "builtins.ValueError: too many: 4", id="raise"),
    pytest.param(lambda m, s: s(m.sized)(m.torch.ones(1, 1), (1, 2), {}), "AssertionError: one dimension", id="assert"),
    pytest.param(
        lambda m, s: s(m.fails_in_op)(m.torch.ones(2, 3)),
        r"(?s)The following operation failed in the TorchScript interpreter.*RuntimeError: mat1 and mat2 shapes",
        id="an op that fails",
    ),
]


@pytest.mark.parametrize(("call", "expected"), RESULTS)
def test_a_scripted_function_gives(shim: ModuleType, call: Call, expected: Any) -> None:
    assert call(shim, shim.torch.jit.script) == expected


@pytest.mark.parametrize(("call", "words"), REFUSALS)
def test_what_is_refused(shim: ModuleType, call: Call, words: str) -> None:
    with pytest.raises(Exception, match=words):
        call(shim, shim.torch.jit.script)


def test_what_the_shim_lacks_is_named(shim: ModuleType) -> None:
    with pytest.raises(NotImplementedError, match="takes functions and modules, and was given a int"):
        shim.torch.jit.script(1)
    with pytest.raises(NotImplementedError, match=r"the shim has no torch\.jit\.ScriptFunction\.graph"):
        shim.torch.jit.script(shim.helper).graph  # noqa: B018


@pytest.mark.oracle
def test_pytorch_gives_the_same_answers(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    assert_pytorch_answers(sample(tmp_path, "torch"), RESULTS, REFUSALS)
