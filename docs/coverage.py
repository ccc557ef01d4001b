"""Writes docs/coverage.md: what becomes of every public function of NumPy under a trace.

It asks the code: every function is called with traced numbers in the ways that functions of NumPy are called
(those that need something special are listed in `CALLS`), and then differentiated.

    python docs/coverage.py            # rewrites the page
    python docs/coverage.py --check    # says whether it is current
"""

from __future__ import annotations

import sys
import types
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import funcgrad as fg
from funcgrad.numpy.dispatch import FUNCTIONS, LATER

VERSION = ".".join(np.__version__.split(".")[:2])
PAGE = Path(__file__).with_name("coverage.md")

SUPPORTED, CONSTANT, MISSING = "supported", "not differentiable", "not supported"

X = np.array([0.3, 0.9, 0.47, 0.7])
SQUARE = np.array([[2.0, 0.3], [0.1, 1.5]])

CALLS: dict[str, Callable[[Any], Any]] = {
    "acosh": lambda x: np.acosh(x + 1.0),
    "arccosh": lambda x: np.arccosh(x + 1.0),
    "apply_along_axis": lambda x: np.apply_along_axis(np.sum, 0, x),
    "apply_over_axes": lambda x: np.apply_over_axes(np.sum, x, [0]),
    "array2string": lambda x: len(np.array2string(x)),
    "array_repr": lambda x: len(np.array_repr(x)),
    "array_str": lambda x: len(np.array_str(x)),
    "array_split": lambda x: np.array_split(x, 2),
    "astype": lambda x: np.astype(x, np.float32),
    "average": lambda x: np.average(x, weights=x),
    "bincount": lambda x: np.bincount([0, 1, 1, 2], weights=x),
    "block": lambda x: np.block([x, x]),
    "broadcast_to": lambda x: np.broadcast_to(x, (2, 4)),
    "can_cast": lambda x: np.can_cast(x.dtype, np.float32),
    "choose": lambda x: np.choose([0, 1, 0, 1], [x, 2 * x]),
    "compress": lambda x: np.compress([True, False, True, True], x),
    "concat": lambda x: np.concat([x, x]),
    "concatenate": lambda x: np.concatenate([x, x]),
    "copyto": lambda x: _written(np.copyto, x, np.zeros(4), where=np.arange(4) < 2),
    "count_nonzero": np.count_nonzero,
    "cross": lambda x: np.cross(x[:3], x[1:]),
    "delete": lambda x: np.delete(x, 1),
    "diag_indices_from": lambda x: np.diag_indices_from(np.outer(x, x))[0],
    "digitize": lambda x: np.digitize(x, [0.4, 0.6]),
    "dsplit": lambda x: np.dsplit(x.reshape(1, 2, 2), 2),
    "einsum": lambda x: np.einsum("i,j", x, x),
    "einsum_path": lambda x: len(np.einsum_path("i,i", x, x)[1]),
    "expand_dims": lambda x: np.expand_dims(x, 0),
    "extract": lambda x: np.extract(np.arange(4) < 2, x),
    "fill_diagonal": lambda x: _written(np.fill_diagonal, np.outer(x, x), 0.0),
    "full_like": lambda x: np.full_like(x, x[0]),
    "gcd": lambda x: np.gcd(x.astype(int), 2),
    "histogram": lambda x: np.histogram(X, 3, weights=x)[0],
    "histogram2d": lambda x: np.histogram2d(X, X, 3, weights=x)[0],
    "histogramdd": lambda x: np.histogramdd([X, X], 3, weights=x)[0],
    "hsplit": lambda x: np.hsplit(x, 2),
    "insert": lambda x: np.insert(x, 1, x[0]),
    "interp": lambda x: np.interp(x, [0.0, 1.0], [0.0, 2.0]),
    "ix_": lambda x: np.ix_(x, x),
    "lcm": lambda x: np.lcm(x.astype(int), 2),
    "ldexp": lambda x: np.ldexp(x, 2),
    "left_shift": lambda x: np.left_shift(x.astype(int), 1),
    "bitwise_left_shift": lambda x: np.bitwise_left_shift(x.astype(int), 1),
    "bitwise_right_shift": lambda x: np.bitwise_right_shift(x.astype(int), 1),
    "lexsort": lambda x: np.lexsort((x, x)),
    "matmul": lambda x: np.matmul(x, x),
    "matvec": lambda x: np.matvec(np.outer(x, x), x),
    "vecmat": lambda x: np.vecmat(x, np.outer(x, x)),
    "moveaxis": lambda x: np.moveaxis(np.outer(x, x), 0, 1),
    "packbits": np.packbits,
    "pad": lambda x: np.pad(x, 1, "reflect"),
    "partition": lambda x: np.partition(x, 2),
    "argpartition": lambda x: np.argpartition(x, 2),
    "percentile": lambda x: np.percentile(x, 30),
    "nanpercentile": lambda x: np.nanpercentile(x, 30),
    "quantile": lambda x: np.quantile(x, 0.3),
    "nanquantile": lambda x: np.nanquantile(x, 0.3),
    "piecewise": lambda x: np.piecewise(x, [x < 0.5], [np.sin, np.cos]),
    "place": lambda x: _written(np.place, x, np.arange(4) < 2, [0.0]),
    "put": lambda x: _written(np.put, x, [0], [0.0]),
    "put_along_axis": lambda x: _written(np.put_along_axis, x, np.array([0]), 0.0, 0),
    "putmask": lambda x: _written(np.putmask, x, np.arange(4) < 2, [0.0]),
    "ravel_multi_index": lambda x: np.ravel_multi_index((x.astype(int),), (4,)),
    "repeat": lambda x: np.repeat(x, 2),
    "reshape": lambda x: np.reshape(x, (2, 2)),
    "resize": lambda x: np.resize(x, 6),
    "right_shift": lambda x: np.right_shift(x.astype(int), 1),
    "roll": lambda x: np.roll(x, 1),
    "rollaxis": lambda x: np.rollaxis(np.outer(x, x), 1),
    "rot90": lambda x: np.rot90(np.outer(x, x)),
    "select": lambda x: np.select([x < 0.5], [x], 0.0),
    "split": lambda x: np.split(x, 2),
    "swapaxes": lambda x: np.swapaxes(np.outer(x, x), 0, 1),
    "take": lambda x: np.take(x, [0, 2]),
    "take_along_axis": lambda x: np.take_along_axis(x, np.array([0, 2]), 0),
    "tensordot": lambda x: np.tensordot(x, x, 1),
    "tile": lambda x: np.tile(x, 2),
    "trapezoid": lambda x: np.trapezoid(x, x),
    "tril_indices_from": lambda x: np.tril_indices_from(np.outer(x, x))[0],
    "triu_indices_from": lambda x: np.triu_indices_from(np.outer(x, x))[0],
    "trace": lambda x: np.trace(np.outer(x, x)),
    "unravel_index": lambda x: np.unravel_index(x.astype(int), (2, 2)),
    "angle": lambda x: np.angle(x + 1j * x**2),
    "imag": lambda x: np.imag(x * 1j),
    "heaviside": lambda x: np.heaviside(0.0, x),
    "intersect1d": lambda x: np.intersect1d(x, x),
    "roots": np.roots,
    "polydiv": lambda x: np.polydiv(x, x[:2]),
    "identity": lambda x: np.identity(x.shape[0]),
    "eye": lambda x: np.eye(x.shape[0]),
    "tri": lambda x: np.tri(x.shape[0]),
    "linalg.cross": lambda x: np.linalg.cross(x[:3], x[1:]),
    "linalg.svd": lambda x: np.linalg.svd(x.reshape(2, 2) + SQUARE)[1],
    "linalg.eigh": lambda x: np.linalg.eigh(np.outer(x, x) + np.diag([1.0, 2.0, 3.0, 4.0])),
    "linalg.eigvalsh": lambda x: np.linalg.eigvalsh(np.outer(x, x) + np.diag([1.0, 2.0, 3.0, 4.0])),
    "linalg.cholesky": lambda x: np.linalg.cholesky(np.outer(x, x) + np.eye(4)),
    "linalg.tensorinv": lambda x: np.linalg.tensorinv(x.reshape(2, 2) + SQUARE, 1),
    "linalg.tensorsolve": lambda x: np.linalg.tensorsolve(x.reshape(2, 2) + SQUARE, x[:2]),
    "linalg.lstsq": lambda x: np.linalg.lstsq(np.outer(x, x)[:, :2] + np.eye(4)[:, :2], x)[0],
    "vsplit": lambda x: np.vsplit(np.outer(x, x), 2),
    "where": lambda x: np.where(x < 0.5, x, 0.0),
    "kaiser": lambda x: fg.numpy.kaiser(3, x[0]),
    "linspace": lambda x: fg.numpy.linspace(0.0, x[0], 3),
    "logspace": lambda x: fg.numpy.logspace(0.0, x[0], 3),
    "geomspace": lambda x: fg.numpy.geomspace(1.0, x[0], 3),
    "full": lambda x: fg.numpy.full(3, x[0]),
    "arange": lambda x: fg.numpy.arange(x[0], 3 + x[0]),
    "polyfit": lambda x: np.polyfit(np.arange(4.0), x, 1),
}
"""Functions that are not called with one, two or three arrays."""

