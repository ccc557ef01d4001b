"""The functions of the vector mathematics by name, as LLVM assembly.

Imports no Numba, and the functions only when they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module

from funcgrad.compile.vecmath.assembly import assembly, symbol, written
from funcgrad.compile.vecmath.body import Value
from funcgrad.compile.vecmath.formats import F32, F64, Format

_UNARY = {
    "exponentials": ("exp", "exp2", "expm1", "sinh", "cosh", "tanh", "logistic"),
    "logarithms": (
        *("log", "log1p", "log2", "log10", "arcsinh", "arccosh", "arctanh"),
        *("log_expit", "logit"),
    ),
    "trigonometry": ("sin", "cos", "tan"),
    "inverses": ("arcsin", "arccos", "arctan"),
    "powers": ("cbrt",),
    "normal": ("erf", "erfc", "erfcx", "erfinv", "ndtr", "log_ndtr"),
    "gamma": ("gammaln", "digamma"),
}
_BINARY = {
    "logarithms": ("logaddexp", "logaddexp2"),
    "inverses": ("arctan2",),
    "powers": ("pow", "hypot"),
    "remainders": ("fmod", "remainder", "floor_divide", "nextafter"),
}
COMPLEX = ("exp", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh")
"""Functions of complex numbers: of ``x + iy``, ``real_exp(x, y)`` and ``imag_exp(x, y)`` are the parts."""

_PARTS = {"complexes": tuple([f"{part}_{name}" for name in COMPLEX for part in ("real", "imag")])}

FUNCTIONS: dict[str, tuple[str, int]] = {
    name: (module, arity)
    for arity, modules in ((1, _UNARY), (2, _BINARY), (2, _PARTS))
    for module, names in modules.items()
    for name in names
}
"""For each name the module of this package that writes the body, and how many numbers the function takes."""

INTERNAL = dict.fromkeys(("normal_cosine", "normal_sine"), ("box_muller", 2))
"""Functions that only our own kernels call, in the same form."""


def function_symbol(name: str, kind: str) -> str:
    """The symbol of a function for ``f32`` or ``f64``.

    >>> function_symbol("exp", "f64")
    'funcgrad.exp.f64'
    """
    return symbol(name, format_of(kind))


def function_assembly(name: str, kind: str) -> str:
    """The LLVM module that defines a function for ``f32`` or ``f64``.

    >>> "define linkonce_odr float @funcgrad.hypot.f32" in function_assembly("hypot", "f32")
    True
    """
    return assembly(name, function(name), described(name)[1], format_of(kind))


@cache
def instruction_count(name: str) -> int:
    """How many instructions a function has in double precision; a little more than in single.

    >>> 20 < instruction_count("exp") < instruction_count("pow")
    True
    """
    return len(written(function(name), described(name)[1], F64)[0].lines)


def described(name: str) -> tuple[str, int]:
    """The module of a function, and how many numbers it takes."""
    return INTERNAL[name] if name in INTERNAL else FUNCTIONS[name]


def function(name: str) -> Callable[..., Value]:
    """What writes a function's body."""
    module = import_module(f"funcgrad.compile.vecmath.{described(name)[0]}")
    found: Callable[..., Value] = getattr(module, name)
    return found


def format_of(kind: str) -> Format:
    """The format of this name."""
    return {"f32": F32, "f64": F64}[kind]
