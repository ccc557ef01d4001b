"""`jit`: functions compiled to native code, one specialisation for each kind of arguments."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any, ParamSpec, TypeVar, overload

import numpy as np

from funcgrad import tree
from funcgrad.api.calling.again import is_final, with_packages
from funcgrad.api.calling.arguments import here
from funcgrad.api.calling.closed_over import equal_programs, reading_in_place
from funcgrad.api.calling.recorded_kinds import REFS, Recording, without_refs
from funcgrad.api.calling.specialization import Specialization, begin_with, lie_in_rows
from funcgrad.api.calling.static_arguments import static_arguments
from funcgrad.api.calling.transformed import TransformedFunction, function_expected
from funcgrad.api.calling.written_arguments import give_back
from funcgrad.api.inspection.inspect import name_inputs
from funcgrad.api.inspection.stages import Lowered
from funcgrad.api.njit.kinds import fixed, is_vectorized, never_fixed, njit_behind
from funcgrad.api.njit.refusals import call_to_raise, not_traced
from funcgrad.api.python.functions import recordable_as_given
from funcgrad.api.python.guarded.decisions import are_noted
from funcgrad.api.python.guarded.guards import require
from funcgrad.api.python.guarded.kept import held_by, is_held_still, keeping
from funcgrad.api.python.guarded.paths import (
    MOST_PATHS,
    Paths,
    run_by_python,
    unchanged_where_long,
    values_of,
    within_path,
)
from funcgrad.api.python.guarded.said import say_what_was_reached
from funcgrad.api.python.hooks import Hooks
from funcgrad.api.python.statement_notes import UNROLLED_OPERATIONS
from funcgrad.collector import CollectorPaused
from funcgrad.errors import FuncgradError, StaticArgumentError
from funcgrad.ir.avals import Aval, aval_of
from funcgrad.ir.presenters import presenter
from funcgrad.ir.program import Program
from funcgrad.ir.text.source_text import SourceText
from funcgrad.shared import Recent
from funcgrad.tracing.reading import NoPath, Unguarded
from funcgrad.tracing.recorder import recorder_of
from funcgrad.tracing.tracer import Tracer
from funcgrad.transforms.replay import inline
from funcgrad.tree import TreeDef
from funcgrad.types import Anything, Result, Tree

MOST_KINDS = 1000
"""Kinds of arguments that one function is kept for, of some ten kilobytes each; the oldest are made again."""

Function = Callable[..., Any]
Numbers = int | Sequence[int]

P = ParamSpec("P")
R = TypeVar("R")


@overload
def jit(fun: np.ufunc) -> JittedFunction[..., Any]: ...
@overload
def jit(
    fun: Callable[P, R],
    *,
    static_argnums: Numbers = (),
    static_argnames: str | Sequence[str] = (),
    donate_argnums: Numbers = (),
    control_flow: bool = True,
    unroll: int = UNROLLED_OPERATIONS,
) -> JittedFunction[P, R]: ...
@overload
def jit(
    fun: None = None,
    *,
    static_argnums: Numbers = (),
    static_argnames: str | Sequence[str] = (),
    donate_argnums: Numbers = (),
    control_flow: bool = True,
    unroll: int = UNROLLED_OPERATIONS,
) -> Callable[[Callable[P, R]], JittedFunction[P, R]]: ...
def jit(
    fun: Function | None = None,
    *,
    static_argnums: Numbers = (),
    static_argnames: str | Sequence[str] = (),
    donate_argnums: Numbers = (),
    control_flow: bool = True,
    unroll: int = UNROLLED_OPERATIONS,
) -> Callable[..., Any]:
    """`fun` compiled: recorded once for each kind of arguments, then run as native code.

    Arguments may be pytrees of arrays and numbers; results too. A kind of arguments is their structure,
    shapes and dtypes. Arguments named by `static_argnums` or `static_argnames` may be anything hashable, and
    every value of theirs is a kind of its own. Arrays of `donate_argnums` may be overwritten with results,
    and must not be used by the caller afterwards.

    Values of arrays are not known while `fun` is recorded. Python's own ``if``, ``while``, ``for``, ``and``
    and so on become branches and loops of the native code where such a value decides, in `fun` and in the
    functions of yours that it calls; so do loops over a known range whose trips have more than `unroll`
    operations together. With ``control_flow=False`` statements are Python's alone.

    Raises TracedBranchError for a branch that cannot be recorded, StaticArgumentError for a static argument
    that has no hash.

    >>> import numpy as np
    >>> @jit
    ... def norm(x):
    ...     return np.sqrt(np.sum(x * x))
    >>> print(norm(np.array([3.0, 4.0])))
    5.0
    """
    if fun is None:
        return partial(
            jit,
            static_argnums=static_argnums,
            static_argnames=static_argnames,
            donate_argnums=donate_argnums,
            control_flow=control_flow,
            unroll=unroll,
        )
    function_expected(jit, fun)
    options = {"static_argnums": static_argnums, "static_argnames": static_argnames}
    options["donate_argnums"] = donate_argnums
    given = {key: value for key, value in options.items() if value != ()}
    if not control_flow:
        given["control_flow"] = False
    if unroll != UNROLLED_OPERATIONS:
        given["unroll"] = operator.index(unroll)
    return JittedFunction(fun, given)


class JittedFunction(TransformedFunction[P, R]):
    """The result of `jit`, callable like the function."""

    def __init__(self, fun: Callable[P, R], options: dict[str, Any]) -> None:
        super().__init__(self._call, jit, (fun,), options)
        self._fun = fun
        self._options = options
        self._name = getattr(fun, "__name__", type(fun).__name__)
        self._static, self._static_names = static_arguments(
            fun, options.get("static_argnums", ()), options.get("static_argnames", ())
        )
        donated = options.get("donate_argnums", ())
        self._njit = njit_behind(fun)
        """The function of Numba's that this is, or is a transform of."""
        self._fixed = never_fixed if self._njit is None or is_vectorized(self._njit) else fixed
        self._donated = (donated,) if isinstance(donated, int) else tuple(donated)
        self.hooks: Hooks | None = None
        """What the statements of the last kind recorded have asked, and what they were told."""
        self._kinds = Recent[Specialization](MOST_KINDS)
        self._paths = Recent[Paths[Specialization]](MOST_KINDS)
        """The paths of what could not be recorded for all arguments of a kind."""
        self._direct: Callable[..., Any] | None = None
        """The native code of the last kind whose arguments and results are plain."""
        self._straight: Callable[..., Any] | None = None
        """The native code of the last kind that has been seen twice, for arguments of its structure."""
        self._latest: dict[Any, Specialization] = {}
        """The last kind seen of each structure of arguments."""

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        direct = self._direct
        if direct is not None and not kwargs:
            out: R = direct(*args)
            if out is not NotImplemented:
                return out
        else:
            straight = self._straight  # another thread may set it anew
            if straight is not None:
                out = straight(args, kwargs)
                if out is not NotImplemented:
                    return out
        while True:
            try:
                result: R = self._call(args, kwargs)
                return result
            except (Exception, KeyboardInterrupt) as error:
                if is_final(error):
                    raise

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
        static, dynamic = self._divided(args, kwargs)
        leaves, treedef = tree.flatten(dynamic)
        latest = self._latest.get((static, treedef))
        if latest is not None and lie_in_rows(leaves, latest.in_rows):
            latest.copies.refresh()
            out = latest.executable.call(*leaves)
            if out is not NotImplemented:
                if latest.checked:
                    return self._checked(latest, leaves, out, args, kwargs)
                if not static and not len(latest.copies):
                    self._straight = latest.straight(treedef)
                return tree.unflatten(latest.out_tree, out)
        static, leaves = without_refs(static, leaves)
        key = (static, treedef, tuple([self._aval(x) for x in leaves]))
        if self._paths.get(key) is not None:
            return self._by_path(key, leaves, args, kwargs)
        before = None if self._kinds.get(key) else held_by(self._fun)
        begin_with(leaves)
        try:
            found = self._specialization(static, treedef, leaves, args, kwargs)
        except FuncgradError as error:
            if before is None or not self._may_have_paths(key, before, error):
                raise
            try:
                return self._by_path(key, leaves, args, kwargs)
            except NoPath:
                raise error from None
        return self._run(found, (static, treedef), leaves, args, kwargs)

    def _run(
        self,
        found: Specialization,
        kind: tuple[Any, Any],
        leaves: Sequence[Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Result:
        """The result by what was recorded, or by Python where it does not stand for these arguments."""
        if not lie_in_rows(leaves, found.in_rows):
            return self._fun(*args, **kwargs)
        found.copies.refresh()
        recorder = recorder_of([*leaves, *[x for _, x in found.program.captured]])
        if recorder is not None:
            recorder.native = True
            outs = inline(recorder, found.program, leaves)
            return self._checked(found, leaves, outs, args, kwargs)
        if not found.guarded:
            if len(self._latest) >= MOST_KINDS:
                self._latest.clear()
            self._latest[kind] = found
        if found.checked:
            return self._checked(found, leaves, found.executable.run(*leaves), args, kwargs)
        if not kind[0] and not kwargs:
            self._remember(found, kind[1], len(args))
        return tree.unflatten(found.out_tree, found.executable.run(*leaves))

    def _may_have_paths(self, key: Anything, before: list[Any], error: FuncgradError) -> bool:
        """Whether the function may be run again, with values, and what it reads be tested on every call."""
        switched_on = self._options.get("control_flow", True) and self._njit is None and not are_noted()
        has_refs = any(place is REFS for place, *_ in key[0])
        return switched_on and not has_refs and error.has_paths and is_held_still(self._fun, before)

    def _by_path(
        self, key: Anything, leaves: Sequence[Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Result:
        """The result by the path that these arguments take, recorded where no other call has taken it.

        Raises NoPath where none is recorded yet, and this one cannot be.
        """
        if within_path():
            return self._fun(*args, **kwargs)
        paths = self._paths.get(key)
        if paths is None:
            paths = Paths()
        values = values_of(leaves)
        try:
            found, outs = self._taken(key, paths, values, args, kwargs)
        except NoPath as stop:
            if not paths and not paths.too_long and not isinstance(stop, Unguarded):
                raise
            self._paths.keep(key, paths)
            return run_by_python(self._fun, leaves, args, kwargs)
        self._paths.keep(key, paths)
        recorder = recorder_of([*leaves, *[x for _, x in found.program.captured]])
        outs = outs if recorder is None else inline(recorder, found.program, leaves)
        return self._checked(found, leaves, outs, args, kwargs)

    def _taken(
        self,
        key: Anything,
        paths: Paths[Specialization],
        values: list[Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> tuple[Specialization, Sequence[Any]]:
        """The path whose guards hold for these values, and its results."""
        full = len(paths) >= MOST_PATHS
        for found in paths:
            if (full and not found.recurred) or not lie_in_rows(values, found.in_rows):
                continue
            found.copies.refresh()
            outs = found.tried(values)
            if outs is not None and (not found.guarded or outs[-1]):
                found.recurred = True
                return found, outs
        if full or paths.too_long:
            raise NoPath
        static, treedef, avals = key
        before = held_by(self._fun)
        with paths.left_to_python(self._name, lambda: is_held_still(self._fun, before)):
            found = self._traced(static, treedef, avals, args, kwargs, values)
        if not is_held_still(self._fun, before) or not lie_in_rows(values, found.in_rows):
            raise NoPath
        paths.insert(0, found)
        return found, found.program.evaluate(*values)

    def _checked(
        self,
        found: Specialization,
        leaves: Sequence[Any],
        outs: Sequence[Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Result:
        """The result, if the guards hold; otherwise the user's function is called, and mostly raises."""
        ok = outs[-1] if found.guarded else True
        if type(ok) is Tracer and not ok.has_value():
            require(ok)
        elif not (ok.concrete() if type(ok) is Tracer else ok):
            if self._njit is not None:
                return call_to_raise(self._fun, args, kwargs)
            return self._fun(*args, **kwargs)
        n_last = len(outs) - found.guarded
        if found.said:
            n_last -= len(found.said)
            say_what_was_reached(found.said, outs[n_last : n_last + len(found.said)])
        if found.written:
            values = outs[n_last - len(found.written) : n_last]
            closed_over = [x for _, x in found.program.captured]
            give_back(self._name, leaves, found.written, values, closed_over)
        return found.result(outs)

    def _remember(self, found: Specialization, treedef: TreeDef, n_args: int) -> None:
        """Let the next call with the same kind of plain arguments go straight to the native code."""
        if len(found.copies):
            return
        plain = treedef == tree.structure(((0,) * n_args, {}))
        if plain and found.out_tree == tree.structure((0,) * len(found.program.outputs)):
            self._direct = found.executable.call
        elif plain and found.out_tree == tree.structure(0):
            self._direct = found.executable.single

    def _divided(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        """The static arguments as a key, and the others."""
        names = self._static_names
        if not self._static and not names and self._njit is None:
            return (), (args, kwargs)
        numbers = {n % len(args) for n in self._static if -len(args) <= n < len(args)}
        if self._njit is not None:
            numbers |= {n for n, x in enumerate(args) if self._fixed(x)}
            names = names | {key for key, x in kwargs.items() if self._fixed(x)}
            if not numbers and not names:
                return (), (args, kwargs)
        static = [(n, args[n]) for n in sorted(numbers)]
        static_named = [(key, kwargs[key]) for key in sorted(kwargs) if key in names]
        key = (*static, *static_named)
        try:
            hash(key)
        except TypeError as error:
            raise StaticArgumentError(
                f"a static argument of {self._name} has no hash: {error}",
                remedy="Static arguments are part of a key: pass a tuple, not a list, or leave it traced.",
            ) from None
        others = [None if n in numbers else x for n, x in enumerate(args)]
        named = {key: value for key, value in kwargs.items() if key not in names}
        typed = tuple([(place, type(value), value) for place, value in key])
        return typed, (tuple(others), named)

    def _specialization(
        self,
        static: Anything,
        treedef: TreeDef,
        leaves: Sequence[Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Specialization:
        avals = tuple([self._aval(x) for x in leaves])
        key = (static, treedef, avals)
        found = None if are_noted() else self._kinds.get(key)
        if found is None:
            # Under no lock: recording runs the user's code, and a child forked meanwhile would wait forever.
            found = self._traced(static, treedef, avals, args, kwargs)
            if not any(type(x) is Tracer for _, x in found.program.captured):
                found = self._kinds.keep(key, found)
        return found

    def _aval(self, leaf: object) -> Aval:
        if type(leaf) is Tracer:
            return leaf.aval
        if isinstance(leaf, Aval):
            return leaf
        try:
            return aval_of(leaf)
        except TypeError as error:
            if self._njit is not None:
                raise not_traced(leaf, self._name) from None
            raise StaticArgumentError(
                f"jit cannot trace an argument of {self._name}: {error}",
                source=here(),
                remedy="Name it in static_argnums or static_argnames, or pass arrays and numbers.",
            ) from None

    def _traced(
        self,
        static: Anything,
        treedef: TreeDef,
        avals: tuple[Aval, ...],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        values: Sequence[Any] | None = None,
    ) -> Specialization:
        """The function recorded for all arguments of a kind, or for those that take the path of `values`."""
        recording = Recording(self._fun, self._rewritten(), self._name, static, treedef, avals)
        # With values it computes, and what it has computed may have to go.
        with CollectorPaused() if values is None else nullcontext(), keeping() as kept:

            def recorded() -> Program:
                return recording.program(values, kept)

            with unchanged_where_long(kept):
                program = recorded()
            kept.refuse_baked(self._name, program, recorded, equal_programs)
        program, copies = reading_in_place(program)
        copies.fill(kept.filled)
        positions = recording.positions
        numbers = {n for n in positions if isinstance(n, int)}
        others = {k: v for k, v in kwargs.items() if k not in positions}
        name_inputs(program, self._fun, args, others, numbers)
        guarded = type(recording.guards.ok) is Tracer
        # Where a guard fails the function itself needs the arguments.
        donated = frozenset() if guarded else self._donated_leaves(args, positions)
        last = (guarded, recording.changes.written, recording.in_rows, recording.said)
        return Specialization(program, avals, recording.out_tree, donated, copies, *last)

    def _rewritten(self) -> Function:
        """The function, with statements that ask whether what decides them is traced."""
        if not self._options.get("control_flow", True):
            return self._fun
        self.hooks = Hooks(self._options.get("unroll", UNROLLED_OPERATIONS), self._options.get("loops"))
        found: Function = recordable_as_given(self._fun, self.hooks)
        return found

    def _donated_leaves(self, args: tuple[Any, ...], static: Mapping[Any, Any]) -> frozenset[int]:
        """The numbers of the leaves of donated arguments."""
        donated = {n % len(args) for n in self._donated if -len(args) <= n < len(args)}
        found: list[int] = []
        start = 0
        for n, arg in enumerate(args):
            count = 0 if n in static else len(tree.leaves(arg))
            found += range(start, start + count) if n in donated else ()
            start += count
        return frozenset(found)

    def kind(self, *args: object, **kwargs: object) -> tuple[Any, Any, tuple[Aval, ...]]:
        """What of arguments is compiled for: static ones, the structure and the types of the others."""
        static, dynamic = self._divided(args, kwargs)
        leaves, treedef = tree.flatten(dynamic)
        static, leaves = without_refs(static, leaves)
        return static, treedef, tuple([self._aval(x) for x in leaves])

    def lower(self, *args: P.args, **kwargs: P.kwargs) -> Lowered:
        """The function recorded for these arguments: to be read, or compiled before it is called.

        >>> print(jit(lambda x: 2.0 * x).lower(1.0).compile()(3.0))
        6.0
        """
        return Lowered(self, args, kwargs)

    def eval_shape(self, *args: P.args, **kwargs: P.kwargs) -> Tree:
        """The shapes and dtypes of the results, which are not computed.

        >>> print(jit(lambda x: 2.0 * x).eval_shape(np.ones(3)))
        f64[3]
        """
        return self.lower(*args, **kwargs).out_info

    def copied(self, **options: object) -> JittedFunction[P, R]:
        """The same function with the same options, or others; nothing has been made of it yet."""
        return JittedFunction(self._fun, {**self._options, **options})

    def traced_leaves(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[int]:
        """The numbers of the leaves of the arguments that are not static."""
        numbers = {n % len(args) for n in self._static if -len(args) <= n < len(args)}
        found: list[int] = []
        start = 0
        named = [(key in self._static_names, kwargs[key]) for key in sorted(kwargs)]
        for static, value in [*[(n in numbers, x) for n, x in enumerate(args)], *named]:
            count = len(tree.leaves(value))
            found += [] if static else range(start, start + count)
            start += count
        return found

    # -- looking inside ------------------------------------------------------------------------------------

    def _repr_html_(self) -> str:
        """What has been compiled so far, as notebooks show it."""
        html: str = presenter("results", "jitted_html")(self)
        return html

    def specialized(self, *args: object, **kwargs: object) -> Specialization:
        """What is made for these arguments."""
        static, dynamic = self._divided(args, kwargs)
        leaves, treedef = tree.flatten(dynamic)
        static, leaves = without_refs(static, leaves)
        return with_packages(self._specialization, static, treedef, leaves, args, kwargs)

    def program(self, *args: object, **kwargs: object) -> Program:
        """The Program that is compiled for these arguments."""
        return self.specialized(*args, **kwargs).program

    def kernel_source(self, *args: object, **kwargs: object) -> str:
        """The source of the native code for these arguments, with the user's lines as comments.

        It is a string; a notebook shows it in colours.
        """
        kernels = self.specialized(*args, **kwargs).executable.kernels
        return SourceText("\n\n".join([kernel.source for kernel in kernels]))
