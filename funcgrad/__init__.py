"""funcgrad: gradients of ordinary NumPy code, from a small pure-Python package.

>>> import numpy as np
>>> import funcgrad as fg
>>> fg.grad(lambda x: x**2)(3.0)
np.float64(6.0)
"""

import sys as _sys
import typing as _typing

from funcgrad import numpy, tree
from funcgrad.api.batch import vmap
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
from funcgrad.api.jit import jit
from funcgrad.api.njit import calls as _calls  # noqa: F401 - has transforms take functions of Numba's
from funcgrad.ir.avals import Aval as ShapeDtypeStruct
from funcgrad.ir.check import check_program as check
from funcgrad.ir.presenters import PRESENTERS as _PRESENTERS
from funcgrad.ir.program import Equation, Program

if _typing.TYPE_CHECKING:
    from funcgrad import config, extend, lax, loops, nn, random, scipy, testing, torch, tree_util
    from funcgrad.api import checkpoint_policies
    from funcgrad.api.associative import associative_scan
    from funcgrad.api.callback import pure_callback
    from funcgrad.api.checkpoint_policies import checkpoint_name
    from funcgrad.api.closures import closure_convert, custom_gradient
    from funcgrad.api.control import cond, fori_loop, scan, switch, while_loop
    from funcgrad.api.explain import explain
    from funcgrad.api.export import export
    from funcgrad.api.flat import ravel_pytree
    from funcgrad.api.interop import logp_callback, low_level_callable, njit_callable
    from funcgrad.api.profile import profile
    from funcgrad.api.refs import freeze, new_ref
    from funcgrad.compile.runtime.cache import cache_info, clear_cache
    from funcgrad.distributed.step import distribute
    from funcgrad.ir.text.parsing import parse
    from funcgrad.lax import map  # noqa: A004 - as JAX calls it
    from funcgrad.numpy.segments import segment_max, segment_min, segment_prod, segment_sum

__version__ = "0.1.0"

_PRESENTERS.package = "funcgrad.display"

__all__ = [
    "Equation",
    "Program",
    "ShapeDtypeStruct",
    "associative_scan",
    "cache_info",
    "check",
    "checkpoint",
    "checkpoint_name",
    "checkpoint_policies",
    "clear_cache",
    "closure_convert",
    "cond",
    "config",
    "custom_gradient",
    "custom_jvp",
    "custom_vjp",
    "distribute",
    "eval_shape",
    "explain",
    "export",
    "extend",
    "fori_loop",
    "freeze",
    "grad",
    "hessian",
    "hvp",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jit",
    "jvp",
    "lax",
    "linear_transpose",
    "linearize",
    "logp_callback",
    "loops",
    "low_level_callable",
    "make_program",
    "map",
    "new_ref",
    "njit_callable",
    "nn",
    "numpy",
    "parse",
    "profile",
    "pure_callback",
    "random",
    "ravel_pytree",
    "scan",
    "scipy",
    "segment_max",
    "segment_min",
    "segment_prod",
    "segment_sum",
    "stop_gradient",
    "switch",
    "testing",
    "torch",
    "tree",
    "tree_util",
    "value_and_grad",
    "vjp",
    "vmap",
    "while_loop",
]


_LAZY_MODULES = ("config", "extend", "lax", "loops", "nn", "random", "scipy", "testing", "torch", "tree_util")
_LAZY_FUNCTIONS = {
    "associative_scan": "funcgrad.api.associative",
    "cache_info": "funcgrad.compile.runtime.cache",
    "checkpoint_name": "funcgrad.api.checkpoint_policies",
    "clear_cache": "funcgrad.compile.runtime.cache",
    "closure_convert": "funcgrad.api.closures",
    "cond": "funcgrad.api.control",
    "custom_gradient": "funcgrad.api.closures",
    "distribute": "funcgrad.distributed",
    "explain": "funcgrad.api.explain",
    "export": "funcgrad.api.export",
    "fori_loop": "funcgrad.api.control",
    "freeze": "funcgrad.api.refs",
    "logp_callback": "funcgrad.api.interop",
    "low_level_callable": "funcgrad.api.interop",
    "map": "funcgrad.lax",
    "new_ref": "funcgrad.api.refs",
    "njit_callable": "funcgrad.api.interop",
    "parse": "funcgrad.extend",
    "profile": "funcgrad.api.profile",
    "pure_callback": "funcgrad.api.callback",
    "ravel_pytree": "funcgrad.api.flat",
    "scan": "funcgrad.api.control",
    "segment_max": "funcgrad.numpy.segments",
    "segment_min": "funcgrad.numpy.segments",
    "segment_prod": "funcgrad.numpy.segments",
    "segment_sum": "funcgrad.numpy.segments",
    "switch": "funcgrad.api.control",
    "while_loop": "funcgrad.api.control",
}


if "IPython" in _sys.modules:
    from funcgrad.tracebacks import install as _install

    _install()


if not _typing.TYPE_CHECKING:  # Checkers know the names from above, and find misspelt ones.

    def __getattr__(name: str) -> object:
        """Import what many programs do without when it is first asked for: importing is kept fast."""
        from importlib import import_module  # noqa: PLC0415 - likewise

        if name in _LAZY_MODULES:
            return import_module(f"funcgrad.{name}")
        if name == "checkpoint_policies":
            return import_module("funcgrad.api.checkpoint_policies")
        if name in _LAZY_FUNCTIONS:
            return getattr(import_module(_LAZY_FUNCTIONS[name]), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names, those imported later among them."""
    return sorted([*__all__, "__version__"])