OF_SHAPES_AND_TYPES = {
    *(
        "typename",
        "mintypecode",
        "issubdtype",
        "isdtype",
        "promote_types",
        "isscalar",
        "iterable",
        "common_type",
    ),
    *("broadcast_shapes", "diag_indices", "mask_indices", "tril_indices", "triu_indices", "indices"),
    *("bartlett", "blackman", "hamming", "hanning", "fft.fftfreq", "fft.rfftfreq", "may_share_memory"),
    *("array2string", "array_repr", "array_str", "fromfunction", "from_dlpack"),
}
"""Functions of shapes, dtypes, memory and lengths: they work, and have nothing to differentiate."""

OUTSIDE = {
    *("busday_count", "busday_offset", "is_busday", "datetime_as_string", "datetime_data", "isnat"),
    *("frombuffer", "fromfile", "fromiter", "fromregex", "fromstring", "genfromtxt", "load", "loadtxt"),
    *("save", "savetxt", "savez", "savez_compressed", "frompyfunc", "get_include", "getbufsize"),
    *("setbufsize", "geterr", "seterr", "geterrcall", "seterrcall", "info", "show_config", "show_runtime"),
    *("test", "nested_iters", "format_float_positional", "format_float_scientific", "base_repr"),
    *("binary_repr", "get_printoptions", "set_printoptions", "printoptions", "asmatrix", "bmat", "row_stack"),
}
"""Functions of no array of numbers: files, dates, settings, text, matrices of the old class."""


