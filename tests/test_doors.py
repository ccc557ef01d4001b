"""Every way in which a traced number might leave as an ordinary one, and what each does.

A door either keeps the gradient (compared with finite differences), or is closed by an error, or is open
because no gradient passes through it. A gradient of zeros without a word is a failure in all of them.
"""

from __future__ import annotations

import array
import ast
import cmath
import contextlib
import copy
import ctypes
import datetime as dt
import decimal
import fractions
import functools
import io
import itertools
import json
import logging
import math
import operator
import pickle
import random
import statistics
import struct
import warnings
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest
import scipy.fft
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.ndimage
import scipy.optimize
import scipy.signal
import scipy.sparse
import scipy.special
import scipy.stats

import funcgrad as fg
from funcgrad.errors import FuncgradError

pd = pytest.importorskip("pandas")

Y = np.array([0.7, 1.3, 0.4])
Door = Callable[[Any], Any]

quad, brentq = scipy.integrate.quad, scipy.optimize.brentq


def stored(store: Callable[[Any, Any], Any]) -> Door:
    """A function that stores into an array of NumPy's and adds up what is there."""

    def through(y: Any) -> Any:
        z = PLAIN(3)
        store(z, y)
        return z.sum() * 1.0

    return through


PLAIN = functools.partial(np.zeros)
"""Makes arrays of NumPy's that no trace sees."""


def by_index(z: Any, y: Any) -> None:
    z[0] = y[0]


def by_slice(z: Any, y: Any) -> None:
    z[:2] = y[:2]


def in_place(z: Any, y: Any) -> None:
    z += y


def one_in_place(z: Any, y: Any) -> None:
    z[0] += y[0]


def by_flat(z: Any, y: Any) -> None:
    z.flat[0] = y[0]


def into_a_field(z: Any, y: Any) -> None:
    record = np.zeros(2, dtype=[("a", float)])
    record["a"][0] = y[0]


STORES: dict[str, Callable[[Any, Any], Any]] = {
    "z[0] = t": by_index,
    "z[:2] = t": by_slice,
    "z += t": in_place,
    "z[0] += t": one_in_place,
    "z.flat[0] = t": by_flat,
    "z['a'][0] = t": into_a_field,
    "z.__setitem__": lambda z, y: z.__setitem__(0, y[0]),
    "operator.setitem": lambda z, y: operator.setitem(z, 0, y[0]),
    "z.fill": lambda z, y: z.fill(y[0]),
    "z.put": lambda z, y: z.put([0], y[0]),
    "np.put": lambda z, y: np.put(z, [0], y[0]),
    "np.copyto": np.copyto,
    "np.place": lambda z, y: np.place(z, [True, False, True], y[:2]),
    "np.putmask": lambda z, y: np.putmask(z, [True, False, True], y),
    "np.fill_diagonal": lambda z, y: np.fill_diagonal(np.outer(z, z), y),
    "np.exp(out=)": lambda z, y: np.exp(y, out=z),
    "np.sum(out=)": lambda z, y: np.sum(y, axis=0, out=z[0]),
    "np.add.at": lambda z, y: np.add.at(z, [0], y[:1]),
}


@numba.njit
def jitted_by_numba(v: Any) -> Any:
    return v * 2.0


@numba.vectorize
def vectorized_by_numba(v: Any) -> Any:
    return v * 2.5


def generator() -> Any:
    return np.random.default_rng(0)


