"""funcgrad: gradients of ordinary NumPy code, from a small pure-Python package.

>>> import numpy as np
>>> import funcgrad as fg
>>> fg.grad(lambda x: x**2)(3.0)
np.float64(6.0)
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from funcgrad import lax, numpy, scipy, tree
from funcgrad.api.associative import associative_scan
from funcgrad.api.batch import vmap
from funcgrad.api.control import cond, fori_loop, scan, switch, while_loop
from funcgrad.api.custom import checkpoint, custom_jvp, custom_vjp
from funcgrad.api.differentiate import (
    grad,
    jvp,
    linear_transpose,
    linearize,
    stop_gradient,
    value_and_grad,
    vjp,
)
from funcgrad.api.inspect import eval_shape, make_program
from funcgrad.api.jacobians import hessian, hvp, jacfwd, jacobian, jacrev
from funcgrad.ir.avals import Aval as ShapeDtypeStruct
from funcgrad.ir.check import check_program as check
from funcgrad.ir.program import Equation, Program

if _TYPE_CHECKING:
    from funcgrad import extend, testing
    from funcgrad.ir.parsing import parse

__version__ = "0.1.0"

__all__ = [
    "Equation",
    "Program",
    "ShapeDtypeStruct",
    "associative_scan",
    "check",
    "checkpoint",
    "cond",
    "custom_jvp",
    "custom_vjp",
    "eval_shape",
    "extend",
    "fori_loop",
    "grad",
    "hessian",
    "hvp",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jvp",
    "lax",
    "linear_transpose",
    "linearize",
    "make_program",
    "numpy",
    "parse",
    "scan",
    "scipy",
    "stop_gradient",
    "switch",
    "testing",
    "tree",
    "value_and_grad",
    "vjp",
    "vmap",
    "while_loop",
]


_LAZY = {"extend": "funcgrad.extend", "testing": "funcgrad.testing", "parse": "funcgrad.ir.parsing"}


def __getattr__(name: str) -> object:
    """Import what no program needs to run when it is first asked for."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - likewise

    module = import_module(_LAZY[name])
    return module.parse if name == "parse" else module
