"""Sequences of different lengths: padded to one length, or packed step by step (`torch.nn.utils.rnn`)."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any, NamedTuple

from ...aten import FUNCTIONS
from ...core import dtypes
from ...core.tensor import Tensor


class PackedSequence(NamedTuple):
    """The rows of all sequences, step by step, the longest sequence first.

    `data` has shape (sum of lengths, …), `batch_sizes` says how many sequences are as long as each step (int64). The
    two permutations, None where the sequences were sorted already, lead from the given order and back to it.
    """

    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None = None
    unsorted_indices: Tensor | None = None

    def to(self, *args: object, **kwargs: object) -> PackedSequence:
        return self._replace(data=self.data.to(*args, **kwargs))

    def cpu(self) -> PackedSequence:
        return self

    def float(self) -> PackedSequence:
        return self._replace(data=self.data.float())

    def double(self) -> PackedSequence:
        return self._replace(data=self.data.double())

    @property
    def is_cuda(self) -> bool:
        return False


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation that undoes this one."""
    if permutation is None:
        return None
    return permutation.argsort()


def pack_padded_sequence(
    input: Tensor, lengths: object, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """Packs (time, batch, …), or (batch, time, …) with `batch_first`, of these lengths.

    RuntimeError if the lengths don't decrease and `enforce_sorted` is set, or one is not positive.
    """
    counts = FUNCTIONS["as_tensor"](lengths, dtype=dtypes.int64)
    order = None
    if not enforce_sorted:
        counts, order = counts.sort(descending=True)
        input = input.index_select(0 if batch_first else 1, order)
    if batch_first:
        input = input.transpose(0, 1)
    listed = counts.tolist()
    if not listed:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    if len(listed) != input.size(1):
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(listed)} (batch_size={input.size(1)})"
        )
    if any(later > sooner for sooner, later in itertools.pairwise(listed)):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you "
            "do not need ONNX exportability."
        )
    if listed[-1] <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    sizes = [sum(length > step for length in listed) for step in range(listed[0])]
    data = FUNCTIONS["cat"]([input[step, :size] for step, size in enumerate(sizes)])
    return PackedSequence(data, FUNCTIONS["tensor"](sizes), order, invert_permutation(order))


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """The padded sequences in their first order, and their lengths (batch,). ValueError if they are longer than
    `total_length`."""
    sizes = sequence.batch_sizes.tolist()
    time = len(sizes)
    if total_length is not None:
        if total_length < time:
            raise ValueError(
                "Expected total_length to be at least the length of the longest sequence in input, but got "
                f"total_length={total_length} and max sequence length being {time}"
            )
        time = total_length
    steps = []
    for rows in sequence.data.split(sizes):
        missing = sizes[0] - rows.size(0)
        if missing:
            rows = FUNCTIONS["cat"]([rows, rows.new_full((missing, *rows.shape[1:]), padding_value)])
        steps.append(rows)
    empty = [steps[0].new_full(steps[0].shape, padding_value)] * (time - len(steps))
    padded = FUNCTIONS["stack"]([*steps, *empty], 1 if batch_first else 0)
    lengths = FUNCTIONS["tensor"]([sum(size > i for size in sizes) for i in range(sizes[0])])
    if sequence.unsorted_indices is not None:
        padded = padded.index_select(0 if batch_first else 1, sequence.unsorted_indices)
        lengths = lengths[sequence.unsorted_indices]
    return padded, lengths


def pad_sequence(
    sequences: Any, batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Tensor:
    """Stacks (length, …) tensors, padded to the longest: (time, batch, …), or (batch, time, …) with `batch_first`."""
    if padding_side not in ("left", "right"):
        raise RuntimeError(f'padding_side must be one of "left" or "right", got "{padding_side}"')
    if isinstance(sequences, Tensor):
        sequences = sequences.unbind(0)
    elif not isinstance(sequences, Iterable):
        raise RuntimeError(
            f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}"
        )
    listed = list(sequences)
    longest = max(one.size(0) for one in listed)
    padded = []
    for one in listed:
        if one.size(0) < longest:
            filling = one.new_full((longest - one.size(0), *one.shape[1:]), padding_value)
            one = FUNCTIONS["cat"]([one, filling] if padding_side == "right" else [filling, one])
        padded.append(one)
    return FUNCTIONS["stack"](padded, 0 if batch_first else 1)


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """The sequences without their padding."""
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [rows[: int(length)] for rows, length in zip(padded_sequences, lengths.tolist(), strict=True)]


def pack_sequence(sequences: list[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Packs a list of (length, …) tensors."""
    lengths = [one.size(0) for one in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """What `pack_sequence` was given."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)


PackedSequence.__module__ = "torch.nn.utils.rnn"
