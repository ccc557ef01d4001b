"""``fg.numpy`` as a namespace of the Array API standard, version 2025.12: names, signatures, dtypes, values.

The table restates the signatures of https://data-apis.org/array-api/2025.12. Every function is called as the
standard spells it, on arrays and on traced arrays, and compared with NumPy.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import funcgrad as fg

xp = fg.numpy

UNARY = [
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "ceil",
    "conj",
    "cos",
    "cosh",
    "exp",
    "expm1",
    "floor",
    "imag",
    "isfinite",
    "isinf",
    "isnan",
    "log",
    "log1p",
    "log10",
    "log2",
    "negative",
    "positive",
    "real",
    "reciprocal",
    "round",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "tan",
    "tanh",
    "trunc",
]
BINARY = [
    "add",
    "atan2",
    "copysign",
    "divide",
    "equal",
    "floor_divide",
    "greater",
    "greater_equal",
    "hypot",
    "less",
    "less_equal",
    "logaddexp",
    "maximum",
    "minimum",
    "multiply",
    "nextafter",
    "not_equal",
    "pow",
    "remainder",
    "subtract",
]
BITS = ["bitwise_and", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor"]
LOGICAL = ["logical_and", "logical_or", "logical_xor"]
OTHERS = {
    "all": "x, /, *, axis=None, keepdims=False",
    "any": "x, /, *, axis=None, keepdims=False",
    "arange": "start, /, stop=None, step=1, *, dtype=None, device=None",
    "argmax": "x, /, *, axis=None, keepdims=False",
    "argmin": "x, /, *, axis=None, keepdims=False",
    "argsort": "x, /, *, axis=-1, descending=False, stable=True",
    "asarray": "obj, /, *, dtype=None, device=None, copy=None",
    "astype": "x, dtype, /, *, copy=True, device=None",
    "bitwise_invert": "x, /",
    "broadcast_arrays": "*arrays",
    "broadcast_shapes": "*shapes",
    "broadcast_to": "x, /, shape",
    "can_cast": "from_, to, /",
    "clip": "x, /, min=None, max=None",
    "concat": "arrays, /, *, axis=0",
    "count_nonzero": "x, /, *, axis=None, keepdims=False",
    "cumulative_prod": "x, /, *, axis=None, dtype=None, include_initial=False",
    "cumulative_sum": "x, /, *, axis=None, dtype=None, include_initial=False",
    "diff": "x, /, *, axis=-1, n=1, prepend=None, append=None",
    "empty": "shape, *, dtype=None, device=None",
    "empty_like": "x, /, *, dtype=None, device=None",
    "expand_dims": "x, /, axis",
    "eye": "n_rows, n_cols=None, /, *, k=0, dtype=None, device=None",
    "finfo": "type, /",
    "flip": "x, /, *, axis=None",
    "from_dlpack": "x, /, *, device=None, copy=None",
    "full": "shape, fill_value, *, dtype=None, device=None",
    "full_like": "x, /, fill_value, *, dtype=None, device=None",
    "iinfo": "type, /",
    "isdtype": "dtype, kind",
    "isin": "x1, x2, /, *, invert=False",
    "linspace": "start, stop, /, num, *, dtype=None, device=None, endpoint=True",
    "logical_not": "x, /",
    "matmul": "x1, x2, /",
    "matrix_transpose": "x, /",
    "max": "x, /, *, axis=None, keepdims=False",
    "mean": "x, /, *, axis=None, keepdims=False",
    "meshgrid": "*arrays, indexing='xy'",
    "min": "x, /, *, axis=None, keepdims=False",
    "moveaxis": "x, source, destination, /",
    "nonzero": "x, /",
    "ones": "shape, *, dtype=None, device=None",
    "ones_like": "x, /, *, dtype=None, device=None",
    "permute_dims": "x, /, axes",
    "prod": "x, /, *, axis=None, dtype=None, keepdims=False",
    "repeat": "x, repeats, /, *, axis=None",
    "reshape": "x, /, shape, *, copy=None",
    "result_type": "*arrays_and_dtypes",
    "roll": "x, /, shift, *, axis=None",
    "searchsorted": "x1, x2, /, *, side='left', sorter=None",
    "sort": "x, /, *, axis=-1, descending=False, stable=True",
    "squeeze": "x, /, axis",
    "stack": "arrays, /, *, axis=0",
    "std": "x, /, *, axis=None, correction=0.0, keepdims=False",
    "sum": "x, /, *, axis=None, dtype=None, keepdims=False",
    "take": "x, indices, /, *, axis=None",
    "take_along_axis": "x, indices, /, *, axis=-1",
    "tensordot": "x1, x2, /, *, axes=2",
    "tile": "x, repetitions, /",
    "tril": "x, /, *, k=0",
    "triu": "x, /, *, k=0",
    "unique_all": "x, /",
    "unique_counts": "x, /",
    "unique_inverse": "x, /",
    "unique_values": "x, /",
    "unstack": "x, /, *, axis=0",
    "var": "x, /, *, axis=None, correction=0.0, keepdims=False",
    "vecdot": "x1, x2, /, *, axis=-1",
    "where": "condition, x1, x2, /",
    "zeros": "shape, *, dtype=None, device=None",
    "zeros_like": "x, /, *, dtype=None, device=None",
}
LINALG = {
    "cholesky": "x, /, *, upper=False",
    "cross": "x1, x2, /, *, axis=-1",
    "det": "x, /",
    "diagonal": "x, /, *, offset=0",
    "eig": "x, /",
    "eigh": "x, /",
    "eigvals": "x, /",
    "eigvalsh": "x, /",
    "inv": "x, /",
    "matmul": "x1, x2, /",
    "matrix_norm": "x, /, *, keepdims=False, ord='fro'",
    "matrix_power": "x, n, /",
    "matrix_rank": "x, /, *, rtol=None",
    "matrix_transpose": "x, /",
    "outer": "x1, x2, /",
    "pinv": "x, /, *, rtol=None",
    "qr": "x, /, *, mode='reduced'",
    "slogdet": "x, /",
    "solve": "x1, x2, /",
    "svd": "x, /, *, full_matrices=True",
    "svdvals": "x, /",
    "tensordot": "x1, x2, /, *, axes=2",
    "trace": "x, /, *, offset=0, dtype=None",
    "vecdot": "x1, x2, /, *, axis=-1",
    "vector_norm": "x, /, *, axis=None, keepdims=False, ord=2",
}
FFT = {
    **dict.fromkeys(
        ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"], "x, /, *, n=None, axis=-1, norm='backward'"
    ),
    **dict.fromkeys(["fftn", "ifftn", "rfftn", "irfftn"], "x, /, *, s=None, axes=None, norm='backward'"),
    **dict.fromkeys(["fftfreq", "rfftfreq"], "n, /, *, d=1.0, dtype=None, device=None"),
    **dict.fromkeys(["fftshift", "ifftshift"], "x, /, *, axes=None"),
}
EXTENSIONS = [("linalg", name, text) for name, text in LINALG.items()]
EXTENSIONS += [("fft", name, text) for name, text in FFT.items()]
SIGNATURES = dict.fromkeys(UNARY, "x, /") | dict.fromkeys([*BINARY, *BITS, *LOGICAL], "x1, x2, /") | OTHERS
CONSTANTS = ["e", "inf", "nan", "newaxis", "pi"]
DTYPES = [
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
REALS = ["float32", "float64"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


def parameters_of(text: str) -> list[inspect.Parameter]:
    """The parameters of a signature as the standard spells it."""
    namespace: dict[str, Any] = {}
    exec(f"def f({text}): ...", namespace)
    return list(inspect.signature(namespace["f"]).parameters.values())


@pytest.mark.parametrize("name", SIGNATURES)
def test_signatures_take_what_the_standard_says(name: str) -> None:
    takes(getattr(xp, name), SIGNATURES[name])


@pytest.mark.parametrize(("extension", "name", "text"), EXTENSIONS)
def test_signatures_of_extensions(extension: str, name: str, text: str) -> None:
    takes(getattr(getattr(xp, extension), name), text)


def takes(function: Any, text: str) -> None:
    """Arguments given as the standard allows reach the function."""
    ours = inspect.signature(function)
    positional, keywords, either = [], {}, []
    for p in parameters_of(text):
        if p.kind is p.VAR_POSITIONAL:
            positional += ["first", "second"]
        elif p.kind is p.KEYWORD_ONLY:
            keywords[p.name] = None
        else:
            positional.append(p.name)
            if p.kind is p.POSITIONAL_OR_KEYWORD:
                either.append(p.name)
    ours.bind(*positional, **keywords)
    ours.bind(*positional)
    count = len(positional) - len(either)
    ours.bind(*positional[:count], **dict.fromkeys(either))


def test_names_and_constants() -> None:
    assert xp.__array_api_version__ == "2025.12"
    for name in [*SIGNATURES, *CONSTANTS, *DTYPES, "linalg", "fft"]:
        assert hasattr(xp, name), name
    assert np.isnan(xp.nan)
    assert (xp.newaxis, xp.inf) == (None, np.inf)
    for name in DTYPES:
        assert xp.asarray([0, 1], dtype=getattr(xp, name)).dtype == np.dtype(name)


def test_inspection() -> None:
    info = xp.__array_namespace_info__()
    assert info.devices() == ("cpu",)
    assert info.default_device() == "cpu"
    assert set(info.dtypes()) == set(DTYPES)
    assert set(info.dtypes(kind=("bool", "real floating"))) == {"bool", "float32", "float64"}
    assert set(info.dtypes(kind="integral", device="cpu")) == set(INTEGERS)
    assert len(info.dtypes(kind="numeric")) == 12
    assert info.default_dtypes(device="cpu")["real floating"] == xp.float64
    assert info.default_dtypes()["integral"] == xp.asarray([1]).dtype
    assert info.capabilities() == {
        "boolean indexing": True,
        "data-dependent shapes": True,
        "max dimensions": 64,
    }
    with pytest.raises(ValueError, match="unsupported kind"):
        info.dtypes(kind="text")
    with pytest.raises(ValueError, match="only device"):
        info.dtypes(device="cuda")


def test_limits_of_dtypes_and_arrays() -> None:
    for x in (np.float32, np.zeros(3, np.float32), np.complex64):
        assert xp.finfo(x).dtype == np.float32
        assert xp.finfo(x).eps == np.finfo(np.float32).eps
    assert xp.iinfo(np.zeros(3, np.uint8)).max == 255
    fg.make_program(lambda t: (xp.finfo(t).eps * t, xp.isdtype(t.dtype, "real floating") * t))(np.ones(2))


def agrees(call: Any, reference: Any, *arrays: Any) -> None:
    """`call` gives on arrays, and on traced arrays, what NumPy gives: values, shapes and dtypes."""
    wanted = fg.tree.leaves(reference(*arrays))
    with np.errstate(all="ignore"):
        recorded = fg.tree.leaves(fg.make_program(call)(*arrays).evaluate(*arrays))
    for found in (fg.tree.leaves(call(*arrays)), recorded):
        for ours, theirs in zip(found, wanted, strict=True):
            assert np.asarray(ours).dtype == np.asarray(theirs).dtype
            assert np.shape(ours) == np.shape(theirs)
            np.testing.assert_allclose(
                ours, theirs, rtol=1e-14 if np.asarray(theirs).dtype.itemsize > 4 else 1e-6
            )
            if np.asarray(theirs).dtype.kind == "f":
                np.testing.assert_array_equal(np.signbit(ours), np.signbit(theirs))


SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -2.5, np.inf, -np.inf, np.nan])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", UNARY)
def test_unary_functions_at_special_values(name: str) -> None:
    for dtype in REALS:
        agrees(getattr(xp, name), getattr(np, name), SPECIAL.astype(dtype))
    if name in (
        "abs",
        "ceil",
        "floor",
        "negative",
        "positive",
        "round",
        "sign",
        "square",
        "trunc",
        "isfinite",
    ):
        agrees(getattr(xp, name), getattr(np, name), np.array([0, 1, -7, 100], np.int8))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", BINARY)
def test_binary_functions_at_special_values(name: str) -> None:
    x, y = (np.ascontiguousarray(m).reshape(-1) for m in np.meshgrid(SPECIAL, SPECIAL))
    for dtype in REALS:
        agrees(getattr(xp, name), getattr(np, name), x.astype(dtype), y.astype(dtype))
    agrees(lambda t: getattr(xp, name)(t, 2.0), lambda t: getattr(np, name)(t, 2.0), x.astype(np.float32))
    agrees(lambda t: getattr(xp, name)(2.0, t), lambda t: getattr(np, name)(2.0, t), x.astype(np.float32))


@pytest.mark.parametrize("name", BITS)
def test_bits(name: str) -> None:
    for dtype in INTEGERS:
        x, y = np.array([1, 5, 100], dtype), np.array([3, 0, 2], dtype)
        agrees(getattr(xp, name), getattr(np, name), x, y)
        agrees(lambda t: getattr(xp, name)(t, 2), lambda t: getattr(np, name)(t, 2), x)


@pytest.mark.parametrize(
    "name", ["add", "multiply", "subtract", "equal", "maximum", "where", "concat", "matmul"]
)
def test_promotion(name: str) -> None:
    for first in DTYPES[1:]:
        for second in DTYPES[1:]:
            if not {first[0], second[0]} <= set("iu") and not {first[0], second[0]} <= set("fc"):
                continue
            x, y = np.ones(2, first), np.full(2, 2, second)

            def f(x: Any, y: Any, namespace: Any = xp) -> Any:
                if name == "where":
                    return namespace.where(np.array([True, False]), x, y)
                if name == "concat":
                    return namespace.concat([x, y])
                return getattr(namespace, name)(x, y)

            agrees(f, lambda x, y, f=f: f(x, y, np), x, y)


X = np.array([[3.0, -1.0, 2.0], [0.5, 2.0, -4.0]])
CALLS: list[tuple[Any, Any]] = [
    (lambda x: xp.sort(x, axis=0, descending=True), lambda x: -np.sort(-x, axis=0)),
    (lambda x: xp.sort(x, descending=True, stable=False), lambda x: -np.sort(-x)),
    (lambda x: xp.argsort(x[:, 1:], descending=True), lambda x: np.argsort(-x[:, 1:], kind="stable")),
    (
        lambda x: xp.argsort(xp.sign(x), axis=0, descending=True),
        lambda x: np.argsort(-np.sign(x), 0, kind="stable"),
    ),
    (lambda x: xp.argsort(xp.sign(x), axis=None, descending=True), lambda x: np.array([0, 2, 3, 4, 1, 5])),
    (lambda x: xp.permute_dims(x, (1, 0)), np.transpose),
    (xp.matrix_transpose, np.transpose),
    (lambda x: xp.vecdot(x, x, axis=0), lambda x: np.sum(x * x, axis=0)),
    (lambda x: xp.unstack(x, axis=1), lambda x: tuple(x.T)),
    (
        lambda x: xp.cumulative_sum(x, axis=1, include_initial=True),
        lambda x: np.cumsum(np.pad(x, ((0, 0), (1, 0))), 1),
    ),
    (lambda x: xp.cumulative_prod(x, axis=0), lambda x: np.cumprod(x, 0)),
    (lambda x: xp.clip(x, min=0.0), lambda x: np.clip(x, 0.0, None)),
    (lambda x: xp.clip(x, -1.0, 1.0), lambda x: np.clip(x, -1.0, 1.0)),
    (lambda x: xp.take_along_axis(x, xp.argsort(x), axis=-1), np.sort),
    (lambda x: xp.take(x, np.array([2, 0]), axis=1), lambda x: x[:, [2, 0]]),
    (lambda x: xp.tile(x, (2, 1, 2)), lambda x: np.tile(x, (2, 1, 2))),
    (lambda x: xp.repeat(x, 2, axis=0), lambda x: np.repeat(x, 2, axis=0)),
    (lambda x: xp.diff(x, axis=1, n=2), lambda x: np.diff(x, 2, 1)),
    (lambda x: xp.var(x, axis=0, correction=1.0), lambda x: np.var(x, axis=0, ddof=1)),
    (lambda x: xp.std(x, correction=1, keepdims=True), lambda x: np.std(x, ddof=1, keepdims=True)),
    (lambda x: xp.searchsorted(xp.sort(x[0]), 1.0), lambda x: np.searchsorted(np.sort(x[0]), 1.0)),
    (lambda x: xp.expand_dims(x, axis=1), lambda x: x[:, None]),
    (lambda x: xp.squeeze(x[None], axis=0), lambda x: x),
    (lambda x: xp.astype(x, xp.float32), lambda x: x.astype(np.float32)),
    (lambda x: xp.isin(x, 2.0, invert=True), lambda x: x != 2.0),
    (
        lambda x: xp.meshgrid(x[0], x[1], indexing="ij"),
        lambda x: tuple(np.meshgrid(x[0], x[1], indexing="ij")),
    ),
    (lambda x: xp.broadcast_arrays(x, x[0]), lambda x: (x, np.broadcast_to(x[0], (2, 3)))),
    (lambda x: xp.full_like(x, 2.0, device="cpu"), lambda x: np.full_like(x, 2.0)),
    (lambda x: xp.zeros((2, 3), device="cpu", dtype=None) + x, lambda x: x),
    (lambda x: xp.ones(3, dtype=xp.float32) + x * 0, lambda x: np.ones((2, 3))),
    (lambda x: xp.eye(2, 3, k=1) + x * 0, lambda x: np.eye(2, 3, 1) + x * 0),
    (lambda x: xp.linspace(0.0, 1.0, 3, endpoint=False, device="cpu") + x, lambda x: np.arange(3) / 3 + x),
    (lambda x: xp.arange(0, 3, 1, dtype=xp.float64, device="cpu") * x, lambda x: np.arange(3.0) * x),
    (lambda x: xp.from_dlpack(x, device="cpu", copy=True), lambda x: x),
    (lambda x: xp.count_nonzero(x > 0, axis=1, keepdims=True), lambda x: np.sum(x > 0, 1, keepdims=True)),
]


@pytest.mark.parametrize("k", range(len(CALLS)))
def test_calls_as_the_standard_spells_them(k: int) -> None:
    agrees(*CALLS[k], X)


def test_traced_arrays_have_what_the_standard_asks() -> None:
    def f(x: Any) -> Any:
        namespace = x.__array_namespace__(api_version="2025.12")
        assert namespace is xp
        assert x.device == "cpu"
        assert x.to_device("cpu") is x
        assert (x.ndim, x.shape, x.size, x.dtype) == (2, (2, 3), 6, np.float64)
        assert x.T.shape == x.mT.shape == (3, 2)
        with pytest.raises(ValueError, match="only device"):
            x.to_device("cuda")
        with pytest.raises(ValueError, match="no streams"):
            x.to_device("cpu", stream=1)
        return namespace.sum(x**2)

    np.testing.assert_array_equal(fg.grad(f)(X), 2 * X)


def test_other_devices_are_refused() -> None:
    for make in (xp.zeros, xp.ones, xp.empty, xp.eye, xp.arange, xp.asarray):
        with pytest.raises(ValueError, match="only device"):
            make(3, device="cuda")
