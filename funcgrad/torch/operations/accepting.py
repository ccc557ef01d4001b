"""What operations accept besides plain calls, as tables by name: numbers in tensors, rank 0, complex numbers.

Read once, when an operation is published; an operation that stands in no table is published as it is.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from funcgrad.torch.core.operand import Operand, Operands
from funcgrad.torch.core.tensor import Tensor
from funcgrad.torch.operations.requiring import OF_ONE_DTYPE, UNDEFINED, require_kinds, with_one_dtype
from funcgrad.types import Anything

_NUMBERS = ("alpha", "beta", "value")

_CLAMP = (NotImplementedError, "clamp is not supported for complex types")
_SORT = (RuntimeError, " Sort does not support complex dtypes on CPU")


def _unknown(kernel: str) -> tuple[type[Exception], str]:
    return NotImplementedError, f"\"{kernel}\" not implemented for '{{kind}}'"


NOT_COMPLEX: dict[str, tuple[type[Exception], str]] = {
    **dict.fromkeys(("clamp", "clip", "clamp_min", "clamp_max"), _CLAMP),
    **dict.fromkeys(("sort", "argsort", "msort"), _SORT),
    "topk": (RuntimeError, " topk does not support complex dtypes on CPU"),
    "kthvalue": _unknown("kthvalue_cpu"),
    "amax": _unknown("max_values_cpu"),
    "amin": _unknown("min_values_cpu"),
    "aminmax": _unknown("aminmax_cpu"),
    "histc": _unknown("aminmax_cpu"),
    "argmax": (RuntimeError, "argmax(): does not support complex input"),
    "argmin": (RuntimeError, "argmin(): does not support complex input"),
    "max": _unknown("max_all"),
    "min": _unknown("min_all"),
    "median": _unknown("median_cpu"),
    "nanmedian": _unknown("median_cpu"),
    "mode": _unknown("mode_cpu"),
    "cummax": _unknown("cummax_cpu"),
    "cummin": _unknown("cummin_cpu"),
    "unique": _unknown("unique"),
    "unique_consecutive": _unknown("unique"),
    "searchsorted": _unknown("searchsorted_out_cpu"),
    "logit": _unknown("logit_cpu"),
    "xlogy": _unknown("xlogy_cpu"),
    "atan2": _unknown("atan2_cpu"),
    "arctan2": _unknown("atan2_cpu"),
    "remainder": _unknown("remainder_cpu"),
    "fmod": _unknown("fmod_cpu"),
    "digamma": _unknown("digamma"),
    "erf": _unknown("erf_vml_cpu"),
    "erfc": _unknown("erfc_vml_cpu"),
    "round": _unknown("round_vml_cpu"),
    "nansum": (RuntimeError, "nansum on CPU does not support complex inputs"),
    "nanmean": (RuntimeError, "nansum on CPU does not support complex inputs"),
    "isin": (RuntimeError, "Unsupported input type encountered for isin(): {kind}"),
    "signbit": (NotImplementedError, "signbit is not implemented for complex tensors."),
    "sign": (
        NotImplementedError,
        "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead.",
    ),
    **{
        name: (NotImplementedError, f"{name} is not supported for complex inputs")
        for name in ("floor", "ceil", "trunc")
    },
    **{name: (RuntimeError, f"{name} does not support complex inputs.") for name in ("isposinf", "isneginf")},
    **{
        name: (RuntimeError, f"{name} not implemented for complex tensors.")
        for name in ("maximum", "minimum", "fmax", "fmin")
    },
}
"""What refuses complex tensors, and with what; ``{kind}`` stands for PyTorch's word for the dtype."""

_OF_TENSORS = ("atan2", "arctan2", "fmax", "fmin", "gcd", "hypot", "igamma", "igammac", "lcm", "ldexp")
SECOND_TENSORS = {
    **dict.fromkeys(_OF_TENSORS, "other"),
    **dict.fromkeys(("logaddexp", "logaddexp2", "logical_and", "logical_or", "logical_xor"), "other"),
    **dict.fromkeys(("maximum", "minimum", "nextafter"), "other"),
    "heaviside": "values",
    "polar": "angle",
}
"""What takes tensors alone: the word for the second, which may be no number."""

FIRST_TENSORS = frozenset(
    {
        *SECOND_TENSORS,
        "clamp_max",
        "clamp_min",
        "copysign",
        "eq",
        "fmod",
        "ge",
        "gt",
        "le",
        "lt",
        "ne",
        "rsub",
    }
)
"""Functions whose first argument may be no number."""

_POLYNOMIALS = [
    f"{family}_polynomial_{kind}"
    for family, kinds in (("chebyshev", "tuvw"), ("shifted_chebyshev", "tuvw"), ("hermite", ("h", "he")))
    for kind in kinds
]

