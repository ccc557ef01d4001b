"""Element-wise primitives as the text of an expression of elements.

A template has ``{0}``, ``{1}``, ... for the operands, which are locals, numbers or loads. What it calls is
defined in `funcgrad.compile.engines.words`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from funcgrad.ir.avals import dtype_name
from funcgrad.ir.numpy_source import number_source
from funcgrad.ir.program import Equation, Literal

Template = str | None
Maker = Callable[[Any, np.dtype[Any], np.dtype[Any]], Template]
"""``(primitive, dtype of the operands, dtype of the result) -> template``, None where there is none."""

INLINE_FUNCTIONS = frozenset(
    {
        *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt"),
        *("sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2"),
        *("sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh"),
        *("erf", "erfc", "erfinv", "logistic", "logit", "logaddexp", "logaddexp2", "hypot", "gammaln", "pow"),
        *("fmod", "remainder", "floor_divide", "nextafter"),
    }
)
"""Names of primitives whose function of real numbers the vector mathematics supplies under that name."""


_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))

COMPLEX_FUNCTIONS = frozenset({"exp", "log", "sqrt", "sin", "cos", "tan", "tanh"})
"""Those that it also supplies for complex numbers, as ``real_exp(x, y)`` and ``imag_exp(x, y)``."""


def cast_name(dtype: np.dtype[Any]) -> str:
    """The name by which kernels convert a number to a dtype."""
    return "boolean" if dtype.kind == "b" else dtype_name(dtype)


def literal_text(atom: Literal) -> str:
    """A number as kernels write it, typed where Python's number would have another type."""
    dtype = atom.aval.dtype
    if dtype.kind == "b":
        return str(bool(atom.value))
    text = number_source(atom.value, dtype).replace("np.nan", "NAN").replace("np.inf", "INF")
    if dtype.char in "dD":
        return f"({text})" if text.startswith("-") else text
    return f"{cast_name(dtype)}({text})"


def is_simple(atom: Literal) -> bool:
    """Whether a number is one of the few that sources spell out."""
    value = atom.value
    return atom.aval.dtype.kind == "b" or bool(np.isnan(value) or abs(value) in (0, 0.5, 1, 2, np.inf))


def wrapped(text: str, dtype: np.dtype[Any]) -> str:
    """An expression of integers, brought back to their width."""
    return f"{cast_name(dtype)}({text})" if dtype.kind in "iu" else text


def operator(symbol: str, of_booleans: str | None = None) -> Maker:
    """An infix operator; on booleans another one, or none."""

    def make(primitive: Any, dtype: np.dtype[Any], out: np.dtype[Any]) -> Template:
        if dtype.kind == "b":
            return None if of_booleans is None else f"{{0}} {of_booleans} {{1}}"
        return wrapped(f"{{0}} {symbol} {{1}}", out)

    return make


def comparison(symbol: str) -> Maker:
    """A comparison; complex numbers have only equality."""

    def make(primitive: Any, dtype: np.dtype[Any], out: np.dtype[Any]) -> Template:
        if dtype.kind == "c" and symbol not in ("==", "!="):
            return None
        return f"{{0}} {symbol} {{1}}"

    return make


def called(name: str, kinds: str = "f", n: int = 1) -> Maker:
    """A function of kernels, for operands of these kinds."""
    text = f"{name}({', '.join(f'{{{k}}}' for k in range(n))})"

    def make(primitive: Any, dtype: np.dtype[Any], out: np.dtype[Any]) -> Template:
        return text if dtype.kind in kinds else None

    return make


def fixed(template: str, kinds: str = "fciub") -> Maker:
    """A template for operands of these kinds."""

    def make(primitive: Any, dtype: np.dtype[Any], out: np.dtype[Any]) -> Template:
        return template if dtype.kind in kinds else None

    return make


def quotient(primitive: Any, dtype: np.dtype[Any], out: np.dtype[Any]) -> Template:
    """True division."""
    return "{0} / {1}" if dtype.kind in "fc" else None


def negative(primitive: Any, dtype: np.dtype[Any], out: np.dtype[Any]) -> Template:
    """Negation."""
    return wrapped("-{0}", out) if dtype.kind in "fciu" else None


def reciprocal(primitive: Any, dtype: np.dtype[Any], out: np.dtype[Any]) -> Template:
    """One over x."""
    if dtype.kind == "c":
        # The signs of zeros are NumPy's: those of the parts of 1 / x, and not of a quotient of 1 + 0j.
        name = cast_name(dtype)
        over = f"-({name}(complex(-1.0, -0.0)) / {{0}})"
        return f"select({{0}} == {name}(0.0), {name}(complex(NAN, NAN)), {over})"
    return f"{cast_name(dtype)}(1.0) / {{0}}" if dtype.kind == "f" else None


