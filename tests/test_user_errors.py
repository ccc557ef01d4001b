"""What bad input gets: the whole text of each error, as a user reads it.

File and line stand as ``FILE:N``; everything else is exact. A message that changes must be read again, by
a person.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
import funcgrad.numpy as fnp
from funcgrad import errors
from funcgrad.ops.families import Unary


def text_of(error: type[Exception], call: Callable[[], Any]) -> str:
    """The message of the error that `call` must raise."""
    with pytest.raises(error) as caught:
        call()
    return re.sub(r"test_user_errors\.py:\d+", "FILE:N", str(caught.value))


def lines(*rows: str) -> str:
    return "\n".join(rows)


def test_shapes_that_do_not_broadcast() -> None:
    def loss(x: Any) -> Any:
        return np.sum(x * np.ones(3))

    assert text_of(errors.ShapeError, lambda: fg.grad(loss)(np.ones(4))) == lines(
        "mul of f64[4] and f64[3]: these shapes do not broadcast",
        "  FILE:N in loss",
        "    return np.sum(x * np.ones(3))",
        "                  ^^^^^^^^^^^^^^",
        "  Shapes are matched from the last axis; an axis must be equal or 1. Add an "
        "axis with x[:, None] or reshape.",
    )


def test_branching_on_a_traced_value() -> None:
    def loss(err: Any) -> Any:
        if err < 1.0:
            return err
        return err * err

    assert text_of(errors.TracedBranchError, lambda: fg.make_program(loss)(1.0)) == lines(
        "this branch depends on a traced bool[]",
        "  FILE:N in loss",
        "    if err < 1.0:",
        "       ^^^^^^^^^",
        "  Use fg.numpy.where(err < 1.0, a, b), or fg.cond for code that must not run.",
    )


def test_a_gradient_of_a_vector() -> None:
    def doubled(x: Any) -> Any:
        return x * 2.0

    gradient = fg.grad(doubled)
    assert text_of(errors.NonScalarGradError, lambda: gradient(np.ones(4))) == lines(
        "grad needs a function that returns a scalar, and doubled returned f64[4]",
        "  FILE:N in <lambda>",
        "    assert text_of(errors.NonScalarGradError, lambda: gradient(np.ones(4))) == lines(",
        "                                                      ^^^^^^^^^^^^^^^^^^^^",
        "  Reduce it, for example with np.sum, or use vjp (one product with the "
        "Jacobian) or jacrev (all of it).",
    )


def test_a_gradient_of_a_tuple() -> None:
    gradient = fg.grad(lambda x: (x, x))
    assert text_of(errors.NonScalarGradError, lambda: gradient(1.0)).startswith(
        "grad needs a function that returns one number, and <lambda> returned a tuple of 2 leaves"
    )


def test_an_integer_argument() -> None:
    gradient = fg.grad(lambda params: params["w"] * 2.0)
    assert text_of(errors.NotDifferentiableError, lambda: gradient({"b": 1.0, "w": 3})) == lines(
        "grad needs real or complex floating-point inputs, and argument 0['w'] is an integer i64*[]",
        "  FILE:N in <lambda>",
        '    assert text_of(errors.NotDifferentiableError, lambda: gradient({"b": 1.0, "w": 3})) == lines(',
        "                                                          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^",
        "  Convert it with float(x) or x.astype(float), or choose other argnums.",
    )


def test_an_argument_that_is_not_an_array() -> None:
    gradient = fg.grad(lambda name: 1.0)
    assert text_of(errors.NotDifferentiableError, lambda: gradient("w")) == lines(
        "grad cannot act on argument 0: a str is not an array or a number",
        "  FILE:N in <lambda>",
        '    assert text_of(errors.NotDifferentiableError, lambda: gradient("w")) == lines(',
        "                                                          ^^^^^^^^^^^^^",
        "  Leave it out of argnums, or pass arrays, numbers, or pytrees of them.",
    )


def test_argnums_that_the_call_does_not_have() -> None:
    gradient = fg.grad(np.multiply, argnums=2)
    assert text_of(errors.ArgnumsError, lambda: gradient(1.0, 2.0)) == lines(
        "argnums=2 of grad names argument 2, and the call has 2 positional arguments",
        "  FILE:N in <lambda>",
        "    assert text_of(errors.ArgnumsError, lambda: gradient(1.0, 2.0)) == lines(",
        "                                                ^^^^^^^^^^^^^^^^^^",
        "  Arguments to differentiate must be passed by position; count them from 0.",
    )


def test_float_of_a_tracer_without_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUNCGRAD_CONSTRUCTORS", "0")

    def sine(x: Any) -> Any:
        return math.sin(x)

    assert text_of(errors.ConcretizationError, lambda: fg.make_program(sine)(1.0)) == lines(
        "math.sin() needs the value of a traced f64*[], and no value exists under make_program",
        "  FILE:N in sine",
        "    return math.sin(x)",
        "           ^^^^^^^^^^^",
        "  Use np.sin, which keeps the gradient.",
        "  fg.stop_gradient(x) says that only the value is meant.",
    )


def test_asarray_of_a_tracer_without_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUNCGRAD_CONSTRUCTORS", "0")

    def rows(x: Any) -> Any:
        return np.asarray(x).sum()

    assert text_of(errors.ConcretizationError, lambda: fg.make_program(rows)(np.ones(2))) == lines(
        "np.asarray() needs the value of a traced f64[2], and no value exists under make_program",
        "  FILE:N in rows",
        "    return np.asarray(x).sum()",
        "           ^^^^^^^^^^^^^",
        "  It is an array already: leave it out, or use fg.numpy.asarray, which keeps the gradient.",
        "  fg.stop_gradient(x) says that only the value is meant.",
    )


def test_the_transform_that_knows_no_value_is_named() -> None:
    def scaled(x: Any) -> Any:
        return float(x) * x

    with pytest.raises(errors.ConcretizationError, match="which would drop its gradient"):
        fg.grad(scaled)(2.0)
    plain = fg.jit(fg.grad(scaled), control_flow=False)
    batched = fg.jit(fg.vmap(fg.grad(scaled)), control_flow=False)
    for transform, run in [("jit", plain), ("vmap", batched)]:
        with pytest.raises(errors.ConcretizationError, match=f"no value exists under {transform}\n"):
            run(np.ones(3) if transform == "vmap" else 2.0)
    with pytest.raises(errors.ConcretizationError, match="and no value exists under jit\n"):
        fg.jit(fg.grad(lambda x: x[x > 0.5].sum()), control_flow=False)(np.ones(3))
    with pytest.raises(errors.ConcretizationError, match="and no value exists under jit\n"):
        fg.jit(fg.grad(lambda x: np.unique(x).sum()), control_flow=False)(np.ones(3))


def test_functions_that_compare_elements_are_no_branches() -> None:
    def lowest(x: Any) -> Any:
        return min(x)

    assert text_of(errors.TracedBranchError, lambda: fg.jit(lowest, control_flow=False)(np.ones(2))) == lines(
        "this branch depends on a traced bool[]",
        "  FILE:N in lowest",
        "    return min(x)",
        "           ^^^^^^",
        "  Use max, min, sort, any or all of fg.numpy on one array; fg.numpy.array joins lists of traced "
        "values.",
    )
    for function in (sorted, any, lambda x: np.min(np.array([x[0], x[1]])), lambda x: [x[0], x[1]].sort()):
        with pytest.raises(errors.TracedBranchError, match="joins lists of traced"):
            fg.jit(lambda x, function=function: function(x) or x, control_flow=False)(np.ones(2))
    with pytest.raises(errors.TracedBranchError, match="for code that must not run"):
        fg.jit(bool, control_flow=False)(1.0)


def test_a_traced_size_says_how_to_make_it_known() -> None:
    def total(x: Any, n: Any) -> Any:
        return sum(x**i for i in range(n))

    assert text_of(errors.ConcretizationError, lambda: fg.jit(total, control_flow=False)(2.0, 3)) == lines(
        "an index needs the value of a traced i64*[], and no value exists under jit",
        "  FILE:N in total",
        "    return sum(x**i for i in range(n))",
        "                             ^^^^^^^^",
        "  Pass sizes, and positions in lists, as static arguments (static_argnums of fg.jit).",
        "  fg.fori_loop loops without range, and x[i + np.arange(3)] is x[i : i + 3].",
    )


def test_assigning_a_tracer_into_a_real_array(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FUNCGRAD_CONSTRUCTORS", "0")

    def powers(x: Any) -> Any:
        table = np.zeros(3)
        table[0] = x**2
        return table.sum()

    assert text_of(errors.TracerAssignmentError, lambda: fg.grad(powers)(2.0)) == lines(
        "this assignment would store a traced value in a NumPy array, which cannot hold it",
        "  FILE:N in powers",
        "    table[0] = x**2",
        "    ^^^^^^^^",
        "  Make the array with fg.numpy.zeros (or np.zeros_like of a traced value), "
        "which can be assigned into. A copy that can is fg.numpy.array(x), not x.copy().",
    )


def itself(x: Any) -> Any:
    return x


@pytest.mark.parametrize(
    "call",
    [
        fg.jit(itself),
        lambda t: fg.jit(itself)({"x": [t]}),
        fg.grad(itself),
        fg.value_and_grad(itself),
        fg.stop_gradient,
        fg.checkpoint(itself),
        fg.numpy.asarray,
        np.sin,
        float,
        bool,
        lambda t: fg.jvp(itself, (1.0,), (t,)),
        fg.vjp(itself, 1.0)[1],
        lambda t: fg.scan(lambda c, x: (c, x), t, np.ones(2)),
        lambda t: fg.cond(True, itself, itself, t),
        lambda t: fg.while_loop(lambda c: False, itself, t),
        lambda t: fg.jit(lambda x: (x, t))(1.0),
    ],
)
def test_a_tracer_that_escaped_is_no_argument(call: Any) -> None:
    """Nor does it come back from a function that does nothing with it."""
    kept: list[Any] = []
    fg.grad(lambda x: (kept.append(x * 3.0), x)[1])(1.0)
    with pytest.raises(errors.EscapedTracerError, match="is used after its trace ended"):
        call(kept[0])


def test_a_tracer_that_escaped() -> None:
    kept = []

    def keeping(x: Any) -> Any:
        kept.append(x * 3.0)
        return x

    fg.grad(keeping)(1.0)
    assert text_of(errors.EscapedTracerError, lambda: kept[0] + 1.0) == lines(
        "a traced f64*[] is used after its trace ended (grad of keeping)",
        "  FILE:N in <lambda>",
        "    assert text_of(errors.EscapedTracerError, lambda: kept[0] + 1.0) == lines(",
        "                                                      ^^^^^^^^^^^^^",
        "  the tracer was made here: FILE:N in keeping",
        "    kept.append(x * 3.0)",
        "                ^^^^^^^",
        "  Return it from the traced function instead of storing it elsewhere.",
    )


def test_an_unsupported_numpy_function() -> None:
    def loss(x: Any) -> Any:
        return np.linalg.cond(np.busday_count(x, x))

    assert text_of(errors.UnsupportedFunctionError, lambda: fg.grad(loss)(np.ones(2))) == lines(
        "np.busday_count is not supported on traced arrays",
        "  FILE:N in loss",
        "    return np.linalg.cond(np.busday_count(x, x))",
        "                          ^^^^^^^^^^^^^^^^^^^^^",
        "  Write it with functions of fg.numpy, or teach funcgrad: "
        "@fg.extend.implements(np.busday_count) on a "
        "function composed of them, or fg.custom_vjp around the call.",
    )


def test_a_cotangent_of_another_structure() -> None:
    _, pullback = fg.vjp(lambda x: {"a": x, "b": x}, 1.0)
    assert text_of(errors.TreeError, lambda: pullback({"a": 1.0})).startswith(
        "the cotangent given to pullback does not have the structure it must have: "
    )


def test_a_tangent_of_another_shape() -> None:
    assert text_of(errors.ShapeError, lambda: fg.jvp(np.sin, (np.ones(3),), (np.ones(2),))).startswith(
        "the tangent given to jvp has shape (2,) where the value is f64[3]"
    )


def test_a_backward_rule_of_another_structure() -> None:
    @fg.custom_vjp
    def product(x: Any, y: Any) -> Any:
        return x * y

    product.defvjp(lambda x, y: (x * y, (x, y)), lambda saved, bar: bar * saved[0])
    assert text_of(errors.CustomRuleError, lambda: fg.grad(product)(2.0, 3.0)) == lines(
        "the result of the backward rule function must be a tuple of cotangents, one per "
        "differentiable argument, "
        "and it is a Tracer",
        "  FILE:N in <lambda>",
        "    assert text_of(errors.CustomRuleError, lambda: fg.grad(product)(2.0, 3.0)) == lines(",
        "                                                   ^^^^^^^^^^^^^^^^^^^^^^^^^^",
        "  Return (cotangent,) for a function of one argument.",
    )


class Unruly(Unary):
    """An operation whose derivative refuses."""

    name = "unruly"
    ufunc = np.positive

    def derivative(self, x: Any, out: Any) -> Any:
        raise errors.NotDifferentiableError("unruly has no derivative")

    @classmethod
    def samples(cls) -> Any:
        return ()


def test_an_error_in_a_derived_equation_points_at_the_forward_line() -> None:
    unruly = Unruly()

    def loss(x: Any) -> Any:
        scaled = unruly(x * 2.0)
        return np.sum(scaled)

    assert text_of(errors.NotDifferentiableError, lambda: fg.grad(loss)(np.ones(3))) == lines(
        "unruly has no derivative",
        "  FILE:N in loss",
        "    scaled = unruly(x * 2.0)",
        "             ^^^^^^^^^^^^^^^",
    )


def test_a_rule_that_fails_shows_its_own_line() -> None:
    @fg.custom_vjp
    def rounded(x: Any) -> Any:
        return np.round(x)

    rounded.defvjp(lambda x: (np.round(x), x), lambda x, bar: (bar * np.ones(7),))
    message = text_of(errors.ShapeError, lambda: fg.grad(lambda x: np.sum(rounded(x)))(np.ones(3)))
    assert message.startswith("mul of f64[3] and f64[7]: these shapes do not broadcast")
    assert "(bar * np.ones(7),)" in message


def test_a_failure_while_running_notes_the_line() -> None:
    def picked(x: Any, i: Any) -> Any:
        return x[i] * 2.0

    with pytest.raises(IndexError) as caught:
        fg.vmap(picked, in_axes=(None, 0))(np.ones(3), np.array([0, 5]))
    assert "return x[i] * 2.0" in "".join(caught.value.__notes__)


def test_an_exception_in_the_function_leaves_nothing_behind() -> None:
    large = np.ones(100_000)

    def failing(x: Any) -> Any:
        total = np.sum(x * large)
        raise RuntimeError(f"stopped at {float(total):.0f}")

    with pytest.raises(RuntimeError, match="stopped at 100000"):
        fg.grad(failing)(1.0)
    assert large.flags.writeable
    assert isinstance(fnp.zeros(3), np.ndarray)
    assert fg.grad(np.sin)(0.0) == 1.0


def test_the_traceback_shows_the_user_only() -> None:
    def failing(x: Any) -> Any:
        return 1 / (x - x.shape[0])

    with pytest.raises(IndexError) as caught:
        fg.grad(failing)(1.0)
    files = {entry.path.name for entry in caught.traceback if hasattr(entry.path, "name")}
    assert files == {"test_user_errors.py"}


# -- remedies ---------------------------------------------------------------------------------------------


def test_a_long_condition_is_not_repeated() -> None:
    def long(x: Any) -> Any:
        if np.abs(x - 1.0) < 1e-3 * np.abs(x) + 1e-6 and x > 0.0:
            return x
        return -x

    text = text_of(errors.TracedBranchError, lambda: fg.make_program(long)(1.0))
    assert "Use fg.numpy.where(condition, a, b)" in text


def test_a_while_is_told_of_loops() -> None:
    def halved(x: Any) -> Any:
        while x > 1.0:
            x = x / 2.0
        return x

    text = text_of(errors.TracedBranchError, lambda: fg.make_program(halved)(5.0))
    assert "Use fg.while_loop(condition, body, start)" in text
    assert "fg.numpy.where" not in text


@pytest.mark.parametrize(
    ("use", "words"),
    [
        (lambda x: x.sum(dim=0), "NumPy calls it 'axis'"),
        (lambda x: x.mean(keepdim=True), "NumPy calls it 'keepdims'"),
        (lambda x: np.sum(x, dim=0), "NumPy calls it 'axis'"),
        (lambda x: x.argsrt(), "Did you mean 'argsort'"),
        (lambda x: x.sinn(), "Did you mean 'sin'"),
        (lambda x: x.quux, "It has those of NumPy's arrays"),
        (lambda x: x.detach(), r"Use fg\.stop_gradient\(x\)"),
        (lambda x: x.clamp(0, 1), r"Use x\.clip"),
    ],
)
def test_other_names_are_told_numpys(use: Any, words: str) -> None:
    with pytest.raises((TypeError, AttributeError), match=words):
        fg.grad(lambda x: np.sum(use(x)))(np.ones(3))


def test_what_scipy_offers_is_listed() -> None:
    assert {"linalg", "special"} <= set(dir(fg.scipy))
    assert "expm" in dir(fg.scipy.linalg)
    assert "logsumexp" in dir(fg.scipy.special)
    assert "norm" in dir(fg.scipy.stats)
    assert {"sin", "fft", "linalg", "unique", "frompyfunc", "packbits", "float64"} <= set(dir(fg.numpy))
    for module in (
        fg.numpy,
        fg.random,
        fg.nn,
        fg.lax,
        fg.tree,
        fg.tree_util,
        fg.testing,
        fg.extend,
        fg.scipy.linalg,
    ):
        assert not {"annotations", "Any", "Sequence", "keys", "arrays", "movement", "checks"} & set(
            dir(module)
        ), module
        assert all(hasattr(module, name) for name in dir(module))
    with pytest.raises(AttributeError, match="Did you mean 'linalg'"):
        fg.scipy.lnalg  # noqa: B018 - reading it is the test


def test_names_of_scipy_that_are_not_here_say_what_to_do() -> None:
    with pytest.raises(
        AttributeError, match=r"fg.scipy.linalg has no cossin: scipy.linalg.cossin is for values"
    ):
        fg.scipy.linalg.cossin  # noqa: B018 - the error is what is looked for
    with pytest.raises(AttributeError, match=r"no attribute 'exmp'. Did you mean 'expm'"):
        fg.scipy.linalg.exmp  # noqa: B018 - likewise


def test_functions_of_scipy_behind_its_decorators_are_named() -> None:
    from scipy.cluster.vq import kmeans

    with pytest.raises(fg.errors.UnsupportedFunctionError, match=r"scipy.cluster.*kmeans takes the value"):
        fg.grad(lambda x: [kmeans(x, 1)][0][1])(np.ones((4, 2)))
