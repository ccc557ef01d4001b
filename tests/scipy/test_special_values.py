"""Every function of ``fg.scipy.special``: SciPy's values and dtypes, calling conventions, refusals, peers."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
import scipy.special
from lawbook.agreement import assert_agrees

import funcgrad as fg
from funcgrad.errors import NotDifferentiableError
from funcgrad.ops.specials.table import TABLE
from funcgrad.scipy import special

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

UFUNCS = [n for n in special.__all__ if isinstance(getattr(scipy.special, n), np.ufunc)]
WHOLE = {
    "jn",
    "eval_hermite",
    "eval_hermitenorm",
    "lambertw",
    *(n for n in TABLE if n.startswith("spherical")),
}
"""Functions whose orders SciPy wants to be whole numbers, and another name for one of them."""
ORDERS = {
    name: sum(isinstance(partial, str) for partial in entry.partials)
    for name, entry in TABLE.items()
    if any(isinstance(partial, str) for partial in entry.partials) and name not in WHOLE
    if name in special.__all__
}
"""Functions with arguments by which there is no derivative."""


def arguments(name: str, dtype: Any) -> list[Any]:
    """Numbers between 0.1 and 0.9, and whole ones for orders and degrees; the edges among the last."""
    nin = getattr(scipy.special, name).nin
    x = np.array([0.1, 0.5, 0.9, 0.0, 1.0, -0.5, 2.5, np.inf, np.nan]).astype(dtype)
    first = [np.array([0.7, 1.5, 2.0, 1.0, 1.0, 2.0, 0.5, 2.0, 1.0]).astype(dtype) for _ in range(nin - 1)]
    if name.startswith(("eval_", "expn", "kn", "yn", "pdtr", "bdtr")):
        first[0] = np.array([0, 1, 2, 3, 1, 2, 0, 1, 2])
    if name.startswith("bdtr"):
        first[1] = first[0] + 3
    if name.startswith("hyp"):
        x[-2:] = 0  # SciPy does not return from very large numbers
    return [*first, x]


@pytest.mark.parametrize("name", UFUNCS)
def test_values_are_scipys(name: str) -> None:
    ours, theirs = getattr(special, name), getattr(scipy.special, name)
    for dtype in (np.float64, np.float32, np.int64, np.float16):
        with np.errstate(all="ignore"):
            values = arguments(name, dtype)
        if name == "wofz" and dtype in (np.int64, np.float16):
            continue
        assert_agrees(theirs, *values, what=f"{name} {dtype}")
        assert_agrees(theirs, *values, ours=ours, what=f"{name} {dtype}")
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(ours(*values), theirs(*values))
    # Numbers beside an array, as they are usually written.
    *first, x = arguments(name, np.float32)
    numbers = [v[0].item() for v in first]
    assert_agrees(lambda t: theirs(*numbers, t), x, what=name)


@pytest.mark.parametrize("name", UFUNCS)
def test_each_is_documented_and_takes_what_ufuncs_take(name: str) -> None:
    # Not `where=`: SciPy 1.17's loops write beyond the array there.
    ours, theirs = getattr(special, name), getattr(scipy.special, name)
    assert f"fg.scipy.special.{name}(" in inspect.getdoc(ours) or name in ("psi", "digamma")
    if getattr(scipy.special, name).nout > 1:
        return
    values = [x[:3] for x in arguments(name, np.float64)]
    out = np.zeros(3, theirs(*values).dtype)
    assert ours(*values, out) is out
    np.testing.assert_array_equal(out, theirs(*values))


@pytest.mark.parametrize("name", [n for n in UFUNCS if n not in ("ellipj", "wofz")])
def test_batches_are_loops(name: str) -> None:
    f = getattr(scipy.special, name)
    *first, x = [v[:6].reshape(2, 3) for v in arguments(name, np.float64)]
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(fg.vmap(f)(*first, x), f(*first, x), rtol=1e-14)
        row = [v[0] for v in first]
        mapped = fg.vmap(f, in_axes=(*[None] * len(first), 0))
        np.testing.assert_allclose(mapped(*row, x), f(*row, x), rtol=1e-14)


@pytest.mark.parametrize("name", ORDERS)
def test_derivatives_by_orders_are_refused_by_name(name: str) -> None:
    """Never a silent zero; by the other arguments there are derivatives."""
    entry = TABLE[name]
    f = lambda *args: np.real(getattr(scipy.special, name)(*args))  # noqa: E731
    point = [1.5, 0.5, 0.25, 0.5][: len(entry.partials)]
    for i, partial in enumerate(entry.partials):
        if not isinstance(partial, str):
            continue
        with pytest.raises(NotDifferentiableError) as caught:
            fg.grad(f, argnums=i)(*point)
        assert f"{name} has no derivative by its" in str(caught.value)
        assert partial in str(caught.value)
        assert "test_special_values.py" in str(caught.value)


def test_a_scaled_function_that_is_not_holomorphic_says_so() -> None:
    with pytest.raises(NotDifferentiableError, match="ive of complex numbers is not holomorphic"):
        fg.grad(lambda z: scipy.special.ive(0.5, z), holomorphic=True)(1.0 + 1j)


def test_programs_with_special_functions_are_read_back() -> None:
    program = fg.make_program(fg.grad(lambda a: scipy.special.betainc(a, 2.0, 0.3)))(1.5)
    assert fg.parse(str(program)) == program
    scope: dict[str, Any] = {}
    exec(program.to_numpy_source(), scope)
    assert scope[program.name](np.float64(1.5)) == program(1.5)[0]


@pytest.mark.parametrize("name", ["zeta", "comb", "multigammaln", "spherical_jn", "lambertw", "sinc"])
def test_functions_that_are_no_ufuncs(name: str) -> None:
    ours, theirs = getattr(special, name), getattr(scipy.special, name)
    first = {"spherical_jn": [2], "comb": [4.0]}.get(name, [])
    last = {"multigammaln": [3], "zeta": [1.5], "lambertw": [0]}.get(name, [])
    for dtype in (np.float64, np.float32):
        x = np.array([1.5, 2.5], dtype)
        np.testing.assert_array_equal(ours(*first, x, *last), theirs(*first, x, *last))
        (found,) = fg.make_program(lambda t: ours(*first, t, *last))(x)(x)
        np.testing.assert_allclose(
            found, theirs(*first, x, *last), rtol=1e-6 if dtype == np.float32 else 1e-13
        )


# -- peers -------------------------------------------------------------------------------------------------

JAX = {
    **dict.fromkeys(
        ["gammaln", "digamma", "gamma", "erf", "erfc", "log_ndtr", "ndtr", "i0", "i0e", "i1", "i1e"], 1
    ),
    **dict.fromkeys(["expit", "logit", "entr", "ndtri", "erfinv", "expi", "exp1", "spence"], 1),
    **dict.fromkeys(["xlogy", "xlog1py", "rel_entr", "kl_div", "betaln", "beta", "gammainc", "gammaincc"], 2),
}
TORCH = {
    **dict.fromkeys(
        ["gammaln", "digamma", "erf", "erfc", "erfcx", "erfinv", "expit", "logit", "log_ndtr"], 1
    ),
    **dict.fromkeys(["ndtr", "ndtri", "i0", "i0e", "i1", "i1e", "entr", "exp2", "expm1", "log1p"], 1),
    **dict.fromkeys(["xlogy", "xlog1py"], 2),
}
POINTS = (np.array([0.2, 0.5, 0.8]), np.array([0.3, 0.4, 0.9]))


@pytest.mark.peers("jax")
@pytest.mark.parametrize("name", JAX)
def test_gradients_are_those_of_jax(name: str) -> None:
    import jax
    import jax.scipy.special as theirs

    jax.config.update("jax_enable_x64", True)
    values = POINTS[: JAX[name]]
    argnums = tuple(range(len(values)))
    ours = fg.grad(lambda *a: getattr(scipy.special, name)(*a).sum(), argnums)(*values)
    wanted = jax.grad(lambda *a: getattr(theirs, name)(*a).sum(), argnums)(*values)
    for x, y in zip(ours, wanted, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-12)


@pytest.mark.peers("torch")
@pytest.mark.parametrize("name", TORCH)
def test_gradients_are_those_of_torch(name: str) -> None:
    import torch

    values = POINTS[: TORCH[name]]
    ours = fg.grad(lambda *a: getattr(scipy.special, name)(*a).sum(), tuple(range(len(values))))(*values)
    leaves = [torch.from_numpy(v).requires_grad_() for v in values]
    getattr(torch.special, name)(*leaves).sum().backward()
    for x, leaf in zip(ours, leaves, strict=True):
        np.testing.assert_allclose(x, leaf.grad.numpy(), rtol=1e-9, atol=1e-12)
