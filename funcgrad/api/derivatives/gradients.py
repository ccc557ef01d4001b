"""`grad` and `value_and_grad`: gradients of functions with one real number as their value.

Conventions for complex numbers are JAX's: for a real loss of a complex z = x + iy, the gradient is
df/dx - i df/dy. What most programs begin with stands here alone, and imports little.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar, overload

import numpy as np

from funcgrad.api.calling.arguments import Argnums, OfUfunc, Selection, check_differentiable
from funcgrad.api.calling.calls import trace
from funcgrad.api.calling.results import NO_AUX, Aux, full_gradients, scalar_output
from funcgrad.api.calling.transformed import TransformedFunction, transform
from funcgrad.api.control_flow.outer_writes import OuterWrites
from funcgrad.api.derivatives.straight import straight
from funcgrad.api.python.seen import Seen
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Result, Tree

if TYPE_CHECKING:
    from funcgrad.api.calling.signatures import (
        Gradient,
        GradientAndAux,
        ValueAndGradient,
        ValueAuxAndGradient,
    )

Function = Callable[..., Any]

F = TypeVar("F", bound=Function)
P = ParamSpec("P")
R = TypeVar("R")


@overload
def grad(fun: np.ufunc, argnums: Argnums = 0, *, holomorphic: bool = False) -> OfUfunc: ...
@overload
def grad(
    fun: F,
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[True],
    holomorphic: bool = False,
    allow_int: Literal[False] = False,
) -> GradientAndAux[F]: ...
@overload
def grad(
    fun: F,
    argnums: Literal[0] = 0,
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
    allow_int: Literal[False] = False,
) -> Gradient[F]: ...
@overload
def grad(
    fun: Callable[P, Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> TransformedFunction[P, Any]: ...
@overload
def grad(
    *, argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False, allow_int: bool = False
) -> Callable[[Callable[P, Any]], TransformedFunction[P, Any]]: ...
@transform
def grad(
    fun: Function,
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Function:
    """A function that returns the gradient of the scalar function `fun`.

    The gradient has the structure, shapes and dtypes of the argument at `argnums` (a tuple of them
    for a tuple). With `has_aux`, `fun` returns ``(value, aux)`` and the result is ``(gradient, aux)``.

    Raises NonScalarGradError if the value is not a real scalar, NotDifferentiableError for integer
    arguments, ArgnumsError for argnums that the call does not have.

    >>> import numpy as np
    >>> def f(x):
    ...     return np.sum(np.sin(x) ** 2)
    >>> print(grad(f)(np.array([0.0, np.pi / 4])))
    [0. 1.]
    """
    return value_and_gradient_of(fun, argnums, has_aux, holomorphic, allow_int, keeps_value=False)


@overload
def value_and_grad(fun: np.ufunc, argnums: Argnums = 0, *, holomorphic: bool = False) -> OfUfunc: ...
@overload
def value_and_grad(
    fun: F,
    argnums: Literal[0] = 0,
    *,
    has_aux: Literal[True],
    holomorphic: bool = False,
    allow_int: Literal[False] = False,
) -> ValueAuxAndGradient[F]: ...
@overload
def value_and_grad(
    fun: F,
    argnums: Literal[0] = 0,
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
    allow_int: Literal[False] = False,
) -> ValueAndGradient[F]: ...
@overload
def value_and_grad(
    fun: Callable[P, R],
    argnums: Argnums = 0,
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> TransformedFunction[P, tuple[R, Any]]: ...
@overload
def value_and_grad(
    fun: Callable[P, Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> TransformedFunction[P, tuple[Any, Any]]: ...
@overload
def value_and_grad(
    *, argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False, allow_int: bool = False
) -> Callable[[Callable[P, R]], TransformedFunction[P, tuple[R, Any]]]: ...
@transform
def value_and_grad(
    fun: Function,
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Function:
    """A function that returns the value of the scalar function `fun` and its gradient.

    As `grad`, with results ``(value, gradient)`` or ``((value, aux), gradient)``.

    >>> import numpy as np
    >>> value, gradient = value_and_grad(lambda x: np.sum(x**2))(np.array([3.0, 4.0]))
    >>> print(value, gradient)
    25.0 [6. 8.]
    """
    return value_and_gradient_of(fun, argnums, has_aux, holomorphic, allow_int, keeps_value=True)


def value_and_gradient_of(
    fun: Function, argnums: Argnums, has_aux: bool, holomorphic: bool, allow_int: bool, *, keeps_value: bool
) -> Function:
    """What `grad` and `value_and_grad` share. Where the value is not kept it is not computed either."""
    look = Seen(fun)

    def value_and_gradient(*args: Tree, **kwargs: Tree) -> Result:
        selection = Selection(argnums, args, kwargs, "grad")
        avals = check_differentiable(selection, "grad", holomorphic=holomorphic, allow_int=allow_int)
        aux = Aux(True) if has_aux else NO_AUX
        outer = OuterWrites()

        def call(tracers: list[Tracer]) -> Result:
            return selection.call(look.now(), tracers)

        def collect(result: Result) -> list[Any]:
            value = aux.value_of(result) if has_aux else result
            return [scalar_output(value, holomorphic, fun), *aux.leaves, *outer.left()]

        try:
            traced = trace(fun, call, selection.leaves, "grad", collect, avals=avals)
        finally:
            outer.put_back()
        active = tuple([a.inexact for a in avals]) if allow_int else (True,) * len(avals)
        results = traced.run(traced.gradient(active, keeps_value=keeps_value))
        n_all = len(traced.outputs) - (not keeps_value)
        n_outputs = n_all - len(outer.arrays)
        if outer.arrays:
            outer.write(results[n_outputs:n_all])
        gradient = selection.rebuilt(full_gradients(avals, results[n_all:]) if allow_int else results[n_all:])
        if has_aux:
            kept = aux.rebuilt(results[int(keeps_value) : n_outputs])
            return ((results[0], kept), gradient) if keeps_value else (gradient, kept)
        return (results[0], gradient) if keeps_value else gradient

    if type(argnums) is not int or argnums < 0 or has_aux or holomorphic or allow_int:
        return value_and_gradient
    return straight(fun, argnums, look, keeps_value, value_and_gradient)
