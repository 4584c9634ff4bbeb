"""`torch.utils.benchmark`: how long statements take. `Timer` of Python statements; C++ and `Compare` are not here.

Behaviour as in torch/utils/benchmark of PyTorch 2.13.
"""

from __future__ import annotations

import statistics
import timeit
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..core.error_texts import UnsupportedError

__all__ = ["Measurement", "TaskSpec", "Timer"]


@dataclass(frozen=True)
class TaskSpec:
    """What was measured."""

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """The label, or the statement."""
        if self.label is not None:
            return self.label + (f": {self.sub_label}" if self.sub_label else "")
        return self.stmt + (f"\n(setup: {self.setup})" if "\n" not in self.setup and self.setup != "pass" else "")


@dataclass
class Measurement:
    """Times of a statement: `raw_times` are of `number_per_run` calls each."""

    number_per_run: int
    raw_times: list[float]
    task_spec: TaskSpec
    metadata: dict[Any, Any] | None = field(default=None)

    @cached_property
    def times(self) -> list[float]:
        """Seconds of one call, for each run."""
        return [seconds / self.number_per_run for seconds in self.raw_times]

    @property
    def mean(self) -> float:
        return statistics.mean(self.times)

    @property
    def median(self) -> float:
        return statistics.median(self.times)

    @property
    def iqr(self) -> float:
        """The distance between the quartiles."""
        if len(self.times) < 2:
            return 0.0
        quartiles = statistics.quantiles(self.times, n=4, method="inclusive")
        return quartiles[2] - quartiles[0]

    @property
    def title(self) -> str:
        return self.task_spec.title

    @property
    def label(self) -> str | None:
        return self.task_spec.label

    def __repr__(self) -> str:
        unit, scale = next(
            (pair for pair in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)) if self.median >= pair[1]), ("ns", 1e-9)
        )
        many = "s" if len(self.times) > 1 else ""
        runs = f"{len(self.times)} measurement{many}, {self.number_per_run} runs per measurement"
        threads = f"{self.task_spec.num_threads} thread{'s' if self.task_spec.num_threads > 1 else ''}"
        kind = "Median: " if len(self.times) > 1 else ""
        return (
            f"<torch.utils.benchmark.utils.common.Measurement object at {hex(id(self))}>\n{self.title}\n"
            f"  {kind}{self.median / scale:.2f} {unit}\n  {runs}, {threads}"
        )


class Timer:
    """Measures a Python statement, after running it once. Threads are those of numpy, whatever `num_threads` says."""

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Any = timeit.default_timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: Any = "python",
    ) -> None:
        if not isinstance(stmt, str):
            raise ValueError("Currently only a `str` stmt is supported.")
        if str(language).lower() not in ("python", "py"):
            raise UnsupportedError("the shim's torch.utils.benchmark.Timer measures Python alone")
        if global_setup:
            raise ValueError(
                "global_setup is C++ only, got `"
                + global_setup
                + "`. Most likely this code can simply be moved to `setup`."
            )
        self._task_spec = TaskSpec(stmt, setup, global_setup, label, sub_label, description, env, num_threads)
        names = dict(globals or {})
        if "torch" not in names:
            import guardfix.runtime_shim as shim

            names["torch"] = shim
        self._timer = timeit.Timer(stmt, setup, timer, names)

    def timeit(self, number: int = 1000000) -> Measurement:
        """One run of `number` calls."""
        self._timer.timeit(max(int(number // 100), 2))
        return self._measured(number, [self._timer.timeit(number)])

    def repeat(self, repeat: int = -1, number: int = -1) -> None:
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def autorange(self, callback: Any = None) -> None:
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def blocked_autorange(self, callback: Any = None, min_run_time: float = 0.2) -> Measurement:
        """Runs of so many calls that reading the clock doesn't count, for at least `min_run_time` seconds."""
        number = self._calls_of_a_run(min_run_time)
        times: list[float] = []
        while sum(times) < min_run_time:
            times.append(self._timer.timeit(number))
            if callback is not None:
                callback(number, times[-1])
        return self._measured(number, times)

    def adaptive_autorange(
        self, threshold: float = 0.1, *, min_run_time: float = 0.01, max_run_time: float = 10.0, callback: Any = None
    ) -> Measurement:
        """As `blocked_autorange`, until the quartiles are near: nearer than `threshold` of the median."""
        number = self._calls_of_a_run(0.05)
        times: list[float] = []
        while True:
            times.append(self._timer.timeit(number))
            if callback is not None:
                callback(number, times[-1])
            found = self._measured(number, times)
            near = len(times) > 3 and found.iqr < threshold * found.median
            if sum(times) >= max_run_time or (near and sum(times) >= min_run_time):
                return found

    def _calls_of_a_run(self, min_run_time: float) -> int:
        number = 1
        while True:
            taken = self._timer.timeit(number)
            if taken >= min(min_run_time / 10, 0.01) or number >= 10**9:
                return number
            number *= 10

    def _measured(self, number: int, times: list[float]) -> Measurement:
        return Measurement(number, list(times), self._task_spec)


def __getattr__(name: str) -> Any:
    from ..core.supported_names import missing_attribute

    raise missing_attribute("torch.utils.benchmark", name)
