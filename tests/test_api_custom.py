"""`custom_jvp`, `custom_vjp` and `checkpoint` under every transform, and what their rules may not do."""

from __future__ import annotations

import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad import (
    checkpoint,
    custom_jvp,
    custom_vjp,
    grad,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    vjp,
    vmap,
)
from funcgrad.errors import CustomRuleError, NotDifferentiableError
from funcgrad.testing import check_grads
from funcgrad.transforms.linearize import linearize_program

# Rules below are wrong by a known factor, so that a result shows which rule made it.


@custom_jvp
def doubled_sine(x: Any) -> Any:
    return np.sin(x)


@doubled_sine.defjvp
def doubled_sine_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (x_dot,) = primals, tangents
    return doubled_sine(x), 2.0 * np.cos(x) * x_dot


@custom_vjp
def tripled_sine(x: Any) -> Any:
    return np.sin(x)


def tripled_forward(x: Any) -> Any:
    return tripled_sine(x), np.cos(x)


def tripled_backward(cosine: Any, bar: Any) -> Any:
    return (3.0 * cosine * bar,)


tripled_sine.defvjp(tripled_forward, tripled_backward)

RULES = {"custom_jvp": (doubled_sine, 2.0), "custom_vjp": (tripled_sine, 3.0)}
each_rule = pytest.mark.parametrize(("f", "factor"), RULES.values(), ids=RULES)

X = np.array([0.3, -0.4, 0.5])


@each_rule
def test_value_is_the_functions(f: Any, factor: float) -> None:
    np.testing.assert_array_equal(f(X), np.sin(X))
    np.testing.assert_array_equal(vmap(f)(X), np.sin(X))
    np.testing.assert_array_equal(fg.make_program(f)(X)(X)[0], np.sin(X))


@each_rule
def test_every_transform_takes_the_rule(f: Any, factor: float) -> None:
    slope = factor * np.cos(X)
    np.testing.assert_allclose(grad(lambda x: np.sum(f(x)))(X), slope)
    np.testing.assert_allclose(vjp(f, X)[1](np.ones(3))[0], slope)
    np.testing.assert_allclose(jvp(f, (X,), (np.ones(3),))[1], slope)
    np.testing.assert_allclose(linearize(f, X)[1](np.ones(3)), slope)
    np.testing.assert_allclose(jacfwd(f)(X), np.diag(slope))
    np.testing.assert_allclose(jacrev(f)(X), np.diag(slope))
    np.testing.assert_allclose(vmap(grad(f))(X), slope)
    np.testing.assert_allclose(grad(lambda x: np.sum(vmap(f)(x)))(X), slope)


@each_rule
def test_second_derivative_is_that_of_the_rule(f: Any, factor: float) -> None:
    expected = -factor * np.sin(X)
    np.testing.assert_allclose(vmap(grad(grad(f)))(X), expected)
    np.testing.assert_allclose(hessian(lambda x: np.sum(f(x)))(X), np.diag(expected))


def test_rule_that_calls_its_own_function_is_used_at_every_order() -> None:
    @custom_jvp
    def exponential(x: Any) -> Any:
        return np.exp(x)

    exponential.defjvp(
        lambda primals, tangents: (exponential(*primals), 2.0 * exponential(*primals) * tangents[0])
    )
    f: Any = exponential
    for order in range(1, 5):
        f = grad(f)
        np.testing.assert_allclose(f(0.5), 2.0**order * np.exp(0.5))


@each_rule
def test_rule_survives_pickle(f: Any, factor: float) -> None:
    program = fg.make_program(lambda x: f(x) * x)(0.5)
    again = pickle.loads(pickle.dumps(program))
    assert again == program
    assert pickle.loads(pickle.dumps(grad(f)))(0.5) == grad(f)(0.5)


@each_rule
def test_second_call_transforms_nothing(f: Any, factor: float) -> None:
    from funcgrad.api.calling.calls import CACHE

    grad(f)(0.5)
    misses = CACHE.misses
    grad(f)(0.75)
    assert misses == CACHE.misses


