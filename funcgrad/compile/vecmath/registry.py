"""The functions of the vector mathematics by the names of primitives, as LLVM assembly. Imports no Numba."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from funcgrad.compile.vecmath.formats import F32, F64
from funcgrad.compile.vecmath.linking import assembly, symbol

_MODULES = ("exponentials", "logarithms", "trigonometry", "powers", "inverses", "normal", "gamma")
_BINARY = ("pow", "arctan2", "hypot", "logaddexp")
_NAMES = (
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "cbrt"),
    *("sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2"),
    *("sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh"),
    *("erf", "erfc", "logistic", "logaddexp", "hypot", "gammaln", "pow"),
)


def _found() -> dict[str, tuple[Any, int]]:
    functions: dict[str, tuple[Any, int]] = {}
    for module in [import_module(f"funcgrad.compile.vecmath.{name}") for name in _MODULES]:
        for name in _NAMES:
            function = getattr(module, name, None)
            if function is not None and function.__module__ == module.__name__:
                functions[name] = function, 2 if name in _BINARY else 1
    return functions


FUNCTIONS = _found()
"""For each name the function that writes the body, and how many numbers it takes."""


def function_symbol(name: str, kind: str) -> str:
    """The symbol of a function for ``f32`` or ``f64``."""
    return symbol(name, F32 if kind == "f32" else F64)


def function_assembly(name: str, kind: str) -> str:
    """The LLVM module that defines a function for ``f32`` or ``f64``."""
    function, arity = FUNCTIONS[name]
    return assembly(name, function, arity, F32 if kind == "f32" else F64)
