"""Bundle adjustment, as ADBench states it: many small residuals, each of one camera and one point.

Srajer, Kukelova and Fitzgibbon, "A benchmark of selected algorithmic differentiation tools on some problems
in computer vision and machine learning", 2018. A camera is eleven numbers: a rotation vector, its centre, its
focal length, its principal point and two coefficients of radial distortion.
"""

from __future__ import annotations

from typing import Any

from benchmarks.problems.models import SEED

CAMERAS, POINTS, OBSERVATIONS = 49, 7776, 31843
"""The sizes of ADBench's first problem."""


def rotated(np: Any, r: Any, x: Any) -> Any:
    """Vectors turned by rotation vectors: Rodrigues' formula for (..., 3), as a list of three."""
    r0, r1, r2 = r[..., 0], r[..., 1], r[..., 2]
    x0, x1, x2 = x[..., 0], x[..., 1], x[..., 2]
    angle = np.sqrt(r0**2 + r1**2 + r2**2)
    cosine, sine = np.cos(angle), np.sin(angle)
    w0, w1, w2 = r0 / angle, r1 / angle, r2 / angle
    along = (w0 * x0 + w1 * x1 + w2 * x2) * (1.0 - cosine)
    return (
        x0 * cosine + (w1 * x2 - w2 * x1) * sine + w0 * along,
        x1 * cosine + (w2 * x0 - w0 * x2) * sine + w1 * along,
        x2 * cosine + (w0 * x1 - w1 * x0) * sine + w2 * along,
    )


def reprojection(np: Any, inputs: Any, feature: Any) -> Any:
    """The weighted residuals (..., 2) of observations: (..., 15) numbers and where each was seen (..., 2).

    The fifteen are those of the camera, the three of the point, and the weight.
    """
    x, y, z = rotated(np, inputs[..., 0:3], inputs[..., 11:14] - inputs[..., 3:6])
    x, y = x / z, y / z
    square = x**2 + y**2
    scale = inputs[..., 6] * (1.0 + inputs[..., 9] * square + inputs[..., 10] * square**2)
    weight = inputs[..., 14]
    return np.stack(
        [
            weight * (x * scale + inputs[..., 7] - feature[..., 0]),
            weight * (y * scale + inputs[..., 8] - feature[..., 1]),
        ],
        -1,
    )


def bundle_loss(np: Any, parameters: Any, camera: Any, point: Any, feature: Any) -> Any:
    """Half the sum of squares of all residuals, those of the weights among them."""
    cameras, points, weights = parameters
    inputs = np.concatenate([cameras[camera], points[point], weights[:, None]], 1)
    missed = reprojection(np, inputs, feature)
    return 0.5 * (np.sum(missed**2) + np.sum((1.0 - weights**2) ** 2))


def bundle_inputs(
    np: Any, cameras: int = CAMERAS, points: int = POINTS, observations: int = OBSERVATIONS
) -> tuple[Any, ...]:
    """Cameras, points, weights; who saw what, and where."""
    rng = np.random.default_rng(SEED)
    found = np.empty((cameras, 11))
    found[:, 0:3] = 0.3 * rng.normal(size=(cameras, 3))
    found[:, 3:6] = 0.2 * rng.normal(size=(cameras, 3)) - np.array([0.0, 0.0, 6.0])
    found[:, 6] = 500.0
    found[:, 7:9] = rng.normal(size=(cameras, 2))
    found[:, 9:11] = 0.01 * rng.normal(size=(cameras, 2))
    parameters = (found, rng.normal(size=(points, 3)), 1.0 + 0.1 * rng.normal(size=observations))
    camera, point = rng.integers(cameras, size=observations), rng.integers(points, size=observations)
    return parameters, camera, point, 50.0 * rng.normal(size=(observations, 2))


def gathered_inputs(np: Any) -> tuple[Any, ...]:
    """The fifteen numbers of every observation, and where each was seen."""
    (cameras, points, weights), camera, point, feature = bundle_inputs(np)
    return np.concatenate([cameras[camera], points[point], weights[:, None]], 1), feature
