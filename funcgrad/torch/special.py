"""Special functions: ``torch.special``. Each is a row of a table; ``special.pyi`` says so to editors."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.api.rules.custom import custom_jvp
from funcgrad.scipy import special
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.operations.pointwise.polynomials import POLYNOMIALS
from funcgrad.torch.operations.pointwise.rows import Row, of_one, of_two
from funcgrad.torch.operations.registry import FUNCTIONS, take_out
from funcgrad.types import Array, Arrays

_SAME = {
    "digamma": "digamma",
    "erf": "erf",
    "erfc": "erfc",
    "erfinv": "erfinv",
    "exp2": "exp2",
    "expit": "sigmoid",
    "expm1": "expm1",
    "gammaln": "lgamma",
    "log1p": "log1p",
    "log_softmax": "log_softmax",
    "logit": "logit",
    "logsumexp": "logsumexp",
    "polygamma": "polygamma",
    "psi": "digamma",
    "round": "round",
    "sinc": "sinc",
    "softmax": "softmax",
    "xlogy": "xlogy",
}
"""Those that the module ``torch`` has as well, by their name there."""


def _airy_ai(x: Array) -> Array:
    return special.airy(x)[0]


def _spherical(x: Array) -> Array:
    return np.sinc(x / np.pi)


@custom_jvp
def _xlog1py(x: Array, y: Array) -> Array:
    return special.xlog1py(x, y)


@_xlog1py.defjvp
def _xlog1py_jvp(primals: Arrays, tangents: Arrays) -> Arrays:
    (x, y), (dx, dy) = primals, tangents
    # As in PyTorch, as those of `xlogy` are.
    slope = np.where((x == 0) & (y <= -1), np.zeros((), y.dtype), np.log1p(y))
    return _xlog1py(x, y), slope * dx + x / (y + 1) * dy


# What PyTorch has no derivative of has one here; the node has the name that it has there.
_OF_ONE = (
    Row("airy_ai", "NotImplemented", _airy_ai, "The Airy function that goes to 0."),
    Row("bessel_j0", "NotImplemented", special.j0, "The Bessel function of the first kind of order 0."),
    Row("bessel_j1", "NotImplemented", special.j1, "The Bessel function of the first kind of order 1."),
    Row("bessel_y0", "NotImplemented", special.y0, "The Bessel function of the second kind of order 0."),
    Row("bessel_y1", "NotImplemented", special.y1, "The Bessel function of the second kind of order 1."),
    Row("entr", "SpecialEntrBackward0", special.entr, "``-x * log(x)``, 0 at 0."),
    Row("erfcx", "SpecialErfcxBackward0", special.erfcx, "``exp(x ** 2) * erfc(x)``."),
    Row("i0", "I0Backward0", special.i0, "The modified Bessel function of the first kind of order 0."),
    Row("i0e", "SpecialI0EBackward0", special.i0e, "``exp(-|x|) * i0(x)``."),
    Row("i1", "SpecialI1Backward0", special.i1, "The modified Bessel function of the first kind of order 1."),
    Row("i1e", "SpecialI1EBackward0", special.i1e, "``exp(-|x|) * i1(x)``."),
    Row("log_ndtr", "SpecialLogNdtrBackward0", special.log_ndtr, "The logarithm of `ndtr`."),
    Row("modified_bessel_k0", "NotImplemented", special.k0, "The one of the second kind of order 0."),
    Row("modified_bessel_k1", "NotImplemented", special.k1, "The one of the second kind of order 1."),
    Row("ndtr", "SpecialNdtrBackward0", special.ndtr, "The normal distribution's cumulative probability."),
    Row("ndtri", "SpecialNdtriBackward0", special.ndtri, "The inverse of `ndtr`."),
    Row("scaled_modified_bessel_k0", "NotImplemented", special.k0e, "``exp(x) * modified_bessel_k0(x)``."),
    Row("scaled_modified_bessel_k1", "NotImplemented", special.k1e, "``exp(x) * modified_bessel_k1(x)``."),
    Row("spherical_bessel_j0", "NotImplemented", _spherical, "``sin(x) / x``, 1 at 0."),
)
_OF_TWO = (
    Row("gammainc", "IgammaBackward0", special.gammainc, "The lower regularised incomplete gamma function."),
    Row("gammaincc", "IgammacBackward0", special.gammaincc, "One less `gammainc`."),
    Row(
        "xlog1py",
        "SpecialXlog1PyBackward0",
        _xlog1py,
        "``input * log1p(other)``, 0 where `input` is 0.",
    ),
    Row("zeta", "SpecialZetaBackward0", special.zeta, "The Hurwitz zeta function."),
)
_SAME_HERE = {"modified_bessel_i0": "i0", "modified_bessel_i1": "i1"}


def multigammaln(input: Tensor, p: int) -> Operand:
    """The logarithm of the multivariate gamma function."""
    found: Any = input * 0 + 0.25 * p * (p - 1) * float(np.log(np.pi))
    for k in range(p):
        found = found + (input - 0.5 * k).lgamma()
    return found


_here = globals()
_here.update({name: FUNCTIONS[other] for name, other in _SAME.items()})
_here.update({row.name: of_one(row) for row in _OF_ONE} | {row.name: of_two(row) for row in _OF_TWO})
_here.update({name: _here[other] for name, other in _SAME_HERE.items()})
_here.update(POLYNOMIALS)

__all__ = sorted(  # noqa: PLE0605 - from the table
    {*_SAME, *_SAME_HERE, *POLYNOMIALS, *(row.name for row in (*_OF_ONE, *_OF_TWO)), "multigammaln"}
)

take_out(_here, __all__)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
