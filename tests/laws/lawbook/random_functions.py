"""Random Python functions over NumPy, as source: what Hypothesis draws, and what a failing test prints.

A function is written line by line. Each line is run at once on arrays, and kept only if its value is finite
and small, so every function is smooth enough near its arguments for difference quotients to mean something.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

Draw = Callable[[st.SearchStrategy[Any]], Any]

LARGEST_SIZE = 60
LARGEST_VALUE = 50.0
REFUSED = (ValueError, TypeError, IndexError, ArithmeticError, RuntimeWarning)
"""What NumPy says to a line that does not fit its operands; the line is then dropped."""

SIZES = st.sampled_from([2, 3, 1, 0])
SHAPES = st.lists(SIZES, max_size=3).map(tuple)

UNARY = (
    "np.sin({x})",
    "np.cos({x})",
    "np.tanh({x})",
    "np.arctan({x})",
    "np.arcsinh({x})",
    "np.exp(np.tanh({x}))",
    "np.expm1(np.sin({x}))",
    "np.log(2.0 + np.sin({x}))",
    "np.log1p({x} ** 2)",
    "np.sqrt(1.0 + {x} ** 2)",
    "np.cbrt(2.0 + np.tanh({x}))",
    "np.arcsin(0.9 * np.sin({x}))",
    "np.square(np.tanh({x}))",
    "np.tanh({x}) ** 3",
    "2.0 ** np.tanh({x})",
    "1.0 / (1.5 + np.cos({x}))",
    "abs({x})",
    "np.sign({x}) * {x}",
    "np.clip({x}, -0.7, 0.8)",
    "np.maximum({x}, 0.1)",
    "np.where({x} > 0.0, np.sin({x}), np.tanh({x}))",
    "np.where({x} > 0.3, np.log(np.where({x} > 0.3, {x}, 1.0)), {x} - 1.5)",
    "-{x}",
    "{x} + 1",
    "0.5 * {x}",
    "{x}.astype(float)",
)

BINARY = (
    "{x} + {y}",
    "{x} - {y}",
    "np.tanh({x}) * {y}",
    "{x} / (1.5 + np.sin({y}))",
    "(1.5 + np.sin({x})) ** np.tanh({y})",
    "np.arctan2({x}, 2.0 + {y} ** 2)",
    "np.hypot({x}, 2.0 + np.tanh({y}))",
    "np.logaddexp({x}, {y})",
    "np.maximum({x}, {y})",
    "np.minimum({x}, {y})",
    "np.where({x} > {y}, {x}, {y})",
)

PRODUCTS = (
    "np.tanh({x} @ {y})",
    "np.dot({x}, {y}) * 0.5",
    "0.3 * np.outer({x}, {y})",
    "np.einsum('...i,...i->...', {x}, {y})",
    "0.2 * np.tensordot({x}, {y}, axes=1)",
)

REDUCTIONS = (
    "np.sum({x}, axis={axis}, keepdims={keep})",
    "np.mean({x}, axis={axis}, keepdims={keep})",
    "np.max({x}, axis={axis}, keepdims={keep})",
    "np.min({x}, axis={axis}, keepdims={keep})",
    "np.prod(np.tanh({x}), axis={axis}, keepdims={keep})",
    "np.sqrt(1.0 + np.var({x}, axis={axis}, keepdims={keep}))",
    "np.log(1.0 + np.sum({x} ** 2, axis={axis}, keepdims={keep}))",
    "{x}.sum(axis={axis}, keepdims={keep})",
)

ALONG_AXIS = (
    "np.cumsum({x}, axis={axis})",
    "np.cumprod(np.tanh({x}), axis={axis})",
    "np.sort({x}, axis={axis})",
    "np.take_along_axis({x}, np.argsort({x}, axis={axis}), axis={axis})",
    "np.flip({x}, axis={axis})",
    "np.roll({x}, 1, axis={axis})",
    "np.repeat({x}, 2, axis={axis})",
    "np.concatenate([{x}, {x} * 0.5], axis={axis})",
    "np.stack([{x}, np.sin({x})], axis={axis})",
    "np.expand_dims({x}, {axis})",
    "np.moveaxis({x}, {axis}, 0)",
    "np.swapaxes({x}, {axis}, -1)",
    "np.split({x}, 2, axis={axis})[1]",
    "np.take({x}, np.array([0, -1, 0]), axis={axis})",
)

MOVEMENT = (
    "{x}.T",
    "np.transpose({x})",
    "np.ravel({x})",
    "{x}.reshape(-1)",
    "{x}.reshape({x}.shape[::-1])",
    "np.reshape({x}, (1, -1, 1))",
    "np.squeeze({x})",
    "np.broadcast_to({x}, (2, *{x}.shape))",
    "np.tile({x}, 2)",
    "np.pad({x}, 1)",
    "np.atleast_2d({x})",
    "np.tril({x})",
    "{x}[..., None]",
    "{x}[None]",
)

COMPLEX_UNARY = (
    "np.sin(0.3 * {x})",
    "np.exp(0.1j * {x})",
    "np.tanh(0.2 * {x})",
    "np.conj({x})",
    "np.real({x})",
    "np.imag({x})",
    "np.abs({x} + 30.0)",
    "{x} * 1j",
    "{x} * (0.5 - 0.25j)",
    "np.square(0.3 * {x})",
    "np.sqrt({x} + 40.0)",
    "{x} / (40.0 + {x})",
    "{x}.real + 1.0",
    "-{x}",
)

COMPLEX_BINARY = (
    "{x} + {y}",
    "{x} - {y}",
    "0.2 * {x} * {y}",
    "{x} * np.conj({y}) * 0.1",
    "{x} / ({y} + 60.0)",
)

COMPLEX_REDUCTIONS = (
    "np.sum({x}, axis={axis}, keepdims={keep})",
    "np.mean({x}, axis={axis}, keepdims={keep})",
    "np.prod(0.3 * {x}, axis={axis}, keepdims={keep})",
)

COMPLEX_ALONG_AXIS = ALONG_AXIS[4:]

COMPLEX_PRODUCTS = ("0.2 * ({x} @ {y})", "0.2 * np.vdot({x}, {y})", "0.1 * np.outer({x}, {y})")

SLICES = (":", "1:", ":-1", "::-1", "::2", "-1:", "1:1", "-2::-1")


class RandomFunction:
    """A function of arrays, its source, and arguments for it."""

    def __init__(self, lines: Sequence[str], args: dict[str, Any], outputs: Sequence[str]) -> None:
        self.args = list(args.values())
        body = "\n".join(f"    {line}" for line in lines)
        self.source = f"def f({', '.join(args)}):\n{body}\n    return ({', '.join(outputs)},)\n"
        namespace: dict[str, Any] = {"np": np}
        exec(compile(self.source, "<random function>", "exec"), namespace)
        self.function: Callable[..., tuple[Any, ...]] = namespace["f"]

    def __repr__(self) -> str:
        described = [f"{np.shape(x)} {np.asarray(x).dtype}" for x in self.args]
        return f"{self.source}# called on {', '.join(described)}"

    def loss(self, *args: Any) -> Any:
        """A real scalar of all results."""
        total = 0.0
        for out in self.function(*args):
            weights = np.cos(np.arange(float(out.size))).reshape(out.shape)
            part = np.real(out) + 0.5 * np.imag(out) if out.dtype.kind == "c" else out
            total = total + np.sum(part * weights)
        return total


class Writer:
    """Writes lines, runs them, and knows the values they made."""

    def __init__(self, draw: Draw, kind: str, *, writes: bool) -> None:
        self.draw = draw
        self.kind = kind
        self.writes = writes
        self.lines: list[str] = []
        self.values: dict[str, Any] = {}
        self.used: set[str] = set()

    def choose(self, options: Sequence[Any]) -> Any:
        """One of the options; the first is the simplest."""
        return self.draw(st.sampled_from(list(options)))

    def name(self) -> str:
        """A value to work on; late ones as often as all others, so that chains get deep."""
        names = list(self.values)
        recent = names[-1]
        return recent if self.draw(st.booleans()) else self.choose(names)

    def add(self, *block: str) -> bool:
        """Append a block that assigns the next value, written as ``{out}``, if NumPy accepts it."""
        out = f"v{len(self.lines)}"
        lines = [line.replace("{out}", out) for line in block]
        found = evaluated(lines, self.values, out)
        if found is None:
            return False
        self.lines += lines
        self.used |= {name for name in self.values if any(name in words(line) for line in lines)}
        self.values[out] = found
        return True

    def index(self, shape: tuple[int, ...]) -> str:
        """A random index into an array of this shape."""
        parts = []
        for size in shape[: self.draw(st.integers(0, len(shape)))]:
            options = list(SLICES)
            if size:
                options += [str(-size), str(size - 1), f"np.array([0, {size - 1}, 0])"]
                options.append(f"np.array({[k % 2 == 0 for k in range(size)]})")
            parts.append(self.choose(options))
        if self.draw(st.booleans()):
            parts.insert(self.draw(st.integers(0, len(parts))), self.choose(["...", "None"]))
        return ", ".join(parts) or "..."

    def basic_index(self, shape: tuple[int, ...]) -> str:
        """A random index that makes a view."""
        parts = [self.choose([*SLICES, *(["0"] if size else [])]) for size in shape[:2]]
        return ", ".join(parts) or "..."


def words(line: str) -> set[str]:
    """The identifiers in a line."""
    return set("".join(c if c.isalnum() or c == "_" else " " for c in line).split())


def evaluated(lines: Sequence[str], values: dict[str, Any], out: str) -> Any:
    """The value of `out` after these lines, or None where they are refused or leave the bounds."""
    namespace = {"np": np, **values}
    try:
        with warnings.catch_warnings(), np.errstate(all="raise", under="ignore"):
            warnings.simplefilter("error")
            exec("\n".join(lines), namespace)
    except REFUSED:
        return None
    found = namespace[out]
    if not isinstance(found, np.ndarray | np.generic) or found.dtype.kind not in "fc" or found.ndim > 4:
        return None
    if found.size > LARGEST_SIZE or not np.all(np.isfinite(found)) or np.any(np.abs(found) > LARGEST_VALUE):
        return None
    return found


def step(w: Writer) -> bool:
    """Write one more operation."""
    kinds = [unary, binary, reduction, along_axis, movement, indexing, product]
    if w.writes:
        kinds.append(assignment)
    return bool(w.choose(kinds)(w))


def unary(w: Writer) -> bool:
    """An element-by-element function of one value."""
    x = w.name()
    options = UNARY if w.values[x].dtype.kind == "f" else COMPLEX_UNARY
    return w.add("{out} = " + w.choose(options).format(x=x))


def binary(w: Writer) -> bool:
    """An element-by-element function of two values that broadcast."""
    x, y = w.name(), w.name()
    real = all(w.values[v].dtype.kind == "f" for v in (x, y))
    return w.add("{out} = " + w.choose(BINARY if real else COMPLEX_BINARY).format(x=x, y=y))


def reduction(w: Writer) -> bool:
    """A reduction over no axis, one, several or all."""
    x = w.name()
    ndim = w.values[x].ndim
    axes: list[Any] = [None, *range(-ndim, ndim)]
    axes += [(0, ndim - 1)] if ndim > 1 else []
    options = REDUCTIONS if w.values[x].dtype.kind == "f" else COMPLEX_REDUCTIONS
    text = w.choose(options).format(x=x, axis=w.choose(axes), keep=w.draw(st.booleans()))
    return w.add("{out} = " + text)


def along_axis(w: Writer) -> bool:
    """An operation along one axis."""
    x = w.name()
    ndim = w.values[x].ndim
    options = ALONG_AXIS if w.values[x].dtype.kind == "f" else COMPLEX_ALONG_AXIS
    if not ndim:
        return False
    text = w.choose(options).format(x=x, axis=w.choose(range(-ndim, ndim)))
    # NumPy lets indices of empty arrays be out of bounds, and funcgrad does not.
    return not (text.startswith("np.take(") and w.values[x].size == 0) and w.add("{out} = " + text)


def movement(w: Writer) -> bool:
    """Another shape or order."""
    return w.add("{out} = " + w.choose(MOVEMENT).format(x=w.name()))


def indexing(w: Writer) -> bool:
    """Part of a value."""
    x = w.name()
    return w.add(f"{{out}} = {x}[{w.index(w.values[x].shape)}]")


def product(w: Writer) -> bool:
    """A contraction of two values."""
    x, y = w.name(), w.name()
    real = all(w.values[v].dtype.kind == "f" for v in (x, y))
    return w.add("{out} = " + w.choose(PRODUCTS if real else COMPLEX_PRODUCTS).format(x=x, y=y))


def assignment(w: Writer) -> bool:
    """Writes in place: into elements, through a view, or by an augmented operator."""
    x, y = w.name(), w.name()
    shape = w.values[x].shape
    start = f"{{out}} = {x} * 1.0"
    way = w.choose(("augmented", "elements", "added", "view"))
    if way == "augmented":
        return w.add(start, f"{{out}} *= 0.5 + np.tanh({y})" if w.kind == "f" else f"{{out}} += {y}")
    index = w.basic_index(shape)
    if way == "view":
        return w.add(start, f"part = {{out}}[{index}]", "part *= 0.5", f"part += {{out}}[{index}]")
    # NumPy lets empty arrays of another shape be assigned, and funcgrad does not.
    whole = w.draw(st.booleans()) and w.values[y].size
    value = f"0.5 * {y}" if whole else f"np.sum({y})"
    if way == "elements":
        return w.add(start, f"{{out}}[{w.index(shape)}] = {value}")
    return w.add(start, f"{{out}}[{index}] += {value}")


def branch(w: Writer) -> bool:
    """A Python branch on a value, whose both sides have one shape."""
    x = w.name()
    return w.add(f"{{out}} = np.sin({x}) if np.sum({x}) > 0.0 else {x} * 2.0")


@st.composite
def functions(
    draw: Draw, kind: str = "f", *, branches: bool = False, writes: bool = True, most: int = 15
) -> RandomFunction:
    """A function of one to three arrays, of dtype kind `kind`, in up to `most` operations."""
    w = Writer(draw, kind, writes=writes)
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    args = dict(arguments(draw, rng, kind))
    w.values.update(args)
    for k in range(draw(st.integers(1, most))):
        (branch if branches and k % 4 == 1 else step)(w)
    leaves = [name for name in w.values if name not in w.used and name not in args]
    return RandomFunction(w.lines, args, leaves[-3:] or list(w.values)[-1:])


def arguments(draw: Draw, rng: np.random.Generator, kind: str) -> Iterator[tuple[str, Any]]:
    """Named arrays of random shapes; shapes that broadcast against each other are likely."""
    first = draw(SHAPES)
    for k in range(draw(st.integers(1, 3))):
        shape = (
            draw(st.sampled_from([first, first[1:], first[::-1]])) if draw(st.booleans()) else draw(SHAPES)
        )
        # Apart from each other, so that few kinks are near.
        x = (rng.permutation(int(np.prod(shape))) * 0.37 - 1.0 + 0.1 * rng.uniform(size=1)).reshape(shape)
        if kind == "c" and (k == 0 or draw(st.booleans())):
            x = x + 1j * rng.normal(size=shape)
        yield f"x{k}", x if isinstance(x, np.ndarray) else np.asarray(x)[()]
