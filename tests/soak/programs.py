"""Random programs shaped like users' code: blocks of lines, each of which assigns one value.

A block is run as soon as it is written, and kept only if NumPy accepts it and its value is finite and small,
so that every program is smooth enough for difference quotients to mean something. All follows from a seed.
"""

from __future__ import annotations

import hashlib
import linecache
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

import funcgrad as fg
from funcgrad.scipy import special, stats
from tests.laws.lawbook import random_functions as short
from tests.soak import families

LARGEST_SIZE = 400
LARGEST_VALUE = 40.0
DTYPES = "?bilfdFD"
"""What values may be."""

Rng = np.random.Generator


@dataclass(frozen=True)
class Block:
    """Lines that assign `out` from `reads`."""

    out: str
    lines: tuple[str, ...]
    reads: frozenset[str]


@dataclass(frozen=True)
class Program:
    """A function of named arrays, in blocks; the loss is a real number made of what is not read again."""

    args: dict[str, Any]
    blocks: tuple[Block, ...]
    weights: int = field(default=7)

    @cached_property
    def outputs(self) -> list[str]:
        """The values that nothing reads."""
        read = {name for block in self.blocks for name in block.reads}
        found = [block.out for block in self.blocks if block.out not in read]
        return found or [self.blocks[-1].out if self.blocks else next(iter(self.args))]

    @cached_property
    def source(self) -> str:
        """The text of the function."""
        body = [line for block in self.blocks for line in block.lines]
        total = " + ".join([f"weighed({name})" for name in self.outputs])
        lines = [f"def f({', '.join(self.args)}):", *[f"    {line}" for line in body], f"    return {total}"]
        return "\n".join(lines) + "\n"

    def function(self, **names: Any) -> Callable[..., Any]:
        """The function; `names` may stand for others than NumPy's."""
        namespace = {**NAMES, **names}
        source = self.source
        file = f"<soak {hashlib.sha1(source.encode()).hexdigest()}>"
        # Python's loops become native ones where the source is to be had.
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        exec(compile(source, file, "exec"), namespace)
        found: Callable[..., Any] = namespace["f"]
        return found

    @property
    def branches(self) -> bool:
        """Whether Python's own branches may depend on values."""
        return bool(re.search(r"\b(if|while)\b", self.source))

    @property
    def single(self) -> bool:
        """Whether numbers of single precision take part, whose rounding difference quotients magnify."""
        single = any(np.asarray(x).dtype.char in "fF" for x in self.args.values())
        return single or bool(re.search("float32|complex64", self.source))

    @property
    def narrow(self) -> bool:
        """Whether short integers take part, of which JAX makes numbers of single precision."""
        few = any(np.asarray(x).dtype.char in "bhi" for x in self.args.values())
        return few or bool(re.search("int8|int16|int32", self.source))

    @property
    def numbers(self) -> tuple[int, ...]:
        """The places of the arguments that have derivatives."""
        return tuple([k for k, x in enumerate(self.args.values()) if np.asarray(x).dtype.kind in "fc"])

    @property
    def plain(self) -> bool:
        """Whether it has only what every array library has: no writes, no names of ours."""
        return not re.search(
            r"fg\.|special\.|stats\.|cube|soft|swept|\] [-+*]?= |[-+*]= |linalg|astype|cbrt|\.at\(|\.flat|"
            r"where=|\b(for|while|if)\b",
            self.source,
        )

    def without(self, dropped: frozenset[str]) -> Program | None:
        """The program without the blocks of some values, and whatever read them."""
        gone = set(dropped)
        kept = []
        for block in self.blocks:
            if block.out in gone or block.reads & gone:
                gone.add(block.out)
            else:
                kept.append(block)
        used = {name for block in kept for name in block.reads}
        args = {name: x for name, x in self.args.items() if name in used}
        return Program(args, tuple(kept), self.weights) if kept and args else None


def weighed(x: Any) -> Any:
    """A real number of an array, in which every element counts differently."""
    weights = np.cos(np.arange(float(np.size(x)))).reshape(np.shape(x))
    total = np.sum(x * weights)
    return total.real + 0.5 * total.imag if total.dtype.kind == "c" else total


@fg.custom_jvp
def cube(x: Any) -> Any:
    """The cube of the sine, with a rule of its own."""
    return np.sin(x) ** 3


@cube.defjvp
def cube_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    return cube(x), 3.0 * np.sin(x) ** 2 * np.cos(x) * t


