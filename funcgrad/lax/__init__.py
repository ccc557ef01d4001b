"""Control flow, elementwise functions, reductions, products and parts of arrays under `jax.lax`'s names."""

from funcgrad.api.absent import missing
from funcgrad.api.control_flow.associative import associative_scan
from funcgrad.api.control_flow.choices import cond, switch
from funcgrad.api.control_flow.loops import fori_loop, scan, while_loop
from funcgrad.api.control_flow.mapping import map  # noqa: A004 - lax's name
from funcgrad.api.derivatives.differentiate import stop_gradient
from funcgrad.lax import (
    arrays,
    bits,
    elementwise,
    fourier,
    linalg,
    positions,
    products,
    reductions,
    shapes,
    solving,
)
from funcgrad.lax.arrays import *  # noqa: F403 - the modules say what is public
from funcgrad.lax.bits import *  # noqa: F403
from funcgrad.lax.elementwise import *  # noqa: F403
from funcgrad.lax.fourier import *  # noqa: F403
from funcgrad.lax.positions import *  # noqa: F403
from funcgrad.lax.products import *  # noqa: F403
from funcgrad.lax.reductions import *  # noqa: F403
from funcgrad.lax.shapes import *  # noqa: F403
from funcgrad.lax.solving import *  # noqa: F403

__all__ = [  # noqa: PLE0604 - the lists that are joined hold strings
    "associative_scan",
    "cond",
    "fori_loop",
    "linalg",
    "map",
    "scan",
    "stop_gradient",
    "switch",
    "while_loop",
    *arrays.__all__,
    *bits.__all__,
    *elementwise.__all__,
    *fourier.__all__,
    *positions.__all__,
    *products.__all__,
    *reductions.__all__,
    *shapes.__all__,
    *solving.__all__,
]


def __getattr__(name: str) -> object:
    """Say what to write for a name of JAX's that is not here."""
    raise missing(__name__, name, __dir__())


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
