"""Random numbers as functions of keys: reproducible, splittable, traced like any other, differentiable.

>>> key = fg.random.key(0)
>>> key, own = fg.random.split(key)
>>> x = fg.random.normal(own, (3,))
"""

from funcgrad.api.absent import missing
from funcgrad.random import continuous, derived, discrete, keys
from funcgrad.random.continuous import *  # noqa: F403 - what its __all__ names
from funcgrad.random.continuous import student_t as t
from funcgrad.random.derived import *  # noqa: F403 - what its __all__ names
from funcgrad.random.directions import ball, orthogonal
from funcgrad.random.discrete import *  # noqa: F403 - what its __all__ names
from funcgrad.random.keys import *  # noqa: F403 - what its __all__ names

__all__ = [  # noqa: PLE0604 - the lists that are joined hold strings
    "ball",
    "orthogonal",
    "t",
    *continuous.__all__,
    *derived.__all__,
    *discrete.__all__,
    *keys.__all__,
]


def __getattr__(name: str) -> object:
    """Say what to write for a name of JAX's that is not here."""
    raise missing(__name__, name, __dir__())


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
