"""The functions of ``scipy.linalg`` that have derivatives here, with SciPy's signatures.

On arrays alone SciPy answers, and is imported then. ``overwrite_a`` and the choice of a LAPACK driver say how
SciPy computes; on traced arrays they are accepted and mean nothing. ``check_finite`` looks at arrays whose
values are at hand.
"""

from typing import NoReturn

from funcgrad.scipy.absent import missing
from funcgrad.scipy.linalg.banded import (
    cho_solve_banded,
    cholesky_banded,
    solve_banded,
    solve_circulant,
    solve_toeplitz,
    solveh_banded,
)
from funcgrad.scipy.linalg.decompositions import (
    cho_factor,
    cholesky,
    eig,
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
from funcgrad.scipy.linalg.functions import (
    coshm,
    cosm,
    expm,
    expm_frechet,
    fractional_matrix_power,
    logm,
    signm,
    sinhm,
    sinm,
    sqrtm,
    tanhm,
    tanm,
)
from funcgrad.scipy.linalg.least_squares import lstsq, pinvh
from funcgrad.scipy.linalg.patterns import block_diag, toeplitz
from funcgrad.scipy.linalg.reduced import (
    eigh_tridiagonal,
    eigvalsh_tridiagonal,
    hessenberg,
    ldl,
    orthogonal_procrustes,
    qr_multiply,
    solve_continuous_lyapunov,
    solve_discrete_lyapunov,
    solve_lyapunov,
)
from funcgrad.scipy.linalg.riccati import solve_continuous_are, solve_discrete_are
from funcgrad.scipy.linalg.special_matrices import (
    circulant,
    companion,
    convolution_matrix,
    dft,
    fiedler,
    hadamard,
    hankel,
    helmert,
    hilbert,
    invhilbert,
    invpascal,
    khatri_rao,
    leslie,
    pascal,
)
from funcgrad.scipy.linalg.subspaces import null_space, orth, rq, subspace_angles
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
    "cho_solve_banded",
    "cholesky",
    "cholesky_banded",
    "circulant",
    "companion",
    "convolution_matrix",
    "coshm",
    "cosm",
    "det",
    "dft",
    "eig",
    "eigh",
    "eigh_tridiagonal",
    "eigvals",
    "eigvalsh",
    "eigvalsh_tridiagonal",
    "expm",
    "expm_frechet",
    "fiedler",
    "fractional_matrix_power",
    "hadamard",
    "hankel",
    "helmert",
    "hessenberg",
    "hilbert",
    "inv",
    "invhilbert",
    "invpascal",
    "khatri_rao",
    "ldl",
    "leslie",
    "logm",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_solve",
    "norm",
    "null_space",
    "orth",
    "orthogonal_procrustes",
    "pascal",
    "pinv",
    "pinvh",
    "polar",
    "qr",
    "qr_multiply",
    "rq",
    "schur",
    "signm",
    "sinhm",
    "sinm",
    "solve",
    "solve_banded",
    "solve_circulant",
    "solve_continuous_are",
    "solve_continuous_lyapunov",
    "solve_discrete_are",
    "solve_discrete_lyapunov",
    "solve_lyapunov",
    "solve_sylvester",
    "solve_toeplitz",
    "solve_triangular",
    "solveh_banded",
    "sqrtm",
    "subspace_angles",
    "svd",
    "svdvals",
    "tanhm",
    "tanm",
    "toeplitz",
]


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)


def __getattr__(name: str) -> NoReturn:
    """Say what there is instead of a name that is not here."""
    raise missing(__name__, name)
