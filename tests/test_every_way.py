"""Every function that users call, in every way that they can call it.

One table: how a function is called, from the namespace that it is in, and on what. Each entry is evaluated,
recorded, differentiated forwards and backwards and twice, batched, nested both ways, and compiled. Values are
those of NumPy and SciPy, derivatives those of differences, batches those of loops.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.special

import funcgrad as fg
from funcgrad.errors import (
    ConcretizationError,
    NonScalarGradError,
    NotDifferentiableError,
    UnsupportedFunctionError,
)

Call = Callable[[Any, Any], Any]

X = np.array([0.31, 0.92, 0.47, 0.73])
M = np.array([[2.0, 0.3, -0.4], [0.1, 1.5, 0.2], [0.5, -0.3, 1.1]])
TALL = np.array([[1.0, 0.2], [-0.3, 1.4], [0.6, 0.5]])
K = np.array([0.5, -1.0, 0.25])


def spd(x: Any) -> Any:
    """A symmetric positive definite matrix made of any."""
    return x @ np.swapaxes(x, -1, -2) + 0.5 * np.eye(x.shape[-1])


def symmetric(x: Any) -> Any:
    """The symmetric part."""
    return (x + np.swapaxes(x, -1, -2)) / 2


def as_complex(x: Any) -> Any:
    """A complex matrix made of a real one."""
    return x + 1j * np.sin(x)


def stacked(x: Any) -> Any:
    """Two matrices of one."""
    return np.stack([x, x @ x])


# -- numpy --------------------------------------------------------------------------------------------------


ELEMENTWISE = (
    *("sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arctanh"),
    *(
        "asin",
        "acos",
        "atan",
        "asinh",
        "atanh",
        "exp",
        "exp2",
        "expm1",
        "log",
        "log2",
        "log10",
        "log1p",
        "sqrt",
    ),
    *("cbrt", "square", "reciprocal", "negative", "positive", "absolute", "abs", "fabs", "sign", "floor"),
    *(
        "ceil",
        "trunc",
        "rint",
        "round",
        "degrees",
        "radians",
        "deg2rad",
        "rad2deg",
        "sinc",
        "i0",
        "real",
        "imag",
    ),
    *("conj", "conjugate", "angle", "nan_to_num", "unwrap"),
)
BINARY = (
    *(
        "add",
        "subtract",
        "multiply",
        "divide",
        "true_divide",
        "power",
        "pow",
        "float_power",
        "arctan2",
        "atan2",
    ),
    *("hypot", "maximum", "minimum", "fmax", "fmin", "logaddexp", "logaddexp2", "mod", "remainder", "fmod"),
    *("copysign", "floor_divide", "heaviside", "nextafter"),
)
REDUCING = (
    *(
        "sum",
        "prod",
        "mean",
        "std",
        "var",
        "max",
        "min",
        "amax",
        "amin",
        "ptp",
        "median",
        "nansum",
        "nanprod",
    ),
    *("nanmean", "nanstd", "nanvar", "nanmax", "nanmin", "nanmedian", "cumsum", "cumprod", "nancumsum"),
    *("nancumprod", "sort", "flip", "diff", "gradient", "trapezoid"),
)
PAD_MODES = (
    *("constant", "edge", "linear_ramp", "maximum", "mean", "median", "minimum", "reflect", "symmetric"),
    "wrap",
)
NORMS: dict[str, tuple[Call, Any]] = {
    **{
        f"norm of order {order}": (lambda m, x, order=order: m.linalg.norm(x, order), M)
        for order in (None, "fro", "nuc", np.inf, -np.inf, 1, -1, 2, -2)
    },
    **{
        f"vector norm of order {order}": (lambda m, x, order=order: m.linalg.norm(x, order), X)
        for order in (None, np.inf, -np.inf, 1, 2, 3, 0.5, -1)
    },
    **{
        f"cond of order {order}": (lambda m, x, order=order: m.linalg.cond(x, order), M)
        for order in (None, 2, -2, 1, -1, np.inf, -np.inf, "fro", "nuc")
    },
}
NUMPY: dict[str, tuple[Call, Any]] = {
    **{f: (lambda m, x, f=f: getattr(m, f)(x), X) for f in ELEMENTWISE},
    "arccosh": (lambda m, x: m.arccosh(x + 1), X),
    "acosh": (lambda m, x: m.acosh(x + 1), X),
    **{f: (lambda m, x, f=f: getattr(m, f)(x, x[::-1] * 1.3), X) for f in BINARY},
    **{f: (lambda m, x, f=f: getattr(m, f)(x, axis=0), M) for f in REDUCING},
    **{f"pad, {mode}": (lambda m, x, mode=mode: m.pad(x, (2, 1), mode), X) for mode in PAD_MODES},
    "einsum": (lambda m, x: m.einsum("ij,jk,lk->il", x, x, x, optimize=True), M),
    "einsum with a path": (lambda m, x: m.einsum("ij,kj,k", x, x, x[0], optimize="greedy"), M),
    "interp": (lambda m, x: m.interp(x, np.array([0.0, 0.4, 1.0]), x[:3] ** 2), X),
    "convolve": (lambda m, x: m.convolve(x, x[:3], "same"), X),
    "correlate": (lambda m, x: m.correlate(x, x[:3] ** 2, "full"), X),
    "gradient of spaced points": (lambda m, x: m.gradient(x**2, np.cumsum(X)), X),
    "trapezoid over points": (lambda m, x: m.trapezoid(x, x**2), X),
    "cross": (lambda m, x: m.cross(x[:3], x[1:]), X),
    "percentile": (lambda m, x: m.percentile(x, [20, 75], axis=1), M),
    "quantile": (lambda m, x: m.quantile(x, 0.3), X),
    "nanpercentile": (lambda m, x: m.nanpercentile(x, 40), X),
    "nanquantile": (lambda m, x: m.nanquantile(x, [0.1, 0.8]), X),
    "histogram": (lambda m, x: m.histogram(X, 3, weights=x)[0], X),
    "polyval": (lambda m, x: m.polyval(x, x[:3]), X),
    "polyfit": (lambda m, x: m.polyfit(np.arange(4.0), x, 2), X),
    "vander": (lambda m, x: m.vander(x, 3), X),
    "select": (lambda m, x: m.select([x < 0.4, x < 0.8], [x**2, np.sin(x)], 2.0), X),
    "piecewise": (lambda m, x: m.piecewise(x, [x < 0.5], [np.sin, np.cos]), X),
    "choose": (lambda m, x: m.choose([0, 1, 1, 0], [x, x**2]), X),
    "apply_along_axis": (lambda m, x: m.apply_along_axis(np.prod, 1, x), M),
    "block": (lambda m, x: m.block([[x, x.T], [x @ x, x]]), M),
    "triu": (lambda m, x: m.triu(x * x, 1), M),
    "tril": (lambda m, x: m.tril(x * x, -1), M),
    "diag": (lambda m, x: m.diag(x * x), X),
    "diag of a matrix": (lambda m, x: m.diag(x * x, 1), M),
    "diagonal": (lambda m, x: m.diagonal(x * x), M),
    "trace": (lambda m, x: m.trace(x * x), M),
    "meshgrid": (lambda m, x: tuple(m.meshgrid(x * x, x[:2])), X),
    "average": (lambda m, x: m.average(x, weights=x**2), X),
    "cov": (lambda m, x: m.cov(x), M),
    "corrcoef": (lambda m, x: m.corrcoef(x), M),
    "bincount": (lambda m, x: m.bincount([0, 2, 2, 1], weights=x * x), X),
    "partition": (lambda m, x: m.sort(m.partition(x * x, 2)), X),
    "where": (lambda m, x: m.where(x < 0.5, x**2, np.log(x)), X),
    "clip": (lambda m, x: m.clip(x * x, 0.1, 0.6), X),
    "dot": (lambda m, x: m.dot(x, x), M),
    "matmul": (lambda m, x: m.matmul(x, x.T), M),
    "inner": (lambda m, x: m.inner(x, x), M),
    "outer": (lambda m, x: m.outer(x, x), X),
    "vdot": (lambda m, x: m.vdot(x, x), X),
    "vecdot": (lambda m, x: m.vecdot(x, x), M),
    "tensordot": (lambda m, x: m.tensordot(x, x, 1), M),
    "kron": (lambda m, x: m.kron(x, x), X),
    "concatenate": (lambda m, x: m.concatenate([x, x**2]), X),
    "concat": (lambda m, x: m.concat([x, x**2]), X),
    "stack": (lambda m, x: m.stack([x, x**2], axis=1), X),
    "vstack": (lambda m, x: m.vstack([x, x**2]), X),
    "hstack": (lambda m, x: m.hstack([x, x**2]), X),
    "column_stack": (lambda m, x: m.column_stack([x, x**2]), X),
    "split": (lambda m, x: m.split(x * x, 2), X),
    "array_split": (lambda m, x: m.array_split(x * x, 3), X),
    "tile": (lambda m, x: m.tile(x * x, 2), X),
    "repeat": (lambda m, x: m.repeat(x * x, 2), X),
    "roll": (lambda m, x: m.roll(x * x, 1), X),
    "rot90": (lambda m, x: m.rot90(x * x), M),
    "reshape": (lambda m, x: m.reshape(x * x, (9,)), M),
    "ravel": (lambda m, x: m.ravel(x * x), M),
    "transpose": (lambda m, x: m.transpose(x * x), M),
    "moveaxis": (lambda m, x: m.moveaxis(x * x, 0, 1), M),
    "swapaxes": (lambda m, x: m.swapaxes(x * x, 0, 1), M),
    "expand_dims": (lambda m, x: m.expand_dims(x * x, 1), X),
    "squeeze": (lambda m, x: m.squeeze((x * x)[None]), X),
    "broadcast_to": (lambda m, x: m.broadcast_to(x * x, (2, 4)), X),
    "take": (lambda m, x: m.take(x * x, [2, 0]), X),
    "take_along_axis": (lambda m, x: m.take_along_axis(x * x, np.array([[0], [2], [1]]), 1), M),
    "cumulative_sum": (lambda m, x: m.cumulative_sum(x * x, include_initial=True), X),
    "cumulative_prod": (lambda m, x: m.cumulative_prod(x * x), X),
    "polynomial product": (lambda m, x: m.polymul(x, x[:2]), X),
    "full_like": (lambda m, x: m.full_like(x, x[0]) * x, X),
    "insert": (lambda m, x: m.insert(x, 1, x[0] ** 2), X),
    "delete": (lambda m, x: m.delete(x**2, 1), X),
    "append": (lambda m, x: m.append(x, x**2), X),
    # -- linalg
    "solve": (lambda m, x: m.linalg.solve(x, x.T), M),
    "inv": (lambda m, x: m.linalg.inv(x), M),
    "det": (lambda m, x: m.linalg.det(x), M),
    "slogdet": (lambda m, x: m.linalg.slogdet(x)[1], M),
    "cholesky": (lambda m, x: m.linalg.cholesky(spd(x)), M),
    "qr": (lambda m, x: tuple(m.linalg.qr(x)), M),
    "svd": (
        lambda m, x: (m.linalg.svd(x)[1], (m.linalg.svd(x)[0] * m.linalg.svd(x)[1]) @ m.linalg.svd(x)[2]),
        M,
    ),
    "svdvals": (lambda m, x: m.linalg.svdvals(x), M),
    "eigh": (lambda m, x: (m.linalg.eigh(symmetric(x))[0], m.linalg.eigh(symmetric(x))[1] ** 2), M),
    "eigvalsh": (lambda m, x: m.linalg.eigvalsh(symmetric(x)), M),
    "eig": (lambda m, x: (abs(m.linalg.eig(symmetric(x))[0]), abs(m.linalg.eig(symmetric(x))[1])), M),
    "eigvals": (lambda m, x: abs(m.linalg.eigvals(symmetric(x))), M),
    "lstsq": (lambda m, x: m.linalg.lstsq(x, np.arange(3.0) + x[:, 0])[0], TALL),
    "pinv": (lambda m, x: m.linalg.pinv(x), TALL),
    "matrix_power": (lambda m, x: m.linalg.matrix_power(x, 3), M),
    "matrix_power, negative": (lambda m, x: m.linalg.matrix_power(x, -2), M),
    "multi_dot": (lambda m, x: m.linalg.multi_dot([x, x.T, x[0]]), M),
    "matrix_norm": (lambda m, x: m.linalg.matrix_norm(x), M),
    "vector_norm": (lambda m, x: m.linalg.vector_norm(x, axis=0), M),
    "linalg.trace": (lambda m, x: m.linalg.trace(x * x), M),
    "linalg.diagonal": (lambda m, x: m.linalg.diagonal(x * x), M),
    "linalg.outer": (lambda m, x: m.linalg.outer(x, x), X),
    "linalg.cross": (lambda m, x: m.linalg.cross(x, x[::-1]), M),
    "linalg.vecdot": (lambda m, x: m.linalg.vecdot(x, x), M),
    "linalg.matmul": (lambda m, x: m.linalg.matmul(x, x), M),
    "linalg.tensordot": (lambda m, x: m.linalg.tensordot(x, x, axes=1), M),
    "linalg.matrix_transpose": (lambda m, x: m.linalg.matrix_transpose(x * x), M),
    **NORMS,
    **{
        f"{f} of stacks": (lambda m, x, f=f: getattr(m.linalg, f)(stacked(x)), M)
        for f in ("inv", "det", "pinv", "svdvals", "matrix_transpose")
    },
    "solve of stacks": (lambda m, x: m.linalg.solve(stacked(x), x), M),
    "cholesky of stacks": (lambda m, x: m.linalg.cholesky(spd(stacked(x))), M),
    **{
        f"{f} of complex matrices": (lambda m, x, f=f: getattr(m.linalg, f)(as_complex(x)), M)
        for f in ("inv", "det", "pinv", "svdvals", "norm")
    },
    "solve of complex matrices": (lambda m, x: m.linalg.solve(as_complex(x), as_complex(x.T)), M),
    "slogdet of complex matrices": (lambda m, x: tuple(m.linalg.slogdet(as_complex(x))), M),
    "cholesky of complex matrices": (
        lambda m, x: m.linalg.cholesky(as_complex(x) @ np.conj(as_complex(x)).T + np.eye(3)),
        M,
    ),
    "eigvals of a general matrix": (lambda m, x: m.linalg.eigvals(as_complex(x)), M),
    "eigh of a Hermitian matrix": (lambda m, x: m.linalg.eigh(x + x.T + 1j * (x - x.T))[0], M),
    "qr of a complex matrix": (lambda m, x: tuple(map(abs, m.linalg.qr(as_complex(x)))), M),
    # -- fft
    **{
        f: (lambda m, x, f=f: getattr(m.fft, f)(x * (1 + 2j) if f not in ("rfft", "ihfft") else x, n=5), X)
        for f in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
    },
    **{
        f: (lambda m, x, f=f: getattr(m.fft, f)(x * x, norm="ortho"), M)
        for f in ("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn")
    },
    **{f: (lambda m, x, f=f: getattr(m.fft, f)(x * x), X) for f in ("fftshift", "ifftshift")},
}

# -- scipy --------------------------------------------------------------------------------------------------

SPECIAL: dict[str, tuple[Call, Any]] = {
    **{
        f: (lambda m, x, f=f: getattr(m, f)(x), X)
        for f in (
            *("gamma", "gammaln", "digamma", "erf", "erfc", "erfcx", "erfinv", "expit", "logit", "log_expit"),
            *("entr", "ndtr", "log_ndtr", "ndtri", "i0", "i0e", "i1", "i1e", "exprel"),
            *("sinc", "lambertw"),
        )
    },
    "zeta": (lambda m, x: m.zeta(x + 2, 1.5), X),
    "zeta by its second argument": (lambda m, x: m.zeta(2.5, x), X),
    **{
        f: (lambda m, x, f=f: getattr(m, f)(x, x[::-1] + 0.2), X)
        for f in ("beta", "betaln", "gammainc", "gammaincc", "xlogy", "xlog1py", "rel_entr", "kl_div")
    },
    "betainc": (lambda m, x: m.betainc(x + 1, x[::-1] + 0.5, 0.3 + 0.5 * x), X),
    **{
        f"{f} of order 1.5": (lambda m, x, f=f: getattr(m, f)(1.5, x + 0.5), X)
        for f in ("jv", "yv", "iv", "kv")
    },
}
NO_UFUNCS: dict[str, tuple[Call, Any]] = {
    **{f: (lambda m, x, f=f: getattr(m, f)(x), X) for f in ("softmax", "log_softmax", "logsumexp")},
    "polygamma": (lambda m, x: m.polygamma(1, x), X),
    "multigammaln": (lambda m, x: m.multigammaln(x[0] + 2, 2), X),
}
"""Functions of ``scipy.special`` that look at the values of their arguments themselves."""
MATRICES: dict[str, tuple[Call, Any]] = {
    "expm": (lambda m, x: m.expm(x), M),
    "logm": (lambda m, x: m.logm(spd(x)), M),
    "sqrtm": (lambda m, x: m.sqrtm(spd(x)), M),
    "solve_triangular": (lambda m, x: m.solve_triangular(x, x[0], lower=True), M),
    "cho_factor": (lambda m, x: np.triu(m.cho_factor(spd(x))[0]), M),
    "cho_solve": (lambda m, x: m.cho_solve(m.cho_factor(spd(x)), x[0]), M),
    "lu": (lambda m, x: m.lu(x)[1:], M),
    "lu_factor": (lambda m, x: m.lu_factor(x)[0], M),
    "lu_solve": (lambda m, x: m.lu_solve(m.lu_factor(x), x[0]), M),
    "block_diag": (lambda m, x: m.block_diag(x, x * x), M),
    "toeplitz": (lambda m, x: m.toeplitz(x * x, x), X),
    "schur": (lambda m, x: tuple(map(abs, m.schur(symmetric(x)))), M),
    "solve_sylvester": (lambda m, x: m.solve_sylvester(x, x.T, x * x), M),
    "polar": (lambda m, x: tuple(m.polar(x)), M),
    "expm of complex matrices": (lambda m, x: m.expm(as_complex(x)), M),
    "sqrtm of complex matrices": (lambda m, x: m.sqrtm(as_complex(x)), M),
    **{
        f"scipy's {f}": (lambda m, x, f=f: getattr(m, f)(x), M)
        for f in ("det", "inv", "norm", "pinv", "svdvals")
    },
    "scipy's solve": (lambda m, x: m.solve(x, x[0]), M),
    "scipy's eigvalsh": (lambda m, x: m.eigvalsh(symmetric(x)), M),
    "scipy's cholesky": (lambda m, x: m.cholesky(spd(x), lower=True), M),
}

# -- methods of arrays --------------------------------------------------------------------------------------

METHODS: dict[str, tuple[Call, Any]] = {
    **{
        f: (lambda m, x, f=f: getattr(x * x, f)(axis=0), TALL)
        for f in ("sum", "prod", "mean", "std", "var", "max", "min", "cumsum", "cumprod")
    },
    **{
        f: (lambda m, x, f=f: getattr(x * x, f)(), M)
        for f in (
            "conj",
            "conjugate",
            "copy",
            "diagonal",
            "flatten",
            "ravel",
            "round",
            "squeeze",
            "trace",
            "transpose",
        )
    },
    "astype": (lambda m, x: (x * x).astype(np.float64), X),
    "clip": (lambda m, x: (x * x).clip(0.1, 0.6), X),
    "choose": (lambda m, x: (x > 0.4).astype(np.int64).choose([x, x * x]), X),
    "compress": (lambda m, x: (x * x).compress([True, False, True, True]), X),
    "dot": (lambda m, x: x.dot(x), M),
    "item": (lambda m, x: (x * x)[0].reshape(1), X),
    "repeat": (lambda m, x: (x * x).repeat(2), X),
    "reshape": (lambda m, x: (x * x).reshape(3, 3, 1), M),
    "swapaxes": (lambda m, x: (x * x).swapaxes(0, 1), M),
    "take": (lambda m, x: (x * x).take([2, 0]), X),
    "real, imag, T, mT": (lambda m, x: (as_complex(x).real, as_complex(x).imag, (x * x).T, (x * x).mT), M),
    "flat": (lambda m, x: (x * x).ravel()[2:5], M),
    "sort": (lambda m, x: written(x, lambda y: y.sort()), X),
    "partition": (lambda m, x: written(x, lambda y: (y.partition(2), y.sort())), X),
    "fill": (lambda m, x: written(x, lambda y: y[1:].fill(2.0)), X),
    "put": (lambda m, x: written(x, lambda y: y.put([0], 3.0)), X),
    "view": (lambda m, x: (x * x)[1:][::-1], X),
}


def written(x: Any, write: Callable[[Any], Any]) -> Any:
    """A copy that has been written to."""
    y = x * x
    write(y)
    return y


# -- our own: neural functions and samples by parameters ----------------------------------------------------

IMAGE = np.linspace(-0.9, 1.1, 3 * 4 * 2).reshape(1, 3, 4, 2) ** 3
KERNEL = np.cos(np.arange(2 * 2 * 2 * 2.0)).reshape(2, 2, 2, 2)
KEY = fg.random.key(3)
NN: dict[str, tuple[Call, Any]] = {
    **{
        f: (lambda m, x, f=f: getattr(m, f)(x * 3 - 1.7), X)
        for f in (
            *("celu", "elu", "gelu", "hard_shrink", "hard_sigmoid", "hard_silu", "hard_swish", "hard_tanh"),
            *(
                "leaky_relu",
                "log_sigmoid",
                "log_softmax",
                "logmeanexp",
                "logsumexp",
                "mish",
                "relu",
                "relu6",
                "selu",
                "sigmoid",
            ),
            *(
                "silu",
                "softmax",
                "soft_shrink",
                "soft_sign",
                "softplus",
                "sparse_plus",
                "sparse_sigmoid",
                "squareplus",
                "standardize",
                "swish",
            ),
            *("tanh", "tanh_shrink", "layer_norm", "rms_norm", "glu", "identity", "exponential"),
        )
    },
    "logit": (lambda m, x: m.logit(x), X),
    "log1mexp": (lambda m, x: m.log1mexp(x * x + 0.1), X),
    "prelu": (lambda m, x: m.prelu(x - 0.5, x[0]), X),
    "layer_norm with weights": (lambda m, x: m.layer_norm(x, x[0], x[1]), M),
    "batch_norm": (lambda m, x: m.batch_norm(x, x[0], x[1]), M),
    "group_norm": (lambda m, x: m.group_norm(np.tile(x, (2, 2)), 2), M),
    "one_hot": (lambda m, x: m.one_hot(np.array([1, 0, 3, 2]), 4) * x, X),
    "attention": (lambda m, x: m.scaled_dot_product_attention(x, x @ M, x * x, is_causal=True), M),
    "dropout": (lambda m, x: m.dropout(x * x, 0.5, key=KEY), X),
    "conv": (lambda m, x: m.conv(IMAGE, KERNEL * x[:2], 2, 1), X),
    "conv by the image, dilated": (
        lambda m, x: m.conv(IMAGE * x[0], KERNEL, padding=2, kernel_dilation=2),
        X,
    ),
    "conv in groups": (lambda m, x: m.conv(IMAGE, KERNEL[:, :, :1] * x[:2], groups=2), X),
    "conv_transpose": (lambda m, x: m.conv_transpose(IMAGE * x[2], KERNEL * x[:2], 2), X),
    "max_pool": (lambda m, x: m.max_pool(IMAGE * x[:2], 2), X),
    "avg_pool": (lambda m, x: m.avg_pool(IMAGE * x[:2] ** 2, 2, 1), X),
}
RANDOM: dict[str, tuple[Call, Any]] = {
    "uniform": (lambda m, x: m.uniform(KEY, (4,), minval=-x, maxval=x**2), X),
    "normal": (lambda m, x: x + x**2 * m.normal(KEY, (4,)), X),
    "truncated_normal": (lambda m, x: m.truncated_normal(KEY, -x, x**2 + 0.2), X),
    "gamma": (lambda m, x: m.gamma(KEY, x + 0.5), X),
    "beta": (lambda m, x: m.beta(KEY, x + 0.5, x[::-1] + 1), X),
    "dirichlet": (lambda m, x: m.dirichlet(KEY, x + 0.5), X),
    "exponential": (lambda m, x: x**2 * m.exponential(KEY, (4,)), X),
    "laplace": (lambda m, x: x**2 * m.laplace(KEY, (4,)), X),
    "gumbel": (lambda m, x: x**2 + m.gumbel(KEY, (4,)), X),
    "multivariate_normal": (lambda m, x: m.multivariate_normal(KEY, x[0], spd(x), (2,)), M),
    "permutation": (lambda m, x: m.permutation(KEY, x**2), X),
    "choice": (lambda m, x: m.choice(KEY, x**2, (3,)), X),
}

# -- the ways -----------------------------------------------------------------------------------------------

HERE = SimpleNamespace()
TABLES: dict[str, tuple[dict[str, tuple[Call, Any]], Any, Any]] = {
    "numpy": (NUMPY, np, fg.numpy),
    "scipy.special": (SPECIAL, scipy.special, fg.scipy.special),
    "scipy.special, no ufuncs": (NO_UFUNCS, scipy.special, fg.scipy.special),
    "scipy.linalg": (MATRICES, scipy.linalg, fg.scipy.linalg),
    "methods": (METHODS, HERE, fg.numpy),
    "nn": (NN, None, fg.nn),
    "random": (RANDOM, None, fg.random),
}
CALLED_ON_TRACED_ARRAYS = ("numpy", "scipy.special")
"""Namespaces whose own functions take traced arrays; SciPy's linear algebra is reached through funcgrad's."""

CASES = [(table, name) for table, (entries, *_) in TABLES.items() for name in entries]

MOVED_BY_RULE = {("random", "gamma"), ("random", "beta"), ("random", "dirichlet")}
"""Samples drawn by rejection jump with their parameters."""


def parts_of(result: Any) -> list[Any]:
    """The numbers of a result, however it is nested."""
    return [part for part in fg.tree.leaves(result) if getattr(part, "dtype", np.dtype(int)).kind in "fc"]


def total(call: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A weighted sum of all numbers of the result."""

    def summed(x: Any) -> Any:
        found = 0.0
        for part in parts_of(call(x)):
            weights = np.cos(np.arange(part.size)).reshape(part.shape)
            found = found + np.sum(np.real(part) * weights)
            if part.dtype.kind == "c":
                found = found + np.sum(np.imag(part) * weights[..., ::-1] if part.ndim else np.imag(part))
        return found

    return summed