# -- arguments ---------------------------------------------------------------------------------


def test_structures() -> None:
    @custom_jvp
    def f(p: Any) -> Any:
        return {"square": p["x"] ** 2, "pair": (p["x"], 1.0)}

    @f.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        (p,), (dot,) = primals, tangents
        return f(p), {"square": 5.0 * dot["x"], "pair": (dot["x"], 0.0)}

    assert grad(lambda p: f(p)["square"])({"x": 2.0}) == {"x": 5.0}
    assert grad(lambda p: f(p)["pair"][0])({"x": 2.0}) == {"x": 1.0}


def test_structures_and_residuals_of_custom_vjp() -> None:
    @custom_vjp
    def f(p: Any, q: Any) -> Any:
        return p["x"] * q[0], q

    f.defvjp(
        lambda p, q: (f(p, q), {"p": p, "more": [q, None]}),
        lambda res, bar: ({"x": bar[0] * res["more"][0][0] * 10.0}, [bar[0] * res["p"]["x"]]),
    )
    by_p, by_q = grad(lambda p, q: f(p, q)[0], (0, 1))({"x": 2.0}, [3.0])
    assert (by_p, by_q) == ({"x": 30.0}, [2.0])


def test_defaults_and_keywords_reach_the_rule() -> None:
    @custom_jvp
    def scaled(x: Any, k: Any = 2.0) -> Any:
        return x * k

    @scaled.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        (x, k), (x_dot, k_dot) = primals, tangents
        return scaled(x, k), 10.0 * k * x_dot + x * k_dot

    assert grad(scaled)(3.0) == 20.0
    assert grad(lambda x: scaled(x, k=5.0))(3.0) == 50.0
    assert grad(lambda x: scaled(k=5.0, x=x))(3.0) == 50.0
    assert grad(scaled, 1)(3.0, 5.0) == 3.0


@pytest.mark.parametrize("wrap", [custom_jvp, custom_vjp])
def test_keyword_only_arguments_are_refused(wrap: Any) -> None:
    @wrap
    def f(x: Any, *, k: Any = 2.0) -> Any:
        return x * k

    with pytest.raises(CustomRuleError, match="keyword"):
        f(1.0, k=3.0)


def test_arguments_that_are_not_differentiated() -> None:
    @partial(custom_jvp, nondiff_argnums=(0, 2))
    def applied(function: Any, x: Any, name: str) -> Any:
        return function(x)

    @applied.defjvp
    def rule(function: Any, name: str, primals: Any, tangents: Any) -> Any:
        assert name == "name"
        return applied(function, *primals, name), 5.0 * tangents[0]

    assert grad(lambda x: applied(np.sin, x, "name"))(1.0) == 5.0
    np.testing.assert_array_equal(vmap(grad(lambda x: applied(np.cos, x, "name")))(X), np.full(3, 5.0))


def test_arguments_that_are_not_differentiated_in_reverse() -> None:
    @partial(custom_vjp, nondiff_argnums=(0,))
    def applied(function: Any, x: Any) -> Any:
        return function(x)

    applied.defvjp(lambda f, x: (applied(f, x), x), lambda f, x, bar: (7.0 * f(x) * bar,))
    np.testing.assert_allclose(grad(lambda x: applied(np.sin, x))(1.0), 7.0 * np.sin(1.0))


def test_methods() -> None:
    class Model:
        def __init__(self, k: float) -> None:
            self.k = k

        @partial(custom_jvp, nondiff_argnums=(0,))
        def f(self, x: Any) -> Any:
            return self.k * x

        @f.defjvp
        def rule(self, primals: Any, tangents: Any) -> Any:
            return self.f(primals[0]), 100.0 * self.k * tangents[0]

    assert grad(Model(3.0).f)(1.0) == 300.0
    assert Model(3.0).f(2.0) == 6.0


