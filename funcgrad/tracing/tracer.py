"""The tracer: what a traced function sees in place of an array.

Owns identity, aval and the concrete-value protocol (``bool``, ``float``, ``np.asarray``, printing).
Operators, methods and NumPy's protocols are installed from above by `install`, so that one definition
of each operation serves ``fg.numpy.f``, ``np.f(tracer)`` and the method. Knows no operation itself.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from sys import _getframe
from types import FunctionType
from typing import TYPE_CHECKING, Any, cast

from funcgrad.errors import ConcretizationError, TracedBranchError, UnsupportedFunctionError
from funcgrad.ir.avals import Aval, Shape
from funcgrad.later import Later
from funcgrad.source import Source, user_location
from funcgrad.tracing.callers import compares_elements
from funcgrad.tracing.constants import compares_varying
from funcgrad.tracing.conversion import array_of, integer_of, number_of, python_value_of, stood_for, text_of
from funcgrad.tracing.reading import READER, Unguarded
from funcgrad.types import Anything, Array, DTypeLike

if TYPE_CHECKING:
    import numpy as np

    from funcgrad.tracing.aliasing import Alias
    from funcgrad.tracing.recorder import Recorder

# What is refused, and in which words.
refusals = Later("funcgrad.tracing.refusals")


def chosen_by_kind(x: object) -> None:
    """A function of which there are others for other kinds of values."""


CHOOSES = cast(FunctionType, functools.singledispatch(chosen_by_kind)).__code__
_METHOD = functools.singledispatchmethod(chosen_by_kind).__get__(None)
CHOOSES_METHOD = getattr(_METHOD, "__code__", None) or type(_METHOD).__call__.__code__
"""The code that asks for the class of an argument, by which it chooses."""

SEARCHES = "scipy.optimize._optimize"
"""The module of SciPy's searches that are Python: they compare values, and end at one that they tried."""
_ELSEWHERE = "Use fg.numpy functions instead, or move the call out of the traced function."
_STATIC = (
    "Pass sizes, and positions in lists, as static arguments (static_argnums of fg.jit).\n"
    "fg.fori_loop loops without range, and x[i + np.arange(3)] is x[i : i + 3]."
)
_LONG_CONDITION = 40
"""Characters from which on a condition is called that, and not repeated."""
_JOINED = (
    "Use max, min, sort, any or all of fg.numpy on one array; fg.numpy.array joins lists of traced values."
)

MANY_DECISIONS = 20
"""So many truths of what varies make a search of what might be a piece of a function in pieces."""


class TracerMemory:
    """What a tracer consists of, and an array that may become one: Python gives such a class to the other."""

    __slots__ = ("__weakref__", "_alias", "_index", "_recorder", "_view", "aval")


