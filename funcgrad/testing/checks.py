"""`check_grads`, `check_jvp`, `check_vjp` and `check_vmap`.

Owns no derivative: what is checked is what `jvp`, `vjp` and `vmap` return, against values of the function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from funcgrad import tree
from funcgrad.api.batch import vmap
from funcgrad.api.derivatives.differentiate import jvp, vjp
from funcgrad.ir.avals import aval_of
from funcgrad.testing.compare import (
    ROUNDING,
    Tolerance,
    difference,
    element_name,
    numerical_jvp,
    pairing,
    random_like,
)
from funcgrad.testing.flat import (
    Flat,
    Function,
    Leaves,
    flattened,
    inexact_leaves,
    is_inexact,
    with_cotangents,
    with_tangents,
)
from funcgrad.types import Anything, Tree

Forward = Callable[[Leaves, Leaves], tuple[Leaves, Leaves]]
"""``(primals, tangents) -> (values, tangents of the values)``"""
Reverse = Callable[[Leaves, Leaves], tuple[Leaves, Leaves]]
"""``(primals, cotangents of the values) -> (values, cotangents of the primals)``"""

ELEMENTS_SEARCHED = 2000
LINES_SHOWN = 3


def check_grads(
    f: Function,
    args: Sequence[Any],
    order: int = 2,
    modes: str | Sequence[str] = ("fwd", "rev"),
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
) -> None:
    """Check the derivatives of ``f(*args)`` up to `order` against differences of its values.

    `args` is a tuple of pytrees; integer and boolean leaves are held constant, and complex leaves are
    moved in complex directions. `modes` chooses forward mode, reverse mode or both; every order is
    checked in every combination of them. Without `atol` and `rtol` the tolerance is 1e-5 for double and
    2e-3 for single precision, relative to the largest element; without `eps` three step sizes are tried.

    Raises AssertionError that names the argument, the element, what was expected and what was found.

    >>> check_grads(np.sin, (0.5,), order=3)
    >>> check_grads(lambda p, x: np.sum(p["w"] * x) + p["b"], ({"w": np.ones(2), "b": 1.0}, np.ones(2)))

    >>> flipped = fg.custom_jvp(np.cos)
    >>> rule = flipped.defjvp(lambda primals, tangents: (flipped(*primals), np.sin(*primals) * tangents[0]))
    >>> check_grads(flipped, (0.5,), order=1)
    Traceback (most recent call last):
        ...
    AssertionError: forward mode of cos is wrong
      argument 0: expected -0.479426, got 0.479426
      (1 of 1 elements differ; allowed 1e-05)
    """
    if order < 1:
        raise ValueError(f"order must be at least 1, got {order}")
    flat = flattened(f, tuple(args))
    with np.errstate(all="ignore"):
        values = flat.function(*flat.leaves)
    if not all(np.all(np.isfinite(out)) for out in values):
        raise AssertionError(
            f"{name_of(f)} is not finite at these arguments, so no difference quotient exists"
        )
    check_orders(flat, order, checked_modes(modes), Tolerance(atol, rtol, eps), name_of(f))


def check_jvp(
    f: Function,
    f_jvp: Function,
    args: Sequence[Any],
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
    err_msg: str = "",
) -> None:
    """Check ``f_jvp(primals, tangents) -> (value, tangent)`` against the values of `f`, as `check_grads`.

    >>> def square_jvp(primals, tangents):
    ...     return primals[0] ** 2, 2.0 * primals[0] * tangents[0]
    >>> check_jvp(np.square, square_jvp, (3.0,))
    """
    flat = flattened(f, tuple(args))

    def forward(leaves: Leaves, tangents: Leaves) -> tuple[Leaves, Leaves]:
        value, dot = f_jvp(flat.arguments(leaves), flat.tangents(tangents))
        pairs = zip(tree.leaves(value), tree.leaves(dot), strict=True)
        return inexact_leaves(value), [t for x, t in pairs if is_inexact(x)]

    compare_forward(flat, forward, Tolerance(atol, rtol, eps), err_msg or f"the jvp of {name_of(f)}")


def check_vjp(
    f: Function,
    f_vjp: Function,
    args: Sequence[Any],
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
    err_msg: str = "",
) -> None:
    """Check ``f_vjp(*args) -> (value, pullback)`` against the values of `f`, as `check_grads`.

    >>> def square_vjp(x):
    ...     return x**2, lambda bar: (2.0 * x * bar,)
    >>> check_vjp(np.square, square_vjp, (3.0,))
    """
    flat = flattened(f, tuple(args))

    def reverse(leaves: Leaves, cotangents: Leaves) -> tuple[Leaves, Leaves]:
        value, pullback = f_vjp(*flat.arguments(leaves))
        outs, treedef = tree.flatten(value)
        fresh = iter(cotangents)
        bar = tree.unflatten(treedef, [next(fresh) if is_inexact(x) else np.zeros_like(x) for x in outs])
        found = tree.leaves(tuple(pullback(bar)))
        return inexact_leaves(value), [found[k] for k in flat.places]

    compare_reverse(flat, reverse, Tolerance(atol, rtol, eps), err_msg or f"the vjp of {name_of(f)}")


def check_vmap(
    f: Function,
    args: Sequence[Any],
    in_axes: Tree = 0,
    out_axes: Tree = 0,
    atol: float | None = None,
    rtol: float | None = None,
) -> None:
    """Check that ``vmap(f, in_axes, out_axes)(*args)`` is what calling `f` on each example gives.

    Raises AssertionError that names the output and its first element that differs.

    >>> check_vmap(np.multiply, (np.eye(3), np.ones(3)), in_axes=(0, None))
    """
    leaves, treedef = tree.flatten(tuple(args))
    prefix = tuple(in_axes) if isinstance(in_axes, list) else in_axes
    axes = tree.flatten_prefix(prefix, treedef, "in_axes")
    sizes = {np.shape(x)[axis] for x, axis in zip(leaves, axes, strict=True) if axis is not None}
    if len(sizes) != 1:
        raise ValueError(f"check_vmap needs mapped axes of one size, got sizes {sorted(sizes)}")

    def example(i: int) -> Anything:
        parts = [x if axis is None else np.take(x, i, axis) for x, axis in zip(leaves, axes, strict=True)]
        return tree.leaves(f(*tree.unflatten(treedef, parts)))

    singles = [example(i) for i in range(*sizes)]
    outs, out_tree = tree.flatten(vmap(f, in_axes, out_axes)(*args))
    places = tree.flatten_prefix(out_axes, out_tree, "out_axes")
    for k, (out, axis) in enumerate(zip(outs, places, strict=True)):
        if not singles:
            return
        parts = [single[k] for single in singles]
        wanted = parts[0] if axis is None else np.stack(parts, axis)
        text = difference(out, wanted, Tolerance(atol, rtol).limit([out], wanted, ROUNDING))
        if text:
            raise AssertionError(f"vmap of {name_of(f)} is not a loop over the examples\n  output {k}{text}")


# -- derivatives of every order ---------------------------------------------------------------------------


def check_orders(flat: Flat, order: int, modes: Sequence[str], tolerance: Tolerance, what: str) -> None:
    """Check `flat` in every mode, then its derivatives themselves to the remaining orders."""
    rng = np.random.default_rng(0)
    if "fwd" in modes:
        label = f"forward mode of {what}"
        compare_forward(flat, pushed_forward(flat), tolerance, label)
        if order > 1:
            derived = with_tangents(flat, [random_like(rng, x) for x in flat.leaves])
            check_orders(derived, order - 1, modes, tolerance, label)
    if "rev" in modes:
        label = f"reverse mode of {what}"
        compare_reverse(flat, pulled_back(flat), tolerance, label)
        if order > 1:
            derived = with_cotangents(flat, [random_like(rng, x) for x in flat.function(*flat.leaves)])
            check_orders(derived, order - 1, modes, tolerance, label)


def pushed_forward(flat: Flat) -> Forward:
    """What `jvp` makes of the function."""

    def forward(leaves: Leaves, tangents: Leaves) -> tuple[Leaves, Leaves]:
        value, dot = jvp(flat.function, tuple(leaves), tuple(tangents))
        return value, dot

    return forward


def pulled_back(flat: Flat) -> Reverse:
    """What `vjp` makes of the function."""

    def reverse(leaves: Leaves, cotangents: Leaves) -> tuple[Leaves, Leaves]:
        value, pullback = vjp(flat.function, *leaves)
        return value, pullback(list(cotangents))

    return reverse


def compare_forward(flat: Flat, forward: Forward, tolerance: Tolerance, label: str) -> None:
    """Raise unless `forward` gives the function's values and its derivative in a random direction."""
    rng = np.random.default_rng(1)
    tangents = [random_like(rng, x) for x in flat.leaves]
    outs, dots = forward(flat.leaves, tangents)
    compare_values(flat, outs, tolerance, label)
    steps = tolerance.steps(flat.leaves)
    quotients = (numerical_jvp(flat.function, flat.leaves, tangents, step) for step in steps)
    if any(agree(dots, wanted, flat, tolerance) for wanted in quotients):
        return
    found = [
        Element(
            k, index, numerical_jvp(flat.function, flat.leaves, unit, steps[0]), forward(flat.leaves, unit)[1]
        )
        for k, index, unit in flat.unit_tangents(ELEMENTS_SEARCHED)
    ]
    raise AssertionError(report_of(label, flat, found, tolerance))


