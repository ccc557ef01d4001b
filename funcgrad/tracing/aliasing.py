"""Views and in-place writes, as NumPy has them, by functional update underneath.

A tracer is a name for a value; writing into it gives the name a new value. A *view* remembers the tracer
it was taken from and a `Lens`: how to read the view out of the base, and how to put a changed view back.
Writing into a tracer marks the views taken of it, and a marked view is read out again when it is next
used; writing into a view writes its base. Nothing is checked and nothing is built while nobody writes.
One mechanism serves tracers and the stateful Tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from typing import Any, NoReturn, Protocol
from weakref import ref

import numpy as np

from funcgrad.errors import TracerAssignmentError, UnsupportedFunctionError
from funcgrad.later import Later
from funcgrad.source import Source, user_location
from funcgrad.tracing.recorder import active_recorder
from funcgrad.tracing.tracer import Tracer
from funcgrad.types import Anything, Array

# What is refused, and in which words.
refusals = Later("funcgrad.tracing.refusals")


class Lens(Protocol):
    """How a view hangs on its base. The primitive that reads the view is usually its own lens."""

    def get(self, base: Array) -> Array:
        """The part of the base that is the view."""

    def put(self, base: Array, part: Array) -> Array:
        """The base with another part; raises where NumPy's view is read-only."""


Shares = Callable[[Tracer], bool | None]
"""Whether NumPy's array would be a view of its base, and no copy; None where that is not known."""


class Alias:
    """What a tracer shares memory with: the base that it is a view of, and the views taken of it."""

    __slots__ = ("base", "lens", "shares", "views")

    def __init__(self, base: Tracer | None, lens: Lens | None, shares: Shares | None = None) -> None:
        self.base = base
        self.lens = lens
        self.shares = shares
        """Asked before the first write, whether this is a view at all; None where it certainly is."""
        self.views: list[ref[Tracer]] | None = None

    def current_index(self, part: Tracer) -> int:
        """Read a view out of its base again, after something was written there; returns its index."""
        if self.base is not None and self.lens is not None:
            fresh = self.lens.get(self.base)
            part._recorder, part._index = fresh._recorder, fresh._index
            remember(self.base, part)
        part._view = None
        return part._index


class Doubt(Alias):
    """What is found where an array may have been written by way of another, or may not."""

    __slots__ = ()

    def current_index(self, part: Tracer) -> int:
        """Refuse to read it."""
        raise UnsupportedFunctionError(
            f"a traced {part.aval} was made from another array, by ravel, reshape or a class of SciPy's, and "
            "is a view or a copy depending on how its elements lie in memory, which is not known here; one "
            "of the two was written since",
            source=Source(*user_location()),
            remedy="Write x.ravel().copy(), or give SciPy x.copy(), for a copy; for a view make x with "
            "np.ascontiguousarray(x).copy() first.",
        )


class Arm(Protocol):
    """One of the arrays that a chosen one may be."""

    @property
    def base(self) -> Tracer | None:
        """The array; None once nobody has it any more."""

    def read(self, current: Tracer) -> Tracer:
        """What the chosen array is now, if this has changed."""

    def write(self, value: Tracer) -> None:
        """Write what the chosen array has become, where it is this one."""


class ChosenAlias(Alias):
    """What a tracer shares memory with that is one of several arrays: which, a traced value decides."""

    __slots__ = ("arms",)

    def __init__(self, arms: Sequence[Arm]) -> None:
        super().__init__(None, None)
        self.arms = tuple(arms)

    def current_index(self, part: Tracer) -> int:
        """Choose again, after one of the arrays was written; returns the index."""
        part._view = None
        fresh = part.frozen()
        for arm in self.living():
            fresh = arm.read(fresh)
        # Its own value is one of those that it is chosen from: it is wanted again when an inner trace ends.
        note_move(part, fresh)
        part._recorder, part._index = fresh._recorder, fresh._index
        self.remember(part)
        return part._index

    def remember(self, part: Tracer) -> None:
        """Note that `part` is to be chosen again when one of the arrays changes."""
        for arm in self.living():
            remember(arm.base, part)

    def living(self) -> list[Any]:
        """The arrays that somebody still has."""
        return [arm for arm in self.arms if arm.base is not None]


