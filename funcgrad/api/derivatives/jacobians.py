"""Whole Jacobians and Hessians, from `jvp` or `vjp` mapped over a basis."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar, overload

import numpy as np

from funcgrad import tree
from funcgrad.api.batch import vmap
from funcgrad.api.calling.arguments import Argnums, OfUfunc, Selection, check_differentiable, here
from funcgrad.api.calling.calls import CACHE, name_of
from funcgrad.api.calling.transformed import TransformedFunction, transform
from funcgrad.api.control_flow.loop_notices import notice_as
from funcgrad.api.derivatives.differentiate import jvp, linearize, vjp
from funcgrad.api.derivatives.gradients import grad
from funcgrad.api.derivatives.linear_maps import Pullback, Pushforward
from funcgrad.api.python.seen import seen
from funcgrad.errors import NotDifferentiableError, TreeError
from funcgrad.ir.avals import Aval
from funcgrad.ops.arrays.indexing import Gather, Scatter
from funcgrad.ops.arrays.structure import reshape, zeros_beside
from funcgrad.ops.families import aval as aval_of_any
from funcgrad.tracing.tracer import Tracer
from funcgrad.transforms.known_zeros import FEWEST_COLUMNS, Groups, columns_in_groups
from funcgrad.types import Array, Result, Tree

if TYPE_CHECKING:
    from funcgrad.api.calling.signatures import Jacobian
    from funcgrad.tree.treedef import TreeDef

Function = Callable[..., Any]

_whole: ContextVar[bool] = ContextVar("funcgrad_whole_jacobians", default=False)

F = TypeVar("F", bound=Function)
P = ParamSpec("P")


@overload
def jacfwd(fun: np.ufunc, argnums: Argnums = 0, *, holomorphic: bool = False) -> OfUfunc: ...
@overload
def jacfwd(
    fun: F, argnums: Literal[0] = 0, has_aux: Literal[False] = False, holomorphic: bool = False
) -> Jacobian[F]: ...
@overload
def jacfwd(
    fun: Callable[P, Any], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False
) -> TransformedFunction[P, Any]: ...
@overload
def jacfwd(
    *, argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False
) -> Callable[[Callable[P, Any]], TransformedFunction[P, Any]]: ...
@transform
def jacfwd(fun: Function, argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False) -> Function:
    """The Jacobian of `fun` by forward mode: one tangent per input element, all in one batch.

    The result has the structure of the output, and in each leaf the structure of the argument; shapes
    are output shape + input shape. Best where inputs are fewer than outputs. Of 64 inputs and more, elements
    that are zero whatever the numbers are (those outside the band of a banded matrix) are not computed.

    >>> import numpy as np
    >>> print(jacfwd(lambda x: x**2)(np.array([1.0, 2.0])))
    [[2. 0.]
     [0. 4.]]
    """

    def jacobian_forward(*args: Tree, **kwargs: Tree) -> Result:
        selection = Selection(argnums, args, kwargs, "jacfwd")
        avals = check_differentiable(selection, "jacfwd", holomorphic=holomorphic, allow_int=False)

        def of_leaves(leaves: list[Any]) -> Result:
            return selection.call(seen(fun), leaves)

        notice_as(of_leaves, fun, "jacfwd")
        push: Function
        out, push, *aux = linearize(of_leaves, selection.leaves, has_aux=has_aux)
        check_results(tree.leaves(out), fun, "jacfwd")
        refuse_complex_pairs(avals, tree.leaves(out), holomorphic, "jacfwd")
        pairs = [a.dtype.kind == "c" and not holomorphic for a in avals]
        groups = known_zeros(push, pairs, sum(a.size for a in avals))
        if groups is None:
            columns = columns_of(push, basis(avals, pairs, 1j), any(pairs))
        else:
            found, out_tree = tree.flatten(vmap(push, out_axes=-1)(seeds(avals, groups)))
            columns = tree.unflatten(out_tree, [spread(x, groups, k, -1) for k, x in enumerate(found)])
        jacobian = tree.map(lambda x: split_last(x, avals, pairs, selection.treedef), columns)
        return (jacobian, aux[0]) if has_aux else jacobian

    return jacobian_forward


@overload
def jacrev(fun: np.ufunc, argnums: Argnums = 0, *, holomorphic: bool = False) -> OfUfunc: ...
@overload
def jacrev(
    fun: F,
    argnums: Literal[0] = 0,
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
    allow_int: Literal[False] = False,
) -> Jacobian[F]: ...
@overload
def jacrev(
    fun: Callable[P, Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> TransformedFunction[P, Any]: ...
@overload
def jacrev(
    *, argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False, allow_int: bool = False
) -> Callable[[Callable[P, Any]], TransformedFunction[P, Any]]: ...
@transform
def jacrev(
    fun: Function,
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Function:
    """The Jacobian of `fun` by reverse mode: one cotangent per output element, all in one batch.

    Structure and shapes as `jacfwd`. Best where outputs are fewer than inputs.

    >>> import numpy as np
    >>> print(jacrev(lambda x: x**2)(np.array([1.0, 2.0])))
    [[2. 0.]
     [0. 4.]]
    """

    def jacobian_reverse(*args: Tree, **kwargs: Tree) -> Result:
        selection = Selection(argnums, args, kwargs, "jacrev")
        ins = check_differentiable(selection, "jacrev", holomorphic=holomorphic, allow_int=allow_int)

        def of_leaves(leaves: list[Any]) -> Result:
            return selection.call(seen(fun), leaves)

        notice_as(of_leaves, fun, "jacrev")
        pullback: Function
        out, pullback, *aux = vjp(of_leaves, selection.leaves, has_aux=has_aux)
        outs, out_tree = tree.flatten(out)
        check_results(outs, fun, "jacrev")
        refuse_complex_pairs(ins, outs, holomorphic, "jacrev")
        avals = [aval_of_any(x).strong for x in outs]
        pairs = [a.dtype.kind == "c" and not holomorphic for a in avals]

        def rows_of(leaves: list[Any]) -> Tree:
            return pullback(tree.unflatten(out_tree, leaves))[0]

        groups = known_zeros(pullback, pairs, sum(a.size for a in avals))
        if groups is None:
            rows = vmap(rows_of)(basis(avals, pairs, -1j))
        else:
            found = vmap(rows_of)(seeds(avals, groups))
            rows = [spread(x, groups, k, 0) for k, x in enumerate(found)]
        jacobian = rows_by_output(rows, avals, pairs, out_tree, selection.treedef)
        return (jacobian, aux[0]) if has_aux else jacobian

    return jacobian_reverse


def check_results(leaves: list[Any], fun: Function, what: str) -> None:
    """Raise NotDifferentiableError for results that are whole numbers or truth values."""
    for leaf in leaves:
        seen = aval_of_any(leaf)
        if not seen.inexact:
            raise NotDifferentiableError(
                f"{what} needs floating-point results, and {name_of(fun)} returned {seen}",
                source=here(),
                remedy="Positions, counts and truth values have no derivative: return them as aux, "
                "with has_aux=True.",
            )


def refuse_complex_pairs(
    inputs: Sequence[Aval], outputs: Sequence[Any], holomorphic: bool, what: str
) -> None:
    """Raise NotDifferentiableError where one complex number cannot say what the derivative is.

    A complex result of complex inputs has four real derivatives, which are one complex number only where
    the function is holomorphic. With a real side there are two, and they always are.
    """
    results = [aval_of_any(x) for x in outputs]
    if holomorphic:
        for seen in results:
            if seen.dtype.kind != "c":
                raise NotDifferentiableError(
                    f"{what} with holomorphic=True needs complex results, and there is a {seen}",
                    source=here(),
                )
        return
    before = next((a for a in inputs if a.dtype.kind == "c"), None)
    after = next((a for a in results if a.dtype.kind == "c"), None)
    if before is not None and after is not None:
        raise NotDifferentiableError(
            f"{what} of a complex {after} by a complex {before} is more than one complex number an element",
            source=here(),
            remedy="Pass holomorphic=True if the function is holomorphic; otherwise take derivatives by real "
            "and imaginary parts, or products with the Jacobian by jvp and vjp.",
        )


@overload
def jacobian(fun: np.ufunc, argnums: Argnums = 0, *, holomorphic: bool = False) -> OfUfunc: ...
@overload
def jacobian(
    fun: F,
    argnums: Literal[0] = 0,
    has_aux: Literal[False] = False,
    holomorphic: bool = False,
    allow_int: Literal[False] = False,
) -> Jacobian[F]: ...
@overload
def jacobian(
    fun: Callable[P, Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> TransformedFunction[P, Any]: ...
@overload
def jacobian(
    *, argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False, allow_int: bool = False
) -> Callable[[Callable[P, Any]], TransformedFunction[P, Any]]: ...
@transform
def jacobian(
    fun: Function,
    argnums: Argnums = 0,
    has_aux: bool = False,
    holomorphic: bool = False,
    allow_int: bool = False,
) -> Function:
    """The Jacobian of `fun`; an alias of `jacrev`, as in JAX.

    >>> import numpy as np
    >>> print(jacobian(lambda x: np.stack([x[0] * x[1], x[1] ** 2]))(np.array([2.0, 3.0])))
    [[3. 2.]
     [0. 6.]]
    """
    return jacrev(fun, argnums, has_aux, holomorphic, allow_int)


@overload
def hessian(fun: np.ufunc, argnums: Argnums = 0, *, holomorphic: bool = False) -> OfUfunc: ...
@overload
def hessian(
    fun: F, argnums: Literal[0] = 0, has_aux: Literal[False] = False, holomorphic: bool = False
) -> Jacobian[F]: ...
@overload
def hessian(
    fun: Callable[P, Any], argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False
) -> TransformedFunction[P, Any]: ...
@overload
def hessian(
    *, argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False
) -> Callable[[Callable[P, Any]], TransformedFunction[P, Any]]: ...
@transform
def hessian(
    fun: Function, argnums: Argnums = 0, has_aux: bool = False, holomorphic: bool = False
) -> Function:
    """The matrix of second derivatives: forward mode over reverse mode.

    >>> import numpy as np
    >>> print(hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 2.0])))
    [[4. 2.]
     [2. 0.]]
    """
    gradient = jacrev(fun, argnums, has_aux, holomorphic)

    def hessian_of(*args: Tree, **kwargs: Tree) -> Result:
        selection = Selection(argnums, args, kwargs, "hessian")
        avals = check_differentiable(selection, "hessian", holomorphic=holomorphic, allow_int=False)
        if not holomorphic and any(a.dtype.kind == "c" for a in avals):
            raise NotDifferentiableError(
                "hessian by complex arguments is more than one complex number an element",
                source=here(),
                remedy="Pass holomorphic=True if the function is holomorphic; otherwise take the hessian by "
                "real and imaginary parts, or products with it by hvp.",
            )
        return jacfwd(gradient, argnums, has_aux, holomorphic)(*args, **kwargs)

    return hessian_of


def hvp(fun: Function, primals: Sequence[Any], tangents: Sequence[Any]) -> Tree:
    """The product of the Hessian of a scalar function with a vector, without forming the Hessian.

    `primals` and `tangents` are tuples of arguments, as for `jvp`; with one argument the product has
    its structure, with several it is a tuple.

    >>> import numpy as np
    >>> x = np.array([1.0, 2.0])
    >>> print(hvp(lambda x: np.sum(x**3), (x,), (np.array([1.0, 0.0]),)))
    [6. 0.]
    """
    for what, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, tuple | list):
            raise TreeError(
                f"{what} of hvp must be a tuple or list of arguments, got a {type(given).__name__}",
                source=here(),
                remedy="Write hvp(f, (x,), (v,)) for a function of one argument.",
            )
    numbers: Argnums = 0 if len(primals) == 1 else tuple(range(len(primals)))
    return jvp(grad(fun, numbers), primals, tangents)[1]


def basis(avals: Sequence[Aval], pairs: Sequence[bool], second: complex) -> list[Any]:
    """Every unit vector of the space with these avals, as batches over one common leading axis.

    A leaf flagged in `pairs` has its unit vectors a second time, times `second`.
    """
    total = sum(rows_of_leaf(avals, pairs))
    batches = []
    start = 0
    for a, pair in zip(avals, pairs, strict=True):
        batch = np.zeros((total, a.size), a.dtype)
        unit = np.eye(a.size, dtype=a.dtype)
        batch[start : start + a.size] = unit
        start += a.size
        if pair:
            batch[start : start + a.size] = second * unit
            start += a.size
        batches.append(batch.reshape(total, *a.shape))
    return batches


@contextmanager
def whole_jacobians() -> Iterator[None]:
    """All elements are computed here: what is known of zeros holds for one size, and a module is for many."""
    token = _whole.set(True)
    try:
        yield
    finally:
        _whole.reset(token)


def known_zeros(linear: object, pairs: Sequence[bool], columns: int) -> Groups | None:
    """Few products that find the whole matrix of a linear map; None where they do not pay."""
    assert isinstance(linear, Pullback | Pushforward)
    if columns < FEWEST_COLUMNS or _whole.get() or any(pairs) or not linear.is_whole:
        return None
    program, n_residuals = linear.program, linear.n_residuals
    key = "known zeros", n_residuals, program
    # In a tuple: that nothing is known is worth keeping, too.
    kept: tuple[Groups | None] = CACHE.get(
        key, len(program), lambda: (columns_in_groups(program, n_residuals),)
    )
    return kept[0]


def columns_of(push: object, units: list[Any], in_pairs: bool) -> Tree:
    """What a linear map makes of all unit vectors, these in a last axis."""
    assert isinstance(push, Pushforward)
    found = None if in_pairs or _whole.get() else push.without_unit_products()
    if found is None:
        return vmap(push, out_axes=-1)(units)
    rest, products = found
    return vmap(rest, out_axes=-1)(units, products)


def seeds(avals: Sequence[Aval], groups: Groups) -> list[Any]:
    """The sums of the unit vectors of each group, as batches over one leading axis."""
    batches = []
    start = 0
    for a in avals:
        part = groups.of_column[start : start + a.size]
        batches.append(
            (part == np.arange(groups.number)[:, None]).astype(a.dtype).reshape(groups.number, *a.shape)
        )
        start += a.size
    return batches


def spread(x: object, groups: Groups, k: int, axis: int) -> Array:
    """The k-th result with an axis of columns where it has one of groups, at `axis`: first or last."""
    rows, columns = groups.places[k]
    aval = aval_of_any(x)
    total, n_rows = len(groups.of_column), aval.size // groups.number
    strides = (1, n_rows) if axis == 0 else (groups.number, 1)
    among = rows * strides[0] + groups.of_column[columns] * strides[1]
    strides = (1, n_rows) if axis == 0 else (total, 1)
    place = rows * strides[0] + columns * strides[1]
    for index in (among, place):
        index.setflags(write=False)  # that it cannot change spares the check of every position
    values = Gather((0,)).bind(reshape(x, (aval.size,)), among)
    flat = (n_rows * total,)
    zeros = zeros_beside(values, flat) if type(values) is Tracer else np.zeros(flat, aval.dtype)
    whole = Scatter("set", (0,), True).bind(zeros, values, place)
    shape = (total, *aval.shape[1:]) if axis == 0 else (*aval.shape[:-1], total)
    return reshape(whole, shape)


def rows_of_leaf(avals: Sequence[Aval], pairs: Sequence[bool]) -> list[int]:
    """How many unit vectors the basis has for each leaf."""
    return [a.size * (1 + pair) for a, pair in zip(avals, pairs, strict=True)]


def split_last(x: Array, avals: Sequence[Aval], pairs: Sequence[bool], treedef: TreeDef) -> Tree:
    """The last axis, which runs over the basis of the inputs, dealt out to the inputs.

    By z = x + iy the derivative is df/dx - i df/dy, as `grad` has it.
    """
    parts = []
    start = 0
    for a, pair, count in zip(avals, pairs, rows_of_leaf(avals, pairs), strict=True):
        part = x[..., start : start + a.size]
        if pair:
            part = part - 1j * x[..., start + a.size : start + count]
        parts.append(reshape(part, (*part.shape[:-1], *a.shape)))
        start += count
    return tree.unflatten(treedef, parts)


def rows_by_output(
    rows: Sequence[Any], avals: Sequence[Aval], pairs: Sequence[bool], out_tree: TreeDef, in_tree: TreeDef
) -> Tree:
    """The first axis, which runs over the basis of the outputs, dealt out to the outputs.

    The pullback of -i to a real input is the derivative of the imaginary part.
    """
    blocks = []
    start = 0
    for a, pair, count in zip(avals, pairs, rows_of_leaf(avals, pairs), strict=True):
        parts = []
        for x in rows:
            part = x[start : start + a.size]
            if pair:
                part = part + 1j * x[start + a.size : start + count]
            parts.append(reshape(part, (*a.shape, *x.shape[1:])))
        blocks.append(tree.unflatten(in_tree, parts))
        start += count
    return tree.unflatten(out_tree, blocks)
