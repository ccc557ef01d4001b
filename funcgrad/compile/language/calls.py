"""Words that call other code: threads, signals, BLAS and LAPACK, ciphers, and NumPy's own loops."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from funcgrad.compile.language.assembly_functions import EXTERNALS
from funcgrad.compile.language.external import (
    External,
    Overload,
    call_external,
    called_at_address,
    external_word,
)
from funcgrad.compile.language.values import Type, Unsupported, Value
from funcgrad.compile.language.word import Elements, Known, Sample, Signature, Types, Word, kinds
from funcgrad.compile.runtime.addresses.blas import integer_type, lapack_routine, routine
from funcgrad.later import Later
from funcgrad.ops.random.philox import words as philox_words
from funcgrad.types import Anything, Foreign, Number

if TYPE_CHECKING:
    from funcgrad.compile.language.word import Built, Instructions


# It looks into objects of NumPy's.
ufuncs = Later("funcgrad.compile.runtime.addresses.ufuncs")


@kinds("stage, table, sizes, begin, end, grain -> none")
def a_range(given: Sequence[Type], known: Sequence[Known]) -> Signature | None:
    """A function of the source, its two tables, and three integers."""
    return Signature((*given[:3], "i64", "i64", "i64"), "none") if len(given) == 6 else None


def parallel(stage: Callable[..., None], p: object, n: Number, begin: int, end: int, grain: int) -> None:
    """Run ``stage(p, n, from, to)`` over a range, in pieces of at least ``grain``, on the pool's threads."""
    stage(p, n, int(begin), int(end))


def direct_parallel(writer: Instructions, arguments: Sequence[Value]) -> Value:
    """A call of the run time's pool of threads."""
    stage, *others = arguments
    if stage.type != "stage":
        raise Unsupported("the address of what is not a function called from outside")
    address = Value("i64", writer.emit(f"ptrtoint ptr {stage.text} to i64"))
    pool = Value("i64", writer.external_address("funcgrad_threads"))
    tables = [Value("ptr", value.text) for value in others[:2]]
    numbers = [writer.cast(value, "i64") for value in others[2:]]
    called: Value = writer.call("funcgrad_parallel", "none", [pool, address, *tables, *numbers])
    return called


def lowered_parallel(lowering: Instructions, arguments: Sequence[Any], signature: Signature) -> Built:
    """A call of the run time's pool of threads."""
    _, p, n, *numbers = arguments
    address = lowering.stage_address()
    return lowering.call_pool(address, p, n, numbers)


def poll_word() -> Word:
    """It touches nothing that a kernel reads or writes, so values stay in registers over the call."""
    external = External(
        "poll", (Overload("", ("i64", "ptr"), "i32"),), "nounwind memory(inaccessiblemem: readwrite)"
    )
    doc = "Whether a signal's handler has raised an exception, by the function at an address."
    samples = (Sample("out[i] = poll(n[1], a)", (Elements("i64", (0,) * 64),), "i64", (_nothing,)),)
    return external_word(external, "address, words -> int32", samples=samples, doc=doc)


_IntOfPointer = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)
_Int = ctypes.CFUNCTYPE(ctypes.c_int32)
_VoidOfTwo = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
_Double = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)
_VoidOfInt = ctypes.CFUNCTYPE(None, ctypes.c_int32)
_KEPT = [
    *(_IntOfPointer(lambda _: 0), _Int(lambda: 3), _VoidOfInt(lambda _: None)),
    _VoidOfTwo(lambda _, __: None),
    _Double(lambda x: 2.0 * x),
]


def _nothing() -> int:
    return ctypes.cast(_KEPT[0], ctypes.c_void_p).value or 0


def _three() -> int:
    return ctypes.cast(_KEPT[1], ctypes.c_void_p).value or 0


def _ignored() -> int:
    return ctypes.cast(_KEPT[2], ctypes.c_void_p).value or 0


def _doubling() -> int:
    return ctypes.cast(_KEPT[4], ctypes.c_void_p).value or 0


def _two_ignored() -> int:
    return ctypes.cast(_KEPT[3], ctypes.c_void_p).value or 0


