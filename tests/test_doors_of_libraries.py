"""More doors: the standard library's, NumPy's corners, SciPy's callbacks, pandas, Numba; see `test_doors`.

Whether one is closed or keeps the gradient is not asked: what none may do is to lose it without a word.
"""

from __future__ import annotations

import base64
import cmath
import collections
import copy
import ctypes
import dataclasses
import datetime as dt
import decimal
import fractions
import functools
import heapq
import math
import operator
import random
import statistics
import struct
import zlib
from concurrent import futures
from typing import Any

import numba
import numpy as np
import pytest
import scipy.linalg as linalg
from scipy import integrate, interpolate, ndimage, optimize, signal, sparse, spatial, stats
from scipy.cluster import hierarchy
from scipy.spatial import distance

import funcgrad as fg
from funcgrad.errors import FuncgradError
from tests.test_doors import Door, Y, differences, pd

pytestmark = pytest.mark.filterwarnings("ignore")


@functools.cache
def squared_in_c() -> Any:
    """A C function of Numba's."""
    return numba.cfunc("float64(float64)")(lambda a: a * a)


@functools.cache
def over_rows() -> Any:
    """A generalized ufunc of Numba's."""

    def of_row(a: Any, out: Any) -> None:
        out[0] = a[0] * a[0] + a[1]

    return numba.guvectorize(["void(float64[:], float64[:])"], "(n)->()")(of_row)


@functools.cache
def as_object() -> Any:
    """A function that Numba runs as Python does."""
    return numba.jit(forceobj=True)(lambda a: a * a)


@functools.cache
def neighbours() -> Any:
    """A stencil of Numba's."""
    return numba.stencil(lambda a: a[-1] + a[1])


@functools.singledispatch
def dispatched(x: Any) -> Any:
    """A function that has another one for floats."""
    return x * x


@dispatched.register(float)
def _(x: float) -> Any:
    return x * x


Named = collections.namedtuple("Named", "a b")


@dataclasses.dataclass
class Pair:
    """Two numbers."""

    a: Any
    b: Any