ONE_TENSOR = frozenset(
    {
        *(f"bitwise_{word}" for word in ("and", "or", "xor", "left_shift", "right_shift")),
        *_POLYNOMIALS,
        *("laguerre_polynomial_l", "legendre_polynomial_p"),
        *("float_power", "pow", "remainder", "xlog1py", "xlogy", "zeta"),
    }
)
"""Functions one of whose first two arguments may be a number, not both."""

EXACT_RESULTS = frozenset(
    {
        *("aminmax", "argmax", "argmin", "complex", "gather", "index_select", "kthvalue", "masked_select"),
        *("max", "median", "min", "multinomial", "sort", "take", "topk"),
    }
)
"""Functions whose ``out=`` has the dtype of the result."""

APART = frozenset({"cat", "gather", "index_select", "kthvalue", "masked_select", "take"})
"""Functions whose ``out=`` shares no memory with what they read."""

AS_ONE_DIMENSION = frozenset(
    {
        "aminmax",
        "index_add",
        "index_copy",
        "index_fill",
        "index_reduce",
        "mode",
        "nanmedian",
        "nanquantile",
        "quantile",
        "scatter_reduce",
    }
)
"""What takes a tensor without dimensions for one of a single element; so have its results none."""


def accepting(f: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The function with what the tables say of its name; ``axis`` is another word for ``dim``."""
    f = with_other_words(f, name)
    if name in SECOND_TENSORS:
        f = with_second_tensor(f, name)
    if name in AS_ONE_DIMENSION:
        f = with_rank_zero(f)
    if name in OF_ONE_DTYPE:
        f = with_one_dtype(f, name)
    if name in UNDEFINED:
        f = with_kinds(f, name)
    return without_complex(f, *NOT_COMPLEX[name]) if name in NOT_COMPLEX else f


def with_other_words(f: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The function, which takes ``axis`` for ``dim``, and numbers in tensors without dimensions."""
    parameters = inspect.signature(f).parameters
    axis = "dim" in parameters and "axis" not in parameters
    numbers = [number for number in _NUMBERS if number in parameters]
    if not axis and not numbers:
        return f

    @functools.wraps(f)
    def function(*args: Operand, **kwargs: Anything) -> Operands:
        if kwargs:
            if axis and "axis" in kwargs:
                kwargs["dim"] = kwargs.pop("axis")
            for number in numbers:
                given = kwargs.get(number)
                if isinstance(given, Tensor):
                    if given._value.shape or given._rg:
                        raise TypeError(f"{name}(): argument '{number}' must be Number, not Tensor")
                    kwargs[number] = given.item()
        return f(*args, **kwargs)

    return function


def with_second_tensor(f: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The function, which refuses a number as its second argument."""

    @functools.wraps(f)
    def function(input: Operand, *args: Operand, **kwargs: Anything) -> Operands:
        if args and isinstance(args[0], bool | int | float | complex):
            kind, word = type(args[0]).__name__, SECOND_TENSORS[name]
            raise TypeError(f"{name}(): argument '{word}' (position 2) must be Tensor, not {kind}")
        return f(input, *args, **kwargs)

    return function


def with_rank_zero(f: Callable[..., Any]) -> Callable[..., Any]:
    """The function, for which a tensor without dimensions has one of one element."""

    @functools.wraps(f)
    def function(input: Operand, *args: Operand, **kwargs: Anything) -> Operands:
        if not isinstance(input, Tensor) or input._value.shape or not (args or kwargs):
            return f(input, *args, **kwargs)
        whole = [t.reshape(1) if isinstance(t, Tensor) and not t._value.shape else t for t in args]
        found = f(input.reshape(1), *whole, **kwargs)
        if not isinstance(found, tuple):
            return found if not found._value.shape or found._value.shape[-1:] != (1,) else found.squeeze(-1)
        parts = [t.reshape(()) for t in found]
        return type(found)(*parts) if hasattr(found, "_fields") else type(found)(parts)

    return function


def with_kinds(f: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The function, which refuses tensors of kinds that PyTorch has it not for."""
    kinds = UNDEFINED[name][0]
    second = name in SECOND_TENSORS

    @functools.wraps(f)
    def function(input: Operand, *args: Operand, **kwargs: Anything) -> Operands:
        if isinstance(input, Tensor) and input._value.dtype.kind in kinds:
            other = args[0] if second and args else input
            if not isinstance(other, Tensor) or other._value.dtype.kind in kinds:
                require_kinds(name, input)
        return f(input, *args, **kwargs)

    return function


def without_complex(f: Callable[..., Any], error: type[Exception], message: str) -> Callable[..., Any]:
    """The function, which refuses complex tensors with this error."""

    @functools.wraps(f)
    def function(input: Operand, *args: Operand, **kwargs: Anything) -> Operands:
        for x in (input, *args[:1]):
            if isinstance(x, Tensor) and x._value.dtype.kind == "c":
                raise error(message.format(kind=x.type()[6:-6]))
        return f(input, *args, **kwargs)

    return function
