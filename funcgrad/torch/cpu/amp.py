"""``torch.cpu.amp``, the old names of ``torch.amp`` for the CPU."""

from __future__ import annotations

from funcgrad.torch.backends.old_amp import OldAutocast, OldGradScaler

__all__ = ["GradScaler", "autocast"]


class autocast(OldAutocast):
    """``torch.amp.autocast("cpu")``."""

    of = "cpu"


class GradScaler(OldGradScaler):
    """``torch.amp.GradScaler("cpu")``."""

    of = "cpu"
