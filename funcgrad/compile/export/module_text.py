"""Whole modules: imports, what the function calls, arrays that it holds, the function, and its door."""

from __future__ import annotations

import base64
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from funcgrad.compile.export.library import NJIT, THREADED, decorator, needed
from funcgrad.compile.export.mathematics import by_numpy
from funcgrad.compile.export.side_by_side import side_by_side
from funcgrad.compile.export.special_functions import special_definitions
from funcgrad.errors import UnsupportedFunctionError
from funcgrad.ir.avals import Aval
from funcgrad.ir.text.numpy_source import array_source, scalar_type
from funcgrad.types import Array

LARGEST_SPELLED = 24
"""Elements up to which an array is written out as numbers."""

LARGEST_HELD = 1 << 24
"""Bytes up to which an array becomes part of a module."""

PYTHON_NUMBERS = {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex"}
"""What makes a number of an array without axes, by the kind of its dtype."""


@dataclass(frozen=True)
class Leaf:
    """An array or number among the arguments."""

    name: str
    """What the body calls it."""
    access: str
    """Where it is among the arguments."""
    aval: Aval
    flat: bool


@dataclass(frozen=True)
class Door:
    """What callers see of a function."""

    name: str
    parameters: Sequence[str]
    result: str
    """The text of what is returned."""
    sentences: Sequence[str]
    """The docstring."""
    compiled: bool
    """Whether Numba can take the arguments and results as they are."""
    cells: Sequence[str]
    """The parameters that callers give as arrays without axes."""
    classes: Mapping[str, Sequence[str]]
    """Named tuples among the results: their fields."""


def held_array(array: Array) -> str:
    """An array as an expression of Python."""
    array = np.ascontiguousarray(array).reshape(np.shape(array))
    if array.size <= LARGEST_SPELLED:
        return array_source(array)
    if array.nbytes > LARGEST_HELD:
        raise UnsupportedFunctionError(
            f"export: the function holds an array of {array.nbytes / 2**20:.0f} MiB",
            remedy="Pass the array as an argument.",
        )
    little = array.astype(array.dtype.newbyteorder("<"))
    text = base64.b64encode(little.tobytes()).decode()
    lines = "\n".join([f'    "{line}"' for line in textwrap.wrap(text, 100)])
    shape = f".reshape({array.shape})" if array.ndim != 1 else ""
    return f'np.frombuffer(base64.b64decode(\n{lines}\n), "{little.dtype.str}"){shape}.copy()'


def recognised(array: Array) -> str | None:
    """An array that follows a rule, as that rule; None for any other."""
    if array.size < 2 or array.dtype.char not in "dl?":
        return None
    if array.ndim == 2 and array.shape[0] == array.shape[1]:
        return recognised_square(array)
    return recognised_steps(array) if array.ndim == 1 and array.dtype.kind != "b" else None


def recognised_square(array: Array) -> str | None:
    """A square matrix that is one number below its diagonal, one on it, and one above."""
    n = len(array)
    values = [array[1, 0], array[0, 0], array[0, 1]]
    below, diagonal, above = (float(v) for v in values)
    if not np.array_equal(array, np.choose(1 + np.sign(np.arange(n) - np.arange(n)[:, None]), values)):
        return None
    if (below, diagonal, above) == (0.0, 1.0, 0.0) and array.dtype == np.float64:
        return f"np.eye({n})"
    made = f"by_triangles({n}, {below!r}, {diagonal!r}, {above!r})"
    return {"f": made, "b": f"({made} != 0)"}.get(array.dtype.kind, f"{made}.astype(np.int64)")


def recognised_steps(array: Array) -> str | None:
    """Numbers with equal distances."""
    n, first, last = array.size, array[0], array[-1]
    if array.dtype.kind == "i":
        step = int(array[1] - array[0])
        if step and np.array_equal(array, np.arange(n) * step + first):
            start = "" if first == 0 and step == 1 else f"{first}, "
            stop = f"{int(first) + step * n}" + (f", {step}" if step != 1 else "")
            return f"np.arange({start}{stop})"
    elif first != last and np.array_equal(array, np.linspace(first, last, n)):
        return f"np.linspace({float(first)!r}, {float(last)!r}, {n})"
    return None


def input_line(leaf: Leaf, engine: str) -> str:
    """An argument as the body reads it."""
    dtype = scalar_type(leaf.aval.dtype)
    if not leaf.aval.shape:
        return f"    {leaf.name} = {dtype}({leaf.access})"
    flat = ".ravel()" if leaf.flat and leaf.aval.ndim > 1 else ""
    if engine == "numpy":
        return f"    {leaf.name} = np.ascontiguousarray({leaf.access}, {dtype}){flat}"
    return f"    {leaf.name} = {converter(leaf.aval)}({leaf.access}){flat}"


def converter(aval: Aval) -> str:
    """The name of the function that makes an argument an array of a dtype."""
    return f"{aval.dtype.name}_array"


def converter_source(name: str) -> str:
    """A function that Numba turns into nothing where there is nothing to do."""
    dtype = name.removesuffix("_array")
    numpy_name = "np.bool_" if dtype == "bool" else f"np.{dtype}"
    numba_name = "numba.boolean" if dtype == "bool" else f"numba.{dtype}"
    return textwrap.dedent(f'''\
        def {name}(x):
            """x as an array of {dtype} whose rows lie in order: itself where it is one."""
            return np.ascontiguousarray(x, {numpy_name})


        @numba.extending.overload({name})
        def _{name}(x):
            if x.dtype == {numba_name} and x.layout == "C":
                return lambda x: x
            return lambda x: np.ascontiguousarray(x).astype({numpy_name})''')


def module_text(
    door: Door,
    leaves: Sequence[Leaf],
    body: Sequence[str],
    constants: Mapping[str, Any],
    engine: str = "numba",
) -> str:
    """The whole text of a module."""
    opened = door.cells if door.compiled and engine == "numba" else []
    inner = door.name if door.compiled else f"{door.name}_of_arrays"
    if opened:
        inner = f"{door.name}_of_numbers"
    converters = sorted({converter(x.aval) for x in leaves if x.aval.shape}) if engine == "numba" else []
    function, pairs = side_by_side(function_lines(door, inner, leaves, body, engine))
    text = "\n\n\n".join([*pairs, "\n".join(function)])
    parts = [f'"""{door.sentences[0]}\n\n' + "\n".join(door.sentences[1:]) + '\n"""']
    if engine == "numpy":
        text = "\n".join([*function[:2], *[by_numpy(line) for line in function[2:]]])
    helpers = needed(text, engine)
    special = special_definitions("\n".join([text, *helpers.values()]), engine)
    parts.append(imports_of("\n".join([*helpers.values(), *special, text]), door, constants, engine))
    if special:
        parts.append("\n".join(special))
    if constants:
        parts.append("\n".join([f"{name} = {held_array(array)}" for name, array in constants.items()]))
    for name, fields in door.classes.items():
        parts.append(f'{name} = collections.namedtuple("{name}", {list(fields)!r})')
    definitions = [converter_source(name) for name in converters]
    for name, source in helpers.items():
        definitions.append(f"@{decorator(name)}\n{source}" if engine == "numba" else source)
    definitions.append(text)
    if not door.compiled:
        definitions.append("\n".join(door_lines(door, inner, leaves)))
    if opened:
        definitions += opening_sources(door, inner, leaves)
    return "\n\n".join(parts) + "\n\n\n" + "\n\n\n".join(definitions) + "\n"


def imports_of(text: str, door: Door, constants: Mapping[str, Any], engine: str) -> str:
    """The imports of a module."""
    standard = [
        *(["import base64"] if any(np.size(x) > LARGEST_SPELLED for x in constants.values()) else []),
        *(["import collections"] if door.classes else []),
        *(["import ctypes"] if re.search(r"\bctypes\.", text) else []),
        *(["import math"] if re.search(r"\bmath\.", text) else []),
    ]
    others = (["import numba", "import numba.extending"] if engine == "numba" else []) + [
        "import numpy as np",
        *(["import scipy.special"] if re.search(r"\bscipy\.special\.\w+$", text, re.M) else []),
    ]
    return "\n".join([*standard, *([""] if standard else []), *others])


def function_lines(
    door: Door, inner: str, leaves: Sequence[Leaf], body: Sequence[str], engine: str
) -> list[str]:
    """The function itself: of what callers give it, or of the arrays and numbers among that."""
    if door.compiled:
        parameters, given = list(door.parameters), leaves
    else:
        given = [Leaf(x.name, x.name, x.aval, x.flat) for x in leaves]
        parameters = [x.name for x in leaves]
    start = body.index("")
    first, rest = list(body[:start]), list(body[start + 1 :])
    threaded = any("numba.prange(" in line.partition("#")[0] for line in rest)
    if threaded:
        given, rest = renamed(given, rest)
    lines = [f"@{THREADED if threaded else NJIT}"] if engine == "numba" else ['@np.errstate(all="ignore")']
    lines.append(f"def {inner}({', '.join(parameters)}):")
    lines.append(f'    """{door.sentences[0]}"""')
    return [*lines, *first, *[input_line(x, engine) for x in given], *rest]


def renamed(leaves: Sequence[Leaf], body: Sequence[str]) -> tuple[list[Leaf], list[str]]:
    """Locals under names that Numba's own do not meet: of ``x``, assigned again, its threads make ``x_1``."""
    names = {x.name for x in leaves}
    for line in body:
        names.update(re.findall(r"[A-Za-z_]\w*_\d+\b", line.partition("#")[0]))
    pattern = re.compile(rf"(?<![\w.])({'|'.join(sorted(map(re.escape, names)))})\b")
    lines = []
    for line in body:
        code, mark, comment = line.partition("#")
        lines.append(pattern.sub(r"\1_", code) + mark + comment)
    return [replace(x, name=f"{x.name}_") for x in leaves], lines


def door_lines(door: Door, inner: str, leaves: Sequence[Leaf]) -> list[str]:
    """A function of Python that takes containers apart and puts them together."""
    given = [f"np.asarray({x.access})" if x.aval.shape else x.access for x in leaves]
    lines = [f"def {door.name}({', '.join(door.parameters)}):", f'    """{door.sentences[0]}"""']
    names = re.findall(r"\b_r\d+\b", door.result)
    call = f"{inner}({', '.join(given)})"
    if not names:
        return [*lines, f"    {call}", f"    return {door.result}"]
    return [
        *lines,
        f"    {', '.join(names)}{',' if len(names) == 1 else ''} = {call}",
        f"    return {door.result}",
    ]


def opening_sources(door: Door, inner: str, leaves: Sequence[Leaf]) -> list[str]:
    """A function of Python that opens arrays without axes, and what calls from Numba's code are in its place.

    To recognise such an array Numba takes twice as long as all else of a call.
    """
    kinds = {x.access: PYTHON_NUMBERS[x.aval.dtype.kind] for x in leaves if not x.aval.shape}
    given = [f"{kinds[x]}({x})" if x in door.cells and x in kinds else x for x in door.parameters]
    parameters = ", ".join(door.parameters)
    opening = [
        f"def {door.name}({parameters}):",
        f'    """{door.sentences[0]}"""',
        f"    return {inner}({', '.join(given)})",
    ]
    inside = [
        f"@numba.extending.overload({door.name})",
        f"def _{door.name}({parameters}):",
        f"    return lambda {parameters}: {inner}({parameters})",
    ]
    return ["\n".join(opening), "\n".join(inside)]