def _written(write: Callable[..., Any], x: Any, *args: Any, **options: Any) -> Any:
    """A copy of `x` that a function has written into."""
    y = x * 1.0
    write(y, *args, **options)
    return y


def functions() -> Iterator[tuple[str, Any]]:
    """NumPy's public functions and ufuncs by name, those of `linalg` and `fft` with their module."""
    modules = [("", np), ("linalg.", np.linalg), ("fft.", np.fft)]
    for prefix, module in modules:
        for name in sorted(getattr(module, "__all__", dir(module))):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                f = getattr(module, name, None)
            if isinstance(f, np.ufunc | types.FunctionType | types.BuiltinFunctionType) or hasattr(
                f, "__wrapped__"
            ):
                yield prefix + name, f


def calls_of(name: str, f: Any) -> list[Callable[[Any], Any]]:
    """The ways to call a function with a traced vector, the likeliest first."""
    if name in CALLS:
        return [CALLS[name]]
    if name.startswith("linalg."):
        return [partial(called_with, f, arguments) for arguments in (*MATRICES, *VECTORS)]
    ours = getattr(fg.numpy, name, f)
    return [partial(called_with, g, arguments) for g in (f, ours) for arguments in (*VECTORS, *MATRICES)]


def called_with(f: Any, arguments: Callable[[Any], tuple[Any, ...]], x: Any) -> Any:
    """The function on arguments made of a vector."""
    return f(*arguments(x))


