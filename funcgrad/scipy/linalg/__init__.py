"""The functions of ``scipy.linalg`` that have derivatives here, with SciPy's signatures.

On arrays alone SciPy answers, and is imported then. ``overwrite_a``, ``check_finite`` and the choice of a
LAPACK driver say how SciPy computes; on traced arrays they are accepted and mean nothing.
"""

from funcgrad.scipy.linalg.decompositions import (
    cho_factor,
    cholesky,
    eigh,
    eigvals,
    eigvalsh,
    lu,
    lu_factor,
    polar,
    qr,
    schur,
    svd,
    svdvals,
)
from funcgrad.scipy.linalg.functions import expm, logm, sqrtm
from funcgrad.scipy.linalg.patterns import block_diag, toeplitz
from funcgrad.scipy.linalg.systems import (
    cho_solve,
    det,
    inv,
    lu_solve,
    norm,
    pinv,
    solve,
    solve_sylvester,
    solve_triangular,
)

__all__ = [
    "block_diag",
    "cho_factor",
    "cho_solve",
    "cholesky",
    "det",
    "eigh",
    "eigvals",
    "eigvalsh",
    "expm",
    "inv",
    "logm",
    "lu",
    "lu_factor",
    "lu_solve",
    "norm",
    "pinv",
    "polar",
    "qr",
    "schur",
    "solve",
    "solve_sylvester",
    "solve_triangular",
    "sqrtm",
    "svd",
    "svdvals",
    "toeplitz",
]
