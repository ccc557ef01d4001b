"""Windows of signals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.torch.core.dtypes import numpy_dtype
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.state import SETTINGS
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.operations.creating.data import finished
from funcgrad.torch.operations.registry import FUNCTIONS
from funcgrad.types import Array, DTypeLike

__all__: list[str] = []


def _window(name: str, make: Callable[..., Any]) -> None:
    def window(
        window_length: int,
        periodic: bool = True,
        *args: Operand,
        dtype: DTypeLike = None,
        requires_grad: bool = False,
    ) -> Tensor:
        wanted = SETTINGS.default_dtype if dtype is None else numpy_dtype(dtype)
        if window_length <= 1:
            return finished(np.ones(window_length, wanted), requires_grad)
        full = make(window_length + bool(periodic), *args)
        return finished(np.asarray(full[:window_length]).astype(wanted), requires_grad)

    window.__name__ = window.__qualname__ = name
    FUNCTIONS[name] = window


def _kaiser(count: int, beta: float = 12.0) -> Array:
    return np.kaiser(count, beta)


_window("hann_window", np.hanning)
_window("hamming_window", np.hamming)
_window("blackman_window", np.blackman)
_window("bartlett_window", np.bartlett)
_window("kaiser_window", _kaiser)