def as_chosen(part: Tracer, arms: Sequence[Arm]) -> Tracer:
    """`part`, which is the value of one of several arrays, as that array itself."""
    part._alias = alias = ChosenAlias(arms)
    alias.remember(part)
    return part


def view(base: Tracer, lens: Lens, shares: Shares | None = None) -> Tracer:
    """The part of `base` that the lens reads, writable and kept up to date, where it `shares` its memory."""
    part: Tracer = lens.get(base)
    return as_view(base.frozen() if part is base else part, base, lens, shares)


def as_view(part: Tracer, base: Tracer, lens: Lens, shares: Shares | None = None) -> Tracer:
    """`part`, which the lens has just read from `base`, as a view of it."""
    if base.aval.shape or is_view(base):  # a scalar has no memory that a part could share
        part._alias = Alias(base, lens, shares)
        remember(base, part)
    return part


def remember(base: Tracer, part: Tracer) -> None:
    """Note that `part` is to be read again when `base` changes."""
    alias = base._alias
    if alias is None:
        alias = base._alias = Alias(None, None)
    if alias.views is None:
        alias.views = [ref(part)]
    else:
        alias.views.append(ref(part))


def note_shown(base: Tracer, made: Anything) -> None:
    """Note that other code holds an array of NumPy's for `base`, which would miss a write into that."""
    remember(base, made)


def is_numpys(x: object) -> bool:
    """Whether it is an array of NumPy's, and no traced one."""
    return type(x) is np.ndarray


def is_view(x: Tracer) -> bool:
    """Whether the tracer shares memory with one it was taken from."""
    alias = x._alias
    if type(alias) is ChosenAlias:
        return bool(alias.living())
    return alias is not None and alias.base is not None and settled(x) is not False


def memory_of(x: Tracer) -> Tracer:
    """The array whose memory an array is, or is a part of."""
    while x._alias is not None and x._alias.base is not None and settled(x) is not False:
        x = x._alias.base
    return x


def settled(part: Tracer) -> bool | None:
    """Whether a part shares the memory of its base, for good; None where that cannot be known.

    What turns out to be a copy is a part of nothing from now on.
    """
    alias = part._alias
    if alias is None or alias.shares is None or alias.base is None:
        return alias is not None
    found = alias.shares(part)
    if found is not None:
        alias.shares = None
    if found is False:
        alias.base = alias.lens = None
    return found


def put_in_doubt(base: Tracer) -> None:
    """Have an array that a part may belong to, and all that shares its memory, refused when it is read."""
    root = memory_of(base)
    for x in (root, *all_views(root)):
        x._view = Doubt(None, None)


def all_views(x: Tracer) -> Iterator[Tracer]:
    """The views of an array, and theirs."""
    for link in (x._alias.views if x._alias is not None else None) or ():
        part = link()
        if part is not None and not is_numpys(part) and settled(part) is not False:
            yield part
            yield from all_views(part)


def assign(x: Tracer, value: Tracer) -> None:
    """Give `x` a new value of the same shape and dtype, and its base, if it is a view, the changed part.

    A value of an inner trace takes the name with it: `x` belongs to that trace from now on.
    """
    value = written_inside(value)
    if x._alias is None:
        note_move(x, value)
        if len(x.aval.shape) > 1:
            keep_place(x, value)
        x._recorder, x._index, x.aval = value._recorder, value._index, value.aval
        return
    changed = changes_of(x, value)
    root, whole = changed[-1]
    if type(root._alias) is ChosenAlias:
        for arm in root._alias.living():
            # One after the other: they may overlap, and one of them at most is written.
            arm.write(whole)
    part: Tracer | None = None
    for y, new in changed:
        note_move(y, new)
        if len(y.aval.shape) > 1:
            keep_place(y, new)
        y._recorder, y._index, y.aval = new._recorder, new._index, new.aval
        alias = y._alias
        if y._view is not None:
            y._view = None
            if type(alias) is ChosenAlias:
                alias.remember(y)
            elif alias is not None and alias.base is not None:
                remember(alias.base, y)
        if alias is not None:
            mark_views(alias, part)
        part = y


