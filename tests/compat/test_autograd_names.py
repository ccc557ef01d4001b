"""Programs written for autograd, with the import changed: operators, containers, primitives, conveniences."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as onp  # noqa: ICN001 - np is the module that is tested
import pytest
import scipy.special

import funcgrad as fg
import funcgrad.compat.autograd.numpy as np
import funcgrad.compat.autograd.scipy.special as special
from funcgrad.compat import autograd as ag
from funcgrad.compat.autograd.core import make_jvp, primitive_vjps
from funcgrad.compat.autograd.extend import Box, defjvp, defvjp, defvjp_argnum, primitive, vspace
from funcgrad.compat.autograd.misc import const_graph, flatten
from funcgrad.compat.autograd.misc.fixed_points import fixed_point
from funcgrad.compat.autograd.misc.optimizers import adam, rmsprop, sgd
from funcgrad.compat.autograd.numpy.numpy_boxes import ArrayBox
from funcgrad.compat.autograd.numpy.numpy_vjps import unbroadcast_f
from funcgrad.compat.autograd.overriding import _REPLACED
from funcgrad.compat.autograd.scipy.signal import convolve
from funcgrad.compat.autograd.scipy.stats import norm
from funcgrad.compat.autograd.test_util import check_grads, combo_check
from funcgrad.compat.autograd.tracer import getval, isbox

X = onp.array([0.5, -1.0, 2.0])

imported = sys.modules["a_package_of_users"] = ModuleType("a_package_of_users")


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_gradients_of_results_of_size_one(shape: tuple[int, ...]) -> None:
    onp.testing.assert_allclose(ag.grad(lambda x: np.reshape(np.sum(x**2), shape))(X), 2 * X)


def test_gradients_by_several_arguments_and_containers() -> None:
    def f(a: Any, b: Any, scale: float = 1.0) -> Any:
        return scale * np.sum(a["w"] * b[0]) + b[1]

    a, b = {"w": X}, (onp.ones(3), 2.0)
    by_a, by_b = ag.grad(f, (0, 1))(a, b, scale=3.0)
    onp.testing.assert_allclose(by_a["w"], 3.0)
    onp.testing.assert_allclose(by_b[0], 3.0 * X)
    assert by_b[1] == 1.0
    value, gradient = ag.value_and_grad(f)(a, b)
    assert value == f(a, b)
    assert list(gradient) == ["w"]
    assert set(ag.multigrad_dict(f)(a, b)) == {"a", "b", "scale"}
    assert ag.grad_named(f, "b")(a, b)[1] == 1.0


def test_operators() -> None:
    onp.testing.assert_allclose(ag.elementwise_grad(np.sin)(X), onp.cos(X))
    onp.testing.assert_allclose(ag.deriv(np.sin)(X), onp.cos(X))
    onp.testing.assert_allclose(ag.jacobian(lambda x: np.outer(x, x))(X).shape, (3, 3, 3))
    onp.testing.assert_allclose(ag.hessian(lambda x: np.sum(x**3))(X), onp.diag(6 * X))
    onp.testing.assert_allclose(ag.hessian_vector_product(lambda x: np.sum(x**3))(X, onp.ones(3)), 6 * X)
    onp.testing.assert_allclose(ag.vector_jacobian_product(np.sin)(X, onp.ones(3)), onp.cos(X))
    assert ag.holomorphic_grad(lambda z: z**2)(1 + 2j) == 2 + 4j
    value, tangent = ag.make_jvp(np.sin)(1.0)(2.0)
    onp.testing.assert_allclose([value, tangent], [onp.sin(1.0), 2 * onp.cos(1.0)])
    vjp, value = ag.make_vjp(np.sin)(X)
    onp.testing.assert_allclose(vjp(onp.ones(3)), onp.cos(X))
    hvp, gradient = ag.make_hvp(lambda x: np.sum(x**3))(X)
    onp.testing.assert_allclose(hvp(onp.ones(3)), 6 * X)
    onp.testing.assert_allclose(gradient, 3 * X**2)
    gradient, aux = ag.grad_and_aux(lambda x: (np.sum(x**2), x))(X)
    onp.testing.assert_allclose(gradient, 2 * X)
    onp.testing.assert_allclose(aux, X)
    onp.testing.assert_allclose(ag.make_ggnvp(np.sin)(X)(onp.ones(3)), onp.cos(X) ** 2)


@pytest.mark.parametrize("fun", [lambda x: x, lambda x: np.allclose(x, x), lambda x: 1j * np.sum(x)])
def test_gradients_need_one_real_number(fun: Any) -> None:
    with pytest.raises(TypeError):
        ag.grad(fun)(X)


def test_integers_are_no_place_to_differentiate_at() -> None:
    with pytest.raises(TypeError, match="Can't differentiate w\\.r\\.t\\. type"):
        ag.grad(lambda x: x**2)(3)
    onp.testing.assert_allclose(ag.grad(lambda x: np.sum(x**2))(onp.arange(3)), [0.0, 2.0, 4.0])


def test_what_does_not_depend_on_its_argument_warns() -> None:
    with pytest.warns(UserWarning, match="Output seems independent of input"):
        assert ag.grad(lambda x: 1.0)(2.0) == 0.0


# -- boxes ---------------------------------------------------------------------------------------------------


def test_boxes_are_seen_and_seen_through() -> None:
    seen: list[Any] = []

    def f(x: Any) -> Any:
        seen.extend([isinstance(x, ArrayBox), isinstance(x, Box), isbox(x), ag.isinstance(x, float)])
        seen.extend([ag.type(x), getval(x), float(getval(x))])
        return x**2

    ag.grad(f)(3.0)
    assert seen == [True, True, True, True, onp.float64, 3.0, 3.0]
    assert not isinstance(3.0, ArrayBox)


# -- primitives ----------------------------------------------------------------------------------------------


@primitive
def logsumexp(x: Any) -> Any:
    largest = onp.max(x)
    return largest + onp.log(onp.sum(onp.exp(x - largest)))


defvjp(logsumexp, lambda ans, x: lambda g: np.full(x.shape, g) * np.exp(x - np.full(x.shape, ans)))


def test_a_primitive_sees_values_and_has_derivatives_of_every_order() -> None:
    share = onp.exp(X) / onp.sum(onp.exp(X))
    onp.testing.assert_allclose(ag.grad(logsumexp)(X), share)
    onp.testing.assert_allclose(ag.hessian(logsumexp)(X), onp.diag(share) - onp.outer(share, share))
    check_grads(logsumexp, modes=["rev"], order=3)(X)
    rule = primitive_vjps.pop(logsumexp)
    with pytest.raises(NotImplementedError, match="logsumexp"):
        ag.grad(logsumexp)(X)
    assert primitive_vjps.pop(onp.iscomplex, None) is None
    primitive_vjps[logsumexp] = rule
    onp.testing.assert_allclose(ag.grad(logsumexp)(X), share)


def test_a_backward_rule_runs_on_values() -> None:
    @primitive
    def f(x: Any) -> Any:
        return scipy.special.gammaln(x)

    def rule(ans: Any, x: Any) -> Any:
        # Branches, conversions and functions that trace nothing.
        digamma = scipy.special.psi(float(x)) if float(x) > 0 else onp.nan
        return lambda g: float(g) * digamma

    defvjp(f, rule)
    onp.testing.assert_allclose(ag.grad(lambda x: 2.0 * f(x * x))(1.5), 6.0 * scipy.special.psi(2.25))


def test_a_primitive_is_called_once_for_value_and_gradient() -> None:
    calls: list[float] = []

    @primitive
    def f(x: Any) -> Any:
        calls.append(float(x))
        return x**2

    defvjp(f, lambda ans, x: lambda g: 2.0 * x * g)
    assert ag.value_and_grad(f)(3.0) == (9.0, 6.0)
    assert calls == [3.0]


def test_rules_are_asked_for_boxes_only() -> None:
    @primitive
    def scaled(x: Any, y: Any, mode: str = "times", data: Any = None) -> Any:
        return x * y if mode == "times" else x + y

    defvjp(scaled, lambda ans, x, y, **_: lambda g: g * y)
    assert ag.grad(scaled)(2.0, 3.0) == 3.0
    with pytest.raises(NotImplementedError, match="VJP of scaled wrt argnum 1 not defined"):
        ag.grad(scaled, 1)(2.0, 3.0)


def test_forward_rules() -> None:
    @primitive
    def square(x: Any) -> Any:
        return x**2

    defjvp(square, lambda g, ans, x: 2.0 * x * g)
    assert ag.make_jvp(square)(3.0)(1.0) == (9.0, 6.0)
    defvjp(square, lambda ans, x: lambda g: 2.0 * x * g)
    check_grads(square, order=3)(1.3)


def test_rules_by_number_and_without_a_derivative() -> None:
    @primitive
    def joined(*parts: Any) -> Any:
        return onp.concatenate(parts)

    def rule(argnum: int, ans: Any, args: Any, kwargs: Any) -> Any:
        start = sum(len(x) for x in args[:argnum])
        return lambda g: g[start : start + len(args[argnum])]

    defvjp_argnum(joined, rule)
    check_grads(joined, (0, 1), modes=["rev"])(X, onp.ones(2))

    @primitive
    def first(x: Any, y: Any) -> Any:
        return 1.0 * x

    defvjp(first, lambda ans, x, y: lambda g: g, None)
    assert ag.grad(first, (0, 1))(2.0, 3.0) == (1.0, 0.0)


def test_forward_rules_are_called_with_values() -> None:
    @primitive
    def scaled(x: Any, places: Any) -> Any:
        assert type(x) is onp.ndarray
        return 2.0 * x, places

    def tangent(g: Any, ans: Any, x: Any, places: Any) -> Any:
        assert type(g) is onp.ndarray
        return scaled(g, places)

    defjvp(scaled, tangent, None)
    found = make_jvp(lambda x: scaled(x, onp.arange(3))[0] ** 2, X)(onp.ones(3))[1]
    onp.testing.assert_allclose(found, 8.0 * X)


def test_what_is_not_numeric_is_numpys() -> None:
    names = onp.array(["b", "a", "b"])
    found, places = np.unique(names, return_inverse=True)
    assert found.tolist() == ["a", "b"]
    assert places.tolist() == [1, 0, 1]
    assert np.where([True, False], [1.0, 2.0], [3.0, 4.0]) == [1.0, 4.0]
    with pytest.raises(fg.errors.DtypeError):
        ag.grad(lambda x: np.maximum(x, names))(X)


def test_packages_read_the_value_of_a_box() -> None:
    seen: list[Any] = []
    ag.grad(lambda x: seen.append(x._value) or np.sum(x**2))(X)
    onp.testing.assert_array_equal(seen[0], X)
    assert type(seen[0]) is onp.ndarray


def test_functions_of_the_library_take_rules_of_packages() -> None:
    try:
        imported.expit = special.expit
        own = ag.grad(special.expit)(0.3)
        defjvp(special.expit, lambda g, ans, x: g * ans * (2.0 - ans))
        for expit in (special.expit, imported.expit):
            ans = expit(0.3)
            assert make_jvp(expit, 0.3)(1.0) == (ans, ans * (2.0 - ans))
            assert ag.grad(expit)(0.3) == own
        defvjp(special.expit, lambda ans, x: lambda g: 5.0 * g * x)
        assert ag.grad(imported.expit)(3.0) == 15.0
        assert ag.grad(ag.grad(imported.expit))(3.0) == 5.0
        assert fg.grad(fg.scipy.special.expit)(0.3) == own
        defvjp(np.round, lambda ans, x: lambda g: g)
        assert ag.grad(lambda x: np.round(x) ** 2)(2.6) == 6.0
        assert fg.grad(lambda x: onp.round(x) ** 2)(2.6) == 0.0
    finally:
        _REPLACED.clear()
        del sys.modules[imported.__name__]
    defvjp(plain, lambda ans, x: lambda g: 7.0 * g)
    assert ag.grad(plain)(1.0) == 2.0, "differentiated as it runs: it is no primitive"


def plain(x: Any) -> Any:
    return 2.0 * x


def test_a_primitive_without_rules_says_so() -> None:
    @primitive
    def f(x: Any) -> Any:
        return 2.0 * x

    with pytest.raises(NotImplementedError, match="VJP of f wrt argnums"):
        ag.grad(f)(1.0)


# -- conveniences --------------------------------------------------------------------------------------------


def test_flatten_and_optimisers() -> None:
    start = {"w": onp.ones((2, 2)), "b": (1.0, onp.zeros(0))}
    vector, unflatten = flatten(start)
    assert vector.shape == (5,)
    assert unflatten(vector)["b"][0] == 1.0

    def gradient(p: Any, i: int) -> Any:
        return ag.grad(lambda p: np.sum(p["w"] ** 2) + p["b"][0] ** 2)(p)

    seen: list[int] = []
    for optimise, options in ((sgd, {}), (rmsprop, {}), (adam, {"step_size": 0.05})):
        found = optimise(gradient, start, callback=lambda p, i, g: seen.append(i), num_iters=200, **options)
        assert float(onp.max(onp.abs(found["w"]))) < 0.1
    assert len(seen) == 600


def test_fixed_points_have_derivatives_of_every_order() -> None:
    def root(a: Any) -> Any:
        return fixed_point(lambda a: lambda x: 0.5 * (x + a / x), a, 1.0, lambda x, y: abs(x - y), 1e-13)

    found = [root(4.0), ag.grad(root)(4.0), ag.grad(ag.grad(root))(4.0)]
    onp.testing.assert_allclose(found, [2.0, 0.25, -1 / 32], rtol=1e-9)


def test_constant_graphs_are_recorded_once() -> None:
    calls: list[int] = []

    def f(x: Any, y: Any) -> Any:
        calls.append(1)
        return x * y

    recorded = const_graph(f, 2.0)
    assert [recorded(3.0), recorded(4.0)] == [6.0, 8.0]
    assert len(calls) == 1
    assert ag.grad(recorded)(5.0) == 2.0


def test_vector_spaces() -> None:
    space = vspace({"a": onp.zeros((2,)), "b": 1.0 + 1j})
    assert space.size == 4
    assert space == vspace(space.randn())
    total = space.zeros()
    for unit in space.standard_basis():
        total = space.add(total, unit)
    assert total["b"] == space.ones()["b"] == 1 + 1j
    with pytest.raises(TypeError, match="Can't find vector space"):
        vspace("text")


def test_what_rules_are_written_with() -> None:
    onp.testing.assert_allclose(
        unbroadcast_f(onp.ones((1, 3)), lambda g: g)(onp.ones((4, 2, 3))), [[8.0] * 3]
    )


@pytest.mark.parametrize("mode", ["full", "valid", "same"])
def test_convolutions_over_chosen_axes(mode: str) -> None:
    rng = onp.random.default_rng(3)
    a, b = rng.normal(size=(2, 5, 6)), rng.normal(size=(4, 2, 3, 3))
    found = convolve(a, b, axes=[(1, 2), (2, 3)], dot_axes=[(0,), (1,)], mode=mode)
    expected = [sum(scipy.signal.convolve(a[d], b[k, d], mode) for d in range(2)) for k in range(4)]
    onp.testing.assert_allclose(found, expected)


def test_scipy_parts() -> None:
    combo_check(norm.logpdf, (0, 1, 2))([X], [0.3], [1.1])
    combo_check(norm.logcdf, (0, 1, 2), order=1)([X], [0.3], [1.1])
    check_grads(special.gammainc, 1, order=1)(2.0, 1.5)
    assert special.gammasgn(2.5) == 1.0
    assert np.newaxis is None
    assert np.random.RandomState(0).normal() == onp.random.RandomState(0).normal()


# -- standing in ---------------------------------------------------------------------------------------------

SCRIPT = """
import sys
import autograd, autograd.numpy as np
from autograd import grad
from autograd.scipy.stats import norm
from autograd.misc.flatten import flatten
import autograd.numpy.linalg, autograd.misc.optimizers, autograd.extend
assert autograd.numpy is np and sys.modules["autograd.numpy"] is np
print(autograd.__name__, float(grad(np.tanh)(0.5)).hex(), sys.argv[1:])
"""


def test_scripts_run_with_us_for_autograd(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    command = [sys.executable, "-m", "funcgrad.compat.autograd", str(script), "one", "two"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    expected = float(ag.grad(np.tanh)(0.5)).hex()
    assert done.stdout.split(maxsplit=2) == ["funcgrad.compat.autograd", expected, "['one', 'two']\n"]
    assert done.stderr.strip() == "funcgrad.compat.autograd stands in for autograd"


def test_modules_run_with_us_for_autograd(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text(
        "import autograd\ndef test_one():\n    assert autograd.grad(lambda x: x**2)(3.0) == 6.0\n",
        encoding="utf-8",
    )
    command = [
        sys.executable,
        "-m",
        "funcgrad.compat.autograd",
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
    ]
    done = subprocess.run(
        [*command, str(tmp_path)], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_autograd_itself_is_not_replaced_under_anybodys_feet() -> None:
    code = "import sys, types\nsys.modules['autograd'] = types.ModuleType('autograd')\n"
    code += "sys.modules['autograd'].__file__ = 'somewhere'\n"
    code += "from funcgrad.compat.autograd import install\ninstall()\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (
        "ImportError: autograd has been imported already, from somewhere: install() comes first"
        in done.stderr
    )


def test_arrays_come_in_views_of_dictionaries_and_from_generators() -> None:
    parts = {"a": onp.ones(2), "b": onp.zeros(2)}
    onp.testing.assert_array_equal(np.stack(parts.values()), onp.stack(list(parts.values())))
    x = onp.array([1.0, 2.0])
    onp.testing.assert_allclose(
        ag.grad(lambda x: np.sum(np.stack({**parts, "c": x}.values()) ** 2))(x), 2 * x
    )
    onp.testing.assert_allclose(
        ag.grad(lambda x: np.sum(np.vstack(v * x for v in (1.0, 2.0))))(x), [3.0, 3.0]
    )
