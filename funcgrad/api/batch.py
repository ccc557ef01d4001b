"""`vmap`: a function of one example becomes a function of a batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from funcgrad import tree
from funcgrad.api.calling.arguments import here, leaf_aval
from funcgrad.api.calling.calls import Traced, name_of, run, trace
from funcgrad.api.calling.transformed import TransformedFunction, transform
from funcgrad.api.calling.written_arguments import Changes, give_back
from funcgrad.api.python.functions import recordable_by_default
from funcgrad.api.python.guarded.guards import noting_made
from funcgrad.api.python.guarded.kept import held_by, is_held_still
from funcgrad.api.python.guarded.paths import have_values
from funcgrad.api.python.seen import seen
from funcgrad.errors import (
    ArgnumsError,
    ConcretizationError,
    ShapeError,
    TracedBranchError,
    TracerAssignmentError,
    TreeError,
)
from funcgrad.ir.avals import Aval
from funcgrad.ir.program import Program
from funcgrad.ops.arrays.structure import move_axis
from funcgrad.tracing.labelled import plain_leaves
from funcgrad.tracing.recorder import active_recorder, captured
from funcgrad.tracing.tracer import Tracer
from funcgrad.transforms.batching import batch_program, mapped_outputs
from funcgrad.types import Array, ArrayLike, Result, Tree

Function = Callable[..., Any]
Item = TypeVar("Item", bound=np.generic)


@overload
def vmap(
    fun: Callable[..., NDArray[Item]],
    in_axes: Tree = 0,
    out_axes: Tree = 0,
    axis_name: object = None,
    axis_size: int | None = None,
) -> Callable[..., NDArray[Item]]: ...
@overload
def vmap(
    fun: Callable[..., float],
    in_axes: Tree = 0,
    out_axes: Tree = 0,
    axis_name: object = None,
    axis_size: int | None = None,
) -> Callable[..., NDArray[Any]]: ...
@overload
def vmap(
    fun: Function,
    in_axes: Tree = 0,
    out_axes: Tree = 0,
    axis_name: object = None,
    axis_size: int | None = None,
) -> TransformedFunction[..., Any]: ...
@overload
def vmap(
    *, in_axes: Tree = 0, out_axes: Tree = 0, axis_name: object = None, axis_size: int | None = None
) -> Callable[[Function], Function]: ...


@transform
def vmap(
    fun: Function,
    in_axes: Tree = 0,
    out_axes: Tree = 0,
    axis_name: object = None,
    axis_size: int | None = None,
) -> Function:
    """A function that maps `fun` over an axis of its arguments, in one batched Program.

    `in_axes` is an int, None (not mapped), or a pytree prefix of the positional arguments with such
    leaves; keyword arguments are mapped over axis 0. `out_axes` likewise says where the axis goes.

    Raises TreeError for axes that do not fit the arguments, ShapeError for sizes that differ. Inside,
    no values exist: where Python's control flow asks for one, the function is run again and its statements
    are recorded, as under ``jit``; TracedBranchError says what cannot be.

    >>> import numpy as np
    >>> print(vmap(np.dot, in_axes=(0, None))(np.eye(2), np.array([3.0, 4.0])))
    [3. 4.]
    """
    if axis_name is not None:
        raise NotImplementedError("vmap: axis_name (collective operations) is not supported")
    if isinstance(in_axes, list):
        in_axes = tuple(in_axes)

    found: list[Function] = []
    """The function whose statements are recorded, once one has asked for a value: later calls begin there."""

    def batched(*args: Tree, **kwargs: Tree) -> Result:
        if isinstance(in_axes, tuple) and len(in_axes) != len(args):
            raise ArgnumsError(
                f"vmap with in_axes={in_axes!r} expects {len(in_axes)} positional arguments, got {len(args)}",
                source=here(),
            )
        batch = Batch(fun, Mapping(in_axes, args, kwargs, axis_size))
        before = held_by(fun)
        try:
            traced = batch.recorded(found[0]) if found else as_it_stands(fun, batch.recorded, found, before)
        except (TracedBranchError, ConcretizationError, TreeError) as error:
            if error.has_paths and have_values(batch.batches) and is_held_still(fun, before):
                return one_by_one(seen(fun), batch.mapping, batch.batches, out_axes)
            raise
        return batch.results(traced, out_axes)

    return batched


ASKED_FOR_A_VALUE = (TracedBranchError, ConcretizationError, IndexError)
"""What is raised where a value is asked for; IndexError by an array of NumPy's at a traced index."""