def integer_power(primitive: Any, dtype: np.dtype[Any], out: np.dtype[Any]) -> Template:
    """A power with a fixed integer exponent, by repeated products."""
    n = primitive.n
    one = f"{cast_name(dtype)}(1)"
    if n == 0:
        return one if dtype.kind in "fciu" else None
    if dtype.kind not in "fciu" or abs(n) > 4:
        return f"power({{0}}, {n})" if dtype.kind == "f" else None
    product = " * ".join(["{0}"] * abs(n))
    if n == 4:
        product = "({0} * {0}) * ({0} * {0})"
    if dtype.kind in "iu":
        return wrapped(product, out)
    return product if n > 0 else f"{one} / ({product})"


def strong_zero_product(primitive: Any, dtype: np.dtype[Any], out: np.dtype[Any]) -> Template:
    """A product whose first factor's zeros stay zero."""
    return "select({0} == 0, {0}, {0} * {1})"


def strong_product(primitive: Any, dtype: np.dtype[Any], out: np.dtype[Any]) -> Template:
    """A product in which the zeros of both factors stay zero."""
    return "select({0} == 0, {0}, select({1} == 0, {1}, {0} * {1}))"


def larger(name: str, symbol: str) -> Maker:
    """The larger or smaller operand."""

    def make(primitive: Any, dtype: np.dtype[Any], out: np.dtype[Any]) -> Template:
        if dtype.kind == "f":
            return f"{name}({{0}}, {{1}})"
        return f"select({{0}} {symbol} {{1}}, {{0}}, {{1}})" if dtype.kind in "iu" else None

    return make


def clipped(primitive: Any, dtype: np.dtype[Any], out: np.dtype[Any]) -> Template:
    """Between bounds."""
    return "minimum(maximum({0}, {1}), {2})" if dtype.kind == "f" else None


def magnitude(primitive: Any, dtype: np.dtype[Any], out: np.dtype[Any]) -> Template:
    """Absolute value."""
    if dtype.kind == "f":
        return "fabs({0})"
    if dtype.kind == "c":
        return wrapped("hypot({0}.real, {0}.imag)", out)
    if dtype.kind == "i":
        return wrapped("select({0} < 0, -{0}, {0})", out)
    return "{0}"


def sign(primitive: Any, dtype: np.dtype[Any], out: np.dtype[Any]) -> Template:
    """-1, 0 or 1; NaN of NaN."""
    if dtype.kind not in "fi":
        return None
    one = f"{cast_name(dtype)}(1)"
    positive = f"select({{0}} > 0, {one}, {{0}})"
    return wrapped(f"select({{0}} < 0, -{one}, {positive})", out)


def truth(index: int, dtype: np.dtype[Any]) -> str:
    """Whether an operand is not zero."""
    return f"{{{index}}}" if dtype.kind == "b" else f"({{{index}}} != 0)"


def logical(symbol: str) -> Maker:
    """An operator on truth values."""

    def make(primitive: Any, dtype: np.dtype[Any], out: np.dtype[Any]) -> Template:
        return f"{truth(0, dtype)} {symbol} {truth(1, dtype)}"

    return make


def logical_not(primitive: Any, dtype: np.dtype[Any], out: np.dtype[Any]) -> Template:
    """The opposite truth value."""
    return "not {0}" if dtype.kind == "b" else "{0} == 0"


def bitwise(symbol: str) -> Maker:
    """An operator on bits."""

    def make(primitive: Any, dtype: np.dtype[Any], out: np.dtype[Any]) -> Template:
        return wrapped(f"{{0}} {symbol} {{1}}", out) if dtype.kind in "biu" else None

    return make


def shifted(symbol: str) -> Maker:
    """Bits moved to one side; counts beyond the word, and below zero, move all of them out."""

    def make(primitive: Any, dtype: np.dtype[Any], out: np.dtype[Any]) -> Template:
        return wrapped(f"{{0}} {symbol} {{1}}", out) if dtype.kind in "iu" else None

    return make


def inverted(primitive: Any, dtype: np.dtype[Any], out: np.dtype[Any]) -> Template:
    """The opposite bits."""
    return "not {0}" if dtype.kind == "b" else wrapped("~{0}", out)


def rounded(name: str) -> Maker:
    """A whole number near a floating-point one."""

    def make(primitive: Any, dtype: np.dtype[Any], out: np.dtype[Any]) -> Template:
        if dtype.kind == "f":
            return f"{name}({{0}})"
        return "{0}" if dtype.kind in "biu" and dtype == out else None

    return make


def selected(primitive: Any, dtype: np.dtype[Any], out: np.dtype[Any]) -> Template:
    """One of two, by a condition."""
    return "select({0}, {1}, {2})"


def complex_number(primitive: Any, dtype: np.dtype[Any], out: np.dtype[Any]) -> Template:
    """A complex number of its parts."""
    return f"{cast_name(out)}(complex({{0}}, {{1}}))"


def share_of_exponentials(primitive: Any, dtype: np.dtype[Any], out: np.dtype[Any]) -> Template:
    """How much of a sum of two exponentials the first is."""
    half = f"{cast_name(dtype)}(0.5)"
    return f"select({{0}} == {{1}}, {half}, logistic({{0}} - {{1}}))" if dtype.kind == "f" else None


