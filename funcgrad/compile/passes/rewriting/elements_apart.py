"""Which elements of an array are never the same one: whole numbers as sums of counters, and their bounds.

Of ``for k in range(n): for j in range(k + 1, n)`` the number ``j`` is ``k + 1`` and a counter that is not
negative, so ``a[i, j]`` is not ``a[i, k]``. Knows nothing of memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from funcgrad.ir.avals import Shape
from funcgrad.ir.program import Atom, Equation, Literal

Unit = int
"""A whole number that is not a sum: later ones have greater names."""


class Form(NamedTuple):
    """A number, and whole multiples of units."""

    number: int
    terms: tuple[tuple[Unit, int], ...] = ()

    def plus(self, other: Form, times: int = 1) -> Form:
        """The sum with so many of the other."""
        terms = dict(self.terms)
        for unit, count in other.terms:
            terms[unit] = terms.get(unit, 0) + times * count
        left = tuple(sorted([(unit, count) for unit, count in terms.items() if count]))
        return Form(self.number + times * other.number, left)


ZERO, ONE = Form(0), Form(1)


class Units:
    """The units of one Program with all Programs in it, and what bounds each."""

    def __init__(self) -> None:
        self.count = 0
        self.least: dict[Unit, int] = {}
        self.most: dict[Unit, Form] = {}
        """In terms of units that are older."""
        self.maxima: dict[Unit, Form] = {}
        """Units that are the greater of zero and of something."""

    def new(self, least: int | None = None, most: Form | None = None) -> Form:
        """A unit of which this is known."""
        self.count += 1
        if least is not None:
            self.least[self.count] = least
        if most is not None:
            self.most[self.count] = most
        return Form(0, ((self.count, 1),))


class Sums:
    """The whole numbers of one Program as sums of units."""

    def __init__(self, units: Units, known: Mapping[Unit, Form] | None = None) -> None:
        self.units = units
        self.forms: dict[Atom, Form] = {}
        self.known = dict(known or {})
        """What units are that are greater than zero here, and otherwise the greater of zero and of that."""

    def inside(self) -> Sums:
        """Those of a Program in this one."""
        return Sums(self.units, self.known)

    def of(self, atom: Atom) -> Form:
        """The sum that a number is."""
        if isinstance(atom, Literal):
            whole = not atom.aval.shape and atom.aval.dtype.kind in "iu"
            return Form(int(atom.value)) if whole else self.units.new()
        found = self.forms.get(atom)
        if found is None:
            found = self.forms[atom] = self.units.new()
        return found

    def follow(self, equations: Sequence[Equation]) -> None:
        """Note what the equations make."""
        for e in equations:
            if len(e.outputs) == 1 and is_whole(e.outputs[0]) and all(is_whole(a) for a in e.inputs):
                found = self._made(e)
                if found is not None:
                    self.forms[e.outputs[0]] = found

    def _made(self, e: Equation) -> Form | None:
        name, given = e.primitive.name, [self.of(a) for a in e.inputs]
        if name in ("cast", "stop_gradient") or (name == "floor_divide" and given[1] == ONE):
            return given[0]
        if name == "neg":
            return ZERO.plus(given[0], -1)
        if name in ("add", "sub"):
            return given[0].plus(given[1], 1 if name == "add" else -1)
        if name == "mul":
            constant = [k for k in range(2) if not given[k].terms]
            return ZERO.plus(given[1 - constant[0]], given[constant[0]].number) if constant else None
        return self._greater(*given) if name == "maximum" else None

    def _greater(self, x: Form, y: Form) -> Form | None:
        """The greater of two numbers, where it is known which that is, or one of them is zero."""
        for one, other in ((x, y), (y, x)):
            ahead = self.least(one.plus(other, -1))
            if ahead is not None and ahead >= 0:
                return one
        if y != ZERO:
            return None
        made = self.units.new(0)
        self.units.maxima[made.terms[0][0]] = x
        return made

    def counted(self, start: Form, bound: Form) -> Form:
        """What begins with a number, grows by one, and is below a bound where it is read."""
        least = self.least(start)
        (unit, times), *others = bound.terms or ((0, 0),)
        if least is not None and least >= 0 and not others and times == 1 and not bound.number:
            greater = self.units.maxima.get(unit)
            if greater is not None:
                self.known[unit] = greater
        return start.plus(self.units.new(0, bound.plus(start, -1).plus(ONE, -1)))

    def least(self, form: Form) -> int | None:
        """What a sum is at least."""
        while form.terms:
            unit, times = form.terms[-1]
            rest = Form(form.number, form.terms[:-1])
            known = self.known.get(unit)
            if known is not None:
                form = rest.plus(known, times)
            elif times > 0 and unit in self.units.least:
                form = rest.plus(Form(self.units.least[unit]), times)
            elif times < 0 and unit in self.units.most:
                form = rest.plus(self.units.most[unit], times)
            else:
                return None
        return form.number

    def is_within(self, forms: Sequence[Form], shape: Shape) -> bool:
        """Whether indices, none of them negative, are those of an element."""
        return all(self._between(form, n) for form, n in zip(forms, shape, strict=True))

    def _between(self, form: Form, n: int) -> bool:
        least, left = self.least(form), self.least(Form(n - 1).plus(form, -1))
        return least is not None and left is not None and least >= 0 and left >= 0

    def are_apart(self, one: Sequence[Form], other: Sequence[Form], shape: Shape) -> bool:
        """Whether two elements are never the same one; counts from the end are not among the indices."""
        for x, y, n in zip(one, other, shape, strict=True):
            ahead, behind = self.least(x.plus(y, -1)), self.least(y.plus(x, -1))
            differ = (ahead is not None and ahead > 0) or (behind is not None and behind > 0)
            if differ and self._between(x, n) and self._between(y, n):
                return True
        return False


def is_whole(atom: Atom) -> bool:
    """Whether it is one whole number of 64 bits."""
    aval = atom.aval
    return not aval.shape and aval.dtype.kind == "i" and aval.dtype == np.int64
