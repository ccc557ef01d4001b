"""What must agree: NumPy, evaluated, compiled (again, on threads), forwards, backwards, twice, in a batch."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.compile.passes.arranging import dividing, tiling
from funcgrad.errors import NotDifferentiableError, TracerAssignmentError, UnsupportedFunctionError
from tests.soak.programs import Program, weighed

CLOSE, CLOSE_IN_SINGLE = 1e-8, 2e-3
STEPS, NEAR = (1e-3, 1e-4, 1e-5, 1e-6), (1e-4, 1e-5)
"""What difference quotients are looked at with; mostly two are enough to settle."""
QUOTIENT = 2e-5


class Mismatch(AssertionError):
    """Two ways to the same numbers disagree."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind


def check(program: Program, depth: int = 2) -> list[str]:
    """Hold a program against oracles; returns those that had something to say. Raises Mismatch.

    With `depth` 0 nothing is compiled, with 1 the gradient is, with 2 also for threads and a second time.
    """
    try:
        # On a thread of its own no handler of ours is around, which a trace would look at.
        return ALONE.submit(quietly, program, depth).result()
    except TracerAssignmentError:
        # An un-jitted array that arithmetic made of plain ones is NumPy's: a traced value is refused.
        return ["refused"]
    except UnsupportedFunctionError as error:
        # Elements that chance laid in another order: whether reshape gives a view of them is not known.
        if "is a view or a copy depending on how its elements lie" not in str(error):
            raise
        return ["refused"]
    except NotDifferentiableError as error:
        # Of a matrix that chance gave equal eigenvalues, second derivatives of vectors are refused.
        if "repeated eigenvalue" not in str(error):
            raise
        return ["refused"]
    except Mismatch:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            if stands_on_a_kink(program):
                return ["kink"]
        raise


ALONE = ThreadPoolExecutor(1)
"""Where programs are checked."""

_TOLERANCE: ContextVar[float] = ContextVar("tolerance", default=CLOSE)


def quietly(program: Program, depth: int) -> list[str]:
    """`checked`, without warnings."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return checked(program, depth)


def checked(program: Program, depth: int) -> list[str]:
    """Hold a program against oracles; returns those that had something to say."""
    _TOLERANCE.set(CLOSE_IN_SINGLE if program.single else CLOSE)
    given, every = program.function(), list(program.args.values())
    f, args = of_numbers(program, given)
    rng = np.random.default_rng(5)
    along = [direction(rng, x) for x in args]
    before = [np.array(x) for x in every]
    value = f(*args)
    found, slopes = fg.value_and_grad(given, program.numbers)(*every)
    agree("evaluated value", found, value)
    done = ["evaluated"]
    expected = paired(slopes, along)
    _, forward = fg.jvp(f, tuple(args), tuple(along))
    agree("forwards = backwards", float(forward), expected, size_of(slopes, along))
    if not program.single and quotient(f, args, along, expected, "gradient = quotient", value):
        done.append("quotient")
    done += compiled(program, every, value, slopes, depth) if depth else []
    beside, ways = batched(program, given, along, value, slopes, depth)
    done += ways
    done += twice(f, args, along, beside, slopes, program, depth)
    done += jax_agrees(program, every, slopes)
    for x, y in zip(before, every, strict=True):
        if not np.array_equal(x, y):
            raise Mismatch("arguments", "an argument was changed")
    return done


def of_numbers(program: Program, f: Callable[..., Any]) -> tuple[Callable[..., Any], list[Any]]:
    """A program's function, of those arguments that have derivatives, and these."""
    every, numbers = list(program.args.values()), program.numbers

    def called(*args: Any) -> Any:
        given = list(every)
        for k, x in zip(numbers, args, strict=True):
            given[k] = x
        return f(*given)

    return called, [every[k] for k in numbers]


def direction(rng: np.random.Generator, x: Any) -> Any:
    """A tangent of an argument, of its own dtype."""
    dtype = np.asarray(x).dtype
    found = rng.standard_normal(np.shape(x))
    if dtype.kind == "c":
        found = found + 1j * rng.standard_normal(np.shape(x))
    return np.asarray(found).astype(dtype)[()]


