"""Loops: `while_loop`, `fori_loop` and `scan`.

The functions given are recorded, inside a trace or outside of one, so they see no values; what they close
over becomes an input of the equation, and derivatives by it are right. Signatures are JAX's.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from funcgrad import tree
from funcgrad.api.calling.arguments import here
from funcgrad.api.control_flow.binding import Function, bound, itself, scalar
from funcgrad.api.control_flow.control_types import (
    CarryChanged,
    CarryTypes,
    Recorded,
    as_operand,
    recorded,
    spoken_name,
    typed,
)
from funcgrad.api.python.blocks.recording import with_places, writing, written
from funcgrad.api.python.functions import recordable_by_default
from funcgrad.errors import DtypeError, ShapeError, TreeError
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Program
from funcgrad.ops.arrays.structure import cast
from funcgrad.ops.elementwise.comparison import less
from funcgrad.ops.families import aval as aval_of_any
from funcgrad.tracing.tracer import Tracer
from funcgrad.transforms.control.scan import Scan
from funcgrad.transforms.control.undoing import tangents as _tangents  # noqa: F401 - entered in the catalog
from funcgrad.transforms.control.while_loop import WhileLoop
from funcgrad.types import Number, Result, Tree

if TYPE_CHECKING:
    from funcgrad.tree.treedef import TreeDef


T = TypeVar("T")


class Carry:
    """What a loop carries: values, avals and structure. Python scalars may turn into arrays' dtypes."""

    __slots__ = ("types", "values")

    def __init__(self, init: Tree, what: str, shown: int | None) -> None:
        leaves, treedef = tree.flatten(init)
        self.values = [as_operand(x, what, "the initial carry") for x in leaves]
        self.types = CarryTypes(what, treedef, tuple([aval_of_any(x) for x in self.values]), shown)

    @property
    def avals(self) -> tuple[Aval, ...]:
        """The types of the leaves, as the body sees them."""
        return self.types.avals

    @property
    def starts(self) -> list[Any]:
        """The initial values, in their avals' dtypes."""
        return [typed(x, a) for x, a in zip(self.values, self.avals, strict=True)]

    def settled(self, record: Callable[[], Recorded]) -> Recorded:
        """What `record` makes, once the carry starts in dtypes that the body keeps."""
        while True:
            try:
                return record()
            except CarryChanged as change:
                self.types = self.types._replace(avals=change.avals)

    def rebuilt(self, leaves: Sequence[Any]) -> Tree:
        """A value of the carry's structure."""
        return tree.unflatten(self.types.treedef, leaves)


def while_loop(cond_fun: Function, body_fun: Callable[..., T], init_val: Tree) -> T:
    """``body_fun`` applied again and again, from `init_val`, while ``cond_fun`` of the value is true.

    The value is a pytree whose structure, shapes and dtypes must stay the same. Forward and reverse mode
    work without a bound on the number of trips: reverse mode runs the loop once more, keeps what each trip
    needs, and goes through the trips backwards. Under `vmap` the loop goes on while any example does.

    Raises TreeError, ShapeError or DtypeError for a value that changes its type, DtypeError for a condition
    that is not a boolean.

    >>> def sqrt(a):
    ...     def off(x):
    ...         return abs(x * x - a) > 1e-12
    ...     return fg.while_loop(off, lambda x: 0.5 * (x + a / x), a)
    >>> print(f"{sqrt(2.0):.6f} {fg.grad(sqrt)(2.0):.6f}")
    1.414214 0.353553
    """
    deciding, body = recordable_by_default(cond_fun), recordable_by_default(body_fun)
    last: T = looped("while_loop", deciding, body, init_val)
    return last


def looped(
    what: str, cond_fun: Function, body_fun: Function, init_val: Tree, shown: int | None = None
) -> Tree:
    """`while_loop`, under the name of what the user called."""

    def attempt(places: list[Tracer], _: object) -> Tree:
        if not places:
            return looped_once(what, cond_fun, body_fun, init_val, shown)

        def goes_on(state: Tree) -> Tree:
            return cond_fun(state[0])

        body = writing(places, body_fun)

        def trip(state: Tree) -> Tree:
            return body(state[1], state[0])

        trip.__name__ = body.__name__
        start = (init_val, [place.frozen() for place in places])
        result, values = looped_once(what, goes_on, trip, start, shown, places)
        written(places, values)
        return result

    return with_places(attempt)