CLOSED: dict[str, Door] = {
    # Python's own
    "float": lambda y: float(y[0]) * y[1],
    "return float(loss)": lambda y: float(np.sum(y * y)),
    "complex": lambda y: complex(y[0]).real * y[1],
    "item": lambda y: y[0].item() * y[1],
    "item(k)": lambda y: y.item(1) * y[1],
    "tolist": lambda y: sum(y.tolist()) * y[0],
    "sum(map(float, y))": lambda y: sum(map(float, y)) * y[0],
    "[float(v) for v in y]": lambda y: sum([float(v) for v in y]) * y[0],
    "operator.index": lambda y: operator.index(y[0]) * y[1],
    "[1, 2, 3][t]": lambda y: [1, 2, 3][y[0]] * y[1],
    "range(t)": lambda y: sum([y[0] for _ in range(y[1])]),
    "bytes": lambda y: len(bytes(y[0])) * y[1],
    "memoryview": lambda y: memoryview(y)[0] * y[0],
    "'%.6f' % t read back": lambda y: float("%.6f" % y[0]) * y[1],  # noqa: UP031 - the older way is meant
    "f'{t:.6f}' read back": lambda y: sum(float(s) for s in [f"{v:.6f}" for v in y]) * y[0],
    "'{:.6f}'.format(t) read back": lambda y: float("{:.6f}".format(y[0])) * y[1],  # noqa: UP032 - the older way is meant
    "Decimal(f'{t:.6f}')": lambda y: float(decimal.Decimal(f"{y[0]:.6f}")) * y[1],
    "Fraction(f'{t:.6f}')": lambda y: float(fractions.Fraction(f"{y[0]:.6f}")) * y[1],
    "literal_eval(f'{t:.6f}')": lambda y: ast.literal_eval(f"{y[0]:.6f}") * y[1],
    "eval(f'{t:.6f}')": lambda y: eval(f"{y[0]:.6f}") * y[1],
    "json.loads(f'{t:.6f}')": lambda y: json.loads(f"{y[0]:.6f}") * y[1],
    "Decimal('%.6f' % t)": lambda y: float(decimal.Decimal("%.6f" % y[0])) * y[1],  # noqa: UP031
    "a set": lambda y: sum({y[0], y[1]}),
    "str(t) read back": lambda y: float(str(y[0])) * y[1],
    "np.nditer of several": lambda y: sum([u * v for u, v in np.nditer([y, y])]),
    "dict key": lambda y: {y[0]: 1.0}[y[0]] * y[1],
    "lru_cache": lambda y: functools.lru_cache(lambda v: v * 2.0)(y[0]),
    # the standard library
    "math.exp": lambda y: math.exp(y[0]) * y[1],
    "math.fsum": lambda y: math.fsum(y) * y[1],
    "math.hypot": lambda y: math.hypot(y[0], y[1]) * y[1],
    "math.dist": lambda y: math.dist(y, [1.0, 2.0, 3.0]) * y[1],
    "math.pow": lambda y: math.pow(y[0], 2) * y[1],
    "math.atan2": lambda y: math.atan2(y[0], y[1]) * y[1],
    "math.fmod": lambda y: math.fmod(y[1], y[0]) * y[1],
    "math.gamma": lambda y: math.gamma(y[1]) * y[1],
    "math.modf": lambda y: math.modf(y[1])[0] * y[1],
    "math.frexp": lambda y: math.frexp(y[1])[0] * y[1],
    "math.ldexp": lambda y: math.ldexp(y[1], 2) * y[1],
    "cmath.exp": lambda y: cmath.exp(y[0]).real * y[1],
    "cmath.polar": lambda y: cmath.polar(y[0])[0] * y[1],
    "statistics.fmean": lambda y: statistics.fmean(y) * y[1],
    "statistics.mean": lambda y: statistics.mean(y) * y[1],
    "statistics.stdev": lambda y: statistics.stdev(y) * y[1],
    "ctypes.c_double": lambda y: ctypes.c_double(y[0]).value * y[1],
    "struct.pack": lambda y: struct.unpack("d", struct.pack("d", y[0]))[0] * y[1],
    "struct.pack_into": lambda y: struct.pack_into("d", bytearray(8), 0, y[0]) or y[1],
    "array.array": lambda y: sum(array.array("d", [y[0]])) * y[1],
    "array.append": lambda y: array.array("d").append(y[0]) or y[1],
    "decimal.Decimal": lambda y: float(decimal.Decimal(y[0])) * y[1],
    "fractions.Fraction": lambda y: float(fractions.Fraction(y[0])) * y[1],
    "json.dumps": lambda y: json.loads(json.dumps(y[0])) * y[1],
    "pickle.dumps": lambda y: pickle.loads(pickle.dumps(y[0])) * y[1],
    "datetime.timedelta": lambda y: dt.timedelta(seconds=y[0]).total_seconds() * y[1],
    # NumPy's
    "np.float64": lambda y: np.float64(y[0]) * y[1],
    "np.float32": lambda y: np.float32(y[0]) * y[1],
    "np.complex128": lambda y: np.complex128(y[0]).real * y[1],
    "np.ma.array": lambda y: np.ma.array(y).sum() * y[0],
    "np.frombuffer": lambda y: np.frombuffer(y).sum() * y[0],
    "np.nditer": lambda y: sum([v for v in np.nditer(y)]) * y[0],  # noqa: C416 - the iterator is meant
    "np.ndenumerate": lambda y: sum([v for _, v in np.ndenumerate(y)]) * y[0],
    "np.frompyfunc": lambda y: np.frompyfunc(lambda v: v * 2, 1, 1)(y).sum(),
    "np.polynomial.Polynomial": lambda y: np.polynomial.Polynomial(y)(2.0),
    "y.tobytes": lambda y: len(y.tobytes()) * y[0],
    "np.save": lambda y: np.save(io.BytesIO(), y) or y[0],
    "np.savetxt": lambda y: np.savetxt(io.StringIO(), y) or y[0],
    "np.savetxt of a list": lambda y: np.savetxt(io.StringIO(), [y[0], 2.0]) or y[0],
    "np.savetxt of an array": lambda y: np.savetxt(io.StringIO(), np.array([y[0], y[1]])) or y[0],
    "float(np.array2string(t))": lambda y: float(np.array2string(y[0])) * y[1],
    "float(np.array_str(t))": lambda y: float(np.array_str(y[0])) * y[1],
    "rng.normal(t)": lambda y: generator().normal(y[0]) * y[1],
    "rng.normal(y)": lambda y: generator().normal(y).sum() * y[1],
    "rng.normal(loc=t)": lambda y: generator().normal(loc=y[0], scale=y[1]),
    "rng.exponential": lambda y: generator().exponential(y[0]) * y[1],
    "rng.uniform": lambda y: generator().uniform(0.0, y[0]) * y[1],
    "rng.multivariate_normal": lambda y: generator().multivariate_normal(y, np.eye(3)).sum(),
    "rng.choice": lambda y: generator().choice(y) * 1.0,
    "rng.choice(p=)": lambda y: generator().choice(3, p=y / y.sum()) * y[0],
    "rng.permutation": lambda y: (generator().permutation(y) ** 2).sum(),
    "np.random.normal": lambda y: np.random.normal(y[0]) * y[1],  # noqa: NPY002 - a door, too
    "np.random.poisson": lambda y: np.random.poisson(y[0]) * y[1],  # noqa: NPY002 - a door, too
    # SciPy's, with callbacks from C among them
    "quad: integrand": lambda y: quad(lambda s: s * y[0], 0, 1)[0],
    "quad: args": lambda y: quad(lambda s, a: s * a, 0, 1, args=(y[0],))[0],
    "quad: limits": lambda y: quad(lambda s: s, 0, y[0])[0],
    "dblquad": lambda y: scipy.integrate.dblquad(lambda s, u: s * y[0], 0, 1, 0, 1)[0],
    "brentq: function": lambda y: brentq(lambda s: s - y[0], 0, 2),
    "brentq: args": lambda y: brentq(lambda s, a: s - a, 0, 2, args=(y[0],)),
    "brentq: limits": lambda y: brentq(lambda s: s - 0.5, 0, y[0]),
    "bisect": lambda y: scipy.optimize.bisect(lambda s: s - y[0], 0, 2),
    "ridder": lambda y: scipy.optimize.ridder(lambda s: s - y[0], 0, 2),
    "root_scalar": lambda y: scipy.optimize.root_scalar(lambda s: s - y[0], bracket=(0, 2)).root,
    "fsolve": lambda y: scipy.optimize.fsolve(lambda s: s - y[0], 0.5)[0],
    "root": lambda y: scipy.optimize.root(lambda s: s - y[0], 0.5).x[0],
    "minimize": lambda y: scipy.optimize.minimize(lambda s: (s[0] - y[0]) ** 2, [0.5]).x[0],
    "minimize: start": lambda y: 1e-6 * scipy.optimize.minimize(lambda s: (s**2).sum(), y).x[0],
    "minimize_scalar": lambda y: (
        scipy.optimize.minimize_scalar(lambda s: (s - y[0]) ** 2, bounds=(0, 2), method="bounded").x
    ),
    "least_squares": lambda y: scipy.optimize.least_squares(lambda s: s - y[0], [0.5]).x[0],
    "leastsq": lambda y: scipy.optimize.leastsq(lambda s: s - y[0], [0.5])[0][0],
    "curve_fit": lambda y: scipy.optimize.curve_fit(lambda s, a: s * a, np.arange(3.0), y)[0][0],
    "linprog": lambda y: scipy.optimize.linprog(y, bounds=(0.5, 1)).fun,
    "odeint": lambda y: scipy.integrate.odeint(lambda s, t: -s * y[0], 1.0, [0, 1.0])[-1, 0],
    "odeint: start": lambda y: scipy.integrate.odeint(lambda s, t: -s, y, [0, 1.0])[-1, 0],
    "solve_ivp": lambda y: scipy.integrate.solve_ivp(
        lambda t, s: -s * y[0], (0, 1), [1.0], rtol=1e-9, atol=1e-9
    ).y[0, -1],
    "lfilter": lambda y: scipy.signal.lfilter([1.0], [1.0, 0.5], y).sum(),
    "lfilter: list": lambda y: scipy.signal.lfilter([y[0]], [1.0, 0.5], np.ones(3)).sum(),
    "signal.convolve": lambda y: scipy.signal.convolve(y, np.ones(2)).sum(),
    "linalg.expm": lambda y: scipy.linalg.expm(np.array([[0, y[0]], [-y[1], -0.1]])).sum(),
    "linalg.cholesky": lambda y: scipy.linalg.cholesky(np.array([[y[0] + 3, 0], [0, 2.0]])).sum(),
    "linalg.solve": lambda y: scipy.linalg.solve(np.eye(3), y).sum(),
    "CubicSpline": lambda y: scipy.interpolate.CubicSpline(np.arange(3.0), [y[0], y[1], 2.0])(0.5),
    "CubicSpline(y)": lambda y: scipy.interpolate.CubicSpline(np.arange(3.0), y)(0.5) * 1.0,
    "interp1d": lambda y: scipy.interpolate.interp1d(np.arange(3.0), y)(0.5) * 1.0,
    "stats.norm.pdf": lambda y: scipy.stats.norm.pdf(y[0]),
    "ndimage.gaussian_filter": lambda y: scipy.ndimage.gaussian_filter(y, 1).sum(),
    "sparse.csr_matrix": lambda y: scipy.sparse.csr_matrix((y, ([0, 1, 2], [0, 1, 2]))).sum(),
    # other packages'
    "numba.vectorize": lambda y: vectorized_by_numba(y).sum(),
    "pandas.Series": lambda y: pd.Series(y).sum() * y[0],
    "pandas.DataFrame": lambda y: pd.DataFrame({"a": y})["a"].sum() * y[0],
    "series[0] = t": lambda y: pd.Series([1.0, 2.0, 3.0]).__setitem__(0, y[0]) or y[0],
}