def compare_reverse(flat: Flat, reverse: Reverse, tolerance: Tolerance, label: str) -> None:
    """Raise unless `reverse` gives the function's values and pulls a random cotangent back rightly."""
    rng = np.random.default_rng(2)
    cotangents = [random_like(rng, x) for x in flat.function(*flat.leaves)]
    outs, bars = reverse(flat.leaves, cotangents)
    compare_values(flat, outs, tolerance, label)
    compare_types(flat, bars, label)

    def paired(along: Leaves, step: float) -> list[float]:
        return [pairing(cotangents, numerical_jvp(flat.function, flat.leaves, along, step))]

    tangents = [random_like(rng, x) for x in flat.leaves]
    seen = [pairing(bars, tangents)]
    steps = tolerance.steps(flat.leaves)
    if any(agree(seen, paired(tangents, step), flat, tolerance) for step in steps):
        return
    found = [
        Element(k, index, paired(unit, steps[0]), [pairing(bars, unit)])
        for k, index, unit in flat.unit_tangents(ELEMENTS_SEARCHED)
    ]
    raise AssertionError(report_of(label, flat, found, tolerance))


def compare_values(flat: Flat, outs: Leaves, tolerance: Tolerance, label: str) -> None:
    """Raise unless a transform returns the values that the function itself does."""
    expected = flat.function(*flat.leaves)
    if len(outs) != len(expected):
        raise AssertionError(f"{label} returns {len(outs)} floating-point values, not {len(expected)}")
    for k, (out, wanted) in enumerate(zip(outs, expected, strict=True)):
        text = difference(out, wanted, tolerance.limit([*flat.leaves, wanted], wanted, ROUNDING))
        if text:
            raise AssertionError(f"{label} returns another value than the function\n  output {k}{text}")