def close(found: Any, wanted: Any, tolerance: float) -> None:
    """Trees of numbers agree."""
    ours, theirs = fg.tree.leaves(found), fg.tree.leaves(wanted)
    assert len(ours) == len(theirs)
    for x, y in zip(ours, theirs, strict=True):
        assert np.shape(x) == np.shape(y)
        np.testing.assert_allclose(x, y, rtol=tolerance, atol=tolerance)


def difference(f: Callable[[Any], Any], x: Any, v: Any) -> Any:
    """The derivative of `f` along `v`, by a difference."""
    h = 1e-5
    return (f(x + h * v) - f(x - h * v)) / (2 * h)


def along(f: Callable[[Any], Any], v: Any) -> Callable[[Any], Any]:
    """The derivative of `f` along `v`, forwards."""
    return lambda x: fg.jvp(f, (x,), (v,))[1]


@pytest.mark.at_length
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("table", "name"), CASES)
def test_every_way(table: str, name: str) -> None:
    entries, theirs, ours = TABLES[table]
    call, x = entries[name]
    here = theirs if table in CALLED_ON_TRACED_ARRAYS else ours

    def f(x: Any) -> Any:
        return call(here, x)

    wanted = call(ours if theirs is None else theirs, x)
    close(call(ours, x), wanted, 1e-11)
    for namespace in {id(here): here, id(ours): ours}.values():
        recorded = fg.make_program(lambda x, m=namespace: call(m, x))(x)
        close(list(recorded.evaluate(x)), fg.tree.leaves(wanted), 1e-11)
    scalar = total(f)
    slope = fg.grad(scalar)
    v = np.cos(1.0 + np.arange(x.size)).reshape(x.shape)
    first = along(scalar, v)(x)
    if (table, name) not in MOVED_BY_RULE:
        close(first, difference(scalar, x, v), 1e-6)
    gradient = slope(x)
    close(np.sum(gradient * v), first, 1e-9)
    second = along(slope, v)(x)
    if (table, name) not in MOVED_BY_RULE:
        close(second, difference(slope, x, v), 1e-5)
    rows = np.stack([x, x * 1.01])
    close(fg.vmap(scalar)(rows), np.stack([scalar(row) for row in rows]), 1e-9)
    looped = np.stack([slope(row) for row in rows])
    close(fg.vmap(slope)(rows), looped, 1e-9)
    close(fg.grad(lambda rows: np.sum(fg.vmap(scalar)(rows)))(rows), looped, 1e-9)

    def everything(x: Any, rows: Any) -> Any:
        # Second derivatives by matrices are large programs, which take a compiler too long for a test.
        return f(x), fg.vmap(slope)(rows), along(slope, v)(x) if x.ndim == 1 else second

    close(fg.jit(everything)(x, rows), (wanted, looped, second), 1e-8)