def test_integer_arguments_and_none_for_their_cotangents() -> None:
    @custom_vjp
    def f(x: Any, n: Any) -> Any:
        return x * n

    f.defvjp(lambda x, n: (f(x, n), n), lambda n, bar: (bar * n * 2.0, None))
    assert grad(f)(2.0, 3) == 6.0
    assert grad(f, (0, 1))(2.0, 3.0) == (6.0, 0.0)
    np.testing.assert_array_equal(vmap(grad(f), (0, None))(X, 3), np.full(3, 6.0))


def test_defjvps() -> None:
    f = custom_jvp(lambda x, y: np.sin(x) * y)
    f.defjvps(lambda x_dot, value, x, y: np.cos(x) * x_dot * y, None)
    by_x, by_y = grad(f, (0, 1))(2.0, 3.0)
    np.testing.assert_allclose(by_x, 3.0 * np.cos(2.0))
    assert by_y == 0.0
    g = custom_jvp(lambda x, y: x * y)
    g.defjvps(lambda x_dot, value, x, y: x_dot * y, lambda y_dot, value, x, y: x * y_dot)
    check_grads(g, (2.0, 3.0))


# -- uses --------------------------------------------------------------------------------------


def test_gradient_clipping() -> None:
    @custom_vjp
    def clipped(low: Any, high: Any, x: Any) -> Any:
        return x

    clipped.defvjp(lambda low, high, x: (x, (low, high)), lambda res, bar: (None, None, np.clip(bar, *res)))
    f = grad(lambda x: 5.0 * clipped(-0.1, 0.1, x))
    assert f(1.0) == 0.1
    np.testing.assert_array_equal(vmap(f)(X), np.full(3, 0.1))


def test_implicit_derivative_of_a_solver() -> None:
    @custom_vjp
    def root(a: Any) -> Any:
        x = a
        while abs(x * x - a) > 1e-12:
            x = 0.5 * (x + a / x)
        return x

    def forward(a: Any) -> Any:
        x = root(a)
        return x, x

    root.defvjp(forward, lambda x, bar: (bar / (2.0 * x),))
    np.testing.assert_allclose(grad(root)(2.0), 0.5 / np.sqrt(2.0))
    np.testing.assert_allclose(grad(lambda a: root(a) * a)(2.0), 1.5 * np.sqrt(2.0))


def test_stable_logarithm() -> None:
    @custom_jvp
    def log1pexp(x: Any) -> Any:
        return np.log(1.0 + np.exp(x))

    @log1pexp.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        (x,), (x_dot,) = primals, tangents
        return log1pexp(x), (1.0 - 1.0 / (1.0 + np.exp(x))) * x_dot

    assert grad(log1pexp)(100.0) == 1.0
    check_grads(log1pexp, (X,), order=3)


# -- values that are not arguments -------------------------------------------------------------


def test_closing_over_an_outer_value() -> None:
    def slope(x: Any) -> Any:
        f = custom_jvp(lambda y: x * y)
        f.defjvp(lambda primals, tangents: (x * primals[0], x * tangents[0]))
        return grad(f)(2.0)

    assert slope(3.0) == 3.0
    assert grad(slope)(3.0) == 1.0
    np.testing.assert_array_equal(vmap(slope)(X), X)


@pytest.mark.parametrize("wrap", ["jvp", "vjp"])
def test_derivative_by_a_value_closed_over_is_refused(wrap: str) -> None:
    def outer(x: Any) -> Any:
        if wrap == "jvp":
            f: Any = custom_jvp(lambda y: x * y)
            f.defjvp(lambda primals, tangents: (x * primals[0], x * tangents[0]))
        else:
            f = custom_vjp(lambda y: x * y)
            f.defvjp(lambda y: (x * y, None), lambda _, bar: (bar * x,))
        return f(2.0)

    with pytest.raises(NotDifferentiableError, match="not one of its arguments"):
        grad(outer)(3.0)


# -- refusals ----------------------------------------------------------------------------------