INT_CALL = external_word(
    External("int_call", (Overload("", ("i64",), "i32"),)),
    "address -> int32",
    samples=(Sample("out[i] = int_call(n[1]) + a[i]", (Elements("i64", (0, 1, 2)),), "i64", (_three,)),),
    doc="What the function at an address returns.",
)
INT_SET = external_word(
    External("int_set", (Overload("", ("i64", "i32"), "none"),)),
    "address, int32 -> none",
    samples=(
        Sample("int_set(n[1], i32(4))\nout[i] = a[i]", (Elements("i64", (0, 1, 2)),), "i64", (_ignored,)),
    ),
    doc="A call of the function at an address with a number.",
)

MOST_POINTERS = 24
"""Arguments and results of a function at an address that `call_pointers` calls."""


def pointers_word() -> Word:
    """It has an overload for each number of pointers, and one for loops of ufuncs, told an address."""
    overloads = tuple([Overload("", ("i64", *("ptr",) * k), "none") for k in range(1, MOST_POINTERS + 1)])
    loop_of_ufunc = Overload("", ("i64", "ptr", "ptr", "ptr", "i64"), "none")

    def call_pointers(address: int, *pointers: Anything) -> None:
        told = hasattr(pointers[-1], "__index__")
        called_at_address(loop_of_ufunc if told else overloads[len(pointers) - 1])(address, *pointers)

    sample = Sample(
        "call_pointers(n[1], a, out)\nout[i] = a[i]", (Elements("i64", (0, 1, 2)),), "i64", (_two_ignored,)
    )
    doc = "A call of the function at an address, of pointers to what it reads and what it writes."
    return external_word(
        External("call_pointers", (*overloads, loop_of_ufunc)),
        "address, pointers -> none",
        call_pointers,
        (sample,),
        doc,
    )


def number_word() -> Word:
    """It has an overload for each number of operands."""
    overloads = tuple([Overload("", ("i64", *("f64",) * k), "f64") for k in range(1, MOST_OPERANDS + 1)])

    def call_number(address: int, *numbers: Number) -> Number:
        return called_at_address(overloads[len(numbers) - 1])(address, *numbers)

    sample = Sample("out[i] = call_number(n[1], a[i])", (Elements("f64", (0, 1, 2)),), "f64", (_doubling,))
    doc = "What the function at an address returns for numbers."
    return external_word(
        External("call_number", overloads), "address, numbers -> float64", call_number, (sample,), doc
    )


MOST_OPERANDS = 6

_ENUM = "i32"


def _gemm(kind: str, integer: str) -> tuple[str, ...]:
    """Order, two transpositions, three sizes, alpha, A and its leading length, B, beta, C."""
    sizes = (integer,) * 3
    return (*(_ENUM,) * 3, *sizes, kind, "ptr", integer, "ptr", integer, kind, "ptr", integer)


def _gemv(kind: str, integer: str) -> tuple[str, ...]:
    """Order, transposition, two sizes, alpha, A and its leading length, x, its step, beta, y, its step."""
    sizes = (integer,) * 2
    return (*(_ENUM,) * 2, *sizes, kind, "ptr", integer, "ptr", integer, kind, "ptr", integer)


def _syrk(kind: str, integer: str) -> tuple[str, ...]:
    """Order, triangle, transposition, two sizes, alpha, A and its leading length, beta, C."""
    return (*(_ENUM,) * 3, *(integer,) * 2, kind, "ptr", integer, kind, "ptr", integer)


def _trsm(kind: str, integer: str) -> tuple[str, ...]:
    """Order, side, triangle, transposition, unit diagonal, two sizes, alpha, A and its leading length, B."""
    return (*(_ENUM,) * 5, *(integer,) * 2, kind, "ptr", integer, "ptr", integer)


def _axpy(kind: str, integer: str) -> tuple[str, ...]:
    """Size, alpha, x and its step, y and its step."""
    return (integer, kind, "ptr", integer, "ptr", integer)


def _dot(kind: str, integer: str) -> tuple[str, ...]:
    """Size, x and its step, y and its step."""
    return (integer, "ptr", integer, "ptr", integer)


