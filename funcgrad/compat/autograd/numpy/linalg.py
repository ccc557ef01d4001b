"""`numpy.linalg`, as autograd wraps it: ours where we have a name, NumPy's own elsewhere."""

from __future__ import annotations

from functools import partial

from funcgrad import numpy as np
from funcgrad.compat.autograd.namespaces import combined, fill
from funcgrad.types import Array, ArrayLike


def T(x: ArrayLike) -> Array:
    """Stacks of matrices, transposed."""
    return np.swapaxes(x, -1, -2)


_dot = partial(np.einsum, "...ij,...jk->...ik")
"""The product of stacks of matrices; packages and tests use it by this name."""

fill(globals(), *combined("funcgrad.numpy.linalg", "numpy.linalg"))
