"""The differences that `docs/howto/from-jax.md` states, run against JAX."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.errors import ConcretizationError, TracedBranchError

pytestmark = [pytest.mark.peers("jax"), pytest.mark.filterwarnings("ignore")]

ROWS: dict[str, Callable[[], None]] = {}


def row(title: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    def register(check: Callable[[], None]) -> Callable[[], None]:
        ROWS[title] = check
        return check

    return register


def test_every_row_is_run(table):
    assert [cells[0] for cells in table("howto/from-jax.md", "Differences")] == list(ROWS)


@row("`np.sin(x)` of NumPy's own module in a traced function")
def plain_numpy():
    import jax

    with pytest.raises(TypeError):
        jax.grad(np.sin)(1.0)
    assert fg.grad(np.sin)(1.0) == np.cos(1.0)


@row("float64 arguments")
def double_precision():
    import jax
    import jax.numpy as jnp

    with jax.enable_x64(False):
        assert jax.grad(lambda x: jnp.sum(x**2))(np.ones(2)).dtype == np.float32
    assert fg.grad(lambda x: np.sum(x**2))(np.ones(2)).dtype == np.float64


@row("results")
def results():
    import jax

    assert isinstance(jax.jit(lambda x: x * 2.0)(np.ones(2)), jax.Array)
    assert type(fg.jit(lambda x: x * 2.0)(np.ones(2))) is np.ndarray
    assert isinstance(fg.grad(lambda x: x * 2.0)(1.0), np.float64)


@row("`x[0] = 1.0`")
def assignment():
    import jax
    import jax.numpy as jnp

    def f(x):
        y = 2.0 * x
        y[0] = 1.0
        return y.sum()

    with pytest.raises(TypeError):
        jax.grad(f)(jnp.ones(3))
    np.testing.assert_array_equal(fg.grad(f)(np.ones(3)), [0.0, 2.0, 2.0])
    np.testing.assert_array_equal(fg.grad(lambda x: x.at[0].set(1.0).sum())(np.ones(3)), [0.0, 1.0, 1.0])


@row("an index that is out of bounds")
def out_of_bounds():
    import jax
    import jax.numpy as jnp

    np.testing.assert_array_equal(jax.grad(lambda x: x[7])(jnp.ones(3)), [0.0, 0.0, 1.0])
    with pytest.raises(IndexError):
        fg.grad(lambda x: x[7])(np.ones(3))


@row("lists in place of arrays: `sum([1.0, 2.0])`")
def lists():
    import jax.numpy as jnp

    with pytest.raises(TypeError):
        jnp.sum([1.0, 2.0])
    assert fg.numpy.sum([1.0, 2.0]) == 3.0


@row("reverse mode through `while_loop`")
def reversed_while():
    import jax

    def doubled(while_loop):
        return lambda x: while_loop(lambda s: s < 10.0, lambda s: 2.0 * s, x)

    with pytest.raises(ValueError, match="Reverse-mode"):
        jax.grad(doubled(jax.lax.while_loop))(1.0)
    assert fg.grad(doubled(fg.while_loop))(1.0) == 16.0


@row("`float(x)` in an un-jitted `grad`")
def values():
    import jax

    with pytest.raises(TypeError):
        jax.grad(lambda x: float(x) * x)(3.0)
    with pytest.raises(ConcretizationError):
        fg.grad(lambda x: float(x) * x)(3.0)
    assert fg.grad(lambda x: float(fg.stop_gradient(x)) * x)(3.0) == 3.0


@row("another batch size in `jit`")
def batch_sizes():
    import jax
    import jax.numpy as jnp

    theirs, ours = jax.jit(lambda x: jnp.sum(jnp.sin(x))), fg.jit(lambda x: np.sum(np.sin(x)))
    for size in (100, 200):
        np.testing.assert_allclose(theirs(np.ones(size)), ours(np.ones(size)))
    assert theirs._cache_size() == 2
    assert str(ours.kernel_source(np.ones(100))) == str(ours.kernel_source(np.ones(200)))


@row("`norm(x)` at 0")
def norm_at_zero():
    import jax
    import jax.numpy as jnp

    assert np.isnan(jax.grad(jnp.linalg.norm)(jnp.zeros(2))).all()
    np.testing.assert_array_equal(fg.grad(np.linalg.norm)(np.zeros(2)), 0.0)


@row("`where(x > 0, sqrt(x), 0.0)` at 0")
def branch_not_taken():
    import jax
    import jax.numpy as jnp

    assert np.isnan(jax.grad(lambda x: jnp.where(x > 0, jnp.sqrt(x), 0.0))(0.0))
    assert fg.grad(lambda x: np.where(x > 0, np.sqrt(x), 0.0))(0.0) == 0.0


@row("`abs(x)` and `hypot(x, x)` at 0")
def sizes_at_zero():
    import jax
    import jax.numpy as jnp

    assert jax.grad(jnp.abs)(0.0) == jax.grad(lambda x: jnp.hypot(x, x))(0.0) == 1.0
    assert fg.grad(np.abs)(0.0) == fg.grad(lambda x: np.hypot(x, x))(0.0) == 0.0


@row("`clip(x, 0, 1)` at 0")
def clip_at_a_bound():
    import jax
    import jax.numpy as jnp

    assert jax.grad(lambda x: jnp.clip(x, 0.0, 1.0))(0.0) == 0.5
    assert fg.grad(lambda x: np.clip(x, 0.0, 1.0))(0.0) == 1.0


@row("functions of `eigh` with repeated eigenvalues")
def repeated_eigenvalues():
    import jax
    import jax.numpy as jnp

    def squared(xp):
        def f(a):
            w, v = xp.linalg.eigh(a)
            return xp.sum((v * w**2) @ v.T)

        return f

    assert np.isnan(jax.grad(squared(jnp))(jnp.eye(2))).any()
    # By the triangle that is read: both elements off the diagonal count there.
    np.testing.assert_allclose(fg.grad(squared(np))(np.eye(2)), [[2.0, 0.0], [4.0, 2.0]])


@row("eigenvectors of general matrices")
def general_eigenvectors():
    import jax
    import jax.numpy as jnp

    def sizes(xp):
        return lambda a: xp.sum(xp.abs(xp.linalg.eig(a)[1]))

    a = np.array([[2.0, 1.0], [0.5, 1.0]])
    with pytest.raises(NotImplementedError):
        jax.grad(sizes(jnp))(a)
    fg.testing.check_grads(sizes(np), (a,), order=1)


@row("keys")
def keys():
    import jax

    assert jax.random.key(0).shape == ()
    assert jax.random.PRNGKey(0).dtype == np.uint32
    assert fg.random.key(0).dtype == np.uint64
    assert fg.random.key(0).shape == (2,)
    assert float(jax.random.uniform(jax.random.key(0))) != float(fg.random.uniform(fg.random.key(0)))


@row("`vmap` with `axis_name`")
def collectives():
    import jax

    total = jax.vmap(lambda x: jax.lax.psum(x, "i"), axis_name="i")(np.ones(2))
    np.testing.assert_array_equal(total, 2.0)
    with pytest.raises(NotImplementedError, match="axis_name"):
        fg.vmap(lambda x: x, axis_name="i")(np.ones(2))


@pytest.mark.parametrize("title", ROWS)
def test_the_difference(title):
    ROWS[title]()


def test_what_is_said_to_be_the_same():
    import jax
    import jax.numpy as jnp

    def compare(theirs, ours, x):
        np.testing.assert_allclose(jax.grad(theirs)(x), fg.grad(ours)(x))

    compare(lambda z: jnp.abs(z) ** 2, lambda z: np.abs(z) ** 2, 1.0 + 2.0j)
    compare(jnp.max, np.max, np.ones(2))
    compare(lambda x: jnp.maximum(x, 1.0), lambda x: np.maximum(x, 1.0), 1.0)
    compare(lambda x: x if x > 0 else -x, lambda x: x if x > 0 else -x, -2.0)
    for module in (jax, fg):
        assert module.grad(lambda x, *, y: x * y)(2.0, y=3.0) == 3.0
        assert module.grad(lambda x: (x * x, "aux"), has_aux=True)(2.0)[1] == "aux"
        with pytest.raises(TypeError):
            module.grad(lambda x: x * 2.0)(3)
        product = module.custom_vjp(lambda x, y: x * y)
        product.defvjp(lambda x, y: (x * y, y), lambda y, bar: (bar * y, None))
        assert module.grad(product, (0, 1))(2.0, 3.0) == (3.0, 0.0)
    with pytest.raises(TracedBranchError):
        fg.jit(lambda x: x if x > 0 else -x, control_flow=False)(1.0)


def test_errors_are_caught_under_their_names_in_jax():
    kept = []
    fg.jit(lambda x: kept.append(x) or x)(1.0)
    with pytest.raises(fg.errors.UnexpectedTracerError):
        kept[0] + 1.0
    with pytest.raises(fg.errors.ConcretizationTypeError):
        fg.grad(float)(1.0)
    with pytest.raises(fg.errors.TracerBoolConversionError):
        fg.make_program(lambda x: 1.0 if x > 0 else x)(1.0)
    assert issubclass(fg.errors.TracerBoolConversionError, TypeError)
    with pytest.raises(AttributeError, match="Did you mean 'ConcretizationTypeError'"):
        fg.errors.ConcretisationTypeError  # noqa: B018 - the question is the test
