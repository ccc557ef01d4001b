"""Functions of Python and NumPy that translated code may call, beside the words of the language."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from funcgrad.compile.engines.direct.writer import Writer
from funcgrad.compile.language.numbers import direct_conjugate
from funcgrad.compile.language.values import (
    Unsupported,
    Value,
    constant,
    halves,
    is_complex,
    is_float,
    is_signed,
    paired,
    promoted,
)

_INTRINSICS = (
    *("sqrt", "floor", "ceil", "trunc", "fabs", "copysign", "fma"),
    *("exp", "exp2", "log", "log2", "log10", "sin", "cos", "pow"),
)
_LIBRARY = (
    *("tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
    *("expm1", "log1p", "cbrt", "hypot", "erf", "erfc", "lgamma", "tgamma", "fmod"),
)
_ALIASES = {
    "rint": "roundeven",
    "absolute": "abs",
    "power": "pow",
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "arctan2": "atan2",
    "arcsinh": "asinh",
    "arccosh": "acosh",
    "arctanh": "atanh",
    "gamma": "tgamma",
    "conj": "conjugate",
}

Handler = Callable[[Writer, Sequence[Value]], Value]


def _floats(writer: Writer, arguments: Sequence[Value]) -> tuple[str, list[Value]]:
    kind: str = "f32"
    for value in arguments:
        kind = promoted(kind, value.type)
    if is_complex(kind):
        raise Unsupported("this function of a complex number")
    return kind, [writer.cast(value, kind) for value in arguments]


def _intrinsic(name: str) -> Handler:
    def handler(writer: Writer, arguments: Sequence[Value]) -> Value:
        kind, values = _floats(writer, arguments)
        return writer.call(f"llvm.{name}.{kind}", kind, values)

    return handler


def _library(name: str) -> Handler:
    def handler(writer: Writer, arguments: Sequence[Value]) -> Value:
        kind, values = _floats(writer, arguments)
        return writer.call(name + ("f" if kind == "f32" else ""), kind, values)

    return handler


def _classified(predicate: str, ours: bool) -> Handler:
    # fcmp with |x| and infinity sorts a number into NaN, infinite and finite.
    def handler(writer: Writer, arguments: Sequence[Value]) -> Value:
        (value,) = arguments
        if is_complex(value.type):
            parts = [handler(writer, [half]) for half in halves(value)]
            return writer.binary("and" if predicate == "one" else "or", *parts)
        if not is_float(value.type):
            return constant("bool", ours)
        size = writer.call(f"llvm.fabs.{value.type}", str(value.type), [value])
        return writer.compare(f"fcmp {predicate}", size, constant(str(value.type), math.inf))

    return handler


def _abs(writer: Writer, arguments: Sequence[Value]) -> Value:
    (value,) = arguments
    if is_complex(value.type):
        return _library("hypot")(writer, halves(value))
    if is_float(value.type):
        return writer.call(f"llvm.fabs.{value.type}", str(value.type), [value])
    if is_signed(value.type):
        negative = writer.compare("icmp slt", value, constant(str(value.type), 0))
        return writer.select(negative, writer.negative(value), value)
    return value


def _python_extreme(predicates: tuple[str, str, str]) -> Handler:
    def handler(writer: Writer, arguments: Sequence[Value]) -> Value:
        best, *others = arguments
        for other in others:
            left, right = _alike(writer, best, other)
            best = writer.select(_ordered(writer, predicates, right, left), right, left)
        return best

    return handler


def _numpy_extreme(predicates: tuple[str, str, str]) -> Handler:
    """NaN wins."""

    def handler(writer: Writer, arguments: Sequence[Value]) -> Value:
        left, right = _alike(writer, *arguments)
        best = writer.select(_ordered(writer, predicates, left, right), left, right)
        if is_float(left.type):
            best = writer.select(writer.compare("fcmp uno", left, left), left, best)
        return best

    return handler


def _alike(writer: Writer, left: Value, right: Value) -> tuple[Value, Value]:
    if left.type == right.type and not is_complex(left.type):
        return left, right
    kind = promoted(left.type, right.type)
    if is_complex(kind):
        raise Unsupported("an order of complex numbers")
    return writer.cast(left, kind), writer.cast(right, kind)


def _ordered(writer: Writer, predicates: tuple[str, str, str], left: Value, right: Value) -> Value:
    index = 0 if is_float(left.type) else 1 if is_signed(left.type) else 2
    return writer.compare(predicates[index], left, right)


def _complex(writer: Writer, arguments: Sequence[Value]) -> Value:
    real, imaginary = arguments if len(arguments) > 1 else (arguments[0], constant("f64", 0.0))
    if is_complex(real.type):
        return writer.cast(real, "c128")
    return paired("c128", writer.cast(real, "f64"), writer.cast(imaginary, "f64"))


_LESS = ("fcmp olt", "icmp slt", "icmp ult")
_GREATER = ("fcmp ogt", "icmp sgt", "icmp ugt")

#: By the name of a builtin, a function of `math` or a NumPy ufunc.
NAMED: dict[str, Handler] = {
    **{name: _intrinsic(name) for name in _INTRINSICS},
    "roundeven": _intrinsic("roundeven"),
    **{name: _library(name) for name in _LIBRARY},
    "isnan": _classified("uno", ours=False),
    "isinf": _classified("oeq", ours=False),
    "isfinite": _classified("one", ours=True),
    "abs": _abs,
    "min": _python_extreme(_LESS),
    "max": _python_extreme(_GREATER),
    "minimum": _numpy_extreme(_LESS),
    "maximum": _numpy_extreme(_GREATER),
    "conjugate": direct_conjugate,
    "complex": _complex,
}
NAMED.update({alias: NAMED[name] for alias, name in _ALIASES.items()})


def call_named(writer: Writer, name: str, arguments: Sequence[Value]) -> Value:
    """Call a function this module knows."""
    if name not in NAMED:
        raise Unsupported(f"the function {name}")
    return NAMED[name](writer, arguments)
