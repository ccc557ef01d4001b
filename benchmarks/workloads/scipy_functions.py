"""SciPy's functions under derivatives: distributions, filters, images, sparse systems; beside its values."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from benchmarks.compiled import compiled_gradients
from benchmarks.contenders import gradients
from benchmarks.model import Builder, Call, Contender, Versus, Workload

SEED = 0
VALUE = "scipy.value"
"""What SciPy takes for the value, without a derivative."""


def of_package(package: str, use: Callable[..., Any]) -> Callable[..., Any]:
    """A function that is given a package of SciPy's, or a counterpart, in the place of the namespace."""

    def loss(np: Any, *args: Any) -> Any:
        return use(import_module(package), *args)

    return loss


def value_alone(package: str, use: Callable[..., Any]) -> Contender:
    """SciPy's own value."""

    def build(scipy: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
        module = import_module(package)

        def call() -> Any:
            return use(module, *inputs)

        return call

    return Contender(VALUE, "scipy", build, compared=False)


# -- distributions -----------------------------------------------------------------------------------------


def normal_likelihood(stats: Any, parameters: Any, x: Any) -> Any:
    """Of mean and standard deviation."""
    return stats.norm.logpdf(x, parameters[0], parameters[1]).sum()


def gamma_likelihood(stats: Any, parameters: Any, x: Any) -> Any:
    """Of shape and scale."""
    return stats.gamma.logpdf(x, parameters[0], 0.0, parameters[1]).sum()


def beta_likelihood(stats: Any, parameters: Any, x: Any) -> Any:
    """Of both shapes."""
    return stats.beta.logpdf(x, parameters[0], parameters[1]).sum()


def numbers(np: Any) -> tuple[Any, ...]:
    """Two parameters, and a million numbers between 0 and 1."""
    return np.array([2.1, 3.3]), np.random.default_rng(SEED).uniform(0.001, 0.999, 10**6)


def likelihood(name: str, use: Callable[..., Any]) -> Workload:
    """Value and gradient of a log-likelihood by its parameters, compiled."""
    ours, theirs = of_package("funcgrad.scipy.stats", use), of_package("jax.scipy.stats", use)
    return Workload(
        name=f"jit-likelihood-{name}",
        title=f"log-likelihood of 10⁶ points, {name} distribution, by its parameters",
        contenders=(
            *compiled_gradients(ours, names=("funcgrad", "jax.jit"), instead={"jax": theirs}),
            value_alone("scipy.stats", use),
        ),
        targets=(Versus(("jax.jit",), 1.5),),
        inputs=numbers,
        in_quick=False,
    )


# -- signals and images ------------------------------------------------------------------------------------


def filtered_energy(signal: Any, x: Any, b: Any, a: Any) -> Any:
    """The energy of a filtered signal."""
    return (signal.lfilter(b, a, x) ** 2).sum()


def smoothed_energy(ndimage: Any, x: Any) -> Any:
    """The energy of a smoothed image."""
    return (ndimage.gaussian_filter(x, 1.0) ** 2).sum()


def energy_at(ndimage: Any, coordinates: Any, x: Any) -> Any:
    """The energy of an image at coordinates, by cubic splines."""
    return (ndimage.map_coordinates(x, coordinates, order=3) ** 2).sum()


def signal_and_filter(np: Any) -> tuple[Any, ...]:
    """A million samples, and a filter of second order."""
    return (
        np.random.default_rng(SEED).normal(size=10**6),
        np.array([0.3, 0.2, 0.1]),
        np.array([1.0, -0.5, 0.3]),
    )


def picture(np: Any) -> tuple[Any, ...]:
    """An image of 1000 × 1000."""
    return (np.random.default_rng(SEED).normal(size=(1000, 1000)),)


def points_and_picture(np: Any) -> tuple[Any, ...]:
    """A million points in an image of 1000 × 1000."""
    rng = np.random.default_rng(SEED)
    return rng.uniform(2.0, 996.0, size=(2, 10**6)), rng.normal(size=(1000, 1000))


def beside_value(
    name: str, title: str, package: str, use: Callable[..., Any], inputs: Callable[[Any], tuple[Any, ...]]
) -> Workload:
    """Value and gradient, compiled, beside SciPy's value."""
    ours = of_package(f"funcgrad.{package}", use)
    return Workload(
        name=name,
        title=title,
        contenders=(*compiled_gradients(ours, names=("funcgrad",)), value_alone(package, use)),
        targets=(Versus((VALUE,), 1 / 4),),
        inputs=inputs,
        in_quick=False,
    )


# -- sparse systems ----------------------------------------------------------------------------------------


def poisson_problem(np: Any) -> tuple[Any, ...]:
    """The five-point star on 300 × 300 points as compressed rows, and a right-hand side."""
    sparse = import_module("scipy.sparse")
    n = 300
    line = sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
    star = (sparse.kron(sparse.eye_array(n), line) + sparse.kron(line, sparse.eye_array(n))).tocsr()
    b = np.random.default_rng(SEED).normal(size=n * n)
    return [star.data, b], star.indices, star.indptr


def solution_energy(sparse: Any, unknown: Any, indices: Any, indptr: Any) -> Any:
    """The energy of the solution, by the elements of the matrix and the right-hand side."""
    data, b = unknown
    n = len(indptr) - 1
    a = sparse.csr_array((data, indices, indptr), shape=(n, n))
    return (import_module(f"{sparse.__name__}.linalg").spsolve(a, b) ** 2).sum()


def with_other_numbers(build: Builder) -> Builder:
    """The call on a matrix that changes a little every time, for factors are remembered by their contents."""

    def building(library: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
        (data, b), *rest = inputs
        rounds = [0]

        def call() -> Any:
            rounds[0] += 1
            return build(library, np, ([data * (1.0 + 1e-13 * rounds[0]), b], *rest))()

        return call

    return building


def sparse_system() -> Workload:
    """Un-jitted value and gradient of a solution by factors."""
    (ours,) = gradients(of_package("funcgrad.scipy.sparse", solution_energy), value=True, names=("funcgrad",))
    return Workload(
        name="spsolve",
        title="un-jitted: spsolve of a Poisson problem on 300² points, by matrix and right-hand side",
        contenders=(
            Contender(ours.name, ours.library, with_other_numbers(ours.build)),
            value_alone("scipy.sparse", solution_energy),
        ),
        targets=(Versus((VALUE,), 1 / 3),),
        inputs=poisson_problem,
        rounds=3,
        in_quick=False,
    )


WORKLOADS = (
    likelihood("normal", normal_likelihood),
    likelihood("gamma", gamma_likelihood),
    likelihood("beta", beta_likelihood),
    beside_value("jit-lfilter", "lfilter of 10⁶ samples", "scipy.signal", filtered_energy, signal_and_filter),
    beside_value(
        "jit-gaussian-filter", "gaussian_filter of 1000²", "scipy.ndimage", smoothed_energy, picture
    ),
    beside_value(
        "jit-map-coordinates",
        "map_coordinates of order 3 at 10⁶ points, by the points",
        "scipy.ndimage",
        energy_at,
        points_and_picture,
    ),
    sparse_system(),
)
