"""Ops that programs define: schemas, calls that do not fit them, kernels per key, and what is refused."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

import guardfix.runtime_shim as shim

_NUMBERS = itertools.count()


@pytest.fixture
def library(torch: Any) -> Iterator[Any]:
    found = torch.library.Library(f"guardfix_test_{next(_NUMBERS)}", "DEF")
    yield found
    found._destroy()


def ops_of(torch: Any, library: Any) -> Any:
    return getattr(torch.ops, library.ns)


@pytest.mark.parametrize(
    ("schema", "printed"),
    [
        ("f(Tensor x) -> Tensor", None),
        ("f( Tensor x , int  n = -1 )->Tensor", "f(Tensor x, int n=-1) -> Tensor"),
        ("f(Tensor(a!) x, *, float eps=1) -> Tensor(a!)", "f(Tensor(a!) x, *, float eps=1.) -> Tensor(a!)"),
        ("f(Tensor[] xs, int[2] n, str? s=None, float[] f=[1, 2.5]) -> (Tensor, Tensor b)",
         "f(Tensor[] xs, int[2] n, str? s=None, float[] f=[1., 2.5]) -> (Tensor, Tensor b)"),
        ("f() -> ()", None),
        ('f(str s="a", bool b=True) -> Tensor[]', None),
    ],
    ids=["a tensor", "spaces", "alias sets and keyword only", "lists and optionals", "nothing", "defaults"],
)  # fmt: skip
def test_a_schema_is_printed_as_pytorch_prints_it(torch: Any, library: Any, schema: str, printed: str | None) -> None:
    assert library.define(schema) == "f"
    assert str(ops_of(torch, library).f.default._schema) == f"{library.ns}::{printed or schema}"


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ("f(Tensor x -> Tensor", "expected ) but found 'arrow' here:\nf(Tensor x -> Tensor\n           ~~ <--- HERE\n"),
        ("Tensor x", "expected eof but found 'ident' here:\nTensor x\n       ~ <--- HERE\n"),
        ("f(Tensor x)", "expected arrow but found 'eof' here:\nf(Tensor x)"),
        ("f(Tensor x,) -> Tensor", "expected ident but found ')' here:\nf(Tensor x,) -> Tensor\n           ~ <--- HERE\n"),
        ("f", "Tried to parse a function schema but only the operator name was given"),
        ("f(Tensor[] x=[]) -> ()", "\nlists are only supported for float, int and complex types:\nf(Tensor[] x=[]) -> ()")
    ],
    ids=["no bracket", "no arguments", "no result", "comma at the end", "a name alone", "default of a list of tensors"],
)  # fmt: skip
def test_what_is_no_schema_is_refused_with_its_place(torch: Any, library: Any, schema: str, message: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        library.define(schema)
    assert str(caught.value).startswith(message)


def test_an_unknown_type_is_refused_with_its_place(torch: Any, library: Any) -> None:
    with pytest.raises(RuntimeError, match=r"(?s)unknown type specifier.*\nf\(tensor x\) -> Tensor\n  ~{6} <--- HERE"):
        library.define("f(tensor x) -> Tensor")


@pytest.mark.parametrize(
    ("kind", "value", "got"),
    [
        ("int", True, 1),
        ("float", 1, 1.0),
        ("bool", 1, True),
        ("int[]", (1, 2), [1, 2]),
        ("int[2]", 3, [3, 3]),
        ("float[]", [1], [1.0]),
        ("int?", None, None),
        ("Scalar", 1.5, 1.5),
        ("Tensor?[]", [None], [None]),
    ],
)
def test_arguments_reach_the_kernel_as_their_schema_has_them(
    torch: Any, library: Any, kind: str, value: Any, got: Any
) -> None:
    seen: list[Any] = []
    library.define(f"f({kind} v) -> ()")
    library.impl("f", seen.append, "CompositeImplicitAutograd")
    ops_of(torch, library).f(value)
    assert seen == [got]
    assert type(seen[0]) is type(got)


@pytest.mark.parametrize(
    ("kind", "value", "words"),
    [
        ("int", 2.5, "value of type 'int' for argument 'v' but instead found type 'float'"),
        ("int", "three", "value of type 'int' for argument 'v' but instead found type 'str'"),
        ("int?", 1.5, r"value of type 'Optional\[int\]' for argument 'v' but instead found type 'float'"),
        ("int[]", 3, r"value of type 'List\[int\]' for argument 'v' but instead found type 'int'"),
        ("Scalar", None, "value of type 'number' for argument 'v' but instead found type 'NoneType'"),
        ("Tensor", 3, "value of type 'Tensor' for argument 'v' but instead found type 'int'"),
        ("Tensor[]", [None], r"value of type 'List\[Tensor\]' for argument 'v' but instead found type 'list'"),
    ],
)
def test_an_argument_of_another_type_is_refused(torch: Any, library: Any, kind: str, value: Any, words: str) -> None:
    library.define(f"f({kind} v) -> ()")
    library.impl("f", lambda v: None, "CompositeImplicitAutograd")
    with pytest.raises(RuntimeError, match=rf"f\(\) Expected a {words}.\nPosition: 0\nValue: "):
        ops_of(torch, library).f(value)


@pytest.mark.parametrize(
    ("args", "kwargs", "words"),
    [
        ((1,), {}, r"f\(\) is missing value for argument 'c'. Declaration: "),
        ((1, 2, 3), {}, r"f\(\) takes 2 positional argument\(s\) but 3 was/were given.  Declaration: "),
        ((1,), {"c": 1, "e": 2}, "Unknown keyword argument 'e' for operator "),
        ((1,), {"c": 1, "a": 2}, "Argument 'a' specified both as positional and keyword argument. Schema: "),
        ((1, 2, 3, 4), {}, r"f\(\) expected at most 3 argument\(s\) but received 4 argument\(s\). Declaration: "),
    ],
    ids=["missing", "positional for keyword only", "unknown keyword", "given twice", "too many"],
)
def test_a_call_that_does_not_fit_the_schema_is_refused(
    torch: Any, library: Any, args: tuple[int, ...], kwargs: dict[str, int], words: str
) -> None:
    library.define("f(int a, int b=2, *, int c) -> ()")
    library.impl("f", lambda *args, **kwargs: None, "CompositeImplicitAutograd")
    with pytest.raises(RuntimeError, match=words):
        ops_of(torch, library).f(*args, **kwargs)


def test_kernels_get_no_argument_that_equals_its_default(torch: Any, library: Any) -> None:
    seen: list[Any] = []
    library.define("f(int a, int b=2, *, int c, str d='z') -> ()")
    library.impl("f", lambda *args, **kwargs: seen.append((args, kwargs)), "CompositeImplicitAutograd")
    f = ops_of(torch, library).f
    f(1, 2, c=3, d="z")
    f(1, b=5, c=3, d="y")
    assert seen == [((1,), {"c": 3}), ((1, 5), {"c": 3, "d": "y"})]


def test_a_kernel_that_returns_another_type_is_an_error(torch: Any, library: Any) -> None:
    library.define("f(Tensor x) -> Tensor")
    library.impl("f", lambda x: 5, "CPU")
    library.define("g(Tensor x) -> ()")
    library.impl("g", lambda x: x, "CPU")
    with pytest.raises(RuntimeError, match="Unable to cast 5 to Tensor"):
        ops_of(torch, library).f(torch.ones(1))
    with pytest.raises(RuntimeError, match="to return None but it returned something else instead"):
        ops_of(torch, library).g(torch.ones(1))


def test_overloads_are_chosen_by_what_fits(torch: Any, library: Any) -> None:
    library.define("f.plain(Tensor x) -> Tensor")
    library.define("f.times(Tensor x, int n) -> Tensor")
    library.impl("f.plain", lambda x: x + 1, "CPU")
    library.impl("f.times", lambda x, n: x * n, "CPU")
    f = ops_of(torch, library).f
    assert f.overloads() == ["plain", "times"]
    assert (f(torch.ones(1)).item(), f(torch.ones(1), 5).item(), f.plain(torch.ones(1)).item()) == (2.0, 5.0, 2.0)
    assert f.times.overloadpacket is f
    with pytest.raises(AttributeError, match=r"The underlying op of '\w+.f' has no overload name 'default'"):
        f.default  # noqa: B018


def test_what_is_registered_twice_or_in_the_wrong_place_is_refused(torch: Any, library: Any) -> None:
    library.define("f(Tensor x) -> Tensor")
    with pytest.raises(RuntimeError, match=r"^Tried to register an operator .* multiple times\. .*Duplicate regist"):
        library.define("f(Tensor x) -> Tensor")
    with pytest.raises(RuntimeError, match=r"^Only a single TORCH_LIBRARY can be used to register the namespace"):
        torch.library.Library(library.ns, "DEF")
    with pytest.raises(RuntimeError, match=r'^def\("g"\): Cannot define an operator inside of a TORCH_LIBRARY_IMPL'):
        torch.library.Library(library.ns, "IMPL").define("g(Tensor x) -> Tensor")
    with pytest.raises(RuntimeError, match=r"^Explicitly provided namespace \(other\) in schema string does not match"):
        library.define("other::f(Tensor x) -> Tensor")
    with pytest.raises(RuntimeError, match="could not parse dispatch key: Foo"):
        library.impl("f", lambda x: x, "Foo")
    with pytest.raises(TypeError, match="Input function is required to be a callable but found type <class 'int'>"):
        library.impl("f", 3, "CPU")
    with pytest.raises(RuntimeError, match="impl should be passed either a name or an OpOverload object as the first"):
        library.impl(3, lambda x: x, "CPU")


def test_kernels_may_come_before_the_definition_and_for_devices_that_are_not_there(torch: Any, library: Any) -> None:
    library.impl("f", lambda x: x + 1, "CPU")
    library.impl("f", lambda x: x + 2, "CUDA")
    assert not hasattr(ops_of(torch, library), "f")
    library.define("f(Tensor x) -> Tensor")
    assert ops_of(torch, library).f(torch.ones(1)).item() == 2.0


def test_a_kernel_with_the_key_set_redispatches_below_its_key(torch: Any, library: Any) -> None:
    library.define("f(Tensor x) -> Tensor")
    library.impl("f", lambda x: x * 3, "CPU")
    f = ops_of(torch, library).f

    def autograd(keys: Any, x: Any) -> Any:
        return f.default.redispatch(keys & torch._C._after_autograd_keyset, x) + 1

    library.impl("f", autograd, "Autograd", with_keyset=True)
    assert f(torch.ones(1)).item() == 4.0
    with torch.inference_mode():
        assert f(torch.ones(1)).item() == 3.0


def test_a_fallthrough_kernel_lets_the_call_through(torch: Any, library: Any) -> None:
    library.define("f(Tensor x) -> Tensor")
    library.impl("f", torch.library.fallthrough_kernel, "Autograd")
    library.impl("f", lambda x: x * 3, "CPU")
    assert ops_of(torch, library).f(torch.ones(1, requires_grad=True)).grad_fn.name() == "MulBackward0"


def test_backward_through_an_op_without_an_autograd_kernel_warns_and_gives_no_gradient(
    torch: Any, library: Any
) -> None:
    library.define("f(Tensor x) -> Tensor")
    library.impl("f", lambda x: x.detach() * 3, "CPU")
    x = torch.ones(1, requires_grad=True)
    y = ops_of(torch, library).f(x)
    assert y.grad_fn.name() == "torch::autograd::WarnNotImplemented"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        y.sum().backward()
    assert any("an autograd kernel was not registered to the Autograd key" in str(w.message) for w in caught)
    assert x.grad is None
    with torch.no_grad():
        assert ops_of(torch, library).f(x).grad_fn is None


def test_ops_go_with_their_library() -> None:
    library = shim.library.Library("guardfix_dropped", "DEF")
    library.define("f(Tensor x) -> Tensor")
    library.impl("f", lambda x: x, "CPU")
    assert shim.ops.guardfix_dropped.f(shim.ones(1)).item() == 1.0
    del library
    assert not hasattr(shim.ops.guardfix_dropped, "f")
    shim.library.Library("guardfix_dropped", "DEF")._destroy()  # the namespace is free again


def test_a_key_that_the_shim_has_not_is_named() -> None:
    library = shim.library.Library("guardfix_keys", "FRAGMENT")
    library.define("f(Tensor x) -> Tensor")
    with pytest.raises(NotImplementedError, match="the shim has no dispatch key Functionalize; supported: Autograd"):
        library.impl("f", lambda x: x, "Functionalize")
