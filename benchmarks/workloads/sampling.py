"""Functions known at sample points, and samples of distributions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from benchmarks.contenders import gradients
from benchmarks.model import Call, Contender, Versus, Workload

SEED = 0
POSITIONS = 1_000_000
POINTS = 1_000


def interpolated(np: Any, line: Sequence[Any], points: Any) -> Any:
    """The mean square of a broken line at many positions."""
    heights, positions = line
    return np.mean(np.interp(positions, points, heights) ** 2)


def torch_interpolated(torch: Any, line: Sequence[Any], points: Any) -> Any:
    """torch has no `interp`: search, gather, and mend the ends."""
    heights, positions = line
    piece = torch.searchsorted(points, positions.detach(), right=True) - 1
    piece = torch.clamp(piece, 0, len(points) - 2)
    slopes = (heights[1:] - heights[:-1]) / (points[1:] - points[:-1])
    inside = torch.clamp(positions, points[0], points[-1])
    return torch.mean((heights[piece] + slopes[piece] * (inside - points[piece])) ** 2)


def interp_inputs(np: Any) -> tuple[Any, ...]:
    """Normal positions among normal points."""
    rng = np.random.default_rng(SEED)
    points = np.sort(rng.normal(size=POINTS))
    return [rng.normal(size=POINTS), rng.normal(size=POSITIONS)], points


INTERP = Workload(
    name="interp",
    title="value and gradient, by heights and positions, of `interp` at 10⁶ positions among 1,000 points",
    contenders=gradients(
        interpolated,
        value=True,
        names=("funcgrad", "torch", "jax", "jax.jit"),
        instead={"torch": torch_interpolated},
    ),
    targets=(Versus(("torch", "jax", "jax.jit"), 2.0),),
    inputs=interp_inputs,
    in_quick=False,
)

SAMPLES = 10_000_000


def funcgrad_normal(fg: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
    """The whole sample, of which the size is returned: libraries draw different numbers."""
    key = fg.random.key(SEED)

    def call() -> Any:
        return np.asarray(fg.random.normal(key, (SAMPLES,)).size)

    return call


def torch_normal(torch: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
    """torch's generator of the process."""

    def call() -> Any:
        return np.asarray(torch.randn(SAMPLES, dtype=torch.float64).numel())

    return call


def jax_normal(jax: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
    """jax, compiled or not: `normal` is compiled in any case."""
    key = jax.random.key(SEED)

    def call() -> Any:
        return np.asarray(jax.random.normal(key, (SAMPLES,), jax.numpy.float64).block_until_ready().size)

    return call


def jax_jitted_normal(jax: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
    """jax under `jit`, with the key as its argument."""
    key, draw = jax.random.key(SEED), jax.jit(partial(normal_of, jax))

    def call() -> Any:
        return np.asarray(draw(key).block_until_ready().size)

    return call


def normal_of(jax: Any, key: Any) -> Any:
    """What is compiled."""
    return jax.random.normal(key, (SAMPLES,), jax.numpy.float64)


NORMAL = Workload(
    name="normal",
    title="10⁷ normal samples, float64",
    contenders=(
        Contender("funcgrad", "funcgrad", funcgrad_normal),
        Contender("torch", "torch", torch_normal),
        Contender("jax", "jax", jax_normal),
        Contender("jax.jit", "jax", jax_jitted_normal),
    ),
    targets=(Versus(("torch", "jax", "jax.jit"), 1.0),),
    in_quick=False,
)

STEPS = 1_000


def gamma_walk(loop: Any, fold_in: Any, gamma: Any, places: Any, key: Any) -> Any:
    """Gamma samples, each of which says the shape of the next."""

    def step(shape: Any, k: Any) -> tuple[Any, Any]:
        sample = gamma(fold_in(key, k), shape)
        return 0.5 * shape + 0.5 * sample / (1.0 + sample) + 0.5, sample

    return loop(step, 2.5, places)[1]


def funcgrad_gamma(fg: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
    """The walk under `jit`; the number of samples is returned, since libraries draw different ones."""
    key, places = fg.random.key(SEED), np.arange(STEPS)
    walk = fg.jit(partial(gamma_walk, fg.scan, fg.random.fold_in, fg.random.gamma, places))

    def call() -> Any:
        return np.asarray(walk(key).size)

    return call


def jax_jitted_gamma(jax: Any, np: Any, inputs: tuple[Any, ...]) -> Call:
    """jax under `jit`, with the key as its argument."""
    key, places = jax.random.key(SEED), np.arange(STEPS)
    walk = jax.jit(partial(gamma_walk, jax.lax.scan, jax.random.fold_in, jax.random.gamma, places))

    def call() -> Any:
        return np.asarray(walk(key).block_until_ready().size)

    return call


GAMMA_IN_SCAN = Workload(
    name="gamma-in-scan",
    title="a `scan` over 1,000 steps with a gamma sample each",
    contenders=(
        Contender("funcgrad", "funcgrad", funcgrad_gamma),
        Contender("jax.jit", "jax", jax_jitted_gamma),
    ),
    targets=(Versus(("jax.jit",), 1.0),),
    in_quick=False,
)

WORKLOADS = (INTERP, NORMAL, GAMMA_IN_SCAN)
