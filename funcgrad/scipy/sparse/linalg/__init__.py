"""Solutions of sparse systems, with derivatives by the elements of the matrix and by the right-hand side."""

from typing import NoReturn

from funcgrad.scipy.absent import missing
from funcgrad.scipy.sparse.linalg import iterations
from funcgrad.scipy.sparse.linalg.functions import aslinearoperator, expm, matrix_power, norm
from funcgrad.scipy.sparse.linalg.iterations import *  # noqa: F403 - what its __all__ names
from funcgrad.scipy.sparse.linalg.operators import LinearOperator
from funcgrad.scipy.sparse.linalg.spectra import eigsh, expm_multiply, lsqr, svds
from funcgrad.scipy.sparse.linalg.systems import factorized, inv, splu, spsolve, spsolve_triangular

__all__ = [  # noqa: PLE0604 - the lists that are joined hold strings
    "LinearOperator",
    "aslinearoperator",
    "eigsh",
    "expm",
    "expm_multiply",
    "factorized",
    "inv",
    "lsqr",
    "matrix_power",
    "norm",
    "splu",
    "spsolve",
    "spsolve_triangular",
    "svds",
    *iterations.__all__,
]


def __getattr__(name: str) -> NoReturn:
    """Say what there is instead of a name that is not here."""
    raise missing(__name__, name)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
