"""Arrays of NumPy's constructors inside of a trace: NumPy's own until a traced value is written into them.

An `OpenArray` holds an array of NumPy's, and everything done with it is done by NumPy. When a traced value is
written into it, or into a view of it, it becomes a traced array, in place: every name for it, and every view
of it, sees one. Its memory belongs to the trace, so that what is recorded of it stays as it was recorded: it
is copied where it is written plainly afterwards. Knows nothing of how constructors come to make one.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any
from weakref import ref

import numpy as np

from funcgrad.errors import UnsupportedFunctionError
from funcgrad.numpy.arrays.memory import lie_as, summarised
from funcgrad.numpy.dispatch import array_function
from funcgrad.numpy.tracers.memory_elsewhere import held_elsewhere, seen_elsewhere
from funcgrad.ops.arrays.structure import Broadcast, Reshape
from funcgrad.source import Source, user_location
from funcgrad.tracing.aliasing import Alias, remember
from funcgrad.tracing.recorder import COPY_BELOW, Recorder, active_recorder, recorder_at
from funcgrad.tracing.tracer import Tracer, TracerMemory
from funcgrad.types import Anything, Array, ArrayLike, DTypeLike, Index, Result, ShapeLike, Tree

_CLASS: Any = object.__dict__["__class__"]
"""Sets the class of an object whose class says that it has another."""

_WRITERS = frozenset([np.copyto, np.put, np.place, np.putmask, np.fill_diagonal, np.put_along_axis])
"""Functions that write into their first argument."""
_WRITING_METHODS = frozenset(
    ["fill", "sort", "put", "itemset", "partition", "resize", "byteswap", "setfield", "__setitem__"]
)
_ADDRESSES = frozenset(["ctypes", "__array_interface__", "__array_struct__", "__dlpack__"])
"""Attributes that hand out an address, which does not keep the array."""
_MEMORY = _ADDRESSES | {"data", "base", "getfield", "view"}
"""Attributes by which memory is handed out: it may be written where nobody sees it."""


class OpenArray(TracerMemory):
    """An array of NumPy's into which traced values can be written. It says that its class is NumPy's."""

    __slots__ = ()
    # As of a tracer, so that one can become the other: the array; whether it was captured (1) and handed out
    # (2); the array and the function that this is a view by; the views of it; the level of its trace.
    _recorder: Any
    _index: int
    _alias: tuple[OpenArray, Callable[[Any], Any]] | None
    _view: list[ref[OpenArray]] | None
    aval: Any

    __array_priority__ = 900.0
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, array: Array, base: OpenArray | None = None, read: Array = None) -> None:
        self._recorder = array
        self._index = 0
        self._alias = None if base is None else (base, read)
        self._view = None
        recorder = active_recorder()
        self.aval = -1 if recorder is None else recorder.level
        if base is not None:
            if base._view is None:
                base._view = []
            base._view.append(ref(self))

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return np.ndarray

    def become_traced(self) -> None:
        """Become a tracer, to be written into."""
        become_traced(self)

    # -- NumPy's protocols -------------------------------------------------------------------------------

    def __array__(self, dtype: DTypeLike = None, copy: bool | None = None) -> Array:
        hand_out(self)
        return np.array(self._recorder, dtype, copy=copy)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Array, **kwargs: Anything) -> Result:
        out = kwargs.get("out", ())
        targets = (inputs[0],) if method == "at" else out
        if has_traced((*inputs, *out)) or any(changes_in_block(x) for x in targets):
            for target in targets:
                if type(target) is OpenArray:
                    become_traced(target)
            return getattr(ufunc, method)(*recorded(inputs, targets), **kwargs)
        for target in targets:
            if type(target) is OpenArray:
                before_write(target)
        named = {key: plain(value) for key, value in kwargs.items()}
        result = getattr(ufunc, method)(*plain(inputs), **named)
        return (out[0] if len(out) == 1 else out) if out else opened(result)

    def __array_function__(
        self, function: Anything, types: Sequence[type], args: Tree, kwargs: Tree
    ) -> Result:
        target = args[0] if args and function in _WRITERS else kwargs.get("out")
        if has_traced(args) or has_traced(tuple(kwargs.values())) or changes_in_block(target):
            if type(target) is OpenArray:
                become_traced(target)
            args = recorded(args, (target,))
            kwargs = dict(zip(kwargs, recorded(tuple(kwargs.values()), (target,)), strict=True))
            return array_function(first_traced((args, tuple(kwargs.values()))), function, types, args, kwargs)
        if type(target) is OpenArray:
            before_write(target)
        return called(function, args, kwargs)

    @property
    def shape(self) -> ShapeLike:
        """The shape, which may be set where NumPy allows it."""
        return self._recorder.shape

    @shape.setter
    def shape(self, value: ShapeLike) -> None:
        before_write(self)
        self._recorder.shape = value

    @property
    def real(self) -> Array:
        """The real part; a view."""
        return viewed(self._recorder.real, self, operator.attrgetter("real"))

    @real.setter
    def real(self, value: ArrayLike) -> None:
        self.real[...] = value

    @property
    def imag(self) -> Array:
        """The imaginary part; a view."""
        return viewed(self._recorder.imag, self, operator.attrgetter("imag"))

    @imag.setter
    def imag(self, value: ArrayLike) -> None:
        self.imag[...] = value

    @property
    def flat(self) -> Anything:
        """NumPy's iterator over the memory, which is handed out with it; what is set is repeated."""
        hand_out(self)
        return self._recorder.flat

    @flat.setter
    def flat(self, value: ArrayLike) -> None:
        if has_traced((value,)) or changes_in_block(self):
            become_traced(self)
            self.flat = value
            return
        before_write(self)
        self._recorder.flat = plain(value)

    # -- what Python asks of arrays ----------------------------------------------------------------------

    def __getattr__(self, name: str) -> Anything:
        if name in _MEMORY:
            hand_out(self, unseen=name in _ADDRESSES)
            return getattr(self._recorder, name)
        value = getattr(self._recorder, name)
        if callable(value):
            return Method(self, name)
        return viewed(value, self, operator.attrgetter(name)) if type(value) is np.ndarray else value

    def __getitem__(self, key: Index) -> Array:
        if has_traced(key if type(key) is tuple else (key,)):
            return recorded_constant(self)[key]  # type: ignore[index]
        found = self._recorder[plain(key)]
        return viewed(found, self, operator.itemgetter(key)) if type(found) is np.ndarray else found

    def __setitem__(self, key: Index, value: ArrayLike) -> None:
        at_traced = has_traced(key if type(key) is tuple else (key,))
        if at_traced or has_traced((value,)) or changes_in_block(self):
            become_traced(self)
            self[key] = value
            return
        before_write(self)
        self._recorder[plain(key)] = plain(value)

    def __iter__(self) -> Iterator[Any]:
        return iter([self[k] for k in range(len(self._recorder))])

    def __len__(self) -> int:
        return len(self._recorder)

    def __contains__(self, item: Index) -> bool:
        return bool(np.any(self == item))

    def __bool__(self) -> bool:
        return bool(self._recorder)

    def __int__(self) -> int:
        return int(self._recorder)

    def __float__(self) -> float:
        return float(self._recorder)

    def __complex__(self) -> complex:
        return complex(self._recorder)

    def __index__(self) -> int:
        return operator.index(self._recorder)

    def __repr__(self) -> str:
        return repr(self._recorder)

    def __str__(self) -> str:
        return str(self._recorder)

    def __format__(self, spec: str) -> str:
        return format(self._recorder, spec)

    def __copy__(self, memo: object = None) -> OpenArray:
        return OpenArray(self._recorder.copy())

    __deepcopy__ = __copy__

    def __reduce__(self) -> str | tuple[Any, ...]:
        return np.array, (self._recorder.copy(),)

    def to_numpy(self) -> Array:
        """The array as an operand: what is recorded of it stays as it is now."""
        recorder = active_recorder()
        return self._recorder.copy("K") if recorder is None else recorded_constant(self)


