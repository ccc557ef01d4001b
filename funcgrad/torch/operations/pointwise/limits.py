"""What numbers of a dtype can be: the largest, the smallest, the distance between two."""

from __future__ import annotations

import numpy as np

from funcgrad.torch.core.dtypes import numpy_dtype
from funcgrad.torch.core.state import SETTINGS
from funcgrad.torch.operations.registry import published
from funcgrad.types import Anything

__all__: list[str] = []


@published()
class finfo:
    """The limits of a floating-point dtype."""

    __module__ = "torch"

    def __init__(self, type: Anything = None) -> None:
        found = numpy_dtype(type) if type is not None else SETTINGS.default_dtype
        if found.kind not in "fc":
            raise TypeError(
                f"torch.finfo() requires a floating point input type. Use torch.iinfo to handle '{type}'"
            )
        limits = np.finfo(found)
        self.bits = int(limits.bits)
        self.eps = float(limits.eps)
        self.max = float(limits.max)
        self.min = float(limits.min)
        self.tiny = self.smallest_normal = float(limits.smallest_normal)
        self.resolution = float(limits.resolution)
        self.dtype = limits.dtype.name

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.tiny:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )


@published()
class iinfo:
    """The limits of an integer dtype."""

    __module__ = "torch"

    def __init__(self, type: Anything) -> None:
        found = numpy_dtype(type)
        if found.kind not in "iu":
            raise TypeError(
                f"torch.iinfo() requires an integer input type. Use torch.finfo to handle '{type}'"
            )
        limits = np.iinfo(found)
        self.bits, self.max, self.min = int(limits.bits), int(limits.max), int(limits.min)
        self.dtype = found.name

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"
