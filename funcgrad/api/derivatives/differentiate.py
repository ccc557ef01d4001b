"""`vjp`, `jvp`, `linearize`, `linear_transpose`: derivatives of functions as linear maps.

Of complex functions `vjp` is the transpose of `jvp`, without conjugation; gradients stand in `gradients`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar, TypeVarTuple, overload

from funcgrad import tree
from funcgrad.api.calling.again import with_packages
from funcgrad.api.calling.arguments import here, leaf_aval
from funcgrad.api.calling.calls import run, trace
from funcgrad.api.calling.points import PointTrace, linearize_programs, rebuilt_arguments, vjp_programs
from funcgrad.api.calling.results import full_gradients, matching_leaves
from funcgrad.api.derivatives.linear_maps import Pullback, Pushforward
from funcgrad.api.python.seen import seen
from funcgrad.errors import NotDifferentiableError, ProgramError, TreeError
from funcgrad.ir.avals import Aval
from funcgrad.ir.check import check_linear
from funcgrad.ir.program import Program
from funcgrad.ops.elementwise.identity import stop_gradient as stop_gradient_primitive
from funcgrad.tracing.tracer import Tracer
from funcgrad.transforms.linearize import jvp_program
from funcgrad.transforms.simplify import simplify_program
from funcgrad.transforms.transpose import transpose_program
from funcgrad.types import Anything, Result, Tree

Function = Callable[..., Any]

X = TypeVar("X")
R = TypeVar("R")
A = TypeVar("A")
Xs = TypeVarTuple("Xs")


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
    fun: Callable[..., tuple[R, A]], primals: Sequence[Any], tangents: Sequence[Any], has_aux: Literal[True]
) -> tuple[R, R, A]: ...
@overload
def jvp(
    fun: Callable[..., R], primals: Sequence[Any], tangents: Sequence[Any], has_aux: Literal[False] = False
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

    def call(tracers: list[Tracer]) -> Result:
        return seen(fun)(*rebuilt_arguments(in_trees, tracers))

    def collect(result: Result) -> list[Any]:
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

    def transposed(cotangent: Tree) -> tuple[Any, ...]:
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

    >>> fg.grad(lambda x: x * stop_gradient(x))(3.0)
    np.float64(3.0)
    """
    stopped: X = tree.map(_stopped, x)
    return stopped


def _stopped(leaf: Anything) -> Anything:
    return stop_gradient_primitive(leaf) if isinstance(leaf, Tracer) else leaf
