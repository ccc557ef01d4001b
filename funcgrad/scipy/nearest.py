"""What keeps the gradient where a function of SciPy's has no counterpart here: the nearest one, or a page.

Each row has names of a package of SciPy's, and the words that follow "Use". What stands in no row is the
page's affair. Refusals of plain calls, and of names that `funcgrad.scipy` does not have, read the table.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

PAGE = "docs/howto/scipy-without-a-derivative.md"

VALUES = "np.asarray(fg.stop_gradient(x)) as its argument: {0} does not move with it"
CENTRES = (
    "np.asarray(fg.stop_gradient(x)) to find labels, np.mean(x[labels == k], 0) for the centres, "
    "and fg.scipy.spatial.distance.cdist for the distances"
)
SEARCH = f"fg.scipy.optimize.minimize from what the search finds among values, as {PAGE} shows"
INDICES = "np.asarray(fg.stop_gradient(x)) to find indices, and compute with x[indices]"
RANKS = f"statistics that are smooth (ranks and p-values of ranks do not move), or a rule: {PAGE}"
TEST = "np for the statistic, and cdf or sf of a distribution of fg.scipy.stats for its probability"
STATE_SPACE = "fg.scipy.signal.lfilter for discrete time, fg.scipy.integrate.solve_ivp for continuous time"
RESPONSE = "fg.scipy.signal.freqz, or np.polyval of numerator and denominator at 1j * w"
SPLINE = "fg.scipy.interpolate.BSpline(t, c, k), with its derivative, antiderivative and integrate"
THROUGH = "fg.scipy.interpolate.make_interp_spline, make_smoothing_spline or LSQUnivariateSpline"
PLANE = "fg.scipy.interpolate.RegularGridInterpolator on grids, RBFInterpolator on scattered points"
POLYNOMIAL = "np.polyfit(x, y, len(x) - 1) with np.polyval, or fg.scipy.interpolate.CubicSpline"

Rows = tuple[tuple[str, str], ...]

NEAREST: dict[str, Rows] = {
    "optimize": (
        ("fmin", "fg.scipy.optimize.minimize(f, x0, method='Nelder-Mead').x"),
        ("fmin_bfgs", "fg.scipy.optimize.minimize(f, x0, method='BFGS').x"),
        ("fmin_cg", "fg.scipy.optimize.minimize(f, x0, method='CG').x"),
        ("fmin_cobyla", "fg.scipy.optimize.minimize(f, x0, method='COBYLA', constraints=...).x"),
        ("fmin_l_bfgs_b", "fg.scipy.optimize.minimize(f, x0, method='L-BFGS-B').x"),
        ("fmin_ncg", "fg.scipy.optimize.minimize(f, x0, method='Newton-CG').x"),
        ("fmin_powell", "fg.scipy.optimize.minimize(f, x0, method='Powell').x"),
        ("fmin_slsqp", "fg.scipy.optimize.minimize(f, x0, method='SLSQP', constraints=...).x"),
        ("fmin_tnc", "fg.scipy.optimize.minimize(f, x0, method='TNC').x"),
        ("fminbound", "fg.scipy.optimize.minimize_scalar(f, bounds=(a, b), method='bounded').x"),
        ("brent bracket golden", "fg.scipy.optimize.minimize_scalar(f).x"),
        ("basinhopping brute differential_evolution direct dual_annealing shgo", SEARCH),
        (
            """anderson broyden1 broyden2 diagbroyden excitingmixing linearmixing newton_krylov
            nonlin_solve BroydenFirst InverseJacobian KrylovJacobian""",
            "fg.scipy.optimize.root(f, x0).x",
        ),
        ("approx_fprime check_grad", "fg.grad(f), or fg.testing.check_grads to check a gradient"),
        ("line_search BFGS SR1 HessianUpdateStrategy LbfgsInvHessProduct", "fg.scipy.optimize.minimize"),
        ("rosen", "np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)"),
        ("rosen_der rosen_hess rosen_hess_prod", "fg.grad, fg.hessian or fg.hvp of the function"),
        ("milp", "fg.scipy.optimize.linprog with the whole numbers that it finds held fixed"),
        ("quadratic_assignment", "fg.scipy.optimize.linear_sum_assignment, or x[found] of what it finds"),
        ("isotonic_regression", "fg.scipy.optimize.minimize with constraints"),
    ),
    "integrate": (
        ("tanhsinh cubature qmc_quad", "fg.scipy.integrate.quad, nquad or quad_vec"),
        ("nsum", "np.sum of a chosen number of terms"),
        ("solve_bvp", "fg.scipy.optimize.root of what fg.scipy.integrate.solve_ivp leaves at the end"),
        ("BDF DOP853 LSODA OdeSolver RK23 RK45 Radau complex_ode ode", "fg.scipy.integrate.solve_ivp"),
        ("DenseOutput OdeSolution", "fg.scipy.integrate.solve_ivp(..., dense_output=True).sol"),
    ),
    "interpolate": (
        ("make_splrep generate_knots", THROUGH),
        ("spalde sproot insert", SPLINE),
        ("splprep make_splprep", "fg.scipy.interpolate.make_interp_spline(u, points)"),
        (
            """AAA BarycentricInterpolator FloaterHormannInterpolator KroghInterpolator
            barycentric_interpolate krogh_interpolate lagrange pade approximate_taylor_polynomial""",
            POLYNOMIAL,
        ),
        ("pchip_interpolate", "fg.scipy.interpolate.PchipInterpolator(xi, yi)(x)"),
        ("CloughTocher2DInterpolator", "fg.scipy.interpolate.LinearNDInterpolator or RBFInterpolator"),
        ("Rbf", "fg.scipy.interpolate.RBFInterpolator"),
        ("BPoly NdPPoly", "fg.scipy.interpolate.PPoly"),
        (
            """BivariateSpline LSQBivariateSpline LSQSphereBivariateSpline NdBSpline
            RectBivariateSpline RectSphereBivariateSpline SmoothBivariateSpline
            SmoothSphereBivariateSpline bisplev bisplrep interp2d""",
            PLANE,
        ),
    ),
    "linalg": (
        ("eig_banded eigvals_banded", "fg.scipy.linalg.eigh of the whole matrix, or eigh_tridiagonal"),
        ("qr_delete qr_insert qr_update", "fg.scipy.linalg.qr"),
        ("qz ordqz rsf2csf cdf2rdf", "fg.scipy.linalg.schur"),
        ("cossin", "fg.scipy.linalg.svd: bases of subspaces are not unique"),
        ("funm", "fg.scipy.linalg.expm, logm, sqrtm, sinm, cosm and their kin"),
        ("expm_cond", "fg.scipy.linalg.expm_frechet"),
        ("matmul_toeplitz", "fg.scipy.linalg.toeplitz(c, r) @ x"),
        ("fiedler_companion", "fg.scipy.linalg.companion"),
        ("diagsvd", "np.diag"),
        ("clarkson_woodruff_transform", "a sketch drawn before: sketch @ x"),
        ("matrix_balance bandwidth ishermitian issymmetric", VALUES.format("a pattern")),
    ),
    "fftpack": (
        (
            "fft ifft fft2 ifft2 fftn ifftn dct idct dctn idctn dst idst dstn idstn",
            "the function of that name in fg.scipy.fft, which gives the same",
        ),
        ("rfft irfft", "the function of that name in fg.scipy.fft, whose spectra are complex numbers"),
        (
            "diff tilbert itilbert hilbert ihilbert cs_diff sc_diff ss_diff cc_diff shift convolve",
            "fg.scipy.fft.ifft of the spectrum fg.scipy.fft.fft(x), times what it does to each frequency",
        ),
    ),
    "fft": (
        ("hfft2 hfftn", "fg.scipy.fft.ifftn along the other axes and hfft along the last"),
        ("ihfft2 ihfftn", "fg.scipy.fft.ihfft along the last axis and fftn along the others"),
        ("next_fast_len prev_fast_len fhtoffset", VALUES.format("a size")),
    ),
    "spatial.distance": (
        ("directed_hausdorff", "np.max(np.min(fg.scipy.spatial.distance.cdist(a, b), 1))"),
        (
            "dice hamming jaccard rogerstanimoto russellrao sokalsneath yule",
            "fg.scipy.spatial.distance.cityblock or braycurtis: a count of unequal elements does not move",
        ),
        ("is_valid_dm is_valid_y num_obs_dm num_obs_y", VALUES.format("an answer")),
    ),
    "spatial": (
        ("distance_matrix", "fg.scipy.spatial.distance.cdist(x, y)"),
        ("minkowski_distance minkowski_distance_p", "fg.scipy.spatial.distance.minkowski or cdist"),
        ("procrustes", "fg.scipy.linalg.orthogonal_procrustes of the centred points"),
        ("geometric_slerp", "np.sin((1 - t) * w) / np.sin(w) * a + np.sin(t * w) / np.sin(w) * b"),
        (
            "ConvexHull Delaunay HalfspaceIntersection KDTree SphericalVoronoi Voronoi cKDTree tsearch",
            INDICES,
        ),
    ),
    "spatial.transform": (("Rotation Slerp RigidTransform", "products of matrices of np.cos and np.sin"),),
    "signal": (
        ("deconvolve", "fg.scipy.signal.lfilter of an impulse"),
        ("upfirdn resample_poly", "fg.scipy.signal.convolve with slices, resample or decimate"),
        ("lombscargle", "fg.scipy.signal.periodogram, or np.sum of cosines and sines"),
        ("CZT ZoomFFT czt zoom_fft", "fg.scipy.fft.fft, or x @ np.exp(-1j * np.outer(n, w))"),
        ("ShortTimeFFT", "fg.scipy.signal.stft and istft"),
        (
            "bode dfreqresp freqresp freqs freqs_zpk freqz_sos freqz_zpk gammatone group_delay sosfreqz",
            RESPONSE,
        ),
        (
            "besselap buttap cheb1ap cheb2ap ellipap iircomb iirdesign iirfilter iirnotch iirpeak",
            "fg.scipy.signal.butter, cheby1, cheby2, ellip or bessel",
        ),
        ("firls firwin2 firwin_2d minimum_phase remez", "fg.scipy.signal.firwin"),
        (
            "StateSpace TransferFunction ZerosPolesGain dimpulse dlsim dlti dstep impulse lsim lti step",
            STATE_SPACE,
        ),
        ("cont2discrete", "fg.scipy.linalg.expm, or fg.scipy.signal.bilinear"),
        (
            "bilinear_zpk lp2bp lp2bp_zpk lp2bs lp2bs_zpk lp2hp lp2hp_zpk lp2lp lp2lp_zpk",
            "fg.scipy.signal.bilinear, or the design of the filter that is wanted: butter and its kin",
        ),
        (
            """abcd_normalize invres invresz normalize residue residuez sos2tf sos2zpk ss2tf ss2zpk
            tf2sos tf2ss tf2zpk unique_roots zpk2sos zpk2ss zpk2tf""",
            "np.roots, np.poly and np.polymul, or a design of fg.scipy.signal with the output that is wanted",
        ),
        ("hilbert2 envelope", "fg.scipy.signal.hilbert"),
        ("medfilt2d order_filter", "fg.scipy.signal.medfilt"),
        ("sepfir2d wiener", "fg.scipy.signal.convolve2d"),
        (
            """cspline1d cspline1d_eval cspline2d gauss_spline qspline1d qspline1d_eval qspline2d
            spline_filter""",
            "fg.scipy.ndimage.spline_filter1d and map_coordinates",
        ),
        ("symiirorder1 symiirorder2", "fg.scipy.signal.lfilter, forwards and backwards"),
        ("savgol_coeffs", "fg.scipy.signal.savgol_filter"),
        ("chirp gausspulse sawtooth square sweep_poly vectorstrength", "np for the formula"),
        ("argrelextrema argrelmax argrelmin find_peaks find_peaks_cwt peak_prominences peak_widths", INDICES),
        ("place_poles", "fg.scipy.optimize.root"),
        (
            """buttord cheb1ord cheb2ord ellipord kaiserord choose_conv_method correlation_lags
            findfreqs max_len_seq unit_impulse""",
            VALUES.format("an order or a size"),
        ),
        ("closest_STFT_dual_window check_COLA check_NOLA get_window", VALUES.format("a window")),
    ),
    "ndimage": (
        (
            "generic_filter generic_filter1d vectorized_filter",
            "np over np.lib.stride_tricks.sliding_window_view(x, shape), or fg.scipy.ndimage.correlate",
        ),
        ("generic_gradient_magnitude generic_laplace", "fg.scipy.ndimage.sobel, prewitt or laplace"),
        ("geometric_transform", "fg.scipy.ndimage.map_coordinates"),
        (
            "fourier_ellipsoid fourier_gaussian fourier_shift fourier_uniform",
            "fg.scipy.fft.fftn, or fg.scipy.ndimage.gaussian_filter, shift or uniform_filter of the image",
        ),
        (
            "extrema histogram labeled_comprehension maximum_position minimum_position value_indices",
            "np.sum, np.mean, np.max and their kin of x[labels == k]",
        ),
        (
            """binary_closing binary_dilation binary_erosion binary_fill_holes binary_hit_or_miss
            binary_opening binary_propagation distance_transform_bf distance_transform_cdt
            distance_transform_edt find_objects iterate_structure label watershed_ift""",
            VALUES.format("a mask or a label"),
        ),
    ),
    "sparse": (
        ("bsr_array bsr_matrix", "fg.scipy.sparse.csr_array"),
        (
            "expand_dims",
            "fg.scipy.sparse.csr_array with the elements that are wanted, or np of its toarray()",
        ),
        ("rand random random_array", "fg.scipy.sparse.csr_array of a pattern drawn before"),
        ("eye eye_array identity", "fg.scipy.sparse.diags_array"),
        (
            "save_npz load_npz",
            "fg.stop_gradient(a.data) with a.indices and a.indptr, which SciPy's csr_array takes",
        ),
        (
            """isspmatrix_bsr isspmatrix_coo isspmatrix_csc isspmatrix_csr isspmatrix_dia isspmatrix_dok
            isspmatrix_lil get_index_dtype safely_cast_index_arrays""",
            "a.indices and a.indptr: a traced sparse array is kept in compressed rows",
        ),
    ),
    "sparse.linalg": (
        ("eigs lobpcg LaplacianNd", "fg.scipy.sparse.linalg.eigsh, or np.linalg.eig of toarray()"),
        ("lsmr", "fg.scipy.sparse.linalg.lsqr"),
        ("spilu SuperLU", "fg.scipy.sparse.linalg.splu"),
        ("funm_multiply_krylov", "fg.scipy.sparse.linalg.expm_multiply, or linalg.expm of toarray()"),
        ("onenormest", "fg.scipy.sparse.linalg.norm(a, 1)"),
        ("is_sptriangular spbandwidth", VALUES.format("a pattern")),
    ),
    "cluster.vq": (("whiten", "x / np.std(x, 0)"), ("kmeans kmeans2 vq", CENTRES)),
    "odr": (
        (
            "ODR Data Model Output RealData odr polynomial exponential multilinear unilinear quadratic",
            "fg.scipy.optimize.least_squares of the residuals of x and of y, with the true x as unknowns",
        ),
    ),
    "special": (
        ("agm", "0.25 * np.pi * (a + b) / fg.scipy.special.ellipk(((a - b) / (a + b)) ** 2)"),
        ("airye itairy", "fg.scipy.special.airy"),
        ("assoc_laguerre genlaguerre laguerre", "fg.scipy.special.eval_genlaguerre"),
        ("jacobi gegenbauer eval_sh_jacobi sh_jacobi", "fg.scipy.special.eval_jacobi"),
        ("hermite hermitenorm", "fg.scipy.special.eval_hermite or eval_hermitenorm"),
        (
            """chebyc chebys chebyt chebyu eval_chebyc eval_chebys eval_sh_chebyt eval_sh_chebyu
            sh_chebyt sh_chebyu""",
            "fg.scipy.special.eval_chebyt or eval_chebyu",
        ),
        (
            """legendre eval_sh_legendre sh_legendre legendre_p legendre_p_all assoc_legendre_p
            assoc_legendre_p_all lpmv sph_harm_y sph_harm_y_all sph_legendre_p sph_legendre_p_all""",
            "fg.scipy.special.eval_legendre, or eval_gegenbauer for its derivatives",
        ),
        (
            """roots_gegenbauer roots_genlaguerre roots_jacobi roots_sh_jacobi cg_roots j_roots
            js_roots la_roots""",
            "fg.scipy.optimize.newton of the polynomial: fg.scipy.special.eval_jacobi and its kin",
        ),
        ("jve jvp hankel1e hankel2e h1vp h2vp", "fg.scipy.special.jv, hankel1 or hankel2, and fg.grad"),
        ("ivp kvp yve yvp", "fg.scipy.special.iv, kv or yv, and fg.grad"),
        ("kelvin ber bei ker kei", "fg.scipy.special.jv or kv of a complex number"),
        ("berp beip kerp keip", "fg.scipy.special.jv or kv of a complex number, and fg.grad"),
        ("riccati_jn riccati_yn", "fg.scipy.special.spherical_jn or spherical_yn"),
        ("elliprc elliprd elliprf elliprg elliprj ellipj", "fg.scipy.special.ellipkinc or ellipeinc"),
        ("factorial2 factorialk", "fg.scipy.special.gamma"),
        ("bdtri bdtrik bdtrin btdtria btdtrib", "fg.scipy.special.betaincinv, or optimize.brentq of betainc"),
        ("nbdtr nbdtrc nbdtri nbdtrik nbdtrin", "fg.scipy.stats.nbinom, or fg.scipy.special.betainc"),
        (
            "chdtriv gdtria gdtrib gdtrix pdtri pdtrik",
            "fg.scipy.special.gammaincinv, or fg.scipy.optimize.brentq of gammainc",
        ),
        ("fdtri fdtridfd stdtridf", "fg.scipy.stats.f.ppf or t.ppf, or fg.scipy.optimize.brentq of a cdf"),
        ("nrdtrimn nrdtrisd", "fg.scipy.special.ndtri"),
        ("voigt_profile", "np.real(wofz(z)) / (sigma * np.sqrt(2 * np.pi)) with fg.scipy.special.wofz"),
        ("radian round tklmbda", "np for the formula"),
        ("kolmogi kolmogorov smirnov smirnovi", "fg.scipy.optimize.brentq, and np.sum of the series"),
    ),
    "stats": (
        ("order_statistic", "np.sort"),
        ("sigmaclip", "np.mean of a slice of np.sort(x), or np.where"),
        ("mode percentileofscore binned_statistic cumfreq relfreq", VALUES.format("a count")),
        ("binned_statistic_2d binned_statistic_dd", VALUES.format("a count")),
        ("boxcox_normmax", "fg.scipy.stats.boxcox(x)[1]"),
        ("yeojohnson_normmax", "fg.scipy.stats.yeojohnson(x)[1]"),
        ("wasserstein_distance_nd", "np.mean(np.abs(np.sort(x) - np.sort(y)))"),
        (
            """chi2_contingency ks_1samp ks_2samp kstest alexandergovern tukey_hsd shapiro
            anderson""",
            TEST,
        ),
        (
            """spearmanr spearmanrho kendalltau weightedtau somersd chatterjeexi mannwhitneyu
            wilcoxon ranksums kruskal friedmanchisquare ansari mood fligner theilslopes
            siegelslopes brunnermunzel page_trend_test bws_test""",
            RANKS,
        ),
    ),
}
"""By package: names, and what is used instead."""


@cache
def table() -> dict[tuple[str, str], str]:
    """The rows by package and name."""
    return {
        (package, name): words
        for package, rows in NEAREST.items()
        for names, words in rows
        for name in names.split()
    }


def words_for(package: str, name: str) -> Iterator[str]:
    """What the table has for a name in a package, or in a package of its."""
    for (place, known), words in table().items():
        if known == name and (place == package or place.startswith(f"{package}.")):
            yield words


def remedy_for(package: str, name: str) -> str:
    """What to do instead of calling a function of SciPy's on a traced value.

    >>> print(remedy_for("scipy.optimize", "fmin_bfgs"))
    Use fg.scipy.optimize.minimize(f, x0, method='BFGS').x.
    >>> print(remedy_for("scipy.special", "struve"))
    See docs/howto/scipy-without-a-derivative.md: a rule by fg.custom_vjp, or a value by fg.stop_gradient(x).
    """
    found = next(words_for(package.removeprefix("scipy."), name.partition(".")[0]), None)
    if found is None and package.startswith("scipy.cluster"):
        found = INDICES
    if found is not None:
        return f"Use {found}."
    return f"See {PAGE}: a rule by fg.custom_vjp, or a value by fg.stop_gradient(x)."