# -- what has values and no derivatives ---------------------------------------------------------------------

WHOLE: dict[str, Call] = {
    "argmax": lambda m, x: m.argmax(x),
    "argmin": lambda m, x: m.argmin(x),
    "argsort": lambda m, x: m.argsort(x),
    "argpartition": lambda m, x: m.sort(m.argpartition(x, 1)),
    "lexsort": lambda m, x: m.lexsort((x[::-1], x)),
    "digitize": lambda m, x: m.digitize(x, np.array([0.4, 0.8])),
    "searchsorted": lambda m, x: m.searchsorted(np.array([0.4, 0.8]), x),
    "count_nonzero": lambda m, x: m.count_nonzero(x > 0.4),
    "isfinite": lambda m, x: m.isfinite(x),
    "isclose": lambda m, x: m.isclose(x, 0.31),
    "signbit": lambda m, x: m.signbit(x),
    "comparison": lambda m, x: x > 0.5,
    "conversion": lambda m, x: (10 * x).astype(np.int64),
    "matrix_rank": lambda m, x: m.linalg.matrix_rank(m.outer(x, x)),
    "histogram": lambda m, x: m.histogram(x, 3, range=(0.0, 1.0))[0],
    "nanargmax": lambda m, x: m.nanargmax(x),
    "nanargmin": lambda m, x: m.nanargmin(x),
}
"""Positions, counts and truth values."""