_LETTERS = {"s": "f32", "d": "f64", "c": "ptr", "z": "ptr"}  # complex factors are given by pointer
_ELEMENTS = {"s": "f32", "d": "f64", "c": "c64", "z": "c128"}
_BLAS = {
    "gemm": (_gemm, "101, 111, 111, 2, 2, 2, {one}, a, 2, b, 2, {zero}, out, 2"),
    "gemv": (_gemv, "101, 111, 2, 2, {one}, a, 2, b, 1, {zero}, out, 1"),
    "syrk": (_syrk, "101, 121, 111, 2, 2, {one}, a, 2, {zero}, out, 2"),
    "trsm": (_trsm, "101, 141, 122, 111, 131, 2, 2, {one}, a, 2, out, 2"),
    "axpy": (_axpy, "4, {one}, a, 1, out, 1"),
}
"""The arguments of each routine of CBLAS, and a call of it with 2 by 2 matrices."""

PRODUCTS = frozenset([letter + "gemm" for letter in _LETTERS])
"""The words for products of matrices."""

_LAPACK = {
    "potrf": (5, "shifted(b, 1), b, out, b, shifted(b, 3)"),
    "potrs": (8, "shifted(b, 1), b, b, a, b, out, b, shifted(b, 3)"),
    "getrf": (6, "b, b, out, b, shifted(b, 4), shifted(b, 3)"),
    "getrs": (9, "shifted(b, 2), b, b, a, b, shifted(b, 4), out, b, shifted(b, 3)"),
    "trtrs": (10, "shifted(b, 1), shifted(b, 2), shifted(b, 2), b, b, a, b, out, b, shifted(b, 3)"),
}
"""How many pointers each routine of LAPACK is given, and a call: ``b`` holds 2, "L", "N", and room."""


def routine_word(
    name: str, arguments: Callable[[str], tuple[str, ...]], result: str, sample: Sample, doc: str
) -> Word:
    """The row of a routine at an address, whose integers are those of this process's BLAS."""

    @cache
    def external() -> External:
        return External(name, (Overload("", ("i64", *arguments(integer_type() or "i64")), result),))

    def rule(given: Sequence[Type], known: Sequence[Known]) -> Signature | None:
        found = external().chosen(given) if integer_type() else None
        return None if found is None else Signature(found.arguments, found.result)

    def python(*given: Number) -> Number:
        return called_at_address(external().overloads[0])(*given)

    def direct(writer: Anything, given: Sequence[Value]) -> Value:
        if not integer_type():
            raise Unsupported(f"{name}: this process has no BLAS")
        return call_external(writer, external(), given)

    def lowered(lowering: Anything, given: Sequence[Any], signature: Signature) -> Foreign:
        return lowering.call_address(given[0], external().overloads[0], given[1:], "")

    python.__name__, python.__doc__ = name, doc
    words = f"address, {len(arguments('i64'))} arguments -> {result}"
    return Word(name, Types(words, rule), python, direct, lowered, (sample,))


def _sample(name: str, call: str, letter: str, find: Callable[[str], Any]) -> Sample:
    """The call once, on a matrix, where ``out`` begins as the other matrix."""
    kind = _ELEMENTS[letter]
    matrix = Elements(kind, (4, 0, 1, 3))
    numbers = Elements("i64", (2, ord("L"), ord("N"), 0, 1, 2, 0))
    second = numbers if name[1:] in _LAPACK else Elements(kind, (1, 2, 5, 7))
    one, zero = ("c", "shifted(c, 1)") if letter in "cz" else (f"{kind}(1.0)", f"{kind}(0.0)")
    arguments = call.format(one=one, zero=zero)
    begins = "".join([f"    out[{k}] = {value}\n" for k, value in enumerate((5.0, 2.0, 2.0, 4.0))])
    statement = f"if i == 0:\n{begins}    {name}(n[1], {arguments})"

    def address() -> int:
        found = find(name)
        return 0 if found is None else int(found.address)

    return Sample(statement, (matrix, second, Elements(kind, (1, 0))), kind, (address,))


def _routine_words() -> list[Word]:
    found = []
    for letter, kind in _LETTERS.items():
        for stem, (make, call) in _BLAS.items():
            found.append(
                routine_word(
                    letter + stem,
                    lambda integer, make=make, kind=kind: make(kind, integer),  # type: ignore[misc]
                    "none",
                    _sample(letter + stem, call, letter, routine),
                    f"CBLAS's {letter}{stem}, at an address.",
                )
            )
        for stem, (count, call) in _LAPACK.items():
            found.append(
                routine_word(
                    letter + stem,
                    lambda integer, count=count: ("ptr",) * count,  # type: ignore[misc]
                    "none",
                    _sample(letter + stem, call, letter, lapack_routine),
                    f"LAPACK's {letter}{stem}, at an address.",
                )
            )
    for letter in "sd":
        name, kind = f"{letter}dot", _ELEMENTS[letter]
        sample = Sample(
            f"out[i] = {name}(n[1], 4, a, 1, b, 1)",
            (Elements(kind, (0, 1, 2, 3)), Elements(kind, (4, 5, 6, 7))),
            _LETTERS[letter],
            (lambda name=name: int(getattr(routine(name), "address", 0)),),  # type: ignore[misc]
        )
        found.append(
            routine_word(
                name,
                lambda integer, letter=letter: _dot(_LETTERS[letter], integer),  # type: ignore[misc]
                _LETTERS[letter],
                sample,
                f"CBLAS's {name}, at an address.",
            )
        )
    return found