@fg.custom_vjp
def soft(x: Any) -> Any:
    """A soft step, with rules of its own."""
    return x / np.sqrt(1.0 + x * x)


soft.defvjp(lambda x: (soft(x), x), lambda x, g: (g * (1.0 + x * x) ** -1.5,))


def swept(i: Any, v: Any) -> Any:
    """One step of a sweep that writes into what it reads."""
    new = v * 1.0
    new[i] = np.sin(v[i]) + 0.3 * v[i - 1]
    return new


NAMES = {
    "np": np,
    "fg": fg,
    "weighed": weighed,
    "cube": cube,
    "soft": soft,
    "swept": swept,
    "special": special,
    "stats": stats,
}
"""What the text of programs may use."""

FAMILIES = (
    families.LINEAR_ALGEBRA,
    families.CONTROL,
    families.CONTROL,
    families.PYTHON,
    families.PYTHON,
    families.RANDOM,
    families.OTHERS,
    families.OTHERS,
    families.SPECIAL,
    families.STATS,
    families.SELECTION,
    families.SELECTION,
    families.TO_OTHERS,
)


class Writer:
    """Writes a program, block by block."""

    def __init__(self, rng: Rng) -> None:
        self.rng = rng
        self.values: dict[str, Any] = {}
        self.blocks: list[Block] = []

    def choose(self, options: Sequence[Any]) -> Any:
        return options[int(self.rng.integers(len(options)))]

    def name(self) -> str:
        """A value of double precision: more often than not the last one."""
        names = [name for name, x in self.values.items() if np.asarray(x).dtype == np.float64]
        return str(names[-1] if self.rng.random() < 0.5 else self.choose(names))

    def other(self) -> str | None:
        """A value of another dtype, if there is one."""
        names = [name for name, x in self.values.items() if np.asarray(x).dtype != np.float64]
        return str(names[-1] if self.rng.random() < 0.5 else self.choose(names)) if names else None

    def add(self, *lines: str) -> None:
        """Append a block that assigns ``{out}``, if its value is fit to be differentiated."""
        out = f"v{len(self.blocks)}_{len(self.values)}"
        text = tuple([line.replace("{out}", out) for block in lines for line in block.split("\n")])
        found = run(text, self.values, out)
        if found is None:
            return
        reads = frozenset([name for name in self.values if any(name in short.words(line) for line in text)])
        self.blocks.append(Block(out, text, reads))
        self.values[out] = found

    def step(self) -> None:
        """Write one block of a random kind."""
        other = self.other()
        if other is not None and self.rng.random() < 0.3:
            self.of_other(other)
            return
        x = self.name()
        shape = np.shape(self.values[x])
        kind = self.rng.random()
        if kind < 0.2:
            self.add("{out} = " + self.choose(short.UNARY).format(x=x))
        elif kind < 0.35:
            self.add("{out} = " + self.choose(short.BINARY).format(x=x, y=self.name()))
        elif kind < 0.45:
            self.along(x, shape)
        elif kind < 0.52:
            self.add("{out} = " + self.choose(short.MOVEMENT).format(x=x))
        elif kind < 0.6:
            self.add("{out} = " + self.choose(short.PRODUCTS).format(x=x, y=self.name()))
        elif kind < 0.72:
            self.indexed(x, shape)
        else:
            self.of_family(x, shape)

    def of_family(self, x: str, shape: tuple[int, ...]) -> None:
        """Linear algebra, control flow, draws, special functions, other dtypes."""
        family = self.choose(FAMILIES)
        text = self.choose(family)
        n = (
            (shape[-2] if len(shape) > 1 else 1)
            if family is families.LINEAR_ALGEBRA
            else len(shape) and shape[0]
        )
        text = text if "{out}" in text else "{out} = " + text
        k = str(self.rng.integers(1, 6))
        self.add(text.format(x=x, n=n, k=k, out="{out}"))

    def of_other(self, x: str) -> None:
        """Something of a value that is no double number, alone or with one."""
        kind = np.asarray(self.values[x]).dtype.kind
        y = self.name()
        m = max(len(np.atleast_1d(self.values[y])), 1)
        family = families.MIXED if self.rng.random() < 0.4 else families.BY_KIND
        self.add("{out} = " + self.choose(family[kind]).format(x=x, y=y, m=m))

    def along(self, x: str, shape: tuple[int, ...]) -> None:
        """A reduction, or something along an axis."""
        axes: list[Any] = [None, *range(-len(shape), len(shape))]
        axes += [(0, len(shape) - 1)] if len(shape) > 1 else []
        if self.rng.random() < 0.5:
            keep = bool(self.rng.integers(2))
            self.add(
                "{out} = " + self.choose(short.REDUCTIONS).format(x=x, axis=self.choose(axes), keep=keep)
            )
        elif shape and 0 not in shape:
            axis = self.choose(range(-len(shape), len(shape)))
            self.add("{out} = " + self.choose(short.ALONG_AXIS).format(x=x, axis=axis))

    def indexed(self, x: str, shape: tuple[int, ...]) -> None:
        """A gather, a view, or a write: with repeats, through views, by augmented operators."""
        if not shape or 0 in shape:
            return
        n = shape[0]
        positions = [int(k) for k in self.rng.integers(-n, n, int(self.rng.integers(1, n + 3)))]
        index = self.choose([f"np.array({positions})", ":-1", "1:", "::-1", "::2", f"{n - 1}", "..."])
        start = f"{{out}} = {x} * 1.0"
        way = int(self.rng.integers(5))
        if way == 0:
            self.add(f"{{out}} = {x}[{index}]")
        elif way == 1:
            self.add(start, f"{{out}}[{index}] = 0.5 * np.sin({{out}}[{index}])")
        elif way == 2:
            self.add(start, f"{{out}}[{index}] += np.sum({self.name()})")
        elif way == 3:
            self.add(start, "part = {out}[1:]", "part *= np.tanh({out}[:1])", "part += 0.1")
        else:
            self.add(start, f"{{out}} *= np.cos({x})")


