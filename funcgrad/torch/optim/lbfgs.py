"""L-BFGS: quasi-Newton steps from a history of gradients, with an optional search along each of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import InitVar
from typing import Any

import numpy as np

from funcgrad.torch.core.operand import Operand
from funcgrad.torch.core.tensor import Tensor, own, wrap
from funcgrad.torch.nn.declared import declared
from funcgrad.torch.optim.optimizer import evaluated
from funcgrad.torch.optim.options import Declared
from funcgrad.torch.optim.stepwise import flat, shaped
from funcgrad.types import Anything, Array, Number, Result

__all__ = ["LBFGS"]

Evaluation = tuple[float, Any]
"""A loss and the flat gradient there."""


@declared
class LBFGS(Declared):
    """L-BFGS; `step` needs a closure that evaluates the loss again and returns it.

    >>> from funcgrad import torch
    >>> w = torch.tensor([3.0, -2.0], requires_grad=True)
    >>> optimizer = torch.optim.LBFGS([w], line_search_fn="strong_wolfe")
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = ((w - 1.0) ** 2).sum()
    ...     loss.backward()
    ...     return loss
    >>> _ = optimizer.step(closure)
    >>> bool((w - 1.0).abs().max() < 1e-4)
    True
    """

    lr: InitVar[Number] = 1
    max_iter: InitVar[int] = 20
    max_eval: InitVar[int | None] = None
    tolerance_grad: InitVar[float] = 1e-7
    tolerance_change: InitVar[float] = 1e-9
    history_size: InitVar[int] = 100
    line_search_fn: InitVar[str | None] = None

    def take(self, options: dict[str, Any]) -> None:
        if options["max_eval"] is None:
            options["max_eval"] = options["max_iter"] * 5 // 4
        super().take(options)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    def check(self, options: dict[str, Any]) -> None:
        super().check(options)
        if options["line_search_fn"] not in (None, "strong_wolfe"):
            raise RuntimeError("only 'strong_wolfe' is supported")

    def _gradient(self) -> Anything:
        return np.concatenate(
            [flat(np.zeros_like(p._value) if p._grad is None else p._grad._value) for p in self._params]
        )

    def _position(self) -> Anything:
        return np.concatenate([flat(p._value) for p in self._params])

    def _move_to(self, x: Anything) -> None:
        start = 0
        for p in self._params:
            value = own(p)
            end = start + value.size * (2 if value.dtype.kind == "c" else 1)
            value[...] = shaped(x[start:end], value.dtype, value.shape)
            p._version_box[0] += 1
            start = end

    def step(self, closure: Callable[[], Any] | None = None) -> Result:
        """Up to `max_iter` quasi-Newton steps; returns the loss before the first."""
        if closure is None:
            raise TypeError("LBFGS.step() missing 1 required positional argument: 'closure'")
        group = self.param_groups[0]
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first_loss = evaluated(closure)
        run = Run(self, closure, group, state, float(first_loss._value))
        if not run.is_flat():
            run.iterate()
            run.save()
        return first_loss


class Run:
    """One call of `LBFGS.step`."""

    def __init__(
        self,
        optimizer: LBFGS,
        closure: Callable[[], Any],
        group: dict[str, Any],
        state: dict[str, Any],
        loss: float,
    ) -> None:
        self.optimizer = optimizer
        self.closure = closure
        self.group = group
        self.state = state
        self.loss = loss
        self.lr = float(group["lr"])
        self.g = optimizer._gradient()
        self.evaluations = 1
        state["func_evals"] += 1
        held = {name: _unwrapped(value) for name, value in state.items()}
        self.d: Any = held.get("d")
        self.t: Any = held.get("t")
        self.changes: list[Any] = held.get("old_dirs", [])
        """Differences of gradients."""
        self.moves: list[Any] = held.get("old_stps", [])
        self.ro: list[Any] = held.get("ro", [])
        self.scale: Any = held.get("H_diag", 1)
        self.previous: Any = held.get("prev_flat_grad")

    def save(self) -> None:
        """Keep what the next call continues from."""
        held = {
            "d": self.d,
            "t": self.t,
            "old_dirs": self.changes,
            "old_stps": self.moves,
            "ro": self.ro,
            "H_diag": self.scale,
            "prev_flat_grad": self.previous,
            "prev_loss": self.previous_loss,
        }
        self.state.update({name: _wrapped(value) for name, value in held.items()})

    previous_loss: Any = None

    def is_flat(self) -> bool:
        """Whether the gradient is as good as zero."""
        return bool(np.abs(self.g).max() <= self.group["tolerance_grad"])

    def iterate(self) -> None:
        """Steps until one of the limits is reached."""
        group, tiny = self.group, self.group["tolerance_change"]
        for k in range(1, group["max_iter"] + 1):
            self.state["n_iter"] += 1
            self.find_direction()
            self.previous, self.previous_loss = self.g.copy(), self.loss
            is_first = self.state["n_iter"] == 1
            self.t = min(1.0, 1.0 / float(np.abs(self.g).sum())) * self.lr if is_first else self.lr
            slope = float(self.g @ self.d)
            if slope > -tiny:
                break
            self.move(slope, k == group["max_iter"])
            if k == group["max_iter"] or self.evaluations >= group["max_eval"] or self.is_flat():
                break
            if float(np.abs(self.d * self.t).max()) <= tiny or abs(self.loss - self.previous_loss) < tiny:
                break

    def find_direction(self) -> None:
        """The direction of the next step, by the two loops over the history (Nocedal, 1980)."""
        if self.state["n_iter"] == 1:
            self.d, self.changes, self.moves, self.ro, self.scale = -self.g, [], [], [], 1
            return
        y, s = self.g - self.previous, self.d * self.g.dtype.type(self.t)
        ys = y @ s
        if ys > 1e-10:
            if len(self.changes) == self.group["history_size"]:
                for held in (self.changes, self.moves, self.ro):
                    held.pop(0)
            self.changes.append(y)
            self.moves.append(s)
            self.ro.append(1.0 / ys)
            self.scale = ys / (y @ y)
        q = -self.g
        shares = [0.0] * len(self.ro)
        for i in reversed(range(len(self.ro))):
            shares[i] = self.moves[i] @ q * self.ro[i]
            q = q - self.changes[i] * shares[i]
        r = q * self.scale
        for i, ro in enumerate(self.ro):
            r = r + self.moves[i] * (shares[i] - self.changes[i] @ r * ro)
        self.d = r

    def move(self, slope: float, is_last: bool) -> None:
        """Take the step, of the length that the search finds if there is one."""
        start = self.optimizer._position()
        if self.group["line_search_fn"] is not None:

            def evaluate(t: float) -> Evaluation:
                self.optimizer._move_to(start + self.d * self.d.dtype.type(t))
                return float(evaluated(self.closure)._value), self.optimizer._gradient()

            self.loss, self.g, self.t, count = strong_wolfe(
                evaluate, self.t, self.d, self.loss, self.g, slope
            )
            self.optimizer._move_to(start + self.d * self.d.dtype.type(self.t))
        else:
            self.optimizer._move_to(start + self.d * self.d.dtype.type(self.t))
            count = 0
            if not is_last:
                self.loss = float(evaluated(self.closure)._value)
                self.g = self.optimizer._gradient()
                count = 1
        self.evaluations += count
        self.state["func_evals"] += count


def _wrapped(x: Anything) -> Anything:
    """What a run holds as what the state holds: arrays as tensors."""
    if isinstance(x, list):
        return [_wrapped(v) for v in x]
    return wrap(np.asarray(x)) if isinstance(x, np.ndarray | np.generic) else x


def _unwrapped(x: Anything) -> Anything:
    """What the state holds as a run holds it; numbers of no dimensions as NumPy's scalars."""
    if isinstance(x, list):
        return [_unwrapped(v) for v in x]
    return x._value[()] if isinstance(x, Tensor) else x


