"""What the functions given to control flow may return: the checks behind `funcgrad.api.control_flow`.

Owns the recording of such a function, and the types its results must have: a body must keep the type of what
it is handed, branches must agree. Python scalars give way to what they meet, as everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from funcgrad import tree
from funcgrad.api.calling.arguments import here
from funcgrad.api.calling.calls import Traced
from funcgrad.api.python.blocks.recording import OuterWrite, traced_and_restored
from funcgrad.api.python.guarded.kept import keeping, note_called
from funcgrad.api.python.seen import seen
from funcgrad.errors import DtypeError, FuncgradError, ShapeError, TreeError
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Program
from funcgrad.ops.arrays.structure import cast
from funcgrad.tracing.lists import asoperand
from funcgrad.tracing.tracer import Tracer
from funcgrad.transforms.replay import inline, inputs_of, transforming
from funcgrad.transforms.simplify import simplify_program
from funcgrad.types import Anything, Array, Result

if TYPE_CHECKING:
    from funcgrad.tree.treedef import TreeDef

Function = Callable[..., Any]

_PYTHON_VALUES: dict[str, Any] = {"b": False, "i": 0, "f": 0.0, "c": 0j}


class Recorded(NamedTuple):
    """A function recorded for control flow."""

    name: str
    """What messages call it."""
    traced: Traced
    out_tree: Any
    out_avals: tuple[Aval, ...]

    @property
    def constants(self) -> list[Any]:
        """What the function uses beside its arguments: the values of the last inputs of its Program."""
        return self.traced.operands[self.traced.n_inputs :]

    def transformed(
        self, key: Hashable, build: Callable[[Program], Any], targets: Sequence[Aval]
    ) -> Anything:
        """What `build` makes of the Program, whose outputs have the dtypes of `targets`; kept."""

        def build_simplified(program: Program) -> Anything:
            return build(simplify_program(with_output_dtypes(program, targets)))

        return self.traced.transformed((*_as_tuple(key), tuple(targets)), build_simplified)


def _as_tuple(key: Hashable) -> tuple[Hashable, ...]:
    return key if isinstance(key, tuple) else (key,)


def recorded(
    function: Function,
    treedef: TreeDef,
    avals: Sequence[Aval],
    what: str,
    role: str,
    check: Callable[[Any], None] | None = None,
    places: Sequence[Tracer] = (),
) -> Recorded:
    """Record ``function(*arguments)``; `treedef` is the structure of the tuple of arguments.

    `role` is what a function without a name is called. `check` may refuse a result before it is flattened.
    Raises OuterWrite where it writes an array of a trace around it that is none of `places`.
    """
    if not callable(function):
        raise TypeError(f"{what} expects a function, got a {type(function).__name__}: {function!r}")
    structure: list[Any] = []

    def call(tracers: list[Tracer]) -> Result:
        return seen(function)(*tree.unflatten(treedef, tracers))

    def collect(result: Result) -> list[Any]:
        if check is not None:
            check(result)
        leaves, out_tree = tree.flatten(result)
        structure.append(out_tree)
        return [as_operand(x, what, "a result") for x in leaves]

    def record() -> tuple[Traced, list[Tracer]]:
        structure.clear()
        note_called(function)
        return traced_and_restored(function, call, avals, collect, what)

    with keeping() as kept:
        found, roots = record()
        if what != "cond":
            kept.refuse_baked(spoken_name(function, role), found, lambda: record()[0], equal_records)
    known = {id(place) for place in places}
    unknown = [x for x in roots if id(x) not in known]
    if unknown:
        raise OuterWrite(unknown)
    out_avals = tuple([found.recorder.avals[i] for i in found.outputs])
    return Recorded(spoken_name(function, role), found, structure[0], out_avals)


def equal_records(one: Traced, other: Traced) -> bool:
    """Whether two recordings of a function are the same, and use the same values from outside."""
    if one.recorder.fingerprint(one.outputs) != other.recorder.fingerprint(other.outputs):
        return False
    given = zip(one.operands, other.operands, strict=True)
    return all(x is y or equal_values(x, y) for x, y in given)


def equal_values(x: Anything, y: Anything) -> bool:
    """Whether two values from outside are the same, bit for bit."""
    if type(x) is Tracer or type(y) is Tracer:
        return type(x) is type(y) and (x._recorder, x._index) == (y._recorder, y._index)
    return bool(np.asarray(x).tobytes() == np.asarray(y).tobytes())


def spoken_name(function: Function, role: str) -> str:
    """The name of a function, or its role where it has none of its own."""
    name = getattr(function, "__name__", "")
    return name if name.isidentifier() else role


def as_operand(leaf: object, what: str, role: str) -> Array:
    """A leaf as a tracer, array or scalar; raises DtypeError for anything else."""
    try:
        return asoperand(leaf)
    except (DtypeError, TypeError, ValueError) as error:
        raise DtypeError(
            f"{role} of {what} is a {type(leaf).__name__}: {leaf!r}"[:300],
            source=here(),
            remedy="Control flow works on arrays, numbers, and pytrees of them.",
        ) from error


def typed(leaf: object, aval: Aval) -> Array:
    """A leaf as an array, scalar or tracer of the dtype of `aval`."""
    if isinstance(leaf, Tracer):
        return leaf if leaf.aval.dtype == aval.dtype else cast(leaf, aval.dtype)
    if isinstance(leaf, np.ndarray):
        return leaf if leaf.dtype == aval.dtype else leaf.astype(aval.dtype)
    return aval.dtype.type(leaf)


def with_output_dtypes(program: Program, targets: Sequence[Aval]) -> Program:
    """The Program, whose outputs are cast where a target has another dtype."""
    if all(atom.aval.dtype == a.dtype for atom, a in zip(program.outputs, targets, strict=True)):
        return program
    with transforming(program, "cast") as recorder:
        inputs = inputs_of(recorder, program.inputs)
        outs = inline(recorder, program, inputs)
        converted = [
            cast(x, a.dtype) if x.aval.dtype != a.dtype else x for x, a in zip(outs, targets, strict=True)
        ]
        return recorder.program([t._index for t in inputs], [recorder.index_of(x) for x in converted])


def joined(one: Aval, other: Aval) -> Aval | None:
    """The aval of which both are, where a Python scalar gives way to what it meets; None if there is none."""
    if one.shape != other.shape:
        return None
    if one.weak and other.weak:
        return Aval(one.shape, np.result_type(one.dtype, other.dtype), True)
    weak, strong = (one, other) if one.weak else (other, one)
    if weak.dtype == strong.dtype:
        return strong
    fits = weak.weak and np.result_type(_PYTHON_VALUES[weak.dtype.kind], strong.dtype) == strong.dtype
    return strong if fits else None


class CarryChanged(Exception):
    """Raised where a carry that starts as Python scalars must start as arrays of other dtypes."""

    def __init__(self, avals: Sequence[Aval]) -> None:
        super().__init__()
        self.avals = tuple(avals)


class CarryTypes(NamedTuple):
    """The structure and the types of what a loop carries, and how to speak of them."""

    what: str
    treedef: Any
    avals: tuple[Aval, ...]
    shown: int | None = None
    """The child of the structure that the user knows of; None for all of it."""

    def check(self, name: str, out_tree: TreeDef, after: Sequence[Aval]) -> None:
        """Raise unless the body called `name` keeps the structure and the types of the carry.

        Raises CarryChanged where the carry starts as a Python scalar and can start in the body's dtype.
        """
        if out_tree != self.treedef:
            trees = [t if self.shown is None else t.children()[self.shown] for t in (self.treedef, out_tree)]
            raise TreeError(
                f"the carry of {self.what} must keep its structure, and {name} returns another: "
                f"{tree.explain_mismatch(*trees)}",
                source=here(),
            )
        starts: list[Aval] = []
        for k, (aval, got) in enumerate(zip(self.avals, after, strict=True)):
            common = joined(aval, got)
            if common is None:
                raise self._error(name, k, got)
            starts.append(common)
        if any(a is not b for a, b in zip(starts, self.avals, strict=True)):
            raise CarryChanged(starts)

    def _error(self, name: str, k: int, after: Aval) -> FuncgradError:
        path = self.treedef.paths()[k]
        where = tree.keystr(path if self.shown is None else path[1:])
        before = self.avals[k]
        at = f" at {where}" if where else ""
        seen = f"the carry of {self.what} must keep its type:{at} it is {before}, and {name} returns {after}"
        if before.shape != after.shape:
            remedy = "Start with an array of the shape it has later, or return one of the first shape."
            return ShapeError(seen, source=here(), remedy=remedy)
        remedy = f"Start with dtype {after.dtype}, or return x.astype(np.{before.dtype})."
        return DtypeError(seen, source=here(), remedy=remedy)


def common_results(what: str, branches: Sequence[Recorded]) -> tuple[Aval, ...]:
    """The avals of the results of all branches; raises where these do not agree."""
    first, *others = branches
    results = list(first.out_avals)
    for branch in others:
        if branch.out_tree != first.out_tree:
            raise TreeError(
                f"the branches of {what} must return one structure, and {branch.name} returns another than "
                f"{first.name}: {tree.explain_mismatch(first.out_tree, branch.out_tree)}",
                source=here(),
            )
        for k, (aval, got) in enumerate(zip(results, branch.out_avals, strict=True)):
            common = joined(aval, got)
            if common is None:
                path = tree.keystr(first.out_tree.paths()[k])
                raise branch_error(what, first.name, branch.name, path, aval, got)
            results[k] = common
    return tuple(results)


def branch_error(what: str, first: str, other: str, path: str, one: Aval, got: Aval) -> FuncgradError:
    """The error for branches that return different types."""
    kind = ShapeError if one.shape != got.shape else DtypeError
    at = f" at {path}" if path else ""
    return kind(
        f"the branches of {what} must return one type:{at} {first} returns {one}, and {other} {got}",
        source=here(),
    )
