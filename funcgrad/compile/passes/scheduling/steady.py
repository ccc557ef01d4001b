"""Indices that grow by one, fall by one or stay from trip to trip: they need no look in every trip.

Where such an index stands in every trip of a loop, its first and its last value say whether all are within
the axis. Those are known before the trips begin: ``for e in range(starts[r], starts[r + 1]): x[e]``. Knows
nothing of text but the names of locals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from funcgrad.compile.passes.rewriting.elements_apart import ZERO, Form
from funcgrad.ir.program import Atom, Equation, Literal, Var

TRIP = 0
"""The unit that is the number of a trip."""


LARGEST = 1 << 62
"""Numbers from which a sum of them may not be one of 64 bits."""


class Asked(NamedTuple):
    """An index of an axis of some size; what counts it from the end is added to it, if it has a name."""

    form: Form
    size: int
    shift: str


class Steady:
    """The whole numbers of a loop's body as sums of the number of the trip and of what no trip changes."""

    def __init__(
        self, paces: Mapping[Var, int], outside: Mapping[Var, Atom], name: Callable[[Var], Var]
    ) -> None:
        """`paces`: what each trip adds to an input. `outside`: atoms around the loop, by their names."""
        self._outside, self._name = outside, name
        self.units: list[Atom] = []
        """What is meant by the units after that of the trip: how an input begins, or an atom outside."""
        self._forms = {v: Form(0, ((TRIP, pace),)).plus(self._unit(v)) for v, pace in paces.items()}
        self.asked: dict[tuple[Form, int], Asked] = {}

    def _unit(self, atom: Atom) -> Form:
        if atom not in self.units:
            self.units.append(atom)
        return Form(0, ((self.units.index(atom) + 1, 1),))

    def _of(self, atom: Atom) -> Form | None:
        if atom.aval.shape or atom.aval.dtype != np.int64:
            return None
        if isinstance(atom, Literal):
            return Form(int(atom.value))
        found = self._forms.get(atom)
        known = self._outside.get(self._name(atom)) if found is None else None
        return found if known is None else self._unit(known)

    def follow(self, equation: Equation) -> None:
        """Note what follows from an equation."""
        if len(equation.outputs) != 1 or equation.outputs[0].aval.dtype != np.int64:
            return
        name, given = equation.primitive.name, [self._of(a) for a in equation.inputs]
        x, y = (*given, None, None)[:2]
        found = None
        if x is not None and y is not None and name in ("add", "sub"):
            found = x.plus(y, 1 if name == "add" else -1)
        elif x is not None and y is not None and name == "mul" and not (x.terms and y.terms):
            one, other = (y, x) if x.terms else (x, y)
            found = ZERO.plus(other, one.number)
        elif x is not None and name in ("neg", "stop_gradient"):
            found = ZERO.plus(x, -1 if name == "neg" else 1)
        if found is not None and len(equation.inputs) <= 2:
            self._forms[equation.outputs[0]] = found

    def ask(self, index: Atom, size: int, fresh: Callable[[], str] | None) -> Asked | None:
        """What an index is that is asked for before the trips; None where it has to be looked at in each.

        `fresh` makes a name, for an index that may be negative.
        """
        form = self._of(index)
        if form is None or abs(dict(form.terms).get(TRIP, 0)) > 1:
            return None
        if max(abs(form.number), *[abs(count) for _, count in form.terms], 0) >= LARGEST:
            return None
        found = self.asked.get((form, size))
        if found is None:
            found = self.asked[form, size] = Asked(form, size, "" if fresh is None else fresh())
        return found