def philox(
    first: Number, second: Number, start: Number, stream: Number, memory: Anything, count: Number
) -> None:
    """So many random words of a key (two words), from a block of a stream on."""
    keys = np.array([[int(first), int(second)]], np.uint64)
    found = philox_words(keys, np.array([int(start)], np.uint64), int(stream), int(count))[0]
    for k in range(int(count)):
        memory[k] = found[k]


def _loop_call(function: int, data: int, count: int, *places: Anything) -> None:
    views, steps = places[::2], places[1::2]
    pointers = (ctypes.c_void_p * len(views))(*[view.address for view in views])
    strides = (ctypes.c_ssize_t * len(views))(*[int(step) for step in steps])
    sizes = (ctypes.c_ssize_t * 1)(int(count))
    loop = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)(int(function))
    loop(*[ctypes.addressof(x) for x in (pointers, sizes, strides)], int(data))


def numpy_unary(
    function: int, data: int, x: Number, step: int, out: object, out_step: int, count: int
) -> None:
    """NumPy's own loop over elements, at an address."""
    _loop_call(function, data, count, x, step, out, out_step)


def numpy_binary(
    function: int,
    data: int,
    x: Number,
    step: int,
    y: Number,
    y_step: int,
    out: object,
    out_step: int,
    count: int,
) -> None:
    """NumPy's own loop over pairs of elements, at an address."""
    _loop_call(function, data, count, x, step, y, y_step, out, out_step)


def _loop_address(name: str, part: str) -> Callable[[], int]:
    def address() -> int:
        return int(getattr(ufuncs.loop(name, np.dtype("f8")), part, 0))

    return address


_POSITIVE = Elements("f64", (0.5, 1.0, 2.0))
_LOOP_CALLS = {
    "numpy_unary": "if i == 0:\n    numpy_unary(n[1], n[2], a, 8, out, 8, n[0])",
    "numpy_binary": "if i == 0:\n    numpy_binary(n[1], n[2], a, 8, b, 8, out, 8, n[0])",
}
_MEANINGS: dict[str, Any] = {"philox": philox, "numpy_unary": numpy_unary, "numpy_binary": numpy_binary}
_SAMPLES = {
    "philox": Sample(
        "if i == 0:\n    philox(a[0], a[1], a[2], 7, out, n[0])", (Elements("u64", (3, 5, 9, 0, 0)),), "u64"
    ),
    "numpy_unary": Sample(
        _LOOP_CALLS["numpy_unary"],
        (_POSITIVE,),
        "f64",
        (_loop_address("log", "address"), _loop_address("log", "data")),
    ),
    "numpy_binary": Sample(
        _LOOP_CALLS["numpy_binary"],
        (_POSITIVE, Elements("f64", (2.0, 1.0, 0.5))),
        "f64",
        (_loop_address("arctan2", "address"), _loop_address("arctan2", "data")),
    ),
}

STAGED = Sample("out[i] = a[i] + 1.0", (Elements("f64", (0, 1, 2, 3, 4)),))
"""Of `parallel` the test makes a stage by itself."""

CALL_WORDS: tuple[Word, ...] = (
    Word("parallel", a_range, parallel, direct_parallel, lowered_parallel, (STAGED,)),
    poll_word(),
    INT_CALL,
    INT_SET,
    pointers_word(),
    number_word(),
    *_routine_words(),
    *[
        external_word(e, f"{', '.join(e.overloads[0].arguments)} -> none", _MEANINGS[name], (_SAMPLES[name],))
        for name, e in EXTERNALS.items()
    ],
)
"""Calls of what is compiled elsewhere, by symbol or by address."""