@pytest.mark.parametrize("name", WHOLE)
def test_positions_and_counts_have_values_in_every_way(name: str) -> None:
    call = WHOLE[name]
    wanted = call(np, X)
    rows = np.stack([X, X[::-1]])
    looped = np.stack([call(np, row) for row in rows])
    for m in (np, fg.numpy):

        def f(x: Any, m: Any = m) -> Any:
            return call(m, x)

        for run in (
            lambda x, m=m: call(m, x),
            fg.jit(f),
            lambda x, f=f: fg.make_program(f)(x).evaluate(x)[0],
        ):
            np.testing.assert_array_equal(run(X), wanted)
        np.testing.assert_array_equal(fg.vmap(f)(rows), looped)
        np.testing.assert_array_equal(fg.jit(fg.vmap(f))(rows), looped)


@pytest.mark.parametrize("name", WHOLE)
def test_positions_and_counts_say_that_they_have_no_derivative(name: str) -> None:
    def f(x: Any) -> Any:
        return WHOLE[name](np, x)

    with pytest.raises(NotDifferentiableError, match=r"jacrev needs floating-point results, and f returned"):
        fg.jacrev(f)(X)
    with pytest.raises(NotDifferentiableError, match="jacfwd needs floating-point results"):
        fg.jacfwd(f)(X)
    with pytest.raises(NonScalarGradError, match=r"grad needs a floating-point result|returns a scalar"):
        fg.grad(f)(X)