def cubic_minimum(
    x1: float,
    f1: float,
    g1: float,
    x2: float,
    f2: float,
    g2: float,
    bounds: tuple[float, float] | None = None,
) -> float:
    """Where the cubic through two points with their slopes is least, between bounds or the points."""
    low, high = bounds or ((x1, x2) if x1 <= x2 else (x2, x1))
    d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = d1 * d1 - g1 * g2
    if square < 0:
        return (low + high) / 2.0
    d2 = math.sqrt(square)
    if x1 <= x2:
        found = x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2))
    else:
        found = x1 - (x1 - x2) * ((g1 + d2 - d1) / (g1 - g2 + 2 * d2))
    return min(max(found, low), high)


class Point:
    """A place along the direction: its distance, loss, gradient, and slope."""

    __slots__ = ("f", "g", "slope", "t")

    def __init__(self, t: float, f: float, g: Anything, slope: float) -> None:
        self.t, self.f, self.g, self.slope = t, f, g, slope


C1, C2 = 1e-4, 0.9
"""The constants of the Wolfe conditions: enough decrease, and enough flattening."""


def strong_wolfe(
    evaluate: Callable[[float], Evaluation],
    t: float,
    d: Array,
    f: float,
    g: Operand,
    slope: float,
    tolerance: float = 1e-9,
    most: int = 25,
) -> tuple[float, Any, float, int]:
    """A step that satisfies the strong Wolfe conditions: loss, gradient, length, evaluations.

    Brackets such a step, then narrows the bracket by cubic interpolation (Nocedal and Wright, section 3.5).
    """
    origin = Point(0.0, f, g, slope)
    longest = float(np.abs(d).max())

    def at(t: float) -> Point:
        loss, gradient = evaluate(t)
        return Point(t, loss, gradient, float(gradient @ d))

    found = at(t)
    count = 1
    before = origin
    bracket: list[Point] = []
    done = False
    tries = 0
    while tries < most:
        if found.f > f + C1 * found.t * slope or (tries > 1 and found.f >= before.f):
            bracket = [before, found]
            break
        if abs(found.slope) <= -C2 * slope:
            bracket = [found]
            done = True
            break
        if found.slope >= 0:
            bracket = [before, found]
            break
        bounds = (found.t + 0.01 * (found.t - before.t), found.t * 10)
        t = cubic_minimum(before.t, before.f, before.slope, found.t, found.f, found.slope, bounds)
        before, found = found, at(t)
        count += 1
        tries += 1
    if tries == most:
        bracket = [origin, found]
    low, extra = narrowed(at, bracket, origin, done, longest, tolerance, most - tries)
    return low.f, low.g, low.t, count + extra


