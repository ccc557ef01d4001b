"""Solutions of sparse systems, with derivatives by the elements of the matrix and by the right-hand side."""

from funcgrad.scipy.sparse.linalg.systems import bicgstab, cg, factorized, gmres, splu, spsolve

__all__ = ["bicgstab", "cg", "factorized", "gmres", "splu", "spsolve"]