class Method:
    """A method of an array of NumPy's, bound to an open one."""

    __slots__ = ("_name", "_owner")

    def __init__(self, owner: OpenArray, name: str) -> None:
        self._owner = owner
        self._name = name

    def __call__(self, *args: Anything, **kwargs: Anything) -> Result:
        owner, name = self._owner, self._name
        writes = name in _WRITING_METHODS
        if has_traced(args) or has_traced(tuple(kwargs.values())) or (writes and changes_in_block(owner)):
            if writes:
                become_traced(owner)
                return getattr(owner, name)(*args, **kwargs)
            return getattr(recorded_constant(owner), name)(*args, **kwargs)
        if writes:
            before_write(owner)
        given, named = plain(args), {key: plain(value) for key, value in kwargs.items()}
        found = getattr(owner._recorder, name)(*given, **named)
        return viewed(found, owner, operator.methodcaller(name, *given, **named))


# -- in and out -------------------------------------------------------------------------------------------


def plain(x: ArrayLike) -> ArrayLike:
    """The array that an open one holds, also in tuples and lists; anything else as it is."""
    kind = type(x)
    if kind is OpenArray:
        return x._recorder
    if kind is tuple:
        return tuple([plain(item) for item in x])
    return [plain(item) for item in x] if kind is list and any(type(y) is OpenArray for y in x) else x


