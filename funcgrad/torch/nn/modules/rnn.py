"""``torch.nn.modules.rnn``: another way to classes of ``torch.nn``."""

from __future__ import annotations

from typing import Any

from funcgrad.torch.nn.layers.recurrent import GRU, LSTM, RNN, GRUCell, LSTMCell, RNNBase, RNNCell
from funcgrad.torch.nn.missing import elsewhere

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNBase", "RNNCell"]


def __getattr__(name: str) -> Any:
    """Other classes of ``torch.nn``; what is not there says so by name."""
    return elsewhere(__name__, name)
