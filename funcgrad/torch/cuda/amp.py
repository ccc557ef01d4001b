"""``torch.cuda.amp``, the old names of ``torch.amp`` for CUDA: disabled, as PyTorch does without CUDA."""

from __future__ import annotations

from funcgrad.torch.amp import custom_bwd, custom_fwd
from funcgrad.torch.backends.old_amp import OldAutocast, OldGradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]


class autocast(OldAutocast):
    """``torch.amp.autocast("cuda")``."""

    of = "cuda"


class GradScaler(OldGradScaler):
    """``torch.amp.GradScaler("cuda")``."""

    of = "cuda"
