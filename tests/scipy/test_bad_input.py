"""Bad input raises what SciPy raises, of the same kind, where something is traced as well."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy
import scipy.linalg
import scipy.signal
import scipy.sparse

import funcgrad as fg

V = np.array([0.35, 0.7, 1.3, 1.9, 2.4, 3.1])
VN = np.where(V == 1.3, np.nan, V)
M = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.3], [0.5, 0.3, 5.0]])
MN = np.where(M == 5.0, np.nan, M)
S3, NP = np.ones((3, 3)), -M
R = np.arange(12.0).reshape(3, 4) + 1.0
I = np.arange(36.0).reshape(6, 6)  # noqa: E741 - an image
A = scipy.sparse.csr_array(M)
sos = scipy.signal.butter(2, 0.3, output="sos")


def quadf(x: Any) -> Any:
    return ((x - 1.0) ** 2).sum()


def line(x: Any, a: Any, b: Any) -> Any:
    return a * x + b


def f(t: Any, y: Any) -> Any:
    return -y


MATRIX_FUNCTIONS = (
    *(
        "inv",
        "det",
        "expm",
        "sqrtm",
        "logm",
        "cholesky",
        "eigh",
        "eigvalsh",
        "eigvals",
        "lu_factor",
        "cho_factor",
    ),
    *("cosm", "sinm", "tanm", "coshm", "sinhm", "tanhm", "schur", "hessenberg", "cho_factor"),
)
"""Of square matrices."""

CASES: tuple[tuple[str, int, tuple[Any, ...], dict[str, Any]], ...] = (
    *[(f"linalg.{name}", 0, (R,), {}) for name in MATRIX_FUNCTIONS],
    *[
        (f"linalg.{name}", 0, (MN,), {})
        for name in (*MATRIX_FUNCTIONS, "svd", "svdvals", "pinv", "qr", "lu", "norm")
        if name not in ("expm", "cosm", "sinm", "coshm", "sinhm", "sqrtm")
    ],
    ("linalg.cho_factor", 0, (NP,), {}),
    ("linalg.solve", 0, (MN, V[:3]), {}),
    ("linalg.solve", 1, (M, VN[1:4]), {}),
    ("linalg.solve", 0, (M, V[:3]), {"assume_a": "bad"}),
    ("linalg.solve_triangular", 0, (MN, V[:3]), {}),
    ("linalg.lu_solve", 1, (scipy.linalg.lu_factor(M), V), {}),
    ("linalg.lu_solve", 1, (scipy.linalg.lu_factor(M), VN[1:4]), {}),
    ("linalg.solve_banded", 1, ((1, 2), M, V[:3]), {}),
    ("linalg.solveh_banded", 0, (MN, V[:3]), {}),
    ("linalg.solve_toeplitz", 0, (V[:3], V), {}),
    ("linalg.solve_toeplitz", 0, (VN, V), {}),
    ("linalg.solve_circulant", 0, (np.ones(3), V[:3]), {}),
    ("linalg.expm_frechet", 0, (M, R), {}),
    ("linalg.expm_frechet", 0, (M, M), {"method": "bad"}),
    ("linalg.solve_sylvester", 0, (R, M, M), {}),
    ("linalg.solve_discrete_lyapunov", 0, (M, R.T), {}),
    ("linalg.norm", 0, (MN,), {}),
    ("linalg.norm", 0, (M,), {"ord": "bad"}),
    ("linalg.qr", 0, (M,), {"mode": "bad"}),
    ("linalg.khatri_rao", 0, (M, R), {}),
    ("linalg.toeplitz", 0, (V, VN), {"bad": 1}),
    ("linalg.companion", 0, (np.array([0.0, 1, 2]),), {}),
    ("linalg.fiedler", 0, (M,), {}),
    ("linalg.eigh_tridiagonal", 0, (V, V), {}),
    ("linalg.eigh", 0, (M, R), {}),
    ("linalg.eigh", 0, (M,), {"subset_by_index": [2, 5]}),
    ("linalg.qr_multiply", 0, (M, R), {}),
    ("stats.multivariate_normal.pdf", 2, (V[:3], V[:3], S3), {}),
    ("stats.multivariate_normal.logpdf", 0, (V[:3], V[:3], MN), {}),
    ("stats.multivariate_normal.logpdf", 2, (V[:3], V[:3], MN), {}),
    ("stats.multivariate_t.logpdf", 2, (V[:3], V[:3], NP, 3.0), {}),
    ("stats.multivariate_t.logpdf", 0, (V[:3], V[:3], M, -1.0), {}),
    ("stats.multivariate_t.logpdf", 0, (V[:3], V[:3], R, 2.0), {}),
    ("stats.dirichlet.logpdf", 1, (np.array([0.2, 0.3, 0.5]), np.array([1.0, -1.0, 2.0])), {}),
    ("stats.dirichlet.logpdf", 0, (np.array([0.2, 0.3, 0.6]), np.array([1.0, 1.0, 2.0])), {}),
    ("stats.dirichlet.logpdf", 0, (np.array([-0.2, 0.6, 0.6]), np.array([1.0, 1.0, 2.0])), {}),
    ("stats.dirichlet.pdf", 1, (np.array([0.0, 0.5, 0.5]), np.array([0.5, 1.0, 2.0])), {}),
    ("stats.dirichlet.mean", 0, (np.array([1.0, -1.0]),), {}),
    ("stats.dirichlet.entropy", 0, (np.array([1.0, -1.0]),), {}),
    ("stats.dirichlet.var", 0, (M,), {}),
    ("stats.wishart.logpdf", 2, (M, 5.0, NP), {}),
    ("stats.wishart.logpdf", 0, (NP, 5.0, M), {}),
    ("stats.multinomial.logpmf", 2, (np.array([1, 2]), 6, np.array([0.2, 0.5, 0.3])), {}),
    ("stats.gaussian_kde", 0, (V,), {"weights": V[:3]}),
    ("stats.kurtosis", 0, (V,), {"axis": 2}),
    ("stats.zscore", 0, (VN,), {"nan_policy": "raise"}),
    ("stats.skew", 0, (VN,), {"nan_policy": "raise"}),
    ("stats.kurtosis", 0, (VN,), {"nan_policy": "raise"}),
    ("stats.norm.logpdf", 0, (V,), {"bad": 3}),
    ("stats.norm.ppf", 0, (V, V[:2]), {}),
    ("stats.norm.fit", 0, (V,), {"bad": 1}),
    ("optimize.brentq", 1, (lambda x: x - 1.0, np.nan, 2.0), {}),
    ("optimize.brentq", 1, (lambda x: x - 1.0, 0.0, 2.0), {"maxiter": 1}),
    ("optimize.brentq", 1, (lambda x: x - 1.0, 0.0, 2.0), {"rtol": 1e-30}),
    ("optimize.newton", 1, (lambda x: x * x + 1.0, 1.0), {}),
    ("optimize.newton", 1, (lambda x: x - 1.0, 1.0), {"tol": -1.0}),
    ("optimize.newton", 1, (lambda x: x * x - 2.0, 1.0), {"maxiter": 0}),
    ("optimize.newton", 1, (lambda x: x * x - 2.0, 1.0), {"maxiter": 1}),
    ("optimize.root", 1, (lambda x: x - 1.0, V), {"method": "bad"}),
    ("optimize.root", 1, (lambda x: x[:2], V), {}),
    ("optimize.fsolve", 1, (lambda x: x[:2], V), {}),
    ("optimize.root_scalar", 0, (lambda x: x - 1.0,), {"method": "bad", "x0": 1.0}),
    ("optimize.fixed_point", 1, (lambda x: x / 2, 1.0), {"method": "bad"}),
    ("optimize.fixed_point", 1, (lambda x: x + 1.0, 1.0), {}),
    ("optimize.root_scalar", 0, (lambda x: x - 1.0,), {}),
    ("optimize.minimize", 1, (quadf, V), {"method": "bad"}),
    ("optimize.minimize", 1, (quadf, V), {"bounds": [(1, 0)] * 6}),
    ("optimize.minimize", 1, (quadf, V), {"constraints": {"type": "bad", "fun": lambda x: x[0]}}),
    ("optimize.minimize", 1, (quadf, V), {"constraints": {"type": "eq"}}),
    ("optimize.minimize_scalar", 0, (lambda x: x * x,), {"bounds": (2, 1), "method": "bounded"}),
    ("optimize.minimize_scalar", 0, (lambda x: x * x,), {"bounds": (0, 1), "method": "brent"}),
    ("optimize.least_squares", 1, (lambda x: x - 1, V), {"method": "bad"}),
    ("optimize.least_squares", 1, (lambda x: x - 1, V), {"bounds": (1, 0)}),
    ("optimize.least_squares", 1, (lambda x: x - 1, V), {"bounds": (5, 6)}),
    ("optimize.least_squares", 1, (lambda x: x - 1, V), {"loss": "bad"}),
    ("optimize.least_squares", 1, (lambda x: x - 1, V), {"bounds": (0, 6), "method": "lm"}),
    ("optimize.least_squares", 1, (lambda x: x[:2], V), {"method": "lm"}),
    ("optimize.least_squares", 1, (lambda x: x * np.nan, V), {}),
    ("optimize.least_squares", 1, (lambda x: x - 1, V), {"x_scale": -1.0}),
    ("optimize.curve_fit", 2, (line, V, VN), {}),
    ("optimize.curve_fit", 2, (line, V, V), {"bounds": ([1, 1], [0, 0])}),
    ("optimize.curve_fit", 2, (line, V, V), {"p0": [9, 9], "bounds": (0, 1)}),
    ("optimize.curve_fit", 2, (lambda x, *p: x, V, V), {}),
    ("optimize.linprog", 0, (V[:3],), {"method": "bad"}),
    ("optimize.lsq_linear", 0, (R, V), {}),
    ("optimize.nnls", 0, (R, V), {}),
    ("optimize.nnls", 0, (V, V), {}),
    ("integrate.quad", 1, (3.0, 0.0, 1.0), {}),
    ("integrate.quad", 2, (lambda x: x, 0.0, np.inf), {"points": [1.0]}),
    ("integrate.quad", 1, (lambda x: x, 0.0, 1.0), {"limit": 0}),
    ("integrate.quad", 1, (lambda x: x, 0.0, 1.0), {"epsabs": 0, "epsrel": 1e-30}),
    ("integrate.quad_vec", 1, (lambda x: x, 0.0, 1.0), {"norm": "bad"}),
    ("integrate.quad_vec", 1, (lambda x: x, 0.0, 1.0), {"quadrature": "bad"}),
    ("integrate.trapezoid", 0, (V,), {"x": V[:3]}),
    ("integrate.cumulative_trapezoid", 0, (V,), {"x": V[:3]}),
    ("integrate.cumulative_trapezoid", 0, (np.zeros(0),), {}),
    ("integrate.romb", 0, (V,), {}),
    ("integrate.solve_ivp", 2, (f, (0, 1), V), {"t_eval": [2.0]}),
    ("integrate.solve_ivp", 2, (f, (0, 1), I), {}),
    ("integrate.solve_ivp", 2, (f, (0, 1), V), {"first_step": -1.0}),
    ("integrate.solve_ivp", 2, (f, (0, 1), V), {"atol": [0.001, 0.001]}),
    ("integrate.solve_ivp", 2, (f, (0, 1), V), {"args": 3.0}),
    ("integrate.odeint", 1, (lambda y, t: -y, I, [0, 1.0]), {}),
    ("interpolate.CubicSpline", 1, (V, V), {"bc_type": ((1, V), (1, 0))}),
    ("interpolate.CubicHermiteSpline", 1, (V, V, V[:2]), {}),
    ("interpolate.make_interp_spline", 1, (V, V), {"k": -1}),
    ("interpolate.make_interp_spline", 1, (V, V), {"t": V}),
    ("interpolate.make_lsq_spline", 1, (V, V, np.r_[[0.0] * 4, 1.5, [4.0] * 4]), {"w": V[:2]}),
    ("interpolate.make_smoothing_spline", 1, (V, V[:3]), {}),
    ("interpolate.make_smoothing_spline", 1, (V, V), {"lam": -1.0}),
    ("interpolate.make_smoothing_spline", 1, (V[:3], V[:3]), {}),
    ("interpolate.make_smoothing_spline", 1, (V, V), {"w": -V}),
    ("interpolate.make_smoothing_spline", 1, (V[::-1], V), {}),
    ("interpolate.BSpline", 1, (V, V, 3), {}),
    ("interpolate.BSpline", 1, (VN, V[:2], 3), {}),
    ("interpolate.UnivariateSpline", 1, (V, V), {"w": V[:2], "s": 0}),
    ("interpolate.interp1d", 1, (V[:2], V[:2]), {"kind": "cubic"}),
    ("interpolate.interp1d", 1, (V, V), {"fill_value": [1.0, 2.0, 3.0], "bounds_error": False}),
    ("interpolate.interp1d", 1, (I, V), {}),
    ("interpolate.interp1d", 1, (V, V), {"axis": 2}),
    ("interpolate.RegularGridInterpolator", 1, ((V[::-1], [0, 2, 1, 3, 4, 5]), I), {}),
    ("interpolate.RegularGridInterpolator", 1, ((V, V, V), I), {}),
    ("interpolate.interpn", 1, ((V, V), I, [[1.0, 1.0]]), {"method": "bad"}),
    ("interpolate.RBFInterpolator", 1, (I, V), {"kernel": "gaussian"}),
    ("interpolate.RBFInterpolator", 1, (I, V), {"smoothing": V[:2]}),
    ("interpolate.griddata", 1, (R[:, :2], V, R[:, :2]), {}),
    ("interpolate.NearestNDInterpolator", 1, (R, V), {}),
    ("signal.convolve2d", 0, (V, V), {}),
    ("signal.correlate2d", 0, (V, V), {}),
    ("signal.lfilter", 2, ([1.0], [1.0], V), {"axis": 3}),
    ("signal.filtfilt", 2, ([1.0, 0.1], [1.0, 0.5], V), {"padtype": "bad"}),
    ("signal.filtfilt", 2, ([1.0, 0.1], [1.0, 0.5], V), {"method": "bad"}),
    ("signal.sosfilt", 1, (M, V), {}),
    ("signal.sosfilt", 1, (sos, V), {"zi": V}),
    ("signal.sosfilt", 1, (sos * 2, V), {}),
    ("signal.detrend", 0, (V,), {"type": "bad"}),
    ("signal.savgol_filter", 0, (V, 4, 2), {"mode": "bad"}),
    ("signal.resample", 0, (V, -1), {}),
    ("signal.resample", 0, (V, 4), {"window": V[:3]}),
    ("signal.decimate", 0, (V, 2.5), {}),
    ("signal.stft", 0, (V,), {"window": "bad"}),
    ("signal.istft", 0, (V,), {}),
    ("signal.istft", 0, (np.ones((5, 3)),), {"window": "bad"}),
    ("signal.welch", 0, (V,), {"detrend": "bad"}),
    ("signal.periodogram", 0, (V,), {"scaling": "bad"}),
    ("signal.csd", 0, (V, R), {}),
    ("signal.coherence", 0, (V, V), {"nperseg": 9, "window": V[:3]}),
    ("signal.butter", 1, (2, np.array([0.1, 0.2, 0.3])), {"btype": "band"}),
    ("signal.bessel", 1, (2, 0.3), {"norm": "bad"}),
    ("signal.bilinear", 0, (M, V), {}),
    ("signal.firwin", 1, (5, 0.3), {"window": "bad"}),
    ("signal.firwin", 1, (5, 0.3), {"pass_zero": "bad"}),
    ("signal.lfilter_zi", 0, (V, M), {}),
    ("ndimage.gaussian_filter", 0, (I, 1.0), {"axes": (0, 5)}),
    ("ndimage.gaussian_filter1d", 0, (I, 1.0), {"axis": 4}),
    ("ndimage.uniform_filter1d", 0, (I, 3), {"origin": 5}),
    ("ndimage.convolve", 0, (I, V), {}),
    ("ndimage.correlate1d", 0, (I, M), {}),
    ("ndimage.sobel", 0, (I,), {"axis": 4}),
    ("ndimage.laplace", 0, (I,), {"mode": "bad"}),
    ("ndimage.map_coordinates", 0, (I, np.ones((2, 4))), {"order": 6}),
    ("ndimage.map_coordinates", 0, (I, np.ones((2, 4)) + 1j), {}),
    ("ndimage.affine_transform", 0, (I, np.eye(2)), {"offset": [1, 2, 3]}),
    ("ndimage.affine_transform", 0, (I, np.eye(3) * 2), {}),
    ("ndimage.zoom", 0, (I, 2.0), {"order": 9}),
    ("ndimage.rotate", 0, (I, 30.0), {"axes": (0, 5)}),
    ("ndimage.shift", 0, (I, [1, 2, 3]), {}),
    ("ndimage.spline_filter1d", 0, (I,), {"order": 7}),
    ("sparse.linalg.cg", 1, (A, V), {}),
    ("sparse.linalg.cg", 1, (scipy.sparse.csr_array(R), V[:3]), {}),
    ("sparse.linalg.expm_multiply", 1, (scipy.sparse.csr_array(R), V[:4]), {}),
    ("sparse.linalg.eigsh", 0, (M,), {"k": 1, "which": "bad"}),
    ("sparse.linalg.svds", 0, (M,), {"k": 1, "solver": "bad"}),
    ("spatial.distance.cdist", 0, (M, M), {"metric": 3}),
    ("spatial.distance.cdist", 0, (M, M), {"metric": "minkowski", "w": -V[:3]}),
    ("spatial.distance.pdist", 0, (M,), {"metric": "seuclidean", "V": -V[:3]}),
    ("spatial.distance.squareform", 0, (M,), {}),
    ("spatial.distance.squareform", 0, (M,), {"force": "bad"}),
    ("spatial.distance.cosine", 0, (V, V[:3]), {}),
    ("spatial.distance.mahalanobis", 0, (V, V, M), {}),
    ("spatial.distance.cityblock", 0, (V, V[:2]), {}),
    ("spatial.distance.canberra", 0, (V, V[:2]), {}),
    ("spatial.distance.euclidean", 0, (V, V), {"w": -V}),
    ("fft.fftn", 0, (I,), {"s": [3], "axes": [0, 1]}),
    ("fft.rfft", 0, (V + 1j,), {}),
    ("fft.dctn", 0, (I,), {"axes": [0, 5]}),
    ("fft.irfft", 0, (V[:1],), {}),
    ("fft.fftn", 0, (I,), {"axes": [0, 0]}),
)
"""A function, which of its arguments is traced, its arguments and its options."""


def called(package: Any, name: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    for part in name.split("."):
        package = getattr(package, part)
    return package(*args, **options)


def error_of(call: Any) -> Exception | None:
    try:
        call()
    except Exception as error:  # noqa: BLE001 - its kind is what is compared
        return error
    return None


def used(found: Any) -> Any:
    """A number that depends on all of a result: nothing is computed of what nobody uses."""
    if isinstance(found, dict):
        return sum(used(x) for x in found.values())
    if isinstance(found, tuple | list):
        return sum(used(x) for x in found)
    if hasattr(found, "dtype"):
        return np.sum(np.real(found)) if found.dtype.kind in "fc" else 0.0
    return used(getattr(found, "y", 0.0)) if hasattr(found, "y") else 0.0


def raised_here(case: Any) -> Exception | None:
    """What the function of ours raises with its argument traced."""
    name, place, args, options = case

    def with_argument(x: Any) -> Any:
        return called(fg.scipy, name, (*args[:place], x, *args[place + 1 :]), options)

    if callable(args[place]):
        return error_of(
            lambda: fg.value_and_grad(lambda z: used(with_argument(lambda x: z * args[place](x))))(1.0)
        )
    point = np.asarray(args[place])
    turn = 1j if point.dtype.kind == "c" else 0.0
    return error_of(
        lambda: fg.value_and_grad(lambda x: used(with_argument(x + turn if turn else x)))(
            point.real.astype(float)
        )
    )


@pytest.mark.parametrize("package", sorted({case[0].split(".")[0] for case in CASES}))
def test_errors_are_of_scipys_kind(package: str) -> None:
    wrong, counted = [], 0
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for case in CASES:
            name, _, _, options = case
            if not name.startswith(package):
                continue
            theirs = error_of(lambda c=case: called(scipy, c[0], c[2], c[3]))
            if theirs is None:  # Another release of SciPy takes it.
                continue
            counted += 1
            ours = raised_here(case)
            if not isinstance(ours, type(theirs)):
                wrong.append((name, options, type(theirs).__name__, repr(ours)))
    assert not wrong
    assert counted > 3
