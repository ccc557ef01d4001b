"""The functions of ``scipy.optimize``, with SciPy's signatures and results, and derivatives.

SciPy's solvers find the values. What they find depends on whatever the functions depend on, `args` and what
they close over alike, and the implicit function theorem says how: in every order, forwards and backwards. The
start of a search has no derivative. Inside the solvers derivatives are exact where SciPy would take
differences.
"""

from funcgrad.scipy.absent import missing
from funcgrad.scipy.optimize import scalar_roots
from funcgrad.scipy.optimize.assignment import linear_sum_assignment
from funcgrad.scipy.optimize.fits import curve_fit, least_squares, leastsq, lsq_linear, nnls
from funcgrad.scipy.optimize.linear import linprog
from funcgrad.scipy.optimize.minima import minimize, minimize_scalar
from funcgrad.scipy.optimize.roots import fixed_point, fsolve, root
from funcgrad.scipy.optimize.scalar_roots import *  # noqa: F403 - what its __all__ names
from funcgrad.scipy.originals import original

__all__ = [  # noqa: PLE0604 - the lists that are joined hold strings
    "curve_fit",
    "fixed_point",
    "fsolve",
    "least_squares",
    "leastsq",
    "linear_sum_assignment",
    "linprog",
    "lsq_linear",
    "minimize",
    "minimize_scalar",
    "nnls",
    "root",
    *scalar_roots.__all__,
]

SCIPYS_OWN = ("Bounds", "LinearConstraint", "NonlinearConstraint", "OptimizeResult", "RootResults")
"""Classes of SciPy's that describe problems and results; what they hold may be traced."""


def __getattr__(name: str) -> object:
    """A class of SciPy's own, imported when it is first asked for."""
    if name in SCIPYS_OWN:
        return original("optimize", name)
    raise missing(__name__, name)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
