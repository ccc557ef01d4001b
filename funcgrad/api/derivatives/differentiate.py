"""`grad`, `value_and_grad`, `vjp`, `jvp`, `linearize`, `linear_transpose`: derivatives of functions.

Conventions for complex numbers are JAX's: for a real loss of a complex z = x + iy, the gradient is
df/dx - i df/dy; `vjp` is the transpose of `jvp`, without conjugation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar, TypeVarTuple, overload

import numpy as np

from funcgrad import tree
from funcgrad.api.calling.again import with_packages
from funcgrad.api.calling.arguments import Argnums, OfUfunc, Selection, check_differentiable, here, leaf_aval
from funcgrad.api.calling.calls import run, trace
from funcgrad.api.calling.points import PointTrace, linearize_programs, rebuilt_arguments, vjp_programs
from funcgrad.api.calling.results import NO_AUX, Aux, full_gradients, matching_leaves, scalar_output
from funcgrad.api.calling.transformed import TransformedFunction, transform
from funcgrad.api.control_flow.outer_writes import OuterWrites
from funcgrad.api.derivatives.linear_maps import Pullback, Pushforward
from funcgrad.api.python.seen import Seen, seen
from funcgrad.errors import (
    NotDifferentiableError,
    ProgramError,
    TreeError,
)
from funcgrad.ir.avals import Aval
from funcgrad.ir.check import check_linear
from funcgrad.ir.program import Program
from funcgrad.ops.elementwise.identity import stop_gradient as stop_gradient_primitive
from funcgrad.tracing.tracer import Tracer
from funcgrad.transforms.linearize import jvp_program
from funcgrad.transforms.simplify import simplify_program
from funcgrad.transforms.transpose import transpose_program
from funcgrad.types import Tree

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
X = TypeVar("X")
R = TypeVar("R")
A = TypeVar("A")
Xs = TypeVarTuple("Xs")


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

    def value_and_gradient(*args: Any, **kwargs: Any) -> Any:
        selection = Selection(argnums, args, kwargs, "grad")
        avals = check_differentiable(selection, "grad", holomorphic=holomorphic, allow_int=allow_int)
        aux = Aux(True) if has_aux else NO_AUX
        outer = OuterWrites()

        def call(tracers: list[Tracer]) -> Any:
            return selection.call(look.now(), tracers)

        def collect(result: Any) -> list[Any]:
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

    return value_and_gradient


# -- vjp --------------------------------------------------------------------------------------------------


@overload
def vjp(
    fun: Callable[[*Xs], tuple[R, A]], *primals: *Xs, has_aux: Literal[True]
) -> tuple[R, Pullback[tuple[*Xs]], A]: ...
@overload
def vjp(
    fun: Callable[[*Xs], R], *primals: *Xs, has_aux: Literal[False] = False
) -> tuple[R, Pullback[tuple[*Xs]]]: ...
@overload
def vjp(
    fun: Callable[..., R], *primals: Tree, has_aux: Literal[False] = False
) -> tuple[R, Pullback[tuple[Any, ...]]]: ...
@overload
def vjp(fun: Function, *primals: Tree, has_aux: bool) -> tuple[Any, ...]: ...
def vjp(  # type: ignore[misc] # Any number of anything is what *Xs means, too
    fun: Function, *primals: Tree, has_aux: bool = False
) -> tuple[Any, ...]:
    """Return ``fun(*primals)`` and its pullback, a function from cotangents to tuples of cotangents.

    With `has_aux` the function returns ``(value, aux)`` and the result is ``(value, pullback, aux)``.

    >>> import numpy as np
    >>> out, pullback = vjp(np.multiply, 2.0, 5.0)
    >>> print(out, *pullback(1.0))
    10.0 5.0 2.0
    """
    traced = with_packages(PointTrace, fun, primals, "vjp", has_aux)
    split = traced.split("vjp", vjp_programs)
    values, residuals = traced.primal_results(split)
    pullback: Pullback[Any] = Pullback(
        split.other,
        residuals,
        split.has_tangent,
        traced.avals,
        traced.in_trees,
        traced.out_avals,
        traced.out_tree,
    )
    value, aux = traced.outputs(values)
    return (value, pullback, aux) if has_aux else (value, pullback)


# -- forward mode -----------------------------------------------------------------------------------------


@overload
def jvp(
    fun: Callable[..., tuple[R, A]],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    has_aux: Literal[True],
) -> tuple[R, R, A]: ...
@overload
def jvp(
    fun: Callable[..., R],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    has_aux: Literal[False] = False,
) -> tuple[R, R]: ...
@overload
def jvp(fun: Function, primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool) -> tuple[Any, ...]: ...
def jvp(
    fun: Function, primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False
) -> tuple[Any, ...]:
    """Return ``fun(*primals)`` and its derivative in the direction `tangents`.

    Raises TreeError, ShapeError or DtypeError where tangents do not match the primals.

    >>> import numpy as np
    >>> value, slope = jvp(np.sin, (0.0,), (2.0,))
    >>> print(value, slope)
    0.0 2.0
    """
    for what, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, tuple | list):
            raise TreeError(
                f"{what} of jvp must be a tuple or list of arguments, got {type(given).__name__}",
                source=here(),
            )
    traced = with_packages(PointTrace, fun, primals, "jvp", has_aux)
    wanted = tree.structure(tuple(primals))
    leaves = matching_leaves(tuple(tangents), wanted, traced.avals, "jvp", "tangent")
    active, count = traced.active, len(traced.out_avals)

    def build(program: Program) -> Program:
        return traced.traced.finished(jvp_program(program, active, count))

    program = traced.traced.transformed(("jvp", active, count), build)
    dots = [t for t, a in zip(leaves, traced.avals, strict=True) if a.inexact]
    results = list(run(program, [*traced.traced.operands, *dots, *traced.traced.evaluated]))
    n_outputs = len(traced.traced.outputs)
    value, aux = traced.outputs(results[:n_outputs])
    out_dots = tree.unflatten(traced.out_tree, full_gradients(traced.out_avals, results[n_outputs:]))
    return (value, out_dots, aux) if has_aux else (value, out_dots)


@overload
def linearize(
    fun: Callable[..., tuple[R, A]], *primals: Tree, has_aux: Literal[True]
) -> tuple[R, Pushforward[R], A]: ...
@overload
def linearize(
    fun: Callable[..., R], *primals: Tree, has_aux: Literal[False] = False
) -> tuple[R, Pushforward[R]]: ...
@overload
def linearize(fun: Function, *primals: Tree, has_aux: bool) -> tuple[Any, ...]: ...
def linearize(fun: Function, *primals: Tree, has_aux: bool = False) -> tuple[Any, ...]:
    """Return ``fun(*primals)`` and the linear map of its derivative there, evaluated once.

    >>> import numpy as np
    >>> value, slope = linearize(np.exp, 0.0)
    >>> print(value, slope(3.0))
    1.0 3.0
    """
    traced = with_packages(PointTrace, fun, primals, "linearize", has_aux)
    split = traced.split("linearize", linearize_programs)
    values, residuals = traced.primal_results(split)
    pushforward: Pushforward[Any] = Pushforward(
        split.other,
        residuals,
        split.has_tangent,
        traced.avals,
        tree.structure(primals),
        traced.out_avals,
        traced.out_tree,
    )
    value, aux = traced.outputs(values)
    return (value, pushforward, aux) if has_aux else (value, pushforward)


def linear_transpose(fun: Function, *primals: Tree) -> Callable[[Any], tuple[Any, ...]]:
    """The transpose of a linear function: a function from cotangents of the output to those of the inputs.

    Only shapes and dtypes of `primals` matter. Raises NotDifferentiableError where `fun` is not linear.

    >>> import numpy as np
    >>> transposed = linear_transpose(lambda x: 3.0 * x, 1.0)
    >>> print(*transposed(2.0))
    6.0
    """
    flat = [tree.flatten(x) for x in primals]
    in_trees = [treedef for _, treedef in flat]
    leaves = [leaf for part, _ in flat for leaf in part]
    avals = [
        leaf if isinstance(leaf, Aval) else leaf_aval(leaf, lambda: "an argument", "linear_transpose")
        for leaf in leaves
    ]
    structure: list[Any] = []

    def call(tracers: list[Tracer]) -> Any:
        return seen(fun)(*rebuilt_arguments(in_trees, tracers))

    def collect(result: Any) -> list[Any]:
        outs, treedef = tree.flatten(result)
        structure.append(treedef)
        return outs

    traced = trace(fun, call, leaves, "linear_transpose", collect, with_values=False, avals=avals)
    refuse_nonlinear(traced.recorder.program(range(len(avals)), traced.outputs))
    out_avals = [traced.recorder.avals[i] for i in traced.outputs]
    extras = traced.operands[len(avals) :]

    def build(program: Program) -> Program:
        order = (*program.inputs[len(avals) :], *program.inputs[: len(avals)])
        turned = Program(order, program.captured, program.equations, program.outputs, program.name)
        return simplify_program(transpose_program(turned, len(extras)))

    program = traced.transformed(("linear_transpose",), build)

    def transposed(cotangent: Any) -> tuple[Any, ...]:
        given = matching_leaves(cotangent, structure[0], out_avals, "the transposed function", "cotangent")
        found = list(run(program, [*extras, *given]))
        return tuple(rebuilt_arguments(in_trees, found))

    return transposed


def refuse_nonlinear(program: Program) -> None:
    """Raise NotDifferentiableError unless the Program is linear in its inputs."""
    try:
        check_linear(program, 0)
    except ProgramError as error:
        raise NotDifferentiableError(
            f"linear_transpose needs a linear function: {error.args[0]}", source=error.source
        ) from None


def stop_gradient(x: X) -> X:
    """`x`, treated as constant by every derivative.

    >>> grad(lambda x: x * stop_gradient(x))(3.0)
    np.float64(3.0)
    """
    stopped: X = tree.map(_stopped, x)
    return stopped


def _stopped(leaf: Any) -> Any:
    return stop_gradient_primitive(leaf) if isinstance(leaf, Tracer) else leaf
