"""Writes docs/coverage-scipy.md: which functions of SciPy have counterparts with derivatives here.

It asks both packages for their public names; that the counterparts are right is what tests/scipy shows.

    python docs/coverage_scipy.py            # rewrites the page
    python docs/coverage_scipy.py --check    # says whether it is current
"""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
import scipy

VERSION = ".".join(scipy.__version__.split(".")[:2])
PAGE = Path(__file__).with_name("coverage-scipy.md")

PACKAGES = {
    "optimize": "Roots, minima, fits, assignments: derivatives by the implicit function theorem.",
    "integrate": "Integrals by Leibniz' rule, trajectories by sensitivities or the adjoint "
    "equation, times of events by the zeros that they are.",
    "interpolate": "Derivatives by positions, values and knots.",
    "linalg": "On traced matrices, real and complex, with derivatives of every order. `ldl` is refused by "
    "name, as are `null_space`, `orth` and `subspace_angles` under `jit` and `vmap`: values decide shapes.",
    "fft": "SciPy's own functions on traced arrays, and those of `fg.scipy.fft`, alike.",
    "spatial.distance": "Metrics on real vectors, finite at coincident points.",
    "special": "SciPy's own functions on traced arrays, and those of `fg.scipy.special`, alike.",
    "stats": "Distributions by name, and statistics. Without a formula are the distribution functions and "
    "quantiles of `vonmises`, `vonmises_line`, `norminvgauss`, `logser`, `betabinom`, `betanbinom` and "
    "`skellam`, and `multivariate_normal.cdf`: SciPy's values, with derivatives by rules. Refused on traced "
    "values is the entropy of `betanbinom`, where SciPy's own sum does not converge. `rankdata` is refused "
    "by name.",
    "signal": "Convolutions, filters, spectra, design.",
    "ndimage": "Filters and interpolation of images.",
    "sparse": "Products as they stand, arrays with traced data.",
    "sparse.linalg": "Systems with sparse matrices.",
}
"""Packages, and a sentence for each."""


def public(module: ModuleType) -> list[str]:
    """The names a package offers that can be called."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        names = getattr(module, "__all__", dir(module))
        return sorted(n for n in names if n[0] != "_" and offers(module, n))


def offers(module: ModuleType, name: str) -> bool:
    """Whether a name stands for something to call, or for a distribution."""
    found = getattr(module, name, None)
    errors = isinstance(found, type) and issubclass(found, BaseException)
    return (
        found is not None
        and not isinstance(found, ModuleType)
        and not errors
        and not isinstance(found, np.generic)
    )


def section(package: str) -> list[str]:
    """What the page says of one package."""
    theirs = public(import_module(f"scipy.{package}"))
    try:
        ours = import_module(f"funcgrad.scipy.{package}")
    except ModuleNotFoundError:
        return ["", f"## scipy.{package}", "", "None of it yet."]
    supported = [n for n in theirs if hasattr(ours, n)]
    missing = [n for n in theirs if not hasattr(ours, n)]
    lines = ["", f"## scipy.{package}", "", PACKAGES[package], ""]
    lines += wrapped([f"`{n}`" for n in supported])
    if missing:
        lines += [
            "",
            "Not differentiated: their errors name what keeps the gradient, or they take no traced values.",
            "",
        ]
        lines += wrapped([f"`{n}`" for n in missing])
    return lines


def wrapped(words: list[str]) -> list[str]:
    """The words, separated by commas, in lines of 110 columns."""
    lines, line = [], ""
    for word in [f"{w}," for w in words[:-1]] + words[-1:]:
        if len(line) + len(word) > 108:
            lines.append(line)
            line = ""
        line = f"{line} {word}".strip()
    return [*lines, line]


def page() -> str:
    """The page."""
    parts = [
        f"# The functions of SciPy {VERSION} under derivatives",
        "",
        "<!-- Written by docs/coverage_scipy.py from the code; do not edit. -->",
        "",
        "Values come from SciPy's own routines; the derivatives are rules, in every order, forwards and",
        "backwards, under `vmap` and `jit`. The names are those of `fg.scipy`, with SciPy's signatures.",
        "Where SciPy's routine runs inside compiled code, it is a step of NumPy's; `fg.explain` says so.",
    ]
    for package in PACKAGES:
        parts += section(package)
    return "\n".join(parts) + "\n"


def main() -> int:
    """Write the page, or check that it is current."""
    text = page()
    if "--check" in sys.argv:
        return int(PAGE.read_text(encoding="utf-8") != text)
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