def looped_once(
    what: str,
    cond_fun: Function,
    body_fun: Function,
    init_val: Tree,
    shown: int | None,
    places: Sequence[Tracer] = (),
) -> Tree:
    """`looped`, for a body that writes no arrays of outer traces but these."""
    carry = Carry(init_val, what, shown)
    arguments = tree.structure((init_val,))

    def record_body() -> Recorded:
        body = recorded(body_fun, arguments, carry.avals, what, "the body", places=places)
        carry.types.check(body.name, body.out_tree, body.out_avals)
        return body

    body = carry.settled(record_body)
    deciding = recorded(cond_fun, arguments, carry.avals, what, "the condition")
    check_condition(deciding)
    program = deciding.transformed(what, itself, deciding.out_avals)

    def build(held: Program) -> WhileLoop:
        loop: WhileLoop = WhileLoop(program, held)
        return loop

    primitive = body.transformed(("while_loop", program), build, carry.avals)
    return carry.rebuilt(bound(primitive, [*carry.starts, *deciding.constants, *body.constants]))


def check_condition(deciding: Recorded) -> None:
    """Raise unless the condition of a while loop returns one boolean."""
    leaf = deciding.out_tree == tree.structure(0)
    if not leaf or deciding.out_avals[0].shape or deciding.out_avals[0].dtype.kind != "b":
        seen = deciding.out_avals[0] if leaf else f"a {deciding.out_tree}"
        raise DtypeError(
            f"the condition of while_loop must return a scalar boolean, and {deciding.name} returned {seen}",
            source=here(),
        )


def fori_loop(
    lower: Number,
    upper: Number,
    body_fun: Callable[..., T],
    init_val: Tree,
    *,
    unroll: int | bool | None = None,
) -> T:
    """``body_fun(i, value)`` for i from `lower` to `upper` - 1, from `init_val`.

    With bounds that are Python or NumPy integers this is a `scan`, and otherwise a `while_loop`; both can be
    differentiated in reverse. `unroll` is accepted, and left to the compiler.

    Raises TreeError, ShapeError or DtypeError for a value that changes its type.

    >>> print(fg.fori_loop(0, 5, lambda i, total: total + i, 0))
    10
    >>> print(fg.grad(lambda x: fg.fori_loop(0, 5, lambda i, y: y * x, 1.0))(2.0))
    80.0
    """
    body_fun = recordable_by_default(body_fun)
    bounds = [scalar(x, "a bound of fori_loop") for x in (lower, upper)]
    seen = [aval_of_any(x) for x in bounds]
    for a in seen:
        if a.dtype.kind not in "iu":
            raise DtypeError(f"the bounds of fori_loop must be integers, got {a}", source=here())
    if not any(isinstance(x, Tracer) for x in bounds):
        trips = max(operator.index(bounds[1]) - operator.index(bounds[0]), 0)
        counted: T = counted_loop(body_fun, bounds[0], trips, init_val)
        return counted
    start, stop = bounds
    if seen[0].dtype != seen[1].dtype:
        # One of them may be a Python integer, which counts in the other's dtype.
        dtype = np.result_type(*[a.dtype if not a.weak else 0 for a in seen])
        start, stop = cast(start, dtype), cast(stop, dtype)

    def goes_on(state: Tree) -> Tree:
        return less(state[0], stop)

    out: T
    _, out = looped("fori_loop", goes_on, _counting(body_fun), (start, init_val), shown=1)
    return out


def counted_loop(body_fun: Function, start: object, trips: int, init_val: Tree) -> Tree:
    """``body_fun(i, value)`` for i from `start` on, a fixed number of times."""
    step = _counting(body_fun)

    def body(state: Tree, _: None) -> Tree:
        return step(state), None

    body.__name__ = step.__name__
    (_, out), _ = scanned("fori_loop", body, (start, init_val), None, trips, shown=1)
    return out


def _counting(body_fun: Function) -> Function:
    def counting(state: Tree) -> Tree:
        i, value = state
        return i + 1, body_fun(i, value)

    counting.__name__ = getattr(body_fun, "__name__", "body")
    return counting


def scan(
    f: Callable[..., tuple[T, Any]],
    init: Tree,
    xs: Tree = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
) -> tuple[T, Any]:
    """A loop over the first axis of `xs`: ``carry, y = f(carry, x)`` for each row, from `init`.

    Returns the final carry and the stacked ys. `init`, `xs` and y are pytrees; without `xs`, `length` says
    how often. With `reverse` the last row comes first, and ys lie where their xs do. The carry must keep its
    structure, shapes and dtypes. `unroll` is accepted, and left to the compiler.

    Raises TreeError, ShapeError or DtypeError for a carry that changes its type, ShapeError for xs of
    different lengths.

    >>> def f(total, x):
    ...     return total + x, total * x
    >>> total, products = fg.scan(f, 0.0, np.array([1.0, 2.0, 3.0]))
    >>> print(total, products)
    6.0 [0. 2. 9.]
    """
    check_unroll(unroll)
    f = recordable_by_default(f)
    found: tuple[T, Any] = scanned("scan", f, init, xs, length, reverse=bool(reverse))
    return found


