"""``torch.return_types``: the classes of results of several parts.

>>> from funcgrad import torch
>>> isinstance(torch.sort(torch.tensor([2.0, 1.0])), torch.return_types.sort)
True
"""

from __future__ import annotations

from funcgrad.torch.operations.results import RETURN_TYPES, named
from funcgrad.types import Anything

__all__ = ["RETURN_TYPES"]

_VALUES = ("cummax", "cummin", "kthvalue", "max", "median", "min", "mode", "nanmedian", "sort", "topk")
_PARTS = {
    **dict.fromkeys(_VALUES, "values indices"),
    "aminmax": "min max",
    "frexp": "mantissa exponent",
    "histogram": "hist bin_edges",
    "linalg_eig": "eigenvalues eigenvectors",
    "linalg_eigh": "eigenvalues eigenvectors",
    "linalg_qr": "Q R",
    "linalg_slogdet": "sign logabsdet",
    "linalg_svd": "U S Vh",
}


def __getattr__(name: str) -> Anything:
    """The class of what the function of this name returns."""
    if name in RETURN_TYPES:
        return RETURN_TYPES[name]
    if name in _PARTS:
        return named(name, _PARTS[name]) if name not in _VALUES else named(name)
    raise AttributeError(f"module 'torch.return_types' has no attribute '{name}'")
