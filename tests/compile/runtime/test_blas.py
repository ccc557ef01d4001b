"""Routines of BLAS and LAPACK called from compiled code."""

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from funcgrad.compile.engines.build import build
from funcgrad.compile.runtime.addresses import blas
from funcgrad.compile.runtime.callers.call_layout import CallLayout, Input, Output
from funcgrad.compile.runtime.callers.caller import make_caller

ROWS, PLAIN, TRANSPOSED, CONJUGATED = 101, 111, 112, 113
UPPER, LOWER, NOT_UNIT, LEFT = 121, 122, 131, 141
KINDS = {
    "s": ("f32", np.float32),
    "d": ("f64", np.float64),
    "c": ("c64", np.complex64),
    "z": ("c128", np.complex128),
}


@pytest.fixture
def call():
    """``call(body, letter, routine, *arrays)``: run a kernel over ``x0, x1, …``; the arrays after it."""
    if not blas.integer_type():
        pytest.skip("no CBLAS here")

    def run(body, letter, found, *arrays):
        assert found is not None
        storage, dtype = KINDS[letter]
        lines = [f"    x{k} = as_{storage}(p[{k}])" for k in range(len(arrays))]
        lines += [f"    {line}" for line in body.splitlines()]
        source = "def run(p, n):\n" + "\n".join(lines)
        loaded = build(source, ["run"]).load()
        copies = [np.array(array, dtype) for array in arrays]
        inputs = tuple(Input(k, array.dtype, array.shape) for k, array in enumerate(copies))
        layout = CallLayout(inputs, (Output(len(copies), np.dtype(float)),), sizes=(found.address,))
        assert make_caller(loaded.addresses["run"], layout, loaded)(*copies) is not NotImplemented
        return copies

    return run


def matrix(rng, rows, columns, letter):
    real = rng.normal(size=(rows, columns))
    values = real + 1j * rng.normal(size=(rows, columns)) if letter in "cz" else real
    return values.astype(KINDS[letter][1])


def factors(letter):
    """The texts of one and zero, and the statements that they need."""
    if letter in "cz":
        storage = KINDS[letter][0]
        return (
            f"one = stack_{storage}(1)\none[0] = 1.0\nzero = stack_{storage}(1)\nzero[0] = 0.0\n",
            "one",
            "zero",
        )
    return "", f"{KINDS[letter][1].__name__}(1.0)", f"{KINDS[letter][1].__name__}(0.0)"


def close(found, expected, letter):
    np.testing.assert_allclose(found, expected, rtol=1e-4 if letter in "sc" else 1e-12)


@pytest.mark.parametrize("letter", KINDS)
def test_products_of_matrices(call, rng, letter):
    a, b = matrix(rng, 3, 4, letter), matrix(rng, 4, 5, letter)
    before, one, zero = factors(letter)
    body = f"{before}{letter}gemm(n[0], 101, 111, 111, 3, 5, 4, {one}, x0, 4, x1, 5, {zero}, x2, 5)"
    close(call(body, letter, blas.routine(f"{letter}gemm"), a, b, np.zeros((3, 5)))[2], a @ b, letter)


@pytest.mark.parametrize("letter", KINDS)
def test_products_of_a_matrix_and_a_vector(call, rng, letter):
    a, x = matrix(rng, 3, 4, letter), matrix(rng, 3, 1, letter)[:, 0]
    before, one, zero = factors(letter)
    body = f"{before}{letter}gemv(n[0], 101, 112, 3, 4, {one}, x0, 4, x1, 1, {zero}, x2, 1)"
    close(call(body, letter, blas.routine(f"{letter}gemv"), a, x, np.zeros(4))[2], x @ a, letter)


@pytest.mark.parametrize("letter", "sd")
def test_symmetric_products_and_dot_and_axpy(call, rng, letter):
    a = matrix(rng, 3, 4, letter)
    one = factors(letter)[1]
    body = f"{letter}syrk(n[0], 101, 122, 111, 3, 4, {one}, x0, 4, {one}, x1, 3)"
    found = call(body, letter, blas.routine(f"{letter}syrk"), a, np.zeros((3, 3)))[1]
    close(found, np.tril(a @ a.T), letter)
    x, y = a[0], a[1]
    body = f"x2[0] = {letter}dot(n[0], 4, x0, 1, x1, 1)"
    close(call(body, letter, blas.routine(f"{letter}dot"), x, y, np.zeros(1))[2], [x @ y], letter)
    body = f"{letter}axpy(n[0], 4, {one}, x0, 1, x1, 1)"
    close(call(body, letter, blas.routine(f"{letter}axpy"), x, y)[1], x + y, letter)


