"""What kernels may call, for our own front end: conversions, selection, and the vector mathematics.

The names are those of native forms (`funcgrad.ops.native`), and what `funcgrad.compile.lower` writes besides.
Imports no Numba.
"""

from __future__ import annotations

import math
import platform
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np

from funcgrad.compile.emit.assembly_functions import EXTERNALS, outlined_modules
from funcgrad.compile.engines.direct.functions import NAMED, Known
from funcgrad.compile.engines.direct.values import Unsupported, Value, constant, is_float, width
from funcgrad.compile.engines.direct.writer import Writer
from funcgrad.compile.engines.external import External, Overload
from funcgrad.compile.runtime.blas import externals
from funcgrad.compile.vecmath.registry import FUNCTIONS, INTERNAL, function_assembly, function_symbol

CASTS: dict[str, Any] = {
    "boolean": np.bool_,
    **{f"i{bits}": getattr(np, f"int{bits}") for bits in (8, 16, 32, 64)},
    **{f"u{bits}": getattr(np, f"uint{bits}") for bits in (8, 16, 32, 64)},
    **{f"f{bits}": getattr(np, f"float{bits}") for bits in (32, 64)},
    **{f"c{bits}": getattr(np, f"complex{bits}") for bits in (64, 128)},
}

MEMORY = {
    "malloc": External("malloc", (Overload("malloc", ("i64",), "ptr"),)),
    "realloc": External("realloc", (Overload("realloc", ("ptr", "i64"), "ptr"),)),
    "int_call": External("int_call", (Overload("", ("i64",), "i32"),)),
    "int_set": External("int_set", (Overload("", ("i64", "i32"), "none"),)),
    "free": External("free", (Overload("free", ("ptr",), "none"),)),
}

# It touches nothing that a kernel reads or writes, so values stay in registers over the call.
POLL = External("poll", (Overload("", ("i64", "ptr"), "i32"),), "nounwind memory(inaccessiblemem: readwrite)")

UFUNCS = ("fabs", "floor", "ceil", "rint", "trunc", "copysign", "sqrt", "conjugate")


def select(writer: Writer, arguments: Sequence[Value]) -> Value:
    """``x if condition else y``, both computed."""
    condition, x, y = arguments
    if x.type != y.type:
        x, y = (x, writer.cast(y, x.type)) if y.known is not None else (writer.cast(x, y.type), y)
    return writer.select(condition, x, y)


def plus(writer: Writer, arguments: Sequence[Value]) -> Value:
    """A step of a sum whose terms may be added in any order."""
    total, x = arguments
    return writer.binary("fadd reassoc contract", total, writer.cast(x, total.type))


def rounded(instruction: str) -> Any:
    """An operation that no compiler fuses with another: without flags, it is rounded by itself."""

    def handler(writer: Writer, arguments: Sequence[Value]) -> Value:
        x, y = arguments
        if not is_float(x.type):
            raise Unsupported(f"{instruction} of {x.type}")
        return writer.binary(instruction, x, writer.cast(y, x.type))

    return handler


def extreme(name: str) -> Any:
    """The larger or smaller of two floating-point numbers, by an instruction of LLVM."""

    def handler(writer: Writer, arguments: Sequence[Value]) -> Value:
        x, y = arguments
        if not is_float(x.type):
            raise Unsupported(f"{name} of {x.type}")
        return writer.call(f"llvm.{name}.{x.type}", str(x.type), [x, writer.cast(y, x.type)])

    return handler


def signbit(writer: Writer, arguments: Sequence[Value]) -> Value:
    """Whether the sign is minus."""
    (x,) = arguments
    bits = f"i{width(x.type)}"
    word = Value(bits, writer.emit(f"bitcast {'float' if x.type == 'f32' else 'double'} {x.text} to {bits}"))
    return writer.compare("icmp slt", word, constant(bits, 0))


def is_null(writer: Writer, arguments: Sequence[Value]) -> Value:
    """Whether there was no memory to be had."""
    (view,) = arguments
    return Value("bool", writer.emit(f"icmp eq ptr {view.text}, null"))