def check_unroll(unroll: object) -> None:
    """Raise unless `unroll` is a boolean or a positive integer."""
    if not isinstance(unroll, int | np.integer) or (type(unroll) is not bool and unroll < 1):
        raise ValueError(f"unroll of scan must be a boolean or a positive integer, got {unroll!r}")


def scanned(
    what: str,
    f: Function,
    init: Tree,
    xs: Tree,
    length: int | None,
    *,
    reverse: bool = False,
    shown: int | None = None,
) -> Tree:
    """`scan`, under the name of what the user called."""

    def attempt(places: list[Tracer], _: object) -> Tree:
        if not places:
            return scanned_once(what, f, init, xs, length, reverse, shown)
        body = writing(places, f)

        def trip(state: Tree, row: Tree) -> Tree:
            result, values = body(state[1], state[0], row)
            check_pair(what, f)(result)
            return (result[0], values), result[1]

        trip.__name__ = body.__name__
        start = (init, [place.frozen() for place in places])
        (result, values), ys = scanned_once(what, trip, start, xs, length, reverse, shown, places)
        written(places, values)
        return result, ys

    return with_places(attempt)


def scanned_once(
    what: str,
    f: Function,
    init: Tree,
    xs: Tree,
    length: int | None,
    reverse: bool,
    shown: int | None,
    places: Sequence[Tracer] = (),
) -> Tree:
    """`scanned`, for a body that writes no arrays of outer traces but these."""
    carry = Carry(init, what, shown)
    leaves, x_tree = tree.flatten(xs)
    rows = [as_operand(x, what, "xs") for x in leaves]
    x_avals = [aval_of_any(x) for x in rows]
    trips = common_length(what, x_avals, x_tree, length)
    row_avals = [a.with_shape(a.shape[1:]) for a in x_avals]
    arguments = tree.structure((init, xs))
    n_carry, n_xs = len(carry.avals), len(rows)

    def record() -> Recorded:
        check = check_pair(what, f)
        body = recorded(f, arguments, [*carry.avals, *row_avals], what, "the body", check, places)
        carry.types.check(body.name, body.out_tree.children()[0], body.out_avals[:n_carry])
        return body

    body = carry.settled(record)

    def build(program: Program) -> Scan:
        primitive: Scan = Scan(program, n_carry, n_xs, trips, reverse)
        return primitive

    targets = (*carry.avals, *[a.strong for a in body.out_avals[n_carry:]])
    primitive = body.transformed(("scan", n_carry, n_xs, trips, reverse), build, targets)
    outs = bound(primitive, [*carry.starts, *rows, *body.constants])
    y_tree = body.out_tree.children()[1]
    return carry.rebuilt(outs[:n_carry]), tree.unflatten(y_tree, outs[n_carry:])


def check_pair(what: str, f: Function) -> Callable[[Any], None]:
    """A check that the body of a scan returns two things."""

    def check(result: Result) -> None:
        if not isinstance(result, tuple) or len(result) != 2:
            got = f"a tuple of {len(result)}" if isinstance(result, tuple) else f"a {type(result).__name__}"
            name = spoken_name(f, "it")
            raise TreeError(
                f"the body of {what} must return (carry, y), and {name} returned {got}",
                source=here(),
                remedy="Return (carry, None) where nothing is to be collected.",
            )

    return check


def common_length(what: str, avals: Sequence[Aval], treedef: TreeDef, length: int | None) -> int:
    """The number of trips: the length of every leaf of xs, or `length` where there is none."""
    found: dict[int, str] = {}
    for k, a in enumerate(avals):
        name = f"xs{tree.keystr(treedef.paths()[k])}"
        if not a.shape:
            raise ShapeError(
                f"{what} goes along the first axis of xs, and {name} is {a}, which has none",
                source=here(),
                remedy="Close over what is the same on every trip, or carry it.",
            )
        found.setdefault(a.shape[0], f"{name} is {a}")
    if length is not None:
        found.setdefault(operator.index(length), f"length is {length}")
    if len(found) > 1:
        raise ShapeError(f"{what} needs xs of one length: {'; '.join(found.values())}", source=here())
    if not found:
        raise ShapeError(
            f"{what} needs to know how often: xs has no arrays, and no length is given",
            source=here(),
            remedy="Pass length=n.",
        )
    (trips,) = found
    if trips < 0:
        raise ShapeError(f"the length of {what} must not be negative, got {trips}", source=here())
    return trips