def run(lines: Sequence[str], values: dict[str, Any], out: str) -> Any:
    """The value of `out` after these lines, or None where they are refused or leave the bounds."""
    namespace = {**NAMES, **values}
    try:
        with warnings.catch_warnings(), np.errstate(all="raise", under="ignore"):
            warnings.simplefilter("error")
            exec("\n".join(lines), namespace)
    except (*short.REFUSED, np.linalg.LinAlgError, fg.errors.FuncgradError):
        return None
    found = namespace[out]
    if not isinstance(found, np.ndarray | np.generic) or found.dtype.char not in DTYPES or found.ndim > 4:
        return None
    large = found.size > LARGEST_SIZE or not found.size
    return None if large or not np.all(np.isfinite(found)) or np.any(abs(found) > LARGEST_VALUE) else found


def of_other_dtype(rng: Rng, shape: tuple[int, ...]) -> Any:
    """An argument that is no array of double precision."""
    x = rng.standard_normal(shape)
    others = (
        lambda: x.astype(np.float32),
        lambda: x + 1j * rng.standard_normal(shape),
        lambda: (x + 1j * rng.standard_normal(shape)).astype(np.complex64),
        lambda: rng.integers(-3, 9, shape),
        lambda: rng.integers(0, 5, shape).astype(np.int32),
        lambda: np.asarray(x > 0.0),
    )
    found = np.asarray(others[int(rng.integers(len(others)))]())
    return found if shape else found[()]


def random_program(seed: int, most: int = 40) -> Program:
    """The program of a seed.

    >>> random_program(1).source == random_program(1).source
    True
    """
    rng = np.random.default_rng(seed)
    writer = Writer(rng)
    shapes = [(3,), (2, 3), (4, 4), (40,), (3, 2, 2), (33, 3), ()]
    args = {}
    for k in range(int(rng.integers(1, 4))):
        shape = shapes[int(rng.integers(len(shapes)))]
        size = int(np.prod(shape))
        # Apart from each other, so that few kinks are near.
        x = (rng.permutation(size) * min(0.37, 6.0 / max(size, 1)) - 1.0 + 0.1 * rng.random()).reshape(shape)
        args[f"x{k}"] = x if shape else x[()]
    for k in range(int(rng.integers(0, 3))):
        args[f"y{k}"] = of_other_dtype(rng, shapes[int(rng.integers(len(shapes)))])
    writer.values.update(args)
    for _ in range(int(rng.integers(3, most))):
        writer.step()
    if not writer.blocks:
        writer.add("{out} = np.sin(x0)")
    program = Program(args, tuple(writer.blocks))
    used = {name for block in program.blocks for name in block.reads}
    return Program({name: x for name, x in args.items() if name in used} or args, program.blocks)
