"""funcgrad: gradients of ordinary NumPy code, from a small pure-Python package.

>>> import numpy as np
>>> import funcgrad as fg
>>> fg.grad(lambda x: x**2)(3.0)
np.float64(6.0)
"""

from funcgrad import numpy, testing, tree
from funcgrad.api.batch import vmap
from funcgrad.api.custom import checkpoint, custom_jvp, custom_vjp
from funcgrad.api.differentiate import grad, jvp, linear_transpose, linearize, stop_gradient, value_and_grad, vjp
from funcgrad.api.inspect import eval_shape, make_program
from funcgrad.api.jacobians import hessian, hvp, jacfwd, jacobian, jacrev
from funcgrad.ir.avals import Aval as ShapeDtypeStruct
from funcgrad.ir.program import Equation, Program

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
    "stop_gradient",
    "testing",
    "tree",
    "value_and_grad",
    "vjp",
    "vmap",
]
