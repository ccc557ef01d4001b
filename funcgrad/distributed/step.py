"""`distribute`: a function over data in shards, on workers that somebody else's engine runs."""

from __future__ import annotations

import functools
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, Literal, TypeVar

import numpy as np

from funcgrad import tree
from funcgrad.api.calling.arguments import here
from funcgrad.api.calling.transformed import function_expected
from funcgrad.config import notices_are_given
from funcgrad.distributed.engines.choice import engine_of
from funcgrad.distributed.engines.engine import Call, Sent
from funcgrad.distributed.packing import pack, unpack
from funcgrad.distributed.recipes import Recipe, aux_of, options_of, refuse_donated
from funcgrad.distributed.report import CallTimes, Report, advice
from funcgrad.distributed.shards import Shards, bounds_of
from funcgrad.distributed.sums import Part
from funcgrad.errors import ArgnumsError, DistributedError, UnsupportedFunctionError
from funcgrad.later import Later
from funcgrad.source import strip_library_frames
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, Array, Result, Tree

loops = Later("funcgrad.loops")

R = TypeVar("R")

_REMEMBERED = 100
"""Of how many calls the times are kept."""


def distribute(
    f: Callable[..., R],
    engine: object,
    *,
    reduce: Literal["sum", "mean", "gather"] | Callable[[Any, Any], Any] | None = None,
    shared: int | None = None,
    has_aux: bool = False,
    jit: bool = True,
    threads: int | None = 1,
    progress: str = "",
) -> Distributed[R]:
    """`f` over data in shards: computed where the shards are, and summed.

    The `shared` leading arguments of `f` (one, unless told otherwise) and its keyword arguments go to every
    worker, once a step; the others are data, of which each call of `f` gets one shard. `f` is any function of
    arrays to arrays, `fg.value_and_grad` of a loss for example. `engine` is a ``dask.distributed.Client``, a
    communicator of mpi4py, or an executor of `concurrent.futures` or with its interface.

    `reduce` says what becomes of the results: their ``"sum"`` (as it is for most functions), their ``"mean"``
    weighted by rows, all of them joined along the first axis (``"gather"``, as it is for `fg.vmap` of a
    function), or a function that makes one result of two; a ufunc goes leaf by leaf. With `has_aux`, and for
    transforms that were given it, what `f` returns beside is a list with an item for each shard. Shards are
    computed by compiled code unless `jit` is False, with so many `threads` each (None: as many as the worker
    is set to). `progress` names a bar that shows the shards of each call.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> def loss(w, X, y):
    ...     return np.sum((X @ w - y) ** 2)
    >>> with ThreadPoolExecutor(2) as pool:
    ...     step = fg.distribute(fg.value_and_grad(loss), pool)
    ...     data = step.scatter(np.eye(4), np.arange(4.0), shards=2)
    ...     print(step(np.zeros(4), data))
    (np.float64(14.0), array([ 0., -2., -4., -6.]))

    Raises ShardError where `f` raises, with the number and the rows of the shard and the line in `f`;
    LostDataError where scattered data is lost with a worker; WorkerVersionError where a worker has another
    version of funcgrad; DistributedError where the engine cannot do the work.
    """
    function_expected(distribute, f)
    refuse_donated(f)
    maker, options, _ = options_of(f)
    mapped = maker == "vmap"
    out_axes = options["out_axes"] if mapped else 0
    if shared is None:
        shared = shared_of_vmap(options["in_axes"]) if mapped else 1
    reduce = ("gather" if mapped else "sum") if reduce is None else reduce
    require_known(reduce, shared)
    name = getattr(f, "__name__", type(f).__name__)
    recipe = Recipe(f, name, reduce, aux_of(f, has_aux), jit, threads, out_axes)
    return Distributed(recipe, engine, shared, progress)


def require_known(reduce: str | Callable[[Any, Any], Any], shared: int) -> None:
    """Raise ValueError or ArgnumsError for options that mean nothing."""
    if isinstance(reduce, str) and reduce not in ("sum", "mean", "gather"):
        raise ValueError(f"reduce is 'sum', 'mean', 'gather' or a function of two results, not {reduce!r}")
    if shared < 0:
        raise ArgnumsError(f"shared is the number of leading arguments that are sent, not {shared}")


def shared_of_vmap(in_axes: Tree) -> int:
    """How many leading arguments are not mapped. Raises ArgnumsError where others are not split by rows."""
    axes = [in_axes] if isinstance(in_axes, int) else list(in_axes)
    count = 0
    while count < len(axes) and axes[count] is None:
        count += 1
    if any(axis != 0 for axis in tree.leaves(axes[count:], is_leaf=lambda x: x is None)):
        raise ArgnumsError(
            f"distribute splits data over the leading axis, and this vmap has in_axes={in_axes!r}",
            remedy="Have the arguments that are not mapped first, and map the others over axis 0.",
        )
    return count


