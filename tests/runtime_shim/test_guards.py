"""Guard objects entered, left, dropped and shared out of the usual order, on the shim and on PyTorch."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from types import ModuleType
from typing import Any

import pytest


def in_a_thread(run: Callable[[], None]) -> None:
    """A new thread starts in normal mode, and what it leaves behind ends with it."""
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()


def modes(torch: ModuleType) -> tuple[bool, bool]:
    return torch.is_grad_enabled(), torch.is_inference_mode_enabled()


NORMAL, NO_GRAD, INFERENCE = (True, False), (False, False), (False, True)


@pytest.mark.parametrize(
    ("make", "seen"),
    [
        pytest.param(
            lambda torch: torch.no_grad(),
            [NO_GRAD, NO_GRAD, NO_GRAD, NO_GRAD],
            id="no_grad remembers one mode, and does not come back",
        ),
        pytest.param(
            lambda torch: torch.inference_mode(),
            [INFERENCE, NORMAL, INFERENCE, INFERENCE],
            id="inference_mode entered again replaces its first guard, and does not come back",
        ),
        pytest.param(
            lambda torch: torch.set_grad_enabled(False),
            [NO_GRAD, NO_GRAD, NORMAL, NORMAL],
            id="set_grad_enabled remembers the mode at its making",
        ),
    ],
)
def test_one_guard_object_entered_twice(
    torch: ModuleType, make: Callable[[ModuleType], Any], seen: list[tuple[bool, bool]]
) -> None:
    found = []

    def run() -> None:
        guard = make(torch)
        with guard:
            found.append(modes(torch))
            with guard:
                found.append(modes(torch))
            found.append(modes(torch))
        found.append(modes(torch))

    in_a_thread(run)
    assert found == seen


def test_one_guard_object_entered_again_after_it_was_left(torch: ModuleType) -> None:
    guard = torch.inference_mode()
    for _ in range(2):
        with guard:
            assert modes(torch) == INFERENCE
        assert modes(torch) == NORMAL


def test_inference_mode_that_is_dropped_without_being_left_ends(torch: ModuleType) -> None:
    guard = torch.inference_mode()
    guard.__enter__()
    assert modes(torch) == INFERENCE
    del guard
    assert modes(torch) == NORMAL


def test_leaving_inference_mode_that_was_never_entered_is_an_error(torch: ModuleType) -> None:
    with pytest.raises(AttributeError, match="'inference_mode' object has no attribute '_inference_mode_context'"):
        torch.inference_mode().__exit__(None, None, None)


@pytest.mark.parametrize("guard", ["no_grad", "inference_mode"])
def test_a_decorated_coroutine_runs_without_the_guard(torch: ModuleType, guard: str) -> None:
    async def body() -> tuple[bool, bool]:
        return modes(torch)

    async def steps() -> AsyncIterator[tuple[bool, bool]]:
        yield modes(torch)

    async def collect() -> list[tuple[bool, bool]]:
        return [step async for step in getattr(torch, guard)()(steps)()]

    assert asyncio.run(getattr(torch, guard)()(body)()) == NORMAL
    assert asyncio.run(collect()) == [NORMAL]


@pytest.mark.parametrize("guard", ["no_grad", "inference_mode"])
def test_a_guard_made_in_one_thread_and_entered_in_another_holds_there(torch: ModuleType, guard: str) -> None:
    made = getattr(torch, guard)()
    found = []

    def run() -> None:
        with made:
            found.append(modes(torch))
        found.append(modes(torch))

    in_a_thread(run)
    assert found == [NO_GRAD if guard == "no_grad" else INFERENCE, NORMAL]
    assert modes(torch) == NORMAL


def hidden(torch: ModuleType) -> bool:
    return "ADInplaceOrView" in repr(torch._C._dispatch_tls_local_exclude_set())


def test_the_guard_below_adinplaceorview_entered_twice_ends_with_the_first_exit(torch: ModuleType) -> None:
    guard = torch._C._AutoDispatchBelowADInplaceOrView()
    assert not hidden(torch)
    with guard:
        with guard:
            assert hidden(torch)
        assert not hidden(torch)
    assert not hidden(torch)


def test_a_c_guard_that_was_left_stays_off(torch: ModuleType) -> None:
    guard = torch._C._InferenceMode(True)
    guard.__exit__(None, None, None)
    with guard:
        assert modes(torch) == NORMAL


@pytest.mark.parametrize(
    ("guard", "args", "signature"),
    [
        ("_InferenceMode", (), "arg0: bool"),
        ("_InferenceMode", ("on",), "arg0: bool"),
        ("_AutoDispatchBelowAutograd", (True,), ""),
        ("_AutoDispatchBelowADInplaceOrView", (True,), ""),
    ],
)
def test_c_guards_refuse_other_arguments(torch: ModuleType, guard: str, args: tuple[Any, ...], signature: str) -> None:
    with pytest.raises(TypeError, match="incompatible constructor arguments") as caught:
        getattr(torch._C, guard)(*args)
    assert f"    1. torch._C.{guard}({signature})\n\nInvoked with: " in str(caught.value)