KEPT: dict[str, Door] = {
    "sparse @": lambda y: (scipy.sparse.csr_matrix(np.diag([1.0, 2, 3])) @ y).sum(),
    "math.prod": math.prod,
    "sum": sum,
    "max": max,
    "sorted": lambda y: sorted(y)[0],
    "abs": lambda y: abs(y[0]) * y[1],
    "divmod": lambda y: divmod(y[1], y[0])[1],
    "pow": lambda y: pow(y[0], 3),
    "round(t, 2)": lambda y: round(y[1], 2) * y[0],
    "operator.mul": lambda y: functools.reduce(operator.mul, y),
    "itertools.accumulate": lambda y: list(itertools.accumulate(y))[-1],
    "copy": lambda y: copy.copy(y)[0] * copy.deepcopy(y)[1],
    "random.gauss": lambda y: random.Random(0).gauss(y[0], y[1]),
    "random.uniform": lambda y: random.Random(0).uniform(y[0], y[1]),
    "statistics.median": lambda y: statistics.median(y) * y[1],
    "y.flat": lambda y: sum([v * v for v in y.flat]),
    "np.array([t, u])": lambda y: np.array([y[0], y[1]]).sum() * y[0],
    "np.dot of lists": lambda y: np.dot([y[0], y[1]], [1.0, 2.0]),
    "np.dot of arrays": lambda y: np.dot(np.array([y[0], y[1]]), np.array([y[1], y[1]])),
    "np.stack": lambda y: np.stack([y[0], y[1]]).mean() * y[0],
    "np.concatenate": lambda y: np.concatenate([y, y]).std() * y[0],
    "np.linspace": lambda y: np.linspace(0, y[0], 4).sum() * y[0],
    "np.poly1d": lambda y: np.poly1d(y)(2.0),
    "np.polyval": lambda y: np.polyval([y[0], y[1]], 2.0),
    "np.polyfit": lambda y: np.polyfit(np.arange(3.0), y, 1)[0],
    "np.unique": lambda y: (np.unique(y) ** 2).sum(),
    "np.piecewise": lambda y: np.piecewise(y, [y > 0.5], [lambda v: v**2, 0.0]).sum(),
    "np.select": lambda y: np.select([y > 0.5], [y**2], 0.0).sum(),
    "np.apply_along_axis": lambda y: np.apply_along_axis(lambda r: r**2, 0, y).sum(),
    "scipy.special.expit": lambda y: scipy.special.expit(y[0]),
    "scipy.special.gammaln": lambda y: scipy.special.gammaln(y).sum(),
    "scipy.optimize.newton": lambda y: scipy.optimize.newton(lambda s: s - y[0], 0.5),
    "numba.njit": lambda y: jitted_by_numba(y[0]) * y[1],
    "numba.njit(y)": lambda y: jitted_by_numba(y).sum(),
    "series.to_numpy() * y": lambda y: (pd.Series([1.0, 2.0, 3.0]).to_numpy() * y).sum(),
}


