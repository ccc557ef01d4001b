"""Control flow, elementwise functions, reductions, products and parts of arrays under `jax.lax`'s names."""

from funcgrad.api.associative import associative_scan
from funcgrad.api.control import cond, fori_loop, scan, switch, while_loop
from funcgrad.api.differentiate import stop_gradient
from funcgrad.api.mapping import map  # noqa: A004 - lax's name
from funcgrad.lax import arrays, elementwise, linalg, products, reductions, shapes
from funcgrad.lax.arrays import *  # noqa: F403 - the modules say what is public
from funcgrad.lax.elementwise import *  # noqa: F403
from funcgrad.lax.products import *  # noqa: F403
from funcgrad.lax.reductions import *  # noqa: F403
from funcgrad.lax.shapes import *  # noqa: F403

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
    *elementwise.__all__,
    *products.__all__,
    *reductions.__all__,
    *shapes.__all__,
]


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