def one_by_one(fun: Function, mapping: Mapping, batches: Sequence[Any], out_axes: Tree) -> Tree:
    """The results of a function whose examples part ways for good, example by example, as Python runs it."""
    structure: list[Any] = []
    rows = []
    for k in range(mapping.size):
        args, kwargs = mapping.with_examples([x[k] for x in batches])
        outs, out_tree = tree.flatten(fun(*args, **kwargs))
        structure.append(out_tree)
        rows.append(outs)
        if out_tree != structure[0]:
            raise TreeError(
                f"vmap: the results of example {k} are {out_tree}, and those of the first {structure[0]}",
                source=here(),
                remedy="Return the same structure for every example.",
            )
    targets = tree.flatten_prefix(out_axes, structure[0], "out_axes")
    refuse_unmapped(targets, [True] * len(targets))
    columns = [stacked(column) for column in zip(*rows, strict=True)]
    return tree.unflatten(structure[0], placed(columns, targets))


def stacked(column: Sequence[Any]) -> Array:
    """The results of all examples along a new first axis; raises ShapeError where their shapes differ."""
    shapes = [np.shape(x) for x in column]
    for k, shape in enumerate(shapes):
        if shape != shapes[0]:
            raise ShapeError(
                f"vmap: example {k} gives an array of shape {shape}, and the first {shapes[0]}",
                source=here(),
                remedy="Return the same shape for every example, or loop over them.",
            )
    return np.stack(column)


def as_it_stands(
    fun: Function, recorded: Callable[[Function], Traced], found: list[Function], before: list[Any]
) -> Traced:
    """The function recorded as Python runs it, or with its statements, which `found` then holds.

    Raises what the first of these raises where the function has changed something by then, which a second run
    would change again, and where `jit` has decided about its statements.
    """
    try:
        return recorded(seen(fun))
    except ASKED_FOR_A_VALUE:
        again = recordable_by_default(fun)
        recorder = active_recorder()
        if (
            again is fun
            or (recorder is not None and recorder.copied is not None)
            or not is_held_still(fun, before)
        ):
            raise

    def drawing_from_its_own(*args: Tree, **kwargs: Tree) -> Result:
        with noting_made():
            return again(*args, **kwargs)

    traced = recorded(drawing_from_its_own)
    found.append(drawing_from_its_own)
    return traced


class Batch:
    """One call: its function is recorded for one example, and the Program of all examples is run."""

    __slots__ = ("_changes", "_fun", "_out_tree", "batches", "mapping", "name")

    def __init__(self, fun: Function, mapping: Mapping) -> None:
        self._fun = fun
        self._changes = Changes()
        self.name = name_of(fun)
        self.mapping = mapping
        self.batches = mapping.batches()

    def recorded(self, function: Function) -> Traced:
        """The trace of one example, by the function or by another that stands for it."""

        def call(tracers: list[Tracer]) -> Result:
            for x, layout in zip(tracers, self.mapping.layouts(), strict=True):
                if layout is not None:
                    x._recorder.lies[x._index] = layout
            args, kwargs = self.mapping.with_examples(tracers)
            self._changes.watch([*tracers, *self.mapping.shared])
            return function(*args, **kwargs)

        avals = self.mapping.example_avals()
        return trace(self._fun, call, self.batches, "vmap", self._collect, with_values=False, avals=avals)

    def _collect(self, result: Result) -> list[Any]:
        outs, self._out_tree = tree.flatten(result)
        self.mapping.refuse_written(self.name, self._changes.written)
        return [*outs, *self._changes.left(self.name)]

    def results(self, traced: Traced, out_axes: Tree) -> Tree:
        """The results of all examples; what these have written is in the caller's arrays by then."""
        n = len(self.batches)
        n_extra = len(traced.operands) - n

        def build(program: Program) -> tuple[Program, list[bool]]:
            flags = (*[True] * n, *[False] * n_extra)
            return traced.finished(batch_program(program, self.mapping.size, flags)), mapped_outputs(
                program, flags
            )

        program, mapped = traced.transformed(("vmap", self.mapping.size), build)
        outs = run(program, [*self.batches, *traced.operands[n:], *traced.evaluated])
        n_outputs = len(outs) - len(self._changes.written)
        self.mapping.give_back(self.name, self._changes.written, outs[n_outputs:])
        targets = tree.flatten_prefix(out_axes, self._out_tree, "out_axes")
        refuse_unmapped(targets, mapped[:n_outputs])
        return tree.unflatten(self._out_tree, placed(outs[:n_outputs], targets))


