"""`einsum`: every form of its subscripts, types, derivatives, batching, paths and refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad as fg
from funcgrad import numpy as fnp
from funcgrad.errors import DtypeError, ShapeError, TracerAssignmentError, UnsupportedFunctionError

Shape = tuple[int, ...]


def draw(rng: np.random.Generator, shape: Shape, dtype: Any = np.float64) -> Any:
    """Normal values in any dtype; integers from -3 to 3."""
    x = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * rng.standard_normal(shape)
    if np.dtype(dtype).kind == "i":
        x = rng.integers(-3, 4, shape)
    return np.asarray(x > 0 if np.dtype(dtype).kind == "b" else x).astype(dtype)


def recorded(f: Callable[..., Any], *args: Any) -> Any:
    """The result of the recorded Program of `f`."""
    (out,) = fg.make_program(f)(*args)(*args)
    return out


def assert_like_numpy(f: Callable[..., Any], *args: Any) -> None:
    """Recorded, `f` gives the value, shape and dtype that NumPy gives."""
    expected, found = np.asarray(f(*args)), np.asarray(recorded(f, *args))
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(found, expected, rtol=1e-5 if expected.itemsize < 8 else 1e-11, atol=1e-5)


def einsum_of(subscripts: str, **options: Any) -> Callable[..., Any]:
    """`np.einsum` with these subscripts."""

    def f(*operands: Any) -> Any:
        return np.einsum(subscripts, *operands, **options)

    return f


CASES: list[tuple[Any, ...]] = [
    ("ij->ji", (2, 3)),
    ("ij", (2, 3)),
    ("ba", (2, 3)),
    ("ij->", (2, 3)),
    ("ij->j", (2, 3)),
    ("ii", (3, 3)),
    ("ii->i", (3, 3)),
    ("iii->i", (3, 3, 3)),
    ("iij->ji", (3, 3, 2)),
    ("ijij->ij", (2, 3, 2, 3)),
    ("i,i", (3,), (3,)),
    ("i,i->i", (3,), (3,)),
    ("i,j->ij", (3,), (2,)),
    ("i,j->ji", (3,), (2,)),
    ("ij,j->ij", (2, 3), (3,)),
    ("ij,i->ji", (2, 3), (2,)),
    (",ij->ij", (), (2, 3)),
    (",", (), ()),
    ("->", ()),
    ("ij,kl->", (2, 3), (4, 2)),
    ("ij,kl->ik", (2, 3), (4, 2)),
    ("ij,jk", (2, 3), (3, 4)),
    ("ij,jk->ki", (2, 3), (3, 4)),
    ("ji,kj", (2, 3), (4, 2)),
    ("ij,ij->", (2, 3), (2, 3)),
    ("ii,ij->j", (3, 3), (3, 2)),
    ("bij,bjk->bik", (2, 3, 4), (2, 4, 2)),
    ("bij,bjk->ikb", (2, 3, 4), (2, 4, 2)),
    ("bqhd,bkhd->bhqk", (2, 4, 3, 5), (2, 2, 3, 5)),
    ("...ij,...jk->...ik", (2, 3, 4), (4, 2)),
    ("...ij,...jk->...ik", (2, 1, 3, 4), (3, 4, 2)),
    ("...ij,...jk", (2, 3, 4), (2, 4, 2)),
    ("i...,i...", (3, 2), (3, 1)),
    ("i...->...", (2, 3)),
    ("i...j->j...i", (2, 4, 3)),
    ("...", (2, 3)),
    ("...a,...a->...", (2, 3), (3,)),
    ("ij,ij->ij", (1, 3), (2, 1)),
    ("ij,ij->", (1, 3), (2, 1)),
    ("ij,jk", (2, 3), (1, 4)),
    (" i j , j k -> i k ", (2, 3), (3, 4)),
    ("Ab,bA", (2, 3), (3, 2)),
    ("ij,jk->ik", (0, 3), (3, 4)),
    ("ij,jk->ik", (2, 0), (0, 4)),
    ("ij->i", (2, 0)),
    ("i,ij,j", (2,), (2, 3), (3,)),
    ("ij,jk,kl->il", (2, 3), (3, 4), (4, 2)),
    ("ab,bc,ca->", (2, 3), (3, 4), (4, 2)),
    ("ab,bc,ca->abc", (2, 3), (3, 4), (4, 2)),
    ("a,a,a->a", (3,), (3,), (3,)),
    ("a,b,c->cab", (3,), (2,), (4,)),
    ("ij,jk,kl,lm->im", (2, 3), (3, 4), (4, 2), (2, 3)),
    ("...a,ab,...b->...", (2, 3), (3, 2), (2, 2)),
]

every_case = pytest.mark.parametrize(
    "case", CASES, ids=lambda case: " ".join(map(str, case)).replace(" ", "")
)


@every_case
@pytest.mark.parametrize(
    "dtype", [np.float64, np.float32, np.complex64, np.complex128, np.int64, np.int8, bool]
)
def test_values_and_dtypes(case: Any, dtype: Any, rng: np.random.Generator) -> None:
    subscripts, *shapes = case
    assert_like_numpy(einsum_of(subscripts), *[draw(rng, s, dtype) for s in shapes])


@every_case
def test_derivatives(case: Any, rng: np.random.Generator) -> None:
    subscripts, *shapes = case
    fg.testing.check_grads(einsum_of(subscripts), tuple(draw(rng, s) for s in shapes), order=2)


@pytest.mark.parametrize("case", [c for c in CASES if len(c) == 3][::3], ids=str)
def test_complex_derivatives(case: Any, rng: np.random.Generator) -> None:
    subscripts, *shapes = case
    operands = tuple(draw(rng, s, np.complex128) for s in shapes)
    fg.testing.check_grads(einsum_of(subscripts), operands, order=1)


@every_case
def test_vmap_is_a_loop(case: Any, rng: np.random.Generator) -> None:
    subscripts, *shapes = case
    f = einsum_of(subscripts)
    fg.testing.check_vmap(f, tuple(draw(rng, (3, *s)) for s in shapes))
    for k in range(len(shapes)):
        in_axes = tuple(0 if j == k else None for j in range(len(shapes)))
        operands = tuple(draw(rng, (3, *s) if j == k else s) for j, s in enumerate(shapes))
        fg.testing.check_vmap(f, operands, in_axes=in_axes)


LIST_FORMS: list[tuple[list[Any], ...]] = [
    ([[0, 1], [1, 2]], [(2, 3), (3, 4)]),
    ([[0, 1], [1, 2], [2, 0]], [(2, 3), (3, 4)]),
    ([[0, ...], [..., 1], [0, 1, ...]], [(2, 3), (3, 2)]),
    ([[..., 0]], [(2, 3)]),
    ([[], [0]], [(), (2,)]),
    ([[0, 0], [0]], [(3, 3)]),
    ([[30, 2], [2, 30]], [(2, 3), (3, 2)]),
    ([[30, 2], [30, 2]], [(2, 3)]),
]


@pytest.mark.parametrize(("indices", "shapes"), LIST_FORMS, ids=str)
def test_list_form(indices: list[Any], shapes: list[Shape], rng: np.random.Generator) -> None:
    def f(*operands: Any) -> Any:
        pairs = [part for pair in zip(operands, indices[: len(operands)], strict=True) for part in pair]
        return np.einsum(*pairs, *indices[len(operands) :])

    operands = [draw(rng, s) for s in shapes]
    assert_like_numpy(f, *operands)
    fg.testing.check_grads(f, tuple(operands), order=1)


# -- paths ---------------------------------------------------------------------------------------------------


PATHS: list[Any] = [
    False,
    True,
    None,
    "greedy",
    "optimal",
    ("greedy", 1000),
    ["einsum_path", (0, 1), (0, 1)],
    ["einsum_path", (1, 2), (0, 1)],
    ["einsum_path", (0, 2), (0, 1)],
    ["einsum_path", (0, 1, 2)],
]


@pytest.mark.parametrize("optimize", PATHS, ids=str)
def test_every_path_gives_the_same(optimize: Any, rng: np.random.Generator) -> None:
    operands = draw(rng, (2, 9)), draw(rng, (9, 9)), draw(rng, (9, 3))
    found = recorded(einsum_of("ij,jk,kl->il", optimize=optimize), *operands)
    np.testing.assert_allclose(found, operands[0] @ operands[1] @ operands[2], rtol=1e-12)


def test_path_decides_the_order(rng: np.random.Generator) -> None:
    operands = draw(rng, (2, 9)), draw(rng, (9, 9)), draw(rng, (9, 3))

    def first_result(optimize: Any) -> Shape:
        program = fg.make_program(einsum_of("ij,jk,kl->il", optimize=optimize))(*operands)
        return program.equations[0].outputs[0].aval.shape

    assert first_result(["einsum_path", (0, 1), (0, 1)]) == (2, 9)
    assert first_result(["einsum_path", (1, 2), (0, 1)]) == (9, 3)
    assert first_result(False) == (2, 9), "the cheap order without asking for one"


def test_einsum_path_takes_traced_operands(rng: np.random.Generator) -> None:
    x, y = draw(rng, (2, 3)), draw(rng, (3, 4))
    expected = np.einsum_path("ij,jk,kl", x, y, y.T)
    seen = []

    def f(x: Any) -> Any:
        seen.append(np.einsum_path("ij,jk,kl", x, y, y.T))
        path, _ = fnp.einsum_path("ij,jk,kl", x, y, y.T)
        return np.einsum("ij,jk,kl", x, y, y.T, optimize=path)

    np.testing.assert_allclose(recorded(f, x), x @ y @ y.T)
    assert seen == [expected]


# -- options, and what is at the edge ------------------------------------------------------------------------


def test_dtype_and_casting(rng: np.random.Generator) -> None:
    x = draw(rng, (2, 3))
    assert recorded(einsum_of("ij->i", dtype=np.complex128), x).dtype == np.complex128
    assert recorded(einsum_of("ij->i", dtype=np.float32, casting="same_kind"), x).dtype == np.float32
    with pytest.raises(DtypeError, match="cannot be cast to float32 by the rule 'safe'"):
        recorded(einsum_of("ij->i", dtype=np.float32), x)
    with pytest.raises(UnsupportedFunctionError, match="order='F'"):
        recorded(einsum_of("ij->i", order="F"), x)


def test_operands_of_different_dtypes(rng: np.random.Generator) -> None:
    dtypes = (np.float32, np.complex128, np.int64)
    assert_like_numpy(einsum_of("ij,jk,kl"), *[draw(rng, (3, 3), t) for t in dtypes])


def test_lists_and_scalars_are_operands(rng: np.random.Generator) -> None:
    x = draw(rng, (2,))
    assert_like_numpy(lambda x: np.einsum("ij,j", [[1.0, 2.0], [3.0, 4.0]], x), x)
    assert_like_numpy(lambda x: np.einsum(",i", 2.0, x), x)
    gradient = fg.grad(lambda x: fnp.einsum("i,i", [x[0], x[1] ** 2], [3.0, 4.0]))(x)
    np.testing.assert_allclose(gradient, [3.0, 8.0 * x[1]])


def test_diagonal_is_read_not_multiplied() -> None:
    """An infinity beside the diagonal does not reach the sum or its gradient."""
    x = np.array([[1.0, np.inf], [np.nan, 2.0]])
    assert recorded(einsum_of("ii"), x) == 3.0
    np.testing.assert_array_equal(fg.grad(einsum_of("ii"))(x), np.eye(2))


def test_plain_arrays_never_enter_a_trace(rng: np.random.Generator) -> None:
    x = draw(rng, (2, 3))
    out = np.zeros(2)
    assert fnp.einsum("ij->i", x, out=out) is out
    np.testing.assert_array_equal(out, x.sum(1))
    with pytest.raises(TracerAssignmentError, match="out="):
        fg.grad(lambda x: np.sum(np.einsum("ij->i", x, out=out)))(x)


REFUSED: list[tuple[Any, ...]] = [
    ("index 'j' has size 3, and 4 in operand 1", "ij,jk->ik", (2, 3), (4, 5)),
    ("index 'i' stands for sizes 2 and 3 in operand 0", "ii", (2, 3)),
    ("index 'i' stands for sizes 1 and 3 in operand 0", "ii", (1, 3)),
    ("index 'i' is twice in the result", "ij->ii", (2, 3)),
    ("index 'j' of the result is in no operand", "i->j", (2,)),
    ("a second ellipsis or a lone '.'", "i.j", (2, 3)),
    ("'1', which is not a letter", "i1", (2, 2)),
    ("do not fit an operand of 1 axes", "ij", (2,)),
    ("Write ... for axes that have no name", "i", (2, 3)),
    ("names 2 operands, and there are 1", "ij,jk", (2, 3)),
    ("operands have axes behind ..., and the result has no ...", "...i->i", (2, 3)),
    ("an axis behind ... has size 2, and 4 in operand 1", "...i,...i", (2, 3), (4, 3)),
    ("'-', which is not a letter", "i->->j", (2,)),
]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case[1])
def test_refusals_say_what_was_seen(case: Any) -> None:
    words, subscripts, *shapes = case
    operands = [np.ones(s) for s in shapes]
    with pytest.raises(ShapeError) as caught:
        recorded(einsum_of(subscripts), *operands)
    text = str(caught.value)
    assert words in text
    assert "np.einsum(subscripts, *operands, **options)" in text, "the user's line is shown"
    with pytest.raises(ValueError):  # noqa: PT011 - NumPy refuses the same, in words of its own
        np.einsum(subscripts, *operands)


def test_a_path_must_use_every_operand(rng: np.random.Generator) -> None:
    x = draw(rng, (3, 3))
    with pytest.raises(ShapeError, match="leaves 2 operands uncontracted"):
        recorded(einsum_of("ij,jk,kl", optimize=["einsum_path", (0, 1)]), x, x, x)
    for group in ((0, 3), (0,), (0, 0), (-1, 0)):
        with pytest.raises(ShapeError, match="are not two or more of 3 operands"):
            recorded(einsum_of("ij,jk,kl", optimize=["einsum_path", group]), x, x, x)


# -- any subscripts ------------------------------------------------------------------------------------------


@st.composite
def contractions(draw: Any) -> tuple[str, list[Shape]]:
    """Subscripts and shapes that fit them: up to four operands with repeated and size-one indices."""
    sizes = draw(st.fixed_dictionaries({c: st.integers(0, 3) for c in "abcd"}))
    terms, shapes = [], []
    for _ in range(draw(st.integers(1, 4))):
        term = draw(st.text("abcd", max_size=3))
        # A repeated index must have one size; any other may be one and broadcast.
        shape = [1 if term.count(c) == 1 and draw(st.integers(0, 4)) == 0 else sizes[c] for c in term]
        terms.append(term)
        shapes.append(tuple(shape))
    used = sorted(set("".join(terms)))
    out = "".join(draw(st.permutations(draw(st.lists(st.sampled_from(used), unique=True)) if used else [])))
    return f"{','.join(terms)}->{out}", shapes


@given(contractions())
def test_any_subscripts_are_numpys(case: tuple[str, list[Shape]]) -> None:
    subscripts, shapes = case
    rng = np.random.default_rng(0)
    operands = [draw(rng, s) for s in shapes]
    expected = np.einsum(subscripts, *operands)
    found = recorded(einsum_of(subscripts), *operands)
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)
    bar = draw(rng, np.shape(expected))
    _, pullback = fg.vjp(einsum_of(subscripts), *operands)
    dots = [draw(rng, s) for s in shapes]
    _, out_dot = fg.jvp(einsum_of(subscripts), tuple(operands), tuple(dots))
    paired = sum(np.vdot(t, b) for t, b in zip(dots, pullback(bar), strict=True))
    np.testing.assert_allclose(np.vdot(out_dot, bar), paired, rtol=1e-9, atol=1e-9)


@pytest.mark.peers("jax")
def test_gradients_are_those_of_jax(rng: np.random.Generator) -> None:
    import jax
    import jax.numpy as jnp

    for subscripts, *shapes in CASES[25:36:2]:
        operands = [draw(rng, s, np.complex128) for s in shapes]
        argnums = tuple(range(len(shapes)))
        expected = jax.grad(lambda *x, s=subscripts: jnp.sum(jnp.abs(jnp.einsum(s, *x)) ** 2), argnums)(
            *operands
        )
        found = fg.grad(
            lambda *x, s=subscripts: np.sum((z := np.einsum(s, *x)).real ** 2 + z.imag**2), argnums
        )(*operands)
        for ours, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(ours, np.asarray(theirs), rtol=1e-10, atol=1e-10, err_msg=subscripts)