def logged(y: Any) -> Any:
    logger = logging.Logger("doors")
    stream = io.StringIO()
    logger.addHandler(logging.StreamHandler(stream))
    logger.warning("%f %s", y[0], y[1])
    return y[0] * stream.getvalue().count("\n")


def printed(y: Any) -> Any:
    stream = io.StringIO()
    print(y[0], f"{float(y[1]):.2f}", file=stream)
    return y[0] * stream.getvalue().count("\n")


def shaped(y: Any) -> Any:
    rng = np.random.default_rng(0)
    return y[0] * rng.random(int(y[1] * 3)).sum()


OPEN: dict[str, Door] = {
    "fft.rfft": lambda y: np.abs(scipy.fft.rfft(np.array([y[0], 1.0, y[1]]))).sum(),
    "bool": lambda y: y[0] if y[0] > 0.1 else y[1],
    "if y.any()": lambda y: y[0] if (y > 1.0).any() else y[1],
    "int": lambda y: int(y[1]) * y[0],
    "round": lambda y: round(y[1]) * y[0],
    "math.floor": lambda y: math.floor(y[1]) * y[0],
    "math.ceil": lambda y: math.ceil(y[1]) * y[0],
    "math.trunc": lambda y: math.trunc(y[1]) * y[0],
    "range(int(t))": lambda y: sum([y[0] for _ in range(int(y[1] * 3))]),
    "math.isnan": lambda y: y[0] * 2 if not math.isnan(y[0]) else y[1],
    "math.isfinite": lambda y: y[0] * 2 if math.isfinite(y[0]) else y[1],
    "math.isclose": lambda y: y[0] * (not math.isclose(y[0], 5.0)),
    "if float(t) < 1": lambda y: y[0] if float(y[0]) < 1.0 else y[1],
    "while item()": lambda y: y[0] * 2 if y[1].item() > 0.0 else y[1],
    "f'{t:.3f}'": lambda y: y[0] * len(f"{y[1]:.3f}"),
    "f'{t}'": lambda y: y[0] * (len(f"{y[1]}") > 0),
    "f'{float(t):.3f}'": lambda y: y[0] * len(f"{float(y[1]):.3f}"),
    "'{:.2f}'.format": lambda y: y[0] * len("{:.2f}".format(y[1])),  # noqa: UP032 - the method is meant
    "'%.2f' % t": lambda y: y[0] * len("%.2f" % y[1]),  # noqa: UP031 - the operator is meant
    "'%.2f %d' % (t, u)": lambda y: y[0] * len("%.2f %d" % (y[1], y[0])),  # noqa: UP031
    "str": lambda y: y[0] * (len(str(y[1])) > 0),
    "print": printed,
    "logging": logged,
    "np.array2string": lambda y: y[0] * (len(np.array2string(y)) > 0),
    "np.argmax": lambda y: y[np.argmax(y)],
    "np.argsort": lambda y: y[np.argsort(y)][0],
    "np.allclose": lambda y: y[0] * (not np.allclose(y, 5.0)),
    "np.testing": lambda y: np.testing.assert_allclose(y, Y, rtol=1e-3) or y[0],
    "float of a count": lambda y: y[0] * float((y > 0.5).sum()),
    "asarray of a mask": lambda y: y[0] * np.asarray(y > 0.5).sum(),
    "float(np.floor(t))": lambda y: float(np.floor(y[1])) * y[0],
    "float(np.where(...))": lambda y: float(np.where(y[1] > 1.0, 2.0, 3.0)) * y[0],
    "size of a draw": shaped,
}

