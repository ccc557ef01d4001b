"""Special functions: ``torch.special``."""

from __future__ import annotations

from typing import Any

import numpy as np

from funcgrad.scipy import special as _special
from funcgrad.torch.core.apply import apply
from funcgrad.torch.core.backward.history import Op
from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.operations.pointwise.arithmetic import Binary
from funcgrad.torch.operations.pointwise.elementwise import as_floating
from funcgrad.torch.operations.pointwise.polynomials import POLYNOMIALS
from funcgrad.torch.operations.registry import FUNCTIONS, take_out

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
globals().update({name: FUNCTIONS[other] for name, other in _SAME.items()})
globals().update(POLYNOMIALS)


def _of_one(name: str, title: str, function: Any) -> Any:
    made = Op(title, function, input_names=("self",))

    def special_function(input: Tensor) -> Any:
        return apply(made, (as_floating(input),))

    special_function.__name__ = special_function.__qualname__ = name
    return special_function


def _entr(x: Any) -> Any:
    return _special.entr(x)


def _ndtr(x: Any) -> Any:
    return _special.ndtr(x)


def _log_ndtr(x: Any) -> Any:
    return _special.log_ndtr(x)


def _ndtri(x: Any) -> Any:
    return _special.ndtri(x)


def _erfcx(x: Any) -> Any:
    return _special.erfcx(x)


def _i0(x: Any) -> Any:
    return _special.i0(x)


def _i0e(x: Any) -> Any:
    return _special.i0e(x)


def _i1(x: Any) -> Any:
    return _special.i1(x)


def _i1e(x: Any) -> Any:
    return _special.i1e(x)


entr = _of_one("entr", "SpecialEntrBackward0", _entr)
ndtr = _of_one("ndtr", "SpecialNdtrBackward0", _ndtr)
log_ndtr = _of_one("log_ndtr", "SpecialLogNdtrBackward0", _log_ndtr)
ndtri = _of_one("ndtri", "SpecialNdtriBackward0", _ndtri)
erfcx = _of_one("erfcx", "SpecialErfcxBackward0", _erfcx)
i0 = _of_one("i0", "I0Backward0", _i0)
i0e = _of_one("i0e", "SpecialI0EBackward0", _i0e)
i1 = _of_one("i1", "SpecialI1Backward0", _i1)
i1e = _of_one("i1e", "SpecialI1EBackward0", _i1e)


def _xlog1py(x: Any, y: Any) -> Any:
    return _special.xlog1py(x, y)


def _zeta(x: Any, q: Any) -> Any:
    return _special.zeta(x, q)


_XLOG1PY = Binary("SpecialXlog1PyBackward0", _xlog1py, result="float")
_ZETA = Binary("SpecialZetaBackward0", _zeta, result="float")


def xlog1py(input: Operand, other: Operand) -> Tensor:
    """``input * log1p(other)``, 0 where `input` is 0."""
    return _XLOG1PY.promoted(input, other)


def zeta(input: Operand, other: Operand) -> Tensor:
    """The Hurwitz zeta function."""
    return _ZETA.promoted(input, other)


def _two(name: str, title: str) -> Any:
    def values(x: Any, y: Any) -> Any:
        return getattr(_special, name)(x, y)

    binary = Binary(title, values, result="float")

    def special_function(input: Any, other: Any) -> Any:
        return binary.promoted(input, other)

    special_function.__name__ = special_function.__qualname__ = name
    return special_function


def _by_name(ours: str, scipys: str) -> Any:
    def values(x: Any) -> Any:
        return getattr(_special, scipys)(x)

    return _of_one(ours, "NotImplemented", values)


gammainc = _two("gammainc", "IgammaBackward0")
gammaincc = _two("gammaincc", "IgammacBackward0")
bessel_j0, bessel_j1 = _by_name("bessel_j0", "j0"), _by_name("bessel_j1", "j1")
bessel_y0, bessel_y1 = _by_name("bessel_y0", "y0"), _by_name("bessel_y1", "y1")
modified_bessel_i0, modified_bessel_i1 = i0, i1
modified_bessel_k0 = _by_name("modified_bessel_k0", "k0")
modified_bessel_k1 = _by_name("modified_bessel_k1", "k1")
scaled_modified_bessel_k0 = _by_name("scaled_modified_bessel_k0", "k0e")
scaled_modified_bessel_k1 = _by_name("scaled_modified_bessel_k1", "k1e")


def multigammaln(input: Tensor, p: int) -> Operand:
    """The logarithm of the multivariate gamma function."""
    found: Any = input * 0 + 0.25 * p * (p - 1) * float(np.log(np.pi))
    for k in range(p):
        found = found + (input - 0.5 * k).lgamma()
    return found


__all__ = [  # noqa: PLE0604 - strings, most of them from the table
    *_SAME,
    "bessel_j0",
    "bessel_j1",
    "bessel_y0",
    "bessel_y1",
    "entr",
    "erfcx",
    "gammainc",
    "gammaincc",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "log_ndtr",
    "modified_bessel_i0",
    "modified_bessel_i1",
    "modified_bessel_k0",
    "modified_bessel_k1",
    "multigammaln",
    "ndtr",
    "ndtri",
    "scaled_modified_bessel_k0",
    "scaled_modified_bessel_k1",
    "xlog1py",
    "zeta",
]

take_out(globals(), [*__all__, *POLYNOMIALS])


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