def square(x: Any) -> Any:
    """A matrix made of four numbers."""
    return x.reshape(2, 2) + SQUARE


VECTORS: list[Callable[[Any], tuple[Any, ...]]] = [
    lambda x: (x,),
    lambda x: (x, x * 0.5),
    lambda x: (x, x * 0.5, x * 2.0),
    lambda x: (x.astype(int),),
    lambda x: (x.astype(int), x.astype(int)),
]
MATRICES: list[Callable[[Any], tuple[Any, ...]]] = [
    lambda x: (square(x),),
    lambda x: (square(x), square(x)),
    lambda x: (square(x), 3),
    lambda x: ([square(x), square(x), square(x)],),
]


def differentiated(call: Callable[[Any], Any]) -> bool:
    """Whether the results of a call have a derivative that is not structurally zero."""

    def total(x: Any) -> Any:
        parts = [
            part for part in fg.tree.leaves(call(x)) if getattr(part, "dtype", np.dtype(int)).kind in "fc"
        ]
        kept = [np.sum(np.real(part) * np.arange(1, part.size + 1).reshape(part.shape)) for part in parts]
        return sum(kept) if kept else np.sum(x * 0)

    gradient = fg.grad(total)(X)
    return bool(np.any(gradient != 0))


def status_of(name: str, f: Any) -> str:
    """What becomes of the function under a trace."""
    if name in OUTSIDE:
        return MISSING
    if name in OF_SHAPES_AND_TYPES:
        return CONSTANT
    known = f in FUNCTIONS or f in LATER or isinstance(f, np.ufunc) or hasattr(fg.numpy, name)
    if not known and not name.startswith(("linalg.", "fft.")):
        return MISSING
    found = MISSING
    for call in calls_of(name, f):
        try:
            if differentiated(call):
                return SUPPORTED
            found = CONSTANT
        except Exception:  # noqa: BLE001, S112 - any refusal means that this is not the way to call it
            continue
    return found


WORDS = {
    SUPPORTED: ["Traced arrays go in and derivatives come out, under `np.` and `fg.numpy.` alike."],
    CONSTANT: [
        "These work on traced arrays. What they return is truth values, positions, whole numbers, shapes, or",
        "constant between jumps: its derivative is zero.",
    ],
    MISSING: [
        "On traced arrays these raise an error that names them, or they take values, not arrays of numbers:",
        "dates, files, settings, text, matrices of the old class.",
    ],
}


def page() -> str:
    """The page."""
    rows: dict[str, list[str]] = {SUPPORTED: [], CONSTANT: [], MISSING: []}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, f in functions():
            rows[status_of(name, f)].append(name)
    headings = {
        SUPPORTED: "Supported",
        CONSTANT: "Not differentiable",
        MISSING: "Not supported",
    }
    counts = [len(rows[status]) for status in headings]
    parts = [
        f"# The functions of NumPy {VERSION} under a trace",
        "",
        "<!-- Written by docs/coverage.py from the code; do not edit. -->",
        "",
        f"Of {sum(counts)} public functions, {counts[0]} are differentiated, {counts[1]} have no derivative,",
        f"and {counts[2]} are not supported.",
    ]
    for status, names in rows.items():
        parts += ["", f"## {headings[status]}", "", *WORDS[status], ""]
        parts += lines_of([f"`{name}`" for name in names])
    return "\n".join(parts) + "\n"


def lines_of(words: list[str]) -> list[str]:
    """The words, separated by commas, in lines of 110 columns."""
    lines, line = [], ""
    for word in [f"{w}," for w in words[:-1]] + words[-1:]:
        if len(line) + len(word) > 108:
            lines.append(line)
            line = ""
        line = f"{line} {word}".strip()
    return [*lines, line]


def main() -> int:
    """Write the page, or check that it is current."""
    text = page()
    if "--check" in sys.argv:
        return int(PAGE.read_text() != text)
    PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
