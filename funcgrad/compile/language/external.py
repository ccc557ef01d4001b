"""Functions that kernel text may call and that LLVM assembly, the process, or an address defines."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from funcgrad.compile.language.values import (
    Type,
    Unsupported,
    Value,
    View,
    is_complex,
    is_float,
    is_integer,
    part,
    promoted,
)
from funcgrad.compile.language.word import Known, Sample, Signature, Types, Word
from funcgrad.types import Anything, Foreign, Number

if TYPE_CHECKING:
    from funcgrad.compile.language.word import Instructions


@dataclass(frozen=True, slots=True)
class Overload:
    """One C function: its symbol, and the types of its arguments and result as the views name them.

    Beside the numbers there is ``ptr``, and ``none`` for a result that is not. A function without a symbol
    is called at the address that is its first argument.
    """

    symbol: str
    arguments: tuple[str, ...]
    result: str


@dataclass(frozen=True, slots=True)
class External:
    """A function by the name it has in emitted source, with an overload for each type it is written for."""

    name: str
    overloads: tuple[Overload, ...]
    attributes: str = ""
    """What LLVM may assume of a call by address."""

    def __call__(self, *arguments: object) -> int:
        """Refuse: only compiled code calls it."""
        raise TypeError(f"{self.name} is called by compiled code only")

    def overload(self, kinds: Sequence[str], weight: Callable[[str, str], int | None]) -> Overload | None:
        """The overload whose arguments are nearest, by the weight of converting each."""
        best: tuple[int, Overload] | None = None
        for candidate in self.overloads:
            if len(candidate.arguments) != len(kinds):
                continue
            weights = [weight(given, want) for given, want in zip(kinds, candidate.arguments, strict=True)]
            if None in weights:
                continue
            total = sum(known for known in weights if known is not None)
            if best is None or total < best[0]:
                best = total, candidate
        return None if best is None else best[1]

    def chosen(self, given: Sequence[Type]) -> Overload | None:
        """The overload for arguments of these types."""
        return self.overload(["ptr" if isinstance(kind, View) else kind for kind in given], weight)


def weight(given: str, wanted: str) -> int | None:
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


C_TYPES: dict[str, Any] = {
    "i32": ctypes.c_int32,
    "i64": ctypes.c_int64,
    "u64": ctypes.c_uint64,
    "f32": ctypes.c_float,
    "f64": ctypes.c_double,
    "ptr": ctypes.c_void_p,
    "none": None,
}
"""The types of arguments of functions at addresses."""


def called_at_address(overload: Overload) -> Callable[..., Any]:
    """What a call of the function at an address means in Python: that call."""
    prototype = ctypes.CFUNCTYPE(
        C_TYPES[overload.result], *[C_TYPES[kind] for kind in overload.arguments[1:]]
    )

    def call(address: int, *arguments: Number) -> Number:
        function: Callable[..., Any] = prototype(int(address))
        given = [
            int(x.address) if kind == "ptr" else float(x) if kind[0] == "f" else int(x)
            for x, kind in zip(arguments, overload.arguments[1:], strict=True)
        ]
        return function(*given)

    return call


def external_word(
    external: External,
    words: str,
    python: Callable[..., Any] | None = None,
    samples: tuple[Sample, ...] = (),
    doc: str = "",
) -> Word:
    """The row of a function that is defined elsewhere; one at an address means a call of that address."""
    meant = python or called_at_address(external.overloads[0])
    meant.__name__ = external.name
    meant.__doc__ = doc or meant.__doc__

    def rule(given: Sequence[Type], known: Sequence[Known]) -> Signature | None:
        found = external.chosen(given)
        return None if found is None else Signature(found.arguments, found.result)

    def direct(writer: Anything, arguments: Sequence[Value]) -> Value:
        return call_external(writer, external, arguments)

    def lowered(lowering: Anything, arguments: Sequence[Any], signature: Signature) -> Foreign:
        found = external.chosen(signature.arguments)
        assert found is not None
        if found.symbol:
            return lowering.call(found.symbol, found.result, arguments)
        return lowering.call_address(arguments[0], found, arguments[1:], external.attributes)

    return Word(external.name, Types(words, rule), meant, direct, lowered, samples)


def call_external(writer: Instructions, function: External, arguments: Sequence[Value]) -> Value:
    """Write a call of a function that another LLVM module, the process, or an address defines."""
    chosen = function.chosen([value.type for value in arguments])
    if chosen is None:
        raise Unsupported(f"{function.name} of {', '.join(str(value.type) for value in arguments)}")
    values = [
        Value("ptr", value.text) if kind == "ptr" else writer.cast(value, kind)
        for value, kind in zip(arguments, chosen.arguments, strict=True)
    ]
    called: Value = (
        writer.call(chosen.symbol, chosen.result, values)
        if chosen.symbol
        else writer.call_address(values[0], chosen.result, values[1:], function.attributes)
    )
    return called
