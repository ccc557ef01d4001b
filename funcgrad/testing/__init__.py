"""Checks of derivatives and batching for your own functions and rules, with reports that name the element.

>>> fg.testing.check_grads(np.tanh, (0.5,), order=3)
"""

from funcgrad.testing.checks import check_grads, check_jvp, check_vjp, check_vmap

__all__ = ["check_grads", "check_jvp", "check_vjp", "check_vmap"]


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