@pytest.mark.parametrize("wrap", [custom_jvp, custom_vjp])
def test_missing_rule(wrap: Any) -> None:
    f = wrap(lambda x: 2.0 * x)
    assert f(2.0) == 4.0
    with pytest.raises(CustomRuleError, match="no rule"):
        grad(f)(2.0)


@pytest.mark.parametrize(
    "rule",
    [
        lambda primals, tangents: primals[0] * 2.0,
        lambda primals, tangents: (primals[0] * 2.0, (tangents[0], tangents[0])),
        lambda primals, tangents: (primals[0] * 2.0, tangents[0] * np.ones(3)),
        lambda primals, tangents: ((primals[0],), tangents[0]),
        lambda primals, tangents: (primals[0] * 2.0, tangents[0], tangents[0]),
    ],
)
def test_jvp_rules_of_another_structure(rule: Any) -> None:
    f = custom_jvp(lambda x: 2.0 * x)
    f.defjvp(rule)
    with pytest.raises(CustomRuleError, match="rule"):
        grad(f)(2.0)


@pytest.mark.parametrize(
    ("forward", "backward"),
    [
        (lambda x: 2.0 * x, lambda res, bar: (bar,)),
        (lambda x: (2.0 * x, None), lambda res, bar: bar),
        (lambda x: (2.0 * x, None), lambda res, bar: (bar, bar)),
        (lambda x: (2.0 * x, None), lambda res, bar: (np.ones(3) * bar,)),
        (lambda x: (2.0 * x, None), lambda res, bar: ({"x": bar},)),
    ],
)
def test_vjp_rules_of_another_structure(forward: Any, backward: Any) -> None:
    f = custom_vjp(lambda x: 2.0 * x)
    f.defvjp(forward, backward)
    with pytest.raises(CustomRuleError, match="rule"):
        grad(f)(2.0)


def test_a_forward_rule_whose_value_has_another_structure() -> None:
    """Seen where both have been recorded: under `grad` alone the function does not run."""
    f = custom_vjp(lambda x: 2.0 * x)
    f.defvjp(lambda x: ((2.0 * x,), None), lambda res, bar: (bar,))
    with pytest.raises(CustomRuleError, match="rule"):
        grad(fg.jit(f))(2.0)


def test_under_grad_only_the_forward_rule_runs() -> None:
    ran: list[str] = []

    @custom_vjp
    def f(x: Any) -> Any:
        ran.append("function")
        return np.sin(x)

    def forward(x: Any) -> Any:
        ran.append("forward")
        return np.sin(x), x

    f.defvjp(forward, lambda x, bar: (3.0 * bar * np.cos(x),))
    np.testing.assert_allclose(grad(f)(1.0), 3.0 * np.cos(1.0))
    assert ran == ["forward"]
    value, slope = fg.value_and_grad(lambda x: 2.0 * f(x))(1.0)
    np.testing.assert_allclose([value, slope], [2.0 * np.sin(1.0), 6.0 * np.cos(1.0)])
    assert ran == ["forward", "forward"]
    ran.clear()
    assert f(1.0) == np.sin(1.0)
    assert ran == ["function"]


# -- rules that close over traced values, and rules that apply custom functions to their tangents ----------