def digamma(primitive: Any, dtype: np.dtype[Any], out: np.dtype[Any]) -> Template:
    """The first of the polygamma functions."""
    return "digamma({0})" if primitive.n == 0 and dtype in _FLOATS else None


SPECIAL_NAMES = {
    **{name: name for name in ("ndtr", "log_ndtr", "erfcx", "erf", "erfc", "erfinv")},
    "psi": "digamma",
    "digamma": "digamma",
    "gammaln": "gammaln",
    "expit": "logistic",
    "log_expit": "log_expit",
    "logit": "logit",
}
"""Functions of SciPy that the vector mathematics has, and what they are called there."""


def special_function(primitive: Any, dtype: np.dtype[Any], out: np.dtype[Any]) -> Template:
    """A function of SciPy's that the vector mathematics has too."""
    name = SPECIAL_NAMES.get(primitive.function)
    return f"{name}({{0}})" if name is not None and dtype == out and dtype in _FLOATS else None


SCALARS: dict[str, Maker] = {
    "add": operator("+", "|"),
    "sub": operator("-"),
    "mul": operator("*", "&"),
    "div": quotient,
    "neg": negative,
    "reciprocal": reciprocal,
    "integer_pow": integer_power,
    "strong_zero_mul": strong_zero_product,
    "strong_product": strong_product,
    "equal": comparison("=="),
    "not_equal": comparison("!="),
    "less": comparison("<"),
    "less_equal": comparison("<="),
    "greater": comparison(">"),
    "greater_equal": comparison(">="),
    "isnan": fixed("{0} != {0}", "f"),
    "isinf": fixed("fabs({0}) == INF", "f"),
    "isfinite": fixed("fabs({0}) < INF", "f"),
    "signbit": called("signbit"),
    "where": selected,
    "maximum": larger("maximum", ">"),
    "minimum": larger("minimum", "<"),
    "fmax": larger("fmax", ">"),
    "fmin": larger("fmin", "<"),
    "clip": clipped,
    "abs": magnitude,
    "sign": sign,
    "copysign": called("copysign", "f", 2),
    "logical_and": logical("&"),
    "logical_or": logical("|"),
    "logical_xor": logical("!="),
    "logical_not": logical_not,
    "bitwise_and": bitwise("&"),
    "bitwise_or": bitwise("|"),
    "bitwise_xor": bitwise("^"),
    "left_shift": shifted("<<"),
    "right_shift": shifted(">>"),
    "invert": inverted,
    "floor": rounded("floor"),
    "ceil": rounded("ceil"),
    "rint": rounded("rint"),
    "trunc": rounded("trunc"),
    "real": fixed("{0}.real", "c"),
    "imag": fixed("{0}.imag", "c"),
    "conj": fixed("conjugate({0})", "c"),
    "complex": complex_number,
    "degrees": fixed("{0} * 57.29577951308232"),
    "radians": fixed("{0} * 0.017453292519943295"),
    "exponential_share": share_of_exponentials,
    "root_of_squares": called("sqrt"),
    "polygamma": digamma,
    "special": special_function,
}

INTEGER_OPERATORS = {"remainder": "%", "floor_divide": "//"}
"""Functions of the vector mathematics that are Python's operators on integers; zero divides as in NumPy."""

_WEIGHTS = {
    **dict.fromkeys(INLINE_FUNCTIONS, 15),
    **dict.fromkeys(("div", "reciprocal", "sqrt", "root_of_squares"), 4),
    **dict.fromkeys(("real", "imag", "conj", "complex"), 0),
    **dict.fromkeys(("pow", "gammaln", "exponential_share"), 40),
}


def weight_of(primitive: Any) -> int:
    """Roughly how many additions an element costs."""
    return _WEIGHTS.get(primitive.name, 1)


def scalar_template(equation: Equation) -> Template:
    """The expression for one element of an element-wise equation; None where there is none."""
    primitive = equation.primitive
    name = primitive.name
    # The last operand: the first one of `where` is a condition.
    dtype = equation.inputs[-1].aval.dtype
    out = equation.outputs[0].aval.dtype
    if np.float16 in (dtype, out) or dtype.char in "gG":
        return None
    if name in ("degrees", "radians") and dtype != np.float64:
        return None
    if name in COMPLEX_FUNCTIONS and dtype.kind == "c" and out.kind == "c":
        parts = ", ".join([f"{part}_{name}({{0}}.real, {{0}}.imag)" for part in ("real", "imag")])
        return f"{cast_name(out)}(complex({parts}))"
    if name in INTEGER_OPERATORS and dtype.kind in "iu":
        return wrapped(f"{{0}} {INTEGER_OPERATORS[name]} {{1}}", out)
    if name in INLINE_FUNCTIONS:
        n = len(equation.inputs)
        return called(name, "f", n)(primitive, dtype, out) if dtype in _FLOATS else None
    make = SCALARS.get(name)
    return None if make is None else make(primitive, dtype, out)