KNOWN: dict[str, Call] = {
    "unique": lambda m, x: m.unique(x) ** 2,
    "nonzero": lambda m, x: x[m.nonzero(x > 0.4)] ** 2,
    "flatnonzero": lambda m, x: x[m.flatnonzero(x > 0.4)] ** 2,
    "where of a condition": lambda m, x: x[m.where(x > 0.4)[0]] ** 2,
    "mask": lambda m, x: x[x > 0.4] ** 2,
    "extract": lambda m, x: m.extract(x > 0.4, x) ** 2,
    "compress": lambda m, x: m.compress(x > 0.4, x) ** 2,
}
"""Functions whose results have as many elements as the values say."""


@pytest.mark.parametrize("name", KNOWN)
def test_shapes_that_values_decide_exist_where_values_do(name: str) -> None:
    call = KNOWN[name]
    for m in (np, fg.numpy):

        def f(x: Any, m: Any = m) -> Any:
            return np.sum(call(m, x))

        close(fg.value_and_grad(f)(X)[0], np.sum(call(np, X)), 1e-12)
        v = np.ones(4)
        close(fg.jvp(f, (X,), (v,))[1], difference(f, X, v), 1e-7)
        close(np.sum(fg.grad(f)(X)), difference(f, X, v), 1e-7)
        close(fg.hvp(f, (X,), (v,)), difference(fg.grad(f), X, v), 1e-7)
        close(fg.jit(f)(X), np.sum(call(np, X)), 1e-12)
        close(fg.vmap(f)(X[None])[0], np.sum(call(np, X)), 1e-12)
        with pytest.raises(ConcretizationError):
            fg.make_program(f)(X)


