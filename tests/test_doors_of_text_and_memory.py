"""Doors of Python's and the standard library's that take a number's text or memory; see `test_doors`."""

from __future__ import annotations

import array
import ast
import ctypes
import decimal
import fractions
import hashlib
import io
import json
import marshal
import multiprocessing
import random
import re
import sqlite3
import string
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.optimize
import scipy.stats

import funcgrad as fg
from funcgrad.errors import FuncgradError
from tests.test_doors import PLAIN, Door, Y, differences, pd, right_or_refused, stored

CLOSED: dict[str, Door] = {
    "Decimal(f'{t}')": lambda y: float(decimal.Decimal(f"{y[0]}")) * y[1],
    "literal_eval(f'{t}')": lambda y: ast.literal_eval(f"{y[0]}") * y[1],
    "eval(f'{t}')": lambda y: eval(f"{y[0]}") * y[1],
    "json.loads(f'{t}')": lambda y: json.loads(f"{y[0]}") * y[1],
    "a part of an f-string": lambda y: float(f" {y[0]:.6f} ".strip()) * y[1],
    "f'{t}'.split": lambda y: float(f"{y[0]:.6f},{y[1]:.6f}".split(",")[0]) * y[1],
    "'0' + f'{t}'": lambda y: float("0" + f"{y[0]:.6f}") * y[1],
    "f'{t}'[:4]": lambda y: float(f"{y[0]:.6f}"[:4]) * y[1],
    "f'{t}'.encode": lambda y: float(f"{y[0]:.6f}".encode()) * y[1],
    "re.findall": lambda y: float(re.findall("[0-9.]+", f"{y[0]:.6f}")[0]) * y[1],
    "re.sub": lambda y: float(re.sub("x", "", f"{y[0]:.6f}")) * y[1],
    "''.join": lambda y: float("".join([f"{y[0]:.6f}"])) * y[1],
    "'%s' % f'{t}'": lambda y: float("%s" % f"{y[0]:.6f}") * y[1],  # noqa: UP031
    "'%f' % t + '0'": lambda y: float("%.6f" % y[0] + "0") * y[1],  # noqa: UP031
    "' {} '.format": lambda y: float(" {:.6f} ".format(y[0]).strip()) * y[1],  # noqa: UP032
    "string.Formatter": lambda y: float(string.Formatter().format("{:.6f}", y[0])) * y[1],
    "string.Template": lambda y: float(string.Template("$t").substitute(t=f"{y[0]:.6f}")) * y[1],
    "json.loads(f'[{t}]')": lambda y: json.loads(f"[{y[0]:.6f}]")[0] * y[1],
    "eval(f'{t} + 0')": lambda y: eval(f"{y[0]:.6f} + 0") * y[1],
    "np.fromstring": lambda y: np.fromstring(f"{y[0]:.6f} 1", sep=" ")[0] * y[1],
    "np.loadtxt": lambda y: np.loadtxt([f"{y[0]:.6f}"]) * y[1],
    "pd.to_numeric": lambda y: pd.to_numeric(f"{y[0]:.6f}") * y[1],
    "Decimal.from_float": lambda y: float(decimal.Decimal.from_float(y[0])) * y[1],
    "Fraction.from_float": lambda y: float(fractions.Fraction.from_float(y[0])) * y[1],
    "marshal.dumps": lambda y: marshal.loads(marshal.dumps(y[0])) * y[1],
    "t.hex": lambda y: float.fromhex(y[0].hex()) * y[1],
    "y.ctypes": lambda y: y.ctypes.data * y[1],
    "memoryview(t)": lambda y: memoryview(y[0]) * y[1],
    "memoryview(z)[0] = t": lambda y: memoryview(PLAIN(3)).__setitem__(0, y[0]) or y[1],
    "array.array of y": lambda y: array.array("d", y)[0] * y[1],
    "array.extend": lambda y: array.array("d").extend(y) or y[1],
    "ctypes array": lambda y: (ctypes.c_double * 3)(*y)[0] * y[1],
    "json.dumps(default=float)": lambda y: json.loads(json.dumps([y[0]], default=float))[0] * y[1],
    "sqlite3": lambda y: sqlite3.connect(":memory:").execute("select ?", (y[0],)).fetchone()[0] * y[1],
    "random.Random().seed": lambda y: random.Random().seed(y[0]) or y[1],
    "create_decimal_from_float": lambda y: decimal.Context().create_decimal_from_float(y[0]) and y[1],
    "hashlib.md5": lambda y: hashlib.md5(y).digest() and y[1],
    "y.__array_interface__": lambda y: y.__array_interface__ and y[1],
    "as_ctypes": lambda y: np.ctypeslib.as_ctypes(y) and y[1],
    "fused types": lambda y: scipy.stats._stats._weightedrankedtau(y, y, None, None, True) * y[1],
    "random.Random(t)": lambda y: random.Random(y[0]).random() * y[1],
    "class F(float)": lambda y: type("F", (float,), {})(y[0]) * y[1],
    "float.__add__": lambda y: float.__add__(y[0], 1.0) * y[1],
    "multiprocessing.Value": lambda y: multiprocessing.Value("d", y[0]).value * y[1],
    "np.savez": lambda y: np.savez(io.BytesIO(), y=y) or y[0],
    "np.longdouble": lambda y: np.longdouble(y[0]) * y[1],
    "z.flat = t": stored(lambda z, y: setattr(z, "flat", y)),
    "np.char.mod": lambda y: np.char.mod("%f", y).astype(float)[0] * y[1],
}
"""What takes a number, or its text, or its memory."""


