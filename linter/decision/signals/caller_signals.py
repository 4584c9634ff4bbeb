"""What a helper's callers say: it is what all of them are. Found by `guardfix.linter.decision.callers`."""

from __future__ import annotations

from ...findings import Context, Side
from ..signal_kinds import SignalKind, Weight

called_from_kernel = SignalKind("called-from-kernel", Side.KERNEL, Weight.STRONG, "its callers are autograd kernels")
called_from_likely_kernel = SignalKind(
    "called-from-likely-kernel", Side.KERNEL, Weight.WEAK, "its callers are autograd kernels with low confidence"
)
called_from_in_place_or_view = SignalKind(
    "called-from-in-place-or-view",
    Side.BELOW_AUTOGRAD,
    Weight.STRONG,
    "its callers are autograd kernels of in-place or view ops",
)
called_from_likely_in_place_or_view = SignalKind(
    "called-from-likely-in-place-or-view",
    Side.BELOW_AUTOGRAD,
    Weight.WEAK,
    "its callers are autograd kernels of in-place or view ops with low confidence",
)
called_from_workload = SignalKind(
    "called-from-workload", Side.INFERENCE, Weight.STRONG, "its callers are inference workloads"
)
called_from_likely_workload = SignalKind(
    "called-from-likely-workload",
    Side.INFERENCE,
    Weight.WEAK,
    "its callers are inference workloads with low confidence",
)

SURE = {
    Context.KERNEL: called_from_kernel,
    Context.BELOW_AUTOGRAD: called_from_in_place_or_view,
    Context.INFERENCE: called_from_workload,
}
LIKELY = {
    Context.KERNEL: called_from_likely_kernel,
    Context.BELOW_AUTOGRAD: called_from_likely_in_place_or_view,
    Context.INFERENCE: called_from_likely_workload,
}
"""A caller that is itself uncertain says little about whom it calls."""
