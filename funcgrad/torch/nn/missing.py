"""What ``torch.nn``, its functions and ``torch.optim`` have and this package does not: said by name."""

from __future__ import annotations

__all__ = ["missing"]

_INSTEAD = {
    "SyncBatchNorm": "there is no distributed training here; use BatchNorm",
    "CTCLoss": "write the recursion with funcgrad.scan and logaddexp",
    "ctc_loss": "write the recursion with funcgrad.scan and logaddexp",
    "MaxUnpool2d": "use the indices that max_pool2d returns with scatter",
    "max_unpool2d": "use the indices that max_pool2d returns with scatter",
    "grid_sample": "index the four neighbours and weigh them",
    "SparseAdam": "sparse gradients are not supported; use Adam",
    "Muon": "use AdamW",
    "Adafactor": "use Adam",
    "ASGD": "use SGD, and average the parameters yourself",
}


def missing(module: str, name: str) -> AttributeError:
    """The error for an attribute that a module here does not have."""
    if name.startswith("Lazy"):
        return AttributeError(f"{module} does not support {name!r}: give the sizes when the module is made")
    if name in _INSTEAD:
        return AttributeError(f"{module} does not support {name!r}: {_INSTEAD[name]}")
    return AttributeError(f"module {module!r} has no attribute {name!r}")