def placed(outs: Sequence[Any], axes: Sequence[Any]) -> list[Any]:
    """Results whose batch axis is the first, with that axis where it is to be."""
    return [with_axis_at(x, axis, k) for k, (x, axis) in enumerate(zip(outs, axes, strict=True))]


class Mapping:
    """Which leaves of a call are mapped, over which axis, and the common size of those axes."""

    __slots__ = ("_avals", "_axes", "_leaves", "_treedef", "shared", "size")

    def __init__(
        self, in_axes: Tree, args: tuple[Any, ...], kwargs: dict[str, Any], axis_size: int | None
    ) -> None:
        leaves, args_tree = tree.flatten(args)
        axes = tree.flatten_prefix(in_axes, args_tree, "in_axes")
        named, named_tree = tree.flatten(kwargs)
        self._leaves = plain_leaves([*leaves, *named])
        self._treedef = (args_tree, named_tree)
        self._axes: list[Any] = [*axes, *[0] * len(named)]
        self._avals: list[Aval | None] = []
        sizes: dict[int, str] = {}
        for leaf, axis in zip(self._leaves, self._axes, strict=True):
            if axis is None:
                self._avals.append(None)
                continue
            if not isinstance(axis, int) or isinstance(axis, bool):
                raise TreeError(f"in_axes of vmap must hold ints and None, got {axis!r}", source=here())
            aval = leaf_aval(leaf, lambda: "a mapped argument", "vmap")
            if not -aval.ndim <= axis < aval.ndim:
                raise ShapeError(
                    f"vmap cannot map axis {axis} of {aval}, which has {aval.ndim} axes",
                    source=here(),
                    remedy="Use None in in_axes for arguments that are not mapped.",
                )
            self._avals.append(aval)
            sizes.setdefault(aval.shape[axis], f"axis {axis} of {aval}")
        if axis_size is not None:
            sizes.setdefault(axis_size, "axis_size")
        if len(sizes) > 1:
            found = "; ".join(f"{where} has size {size}" for size, where in sizes.items())
            raise ShapeError(f"vmap needs mapped axes of one size: {found}", source=here())
        if not sizes:
            raise ArgnumsError(
                "vmap has nothing to map over: in_axes is None for every argument",
                source=here(),
                remedy="Give axis_size, or an axis for at least one argument.",
            )
        (self.size,) = sizes
        self.shared: list[Tracer] = []
        """What stands for the arrays that are not mapped."""

    def batches(self) -> list[Any]:
        """The mapped leaves, with their mapped axis first."""
        return [
            move_axis(as_array(leaf), axis % aval.ndim, 0)
            for leaf, axis, aval in zip(self._leaves, self._axes, self._avals, strict=True)
            if axis is not None and aval is not None
        ]

    def layouts(self) -> list[str | tuple[Any, int] | None]:
        """What is known of how an example lies in memory: not in rows, or as an array of a trace around."""
        found: list[str | tuple[Any, int] | None] = []
        for leaf, axis, aval in zip(self._leaves, self._axes, self._avals, strict=True):
            if axis is None or aval is None:
                continue
            if type(leaf) is Tracer:
                found.append("unknown" if axis % aval.ndim else (leaf._recorder, leaf._index))
            elif isinstance(leaf, np.ndarray) and leaf.size:
                found.append(None if np.moveaxis(leaf, axis, 0)[0].flags.c_contiguous else "unknown")
            else:
                found.append(None)
        return found

    def example_avals(self) -> list[Aval]:
        """The avals of one example."""
        return [
            aval.with_shape(tuple([n for a, n in enumerate(aval.shape) if a != axis % aval.ndim]))
            for axis, aval in zip(self._axes, self._avals, strict=True)
            if axis is not None and aval is not None
        ]

    def with_examples(self, examples: Sequence[Any]) -> tuple[Any, Any]:
        """Positional and keyword arguments with one example in place of each mapped leaf.

        Arrays that are not mapped are traced too, with their values: so a traced index can read them.
        """
        fresh = iter(examples)
        leaves = [
            next(fresh) if axis is not None else self._not_mapped(x)
            for x, axis in zip(self._leaves, self._axes, strict=True)
        ]
        args_tree, named_tree = self._treedef
        count = args_tree.num_leaves
        return tree.unflatten(args_tree, leaves[:count]), tree.unflatten(named_tree, leaves[count:])

    def _not_mapped(self, x: Array) -> Array:
        if not isinstance(x, np.ndarray):
            return x
        traced = captured(x, active_recorder())
        if type(traced) is Tracer:
            self.shared.append(traced)
        return traced

    def refuse_written(self, name: str, written: Sequence[int]) -> None:
        """Raise where an array is written that is not mapped: every example would find it as it was."""
        if any(k >= self._n_mapped for k in written):
            raise TracerAssignmentError(
                f"{name} writes into an argument that vmap does not map: each example would see its own",
                source=here(),
                remedy="Write into a copy made inside of the function, or map the argument by in_axes.",
            )

    @property
    def _n_mapped(self) -> int:
        return sum(axis is not None for axis in self._axes)

    def give_back(self, name: str, written: Sequence[int], values: Sequence[Any]) -> None:
        """Write what the examples have left in their arguments into the caller's arrays."""
        mapped = [k for k, axis in enumerate(self._axes) if axis is not None]
        numbers = [mapped[k] for k in written]
        moved = [with_axis_at(x, self._axes[k], k) for x, k in zip(values, numbers, strict=True)]
        give_back(name, self._leaves, numbers, moved)