@pytest.mark.parametrize("letter", KINDS)
def test_triangular_systems(call, rng, letter):
    a = np.tril(matrix(rng, 3, 3, letter)) + 4 * np.eye(3)
    b = matrix(rng, 3, 2, letter)
    before, one, _ = factors(letter)
    body = f"{before}{letter}trsm(n[0], 101, 141, 122, 111, 131, 3, 2, {one}, x0, 3, x1, 2)"
    close(call(body, letter, blas.routine(f"{letter}trsm"), a, b)[1], np.linalg.solve(a, b), letter)


# The upper triangle by columns is the lower one by rows.
POTRF = """
letters = stack_u8(1)
letters[0] = 85
whole = stack_i64(2)
whole[0] = 3
whole[1] = 0
{}potrf(n[0], letters, whole, x0, whole, shifted(whole, 1))
x1[0] = whole[1]
"""


@pytest.mark.parametrize("letter", KINDS)
def test_cholesky_factors(call, rng, letter):
    root = matrix(rng, 3, 3, letter)
    a = root @ root.conj().T + 3 * np.eye(3)
    found, failed = call(POTRF.format(letter), letter, blas.lapack_routine(f"{letter}potrf"), a, np.zeros(1))
    close(np.tril(found), np.linalg.cholesky(a), letter)
    assert failed[0] == 0
    _, failed = call(POTRF.format(letter), letter, blas.lapack_routine(f"{letter}potrf"), -a, np.zeros(1))
    assert failed[0] == 1


GETRS = """
letters = stack_u8(1)
letters[0] = 84
pivots = stack_i64(3)
whole = stack_i64(3)
whole[0] = 3
whole[1] = 1
whole[2] = 0
{0}getrf(n[0], whole, whole, x0, whole, pivots, shifted(whole, 2))
{0}getrs(n[1], letters, whole, shifted(whole, 1), x0, whole, pivots, x1, whole, shifted(whole, 2))
"""


def test_linear_systems(rng):
    if not blas.integer_type():
        pytest.skip("no CBLAS here")
    a, b = rng.normal(size=(3, 3)), rng.normal(size=3)
    source = "def run(p, n):\n    x0 = as_f64(p[0])\n    x1 = as_f64(p[1])\n"
    source += "\n".join("    " + line for line in GETRS.format("d").splitlines())
    loaded = build(source, ["run"]).load()
    found = [blas.lapack_routine(name) for name in ("dgetrf", "dgetrs")]
    layout = CallLayout(
        (Input(0, a.dtype, (3, 3)), Input(1, a.dtype, (3,))), (), sizes=tuple(item.address for item in found)
    )
    x = b.copy()
    make_caller(loaded.addresses["run"], layout, loaded)(a.copy(), x)
    np.testing.assert_allclose(x, np.linalg.solve(a, b))


def test_numpys_own_library_is_found_without_scipy():
    script = (
        "import sys; from funcgrad.compile.runtime.addresses.blas import routine, lapack_routine;"
        "print(routine('dgemm') is None or 'scipy' not in sys.modules, lapack_routine('dpotrf') is not None)"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert out.split()[0] == "True"


def test_scipys_library_is_asked_where_numpys_has_no_such_name(monkeypatch):
    monkeypatch.setattr(blas, "_numpy_libraries", lambda: ())
    blas.routine.cache_clear()
    try:
        found = blas.routine("dgemm")
        assert found is None or found.integer in ("i32", "i64")
    finally:
        monkeypatch.undo()
        blas.routine.cache_clear()


def test_the_threads_of_blas_can_be_counted_and_set():
    before = blas.blas_threads()
    if before is None:
        pytest.skip("not an OpenBLAS")
    blas.set_blas_threads(1)
    try:
        assert blas.blas_threads() == 1
    finally:
        blas.set_blas_threads(before)


def test_there_is_no_routine_of_another_name():
    assert blas.routine("xgemm") is None
    assert blas.lapack_routine("xpotrf") is None


def test_where_numpy_has_its_modules_by_other_names_scipy_is_asked(monkeypatch):
    blas._numpy_libraries.cache_clear()
    monkeypatch.setattr(blas, "sys", SimpleNamespace(modules={}, platform=sys.platform))
    try:
        assert blas._numpy_libraries() == ()
        found = blas.routine.__wrapped__("dgemm")
        assert found is not None
        assert found.address
    finally:
        blas._numpy_libraries.cache_clear()