@pytest.mark.parametrize("name", CLOSED)
def test_closed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUNCGRAD_CONSTRUCTORS", "0")
    with pytest.raises(FuncgradError) as caught:
        fg.grad(CLOSED[name])(Y)
    text = str(caught.value)
    assert "^" in text or "<string>" in text  # code that multiprocessing makes of a text
    assert text.splitlines()[-1].startswith("  ")


@pytest.mark.parametrize("name", CLOSED)
@pytest.mark.parametrize("transform", [fg.jit, fg.vmap], ids=["jit", "vmap"])
def test_closed_or_right_without_values(name: str, transform: Any) -> None:
    slope = fg.grad(CLOSED[name])
    batched = transform is fg.vmap
    right_or_refused(lambda: transform(slope)(Y[None])[0] if batched else transform(slope)(Y), CLOSED[name])


CALLS_ON = """
def calls_on(f, t):
    try:
        float(t)
    except Exception:
        pass
    return f(t)
"""
"""What C code of SciPy's does, as if it were in SciPy."""


def test_a_refusal_that_got_lost_is_seen_where_an_error_comes_after_it() -> None:
    """SciPy's root finders go on calling with a refusal pending, in which look-ups of names may fail."""
    names: dict[str, Any] = {}
    exec(compile(CALLS_ON, scipy.optimize.__file__, "exec"), names)

    def lost(t: Any) -> Any:
        return t + object().no_such_name  # type: ignore[attr-defined]

    with pytest.raises(FuncgradError, match="takes the value of a traced") as caught:
        fg.grad(lambda y: names["calls_on"](lost, y[0]))(Y)
    assert "names[" in str(caught.value)


@pytest.mark.parametrize("value", [lambda y: y, lambda y: y[0], lambda y: y[:2]], ids=["y", "t", "shorter"])
def test_flat_is_set(value: Callable[[Any], Any]) -> None:
    def f(y: Any) -> Any:
        z = np.ones(5)
        z.flat = value(y)
        return (z * np.arange(5.0)).sum()

    np.testing.assert_allclose(fg.grad(f)(Y), differences(f), rtol=1e-6)

    def of_traced(y: Any) -> Any:
        z = y * 1.0
        z.flat = value(y) ** 2
        return (z * np.arange(3.0)).sum()

    np.testing.assert_allclose(fg.jit(fg.grad(of_traced))(Y), differences(of_traced), rtol=1e-6, atol=1e-9)


OPEN: dict[str, Door] = {
    "key": lambda y: {"0.7": 2.0}[f"{y[0]:.1f}"] * y[1],
    "float of an element": lambda y: float({"0.7": "2"}[f"{y[0]:.1f}"]) * y[1],
    "float of a length": lambda y: float(len(f"{y[0]:.1f}")) * y[1],
    "float of a branch": lambda y: float("3" if f"{y[0]:.1f}" == "0.7" else "4") * y[1],
    "shown": lambda y: print(f"{y[0]:.3f}".strip(), file=io.StringIO()) or y[1] * 1.0,
}
"""Text that decides, or is shown."""


@pytest.mark.parametrize("name", OPEN)
def test_text_that_is_no_number_is_free(name: str) -> None:
    for transform in (fg.grad, lambda f: fg.jit(fg.grad(f))):
        np.testing.assert_allclose(transform(OPEN[name])(Y), differences(OPEN[name]), rtol=1e-6, atol=1e-9)
