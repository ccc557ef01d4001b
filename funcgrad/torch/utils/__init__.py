"""Tools around tensors: data and batches of them, checkpointing, and interchange by DLPack."""

from funcgrad.torch.utils import checkpoint, data, dlpack

__all__ = ["checkpoint", "data", "dlpack"]