stop = fg.stop_gradient
STOPPED: dict[str, Callable[[Any], Any]] = {
    "float": lambda c: float(c[0]),
    "of an expression": lambda c: float(2.0 * c[0] + c.sum()),
    "item": lambda c: c[0].item(),
    "tolist": lambda c: sum(c.tolist()),
    "complex": lambda c: complex(c[0]).real,
    "np.asarray": lambda c: np.asarray(c).sum(),
    "np.asarray(dtype=float)": lambda c: np.asarray(c, dtype=float).sum(),
    "np.float64": lambda c: np.float64(c[0]),
    "math.exp": lambda c: math.exp(c[0]),
    "statistics.fmean": statistics.fmean,
    "z[0] = t": stored(by_index),
    "z[:2] = t": stored(by_slice),
    "quad": lambda c: quad(lambda s: s * c[0], 0, 1)[0],
    "brentq": lambda c: brentq(lambda s: s - c[0], 0, 2),
    "linalg.expm": lambda c: scipy.linalg.expm(np.asarray(c)[:1, None]).sum(),
    "rng.normal": lambda c: generator().normal(c[0]),
    "pandas": lambda c: pd.Series(np.asarray(c)).sum(),
    "struct.pack": lambda c: len(struct.pack("d", c[0])),
    "ctypes": lambda c: ctypes.c_double(c[0]).value,
}


