"""How an operation becomes a public function with the calling convention of NumPy's ufuncs.

Owns the decorator that does it, and nothing that computes: ``out=``, ``where=`` and ``dtype=`` are NumPy's
own affair on arrays, and that of `funcgrad.numpy.dispatch` on traced values.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

import numpy as np

from funcgrad.errors import DtypeError
from funcgrad.numpy.dispatch import called_with_options, implements
from funcgrad.ops.families import aval, ufunc_dtypes
from funcgrad.source import user_location
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.recorder import located, recorder_of
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Array, Arrays, UfuncLike, UfuncOption

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Operand: TypeAlias = "Tracer | ArrayLike"
"""What an operation takes: a traced value, or anything NumPy makes an array of."""

F = TypeVar("F", bound=Callable[..., Any])


def elementwise(ufunc: UfuncLike, operation: Callable[..., Any] | None = None) -> Callable[[F], F]:
    """Make the decorated function the public face of `operation`, and answer NumPy's `ufunc` with it.

    The decorated function gives name, signature and docstring. Without an operation, its body computes the
    result from operands of which one at least is traced; NumPy answers where none is.

    >>> print(fg.numpy.tanh([0.0, 1.0], out=np.zeros(2), where=[False, True]))
    [0.         0.76159416]
    """

    def public(described: F) -> F:
        operate = composed(ufunc, described) if operation is None else operation
        implements(ufunc)(operate)

        def one(x: Operand, /, out: Array = None, **options: UfuncOption) -> Arrays:
            if out is None and not options:
                return operate(x)
            return with_options(ufunc, operate, (x,), out, options)

        def two(x: Operand, y: Operand, /, out: Array = None, **options: UfuncOption) -> Arrays:
            if out is None and not options:
                return operate(x, y)
            return with_options(ufunc, operate, (x, y), out, options)

        def several(*operands: ArrayLike, out: Array = None, **options: UfuncOption) -> Arrays:
            inputs, rest = operands[: ufunc.nin], operands[ufunc.nin :]
            if out is None and not options and not rest:
                return operate(*inputs)
            return with_options(ufunc, operate, inputs, rest[0] if rest else out, options)

        convention: Callable[..., Any] = one if ufunc.nin == 1 else two if ufunc.nin == 2 else several
        return cast(F, wraps(described)(convention))

    return public


def composed(ufunc: UfuncLike, body: Callable[..., Any]) -> Callable[..., Any]:
    """The operation that `body` computes on traced operands, and `ufunc` on others."""

    def operate(*args: ArrayLike) -> Arrays:
        operands = [asoperand(x) for x in args]
        return ufunc(*operands) if recorder_of(operands) is None else body(*operands)

    return operate


def with_options(
    ufunc: UfuncLike,
    operate: Callable[..., Any],
    inputs: tuple[Operand, ...],
    out: Array,
    options: dict[str, Any],
) -> Array:
    """A call that says more than its operands."""
    if out is not None:
        options["out"] = out
    operands = tuple([asoperand(x) for x in inputs])
    outs = out if isinstance(out, tuple) else (out,)
    if recorder_of([*operands, *outs, options.get("where")]) is None:
        return ufunc(*operands, **options)
    return called_with_options(ufunc, operate, operands, options)


def untraced(*operands: object) -> bool:
    """Whether NumPy alone can answer: no operand (already through `asoperand`) is traced."""
    return recorder_of(operands) is None


def own(x: Operand) -> Array:
    """An operand's values under a name of their own: later writes into `x` do not show."""
    return x.frozen() if isinstance(x, Tracer) else np.array(x)


def loop_dtypes(ufunc: UfuncLike, *operands: Operand) -> tuple[np.dtype[Any], ...]:
    """The dtypes of NumPy's loop for these operands: theirs, then the result's.

    Raises DtypeError, at the user's line, where NumPy has no loop for them.
    """
    try:
        return ufunc_dtypes(ufunc.__name__, ufunc, tuple([aval(x) for x in operands]))
    except DtypeError as error:
        raise located(error, user_location()) from None
