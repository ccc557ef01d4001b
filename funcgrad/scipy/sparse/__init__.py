"""Sparse arrays with traced elements, and the functions of ``scipy.sparse.linalg`` with derivatives.

A plain sparse array of SciPy's and a traced dense array need none of this: ``A @ x``, ``x @ A``, ``A.T @ x``
and ``A.dot(x)`` work as they stand.
"""

from importlib import import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING

from funcgrad.scipy.absent import missing
from funcgrad.scipy.sparse import blocks
from funcgrad.scipy.sparse.arrays import SparseArray, Structure
from funcgrad.scipy.sparse.assembly import dok_array, dok_matrix, lil_array, lil_matrix
from funcgrad.scipy.sparse.blocks import *  # noqa: F403 - what its __all__ names
from funcgrad.scipy.sparse.constructors import coo_array, csc_array, csr_array, issparse
from funcgrad.scipy.sparse.diagonals import dia_array, dia_matrix, diags, diags_array, spdiags
from funcgrad.scipy.sparse.matrices import SparseMatrix, coo_matrix, csc_matrix, csr_matrix, isspmatrix
from funcgrad.scipy.sparse.selections import find, permute_dims, swapaxes, tril, triu

if _TYPE_CHECKING:
    from funcgrad.scipy.sparse import linalg as linalg

__all__ = [  # noqa: PLE0604 - the lists that are joined hold strings
    "SparseArray",
    "SparseMatrix",
    "Structure",
    "coo_array",
    "coo_matrix",
    "csc_array",
    "csc_matrix",
    "csr_array",
    "csr_matrix",
    "dia_array",
    "dia_matrix",
    "diags",
    "diags_array",
    "dok_array",
    "dok_matrix",
    "find",
    "issparse",
    "isspmatrix",
    "lil_array",
    "lil_matrix",
    "permute_dims",
    "spdiags",
    "swapaxes",
    "tril",
    "triu",
    *blocks.__all__,
]


def __getattr__(name: str) -> object:
    """Import `linalg` when it is first asked for."""
    if name == "linalg":
        return import_module("funcgrad.scipy.sparse.linalg")
    raise missing(__name__, name)


def __dir__() -> list[str]:
    """The public names, and the module of solvers."""
    return sorted([*__all__, "linalg"])
