"""Operations defined outside of the package: they compile, batch and differentiate like the library's own."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from scipy import special

import funcgrad as fg
from funcgrad.compile.runtime.executable import compiled
from funcgrad.errors import ProgramError
from funcgrad.extend import (
    Aval,
    Binary,
    Fold,
    Pointwise,
    Reduction,
    Sample,
    Unary,
    by_kind,
    edge,
    normal,
    positive,
    unary,
)
from funcgrad.ir.catalog import CATALOG

SAMPLES = (Sample(normal(3, 4)), Sample(normal()), Sample(edge(0.0, np.inf, -3.0), differentiable=False))


def divided_by_its_size(x: Any) -> Any:
    return x / (1.0 + np.abs(x))


@unary(
    divided_by_its_size,
    native="{0} / ({operand}(1.0) + fabs({0}))",
    cost=5,
    kinds="f",
    samples=SAMPLES,
)
def softsign_of_a_user(x: Any, out: Any) -> Any:
    """``x / (1 + |x|)``, by a native form."""
    return (1.0 - abs(out)) ** 2


class Mish(Unary):
    """``x tanh(log(1 + exp(x)))``, by other operations."""

    name = "mish_of_a_user"
    kinds = "f"

    def evaluate(self, *values: Any) -> Any:
        (x,) = values
        return x * np.tanh(np.log1p(np.exp(x)))

    def expansion(self, *inputs: Any) -> Any:
        (x,) = inputs
        return x * np.tanh(np.log1p(np.exp(x)))

    def derivative(self, x: Any, out: Any) -> Any:
        t = np.tanh(np.log1p(np.exp(x)))
        return t + x * (1.0 - t * t) / (1.0 + np.exp(-x))

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        return (Sample(normal(3, 4)), Sample(normal()))


class Wrapped(Binary):
    """The remainder of an integer, and of a float, by forms of two kinds."""

    name = "wrapped_of_a_user"
    kinds = "f"
    ufunc = np.remainder
    native = by_kind(f="remainder({0}, {1})", iu="{result}({0} % {1})")

    def partial(self, i: int, primals: Sequence[Any], out: Any) -> Any:
        return 1.0 if i == 0 else -np.floor(primals[0] / primals[1])

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        return (Sample(positive(3, 4), positive(3, 4)),)


class OverAxes(Reduction):
    """What the reductions here share."""

    kinds = "f"

    def infer(self, *avals: Aval) -> Aval:
        (x,) = avals
        return Aval(tuple([n for a, n in enumerate(x.shape) if a not in self.axes]), x.dtype)

    @classmethod
    def samples(cls) -> Sequence[Sample]:
        return (
            Sample(normal(5), params={"axes": (0,)}),
            Sample(normal(3, 4), params={"axes": (1,)}),
            Sample(normal(2, 3, 2), params={"axes": (0, 2)}),
        )


class LargestSize(OverAxes):
    """The largest of positive numbers, by how elements are combined and what there is before the first."""

    name = "largest_of_a_user"
    fold = Fold("largest", "maximum({0}, {1})", "{result}(0.0)")

    def evaluate(self, *values: Any) -> Any:
        return np.maximum.reduce(values[0], axis=self.axes, initial=0.0)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        (x,), (x_dot,) = primals, tangents
        out = self.bind(x)
        return out, np.sum(np.where(x == self.keepdims(out, x), x_dot, 0.0), axis=self.axes)


class RootMeanSquare(OverAxes):
    """The root of the mean of the squares, by other operations."""

    name = "root_mean_square_of_a_user"

    def evaluate(self, *values: Any) -> Any:
        return np.sqrt(np.mean(values[0] ** 2, axis=self.axes))

    def expansion(self, *inputs: Any) -> Any:
        (x,) = inputs
        return np.sqrt(np.mean(x**2, axis=self.axes))

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        (x,), (x_dot,) = primals, tangents
        out = self.bind(x)
        return out, np.mean(x * x_dot, axis=self.axes) / out


# Other suites hold their laws over whatever the catalog has when they are collected.
for _name in [name for name in CATALOG if name.endswith("_of_a_user")]:
    del CATALOG[_name]


def largest(x: Any) -> Any:
    return LargestSize((1,)).bind(x)


def root_mean_square(x: Any) -> Any:
    return RootMeanSquare((1,)).bind(x)


def remainder_of_tens(x: Any) -> Any:
    return Wrapped()(10.0 * x, 0.9)


FUNCTIONS = [softsign_of_a_user, Mish(), remainder_of_tens, largest, root_mean_square]
every_function = pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: getattr(f, "name", None) or f.__name__)
X = np.array([[0.3, 1.2, 0.7], [2.1, 0.4, 1.9]])


def total(f: Any) -> Any:
    """The sum of the elements with weights of their own."""

    def scalar(x: Any) -> Any:
        out = f(x)
        return np.sum(out * np.arange(1.0, out.size + 1.0).reshape(out.shape))

    return scalar


@every_function
def test_it_is_native_in_every_transform(f: Any) -> None:
    batch = np.stack([X, X * 0.5, X + 1.0])
    for transformed, argument in (
        (f, X),
        (fg.grad(total(f)), X),
        (fg.vmap(f), batch),
        (fg.vmap(fg.grad(total(f))), batch),
        (fg.grad(total(fg.grad(total(f)))), X),
    ):
        report = fg.explain(transformed)(argument)
        assert report.reasons == ()
        np.testing.assert_allclose(fg.jit(transformed)(argument), transformed(argument), rtol=1e-12)


@every_function
def test_its_derivatives_are_those_of_differences(f: Any) -> None:
    fg.testing.check_grads(f, (X,), order=2)
    fg.testing.check_grads(fg.jit(f), (X,), order=1)


@every_function
def test_batches_are_those_of_a_loop(f: Any) -> None:
    batch = np.stack([X, X * 0.5, X + 1.0])
    np.testing.assert_allclose(fg.vmap(f)(batch), [f(x) for x in batch], rtol=1e-12)


@every_function
def test_single_precision(f: Any) -> None:
    x = X.astype(np.float32)
    found = fg.jit(f)(x)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, f(x), rtol=2e-5)


def test_kinds_have_forms_of_their_own() -> None:
    whole = np.array([[7, -7, 5]], np.int8)
    assert fg.explain(lambda x: Wrapped()(x, np.int8(3)))(whole).reasons == ()
    np.testing.assert_array_equal(fg.jit(lambda x: Wrapped()(x, np.int8(3)))(whole), whole % 3)


def test_a_row_teaches_its_ufunc_to_trace() -> None:
    @unary(special.berp, samples=SAMPLES, kinds="f")
    def berp_of_a_user(x: Any, out: Any) -> Any:
        """The derivative of `ber`, by the differential equation of both."""
        raise NotImplementedError

    @unary(special.ber, samples=SAMPLES, kinds="f")
    def ber_of_a_user(x: Any, out: Any) -> Any:
        """The real part of a Bessel function."""
        return berp_of_a_user(x)

    np.testing.assert_allclose(fg.grad(lambda x: special.ber(x).sum())(X), special.berp(X))
    assert str(ber_of_a_user) == "ber_of_a_user"


def test_a_row_pickles() -> None:
    assert pickle.loads(pickle.dumps(softsign_of_a_user)) is softsign_of_a_user


def test_numpy_is_called_where_the_form_is_left_out() -> None:
    class Cubed(Unary):
        """``x * x * x``, of which kernels are told nothing."""

        name = "cubed_of_a_user"
        samples = softsign_of_a_user.samples

        def evaluate(self, *values: Any) -> Any:
            return values[0] ** 3

        def derivative(self, x: Any, out: Any) -> Any:
            return 3.0 * x * x

    (reason,) = fg.explain(Cubed())(X).reasons
    assert "cubed_of_a_user" in str(reason.words)
    np.testing.assert_allclose(fg.jit(fg.grad(total(Cubed())))(X), fg.grad(total(Cubed()))(X))


def test_another_evaluation_takes_no_form_over() -> None:
    """A subclass that evaluates something else must not be compiled to what its base is."""

    class Scaled(type(softsign_of_a_user)):  # type: ignore[misc]
        """Twice the softsign."""

        name = "scaled_softsign_of_a_user"

        def evaluate(self, *values: Any) -> Any:
            return 2.0 * divided_by_its_size(values[0])

    class ScaledMish(Mish):
        """Twice the mish."""

        name = "scaled_mish_of_a_user"

        def evaluate(self, *values: Any) -> Any:
            return 2.0 * super().evaluate(*values)

    class Opposite(LargestSize):
        """Minus the largest."""

        name = "opposite_largest_of_a_user"

        def evaluate(self, *values: Any) -> Any:
            return -super().evaluate(*values)

    for primitive in (Scaled(), ScaledMish(), Opposite((1,))):
        np.testing.assert_allclose(fg.jit(primitive.bind)(X), primitive.evaluate(X))


@pytest.mark.parametrize(
    ("name", "form", "words"),
    [
        (
            "misspelt",
            "tanhh({0})",
            "has a word that kernels do not know, tanhh: tanhh({0})\n  Did you mean",
        ),
        (
            "with_two",
            "{0} + {1}",
            "is no expression of 1 operands: {0} + {1}\n  Write it with {0} for the",
        ),
        ("unfinished", "{0} +", "is no expression of 1 operands: {0} +"),
        ("of_numpy", "np.exp({0})", "has a word that kernels do not know, np: np.exp({0})"),
    ],
)
def test_a_form_that_is_no_kernel_text_is_refused(name: str, form: str, words: str) -> None:
    def derivative(x: Any, out: Any) -> Any:
        return 1.0

    derivative.__name__, derivative.__doc__ = f"{name}_of_a_user", "An operation with a wrong form."
    wrong = unary(np.positive, native=form, samples=SAMPLES)(derivative)
    with pytest.raises(ProgramError) as caught:
        fg.jit(wrong)(X)
    assert f"the native form of {name}_of_a_user {words}" in str(caught.value)


def test_an_expansion_of_another_type_is_refused() -> None:
    class Counted(Pointwise):
        """An operation whose expansion forgets an axis."""

        name = "counted_of_a_user"
        ufunc = np.positive
        samples = softsign_of_a_user.samples

        def expansion(self, *inputs: Any) -> Any:
            return np.sum(inputs[0], axis=0)

        def partial(self, i: int, primals: Sequence[Any], out: Any) -> Any:
            return 1.0

    with pytest.raises(ProgramError, match=r"the expansion of counted_of_a_user gives f64\[3\], and `infer`"):
        compiled(fg.make_program(Counted().bind)(X))


def test_a_row_says_what_an_exported_module_calls() -> None:
    class Steps(Unary):
        """The distance to the next number, for which a user has no text of kernels."""

        name = "steps_of_a_user"
        kinds = "f"
        exported = ("np.spacing({0})",)
        samples = softsign_of_a_user.samples

        def evaluate(self, *values: Any) -> Any:
            return np.spacing(*values)

        def derivative(self, x: Any, out: Any) -> None:
            return None

    def twice(x: Any) -> Any:
        return 2.0 * Steps().bind(x)

    text = fg.export(twice, engine="numpy")(X).text
    assert "np.spacing(x[" in text, text
    module: dict[str, Any] = {"__name__": "exported"}
    exec(text, module)
    np.testing.assert_array_equal(module["twice"](X), 2.0 * np.spacing(X))
    assert "np.spacing(x[" in fg.export(twice)(X).text
