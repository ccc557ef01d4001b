"""Tools around tensors: checkpointing, and interchange by DLPack."""

from funcgrad.torch.utils import checkpoint, dlpack

__all__ = ["checkpoint", "dlpack"]