def narrowed(
    at: Callable[[float], Point],
    bracket: list[Point],
    origin: Point,
    done: bool,
    longest: float,
    tolerance: float,
    most: int,
) -> tuple[Point, int]:
    """The best point of a bracket that has been narrowed, and the number of evaluations."""
    if len(bracket) == 1:
        return bracket[0], 0
    low, high = (0, 1) if bracket[0].f <= bracket[-1].f else (1, 0)
    count = 0
    stuck = False
    while not done and count < most:
        a, b = bracket
        if abs(b.t - a.t) * longest < tolerance:
            break
        t = cubic_minimum(a.t, a.f, a.slope, b.t, b.f, b.slope)
        left, right = min(a.t, b.t), max(a.t, b.t)
        margin = 0.1 * (right - left)
        if min(right - t, t - left) < margin:
            # Close to an end: once is allowed, then the step moves a tenth of the bracket inwards.
            if stuck or t >= right or t <= left:
                t = right - margin if abs(t - right) < abs(t - left) else left + margin
                stuck = False
            else:
                stuck = True
        else:
            stuck = False
        found = at(t)
        count += 1
        if found.f > origin.f + C1 * found.t * origin.slope or found.f >= bracket[low].f:
            bracket[high] = found
            low, high = (0, 1) if bracket[0].f <= bracket[1].f else (1, 0)
        else:
            if abs(found.slope) <= -C2 * origin.slope:
                done = True
            elif found.slope * (bracket[high].t - bracket[low].t) >= 0:
                bracket[high] = bracket[low]
            bracket[low] = found
    return bracket[low], count
