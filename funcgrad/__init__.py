"""funcgrad: gradients of ordinary NumPy code, from a small pure-Python package.

>>> import numpy as np
>>> import funcgrad as fg
>>> fg.grad(lambda x: x**2)(3.0)
np.float64(6.0)
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from funcgrad import numpy, scipy, tree
from funcgrad.api.batch import vmap
from funcgrad.api.custom import checkpoint, custom_jvp, custom_vjp
from funcgrad.api.differentiate import grad, jvp, linear_transpose, linearize, stop_gradient, value_and_grad, vjp
from funcgrad.api.inspect import eval_shape, make_program
from funcgrad.api.jacobians import hessian, hvp, jacfwd, jacobian, jacrev
from funcgrad.ir.avals import Aval as ShapeDtypeStruct
from funcgrad.ir.program import Equation, Program

if _TYPE_CHECKING:
    from funcgrad import testing

__version__ = "0.1.0"

__all__ = [
    "Equation",
    "Program",
    "ShapeDtypeStruct",
    "checkpoint",
    "custom_jvp",
    "custom_vjp",
    "eval_shape",
    "grad",
    "hessian",
    "hvp",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jvp",
    "linear_transpose",
    "linearize",
    "make_program",
    "numpy",
    "scipy",
    "stop_gradient",
    "testing",
    "tree",
    "value_and_grad",
    "vjp",
    "vmap",
]


def __getattr__(name: str) -> object:
    """Import `funcgrad.testing` when it is first asked for: no program needs it to run."""
    if name == "testing":
        from importlib import import_module  # noqa: PLC0415 - likewise

        return import_module("funcgrad.testing")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