DOORS: dict[str, Door] = {
    "singledispatch": lambda y: dispatched(y[0]) * y[1],
    "heapq": lambda y: heapq.nsmallest(2, list(y))[1] * y[1],
    "heapq.merge": lambda y: sum(a * (i + 1.0) for i, a in enumerate(heapq.merge([y[0]], [y[1]], [y[2]]))),
    "random.choices weights": lambda y: random.Random(0).choices([1.0, 2.0], weights=[y[0], y[1]])[0] * y[1],
    "random.triangular": lambda y: random.Random(0).triangular(0, y[0]) * y[1],
    "random.betavariate": lambda y: random.Random(0).betavariate(y[0], y[1]) * y[1],
    "statistics.variance": lambda y: statistics.variance(y) * y[1],
    "statistics.harmonic_mean": lambda y: statistics.harmonic_mean(y) * y[1],
    "statistics.NormalDist": lambda y: statistics.NormalDist(y[0], 1.0).cdf(0.3) * y[1],
    "statistics.NormalDist.pdf": lambda y: statistics.NormalDist(0, 1.0).pdf(y[0]) * y[1],
    "statistics.quantiles": lambda y: statistics.quantiles(list(y))[0] * y[1],
    "statistics.linear_regression": lambda y: statistics.linear_regression([1.0, 2.0, 3.0], y).slope * y[1],
    "math.copysign": lambda y: math.copysign(y[0], 1.0) * y[1],
    "math.nextafter": lambda y: math.nextafter(y[0], 2.0) * y[1],
    "math.remainder": lambda y: math.remainder(y[0], 0.3) * y[1],
    "cmath.rect": lambda y: cmath.rect(y[0], 1.0).real * y[1],
    "Fraction(t)": lambda y: float(fractions.Fraction(y[0])) * y[1],
    "Decimal ctx": lambda y: float(decimal.Context().create_decimal(y[0])) * y[1],
    "timedelta*t": lambda y: (dt.timedelta(seconds=1) * y[0]).total_seconds() * y[1],
    "fromtimestamp": lambda y: dt.datetime.fromtimestamp(y[0], dt.UTC).timestamp() * y[1],
    "np.astype str": lambda y: y.astype(str).astype(float)[0] * y[1],
    "np.astype object": lambda y: y.astype(object)[0] * y[1],
    "np.array dtype=object": lambda y: np.array([y[0], y[1]], dtype=object).prod(),
    "y.view(int)": lambda y: y.view(np.int64)[0] * 1e-18 * y[1],
    "y.byteswap": lambda y: y.byteswap().byteswap()[0] * y[1],
    "y.data": lambda y: y.data[0] * y[1],
    "as_strided": lambda y: np.lib.stride_tricks.as_strided(y, (2, 2), (8, 8)).sum(axis=1).prod(),
    "np.broadcast": lambda y: sum(a * b for a, b in np.broadcast(y, 2 * y)),
    "np.vectorize otypes": lambda y: np.vectorize(lambda v: v * v, otypes=[float])(y).sum() * y[1],
    "np.vectorize sig": lambda y: np.vectorize(lambda v: (v * v).sum(), signature="(n)->()")(y) * y[1],
    "np.fromfunction": lambda y: np.fromfunction(lambda i: y[0] * i, (3,)).sum() * y[1],
    "np.piecewise scalars": lambda y: np.piecewise(y, [y > 0.5], [lambda v: v * v, y[0]]).sum() * y[1],
    "np.r_": lambda y: np.r_[y[0], y[1:], 2.0].prod(),
    "np.mgrid": lambda y: np.mgrid[0 : y[1] : 3j].sum() * y[0],
    "np.arange(t)": lambda y: np.arange(0.0, 3.0 * y[0], y[0]).sum() * y[1],
    "np.histogram weights": lambda y: np.histogram([0.1, 0.5, 0.9], bins=2, weights=y)[0][0] * y[1],
    "np.bincount weights": lambda y: np.bincount([0, 1, 1], weights=y)[1] * y[1],
    "np.ma.masked_array": lambda y: np.ma.masked_array(y, [0, 1, 0]).sum() * y[1],
    "np.rec": lambda y: np.rec.fromarrays([y, y]).f0.sum() * y[1],
    "copy.deepcopy": lambda y: copy.deepcopy(y)[0] * y[1],
    "asdict": lambda y: dataclasses.asdict(Pair(y[0], y[1]))["a"] * y[1],
    "namedtuple": lambda y: Named(*y[:2]).a * y[1],
    "zlib": lambda y: zlib.crc32(y) * 1e-9 * y[1],
    "base64": lambda y: np.frombuffer(base64.b64decode(base64.b64encode(y)))[0] * y[1],
    "bytearray": lambda y: bytearray(y)[0] * y[1],
    "struct iter": lambda y: struct.unpack("3d", struct.pack("3d", *y))[0] * y[1],
    "ctypes from_buffer": lambda y: (ctypes.c_double * 3).from_buffer(y)[0] * y[1],
    "cfunc.ctypes": lambda y: squared_in_c().ctypes(y[0]) * y[1],
    "thread": lambda y: futures.ThreadPoolExecutor(1).submit(lambda: y[0] * y[1]).result(),
    "thread float": lambda y: futures.ThreadPoolExecutor(1).submit(lambda: float(y[0])).result() * y[1],
    "partial": lambda y: functools.partial(math.exp, y[0])() * y[1],
    "numba gu": lambda y: over_rows()(y) * y[1],
    "numba object mode": lambda y: as_object()(y[0]) * y[1],
    "numba stencil": lambda y: neighbours()(y)[1] * y[1],
    "pandas rolling": lambda y: pd.Series(y).rolling(2).mean().iloc[1] * y[1],
    "pandas fillna": lambda y: pd.Series([1.0, np.nan]).fillna(y[0]).sum() * y[1],
    "pandas map": lambda y: pd.Series([0, 1, 2]).map({0: y[0], 1: y[1], 2: y[2]}).sum() * y[1],
    "pandas ewm": lambda y: pd.Series(np.arange(3.0)).ewm(alpha=y[2]).mean().iloc[2] * y[1],
    "tplquad": lambda y: integrate.tplquad(lambda a, b, c: y[0] * a, 0, 1, 0, 1, 0, 1)[0] * y[1],
    "toms748": lambda y: optimize.toms748(lambda v: v - y[0], 0, 2) * y[1],
    "fminbound": lambda y: optimize.fminbound(lambda v: (v - y[0]) ** 2, 0, 2) * y[1],
    "brute": lambda y: optimize.brute(lambda v: (v[0] - y[0]) ** 2, [(0, 2)], Ns=5)[0] * y[1],
    "nnls": lambda y: optimize.nnls(np.eye(3), y)[0].sum() * y[1],
    "linear_sum_assignment": lambda y: np.outer(y, y)[optimize.linear_sum_assignment(np.outer(y, y))].sum(),
    "approx_fprime": lambda y: optimize.approx_fprime(np.ones(2), lambda v: y[0] * v[0] ** 2)[0] * y[1],
    "generic_filter": lambda y: ndimage.generic_filter(np.ones(3), lambda w: w.sum() * y[0], 3).sum() * y[1],
    "geometric_transform": lambda y: (
        ndimage.geometric_transform(np.arange(3.0), lambda c: (c[0] * y[0],)).sum() * y[1]
    ),
    "map_coordinates": lambda y: ndimage.map_coordinates(np.arange(9.0), [y], order=1).sum() * y[1],
    "pdist callable": lambda y: (
        distance.pdist(np.arange(4.0).reshape(2, 2), lambda a, b: y[0] * abs(a - b).sum())[0] * y[1]
    ),
    "cdist callable": lambda y: (
        distance.cdist(np.ones((1, 2)), np.zeros((1, 2)), lambda a, b: y[0] * abs(a - b).sum())[0, 0] * y[1]
    ),
    "KDTree": lambda y: spatial.KDTree(y[:, None]).query([0.0])[0] * y[1],
    "Rotation": lambda y: spatial.transform.Rotation.from_euler("x", y[0]).as_matrix()[1, 2] * y[1],
    "linkage": lambda y: hierarchy.linkage(y[:, None])[0, 2] * y[1],
    "csr data": lambda y: sparse.csr_matrix((y, [0, 1, 2], [0, 1, 2, 3])).sum() * y[1],
    "splu": lambda y: sparse.linalg.splu(sparse.eye(3).tocsc() * 2).solve(y).sum() * y[1],
    "gmres op": lambda y: (
        sparse.linalg.gmres(sparse.linalg.LinearOperator((3, 3), lambda v: v * y[0]), np.ones(3))[0].sum()
        * y[1]
    ),
    "aslinearoperator": lambda y: (sparse.linalg.aslinearoperator(np.outer(y, y)) @ np.ones(3)).sum(),
    "splrep": lambda y: interpolate.splev(0.5, interpolate.splrep(np.arange(5.0), np.r_[y, y[:2]])) * y[1],
    "RegularGrid": lambda y: interpolate.RegularGridInterpolator((np.arange(3.0),), y)([0.5])[0] * y[1],
    "barycentric": lambda y: interpolate.BarycentricInterpolator([0, 1, 2.0], y)(0.5) * y[1],
    "sosfilt": lambda y: signal.sosfilt(signal.butter(2, 0.3, output="sos"), y).sum() * y[1],
    "lsim": lambda y: signal.lsim(([1.0], [1.0, y[0]]), np.ones(4), np.arange(4.0))[1].sum() * y[1],
    "st.norm.rvs loc": lambda y: stats.norm.rvs(loc=y[0], random_state=0) * y[1],
    "gaussian_kde": lambda y: stats.gaussian_kde(y)(0.5)[0] * y[1],
    "linregress": lambda y: stats.linregress(np.arange(3.0), y).slope * y[1],
    "rv_histogram": lambda y: stats.rv_histogram((y, [0, 1, 2, 3.0])).pdf(0.5) * y[1],
    "la.lapack": lambda y: linalg.lapack.dpotrf(np.outer(y, y) + np.eye(3))[0][0, 0] * y[1],
    "la.blas": lambda y: linalg.blas.ddot(y, y) * y[1],
    "la.toeplitz": lambda y: linalg.toeplitz(y).sum() * y[1],
    "t.__float__": lambda y: y[0].__float__() * y[1],
    "operator.itemgetter": lambda y: operator.itemgetter(0)(y) * y[1],
    "np.add.reduceat": lambda y: np.add.reduceat(y, [0, 1])[1] * y[1],
    "np.ufunc where": lambda y: np.exp(y, where=y > 0.5, out=np.zeros(3)).sum() * y[1],
    "np.insert": lambda y: np.insert(np.ones(3), 1, y[0]).sum() * y[1],
    "np.select default": lambda y: np.select([np.array([True, False])], [y[0]], y[1]).sum() * y[1],
    "Polynomial.fit": lambda y: np.polynomial.Polynomial.fit([0, 1, 2.0], y, 1)(0.5) * y[1],
    "RandomState.normal": lambda y: np.random.RandomState(0).normal(y[0]) * y[1],
    "np.from_dlpack": lambda y: np.from_dlpack(y)[0] * y[1],
}


@pytest.mark.parametrize("name", DOORS)
def test_no_gradient_is_lost_without_a_word(name: str) -> None:
    """With values (`grad`) and without (`jit`)."""
    door = DOORS[name]
    expected = differences(door)
    for transform in (fg.grad, lambda f: fg.jit(fg.grad(f))):
        try:
            found = transform(door)(Y)
        except (TypeError, AttributeError, ValueError, FuncgradError):
            continue
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-5)