def opened(x: ArrayLike) -> ArrayLike:
    """An array that an operation has just made, as an open one; also in tuples and lists."""
    kind = type(x)
    if kind is np.ndarray:
        return OpenArray(x) if x.ndim and x.dtype.kind in "fciub" else x
    if kind is tuple or kind is list:
        return kind([opened(item) for item in x])
    return x


def viewed(x: ArrayLike, base: OpenArray, read: Callable[[Any], Any]) -> Array:
    """What was read from an open array: a view of it where it shares its memory."""
    if type(x) is not np.ndarray:
        return opened(x)
    held = base._recorder
    if x is held:
        return base
    if not x.ndim or x.dtype.kind not in "fciub":
        return x
    return OpenArray(x, base, read) if np.may_share_memory(x, held) else OpenArray(x)


def called(function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> ArrayLike:
    """The result of a function of NumPy's on open arrays and others, none of them traced."""
    given, named = plain(tuple(args)), {key: plain(value) for key, value in kwargs.items()}
    found = function(*given, **named)

    def again(x: OpenArray, whole: Array) -> Array:
        return function(*with_whole(args, x, whole), **named)

    if type(found) not in (tuple, list):
        return seen_of(found, args, again)
    parts = enumerate(found)
    return type(found)([seen_of(part, args, partial(lambda k, *x: again(*x)[k], k)) for k, part in parts])


def seen_of(part: ArrayLike, args: Sequence[Any], read: Callable[[OpenArray, Any], Any]) -> ArrayLike:
    """A result of NumPy's: a view of the open array among the arguments that it shares memory with."""
    if type(part) is not np.ndarray:
        return opened(part)
    for x in open_among(args):
        if part is x._recorder or (part.base is not None and np.may_share_memory(part, x._recorder)):
            return viewed(part, x, partial(read, x))
    return opened(part)


def open_among(values: Sequence[Any]) -> Iterator[OpenArray]:
    """The open arrays among the values, and in tuples and lists among them."""
    for x in values:
        if type(x) is OpenArray:
            yield x
        elif type(x) in (tuple, list):
            yield from open_among(x)


def with_whole(values: Sequence[Any], x: OpenArray, whole: ArrayLike) -> Sequence[Any]:
    """The values, with what an open array has become in its place, and plain arrays for the others."""
    kind: Any = type(values)
    made: Sequence[Any] = kind(
        [
            whole if v is x else with_whole(v, x, whole) if type(v) in (tuple, list) else plain(v)
            for v in values
        ]
    )
    return made


def kinds_among(values: Sequence[Any]) -> int:
    """2 where something traced stands among the values, or in a list; 1 for open arrays, 0 for neither."""
    found = 0
    for x in values:
        kind = type(x)
        if kind is int or kind is float:
            continue
        if kind is Tracer:
            return 2
        if kind is OpenArray:
            found = 1
        elif kind is list or kind is tuple:
            inner = kinds_among(x)
            if inner == 2:
                return 2
            found = found or inner
    return found


def has_traced(values: Sequence[Any]) -> bool:
    """Whether a tracer stands among the values, or in a list among them."""
    for x in values:
        kind = type(x)
        if kind is Tracer or ((kind is list or kind is tuple) and has_traced(x)):
            return True
    return False


def first_traced(values: ArrayLike) -> Array:
    """The first tracer in nested tuples and lists."""
    for x in values:
        if type(x) is Tracer:
            return x
        found = first_traced(x) if isinstance(x, list | tuple) else None
        if found is not None:
            return found
    return None


def recorded(values: ArrayLike, targets: Sequence[Any]) -> Array:
    """The values with constants of the trace for open arrays; what is written is traced already."""
    kind = type(values)
    if kind is OpenArray:
        return recorded_constant(values)
    if kind is tuple or kind is list:
        return kind([recorded(x, targets) for x in values])
    return values


# -- becoming traced --------------------------------------------------------------------------------------


def whole_of(x: OpenArray) -> OpenArray:
    """The array that `x` is a view of, or `x`."""
    while x._alias is not None:
        x = x._alias[0]
    return x


def hand_out(x: OpenArray, *, unseen: bool = False) -> None:
    """Note that memory is given away, where it may be written, or read, without a word.

    `unseen` is for an address, or what holds one: nothing tells how long somebody has it.
    """
    whole = whole_of(x)
    before_write(whole)
    whole._index |= 6 if unseen else 2


def given_away(x: ArrayLike) -> ArrayLike:
    """As `plain`, for what goes to code that may keep the memory, or write into it."""
    for held in open_among((x,)):
        hand_out(held)
    return plain(x)


def refuse_if_seen_elsewhere(whole: OpenArray) -> None:
    """Raise TracerAssignmentError where somebody who is not traced would miss what is written."""
    if whole._index & 2:
        held = [part._recorder for part in family(whole)]
        if whole._index & 4 or held_elsewhere(held):
            raise seen_elsewhere()


def family(x: OpenArray) -> Iterator[OpenArray]:
    """An array, its views, and theirs."""
    yield x
    for part in live_views(x):
        yield from family(part)


def changes_in_block(x: ArrayLike) -> bool:
    """Whether `x` is an open array from outside of the block that is being recorded.

    The block is run once for all of its trips, so what they write has to be recorded, traced or not.
    """
    recorder = active_recorder()
    if recorder is None or not recorder.block or type(x) is not OpenArray:
        return False
    return bool(whole_of(x).aval < recorder.level)


def before_write(x: OpenArray) -> None:
    """Let what was recorded keep the memory, if it was, and take other memory."""
    whole = whole_of(x)
    if whole._index & 1:
        whole._index &= ~1
        take_memory(whole, whole._recorder.copy("K"))


def take_memory(x: OpenArray, array: ArrayLike) -> None:
    """Have the array, and its views, lie in other memory."""
    x._recorder = array
    for part in live_views(x):
        if part._alias is not None:
            take_memory(part, part._alias[1](array))


def live_views(x: OpenArray) -> list[OpenArray]:
    """The views of an array that somebody still holds."""
    found = [link() for link in x._view or ()]
    return [part for part in found if part is not None and type(part) is OpenArray]


def recorded_constant(x: OpenArray) -> Tracer:
    """What the array holds now, as a constant of the open trace."""
    recorder = active_recorder()
    if recorder is None:
        raise RuntimeError("no trace is open")
    return constant_in(recorder, x)


def constant_in(recorder: Recorder, x: OpenArray) -> Tracer:
    """What the array holds now, as a constant of a trace."""
    array, whole = x._recorder, whole_of(x)
    if array.nbytes <= COPY_BELOW:
        index = recorder.small_constant(array)
    else:
        if whole._index & 2:
            array = array.copy("K")
        else:
            whole._index |= 1
        index = recorder.constant(array)
    return Tracer(recorder, index, recorder.avals[index])


def become_traced(x: OpenArray) -> None:
    """Make the array, what it is a view of, and all views of that, traced arrays of the open trace."""
    if type(x) is not OpenArray:
        return
    whole = whole_of(x)
    refuse_if_seen_elsewhere(whole)
    recorder = recorder_at(whole.aval)
    if recorder is None:
        raise RuntimeError("no trace is open")
    array, views = whole._recorder, live_views(whole)
    fresh = (
        zeros_in(recorder, array)
        if array.size and not np.count_nonzero(array)
        else constant_in(recorder, whole)
    )
    if array.ndim:
        lie_as(fresh, summarised(np.empty_like(array, np.int8)))
    take_place(whole, fresh, Alias(None, None))
    for part in views:
        view_becomes_traced(part, whole)


def zeros_in(recorder: Recorder, array: ArrayLike) -> Tracer:
    """Zeros of the array's shape as an operation of a trace, which holds no memory."""
    index = recorder.literal(0, array.dtype, weak=False)
    made: Tracer = Broadcast(array.shape, ()).bind(Tracer(recorder, index, recorder.avals[index]))
    return made


def view_becomes_traced(part: OpenArray, base: Anything) -> None:
    """Make a view the same part of what has become a traced array."""
    read, views = part._alias[1], live_views(part)  # type: ignore[index]
    fresh = read(base)
    alias = Alias(fresh, Reshape(fresh.aval.shape)) if fresh is base else fresh._alias
    if alias is None or alias.base is None:
        raise UnsupportedFunctionError(
            "a traced value is written into an array of which there is a view that is none when it is traced",
            source=Source(*user_location()),
            remedy="Take the view with an index, reshape, transpose, np.split or np.broadcast_to.",
        )
    take_place(part, fresh, Alias(alias.base, alias.lens))
    remember(alias.base, part)  # type: ignore[arg-type]
    for further in views:
        view_becomes_traced(further, part)


def take_place(x: ArrayLike, tracer: Tracer, alias: Alias | None) -> None:
    """Have `x` be the tracer: every name for it sees that."""
    _CLASS.__set__(x, Tracer)
    x._recorder, x._index, x.aval = tracer._recorder, tracer._index, tracer.aval
    x._view, x._alias = None, alias
