"""Between which bounds integers lie, as far as can be known before a kernel runs.

An index that is known to lie within an array needs no check. Knows nothing of memory and of text.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence

import numpy as np

from funcgrad.compile.passes.scheduling.steady import Steady
from funcgrad.ir.program import Atom, Equation, Literal, Program, Var
from funcgrad.ir.ranges import RULES, Range
from funcgrad.tracing.recorder import writeable_memory
from funcgrad.transforms.simplify import atom_key
from funcgrad.types import Array

MOVEMENTS = frozenset({"broadcast", "reshape", "permute", "slice", "flip", "gather", "stop_gradient"})
"""Operations whose results are elements of their first input."""

IDLE: Mapping[str, Range] = {"add": (0, 0), "sub": (0, 0), "floor_divide": (1, 1), "mul": (1, 1)}
"""What changes nothing as a second operand."""


class Counter:
    """A number that a loop carries, and that each trip makes one greater or one less.

    Indices into logs, arrays with an element for each run of a body, are such a number, or one less. They are
    not looked at in every trip: how far they may go is asked once, before the loop.
    """

    def __init__(self, growth: int) -> None:
        self.growth = growth
        self.limits: list[tuple[int, int]] = []
        """What is added to it to give an index, and how many elements there are."""


class Ranges:
    """The ranges of the integers of one Program, and some of their sums.

    Of ``for j in range(i + 1, n): a[j]`` the loop has a counter that stays below ``n - (i + 1)``, and ``j``
    is the sum of that counter and of ``i + 1``. It is below ``n``, which the two ranges alone do not say.
    """

    def __init__(self) -> None:
        self._known: dict[Var, Range] = {}
        self._names: dict[Var, Var] = {}
        """Variables that are the same number as another, which is in a Program around this one or here."""
        self._rooms: dict[Var, tuple[int, Var]] = {}
        """Of variables that, where they are positive, are at most this number less that variable."""
        self._negatives: dict[Var, Var] = {}
        """Variables that are less another."""
        self._below: dict[Var, Var] = {}
        """Variables that are at least zero and less than another."""
        self._one_less: dict[Var, Var] = {}
        """Variables that are another less one."""
        self._counters: dict[Var, Counter] = {}
        self._places: dict[tuple[Var, int], tuple[int, str]] = {}
        """By an index and the size of an axis: from which step on a local holds the position."""
        self.steady: Steady | None = None
        """The indices that are asked for before the trips of the loop whose body this is."""
        self._made: dict[Hashable, Var] = {}
        """Whole numbers by how they are made."""

    def enter(
        self, outer: Ranges, program: Program, atoms: Sequence[Atom | None], *, once: bool = False
    ) -> None:
        """Take over what is known around a Program, of which some inputs are atoms there.

        The locals of positions are known in what runs `once`, where it stands.
        """
        self._made = dict(outer._made)
        if once:
            self._places = {key: (-1, name) for key, (_, name) in outer._places.items()}
        self._rooms, self._below = dict(outer._rooms), dict(outer._below)
        self._one_less, self._counters = dict(outer._one_less), dict(outer._counters)
        for v, atom in zip(program.inputs, atoms, strict=True):
            if isinstance(atom, Var):
                self._names[v] = outer.name(atom)

    def name(self, v: Var) -> Var:
        """The variable that is meant."""
        return self._names.get(v, v)

    def note_below(self, v: Var, bound: Var) -> None:
        """Say that a variable is at least zero, and below a bound that has this name."""
        self._below[v] = bound

    def room(self, v: Var) -> tuple[int, Var] | None:
        """A number and a variable: where `v` is positive, it is at most the one less the other."""
        return self._rooms.get(self.name(v))

    def note_place(self, index: Atom, n: int, name: str, step: int) -> None:
        """Say which local holds the position, in an axis of `n` elements, that an index is."""
        if isinstance(index, Var):
            self._places[self.name(index), n] = step, name

    def place(self, index: Atom, n: int, step: int) -> str | None:
        """The local that holds the position that an index is, for a step."""
        known = self._places.get((self.name(index), n)) if isinstance(index, Var) else None
        return known[1] if known is not None and known[0] <= step else None

    def note_counter(self, v: Var, counter: Counter) -> None:
        """Say that a variable is what a loop counts."""
        self._counters[v] = counter

    def is_limited(self, index: Atom, n: int) -> bool:
        """Whether a loop sees to it that an index of an axis of `n` elements is within it."""
        if not isinstance(index, Var):
            return False
        v, offset = self.name(index), 0
        if v not in self._counters:
            v, offset = self._one_less.get(v, v), -1
        counter = self._counters.get(v)
        if counter is not None:
            counter.limits.append((offset, n))
        return counter is not None

    def of(self, atom: Atom) -> Range | None:
        """The range of a variable or a number, if it is known."""
        if isinstance(atom, Var):
            return self._known.get(atom)
        return (int(atom.value), int(atom.value)) if atom.aval.dtype.kind in "iu" else None

    def note(self, v: Var, found: Range | None) -> None:
        """Say what is known of a variable."""
        if found is not None and v.aval.dtype.kind in "iu":
            limits = np.iinfo(v.aval.dtype)
            if limits.min <= found[0] <= found[1] <= limits.max:
                self._known[v] = found

    def follow(self, equation: Equation) -> None:
        """Note what follows from an equation."""
        out = equation.outputs[0]
        if out.aval.dtype.kind not in "iu" or equation.primitive.multiple:
            return
        name, inputs = equation.primitive.name, equation.inputs
        if not out.aval.shape and equation.primitive.pure:
            key = (equation.primitive, *[self.name(a) if isinstance(a, Var) else atom_key(a) for a in inputs])
            twin = self._made.setdefault(key, out)
            if twin is not out:
                self._names[out] = self.name(twin)
        if self.steady is not None:
            self.steady.follow(equation)
        if name in MOVEMENTS or name == "cast":
            self.note(out, self.of(inputs[0]))
        elif name == "searchsorted":
            self.note(out, (0, inputs[0].aval.shape[-1]))
        elif name == "where":
            self.note(out, joined([self.of(a) for a in inputs[1:]]))
        elif name in RULES:
            operands = [self.of(a) for a in inputs]
            if all(x is not None for x in operands):
                self.note(out, RULES[name](*operands))
            if name == "neg" and not out.aval.shape and isinstance(inputs[0], Var):
                self._negatives[out] = self.name(inputs[0])
            if not out.aval.shape and len(inputs) == 2:
                self._follow_sums(name, inputs[0], inputs[1], out)

    def _follow_sums(self, name: str, x: Atom, y: Atom, out: Var) -> None:
        """Note what follows for the sums of a counter and where it begins."""
        if x.aval.dtype != out.aval.dtype or y.aval.dtype != out.aval.dtype:
            return
        if isinstance(y, Var) and name == "add" and self.of(x) == (0, 0):
            self._names[out] = self.name(y)
        elif not isinstance(x, Var):
            if name == "sub" and isinstance(y, Var):
                self._note_room(x, y, out)
        elif self.of(y) == IDLE.get(name):
            self._names[out] = self.name(x)
        elif name == "maximum" and self.of(y) == (0, 0) and self.name(x) in self._rooms:
            self._rooms[out] = self._rooms[self.name(x)]
        elif name == "sub":
            self._follow_difference(x, y, out)
        elif name == "add" and not isinstance(y, Var) and x in self._negatives:
            self._note_room(y, self._negatives[x], out)
        elif name == "add" and isinstance(y, Var):
            self._note_sum(x, y, out)
            self._note_sum(y, x, out)

    def _note_room(self, x: Atom, y: Var, out: Var) -> None:
        """Note that ``x - y``, where it is positive, leaves room up to the greatest `x`."""
        whole = self.of(x)
        # Less than zero less anything may be less than any whole number, and turn positive.
        if whole is not None and whole[0] >= 0:
            self._rooms[out] = (whole[1], self.name(y))

    def _follow_difference(self, x: Var, y: Atom, out: Var) -> None:
        if self.of(y) == (1, 1):
            self._one_less[out] = self.name(x)
        elif isinstance(y, Var):
            bound = self._one_less.get(x)
            most = None if bound is None else self._known.get(x)
            if bound is not None and self._below.get(self.name(y)) is bound and most is not None:
                self.note(out, (0, max(most[1], 0)))
                self._below[out] = bound
            else:
                self._note_room(x, y, out)

    def _note_sum(self, x: Var, y: Var, out: Var) -> None:
        """Note that a counter and where it begins are less than what its bound was made of."""
        bound = self._below.get(self.name(x))
        room = None if bound is None else self._rooms.get(bound)
        found = self._known.get(out)
        if room is not None and found is not None and room[1] is self.name(y):
            self.note(out, (found[0], max(min(found[1], room[0] - 1), found[0])))

    def of_array(self, array: Array) -> Range | None:
        """The range of the elements of an array that is known."""
        if not stays_as_it_is(array) or array.dtype.kind not in "iu" or not array.size:
            return None
        return int(array.min()), int(array.max())


def stays_as_it_is(array: object) -> bool:
    """Whether nobody can change the elements of a captured array, which are read at every call."""
    return isinstance(array, np.ndarray) and not writeable_memory(array)


def joined(ranges: Sequence[Range | None]) -> Range | None:
    """What any of the values may be."""
    known = [x for x in ranges if x is not None]
    if len(known) < len(ranges):
        return None
    return min(low for low, _ in known), max(high for _, high in known)


def growth_of(body: Program, place: int) -> int | None:
    """What every trip adds to a part of the carry, if that is one number."""
    v, atom = body.inputs[place], body.outputs[place]
    if v.aval.shape or v.aval.dtype.kind not in "iu":
        return None
    if atom is v:
        return 0
    for equation in body.equations:
        if equation.outputs[0] is atom and equation.primitive.name in ("add", "sub"):
            others = [x for x in equation.inputs if x is not v]
            if len(others) == 1 and isinstance(others[0], Literal):
                if equation.primitive.name == "add":
                    return int(others[0].value)
                return -int(others[0].value) if equation.inputs[0] is v else None
    return None


def range_of_counter(start: Range | None, growth: int | None, trips: int) -> Range | None:
    """What a counter is in the trips of a loop."""
    if start is None or growth is None:
        return None
    reach = growth * max(trips - 1, 0)
    return start[0] + min(reach, 0), start[1] + max(reach, 0)


def bound_of(cond: Program, place: int) -> int | None:
    """Which input of a condition a part of the carry is less than, if that is the condition."""
    for equation in cond.equations:
        if equation.outputs[0] is cond.outputs[0] and equation.primitive.name == "less":
            left, right = equation.inputs
            if left is cond.inputs[place] and isinstance(right, Var) and right in cond.inputs:
                return cond.inputs.index(right)
    return None


def bound_by(cond: Program, place: int, ranges: Callable[[int], Range | None]) -> int | None:
    """The greatest value of a part of the carry for which a loop goes on; `ranges`: of its consts."""
    v, decides = cond.inputs[place], cond.outputs[0]
    for equation in cond.equations:
        if equation.outputs[0] is decides and equation.primitive.name in ("less", "less_equal"):
            left, right = equation.inputs
            if left is not v:
                return None
            if isinstance(right, Literal):
                stop: Range | None = (int(right.value), int(right.value))
            else:
                stop = ranges(cond.inputs.index(right)) if right in cond.inputs else None
            if stop is not None and right.aval.dtype.kind in "iu":
                return stop[1] - int(equation.primitive.name == "less")
    return None
