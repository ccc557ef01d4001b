"""``torch.nn.modules.rnn``: another way to classes of ``torch.nn``."""

from __future__ import annotations

from typing import Any

from funcgrad.torch.nn.layers.recurrent import GRU, LSTM, RNN, GRUCell, LSTMCell, RNNBase, RNNCell
from funcgrad.torch.nn.missing import missing

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNBase", "RNNCell"]


def __getattr__(name: str) -> Any:
    """What is not here says so by name."""
    raise missing(__name__, name)
