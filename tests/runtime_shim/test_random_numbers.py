"""Random numbers are PyTorch's for the same seed, whatever draws them; `seeded_numbers.txt` is the table."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

Torch = Any


def table() -> Iterator[tuple[str, str]]:
    _, *cases = Path(__file__).with_name("seeded_numbers.txt").read_text(encoding="utf-8").strip().split("\n\n")
    for case in cases:
        expression, *found = case.splitlines()
        yield expression, " ".join(" ".join(found).split())


def names(torch: Torch) -> dict[str, ModuleType]:
    def module(name: str) -> ModuleType:
        return importlib.import_module(f"{torch.__name__}.{name}")

    return {"torch": torch, "nn": module("nn"), "F": module("nn.functional"), "data": module("utils.data")}


@pytest.mark.parametrize(("expression", "expected"), list(table()))
def test_a_seed_gives_the_numbers_of_pytorch(torch: Torch, expression: str, expected: str) -> None:
    torch.manual_seed(5)
    found = eval(expression, names(torch))
    assert " ".join(str(found).split()) == expected


@pytest.mark.parametrize(
    ("seed", "drawn", "some_bytes"),
    [
        (5, 0, [5, 1, 0, 0]),
        (5, 1, [5, 112, 1, 0]),
        (5, 623, [5, 2, 111, 2]),
        (5, 624, [5, 1, 112, 2]),
        (5, 625, [5, 112, 1, 0]),
        (2**40 + 3, 0, [3, 1, 0, 0]),
    ],
)
def test_the_state_is_laid_out_as_pytorch_does(torch: Torch, seed: int, drawn: int, some_bytes: list[int]) -> None:
    generator = torch.Generator().manual_seed(seed)
    torch.rand(drawn, generator=generator)
    state = generator.get_state()
    # Of the seed, of the number of words that are left, and of the position of the next.
    assert (len(state), state[[0, 8, 16, 17]].tolist()) == (5056, some_bytes)


@pytest.mark.parametrize("drawn", [0, 1, 3, 623, 624, 1000])
def test_a_state_goes_on_where_it_was_taken(torch: Torch, drawn: int) -> None:
    generator = torch.Generator().manual_seed(7)
    torch.randn(min(drawn, 15), generator=generator)
    torch.rand(drawn, generator=generator)
    other = torch.Generator()
    other.set_state(generator.get_state())
    for one in (generator.clone_state(), other):
        assert torch.equal(one.get_state(), generator.get_state())
        assert one.initial_seed() == 7
    expected = torch.randn(5, generator=other), torch.randint(2**40, (3,), generator=other)
    found = torch.randn(5, generator=generator), torch.randint(2**40, (3,), generator=generator)
    assert all(map(torch.equal, found, expected))


@pytest.mark.oracle
def test_the_state_of_either_is_that_of_the_other() -> None:
    torch = pytest.importorskip("torch")
    import guardfix.runtime_shim as shim

    torch.manual_seed(11)
    torch.randn(3)
    shim.set_rng_state(shim.tensor(torch.get_rng_state().tolist(), dtype=shim.uint8))
    assert shim.randn(4).tolist() == torch.randn(4).tolist()
    torch.set_rng_state(torch.tensor(shim.get_rng_state().tolist(), dtype=torch.uint8))
    assert shim.rand(700).tolist() == torch.rand(700).tolist()


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        ("torch.set_rng_state(torch.zeros(5, dtype=torch.uint8))", "RuntimeError: Expected a CPUGeneratorImplState of size 5056 but found the input RNG state size to be 5"),
        ("torch.set_rng_state(torch.zeros(5056, dtype=torch.uint8))", "RuntimeError: Invalid mt19937 state"),
        ("torch.set_rng_state(torch.zeros(5056))", "TypeError: RNG state must be a torch.ByteTensor"),
        ("torch.Generator().manual_seed('a')", "RuntimeError: manual_seed expected a long, but got str"),
        ("torch.Generator().manual_seed(2**64)", "ValueError: Overflow when unpacking long long"),
        ("torch.empty(3).random_(5, 3)", "RuntimeError: random_ expects 'from' to be less than 'to', but got from=5 >= to=3"),
        ("torch.empty(3, dtype=torch.uint8).random_(0, 300)", "RuntimeError: to - 1 is out of bounds for unsigned char"),
        ("torch.empty(3, dtype=torch.uint8).random_(-5, 3)", "RuntimeError: from is out of bounds for unsigned char"),
        ("torch.empty(3, dtype=torch.bool).random_(0, 3)", "RuntimeError: to - 1 is out of bounds for bool"),
        ("torch.empty(3, dtype=torch.float16).random_(0, 2**20)", "RuntimeError: to - 1 is out of bounds for c10::Half"),
        ("torch.empty(3, dtype=torch.complex64).random_()", "NotImplementedError: \"random_kernel_cpu\" not implemented for 'ComplexFloat'"),
        ("torch.randint(0, 300, (2,), dtype=torch.uint8)", "RuntimeError: to - 1 is out of bounds for unsigned char"),
        ("torch.empty(3).uniform_(0, 1e39)", "RuntimeError: to is out of bounds for float"),
        ("torch.empty(3).uniform_(-3e38, 3e38)", "RuntimeError: uniform_ expects to-from <= std::numeric_limits<Float>::max(), but found to=3e+38 and from=-3e+38 which result in to-from to exceed the limit"),
        ("torch.empty(3, dtype=torch.int64).uniform_()", "NotImplementedError: \"check_uniform_bounds\" not implemented for 'Long'"),
        ("torch.empty(3, dtype=torch.bool).normal_()", "NotImplementedError: \"normal_kernel_cpu\" not implemented for 'Bool'"),
        ("torch.empty(3, dtype=torch.int64).log_normal_()", "NotImplementedError: \"log_normal_cpu\" not implemented for 'Long'"),
        ("torch.empty(3, dtype=torch.bool).geometric_(0.3)", "NotImplementedError: \"geometric_cpu\" not implemented for 'Bool'"),
        ("torch.empty(3, dtype=torch.int64).exponential_()", "RuntimeError: Exponential distribution is a continuous probability distribution. dtype must be a floating point but you specified Long"),
        ("torch.empty(3, dtype=torch.int64).cauchy_()", "RuntimeError: Cauchy distribution is a continuous probability distribution. dtype must be a floating point but you specified long int"),
        ("torch.empty(3).bernoulli_(2)", "RuntimeError: bernoulli_ expects p to be in [0, 1], but got p=2"),
        ("torch.empty(3, dtype=torch.complex64).bernoulli_()", "NotImplementedError: \"bernoulli_scalar_cpu_\" not implemented for 'ComplexFloat'"),
        ("torch.bernoulli(torch.tensor([2.0]))", "RuntimeError: Expected p_in >= 0 && p_in <= 1 to be true, but got false."),
        ("torch.randperm(-1)", "RuntimeError: Trying to create tensor with negative dimension -1: [-1]"),
        ("torch.randperm(257, dtype=torch.uint8)", "RuntimeError: value cannot be converted to type uint8_t without overflow"),
    ],
)  # fmt: skip
def test_what_is_refused(torch: Torch, expression: str, error: str) -> None:
    with pytest.raises((RuntimeError, TypeError, ValueError)) as raised:
        eval(expression, {"torch": torch})
    assert f"{type(raised.value).__name__}: {raised.value}".partition("  (Could")[0] == error


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float16", "bfloat16", "float64"])
def test_what_is_within_bounds_is_drawn(torch: Torch, dtype: str) -> None:
    drawn = torch.empty(200, dtype=getattr(torch, dtype)).random_(3, 250).double()
    assert 3 <= drawn.min() < drawn.max() <= 250