def differences(f: Door) -> Any:
    """Central differences of the function at Y."""
    slopes = []
    for k in range(Y.size):
        step = np.zeros(Y.size)
        step[k] = 1e-6
        slopes.append((seeded(f, Y + step) - seeded(f, Y - step)) / 2e-6)
    return np.array(slopes)


def seeded(f: Callable[..., Any], *args: Any) -> Any:
    """What a function gives, with the same draws in every call."""
    np.random.seed(0)  # noqa: NPY002 - the generator that doors reach for
    return f(*args)


def test_there_are_enough_doors() -> None:
    assert len(STORES) + len(CLOSED) + len(KEPT) + len(OPEN) + len(STOPPED) >= 160


@pytest.mark.parametrize("name", STORES)
def test_stores_into_arrays_of_numpys_are_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUNCGRAD_CONSTRUCTORS", "0")
    with pytest.raises(FuncgradError, match=r"test_doors\.py") as caught:
        fg.grad(stored(STORES[name]))(Y)
    assert "NumPy array, which cannot hold it" in str(caught.value) or "into a number here" in str(
        caught.value
    )


@pytest.mark.parametrize("name", list(CLOSED))
def test_closed(name: str, capfd: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUNCGRAD_CONSTRUCTORS", "0")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", DeprecationWarning)  # SciPy's, of arrays of objects
        with pytest.raises(FuncgradError) as caught:
            fg.grad(CLOSED[name])(Y)
    text = str(caught.value)
    assert "test_doors.py" in text
    assert "^" in text
    assert text.splitlines()[-1].startswith("  ")  # the next step
    assert "Traceback" not in capfd.readouterr().err