@pytest.mark.parametrize("kind", ["jvp", "vjp"])
@pytest.mark.parametrize("through", ["nondiff", "closure"])
def test_rules_may_use_values_of_inner_traces(kind: str, through: str) -> None:
    """The rule is needed after the inner `vmap`, scan or jit has ended."""

    def make(scale: Any) -> Any:
        nondiff = (0,) if through == "nondiff" else ()

        def base(*args: Any) -> Any:
            return np.sin(args[-1]) * scale

        f: Any
        if kind == "jvp":
            f = custom_jvp(base, nondiff_argnums=nondiff)

            def rule(*args: Any) -> Any:
                (x,), (t,) = args[-2:]
                return base(x), 10.0 * scale * np.cos(x) * t

            f.defjvp(rule)
        else:
            f = custom_vjp(base, nondiff_argnums=nondiff)
            f.defvjp(
                lambda *args: (base(args[-1]), args[-1]),
                lambda *args: (10.0 * scale * np.cos(args[-2]) * args[-1],),
            )
        return partial(f, lambda z: z * scale) if nondiff else f

    scales = np.array([1.0, -2.0, 0.5])
    expected = 10.0 * scales.sum() * np.cos(0.7)
    batched: Any = lambda x: np.sum(vmap(lambda s: make(s)(x))(scales))  # noqa: E731
    np.testing.assert_allclose(grad(batched)(0.7), expected)
    np.testing.assert_allclose(fg.jit(grad(batched))(0.7), expected)
    np.testing.assert_allclose(grad(fg.jit(batched))(0.7), expected)
    np.testing.assert_allclose(jacrev(batched)(0.7), expected)
    np.testing.assert_allclose(jvp(batched, (0.7,), (1.0,))[1], expected)
    np.testing.assert_allclose(vmap(grad(batched))(np.array([0.7, 0.7])), [expected, expected])
    twice = vmap(lambda s: vmap(lambda r: make(r * s)(0.7))(scales))
    np.testing.assert_allclose(twice(scales), np.sin(0.7) * np.outer(scales, scales))
    nested: Any = lambda x: np.sum(vmap(lambda s: np.sum(vmap(lambda r: make(r * s)(x))(scales)))(scales))  # noqa: E731
    np.testing.assert_allclose(grad(nested)(0.7), 10.0 * scales.sum() ** 2 * np.cos(0.7))

    def looped(x: Any) -> Any:
        return fg.scan(lambda total, s: (total + make(s)(x), None), 0.0, scales)[0]

    np.testing.assert_allclose(grad(looped)(0.7), expected)
    np.testing.assert_allclose(fg.jit(grad(looped))(0.7), expected)


def test_a_rule_may_apply_its_own_function_to_the_tangent() -> None:
    matrix = np.array([[1.0, 2.0], [3.0, 4.0]])
    f = custom_jvp(lambda x: matrix @ x)
    f.defjvp(lambda primals, tangents: (f(*primals), 10.0 * f(*tangents)))
    x = np.array([0.5, -1.0])
    np.testing.assert_allclose(jacrev(f)(x), 10.0 * matrix)
    np.testing.assert_allclose(jacfwd(f)(x), 10.0 * matrix)
    np.testing.assert_allclose(fg.jit(jacrev(f))(x), 10.0 * matrix)
    np.testing.assert_allclose(vmap(jacrev(f))(np.stack([x, x])), 10.0 * np.stack([matrix, matrix]))
    np.testing.assert_allclose(grad(lambda x: np.sum(vmap(f)(np.stack([x, x]))))(x), 20.0 * matrix.sum(0))
    np.testing.assert_allclose(hessian(lambda x: np.sum(f(x) ** 2))(x), 200.0 * matrix.T @ matrix, rtol=1e-12)


@pytest.mark.parametrize("inner", ["custom_vjp", "checkpoint"])
def test_a_rule_may_apply_other_calls_to_the_tangent(inner: str) -> None:
    if inner == "checkpoint":
        triple: Any = checkpoint(lambda x, t: np.cos(x) * t)
    else:
        triple = custom_vjp(lambda x, t: np.cos(x) * t)
        triple.defvjp(
            lambda x, t: (np.cos(x) * t, (x, t)),
            lambda res, bar: (-np.sin(res[0]) * res[1] * bar, np.cos(res[0]) * bar),
        )
    f = custom_jvp(np.sin)
    f.defjvp(lambda primals, tangents: (f(*primals), triple(primals[0], tangents[0])))
    np.testing.assert_allclose(grad(f)(0.7), np.cos(0.7))
    np.testing.assert_allclose(fg.jit(grad(f))(0.7), np.cos(0.7))
    np.testing.assert_allclose(grad(grad(f))(0.7), -np.sin(0.7))
    np.testing.assert_allclose(vmap(grad(f))(np.array([0.7, 0.1])), np.cos([0.7, 0.1]))


