"""The old names of ``torch.amp`` that each device has: they warn, and are those of the device."""

from __future__ import annotations

import warnings
from typing import ClassVar

from funcgrad.torch import amp
from funcgrad.types import Anything


def _deprecated(device: str, name: str) -> None:
    warnings.warn(
        f"`torch.{device}.amp.{name}(args...)` is deprecated. Please use "
        f"`torch.amp.{name}('{device}', args...)` instead.",
        FutureWarning,
        stacklevel=3,
    )


class OldAutocast(amp.autocast):
    """``torch.amp.autocast`` of one device."""

    of: ClassVar[str]

    def __init__(self, enabled: bool = True, dtype: Anything = None, cache_enabled: bool = True) -> None:
        _deprecated(self.of, "autocast")
        super().__init__(self.of, dtype, enabled, cache_enabled)


class OldGradScaler(amp.GradScaler):
    """``torch.amp.GradScaler`` of one device."""

    of: ClassVar[str]

    def __init__(
        self,
        init_scale: float = 65536.0,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        _deprecated(self.of, "GradScaler")
        super().__init__(self.of, init_scale, growth_factor, backoff_factor, growth_interval, enabled)
