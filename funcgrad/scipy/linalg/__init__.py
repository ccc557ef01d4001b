"""The functions of ``scipy.linalg`` that have derivatives here, with SciPy's signatures.

On arrays alone SciPy answers, and is imported then. ``overwrite_a`` and the choice of a LAPACK driver say how
SciPy computes; on traced arrays they are accepted and mean nothing. ``check_finite`` looks at arrays whose
values are at hand.
"""

from typing import NoReturn

from funcgrad.scipy.absent import missing
from funcgrad.scipy.linalg import banded, decompositions, functions, reduced, special_matrices, systems
from funcgrad.scipy.linalg.banded import *  # noqa: F403 - what its __all__ names
from funcgrad.scipy.linalg.decompositions import *  # noqa: F403 - what its __all__ names
from funcgrad.scipy.linalg.functions import *  # noqa: F403 - what its __all__ names
from funcgrad.scipy.linalg.least_squares import lstsq, pinvh
from funcgrad.scipy.linalg.patterns import block_diag, toeplitz
from funcgrad.scipy.linalg.reduced import *  # noqa: F403 - what its __all__ names
from funcgrad.scipy.linalg.riccati import solve_continuous_are, solve_discrete_are
from funcgrad.scipy.linalg.special_matrices import *  # noqa: F403 - what its __all__ names
from funcgrad.scipy.linalg.subspaces import null_space, orth, rq, subspace_angles
from funcgrad.scipy.linalg.systems import *  # noqa: F403 - what its __all__ names

__all__ = [  # noqa: PLE0604 - the lists that are joined hold strings
    "block_diag",
    "lstsq",
    "null_space",
    "orth",
    "pinvh",
    "rq",
    "solve_continuous_are",
    "solve_discrete_are",
    "subspace_angles",
    "toeplitz",
    *banded.__all__,
    *decompositions.__all__,
    *functions.__all__,
    *reduced.__all__,
    *special_matrices.__all__,
    *systems.__all__,
]


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)


def __getattr__(name: str) -> NoReturn:
    """Say what there is instead of a name that is not here."""
    raise missing(__name__, name)