def changes_of(x: Tracer, value: Tracer) -> list[tuple[Tracer, Tracer]]:
    """An array and those that it is a part of, each with what it becomes by a write into the first.

    The new values first: a read-only view refuses before anything has changed.
    """
    changed = [(x, value)]
    while (alias := changed[-1][0]._alias) is not None and alias.base is not None and alias.lens is not None:
        base, lens = alias.base, alias.lens
        shared = alias.shares is None or settled(changed[-1][0])
        if shared is None:
            put_in_doubt(base)
            alias.base = alias.lens = None
        if not shared:
            break
        changed.append((base, lens.put(base, changed[-1][1])))
    return changed


def keep_place(x: Tracer, value: Tracer) -> None:
    """Note that a new value of `x` lies in memory as the old one does."""
    if value._index != x._index or value._recorder is not x._recorder:
        value._recorder.lies.setdefault(value._index, (x._recorder, x._index))


def written_inside(value: Tracer) -> Tracer:
    """The value as one of the block that is being recorded, if one is: it is written there, nowhere else."""
    recorder = active_recorder()
    if recorder is None or not recorder.block or value._recorder is recorder or recorder.closed:
        return value
    return Tracer(recorder, recorder.index_of(value), value.aval)


def raise_unseen() -> NoReturn:
    """Raise for a write into an array of which somebody has an array of NumPy's, as if it were that."""
    raise TracerAssignmentError(
        "an array of this trace is written, whose values something else holds, which would not see it",
        source=Source(*user_location()),
        remedy="Write into a copy, np.array(a), or make the other array or object afterwards.",
    )


def note_move(x: Tracer, value: Tracer) -> None:
    """Have the trace of the value remember what `x` stood for, if that belongs to another trace."""
    if x._recorder is not value._recorder:
        value._recorder.note_moved(x)


def moved_back(moved: Sequence[tuple[Tracer, Any, int, Any]], untouched: Container[int] = ()) -> list[Tracer]:
    """Give tracers that an inner trace has written what they stood for; returns those that are no parts.

    Views of them are read again; of those whose ids are in `untouched`, which the trace has read only, no
    others than it has taken itself.
    """
    for x, recorder, index, aval in reversed(moved):
        x._recorder, x._index, x.aval = recorder, index, aval
    roots: dict[int, Tracer] = {}
    for x, *_ in moved:
        if x._alias is not None:
            mark_views(x._alias, None, only_closed=id(x) in untouched)
        # What is one of several arrays may be one that has no other name.
        if not is_view(x) or type(x._alias) is ChosenAlias:
            roots[id(x)] = x
    return list(roots.values())


def mark_views(alias: Alias, current: Tracer | None, *, only_closed: bool = False) -> None:
    """Have all views, and the views of views, read again, except the one that was just written.

    `only_closed` is for an array that has not changed: views that a closed trace has taken.
    """
    kept: list[ref[Tracer]] = []
    marked = [alias]
    while marked:
        above = marked.pop()
        for link in above.views or ():
            part = link()
            if part is None:
                continue
            if is_numpys(part):
                raise_unseen()
            if part is current or (only_closed and above is alias and not part._recorder.closed):
                kept.append(link)
            elif part._view is None and part._alias is not None and (shared := settled(part)) is not False:
                part._view = part._alias if shared else Doubt(None, None)
                marked.append(part._alias)
        above.views = None
    alias.views = kept or None


def written_into(target: object, what: str) -> Array:
    """The tracer that a traced result is written into; raises TracerAssignmentError for a real array.

    An array that was made in the traced function becomes a tracer, and so do its views.
    """
    become = getattr(type(target), "become_traced", None)
    if become is not None:
        become(target)
    if type(target) is not Tracer:
        raise refusals.assigned_into_array(what)
    return target
