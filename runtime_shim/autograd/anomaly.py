"""Anomaly mode: where forward made the node that backward fails at, and whether a gradient is NaN."""

from __future__ import annotations

from ..core.thread_state import tls
from ..tape import nodes


class set_detect_anomaly:
    """Inside, nodes remember where forward made them; backward says it of the one that raises or gives NaN."""

    def __init__(self, mode: bool = True, check_nan: bool = True) -> None:
        state = tls.state
        self.previous = state.anomaly, state.anomaly_checks_nan
        state.anomaly, state.anomaly_checks_nan = mode, check_nan
        nodes.Node.remembers_forward += mode - self.previous[0]

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        state = tls.state
        nodes.Node.remembers_forward += self.previous[0] - state.anomaly
        state.anomaly, state.anomaly_checks_nan = self.previous


class detect_anomaly(set_detect_anomaly):
    def __init__(self, check_nan: bool = True) -> None:
        import warnings

        super().__init__(True, check_nan)
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for "
            "debugging.",
            stacklevel=2,
        )


def is_anomaly_enabled() -> bool:
    return tls.state.anomaly


def is_anomaly_check_nan_enabled() -> bool:
    return tls.state.anomaly_checks_nan


def set_anomaly_enabled(enabled: bool, check_nan: bool = True) -> None:
    """Turn anomaly mode on or off for the thread."""
    set_detect_anomaly(enabled, check_nan)


class set_multithreading_enabled:
    """Kept and changing nothing: backward runs on the thread that calls it."""

    _enabled = True

    def __init__(self, mode: bool) -> None:
        self.previous = set_multithreading_enabled._enabled
        self.mode = mode
        set_multithreading_enabled._enabled = mode

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        set_multithreading_enabled._enabled = self.previous


def is_multithreading_enabled() -> bool:
    return set_multithreading_enabled._enabled