def as_array(leaf: ArrayLike) -> Array:
    """A mapped leaf as a tracer or array."""
    return leaf if isinstance(leaf, Tracer | np.ndarray) else np.asarray(leaf)


def refuse_unmapped(targets: Sequence[Any], mapped: Sequence[bool]) -> None:
    """Raise ArgnumsError where an output that differs between examples is asked for without its axis."""
    for k, (axis, differs) in enumerate(zip(targets, mapped, strict=True)):
        if axis is None and differs:
            raise ArgnumsError(
                f"out_axes of vmap is None for output {k}, which depends on a mapped argument",
                source=here(),
                remedy="Give the axis along which the results of the examples are stacked, for example 0.",
            )


def with_axis_at(x: Array, axis: int | None, index: int) -> Array:
    """A batched output with its batch axis moved to `axis`, or without it where that is None."""
    if axis is None:
        # Program outputs carry the axis even where every example is the same; all copies are equal.
        return x[0]
    if not isinstance(axis, int):
        raise TreeError(f"out_axes of vmap must hold ints and None, got {axis!r}", source=here())
    ndim = len(x.shape)
    if not -ndim <= axis < ndim:
        raise ShapeError(
            f"out_axes={axis} of vmap is not an axis of output {index}, of shape {x.shape}", source=here()
        )
    return move_axis(x, 0, axis % ndim) if axis % ndim else x
