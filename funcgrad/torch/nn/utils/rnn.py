"""Sequences of different lengths: padded to one, or packed step by step for recurrent layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import Tensor, wrap
from funcgrad.torch.operations.registry import FUNCTIONS, tensor_of
from funcgrad.types import Anything

__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pack_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpack_sequence",
    "unpad_sequence",
]


class PackedSequence_(NamedTuple):
    """The parts of a `PackedSequence`."""

    data: Any
    batch_sizes: Any
    sorted_indices: Any
    unsorted_indices: Any


class PackedSequence(PackedSequence_):
    """The steps of sequences of different lengths, all of the first step, then of the second, and so on."""

    __slots__ = ()

    def __new__(
        cls,
        data: Anything,
        batch_sizes: Anything = None,
        sorted_indices: Anything = None,
        unsorted_indices: Anything = None,
    ) -> PackedSequence:
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is None:
            data, batch_sizes = data
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Anything, **kwargs: Anything) -> Anything:
        """The data in another dtype."""
        data = self.data.to(*args, **kwargs)
        return self if data is self.data else self._replaced(data)

    def _replaced(self, data: Anything) -> Anything:
        return PackedSequence(data, self.batch_sizes, self.sorted_indices, self.unsorted_indices)

    @property
    def is_cuda(self) -> bool:
        return False

    def is_pinned(self) -> bool:
        return False


def _casting(name: str) -> Anything:
    def cast(self: Anything, *args: Anything, **kwargs: Anything) -> Anything:
        return self._replaced(getattr(self.data, name)(*args, **kwargs))

    cast.__name__ = name
    cast.__doc__ = f"The data after ``{name}()``."
    return cast


for _name in ("double", "float", "half", "long", "int", "short", "char", "byte", "cpu"):
    setattr(PackedSequence, _name, _casting(_name))


def invert_permutation(permutation: Operand) -> Tensor | None:
    """Where each entry of a permutation stands; None for None."""
    if permutation is None:
        return None
    return wrap(np.argsort(permutation._value))


def pack_padded_sequence(
    input: Tensor, lengths: Operand, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """The first steps of every sequence of a padded batch, as many as its length.

    >>> x = fg.torch.tensor([[1, 2], [3, 0]])
    >>> pack_padded_sequence(x, [2, 1], batch_first=True).data
    tensor([1, 3, 2])
    """
    sizes = np.asarray(tensor_of(np.asarray(getattr(lengths, "_value", lengths)))._value, np.int64)
    order = None
    if not enforce_sorted:
        order = np.argsort(-sizes, kind="stable")
        sizes = sizes[order]
        input = input.index_select(0 if batch_first else 1, wrap(order))
    steps = input.transpose(0, 1) if batch_first else input
    if not len(sizes):
        raise RuntimeError("Cannot pack empty tensors.")
    if sizes[-1] <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    if (np.diff(sizes) > 0).any():
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this "
            "requirement if you do not need ONNX exportability."
        )
    if len(sizes) != steps._value.shape[1]:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(sizes)} (batch_size="
            f"{steps._value.shape[1]})"
        )
    counts = np.array([(sizes > t).sum() for t in range(sizes[0])], np.int64)
    data = FUNCTIONS["cat"]([steps[t, :n] for t, n in enumerate(counts.tolist())])
    return PackedSequence(data, wrap(counts), None if order is None else wrap(order), None)


def pad_packed_sequence(
    sequence: PackedSequence,
    batch_first: bool = False,
    padding_value: float = 0.0,
    total_length: int | None = None,
) -> tuple[Any, Any]:
    """The padded batch of packed sequences, and their lengths."""
    counts = sequence.batch_sizes._value
    longest, batch = len(counts), int(counts[0])
    if total_length is not None:
        if total_length < longest:
            raise ValueError(
                "Expected total_length to be at least the length of the longest sequence in input, but got "
                f"total_length={total_length} and max sequence length being {longest}"
            )
        longest = total_length
    # Where every step of the batch stands in the data; the padding is one row after it.
    size = sequence.data._value.shape[0]
    at = np.full((longest, batch), size, np.int64)
    starts = np.concatenate([[0], np.cumsum(counts)])
    for t, n in enumerate(counts.tolist()):
        at[t, :n] = starts[t] + np.arange(n)
    rest = tuple(sequence.data._value.shape[1:])
    padding = FUNCTIONS["full"]((1, *rest), padding_value, dtype=sequence.data.dtype)
    padded = FUNCTIONS["cat"]([sequence.data, padding])[wrap(at)]
    lengths = np.array([(counts > k).sum() for k in range(batch)], np.int64)
    if sequence.unsorted_indices is not None:
        back = sequence.unsorted_indices
        padded, lengths = padded.index_select(1, back), lengths[back._value]
    return (padded.transpose(0, 1) if batch_first else padded), wrap(lengths)


def pad_sequence(
    sequences: Operand, batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Operand:
    """Sequences stacked to one tensor, the shorter ones filled up."""
    if isinstance(sequences, Tensor):
        sequences = sequences.unbind(0)
    elif not hasattr(sequences, "__iter__"):
        raise RuntimeError(
            f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}"
        )
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"padding_side must be one of 'left' or 'right', but got {padding_side}")
    sequences = list(sequences)
    if not sequences:
        raise RuntimeError("received an empty list of sequences")
    longest = max(s._value.shape[0] for s in sequences)
    rows = []
    for s in sequences:
        missing = longest - s._value.shape[0]
        if missing:
            filling = FUNCTIONS["full"]((missing, *s._value.shape[1:]), padding_value, dtype=s.dtype)
            s = FUNCTIONS["cat"]([filling, s] if padding_side == "left" else [s, filling])  # noqa: PLW2901
        rows.append(s)
    return FUNCTIONS["stack"](rows, 0 if batch_first else 1)


def unpad_sequence(padded_sequences: Tensor, lengths: Operand, batch_first: bool = False) -> list[Any]:
    """The sequences of a padded batch, each of its length."""
    steps = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [row[:n] for row, n in zip(steps.unbind(0), lengths._value.tolist(), strict=True)]


def pack_sequence(sequences: Sequence[Any], enforce_sorted: bool = True) -> PackedSequence:
    """Sequences packed step by step."""
    lengths = [s._value.shape[0] for s in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Any]:
    """The sequences that were packed."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