@pytest.mark.parametrize("name", NO_UFUNCS)
def test_what_scipy_evaluates_itself_names_ours(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUNCGRAD_CONSTRUCTORS", "0")
    call, x = NO_UFUNCS[name]
    with pytest.raises(UnsupportedFunctionError, match=f"Use fg.scipy.special.{name}"):
        fg.grad(lambda x: np.sum(call(scipy.special, x)))(x)


# -- derivatives that there are not, and derivatives that are zero ------------------------------------------

ZERO = ("sign", "floor", "ceil", "trunc", "rint", "round", "fix")
"""Constant between their jumps: zero is their derivative almost everywhere."""


@pytest.mark.parametrize("name", ZERO)
def test_steps_have_the_derivative_zero(name: str) -> None:
    np.testing.assert_array_equal(fg.grad(lambda x: np.sum(getattr(np, name)(x)))(X), np.zeros(4))


S = scipy.special
REFUSED: dict[str, tuple[Callable[[Any], Any], Any, str]] = {
    **{
        f"order of {f}": (
            lambda v, f=f: getattr(S, f)(v, 0.7),
            1.5,
            f"{f} has no derivative by its first argument",
        )
        for f in ("jv", "yv", "iv", "kv", "ive", "kve", "jve", "yve", "eval_legendre", "expn")
        if hasattr(fg.scipy.special, f)
    },
    "degree": (lambda n: S.eval_jacobi(n, 0.5, 0.2, 0.7), 1.5, "eval_jacobi has no derivative by its first"),
    "order of polygamma": (
        lambda n: fg.scipy.special.polygamma(n, 0.7),
        1.0,
        "polygamma has no derivative by its",
    ),
    "parameter of hyp1f1": (
        lambda a: S.hyp1f1(a, 1.2, 0.7),
        0.5,
        "hyp1f1 has no derivative by its first argument",
    ),
    "whole number": (lambda n: n * 2.0, 3, "argument 0 is an integer"),
    "truth value": (lambda b: b * 2.0, True, "argument 0 is a boolean"),
    "complex Schur form of a real matrix": (
        lambda a: np.sum(fg.scipy.linalg.schur(a)[0]),
        np.array([[0.0, 1.0], [-1.0, 0.0]]),
        "schur of a real matrix with complex eigenvalues has no derivative",
    ),
    "second derivative of vectors of a repeated value": (
        lambda a: np.sum(fg.grad(lambda a: np.sum(np.linalg.eigh(a)[1][:, 0] ** 4))(a)),
        np.eye(2),
        "second derivatives through vectors of a repeated eigenvalue",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_derivative_that_does_not_exist_says_so_by_name(name: str) -> None:
    f, x, words = REFUSED[name]
    with pytest.raises(NotDifferentiableError, match=words):
        fg.grad(f)(x)


def test_singular_matrices_are_refused_where_nothing_is_there() -> None:
    for f in (np.linalg.inv, lambda a: np.linalg.solve(a, np.ones(2)), lambda a: np.linalg.slogdet(a)[1]):
        with pytest.raises(np.linalg.LinAlgError):
            fg.grad(lambda a, f=f: np.sum(f(a)))(np.ones((2, 2)))
