"""Small real data sets that ship with the package, for the first run, the documentation and the tests.

Owns the files, their provenance and their loaders. Knows nothing about tracing: a loader answers with
plain NumPy arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

__all__ = ["Dataset", "load_breast_cancer"]


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """A table of measurements with one target per row, and where it comes from.

    ``X`` is ``f64[rows, columns]``, ``y`` is ``f64[rows]``; ``feature_names`` names the columns of
    ``X``; ``source`` is the citation and ``licence`` the terms under which the data may be shared.
    """

    name: str
    X: NDArray[np.float64]
    y: NDArray[np.float64]
    feature_names: tuple[str, ...]
    source: str
    licence: str


def load_breast_cancer() -> Dataset:
    """Return the ten mean features of the Wisconsin diagnostic breast cancer data (WDBC, 1995).

    Each of the 569 rows describes the cell nuclei in one digitised image of a fine-needle aspirate of
    a breast mass; each feature is the mean over the nuclei in the image.

    >>> from funcgrad.datasets import load_breast_cancer
    >>> data = load_breast_cancer()
    >>> data.X.shape, data.y.shape, data.X.dtype
    ((569, 10), (569,), dtype('float64'))
    >>> data.feature_names[:3]
    ('radius', 'texture', 'perimeter')
    >>> int((data.y > 0).sum()), int((data.y < 0).sum())    # malignant, benign
    (212, 357)

    ``X``: ``f64[569, 10]``. ``radius`` and ``perimeter`` are lengths and ``area`` an area in the units
    of the digitised image, whose scale the source does not state; ``texture`` is a standard deviation
    of grey levels; ``smoothness``, ``compactness`` (perimeter² / area − 1), ``concavity``,
    ``concave_points``, ``symmetry`` and ``fractal_dimension`` (coastline approximation − 1) have no
    unit. All were recorded with four significant digits; none is missing.

    ``y``: ``f64[569]``, +1.0 for a malignant mass (212 rows), −1.0 for a benign one (357 rows).

    Every call returns fresh arrays, so a caller may modify them.

    Source: W. Wolberg, O. Mangasarian, N. Street and W. Street, Breast Cancer Wisconsin (Diagnostic),
    UCI Machine Learning Repository, 1995, doi:10.24432/C5DW2B, licensed CC BY 4.0. Changed here: of
    the 30 features the ten means are kept (no standard errors, no "worst" values), the patient numbers
    are left out and a header is added. Features as defined by W. N. Street, W. H. Wolberg and
    O. L. Mangasarian, Nuclear feature extraction for breast tumor diagnosis, Proc. SPIE 1905 (1993).
    """
    text = files(__name__).joinpath("breast_cancer.csv").read_text(encoding="utf-8")
    header, *rows = (line.split(",") for line in text.splitlines())
    return Dataset(
        name="Breast Cancer Wisconsin (Diagnostic)",
        X=np.array([row[:-1] for row in rows], dtype=np.float64),
        y=np.array([1.0 if row[-1] == "malignant" else -1.0 for row in rows]),
        feature_names=tuple(header[:-1]),
        source=(
            "W. Wolberg, O. Mangasarian, N. Street, W. Street: Breast Cancer Wisconsin (Diagnostic), "
            "UCI Machine Learning Repository, 1995, doi:10.24432/C5DW2B"
        ),
        licence="CC BY 4.0; ten of the 30 features kept, patient numbers left out",
    )


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
