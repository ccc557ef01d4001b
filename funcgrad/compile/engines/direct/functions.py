"""The functions that translated code may call: mathematics of Python and NumPy, views, conversions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from funcgrad.compile.engines.direct.values import (
    STORAGE,
    Unsupported,
    Value,
    View,
    constant,
    is_complex,
    is_float,
    is_integer,
    is_signed,
    part,
    promoted,
)
from funcgrad.compile.engines.direct.writer import Writer, halves, paired
from funcgrad.compile.engines.external import External

__all__ = ["NAMED", "NAMESPACE", "Known", "call_external", "call_named"]

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


def _conjugate(writer: Writer, arguments: Sequence[Value]) -> Value:
    (value,) = arguments
    if not is_complex(value.type):
        return value
    real, imaginary = halves(value)
    return paired(value.type, real, writer.negative(imaginary))


def _complex(writer: Writer, arguments: Sequence[Value]) -> Value:
    real, imaginary = arguments if len(arguments) > 1 else (arguments[0], constant("f64", 0.0))
    if is_complex(real.type):
        return writer.cast(real, "c128")
    return paired("c128", writer.cast(real, "f64"), writer.cast(imaginary, "f64"))


def _view_maker(storage: str) -> Handler:
    def handler(writer: Writer, arguments: Sequence[Value]) -> Value:
        slot, *chosen = arguments
        if slot.type != "ptr":
            raise Unsupported(f"a view of {slot.type}")
        scope = chosen[0].known if chosen else slot.scope
        return Value(View(storage, scope if isinstance(scope, int) else None), slot.text)

    return handler


def _stack_maker(storage: str) -> Handler:
    def handler(writer: Writer, arguments: Sequence[Value]) -> Value:
        (count,) = arguments
        if not isinstance(count.known, int):
            raise Unsupported("a local array whose length is not a constant")
        memory = STORAGE[storage][1]
        length = count.known * (2 if storage in ("c64", "c128") else 1)
        return Value(View(storage, None), writer.allocate(memory, length, align=64))

    return handler


def _shifted(writer: Writer, arguments: Sequence[Value]) -> Value:
    view, count = arguments
    return writer.shifted(view, writer.cast(count, "i64"))


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
    "conjugate": _conjugate,
    "complex": _complex,
    "shifted": _shifted,
    **{f"as_{storage}": _view_maker(storage) for storage in STORAGE},
    **{f"stack_{storage}": _stack_maker(storage) for storage in STORAGE},
}
NAMED.update({alias: NAMED[name] for alias, name in _ALIASES.items()})


class Known:
    """Stands in a namespace for a function of this module."""

    def __init__(self, name: str) -> None:
        self.__name__ = name


#: What source may use without bringing it: views and numbers by their NumPy names.
NAMESPACE: dict[str, object] = {
    "shifted": Known("shifted"),
    "parallel": Known("parallel"),
    **{name: Known(name) for storage in STORAGE for name in (f"as_{storage}", f"stack_{storage}")},
}


def call_named(writer: Writer, name: str, arguments: Sequence[Value]) -> Value:
    """Call a function this module knows."""
    if name not in NAMED:
        raise Unsupported(f"the function {name}")
    return NAMED[name](writer, arguments)


def call_external(writer: Writer, function: External, arguments: Sequence[Value]) -> Value:
    """Call a function that another LLVM module, the process, or an address defines."""
    kinds = ["ptr" if isinstance(value.type, View) else value.type for value in arguments]
    chosen = function.overload(kinds, _weight)
    if chosen is None:
        raise Unsupported(f"{function.name} of {', '.join(kinds)}")
    values = [
        Value("ptr", value.text) if kind == "ptr" else writer.cast(value, kind)
        for value, kind in zip(arguments, chosen.arguments, strict=True)
    ]
    if chosen.symbol:
        return writer.call(chosen.symbol, chosen.result, values)
    return writer.call_address(values[0], chosen.result, values[1:], function.attributes)


def _weight(given: str, wanted: str) -> int | None:
    """How far a conversion goes; None where none is made unasked."""
    if given == wanted:
        return 0
    if "ptr" in (given, wanted):
        return None
    if is_float(wanted) and (is_float(given) or is_integer(given) or given == "bool"):
        exact = promoted(given, wanted) == wanted
        return 1 if exact else None
    if is_integer(wanted) and (is_integer(given) or given == "bool"):
        return 1
    return 1 if is_complex(wanted) and promoted(part(given), wanted) == wanted else None