def test_a_call_in_a_rule_that_is_not_linear_is_refused() -> None:
    shifted = custom_jvp(lambda x: x + 1.0)
    shifted.defjvp(lambda primals, tangents: (shifted(*primals), tangents[0]))
    f = custom_jvp(lambda x: 2.0 * x)
    f.defjvp(lambda primals, tangents: (f(*primals), shifted(*tangents)))
    with pytest.raises(NotDifferentiableError, match="must be linear"):
        grad(f)(1.0)


def test_jvp_rule_that_is_not_linear_has_no_transpose() -> None:
    f = custom_jvp(np.sin)
    f.defjvp(lambda primals, tangents: (np.sin(primals[0]), tangents[0] ** 2))
    assert jvp(f, (1.0,), (3.0,))[1] == 9.0
    with pytest.raises(NotDifferentiableError, match="linear"):
        grad(f)(1.0)


# -- checkpoint --------------------------------------------------------------------------------


def test_checkpoint_changes_no_result() -> None:
    def f(x: Any) -> Any:
        return np.sum(np.sin(x) * np.exp(-x))

    g = checkpoint(f)
    assert g(X) == f(X)
    np.testing.assert_allclose(grad(g)(X), grad(f)(X))
    np.testing.assert_allclose(hessian(g)(X), hessian(f)(X))
    np.testing.assert_allclose(jvp(g, (X,), (X,))[1], jvp(f, (X,), (X,))[1])
    np.testing.assert_allclose(vmap(grad(g))(np.stack([X, 2.0 * X])), vmap(grad(f))(np.stack([X, 2.0 * X])))


def test_checkpoint_computes_again_instead_of_keeping() -> None:
    def f(x: Any) -> Any:
        return np.sin(np.sin(np.sin(x)))

    def residuals(g: Any) -> int:
        return linearize_program(fg.make_program(g)(0.5), (True,), 1).n_residuals

    assert residuals(f) == 3
    assert residuals(checkpoint(f)) == 1


def test_checkpoint_of_structures_branches_and_captured_values() -> None:
    def outer(w: Any) -> Any:
        inner = checkpoint(lambda p: {"y": p["x"] * w if p["x"] > 0.0 else p["x"]})
        return inner({"x": 2.0})["y"]

    assert grad(outer)(3.0) == 2.0


def test_checkpoint_as_decorator_with_static_arguments() -> None:
    @partial(checkpoint, static_argnums=(1,))
    def power(x: Any, n: int) -> Any:
        return x**n

    assert grad(power)(3.0, 2) == 6.0
    assert power.__name__ == "power"


def test_a_custom_function_says_what_it_is() -> None:
    def double(x: Any) -> Any:
        return 2.0 * x

    assert repr(custom_vjp(double)) == "custom_vjp(double)"
    assert repr(custom_jvp(double)) == "custom_jvp(double)"


# -- names that JAX has --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bars", "expected"),
    [
        (({"a": 2.0, "b": None}, None), (2.0, 0.0, 0.0, 0.0)),
        ((None, 3.0), (0.0, 0.0, 0.0, 3.0)),
        (({"a": None, "b": [None, np.ones(2)]}, None), (0.0, 0.0, 2.0, 0.0)),
    ],
)
def test_none_is_the_cotangent_of_a_subtree(bars: Any, expected: Any) -> None:
    @fg.custom_vjp
    def f(parts: Any, y: Any) -> Any:
        return parts["a"] * parts["b"][0] * y

    f.defvjp(lambda parts, y: (f(parts, y), None), lambda _, bar: bars)
    found = fg.grad(f, (0, 1))({"a": 1.0, "b": [2.0, np.zeros(2)]}, 3.0)
    assert (found[0]["a"], found[0]["b"][0], found[0]["b"][1].sum(), found[1]) == expected