def stands_on_a_kink(program: Program) -> bool:
    """Whether derivatives are others right beside the arguments: elements compared are all but equal.

    The last place of a result then decides between derivatives, and it is not promised.
    """
    f, args = of_numbers(program, program.function())
    numbers, along = tuple(range(len(args))), [np.ones(np.shape(x)) for x in args]

    def slope(*xs: Any) -> Any:
        return sum([np.sum(g * v).real for g, v in zip(fg.grad(f, numbers)(*xs), along, strict=True)], 0.0)

    for derivative in (fg.grad(f, numbers), fg.grad(slope, numbers)):
        here = derivative(*args)
        for shift in (1e-11, -1e-11, 3e-10):
            rng = np.random.default_rng(7)
            there = derivative(*[x + shift * rng.standard_normal(np.shape(x)) for x in args])
            for a, b in zip(here, there, strict=True):
                if np.max(np.abs(a - b), initial=0.0) > 1e-5 * (1.0 + np.max(np.abs(a), initial=0.0)):
                    return True
    return False


def compiled(program: Program, args: list[Any], value: Any, slopes: Any, depth: int) -> list[str]:
    """Compiled values and gradients, once and again, alone, divided between threads, and in tiles."""
    numbers = program.numbers
    step = fg.jit(fg.value_and_grad(program.function(), numbers))
    for kind in ("compiled", "compiled, called again"):
        found, found_slopes = step(*args)
        agree(f"{kind}: value", found, value)
        for a, b in zip(found_slopes, slopes, strict=True):
            agree(f"{kind}: gradient", a, b)
    if depth < 2:
        return ["compiled"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FUNCGRAD_CACHE", "0")  # where the kernel that was made above would be found again
        patch.setattr(dividing, "SHORTEST", 0.0)
        patch.setattr(tiling, "LEAST_BYTES", 0)
        shared = fg.jit(fg.value_and_grad(program.function(), numbers))(*args)
    agree("compiled for threads: value", shared[0], value)
    for a, b in zip(shared[1], slopes, strict=True):
        agree("compiled for threads: gradient", a, b)
    return ["compiled", "threads"]


def bits(program: Program) -> str:
    """A digest of what the compiled value and gradient return, to the last bit."""
    args = list(program.args.values())
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        value, slopes = fg.jit(fg.value_and_grad(program.function(), program.numbers))(*args)
    return hashlib.sha256(b"".join([np.asarray(x).tobytes() for x in (value, *slopes)])).hexdigest()


Beside = dict[tuple[float, int], Any]
"""Derivatives beside the arguments, by the step and its side."""


def batched(
    program: Program, f: Callable[..., Any], along: list[Any], value: Any, slopes: Any, depth: int
) -> tuple[Beside, list[str]]:
    """A batch is a loop; where Python branches on its values, a compiled one.

    Returns the slopes at what `quotient` looks at, which are in the same batch.
    """
    if program.branches and not depth:
        return {}, []
    every, numbers = list(program.args.values()), program.numbers
    smaller = [scaled(x) if k in numbers else x for k, x in enumerate(every)]
    steps = [] if program.single or program.branches else [(h, s) for h in NEAR for s in (1, -1)]
    points = [every, smaller]
    for h, s in steps:
        moved = list(every)
        for k, v in zip(numbers, along, strict=True):
            moved[k] = every[k] + s * h * v
        points.append(moved)
    try:
        other, others = fg.value_and_grad(f, numbers)(*smaller)
    except (np.linalg.LinAlgError, ValueError):
        return {}, []
    if not all(np.all(np.isfinite(x)) for x in others):
        return {}, []
    batch = fg.vmap(fg.value_and_grad(f, numbers))
    stacks = [np.stack(column) for column in zip(*points, strict=True)]
    values, found = (fg.jit(batch) if program.branches else batch)(*stacks)
    agree("batch = loop: value", values[:2], np.stack([value, other]))
    for many, a, b in zip(found, slopes, others, strict=True):
        agree("batch = loop", many[:2], np.stack([a, b]))
    return {step: [g[k] for g in found] for k, step in enumerate(steps, 2)}, ["batch"]


def scaled(x: Any) -> Any:
    """Three quarters of an argument, of its own dtype."""
    return (x * np.asarray(x).dtype.type(0.75)).astype(np.asarray(x).dtype)[()]


def twice(
    f: Callable[..., Any],
    args: list[Any],
    along: list[Any],
    beside: Beside,
    slopes: Any,
    program: Program,
    depth: int,
) -> list[str]:
    """Second derivatives: forwards over backwards, backwards over backwards, compiled."""
    numbers = tuple(range(len(args)))

    def slope(*xs: Any) -> Any:
        return sum([np.sum(g * v).real for g, v in zip(fg.grad(f, numbers)(*xs), along, strict=True)], 0.0)

    forward = fg.jvp(slope, tuple(args), tuple(along))[1]
    second = fg.grad(slope, numbers)(*args)
    agree("second: forwards = backwards", float(forward), paired(second, along), size_of(second, along))
    if depth > 1:
        native = fg.jit(fg.grad(slope, numbers))(*args)
        for a, b in zip(native, second, strict=True):
            agree("second: compiled", a, b)
    if not program.single:
        known = {step: paired(found, along) for step, found in beside.items()}
        quotient(slope, args, along, forward, "second = quotient", paired(slopes, along), known)
    return ["second"]


def jax_agrees(program: Program, args: list[Any], slopes: Any) -> list[str]:
    """JAX's gradient of the same text, where it is installed and has every function."""
    if not program.plain:
        return []
    try:
        import jax
        import jax.numpy as jnp
    except ImportError:
        return []
    jax.config.update("jax_enable_x64", True)

    def jax_weighed(x: Any) -> Any:
        return jnp.sum(x * jnp.cos(jnp.arange(float(jnp.size(x)))).reshape(jnp.shape(x)))

    f = program.function(np=jnp, weighed=jax_weighed)
    try:
        # Compiled whole: one by one, each operation of each shape is compiled by itself.
        theirs = jax.jit(jax.grad(f, program.numbers))(*[jnp.asarray(x) for x in args])
    except (TypeError, AttributeError, NotImplementedError, ValueError):
        return []
    if not all(np.all(np.isfinite(x)) for x in theirs):
        return []  # NaN from branches that were not taken is a documented difference
    if program.narrow:
        _TOLERANCE.set(CLOSE_IN_SINGLE)
    for a, b in zip(slopes, theirs, strict=True):
        agree("JAX", a, np.asarray(b))
    return ["JAX"]


def paired(slopes: Any, along: list[Any]) -> float:
    """The derivative in a direction."""
    return float(sum(np.sum(g * v).real for g, v in zip(slopes, along, strict=True)))


def size_of(slopes: Any, along: list[Any]) -> float:
    """How large the terms of `paired` are, which may cancel."""
    return float(sum(np.sum(np.abs(g * v)) for g, v in zip(slopes, along, strict=True)))


def quotient(
    f: Callable[..., Any],
    args: list[Any],
    along: list[Any],
    expected: Any,
    kind: str,
    here: Any,
    known: dict[tuple[float, int], float] | None = None,
) -> bool:
    """Hold a derivative against central differences; whether they settle, so that it means something.

    `here` is the value at the arguments, and `known` has values beside them.
    """
    values: dict[tuple[float, int], float] = dict(known or {})

    def at(h: float, side: int) -> float:
        if (h, side) not in values:
            values[h, side] = float(f(*[x + side * h * v for x, v in zip(args, along, strict=True)]))
        return values[h, side]

    try:
        for steps in (NEAR, STEPS):
            found = [(at(h, 1) - at(h, -1)) / (2 * h) for h in steps]
            size = 1.0 + abs(float(expected)) + max(abs(x) for x in found)
            near = min(abs(x - float(expected)) for x in found) <= QUOTIENT * size
            if near and settles(found, size):
                break
        sides = [(at(NEAR[-1], s) - float(here)) / (s * NEAR[-1]) for s in (1, -1)]
    except (np.linalg.LinAlgError, ValueError):
        return False
    # Where the differences to either side disagree, equal elements are sorted, or a maximum is shared.
    kinked = any(abs(x - found[-1]) > 1e-3 * (1.0 + abs(found[-1])) for x in sides)
    if kinked or not settles(found, size):
        return False
    if not near:
        raise Mismatch(kind, f"{float(expected)!r}, difference quotients {found}")
    return True


def settles(found: list[float], size: float) -> bool:
    """Whether two of the quotients of ever smaller steps agree."""
    return bool(np.all(np.isfinite(found))) and min(abs(a - b) for a, b in pairwise(found)) < (
        QUOTIENT * 0.1 * size
    )


def agree(kind: str, found: Any, expected: Any, size: float = 0.0) -> None:
    """Raise Mismatch unless two results are the same, up to the order of sums of terms of that size."""
    a, b = np.asarray(found), np.asarray(expected)
    if a.shape != b.shape or a.dtype != b.dtype:
        raise Mismatch(kind, f"{a.dtype}{a.shape} for {b.dtype}{b.shape}")
    if not np.all(np.isfinite(b)):
        return
    scale = 1.0 + size + np.max(np.abs(b), initial=0.0)
    if not np.all(np.abs(a - b) <= _TOLERANCE.get() * scale):
        raise Mismatch(kind, f"largest difference {np.max(np.abs(a - b)):.3e} of {scale:.3e}")


__all__ = ["Mismatch", "bits", "check", "weighed"]