def compare_types(flat: Flat, bars: Leaves, label: str) -> None:
    """Raise unless every cotangent has the shape and dtype of its argument."""
    if len(bars) != len(flat.leaves):
        raise AssertionError(f"{label} returns {len(bars)} cotangents for {len(flat.leaves)} arguments")
    for name, x, bar in zip(flat.names, flat.leaves, bars, strict=True):
        seen, wanted = aval_of(np.asarray(bar)), aval_of(np.asarray(x))
        if seen is not wanted:
            raise AssertionError(f"{label} is wrong\n  {name} is {wanted} and its cotangent is {seen}")


def agree(seen: Leaves, wanted: Leaves, flat: Flat, tolerance: Tolerance) -> bool:
    """Whether a derivative is what a difference quotient says."""
    return len(seen) == len(wanted) and not any(
        difference(x, y, tolerance.limit(flat.leaves, y), nan_agrees=False)
        for x, y in zip(seen, wanted, strict=True)
    )


# -- reports ----------------------------------------------------------------------------------------------


class Element(NamedTuple):
    """One element of one argument, and what moving it alone does."""

    argument: int
    position: tuple[int, ...]
    wanted: Leaves
    seen: Leaves


def report_of(label: str, flat: Flat, found: Sequence[Element], tolerance: Tolerance) -> str:
    """The elements that differ, in words."""
    lines = [line for line in (line_of(flat, element, tolerance) for element in found) if line]
    allowed = float(np.max(tolerance.limit(flat.leaves, 0.0)))
    if not lines:
        return f"{label} is wrong in a random direction, though along no single element (allowed {allowed:g})"
    summary = f"  ({len(lines)} of {len(found)} elements differ; allowed {allowed:g})"
    return "\n".join([f"{label} is wrong", *lines[:LINES_SHOWN], summary])


def line_of(flat: Flat, element: Element, tolerance: Tolerance) -> str:
    """The first output that differs where one element of one argument moves."""
    several = len(element.wanted) > 1
    for k, (seen, wanted) in enumerate(zip(element.seen, element.wanted, strict=False)):
        text = difference(seen, wanted, tolerance.limit(flat.leaves, wanted), nan_agrees=False)
        if text:
            if text.startswith(",") and not several:
                text = f", output{text.removeprefix(',')}"
            output = f", output {k}" if several else ""
            return f"  {flat.names[element.argument]}{element_name(element.position)}{output}{text}"
    return ""


def name_of(f: Function) -> str:
    """What reports call the function."""
    return getattr(f, "__name__", type(f).__name__)


def checked_modes(modes: str | Sequence[str]) -> tuple[str, ...]:
    """The modes as a tuple; raises ValueError for any but ``"fwd"`` and ``"rev"``."""
    chosen = (modes,) if isinstance(modes, str) else tuple(modes)
    if not chosen or any(mode not in ("fwd", "rev") for mode in chosen):
        raise ValueError(f'modes must be "fwd", "rev" or both, got {modes!r}')
    return chosen
