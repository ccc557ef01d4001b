"""Functions known at sample points, and samples of distributions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.contenders import gradients
from benchmarks.model import Versus, Workload

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

WORKLOADS = (INTERP,)
