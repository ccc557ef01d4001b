"""How far the loops of a nest need go: what lies beyond the length of a part of an array counts for nothing.

A mask compares the position along an axis with a number. Where all that a nest leaves behind are sums, and
every term is zero beyond the mask, the loop ends there. The last positions are then within the array for what
is known of the length, and need not be cut off. Knows nothing of text but the names of locals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from funcgrad.compile.passes.scheduling.numbers import NUMBERS
from funcgrad.compile.passes.scheduling.ranges import Ranges
from funcgrad.compile.passes.scheduling.views import View
from funcgrad.ir.program import Equation, Literal, Var

Mask = tuple[int, str]
"""Positions along an axis below a number, which is a local."""
NONE: frozenset[Mask] = frozenset()

NOTED = frozenset({"less", "add", "minimum", "where", "strong_zero_mul", "mul"})
"""The operations of which something follows."""


@dataclass(frozen=True, slots=True)
class Clipped:
    """A position ``min(start + i, last)``: the sum, the axis of i, the start and the last."""

    whole: str
    axis: int
    start: Var
    last: int


@dataclass(slots=True)
class Extents:
    """What is known of the locals of a nest."""

    masks: dict[str, frozenset[Mask]] = field(default_factory=dict)
    """Booleans, which are true below all of these."""
    zeros: dict[str, frozenset[Mask]] = field(default_factory=dict)
    """What is zero beyond each of these."""
    sums: dict[str, object] = field(default_factory=dict)
    """What is stored where it was read, with something added: what is added."""
    ramps: dict[str, tuple[int, Var]] = field(default_factory=dict)
    """Sums of a position along an axis and a number."""
    clipped: dict[str, Clipped] = field(default_factory=dict)
    rooms: dict[str, tuple[int, Var]] = field(default_factory=dict)
    """Of a number that masks compare with: it is at most this less that variable, where it is positive."""

    def note(self, ranges: Ranges, equation: Equation, name: str, operands: Sequence[object]) -> None:
        """Note what follows from a local that an equation has made."""
        kind = equation.primitive.name
        if kind not in NOTED:
            return
        if kind in ("less", "add") and len(operands) == 2:
            self._note_position(ranges, equation, name, operands)
        elif kind == "minimum" and operands[0] in self.ramps and isinstance(equation.inputs[1], Literal):
            axis, start = self.ramps[str(operands[0])]
            self.clipped[name] = Clipped(str(operands[0]), axis, start, int(equation.inputs[1].value))
        elif kind == "where":
            otherwise = equation.inputs[2]
            if isinstance(otherwise, Literal) and otherwise.value == 0:
                self._note_zeros(name, self.masks.get(text(operands[0]), NONE) | self._zeros(operands[1]))
        elif kind == "strong_zero_mul":
            self._note_zeros(name, self._zeros(operands[0]))
        if self.zeros and kind in ("mul", "add"):
            self._note_zeros(name, self._zeros(operands[0]) & self._zeros(operands[1]))

    def _note_position(
        self, ranges: Ranges, equation: Equation, name: str, operands: Sequence[object]
    ) -> None:
        if type(operands[0]) is type(operands[1]):  # no position and a number
            return
        for k, other in ((0, 1), (1, 0)):
            axis, number, atom = axis_of(operands[k]), operands[other], equation.inputs[other]
            if axis is None or not isinstance(number, str) or not isinstance(atom, Var):
                continue
            if atom.aval.shape or atom.aval.dtype != np.int64:
                continue
            if equation.primitive.name == "add":
                self.ramps[name] = axis, ranges.name(atom)
            elif k == 0:
                self.masks[name] = frozenset([(axis, number)])
                room = ranges.room(atom)
                if room is not None:
                    self.rooms[number] = room

    def _zeros(self, operand: object) -> frozenset[Mask]:
        return self.zeros.get(text(operand), NONE)

    def _note_zeros(self, name: str, masks: frozenset[Mask]) -> None:
        if masks:
            self.zeros[name] = masks

    def is_within(self, position: Clipped, masks: frozenset[Mask]) -> bool:
        """Whether a position is not cut off below some of these masks."""
        rooms = [self.rooms[bound] for axis, bound in masks if axis == position.axis and bound in self.rooms]
        return any(start is position.start and size - 1 <= position.last for size, start in rooms)


def text(operand: object) -> str:
    """The name of a local; none for what is in memory."""
    return operand if isinstance(operand, str) else ""


def axis_of(operand: object) -> int | None:
    """The axis that an operand is the position along, if it is that."""
    view = getattr(operand, "view", None)
    if not isinstance(view, View) or view.buffer is not NUMBERS or view.offset or view.base:
        return None
    axes = [a for a, stride in enumerate(view.strides) if stride]
    return axes[0] if len(axes) == 1 and view.strides[axes[0]] == 1 else None