def order_bits(writer: Writer, arguments: Sequence[Value]) -> Value:
    """A number as unsigned bits that are ordered as numbers are: NaN last, zeros of both signs equal."""
    (x,) = arguments
    kind = str(x.type)
    if is_float(kind):
        word = f"i{width(kind)}"
        real = "float" if kind == "f32" else "double"
        plain = writer.emit(f"fadd {real} {x.text}, 0.0")
        bits = writer.emit(f"bitcast {real} {plain} to {word}")
        sign = writer.emit(f"ashr {word} {bits}, {width(kind) - 1}")
        mask = writer.emit(f"or {word} {sign}, {-(1 << (width(kind) - 1))}")
        key = writer.emit(f"xor {word} {bits}, {mask}")
        number = writer.emit(f"fcmp ord {real} {x.text}, {x.text}")
        ordered = writer.emit(f"select i1 {number}, {word} {key}, {word} -1")
        return writer.cast(Value(f"u{width(kind)}", ordered), "u64")
    if kind == "bool" or kind[0] == "u":
        return writer.cast(x, "u64")
    wide = writer.cast(x, "i64")
    return Value("u64", writer.emit(f"xor i64 {wide.text}, {-(1 << 63)}"))


def ticks(writer: Writer, arguments: Sequence[Value]) -> Value:
    """The processor's clock, which counts at one rate."""
    if platform.machine().lower() not in ("aarch64", "arm64"):
        return writer.call("llvm.readcyclecounter", "i64", [])
    # There, programs may not read the counter of cycles.
    name = "llvm.read_volatile_register.i64"
    writer.module.declare(name, "i64", ["metadata"])
    return Value("i64", writer.emit(f'call i64 @{name}(metadata !{{!"cntvct_el0"}})'))


def power(writer: Writer, arguments: Sequence[Value]) -> Value:
    """``x ** n`` by repeated squaring, for an n that is written out."""
    base, n = arguments
    if not isinstance(n.known, int) or not is_float(base.type):
        raise Unsupported("a power whose exponent is not written out")
    left, result, one = abs(n.known), None, constant(str(base.type), 1.0)
    while left:
        if left & 1:
            result = base if result is None else writer.real("fmul", result, base)
        left >>= 1
        base = writer.real("fmul", base, base) if left else base
    if result is None:
        return one
    return result if n.known > 0 else writer.real("fdiv", one, result)


for _name, _handler in {
    "select": select,
    "plus": plus,
    "rounded_sum": rounded("fadd"),
    "rounded_difference": rounded("fsub"),
    "fmax": extreme("maxnum"),
    "fmin": extreme("minnum"),
    "larger": extreme("maximum"),
    "smaller": extreme("minimum"),
    "signbit": signbit,
    "order_bits": order_bits,
    "is_null": is_null,
    "clock_ticks": ticks,
    "integer_power": power,
}.items():
    NAMED[_name] = _handler


@cache
def namespace() -> dict[str, Any]:
    """Everything that kernels may call, by name."""
    vector = {
        name: External(
            name,
            tuple([Overload(function_symbol(name, kind), (kind,) * arity, kind) for kind in ("f64", "f32")]),
        )
        for name, (_, arity) in {**FUNCTIONS, **INTERNAL}.items()
    }
    return {
        "NAN": math.nan,
        "INF": math.inf,
        "select": Known("select"),
        "plus": Known("plus"),
        "rounded_sum": Known("rounded_sum"),
        "rounded_difference": Known("rounded_difference"),
        "fmax": Known("fmax"),
        "fmin": Known("fmin"),
        "maximum": Known("larger"),
        "minimum": Known("smaller"),
        "signbit": Known("signbit"),
        "order_bits": Known("order_bits"),
        "is_null": Known("is_null"),
        "poll": POLL,
        "ticks": Known("clock_ticks"),
        "power": Known("integer_power"),
        **CASTS,
        **{name: getattr(np, name) for name in UFUNCS},
        **vector,
        **externals(),
        **EXTERNALS,
        **MEMORY,
    }


_SYMBOL = re.compile(r"@\"?funcgrad\.(\w+)\.(f32|f64)\b")


def vector_modules(text: str) -> Iterator[str]:
    """The LLVM modules that define what a module calls: vector mathematics, and outlined functions."""
    yield from outlined_modules(text)
    seen: set[tuple[str, str]] = set()
    texts = [text]
    while texts:
        for name, kind in set(_SYMBOL.findall(texts.pop())):
            if (name, kind) not in seen:
                seen.add((name, kind))
                found = function_assembly(name, kind)
                texts.append(found)
                yield found
