"""Solutions of sparse systems, with derivatives by the elements of the matrix and by the right-hand side."""

from typing import NoReturn

from funcgrad.scipy.absent import missing
from funcgrad.scipy.sparse.linalg.operators import LinearOperator
from funcgrad.scipy.sparse.linalg.spectra import eigsh, expm_multiply, lsqr, svds
from funcgrad.scipy.sparse.linalg.systems import bicgstab, cg, factorized, gmres, splu, spsolve

__all__ = [
    "LinearOperator",
    "bicgstab",
    "cg",
    "eigsh",
    "expm_multiply",
    "factorized",
    "gmres",
    "lsqr",
    "splu",
    "spsolve",
    "svds",
]


def __getattr__(name: str) -> NoReturn:
    """Say what there is instead of a name that is not here."""
    raise missing(__name__, name)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
