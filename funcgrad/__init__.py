"""funcgrad: gradients of ordinary NumPy code, from a small pure-Python package.

>>> import numpy as np
>>> import funcgrad as fg
>>> fg.grad(lambda x: x**2)(3.0)
np.float64(6.0)
"""

import sys as _sys
import typing as _typing

if _typing.TYPE_CHECKING:
    from funcgrad import (
        config,
        errors,
        extend,
        lax,
        loops,
        nn,
        numpy,
        random,
        scipy,
        testing,
        torch,
        tree,
        tree_util,
    )
    from funcgrad.api.batch import vmap
    from funcgrad.api.control_flow.associative import associative_scan
    from funcgrad.api.control_flow.callback import pure_callback
    from funcgrad.api.control_flow.choices import cond, switch
    from funcgrad.api.control_flow.loops import fori_loop, scan, while_loop
    from funcgrad.api.control_flow.refs import freeze, new_ref
    from funcgrad.api.derivatives.differentiate import jvp, linear_transpose, linearize, stop_gradient, vjp
    from funcgrad.api.derivatives.gradients import grad, value_and_grad
    from funcgrad.api.derivatives.jacobians import hessian, hvp, jacfwd, jacobian, jacrev
    from funcgrad.api.exporting.export import export
    from funcgrad.api.exporting.interop import logp_callback, low_level_callable, njit_callable
    from funcgrad.api.flat import ravel_pytree
    from funcgrad.api.inspection.explain import explain
    from funcgrad.api.inspection.inspect import eval_shape, make_program
    from funcgrad.api.inspection.profile import profile
    from funcgrad.api.inspection.scopes import named_scope
    from funcgrad.api.jit import jit
    from funcgrad.api.rules import checkpoint_policies
    from funcgrad.api.rules.checkpoint_policies import checkpoint_name
    from funcgrad.api.rules.closures import closure_convert, custom_gradient
    from funcgrad.api.rules.custom import checkpoint, custom_jvp, custom_vjp
    from funcgrad.compile.runtime.cache import cache_info, clear_cache
    from funcgrad.distributed.step import distribute
    from funcgrad.ir.avals import Aval as ShapeDtypeStruct
    from funcgrad.ir.check import check_program as check
    from funcgrad.ir.program import Equation, Program
    from funcgrad.ir.text.parsing import parse
    from funcgrad.lax import map  # noqa: A004 - as JAX calls it
    from funcgrad.numpy.reducing.segments import segment_max, segment_min, segment_prod, segment_sum

__version__ = "0.1.0"

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
    "errors",
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
    "named_scope",
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


_NAMES = {
    "api.control_flow.associative": ("associative_scan",),
    "api.batch": ("vmap",),
    "api.control_flow.callback": ("pure_callback",),
    "api.rules.checkpoint_policies": ("checkpoint_name",),
    "api.rules.closures": ("closure_convert", "custom_gradient"),
    "api.control_flow.choices": ("cond", "switch"),
    "api.control_flow.loops": ("fori_loop", "scan", "while_loop"),
    "api.rules.custom": ("checkpoint", "custom_jvp", "custom_vjp"),
    "api.derivatives.differentiate": ("jvp", "linear_transpose", "linearize", "stop_gradient", "vjp"),
    "api.derivatives.gradients": ("grad", "value_and_grad"),
    "api.inspection.explain": ("explain",),
    "api.exporting.export": ("export",),
    "api.flat": ("ravel_pytree",),
    "api.inspection.inspect": ("eval_shape", "make_program"),
    "api.exporting.interop": ("logp_callback", "low_level_callable", "njit_callable"),
    "api.derivatives.jacobians": ("hessian", "hvp", "jacfwd", "jacobian", "jacrev"),
    "api.jit": ("jit",),
    "api.inspection.profile": ("profile",),
    "api.inspection.scopes": ("named_scope",),
    "api.control_flow.refs": ("freeze", "new_ref"),
    "compile.runtime.cache": ("cache_info", "clear_cache"),
    "distributed": ("distribute",),
    "extend": ("parse",),
    "ir.program": ("Equation", "Program"),
    "lax": ("map",),
    "numpy.reducing.segments": ("segment_max", "segment_min", "segment_prod", "segment_sum"),
}
_PLACES = {name: f"{module}:{name}" for module, names in _NAMES.items() for name in names} | {
    "ShapeDtypeStruct": "ir.avals:Aval",
    "check": "ir.check:check_program",
    "checkpoint_policies": "api.rules.checkpoint_policies",
}
"""Where a name comes from when it is first asked for; every other public name is a module of this package."""

if "IPython" in _sys.modules:
    from funcgrad.tracebacks import install as _install

    _install()


if not _typing.TYPE_CHECKING:  # Checkers know the names from above, and find misspelt ones.

    def __getattr__(name: str) -> object:
        """Import a public name when it is first asked for: a program waits only for what it uses."""
        from importlib import import_module  # noqa: PLC0415 - likewise

        if name not in __all__:
            # Asked for by mistake only.
            raise import_module(f"{__name__}.api.absent").missing(__name__, name, __all__)
        module, _, within = _PLACES.get(name, name).partition(":")
        with import_module(f"{__name__}.collector").CollectorPaused():
            found: object = import_module(f"{__name__}.{module}")
        globals()[name] = found = getattr(found, within) if within else found
        return found


def __dir__() -> list[str]:
    """The public names, those imported later among them."""
    return sorted([*__all__, "__version__"])
