"""One row for each function of `fg.scipy` that is no distribution and no elementwise function.

A row is ``function(library, parameters)`` of real numbers, written with a namespace: SciPy's own or ours.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from solver_cases import Case

RNG = np.random.default_rng(1729)
V = RNG.normal(size=4)
P = RNG.uniform(0.6, 1.6, size=4)
LONG = RNG.normal(size=24)
NOISE = RNG.normal(size=32)
GRID = np.arange(8.0)
HEIGHTS = np.sin(GRID) + 0.1 * GRID
PLACES = RNG.uniform(size=(9, 2))
A = RNG.normal(size=(4, 4))
SPD = A @ A.T + 4.0 * np.eye(4)
IMAGE = RNG.normal(size=(6, 7))
PATTERN = (np.array([0, 0, 1, 2, 3, 3]), np.array([0, 2, 1, 2, 0, 3]))
SMALL = {"rtol": 1e-10, "atol": 1e-12}


def square(x: Any) -> Any:
    return A + np.outer(x, [0.3, -0.2, 0.1, 0.4])


def definite(x: Any) -> Any:
    return SPD + np.outer(x, x)


def matrix(lib: Any, x: Any) -> Any:
    """A sparse matrix with what is given in it."""
    data = np.concatenate([x + 3.0, x[:2]])
    return lib.sparse.csr_array((data[np.array([0, 4, 1, 2, 5, 3])], PATTERN), shape=(4, 4))


def symmetric(lib: Any, x: Any) -> Any:
    return lib.sparse.csr_array((np.concatenate([x + 4.0, x[:1], x[:1]]), DIAGONAL_AND_ONE), shape=(4, 4))


DIAGONAL_AND_ONE = (np.array([0, 1, 2, 3, 0, 2]), np.array([0, 1, 2, 3, 2, 0]))


def row(name: str, function: Any, point: Any = V, tolerance: float = 1e-6, **options: Any) -> Case:
    return Case(name, function, point, tolerance, **options)


def of(name: str, *after: Any, point: Any = V, **options: Any) -> Case:
    """A row for a function of one array, and of what follows."""

    def function(lib: Any, x: Any) -> Any:
        for part in name.split("."):
            lib = getattr(lib, part)
        return lib(x, *after, **options)

    return Case(name, function, point)


MATRICES = [
    row("linalg.block_diag", lambda s, x: s.linalg.block_diag(np.outer(x, x), x)),
    row("linalg.cho_factor", lambda s, x: np.tril(s.linalg.cho_factor(definite(x), lower=True)[0])),
    row("linalg.cho_solve", lambda s, x: s.linalg.cho_solve(s.linalg.cho_factor(definite(x)), x)),
    row(
        "linalg.cho_solve_banded",
        lambda s, x: s.linalg.cho_solve_banded(
            (s.linalg.cholesky_banded(np.stack([x, x * 0 + 9.0])), False), V
        ),
    ),
    row("linalg.cholesky", lambda s, x: s.linalg.cholesky(definite(x))),
    row("linalg.cholesky_banded", lambda s, x: s.linalg.cholesky_banded(np.stack([x, x + 9.0]))[1]),
    *[of(f"linalg.{name}") for name in ("circulant", "companion", "hankel", "toeplitz", "fiedler")],
    row("linalg.convolution_matrix", lambda s, x: s.linalg.convolution_matrix(x, 3)),
    row("linalg.leslie", lambda s, x: s.linalg.leslie(x, x[:3])),
    *[
        row(f"linalg.{name}", lambda s, x, name=name: getattr(s.linalg, name)(square(x) / 3.0))
        for name in ("coshm", "cosm", "expm", "sinhm", "sinm", "tanhm", "tanm")
    ],
    *[
        row(f"linalg.{name}", lambda s, x, name=name: getattr(s.linalg, name)(definite(x)))
        for name in ("det", "inv", "logm", "sqrtm", "pinvh", "svdvals", "eigvalsh", "signm")
    ],
    row("linalg.eig", lambda s, x: np.sort(s.linalg.eig(definite(x))[0].real)),
    row("linalg.eigvals", lambda s, x: np.sort(s.linalg.eigvals(definite(x)).real)),
    row("linalg.eigh", lambda s, x: abs(s.linalg.eigh(definite(x))[1])),
    row("linalg.eigh_tridiagonal", lambda s, x: s.linalg.eigh_tridiagonal(3.0 * x, x[:3])[0]),
    row("linalg.eigvalsh_tridiagonal", lambda s, x: s.linalg.eigvalsh_tridiagonal(3.0 * x, x[:3])),
    row("linalg.expm_frechet", lambda s, x: s.linalg.expm_frechet(square(x) / 3.0, A)[1]),
    row("linalg.fractional_matrix_power", lambda s, x: s.linalg.fractional_matrix_power(definite(x), 0.3)),
    row("linalg.hessenberg", lambda s, x: abs(s.linalg.hessenberg(square(x)))),
    row("linalg.khatri_rao", lambda s, x: s.linalg.khatri_rao(square(x), A)),
    row("linalg.lstsq", lambda s, x: s.linalg.lstsq(square(x)[:, :2], x)[0]),
    row("linalg.lu", lambda s, x: s.linalg.lu(square(x))[2]),
    row("linalg.lu_factor", lambda s, x: s.linalg.lu_factor(square(x))[0]),
    row("linalg.lu_solve", lambda s, x: s.linalg.lu_solve(s.linalg.lu_factor(square(x)), x)),
    row("linalg.norm", lambda s, x: s.linalg.norm(square(x), "nuc")),
    row("linalg.orthogonal_procrustes", lambda s, x: s.linalg.orthogonal_procrustes(square(x), A)[0]),
    row("linalg.pinv", lambda s, x: s.linalg.pinv(square(x)[:, :2])),
    row("linalg.polar", lambda s, x: s.linalg.polar(square(x))[0]),
    row("linalg.qr", lambda s, x: s.linalg.qr(square(x))[1]),
    row("linalg.qr_multiply", lambda s, x: s.linalg.qr_multiply(square(x), V, "right")[0]),
    row("linalg.rq", lambda s, x: s.linalg.rq(square(x))[0]),
    row("linalg.schur", lambda s, x: np.sort(np.diag(s.linalg.schur(definite(x))[0]))),
    row("linalg.solve", lambda s, x: s.linalg.solve(square(x), x)),
    row("linalg.solve_banded", lambda s, x: s.linalg.solve_banded((1, 0), np.stack([x + 5.0, x]), V)),
    row("linalg.solve_circulant", lambda s, x: s.linalg.solve_circulant(x + np.array([9.0, 0, 0, 0]), V)),
    row(
        "linalg.solve_continuous_are",
        lambda s, x: s.linalg.solve_continuous_are(A, np.eye(4), definite(x), SPD),
    ),
    row(
        "linalg.solve_discrete_are",
        lambda s, x: s.linalg.solve_discrete_are(A / 4, np.eye(4), definite(x), SPD),
    ),
    *[
        row(
            f"linalg.{name}",
            lambda s, x, name=name: getattr(s.linalg, name)(A - 4.0 * np.eye(4), definite(x)),
        )
        for name in ("solve_continuous_lyapunov", "solve_lyapunov")
    ],
    row("linalg.solve_discrete_lyapunov", lambda s, x: s.linalg.solve_discrete_lyapunov(A / 9, definite(x))),
    row("linalg.solve_sylvester", lambda s, x: s.linalg.solve_sylvester(definite(x), SPD, A)),
    row("linalg.solve_toeplitz", lambda s, x: s.linalg.solve_toeplitz(x + np.array([9.0, 0, 0, 0]), V)),
    row("linalg.solve_triangular", lambda s, x: s.linalg.solve_triangular(definite(x), V, lower=True)),
    row("linalg.solveh_banded", lambda s, x: s.linalg.solveh_banded(np.stack([x, x + 9.0]), V)),
    row("linalg.svd", lambda s, x: abs(s.linalg.svd(square(x))[0])),
]


TRANSFORMS = [
    *[
        row(f"fft.{name}", lambda s, x, name=name: abs(getattr(s.fft, name)(x)) ** 2)
        for name in ("fft", "ifft", "rfft", "ihfft")
    ],
    *[
        row(f"fft.{name}", lambda s, x, name=name: abs(getattr(s.fft, name)(np.outer(x, P))) ** 2)
        for name in ("fft2", "ifft2", "fftn", "ifftn", "rfft2", "rfftn")
    ],
    *[
        row(f"fft.{name}", lambda s, x, name=name: getattr(s.fft, name)(np.outer(x, P) + 1j))
        for name in ("irfft2", "irfftn")
    ],
    *[row(f"fft.{name}", lambda s, x, name=name: getattr(s.fft, name)(x + 1j)) for name in ("irfft", "hfft")],
    *[of(f"fft.{name}") for name in ("dct", "dst", "idct", "idst", "fftshift", "ifftshift")],
    *[
        row(f"fft.{name}", lambda s, x, name=name: getattr(s.fft, name)(np.outer(x, P), norm="ortho"))
        for name in ("dctn", "dstn", "idctn", "idstn")
    ],
    *[
        row(f"fft.{name}", lambda s, x, name=name: getattr(s.fft, name)(x, 0.3, 0.4))
        for name in ("fht", "ifht")
    ],
]

METRICS = [
    *[
        row(f"spatial.distance.{name}", lambda s, x, name=name: getattr(s.spatial.distance, name)(x, P))
        for name in ("braycurtis", "canberra", "chebyshev", "cityblock", "correlation", "cosine", "euclidean")
    ],
    row("spatial.distance.sqeuclidean", lambda s, x: s.spatial.distance.sqeuclidean(x, P)),
    row("spatial.distance.cdist", lambda s, x: s.spatial.distance.cdist(np.outer(x, P), A)),
    row("spatial.distance.jensenshannon", lambda s, x: s.spatial.distance.jensenshannon(x, P[::-1]), P),
    row("spatial.distance.mahalanobis", lambda s, x: s.spatial.distance.mahalanobis(x, P, SPD)),
    row("spatial.distance.minkowski", lambda s, x: s.spatial.distance.minkowski(x, P, 3.0)),
    row("spatial.distance.pdist", lambda s, x: s.spatial.distance.pdist(square(x), "cosine")),
    row("spatial.distance.seuclidean", lambda s, x: s.spatial.distance.seuclidean(x, P, P)),
    row("spatial.distance.squareform", lambda s, x: s.spatial.distance.squareform(x[:3])),
]

SOS = np.array([[0.2, 0.3, 0.1, 1.0, -0.4, 0.2], [1.0, 0.5, 0.2, 1.0, -0.1, 0.3]])

SIGNALS = [
    *[
        row(f"signal.{name}", lambda s, x, name=name: getattr(s.signal, name)(x, P, "same"))
        for name in ("convolve", "correlate", "fftconvolve", "oaconvolve")
    ],
    *[
        row(f"signal.{name}", lambda s, x, name=name: getattr(s.signal, name)(np.outer(x, x), A[:2, :2]))
        for name in ("convolve2d", "correlate2d")
    ],
    row("signal.lfilter", lambda s, x: s.signal.lfilter(x[:2], np.array([1.0, 0.2, 0.0]) + x[3] / 9, NOISE)),
    row("signal.lfiltic", lambda s, x: s.signal.lfiltic([0.3, 0.1], [1.0, 0.2, 0.1], x[:2], x[2:])),
    row("signal.lfilter_zi", lambda s, x: s.signal.lfilter_zi(x[:2], np.array([1.0, 0.2]))),
    row("signal.filtfilt", lambda s, x: s.signal.filtfilt([0.3, 0.1], [1.0, -0.2], np.tile(x, 4))),
    row("signal.sosfilt", lambda s, x: s.signal.sosfilt(SOS, np.tile(x, 4))),
    row(
        "signal.sosfilt_zi",
        lambda s, x: s.signal.sosfilt_zi(SOS * np.array([1, 1, 1, 1, 1, 1.0]) * x[0] / x[0]),
    ),
    row("signal.sosfiltfilt", lambda s, x: s.signal.sosfiltfilt(SOS, np.tile(x, 6))),
    row("signal.hilbert", lambda s, x: s.signal.hilbert(x).imag),
    row("signal.detrend", lambda s, x: s.signal.detrend(x)),
    row("signal.savgol_filter", lambda s, x: s.signal.savgol_filter(np.tile(x, 2), 5, 2)),
    row("signal.medfilt", lambda s, x: s.signal.medfilt(x + GRID[:4], 3)),
    row("signal.resample", lambda s, x: s.signal.resample(x, 7)),
    row("signal.decimate", lambda s, x: s.signal.decimate(np.tile(x, 9), 2)),
    row("signal.stft", lambda s, x: abs(s.signal.stft(np.tile(x, 4), nperseg=8)[2]) ** 2),
    row("signal.istft", lambda s, x: s.signal.istft(np.outer([1.0, 0.5j, 0.2, 0.1, 0.3], x), nperseg=8)[1]),
    row("signal.welch", lambda s, x: s.signal.welch(np.tile(x, 4), nperseg=8)[1]),
    row("signal.periodogram", lambda s, x: s.signal.periodogram(x)[1]),
    row("signal.csd", lambda s, x: s.signal.csd(NOISE[:16] * x[0], np.tile(x, 4), nperseg=8)[1].real),
    row(
        "signal.coherence", lambda s, x: s.signal.coherence(NOISE, NOISE[::-1] * np.tile(x, 8), nperseg=8)[1]
    ),
    row("signal.spectrogram", lambda s, x: s.signal.spectrogram(np.tile(x, 4), nperseg=8)[2]),
    row("signal.butter", lambda s, x: np.stack(s.signal.butter(2, x[0] / 3)), P[:1]),
    row("signal.bessel", lambda s, x: np.stack(s.signal.bessel(2, x[0] / 3)), P[:1]),
    row("signal.cheby1", lambda s, x: np.stack(s.signal.cheby1(2, 1.0, x[0] / 3)), P[:1]),
    row("signal.cheby2", lambda s, x: np.stack(s.signal.cheby2(2, 20.0, x[0] / 3)), P[:1]),
    row("signal.ellip", lambda s, x: np.stack(s.signal.ellip(2, 1.0, 20.0, x[0] / 3)), P[:1]),
    row("signal.bilinear", lambda s, x: np.stack(s.signal.bilinear(x[:2], x[2:])), P),
    row("signal.freqz", lambda s, x: abs(s.signal.freqz(x[:2], [1.0, 0.3], 5)[1]) ** 2),
    row("signal.firwin", lambda s, x: s.signal.firwin(5, x[0] / 3), P[:1]),
]

GREY = ["grey_dilation", "grey_erosion", "grey_opening", "grey_closing", "white_tophat", "black_tophat"]
GREY += ["morphological_gradient", "morphological_laplace"]
REGIONS = np.arange(P.size**2).reshape(P.size, -1) % 4
OF_REGIONS = ["sum", "sum_labels", "mean", "variance", "standard_deviation", "maximum", "minimum", "median"]

IMAGES = [
    *[
        row(f"ndimage.{name}", lambda s, x, name=name, a=after: getattr(s.ndimage, name)(np.outer(x, P), *a))
        for name, after in (
            *[("gaussian_filter", (1.2,)), ("gaussian_filter1d", (1.2, 1)), ("gaussian_laplace", (1.0,))],
            *[("laplace", ()), ("prewitt", (0,)), ("sobel", (1,)), ("spline_filter", (3,))],
            *[("spline_filter1d", (3, 0)), ("uniform_filter", (3,)), ("uniform_filter1d", (3, 1))],
            *[("zoom", (1.5,)), ("rotate", (20.0,)), ("shift", (0.4,))],
            *[("convolve", (A[:3, :3],)), ("correlate", (A[:3, :3],))],
            *[("convolve1d", (P[:3],)), ("correlate1d", (P[:3],)), ("gaussian_gradient_magnitude", (0.8,))],
            *[(name, (3,)) for name in ("maximum_filter", "minimum_filter", "median_filter")],
            *[("maximum_filter1d", (3, 0)), ("minimum_filter1d", (3, 1))],
            *[("percentile_filter", (30, 3)), ("rank_filter", (2, 3))],
            *[(name, (3,)) for name in GREY],
            *[(name, (REGIONS, [3, 1])) for name in OF_REGIONS],
        )
    ],
    row(
        "ndimage.center_of_mass",
        lambda s, x: np.array(s.ndimage.center_of_mass(np.outer(x, P), REGIONS, [3, 1])),
    ),
    row("ndimage.affine_transform", lambda s, x: s.ndimage.affine_transform(IMAGE, np.diag(x)), P[:2]),
    row("ndimage.map_coordinates", lambda s, x: s.ndimage.map_coordinates(IMAGE, np.stack([x, x + 1.3])), P),
]

SPLINE_KNOTS = np.array([0.0, 0.0, 0.0, 0.0, 0.5, 1.0, 1.0, 1.0, 1.0])


def through(name: str, *after: Any, **options: Any) -> Case:
    """A row for what goes through values on a line, by the values."""
    return row(
        f"interpolate.{name}",
        lambda s, x: getattr(s.interpolate, name)(GRID, np.tile(x, 2), *after, **options)(
            np.array([0.4, 5.2])
        ),
    )


SCATTERED = np.array([[0.4, 0.5], [0.6, 0.3]])


def triple(s, x):
    """A spline through values, as knots, coefficients and degree."""
    return s.interpolate.splrep(GRID / 7.0, np.tile(x, 2))


INTERPOLATION = [
    *[through(name) for name in ("CubicSpline", "PchipInterpolator", "Akima1DInterpolator", "interp1d")],
    through("make_interp_spline"),
    through("make_smoothing_spline", lam=0.1),
    through("InterpolatedUnivariateSpline"),
    through("UnivariateSpline", s=0),
    through("LSQUnivariateSpline", [2.5, 4.5]),
    through("CubicHermiteSpline", HEIGHTS),
    row(
        "interpolate.make_lsq_spline",
        lambda s, x: s.interpolate.make_lsq_spline(GRID / 7.0, np.tile(x, 2), SPLINE_KNOTS)(
            np.array([0.3, 0.8])
        ),
    ),
    row("interpolate.BSpline", lambda s, x: s.interpolate.BSpline(SPLINE_KNOTS, np.tile(x, 2)[:5], 3)(0.3)),
    row(
        "interpolate.PPoly", lambda s, x: s.interpolate.PPoly(x.reshape(2, 2), GRID[:3])(np.array([0.3, 1.6]))
    ),
    row(
        "interpolate.RegularGridInterpolator",
        lambda s, x: s.interpolate.RegularGridInterpolator((GRID[:4], GRID[:4]), np.outer(x, P))(
            3.0 * SCATTERED
        ),
    ),
    row(
        "interpolate.interpn",
        lambda s, x: s.interpolate.interpn((GRID[:4], GRID[:4]), np.outer(x, P), 3.0 * SCATTERED),
    ),
    row("interpolate.RBFInterpolator", lambda s, x: s.interpolate.RBFInterpolator(PLACES[:4], x)(SCATTERED)),
    row(
        "interpolate.LinearNDInterpolator",
        lambda s, x: s.interpolate.LinearNDInterpolator(PLACES[:8], np.tile(x, 2))(PLACES[:8].mean(0)[None]),
    ),
    row(
        "interpolate.NearestNDInterpolator",
        lambda s, x: s.interpolate.NearestNDInterpolator(PLACES[:4], x)(SCATTERED),
    ),
    row("interpolate.splrep", lambda s, x: s.interpolate.splrep(GRID / 7.0, np.tile(x, 2))[1]),
    row("interpolate.splev", lambda s, x: s.interpolate.splev(0.3, triple(s, x), der=1)),
    row("interpolate.splint", lambda s, x: s.interpolate.splint(0.1, x[0], triple(s, x))),
    row("interpolate.splder", lambda s, x: s.interpolate.splder(triple(s, x))[1]),
    row("interpolate.splantider", lambda s, x: s.interpolate.splantider(triple(s, x), 2)[1]),
    row("interpolate.griddata", lambda s, x: s.interpolate.griddata(PLACES[:4], x, SCATTERED, "nearest")),
]

SPARSE = [
    *[
        row(f"sparse.{name}", lambda s, x, name=name: getattr(s.sparse, name)(np.outer(x, x)).toarray())
        for name in ("coo_array", "coo_matrix", "csc_array", "csc_matrix", "csr_array", "csr_matrix")
    ],
    *[
        row(f"sparse.{name}", lambda s, x, name=name: filled(getattr(s.sparse, name)((4, 4)), x).toarray())
        for name in ("dok_array", "dok_matrix", "lil_array", "lil_matrix")
    ],
    row("sparse.block_diag", lambda s, x: s.sparse.block_diag([matrix(s, x), A]).toarray()),
    row("sparse.diags", lambda s, x: s.sparse.diags(x).toarray()),
    row("sparse.diags_array", lambda s, x: s.sparse.diags_array(x).toarray()),
    row("sparse.hstack", lambda s, x: s.sparse.hstack([matrix(s, x), matrix(s, x)]).toarray()),
    row("sparse.vstack", lambda s, x: s.sparse.vstack([matrix(s, x), matrix(s, x)]).toarray()),
    row(
        "sparse.dia_array", lambda s, x: s.sparse.dia_array((np.outer(P, x), [0, 1, -2, 3]), (4, 5)).toarray()
    ),
    row("sparse.dia_matrix", lambda s, x: (s.sparse.dia_matrix((x, 1), (4, 4)) * A) * 1.0),
    row("sparse.spdiags", lambda s, x: s.sparse.spdiags(np.outer(P[:2], x), [0, -1], 4, 4).toarray()),
    row(
        "sparse.block_array",
        lambda s, x: s.sparse.block_array([[matrix(s, x), None], [A, matrix(s, x)]]).toarray(),
    ),
    row("sparse.bmat", lambda s, x: s.sparse.bmat([[None, matrix(s, x)], [matrix(s, x), A]]).toarray()),
    row("sparse.kronsum", lambda s, x: s.sparse.kronsum(matrix(s, x), A).toarray()),
    row("sparse.find", lambda s, x, name="find": getattr(s.sparse, name)(matrix(s, x))[2]),
    row("sparse.tril", lambda s, x: s.sparse.tril(matrix(s, x), -1).toarray()),
    row("sparse.triu", lambda s, x: s.sparse.triu(matrix(s, x), 1).toarray()),
    row("sparse.permute_dims", lambda s, x: s.sparse.permute_dims(matrix(s, x), (1, 0)).toarray()),
    row(
        "sparse.swapaxes",
        lambda s, x, name="swapaxes": getattr(s.sparse, name)(matrix(s, x), 0, 1).toarray(),
    ),
    row("sparse.kron", lambda s, x: s.sparse.kron(matrix(s, x), A).toarray()),
    row("sparse.linalg.spsolve", lambda s, x: s.sparse.linalg.spsolve(matrix(s, x).tocsc(), x)),
    row("sparse.linalg.splu", lambda s, x: s.sparse.linalg.splu(matrix(s, x).tocsc()).solve(x)),
    row("sparse.linalg.factorized", lambda s, x: s.sparse.linalg.factorized(matrix(s, x).tocsc())(x)),
    row("sparse.linalg.cg", lambda s, x: s.sparse.linalg.cg(symmetric(s, x), V, rtol=1e-12)[0]),
    row("sparse.linalg.gmres", lambda s, x: s.sparse.linalg.gmres(matrix(s, x), V, rtol=1e-12)[0]),
    row(
        "sparse.linalg.bicgstab",
        lambda s, x: s.sparse.linalg.bicgstab(matrix(s, x) + s.sparse.csr_array(SPD), V, rtol=1e-9)[0],
        V,
        1e-5,
    ),
    *[
        row(
            f"sparse.linalg.{name}",
            lambda s, x, name=name: getattr(s.sparse.linalg, name)(symmetric(s, x), V, rtol=1e-12)[0],
        )
        for name in ("bicg", "cgs", "gcrotmk", "lgmres", "minres", "qmr", "tfqmr")
    ],
    row("sparse.linalg.norm", lambda s, x: s.sparse.linalg.norm(matrix(s, x))),
    row("sparse.linalg.inv", lambda s, x: s.sparse.linalg.inv(matrix(s, x).tocsc()).toarray()),
    row("sparse.linalg.expm", lambda s, x: s.sparse.linalg.expm(matrix(s, x).tocsc() / 3.0).toarray()),
    row("sparse.linalg.matrix_power", lambda s, x: s.sparse.linalg.matrix_power(matrix(s, x), 3).toarray()),
    row("sparse.linalg.aslinearoperator", lambda s, x: s.sparse.linalg.aslinearoperator(matrix(s, x)) @ V),
    row(
        "sparse.linalg.spsolve_triangular",
        lambda s, x: s.sparse.linalg.spsolve_triangular(s.sparse.tril(symmetric(s, x)).tocsr(), x),
    ),
    row("sparse.linalg.lsqr", lambda s, x: s.sparse.linalg.lsqr(matrix(s, x), V, atol=1e-14, btol=1e-14)[0]),
    row("sparse.linalg.expm_multiply", lambda s, x: s.sparse.linalg.expm_multiply(matrix(s, x) / 4.0, V)),
    row("sparse.linalg.eigsh", lambda s, x: np.sort(s.sparse.linalg.eigsh(symmetric(s, x), 2)[0])),
    row("sparse.linalg.svds", lambda s, x: np.sort(s.sparse.linalg.svds(matrix(s, x), 2)[1])),
    row(
        "sparse.linalg.LinearOperator",
        lambda s, x: s.sparse.linalg.LinearOperator((4, 4), matvec=lambda v: x * v, dtype=float).matvec(V),
    ),
]


def filled(made: Any, x: Any) -> Any:
    for k in range(4):
        made[k, 3 - k] = x[k]
    return made


ROOTS = [
    *[
        row(
            f"optimize.{name}",
            lambda s, x, name=name: getattr(s.optimize, name)(cubic, 0.0, 3.0, (x[0],)),
            P[:1],
        )
        for name in ("brentq", "brenth", "bisect", "ridder", "toms748")
    ],
    row("optimize.newton", lambda s, x: s.optimize.newton(cubic, 1.0, args=(x[0],)), P[:1]),
    row(
        "optimize.root_scalar",
        lambda s, x: s.optimize.root_scalar(cubic, (x[0],), bracket=(0, 3)).root,
        P[:1],
    ),
    row(
        "optimize.fixed_point",
        lambda s, x: s.optimize.fixed_point(lambda t: np.cos(x[0] * t / 2), 0.5),
        P[:1],
    ),
    row("optimize.fsolve", lambda s, x: s.optimize.fsolve(lambda y: y**3 + y - x, np.ones(4), xtol=1e-13)),
    row("optimize.root", lambda s, x: s.optimize.root(lambda y: y**3 + y - x, np.ones(4), tol=1e-13).x),
    row(
        "optimize.minimize",
        lambda s, x: s.optimize.minimize(lambda y: np.sum((y - x) ** 2 + y**4), np.zeros(4), tol=1e-9).fun,
    ),
    row(
        "optimize.minimize_scalar",
        lambda s, x: s.optimize.minimize_scalar(lambda t: (t - x[0]) ** 2 + t**4, tol=1e-12).fun,
        P[:1],
    ),
    row(
        "optimize.least_squares",
        lambda s, x: s.optimize.least_squares(lambda y: y**3 + y - x, V, xtol=1e-14).x,
    ),
    row("optimize.leastsq", lambda s, x: s.optimize.leastsq(lambda y: y**3 + y - x, V, xtol=1e-13)[0]),
    row(
        "optimize.curve_fit",
        lambda s, x: s.optimize.curve_fit(lambda t, a, b: a + b * t * t, GRID, np.tile(x, 2))[0],
    ),
    row("optimize.linear_sum_assignment", lambda s, x: np.outer(x, P)[s.optimize.linear_sum_assignment(A)]),
    row("optimize.linprog", lambda s, x: s.optimize.linprog(P, A_ub=-np.eye(4), b_ub=-abs(x)).x),
    row("optimize.lsq_linear", lambda s, x: s.optimize.lsq_linear(square(x)[:, :2], x).x),
    row("optimize.nnls", lambda s, x: s.optimize.nnls(np.eye(4) * 2.0, x + 3.0)[0]),
]


def cubic(t: Any, a: Any) -> Any:
    return t**3 + t - a


INTEGRALS = [
    row("integrate.quad", lambda s, x: s.integrate.quad(lambda t: np.exp(-x[0] * t), 0.0, x[1])[0], P[:2]),
    row(
        "integrate.dblquad",
        lambda s, x: s.integrate.dblquad(lambda t, u: t * u * x[0], 0, 1, 0, x[1])[0],
        P[:2],
    ),
    row(
        "integrate.tplquad",
        lambda s, x: s.integrate.tplquad(lambda t, u, v: t * x[0] + u * v, 0, 1, 0, 1, 0, 1)[0],
        P[:1],
    ),
    row(
        "integrate.nquad",
        lambda s, x: s.integrate.nquad(lambda t, u: np.exp(-x[0] * t * u), [(0, 1), (0, 1)])[0],
        P[:1],
    ),
    row("integrate.quad_vec", lambda s, x: s.integrate.quad_vec(lambda t: np.exp(-x * t), 0.0, 1.0)[0]),
    row(
        "integrate.fixed_quad",
        lambda s, x: s.integrate.fixed_quad(lambda t: np.exp(-x[0] * t), 0.0, x[1])[0],
        P,
    ),
    *[
        row(f"integrate.{name}", lambda s, x, name=name: getattr(s.integrate, name)(np.tile(x, 2), x=GRID))
        for name in ("trapezoid", "simpson", "cumulative_trapezoid", "cumulative_simpson")
    ],
    row("integrate.romb", lambda s, x: s.integrate.romb(np.concatenate([x, x[:1]]))),
    row(
        "integrate.solve_ivp",
        lambda s, x: (
            s.integrate.solve_ivp(lambda t, y: -x * y, (0.0, 1.0), np.ones(4), t_eval=[1.0], **SMALL).y
        ),
        P,
        1e-5,
    ),
    row(
        "integrate.odeint",
        lambda s, x: s.integrate.odeint(lambda y, t: -x * y, np.ones(4), [0.0, 1.0], **SMALL)[1],
        P,
        1e-5,
    ),
]

STATISTICS = [
    of("stats.zscore"),
    row("stats.skew", lambda s, x: s.stats.skew(x)),
    row("stats.kurtosis", lambda s, x: s.stats.kurtosis(x)),
    row("stats.gaussian_kde", lambda s, x: s.stats.gaussian_kde(x)(np.array([0.3, 0.9]))),
    row("stats.dirichlet", lambda s, x: s.stats.dirichlet.logpdf(np.full(4, 0.25), x), P),
    row("stats.multinomial", lambda s, x: s.stats.multinomial.logpmf([1, 0, 2, 1], 4, x / np.sum(x)), P),
    row("stats.multivariate_normal", lambda s, x: s.stats.multivariate_normal.logpdf(V, x, definite(x))),
    row("stats.multivariate_t", lambda s, x: s.stats.multivariate_t.logpdf(V, x, definite(x), 3.0)),
    row("stats.wishart", lambda s, x: s.stats.wishart.logpdf(SPD, 6.0, definite(x))),
]

ROWS: dict[str, Case] = {
    case.name: case
    for rows in (
        *(MATRICES, TRANSFORMS, METRICS, SIGNALS, IMAGES, INTERPOLATION, SPARSE, ROOTS, INTEGRALS),
        STATISTICS,
    )
    for case in rows
}
"""By package and name."""