class Tracer(TracerMemory):
    """An array whose operations are recorded. Behaves like the NumPy array it stands for."""

    __slots__ = ()
    __array_priority__ = 1000.0
    __pandas_priority__ = 5000
    """Above pandas' own, so that its operators leave operations with tracers to the tracers."""

    _recorder: Recorder
    _index: int
    _view: Alias | None
    """Not None for a view whose base has been written since it was read: it must be read again."""
    _alias: Alias | None
    aval: Aval

    def __init__(self, recorder: Recorder, index: int, aval: Aval) -> None:
        self._recorder = recorder
        self._index = index
        self.aval = aval
        self._view = None
        self._alias = None

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """What it is; to `functools.singledispatch` what it stands for, by which that chooses a function."""
        asks = _getframe(1).f_code
        if asks is not CHOOSES and asks is not CHOOSES_METHOD:
            return Tracer
        self._recorder.note_kind_asked()
        return stood_for(self.aval)

    # -- what an array knows without its data ----------------------------------------------------------

    @property
    def shape(self) -> Shape:
        """Shape, a tuple of ints."""
        return self.aval.shape

    @shape.setter
    def shape(self, shape: Shape | int) -> None:
        if (shape if isinstance(shape, tuple) else (shape,)) == self.aval.shape:
            return
        raise UnsupportedFunctionError(
            "the shape of a traced value cannot be set",
            source=Source(*user_location()),
            remedy=f"Write x = x.reshape({shape!r}), which NumPy recommends as well.",
        )

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy dtype."""
        return self.aval.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self.aval.ndim

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.aval.size

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.aval.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.aval.nbytes

    @property
    def source(self) -> Source | None:
        """The user's line that made this tracer, if one did."""
        location = self._recorder.sources[self._index]
        return Source(*location) if isinstance(location, tuple) else location

    def __len__(self) -> int:
        if not self.aval.shape:
            raise TypeError("len() of unsized object")
        return self.aval.shape[0]

    # -- values ----------------------------------------------------------------------------------------

    def frozen(self) -> Tracer:
        """This tracer as it is now: later writes into it or its base do not show."""
        index = self._index if self._view is None else self._view.current_index(self)
        return Tracer(self._recorder, index, self.aval)

    def concrete(self) -> Array:
        """The value as a NumPy array or scalar; raises ConcretizationError where none exists."""
        reader = READER.get()
        if reader is None:
            return self._recorder.value_of(self.frozen()._index)
        value = self.evaluated_on_a_path()
        reader(self, value)
        return value

    def evaluated_on_a_path(self) -> Array:
        """The value, where a path is recorded; raises Unguarded if that fails.

        Where it can be said beforehand that it fails it has been asked: see `numpy.algebra.awaited`.
        """
        try:
            return self._recorder.value_of(self.frozen()._index)
        except ConcretizationError:
            raise
        except Exception:  # noqa: BLE001 - the user's code may handle whatever it is
            raise Unguarded from None

    def _needed_by(self, what: str, remedy: str = _ELSEWHERE) -> Anything:
        self._recorder.require_value(self)
        try:
            return self.concrete()
        except ConcretizationError as error:
            raise ConcretizationError(
                f"{what} needs the value of a traced {self.aval}, and {error.seen}",
                source=Source(*user_location()),
                remedy=remedy,
            ).on_one_path() from None

    def __bool__(self) -> bool:
        self._recorder.require_value(self)
        caller = _getframe(1)
        if caller.f_globals.get("__name__") == SEARCHES:
            refusals.refuse_search(self, caller)
        decided = self._recorder.decided
        if len(decided) < MANY_DECISIONS and compares_varying(self):
            self._recorder.decided = (*decided, user_location())
        try:
            return bool(self.concrete())
        except ConcretizationError:
            source = Source(*user_location())
            remedy = _JOINED if compares_elements(caller) else branch_remedy(source)
            raise TracedBranchError(
                f"this branch depends on a traced {self.aval}", source=source, remedy=remedy
            ).on_one_path() from None

    def has_value(self) -> bool:
        """Whether the value exists, or can be computed from values that do."""
        return not self.why_unknown()

    def value_at_hand(self) -> Array:
        """The value if it has been computed already, otherwise None: nothing is evaluated for a check."""
        value: Any = self
        while type(value) is Tracer:
            x = value.frozen()
            value = x._recorder.values.get(x._index, None)
        return value

    def why_unknown(self) -> str:
        """Why there is no value, in words; ``""`` where there is one, or one can be computed."""
        x = self.frozen()
        return x._recorder.why_unknown(x._index)

    def __array__(self, dtype: DTypeLike = None, copy: bool | None = None) -> Array:
        return array_of(self, dtype, copy, _getframe(1))

    def __float__(self) -> float:
        return float(number_of(self, "float()", _getframe(1)))

    def __int__(self) -> int:
        return int(integer_of(self, _getframe(1)))

    def __complex__(self) -> complex:
        return complex(number_of(self, "complex()", _getframe(1)))

    def __index__(self) -> int:
        if self.aval.shape or self.aval.dtype.kind not in "iub":
            raise ConcretizationError(
                f"a traced {self.aval} is no integer, and cannot be an index or a size",
                source=Source(*user_location()),
                remedy="Use int(x), which takes the value rounded towards zero.",
            )
        return self._needed_by("an index", _STATIC).__index__()  # type: ignore[no-any-return]

    def item(self, *args: int) -> Array:
        """The value of one element as a Python scalar; refused where it has a derivative to lose."""
        return python_value_of(self, "item()", _getframe(1)).item(*args)

    def tolist(self) -> Array:
        """The values as nested lists of Python scalars; refused where they have a derivative to lose."""
        return python_value_of(self, "tolist()", _getframe(1)).tolist()

    def __iter__(self) -> Iterator[Any]:
        if not self.aval.shape:
            raise TypeError("iteration over a 0-d array")
        # Each element is read when it is asked for: a loop may write into what it has not come to yet.
        return (self[i] for i in range(self.aval.shape[0]))  # type: ignore[index]

    def __repr__(self) -> str:
        if self._recorder.closed:
            return f"Tracer({self.aval}, escaped)"
        if not self.has_value():
            # The place says which value it is: text may be a key, and two values must not share one.
            place = self._index if self._view is None else self._view.current_index(self)
            return f"Tracer({self.aval} #{self._recorder.level}.{place})"
        return f"Tracer({self.concrete()!r})"

    def __format__(self, spec: str) -> str:
        return text_of(self, spec, _getframe(1)) if spec else repr(self)

    def __hash__(self) -> int:
        error = ConcretizationError(
            f"unhashable type: a traced {self.aval} cannot be a key of a dict, an element of a set, "
            "or an argument of a function under functools.cache",
            source=Source(*user_location()),
            remedy="Use int(x) or round(x) for a key, which has no derivative to lose, or a list beside it.\n"
            "fg.stop_gradient(x) says that only the value is meant: float(fg.stop_gradient(x)) is a key.",
        )
        # On a path that is recorded with values int() of it is a plain number.
        raise error.on_one_path() if self.aval.dtype.kind in "iub" else error

    def __reduce__(self) -> tuple[Any, ...]:
        raise ConcretizationError(
            f"a traced {self.aval} cannot be pickled or copied with copy.copy",
            remedy="Return it from the traced function and pickle the result.",
        )

    def __deepcopy__(self, memo: object) -> Tracer:
        return self.frozen()

    def __copy__(self) -> Tracer:
        return self.frozen()


def branch_remedy(source: Source) -> str:
    """What to write instead of a branch, or of a loop, whose condition has no value."""
    if source.text.lstrip().startswith("while "):
        return (
            "Use fg.while_loop(condition, body, start), or fg.fori_loop where the number of trips is known."
        )
    condition = source.expression
    if not condition or len(condition) > _LONG_CONDITION:
        condition = "condition"
    return f"Use fg.numpy.where({condition}, a, b), or fg.cond for code that must not run."


def install(members: dict[str, Callable[..., Any] | property]) -> None:
    """Give the tracer operators, methods and properties; called once by each upper layer at import."""
    for name, member in members.items():
        if name in Tracer.__dict__ and name not in ("__hash__",):
            raise TypeError(f"the tracer already has {name!r}")
        setattr(Tracer, name, member)