def test_rules_branch_on_values():
    @fg.custom_vjp
    def f(x):
        return abs(x)

    def forward(x):
        if x > 0.0:
            return x, 2.0
        return -x, -3.0

    def backward(slope, bar):
        if slope > 0.0:
            return (bar * slope,)
        return (10.0 * bar * slope,)

    f.defvjp(forward, backward)
    for at, slope in ((2.0, 2.0), (-2.0, -30.0)):
        for way in (fg.grad(f), fg.jit(fg.grad(f)), lambda x: fg.vmap(fg.grad(f))(np.array([x]))[0]):
            assert way(at) == slope


def test_a_function_that_branches_is_called_by_its_own_jvp_rule():
    @fg.custom_jvp
    def f(x):
        if x > 0.0:
            return np.sin(x)
        return np.cos(x)

    @f.defjvp
    def rule(primals, tangents):
        if primals[0] > 0.0:
            return f(*primals), 2.0 * tangents[0]
        return f(*primals), 3.0 * tangents[0]

    for at, slope in ((2.0, 2.0), (-2.0, 3.0)):
        assert fg.jvp(f, (at,), (1.0,)) == (f(at), slope)
        for way in (fg.grad(f), fg.jit(fg.grad(f)), lambda x: fg.vmap(fg.grad(f))(np.array([x]))[0]):
            assert way(at) == slope


def test_a_jvp_rule_computes_value_and_tangent_in_one_loop():
    @fg.custom_jvp
    def cube(x):
        return x**3

    @cube.defjvp
    def rule(primals, tangents):
        (x,), (t,) = primals, tangents
        start = (np.ones_like(x), np.zeros_like(t))
        return fg.fori_loop(0, 3, lambda _, c: (c[0] * x, c[1] * x + c[0] * t), start)

    for way in (fg.grad(cube), fg.jit(fg.grad(cube)), lambda x: fg.jvp(cube, (x,), (1.0,))[1]):
        assert way(2.0) == 12.0


def test_arguments_that_have_no_derivative_are_named():
    @partial(fg.custom_vjp, nondiff_argnames=("power",))
    def f(x, power):
        return x**power

    f.defvjp(lambda x, power: (x**power, x), lambda power, x, bar: (100.0 * power * bar * x,))
    assert fg.grad(f)(2.0, power=3) == 600.0

    @partial(fg.custom_jvp, nondiff_argnames="power")
    def g(x, power=2):
        return x**power

    g.defjvp(lambda power, primals, tangents: (g(primals[0], power), 7.0 * power * tangents[0]))
    assert fg.grad(g)(2.0) == 14.0


def test_closures_are_converted():
    def scaled(a, x):
        f, hoisted = fg.closure_convert(lambda x: np.sum(np.sin(a["w"] * x) + np.arange(3.0)), x)
        assert len(hoisted) <= 1  # none where nothing is traced
        return f(2.0 * x, *hoisted)

    at = ({"w": np.array([0.1, 0.2, 0.3])}, np.ones(3))
    fg.testing.check_grads(scaled, at)
    fg.testing.check_grads(fg.jit(scaled), at)
    f, hoisted = fg.closure_convert(lambda x: x * 2.0, 1.0)
    assert (f(3.0), hoisted) == (6.0, [])
    with pytest.raises(TypeError, match="structure"):
        f((3.0,))


def test_gradient_functions_beside_values():
    @fg.custom_gradient
    def f(x, parts):
        s = np.sin(x)
        return s * parts["y"], lambda bar: (2.0 * bar * parts["y"], {"y": bar * s, "z": None})

    at = (0.5, {"y": 3.0, "z": np.ones(2)})
    assert f(*at) == 3.0 * np.sin(0.5)
    for way in (lambda f: f, fg.jit):
        x, parts = way(fg.grad(f, (0, 1)))(*at)
        assert (x, parts["y"]) == (6.0, np.sin(0.5))
        np.testing.assert_array_equal(parts["z"], 0.0)
    xs = np.array([0.1, 0.2])
    clipped = fg.custom_gradient(lambda x: (x, lambda bar: np.minimum(bar * x, 0.15)))
    np.testing.assert_allclose(fg.vmap(fg.grad(clipped))(xs), [0.1, 0.15])
    np.testing.assert_allclose(fg.jit(fg.vmap(fg.grad(clipped)))(xs), [0.1, 0.15])