def right_or_refused(gradient: Callable[[], Any], door: Door) -> None:
    """Either there is an error, or the gradient is that of finite differences."""
    try:
        found = seeded(gradient)
    except (TypeError, AttributeError, FuncgradError):
        return
    np.testing.assert_allclose(found, differences(door), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", CLOSED)
def test_closed_or_right_as_the_users_function_is_seen(name: str) -> None:
    """Where calls of SciPy's functions are seen, ours are called in their place."""
    right_or_refused(lambda: fg.grad(CLOSED[name])(Y), CLOSED[name])


@pytest.mark.parametrize("name", CLOSED)
@pytest.mark.parametrize("transform", [fg.jit, fg.vmap], ids=["jit", "vmap"])
def test_closed_or_right_without_values(name: str, transform: Any) -> None:
    slope = fg.grad(CLOSED[name])
    batched = transform is fg.vmap
    right_or_refused(lambda: transform(slope)(Y[None])[0] if batched else transform(slope)(Y), CLOSED[name])


@pytest.mark.parametrize("name", KEPT)
def test_kept(name: str) -> None:
    np.testing.assert_allclose(fg.grad(KEPT[name])(Y), differences(KEPT[name]), rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("name", OPEN)
def test_open(name: str) -> None:
    np.testing.assert_allclose(fg.grad(OPEN[name])(Y), differences(OPEN[name]), rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("name", STOPPED)
def test_open_behind_stop_gradient(name: str) -> None:
    door = STOPPED[name]
    found = fg.grad(lambda y: y[1] * door(stop(y)))(Y)
    np.testing.assert_allclose(found, [0.0, door(Y), 0.0])


def test_plots_of_what_is_stopped() -> None:
    figure = pytest.importorskip("matplotlib.figure")

    def f(y: Any) -> Any:
        axes = figure.Figure().subplots()
        (line,) = axes.plot(np.asarray(stop(y)))
        axes.set_title(f"{y[0]:.2f}")
        return y[0] * line.get_ydata().size

    np.testing.assert_allclose(fg.grad(f)(Y), [3.0, 0.0, 0.0])
    with pytest.raises(FuncgradError):
        fg.grad(lambda y: figure.Figure().subplots().plot(y)[0].get_ydata().sum() * y[0])(Y)


def test_an_objective_that_ends_in_float_is_told_so() -> None:
    def objective(w: Any) -> Any:
        return float(np.sum((w - 3.0) ** 2))

    with pytest.raises(FuncgradError, match=r"Leave out float\(\)"):
        scipy.optimize.minimize(fg.value_and_grad(objective), np.zeros(3), jac=True)


def test_a_refusal_that_the_user_handles_is_over_where_nothing_is_lost() -> None:
    def as_it_is(y: Any) -> Any:
        try:
            t = float(y[0])
        except TypeError:
            t = y[0]
        return t * t

    slope = 2.0 * Y * [1.0, 0.0, 0.0]
    for transformed in (fg.grad(as_it_is), fg.jit(fg.grad(as_it_is)), fg.jacfwd(as_it_is)):
        np.testing.assert_allclose(transformed(Y), slope)

    def other(y: Any) -> Any:
        try:
            return float(y[0]) * y[1]
        except Exception:  # noqa: BLE001 - as people write it
            return y[0] * 2.0

    for transformed in (fg.grad(other), fg.jacfwd(other)):
        with pytest.raises(FuncgradError, match=r"float\(\) takes the value"):
            transformed(Y)
    np.testing.assert_allclose(fg.vmap(other)(np.stack([Y, 2.0 * Y])), [other(Y), other(2.0 * Y)])
    np.testing.assert_allclose(fg.jit(fg.grad(other))(Y), [Y[1], Y[0], 0.0])

    def elsewhere(y: Any) -> Any:
        picked = 0.0
        with contextlib.suppress(Exception):
            picked = np.sum(y[: int(y[0])]) + y[np.argmax(y)]
        return picked * y[1]

    np.testing.assert_allclose(fg.jit(elsewhere)(Y), elsewhere(Y))

    def fails(y: Any) -> Any:
        try:
            float(y[0])
        except TypeError as error:
            raise ValueError("no number") from error

    with pytest.raises(ValueError, match="no number"):
        fg.grad(fails)(Y)


def test_values_in_nested_transforms() -> None:
    def inner(t: Any, y: Any) -> Any:
        return t * float(y)

    with pytest.raises(FuncgradError, match="drop its gradient"):
        fg.grad(lambda y: fg.grad(inner)(1.0, y))(2.0)
    assert fg.grad(lambda y: fg.grad(inner)(1.0, stop(y)) * y)(2.0) == 2.0
    assert fg.grad(inner)(1.0, 2.0) == 2.0


def written_to_a_stream(y: Any) -> Any:
    stream = io.StringIO()
    print(f"{y[0]:.6f}", file=stream)
    return float(stream.getvalue()) * y[1]


def test_numbers_that_were_counted_are_keys_under_jit_too() -> None:
    def f(y: Any) -> Any:
        found = {0: y[1], 1: y[2] ** 2, 2: y[0] * y[1]}
        return found[int(y[0] * 2.0)] * y[0]

    jitted = fg.jit(fg.grad(f))
    for y in (Y, Y * 0.5, Y * 1.7, Y):
        np.testing.assert_allclose(jitted(y), fg.grad(f)(y))


def test_text_of_which_nothing_is_known_is_text() -> None:
    """The limit that docs/design/values-while-recording.md states: what may be printed may be read back."""
    doors: list[Door] = [
        lambda y: np.fromstring(np.array2string(y)[1:-1], sep=" ")[0] * y[1],
        written_to_a_stream,
    ]
    for door in doors:
        np.testing.assert_allclose(fg.grad(door)(Y), [0.0, Y[0], 0.0])


def test_powers_of_negative_numbers_are_numpys() -> None:
    def power(x: Any) -> Any:
        return (-8.0) ** x

    assert isinstance(power(0.5), complex)
    assert np.isnan(fg.value_and_grad(power)(0.5)).all()
    assert np.isnan(fg.jit(fg.grad(power))(0.5))
