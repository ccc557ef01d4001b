"""What of Numba's cannot be traced is refused by name, with its line."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest
from numba import objmode, types
from numba.experimental import jitclass, structref
from numba.extending import intrinsic
from numba.typed import Dict, List

import funcgrad as fg

X = np.array([1.0, 2.0, 3.0])


@numba.njit
def typed_list(x):
    out = List()
    for i in range(x.size):
        out.append(x[i] * 2)
    return out[0]


@numba.njit
def typed_dict(x):
    d = Dict.empty(key_type=types.int64, value_type=types.float64)
    d[0] = x[0]
    return d[0]


@numba.njit
def through_objects(x):
    with objmode(y="float64"):
        y = float(x[0])
    return y  # noqa: RET504 - Numba needs the name


@numba.njit
def drawing(x):
    return x[0] * np.random.normal()  # noqa: NPY002 - what Numba has


@numba.njit
def without_end(x):
    if x < 1.0:
        return x
    return without_end(x * 0.5)


@numba.njit
def taking(held, x):
    return x[0]


@jitclass([("a", numba.float64)])
class Held:
    def __init__(self, a):
        self.a = a


@numba.njit
def yielding(x):
    for i in range(3):
        yield x[i]


@numba.njit
def of_generator(x):
    s = 0.0
    for v in yielding(x):
        s += v
    return s


@numba.stencil
def second_difference(a):
    return a[-1] - 2.0 * a[0] + a[1]


@numba.njit
def of_stencil(x):
    return np.sum(second_difference(x) ** 2)


@structref.register
class PairType(types.StructRef):
    pass


class Pair(structref.StructRefProxy):
    def __new__(cls, first, second):
        return structref.StructRefProxy.__new__(cls, first, second)


structref.define_proxy(Pair, PairType, ["first", "second"])


@numba.njit
def of_structref(x):
    return Pair(x[0], x[1]).first * 2.0


@intrinsic
def as_it_is(context, x):
    def generated(context, builder, signature, args):
        return args[0]

    return x(x), generated


@numba.njit
def of_intrinsic(x):
    return as_it_is(x[0]) * 2.0


@numba.njit
def of_jitclass(x):
    return Held(x[0]).a


RECORD = np.dtype([("a", np.float64)])


@numba.njit
def of_records(x):
    r = np.zeros(2, dtype=RECORD)
    r[0].a = x[0]
    return r[0].a * x[1]


@numba.njit
def added_in_turn(x):
    y = x.copy()
    y[1:] += y[:-1]
    return y.sum()


@numba.njit
def added_by_row(x):
    y = np.outer(x, x)
    for i in range(3):
        y[i, 1:] -= y[i, :-1]
    return y.sum()


@numba.njit
def transposed_onto_itself(x):
    y = np.outer(x, 2.0 * x)
    y *= y.T
    return y.sum()


REFUSED: dict[str, tuple[Any, Any, str]] = {
    "typed list": (typed_list, X, "numba.typed.List is Numba's own"),
    "typed dict": (typed_dict, X, "numba.typed.Dict is Numba's own"),
    "objmode": (through_objects, X, "numba.objmode is Numba's own"),
    "draws": (drawing, X, "normal draws anew"),
    "recursion": (without_end, 7.3, "calls itself without an end"),
    "records": (of_records, X, "an array of records ([('a', '<f8')]) holds no traced numbers"),
    "a running sum by overlap": (added_in_turn, X, "is changed in place by a part of itself"),
    "the same in rows": (added_by_row, X, "is changed in place by a part of itself"),
    "a product with its transpose": (transposed_onto_itself, X, "is changed in place by a part of itself"),
    "stencil": (of_stencil, X, "StencilFunc is Numba's own"),
    "structref": (of_structref, X, "Pair is Numba's own"),
    "intrinsic": (of_intrinsic, X, "as_it_is is Numba's own"),
    "jitclass": (of_jitclass, X, "Held is Numba's own"),
    "generator": (of_generator, X, "it is a generator"),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_refused_with_its_line(case: tuple[Any, Any, str]) -> None:
    function, x, words = case
    for make in (fg.grad, lambda f: fg.grad(lambda y: f(y) * 2.0), lambda f: fg.jit(fg.grad(f))):
        with pytest.raises(fg.errors.UnsupportedFunctionError) as caught:
            make(function)(x)
        text = str(caught.value)
        assert words in text
        assert "test_refusals.py" in text
        assert "fg.custom_vjp" in text or "fg.random" in text or "y[1:] = y[1:] + y[:-1]" in text


@pytest.mark.parametrize(
    ("held", "words"),
    [
        (List([1.0, 2.0]), "numba.typed.List, which cannot be traced"),
        (Held(2.0), "a Held, which cannot be traced"),
        (np.zeros(2, dtype=[("a", "f8")]), "an array of records"),
    ],
    ids=["typed list", "jitclass", "records"],
)
def test_arguments_are_refused(held: Any, words: str) -> None:
    with pytest.raises(fg.errors.UnsupportedFunctionError, match=words):
        fg.grad(taking, 1)(held, X)


def test_one_without_source_is_refused() -> None:
    names: dict[str, Any] = {}
    exec("import numba\n@numba.njit\ndef square(x): return x * x", names)
    with pytest.raises(fg.errors.UnsupportedFunctionError, match="its source is not to be had"):
        fg.grad(names["square"])(2.0)