P = fg.checkpoint_policies
POLICIES: dict[str, tuple[Any, int]] = {
    "nothing": (P.nothing_saveable, 4),
    "no policy": (None, 4),
    "everything": (P.everything_saveable, 2),
    "dots": (P.dots_saveable, 2),
    "dots alone": (P.dots_with_no_batch_dims_saveable, 2),
    "one": (P.save_only_these_names("first"), 3),
    "others": (P.save_any_names_but_these("first"), 3),
    "both": (P.save_from_both_policies(P.save_only_these_names("first"), P.save_only_these_names("last")), 2),
    "but one": (P.save_anything_except_these_names("first"), 2),
    "own": (
        lambda primitive, *avals, **params: primitive.name == "dot_general" and avals[0].shape == (3, 4),
        3,
    ),
}


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_says_what_is_computed_again(name: str, rng: np.random.Generator) -> None:
    policy, expected = POLICIES[name]
    v, w, u = rng.normal(size=(3, 4)), rng.normal(size=(4, 5)), rng.normal(size=(5, 2))

    def f(v: Any) -> Any:
        first = fg.checkpoint_name(v @ w, "first")
        return np.sum(np.tanh(fg.checkpoint_name(np.sin(first) @ u, "last")))

    kept = checkpoint(f, policy=policy)
    value, back = vjp(kept, v)
    np.testing.assert_allclose(value, f(v), rtol=1e-12)
    np.testing.assert_allclose(back(1.0)[0], grad(f)(v), rtol=1e-12)
    np.testing.assert_allclose(fg.jit(grad(kept))(v), grad(f)(v), rtol=1e-12)
    np.testing.assert_allclose(vmap(grad(kept))(np.stack([v, 2.0 * v]))[1], grad(f)(2.0 * v), rtol=1e-12)
    if name in ("one", "dots"):
        check_grads(kept, (v,), order=2)
    # Two products of the function, two of its transpose, and those that are done again.
    program = str(fg.make_program(fg.value_and_grad(kept))(v))
    assert program.count("dot_general") - 2 == expected, program


def test_policies_that_there_are_none_of() -> None:
    with pytest.raises(AttributeError, match="one memory"):
        _ = P.offload_dot_with_no_batch_dims
    with pytest.raises(TypeError, match="policy"):
        checkpoint(np.sin, policy=3)  # type: ignore[call-overload]


def test_sizes_flags_and_names_among_residuals_stay_what_they_are() -> None:
    @fg.custom_vjp
    def picked(x: Any, k: int) -> Any:
        return x[k]

    def forward(x: Any, k: int) -> Any:
        return x[k], (x.shape, k, {"negated": False, "name": "one"})

    def backward(kept: Any, bar: Any) -> Any:
        shape, k, said = kept
        slope = np.zeros(shape)
        if not said["negated"] and said["name"] == "one":
            slope[k] = bar
        return slope, None

    picked.defvjp(forward, backward)
    x = np.arange(4.0)
    for k in (1, 2):
        wanted = np.eye(4)[k]
        assert np.array_equal(fg.grad(picked)(x, k), wanted)
        assert np.array_equal(fg.jit(fg.grad(lambda x, k=k: picked(x, k)))(x), wanted)
    assert np.array_equal(fg.vmap(fg.grad(lambda x: picked(x, 3)))(np.ones((2, 4))), np.eye(4)[[3, 3]])
    assert fg.hessian(lambda x: picked(x, 3) ** 2)(x)[3, 3] == 2.0
