"""The functions of ``scipy.integrate``, with SciPy's signatures and results, and derivatives.

SciPy's routines compute the values. Integrals are differentiated by Leibniz' rule, in their limits and in
all that the integrand depends on; trajectories by the sensitivity equations, or backwards by the adjoint
equation; in every order. `solve_ivp` with ``native=True`` is a solver of our own, which `fg.jit` compiles
whole.
"""

from typing import NoReturn

from funcgrad.scipy.absent import missing
from funcgrad.scipy.integrate import tabulated
from funcgrad.scipy.integrate.quadrature import dblquad, nquad, quad, quad_vec, tplquad
from funcgrad.scipy.integrate.tabulated import *  # noqa: F403 - what its __all__ names
from funcgrad.scipy.integrate.trajectories import odeint, solve_ivp

__all__ = [  # noqa: PLE0604 - the lists that are joined hold strings
    "dblquad",
    "nquad",
    "odeint",
    "quad",
    "quad_vec",
    "solve_ivp",
    "tplquad",
    *tabulated.__all__,
]


def __getattr__(name: str) -> NoReturn:
    """Say what there is instead of a name that is not here."""
    raise missing(__name__, name)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