class Distributed(Generic[R]):
    """A step: the result of `distribute`, callable like the function, with data in shards."""

    __name__: str

    def __init__(self, recipe: Recipe, engine: object, shared: int, progress: str) -> None:
        functools.update_wrapper(self, recipe.function, updated=())
        self._sent = Sent(recipe)
        self._engine = engine_of(engine)
        self._shared = shared
        self._progress = progress
        self._calls: deque[CallTimes] = deque(maxlen=_REMEMBERED)
        self._judged = False

    def __repr__(self) -> str:
        return f"<{self._sent.recipe.name}, distributed on {self._engine.name}>"

    def scatter(
        self,
        *arrays: object,
        shards: int | Iterable[Any] | None = None,
        loader: Callable[[Any], Any] | None = None,
        keep: bool = True,
        local: bool = False,
    ) -> Shards:
        """Data in shards, which the workers keep for all calls.

        Arrays, and pytrees of arrays, are split by rows into so many `shards`: as many as there are workers
        unless told otherwise. With a `loader` the workers make the data themselves: ``loader(item)`` returns
        the arrays of one shard, a tuple if they are several arguments, for each item of `shards`, file names
        for example, or for each number below it. It is called again where a worker is lost, and for each call
        if `keep` is False. On a communicator, the arrays of rank 0 are split, or with `local` each rank's own
        are its shard.

        >>> from concurrent.futures import ThreadPoolExecutor
        >>> with ThreadPoolExecutor(2) as pool:
        ...     step = fg.distribute(lambda a, x: np.sum(a * x), pool)
        ...     print(step.scatter(np.arange(5.0)), step(2.0, step.scatter(loader=np.ones, shards=[2, 3])))
        <2 shards on ThreadPoolExecutor, 5 rows> 10.0

        Raises ShapeError for arrays whose first axes differ.
        """
        if loader is not None:
            if arrays or shards is None:
                raise ArgnumsError("with a loader, scatter takes shards= and no arrays", source=here())
            items = list(range(shards) if isinstance(shards, int) else shards)
            return self._engine.load(loader, items, keep)
        if shards is not None and not isinstance(shards, int):
            raise ArgnumsError("without a loader, shards= of scatter is how many there are", source=here())
        count = shards

        def bounds(rows: int) -> list[tuple[int, int]]:
            return bounds_of(rows, self._engine.workers() if count is None else count)

        return self._engine.split(arrays, bounds, local)

    def __call__(self, *args: Tree, **kwargs: Tree) -> R:
        """What `f` gives for the shared arguments and all shards together.

        Each argument that is data is what `scatter` returned, a collection of the engine's (Dask's arrays,
        dataframes, bags and delayed values, whose partitions are the shards), or arrays, which are then split
        and sent with this call.
        """
        try:
            result: R = self._called(args, kwargs)
            return result
        except (Exception, KeyboardInterrupt) as error:
            strip_library_frames(error)
            raise

    def report(self) -> Report:
        """Where the time of the last calls went."""
        return Report(self._sent.recipe.name, self._engine.name, tuple(self._calls))

    # -- one call ------------------------------------------------------------------------------------------

    def _called(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Result:
        begin = time.perf_counter()
        refuse_traced(args, kwargs)
        if len(args) < self._shared:
            raise ArgnumsError(
                f"{self._sent.recipe.name} is distributed with {self._shared} shared arguments, and was "
                f"called with {len(args)}",
                source=here(),
            )
        shared, data = args[: self._shared], args[self._shared :]
        named = {key: x for key, x in kwargs.items() if not self._is_data(x)}
        named_data = {key: x for key, x in kwargs.items() if key not in named}
        keywords = (*[None] * len(data), *named_data)
        shards = self._in_shards([*data, *named_data.values()])
        call = Call(
            self._sent,
            pack((shared, named)),
            tuple([x.handles for x in shards]),
            keywords,
            common_rows(shards),
            begin=begin,
        )
        if self._progress:
            with loops.Bar(self._progress, call.count, None) as bar:
                call.moved, call.watched = lambda n: bar.move(n, None), True
                part = self._engine.run(call)
        else:
            part = self._engine.run(call)
        if part.failure is not None:
            raise part.failure.error()
        began = time.perf_counter()
        result = restored(part, self._sent.recipe)
        call.summing += time.perf_counter() - began + part.merging
        self._note(call, part)
        return result

    def _is_data(self, x: object) -> bool:
        return isinstance(x, Shards) or self._engine.collected([x]) is not None

    def _in_shards(self, data: Sequence[Any]) -> list[Shards]:
        """Each argument that is data, in shards; arrays given as they are split as the others are."""
        if not data:
            raise ArgnumsError(
                f"{self._sent.recipe.name} is distributed, and was called without data",
                source=here(),
                remedy=f"What follows the first {self._shared} is data: see shared=n of fg.distribute.",
            )
        found: list[Shards | None] = [x if isinstance(x, Shards) else None for x in data]
        others = [n for n, x in enumerate(found) if x is None]
        collected = self._engine.collected([data[n] for n in others]) if others else None
        if collected is not None:
            for n, x in zip(others, collected, strict=True):
                found[n] = x
        elif others:
            given = [x for x in found if x is not None]
            for n, x in zip(others, self._split([data[n] for n in others], given), strict=True):
                found[n] = x
        shards = [x for x in found if x is not None]
        for x in shards:
            if x.engine is not self._engine:
                raise DistributedError(
                    f"this data was scattered on {x.engine.name}, and the step runs on {self._engine.name}",
                    source=here(),
                    remedy="Scatter it with a step on the same engine.",
                )
        return shards

    def _split(self, arrays: list[Any], given: list[Shards]) -> list[Shards]:
        """Arrays in shards, split as the data that came with them is, or into one for each worker."""
        known = [rows for rows in given[0].rows if rows is not None] if given else []

        def bounds(rows: int) -> list[tuple[int, int]]:
            if not given:
                return bounds_of(rows, self._engine.workers())
            if len(known) != len(given[0]) or known[-1][1] != rows:
                raise ArgnumsError(
                    f"an array of {rows} rows came with data in {len(given[0])} shards, of other rows",
                    source=here(),
                    remedy="Scatter them together.",
                )
            return known

        return [self._engine.split((x,), bounds, None) for x in arrays]

    def _note(self, call: Call, part: Part) -> None:
        times = CallTimes(
            time.perf_counter() - call.begin,
            call.sending,
            call.summing,
            part.times,
            call.parameters.nbytes,
            call.bytes_back,
        )
        self._calls.append(times)
        # The first call compiles, or reads what was compiled.
        if len(self._calls) > 1 and not self._judged:
            self._judged = True
            if self.report().too_small and call.count > 1 and notices_are_given() and sys.stderr is not None:
                print(f"fg.distribute: {self._sent.recipe.name}: {advice(times)}", file=sys.stderr)  # noqa: T201


def refuse_traced(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise UnsupportedFunctionError where a transform traces the step: it runs elsewhere, unseen."""
    if any(isinstance(x, Tracer) for x in tree.leaves((args, kwargs))):
        raise UnsupportedFunctionError(
            "a step of fg.distribute cannot be traced: it runs on other workers",
            source=here(),
            remedy="Distribute the transform: fg.distribute(fg.grad(f), engine), not fg.grad of a step.",
        )


def common_rows(shards: Sequence[Shards]) -> tuple[Any, ...]:
    """The rows of each shard; raises ArgnumsError where arguments are split in different ways."""
    counts = {len(x) for x in shards}
    if len(counts) > 1:
        raise ArgnumsError(
            f"all data of a step has the same number of shards, not {sorted(counts)}", source=here()
        )
    if counts == {0}:
        raise ArgnumsError("the data of a step has no shards", source=here())
    known = [x.rows for x in shards if None not in x.rows]
    if len(set(known)) > 1:
        lengths = sorted({rows[-1][1] for rows in known if rows[-1] is not None})
        raise ArgnumsError(
            "the data of a step is split at different rows"
            + (f": it has {' and '.join(map(str, lengths))} of them" if len(lengths) > 1 else ""),
            source=here(),
            remedy="Scatter it together.",
        )
    return known[0] if known else shards[0].rows


def restored(part: Part, recipe: Recipe) -> Result:
    """The result as the function would have returned it, in arrays that are the caller's own."""
    if recipe.reduce == "gather":
        pieces = [unpack(flat) for flat in part.apart]
        result = gathered([piece for piece, _ in pieces], recipe.out_axes)
        apart = [tree.map(_own, piece) for _, piece in pieces]
    else:
        result = unpack(part.summed) if part.summed is not None else None
        result = tree.map(_mean(part.rows) if recipe.reduce == "mean" else _own, result)
        apart = [tree.map(_own, unpack(flat)) for flat in part.apart]
    if not recipe.aux:
        return result
    return (result, apart) if recipe.aux == "second" else ((result[0], apart), result[1])


def gathered(pieces: list[Any], out_axes: Tree) -> Tree:
    """Results of shards, joined along the axes that vmap stacked them along."""
    axes = tree.flatten_prefix(out_axes, tree.structure(pieces[0]), "out_axes")
    columns = zip(*[tree.leaves(piece) for piece in pieces], strict=True)
    joined = [
        _own(leaves[0]) if axis is None else np.concatenate([np.atleast_1d(x) for x in leaves], axis)
        for leaves, axis in zip(columns, axes, strict=True)
    ]
    return tree.unflatten(tree.structure(pieces[0]), joined)


def _own(leaf: Anything) -> Anything:
    return leaf.copy() if isinstance(leaf, np.ndarray) else leaf


def _mean(rows: int) -> Callable[[Any], Any]:
    def mean(leaf: Array) -> Array:
        dtype = np.asarray(leaf).dtype
        with np.errstate(invalid="ignore", divide="ignore"):  # the mean of no rows is NaN, as NumPy's is
            return leaf / dtype.type(rows)

    return mean
