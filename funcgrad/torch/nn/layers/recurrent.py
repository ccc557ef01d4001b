"""Recurrent layers: step by step along a sequence, each step one operation of the history."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np

from funcgrad import nn
from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.backward.history import op
from funcgrad.torch.core.operand import Operand, Operands
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.nn import functional as F
from funcgrad.torch.nn import init
from funcgrad.torch.nn.layers.linear import empty_parameter
from funcgrad.torch.nn.module import Module
from funcgrad.torch.nn.utils.rnn import PackedSequence
from funcgrad.torch.operations.registry import FUNCTIONS
from funcgrad.types import Anything, Array, Arrays, Device, DTypeLike

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNBase", "RNNCell", "RNNCellBase"]


@op("MulBackward0")
def _lstm(gates: Array, h: Array, c: Array, w: Array, *bias: Array) -> Arrays:
    gates = gates + h @ w.T
    if bias:
        gates = gates + bias[0]
    n = c.shape[-1]
    i, f, g, o = (gates[..., k * n : (k + 1) * n] for k in range(4))
    kept = nn.sigmoid(f) * c + nn.sigmoid(i) * np.tanh(g)
    return nn.sigmoid(o) * np.tanh(kept), kept


@op("AddBackward0")
def _gru(gates: Array, h: Array, w: Array, *bias: Array) -> Array:
    own = h @ w.T
    if bias:
        own = own + bias[0]
    n = h.shape[-1]
    r = nn.sigmoid(gates[..., :n] + own[..., :n])
    z = nn.sigmoid(gates[..., n : 2 * n] + own[..., n : 2 * n])
    new = np.tanh(gates[..., 2 * n :] + r * own[..., 2 * n :])
    return (h - new) * z + new


def _rnn_with(activation: Callable[[Any], Any]) -> Callable[..., Any]:
    def step(gates: Array, h: Array, w: Array, *bias: Array) -> Operand:
        total = gates + h @ w.T
        return activation(total + bias[0] if bias else total)

    return step


_RNN = {"tanh": op("TanhBackward0")(_rnn_with(nn.tanh)), "relu": op("ReluBackward0")(_rnn_with(nn.relu))}


def stepped(mode: str, gates: Tensor, state: tuple[Any, ...], w: Tensor, bias: Operand) -> tuple[Any, ...]:
    """One step: the new state, its first part the output."""
    rest = () if bias is None else (bias,)
    if mode == "LSTM":
        return apply(_lstm, (gates, *state, w, *rest))  # type: ignore[no-any-return]
    made = _gru if mode == "GRU" else _RNN[mode.removeprefix("RNN_").lower()]
    return (apply(made, (gates, *state, w, *rest)),)


_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


def _joined(first: Array, second: Array) -> Operand:
    return FUNCTIONS["cat"]([first, second])


def _require_types(**given: tuple[type, Any]) -> None:
    for name, (wanted, value) in given.items():
        if not isinstance(value, wanted):
            raise TypeError(f"{name} should be of type {wanted.__name__}, got: {type(value).__name__}")


def _require_positive(**given: int) -> None:
    for name, value in given.items():
        if value <= 0:
            raise ValueError(f"{name} must be greater than zero")


def _require_ranks(ranks: list[int], is_batch: bool) -> None:
    """Raise RuntimeError unless states have a dimension for the batch where the input has one."""
    wanted = 3 if is_batch else 2
    if all(rank == wanted for rank in ranks):
        return
    if len(ranks) > 1:
        names, found = "hx and cx", f"({', '.join([f'{rank}-D' for rank in ranks])}) tensors"
    else:
        names, found = "hx", f"{ranks[0]}-D tensor"
    kind = "batched" if is_batch else "unbatched"
    raise RuntimeError(f"For {kind} {wanted}-D input, {names} should also be {wanted}-D but got {found}")


def _require_share(dropout: float, num_layers: int) -> None:
    """Raise for what is no probability; warn where there is nothing between layers that could be dropped."""
    if not 0 <= dropout <= 1:
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an element "
            "being zeroed"
        )
    if dropout > 0 and num_layers == 1:
        warnings.warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout "
            f"expects num_layers greater than 1, but got dropout={dropout} and num_layers={num_layers}",
            UserWarning,
            stacklevel=4,
        )


class RNNBase(Module):
    """What `RNN`, `LSTM` and `GRU` share: parameters by layer and direction, and the walk along sequences."""

    gates: int

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Device = None,
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__()
        _require_types(input_size=(int, input_size), hidden_size=(int, hidden_size))
        _require_types(bias=(bool, bias), batch_first=(bool, batch_first))
        if proj_size < 0:
            raise ValueError("proj_size should be a positive integer or zero to disable projections")
        if proj_size >= hidden_size > 0:
            raise ValueError("proj_size has to be smaller than hidden_size")
        if proj_size and mode != "LSTM":
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        _require_share(dropout, num_layers)
        _require_positive(input_size=input_size, hidden_size=hidden_size, num_layers=num_layers)
        self.mode = mode
        self.gates = _GATES[mode]
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        for name, shape in self._shapes():
            setattr(self, name, empty_parameter(*shape, dtype=dtype))
        self.reset_parameters()

    def _shapes(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """The parameters by name, with their shapes, in the order in which they are drawn."""
        width, rows = self.proj_size or self.hidden_size, self.gates * self.hidden_size
        suffixes = ("", "_reverse") if self.bidirectional else ("",)
        for layer in range(self.num_layers):
            inner = self.input_size if layer == 0 else width * len(suffixes)
            for suffix in suffixes:
                end = f"l{layer}{suffix}"
                yield f"weight_ih_{end}", (rows, inner)
                yield f"weight_hh_{end}", (rows, width)
                if self.bias:
                    yield f"bias_ih_{end}", (rows,)
                    yield f"bias_hh_{end}", (rows,)
                if self.proj_size:
                    yield f"weight_hr_{end}", (self.proj_size, self.hidden_size)

    def reset_parameters(self) -> None:
        """Draw first values."""
        bound = 1.0 / math.sqrt(self.hidden_size)
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    @property
    def all_weights(self) -> list[list[Any]]:
        """The parameters of each layer and direction."""
        return [
            self._weights(layer, suffix) for layer in range(self.num_layers) for suffix in self._suffixes()
        ]

    def flatten_parameters(self) -> None:
        """Nothing: there is no memory layout to prepare."""

    def _suffixes(self) -> tuple[str, ...]:
        return ("", "_reverse") if self.bidirectional else ("",)

    def _weights(self, layer: int, suffix: str) -> list[Any]:
        names = ["weight_ih", "weight_hh", *(("bias_ih", "bias_hh") if self.bias else ())]
        names += ["weight_hr"] if self.proj_size else []
        return [getattr(self, f"{name}_l{layer}{suffix}") for name in names]

    def forward(self, input: Operand, hx: Operand = None) -> Operands:
        """The outputs along the sequence, and the last state."""
        if isinstance(input, PackedSequence):
            return self._packed(input, hx)
        ndim = len(input._value.shape)
        if ndim not in (2, 3):
            raise ValueError(f"{type(self).__name__}: Expected input to be 2D or 3D, got {ndim}D instead")
        is_batch = ndim == 3
        wanted = self.weight_ih_l0.dtype
        if input.dtype != wanted:
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({wanted}). Convert input: "
                f"input.to({wanted}), or convert model: model.to({input.dtype})"
            )
        x = input if is_batch else input.unsqueeze(1)
        if is_batch and self.batch_first:
            x = x.transpose(0, 1)
        if x._value.shape[-1] != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got "
                f"{x._value.shape[-1]}"
            )
        out, last = self._layers(x, self._start(x, hx, is_batch))
        if not is_batch:
            out, last = out.squeeze(1), tuple([t.squeeze(1) for t in last])
        elif self.batch_first:
            out = out.transpose(0, 1)
        return out, last if self.mode == "LSTM" else last[0]

    def _packed(self, input: PackedSequence, hx: Operands) -> Anything:
        """As `forward`, for packed sequences, whose steps hold fewer and fewer rows."""
        counts = tuple(input.batch_sizes._value.tolist())
        order, back = input.sorted_indices, input.unsorted_indices
        if hx is not None and order is not None:
            several = self.mode == "LSTM"
            hx = tuple([t.index_select(1, order) for t in hx]) if several else hx.index_select(1, order)
        start = self._start(input.data, hx, True, counts[0])
        out, last = self._layers(input.data, start, counts)
        if back is not None:
            last = tuple([t.index_select(1, back) for t in last])
        return input._replaced(out), last if self.mode == "LSTM" else last[0]

    def _start(self, x: Operand, hx: Operands, is_batch: bool, rows: int | None = None) -> tuple[Any, ...]:
        heads = (self.num_layers * len(self._suffixes()), x._value.shape[1] if rows is None else rows)
        shape = (*heads, self.proj_size or self.hidden_size)
        shapes = (shape, (*heads, self.hidden_size))[: 2 if self.mode == "LSTM" else 1]
        if hx is None:
            return tuple([x.new_zeros(found) for found in shapes])
        several = self.mode == "LSTM"
        states = (hx[0], hx[1]) if several else (hx,)
        _require_ranks([len(t._value.shape) for t in states], is_batch)
        states = states if is_batch else tuple([t.unsqueeze(1) for t in states])
        for k, (t, found) in enumerate(zip(states, shapes, strict=True)):
            if tuple(t._value.shape) != found:
                which = f"hidden[{k}]" if several else "hidden"
                raise RuntimeError(f"Expected {which} size {found}, got {list(t._value.shape)}")
        return states

    def _layers(
        self, x: Operand, start: tuple[Any, ...], counts: tuple[int, ...] | None = None
    ) -> tuple[Any, tuple[Any, ...]]:
        lasts: list[tuple[Any, ...]] = []
        for layer in range(self.num_layers):
            outs = []
            for suffix in self._suffixes():
                state = tuple([t[len(lasts)] for t in start])
                out, last = self._along(x, state, self._weights(layer, suffix), bool(suffix), counts)
                outs.append(out)
                lasts.append(last)
            x = outs[0] if len(outs) == 1 else FUNCTIONS["cat"](outs, -1)
            if self.dropout and layer < self.num_layers - 1:
                x = F.dropout(x, self.dropout, self.training)
        stacked = tuple([FUNCTIONS["stack"](parts) for parts in zip(*lasts, strict=True)])
        return x, stacked

    def _along(
        self,
        x: Operand,
        state: tuple[Any, ...],
        weights: list[Any],
        backward: bool,
        counts: tuple[int, ...] | None,
    ) -> tuple[Any, Any]:
        project = weights.pop() if self.proj_size else None
        w_in, w_own, *biases = weights
        # The inputs' part of all steps is one product.
        gates = F.linear(x, w_in, biases[0] if biases else None)
        steps = gates.unbind(0) if counts is None else gates.split(list(counts))
        outs = []
        for step in reversed(steps) if backward else steps:
            rows = step._value.shape[0]
            whole = counts is None or rows == state[0]._value.shape[0]
            active = state if whole else tuple([t[:rows] for t in state])
            new = stepped(self.mode, step, active, w_own, biases[1] if biases else None)
            if project is not None:
                new = (F.linear(new[0], project), *new[1:])
            outs.append(new[0])
            # Rows whose sequence has ended (or, backwards, not begun) keep their state.
            state = new if whole else tuple([_joined(n, t[rows:]) for n, t in zip(new, state, strict=True)])
        outs = outs[::-1] if backward else outs
        return FUNCTIONS["stack" if counts is None else "cat"](outs), state

    def extra_repr(self) -> str:
        shown = f"{self.input_size}, {self.hidden_size}"
        for name, default in (
            ("proj_size", 0),
            ("num_layers", 1),
            ("bias", True),
            ("batch_first", False),
            ("dropout", 0.0),
            ("bidirectional", False),
        ):
            value = getattr(self, name)
            if value != default:
                shown += f", {name}={value}"
        return shown


class RNN(RNNBase):
    """A recurrent layer with `tanh` or `relu`."""

    gates = 1

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        **options: Anything,
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        self_mode = f"RNN_{nonlinearity.upper()}"
        super().__init__(self_mode, input_size, hidden_size, num_layers, **options)
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """A layer of long short-term memory.

    >>> from funcgrad import torch
    >>> out, (h, c) = torch.nn.LSTM(3, 4)(torch.zeros(5, 2, 3))
    >>> out.shape, h.shape
    (torch.Size([5, 2, 4]), torch.Size([1, 2, 4]))
    """

    gates = 4

    def __init__(self, *args: Operand, **kwargs: Anything) -> None:
        super().__init__("LSTM", *args, **kwargs)


class GRU(RNNBase):
    """A layer of gated recurrent units."""

    gates = 3

    def __init__(self, *args: Operand, **kwargs: Anything) -> None:
        super().__init__("GRU", *args, **kwargs)


class RNNCellBase(Module):
    """One step of a recurrent layer."""

    gates: ClassVar[int]
    mode = ""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Device = None,
        dtype: DTypeLike = None,
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = self.gates * hidden_size
        self.weight_ih = empty_parameter(rows, input_size, dtype=dtype)
        self.weight_hh = empty_parameter(rows, hidden_size, dtype=dtype)
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, empty_parameter(rows, dtype=dtype) if bias else None)
        bound = 1.0 / math.sqrt(hidden_size)
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def forward(self, input: Tensor, hx: Operand = None) -> Operand:
        """The next state."""
        ndim = len(input._value.shape)
        if ndim not in (1, 2):
            raise ValueError(f"{type(self).__name__}: Expected input to be 1D or 2D, got {ndim}D instead")
        is_batch = ndim == 2
        x = input if is_batch else input.unsqueeze(0)
        if hx is None:
            zeros = x.new_zeros((x._value.shape[0], self.hidden_size))
            state: tuple[Any, ...] = (zeros, zeros) if self.mode == "LSTM" else (zeros,)
        else:
            state = tuple(hx) if self.mode == "LSTM" else (hx,)
            for k, t in enumerate(state):
                if (ndim := len(t._value.shape)) not in (1, 2):
                    word = f"hx[{k}]" if self.mode == "LSTM" else "hidden"
                    name = type(self).__name__
                    raise ValueError(f"{name}: Expected {word} to be 1D or 2D, got {ndim}D instead")
            state = state if is_batch else tuple([t.unsqueeze(0) for t in state])
        self._check(x, state)
        found = stepped(
            self.mode, F.linear(x, self.weight_ih, self.bias_ih), state, self.weight_hh, self.bias_hh
        )
        found = found if is_batch else tuple([t.squeeze(0) for t in found])
        return found if self.mode == "LSTM" else found[0]

    def _check(self, x: Operand, state: tuple[Any, ...]) -> None:
        rows, width = x._value.shape
        if width != self.input_size:
            raise RuntimeError(f"input has inconsistent input_size: got {width} expected {self.input_size}")
        for k, t in enumerate(state):
            if t._value.shape[1] != self.hidden_size:
                raise RuntimeError(
                    f"hidden{k} has inconsistent hidden_size: got {t._value.shape[1]}, expected "
                    f"{self.hidden_size}"
                )
            if t._value.shape[0] != rows:
                raise RuntimeError(
                    f"Input batch size {rows} doesn't match hidden{k} batch size {t._value.shape[0]}"
                )

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}" + ("" if self.bias else f", bias={self.bias}")


class RNNCell(RNNCellBase):
    """One step of `RNN`."""

    gates = 1

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        **options: Anything,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, **options)
        self.nonlinearity = nonlinearity
        self.mode = f"RNN_{nonlinearity.upper()}"

    def extra_repr(self) -> str:
        shown = super().extra_repr()
        return shown if self.nonlinearity == "tanh" else f"{shown}, nonlinearity={self.nonlinearity}"


class LSTMCell(RNNCellBase):
    """One step of `LSTM`."""

    gates = 4
    mode = "LSTM"


class GRUCell(RNNCellBase):
    """One step of `GRU`."""

    gates = 3
    mode = "GRU"
