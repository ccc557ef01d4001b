"""What Python's numbers and `math` raise is raised for traced ones, where the user's code waits for it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.errors import UnsupportedFunctionError
from funcgrad.tracing.python import attributes

Function = Callable[[Any], Any]
ERRORS = (ValueError, OverflowError)


def guarded(compute: Function) -> Function:
    """`compute`, or 7 x where it raises."""

    def f(x: Any) -> Any:
        try:
            return compute(x)
        except (ValueError, ArithmeticError):
            return 7.0 * x

    return f


def by_name(x: Any) -> Any:
    try:
        return math.sqrt(x - 5.0) + x
    except ERRORS:
        return 7.0 * x


def bare(x: Any) -> Any:
    try:
        return 1.0 / (x - 0.5)
    except:  # noqa: E722 - this is what is tested
        return 7.0 * x


def in_a_helper(x: Any) -> Any:
    def root(v: Any) -> Any:
        return math.sqrt(v)

    try:
        return root(x - 5.0)
    except ValueError:
        return 7.0 * x


def in_a_loop(x: Any) -> Any:
    total = 0.0
    for k in range(3):
        try:
            total = total + math.sqrt(x - 0.4 * k)
        except ValueError:
            total = total + x * k
    return total


def each_its_own(compute: Function) -> Function:
    def f(x: Any) -> Any:
        try:
            return compute(x)
        except ValueError:
            return 7.0 * x
        except OverflowError:
            return x * x

    return f


OF_MATH: dict[str, Function] = {
    "log": guarded(lambda x: math.log(x - 5.0)),
    "log of zero": guarded(lambda x: math.log(x - 0.5)),
    "log of another base": guarded(lambda x: math.log(x - 5.0, 3.0)),
    "sqrt": guarded(lambda x: math.sqrt(x - 5.0)),
    "exp": guarded(lambda x: math.exp(5000.0 * x)),
    "cosh": guarded(lambda x: math.cosh(5000.0 * x)),
    "acosh": guarded(math.acosh),
    "asin": guarded(lambda x: math.asin(9.0 * x)),
    "atanh": guarded(lambda x: math.atanh(2.0 * x)),
    "pow": guarded(lambda x: math.pow(x - 5.0, 0.5)),
    "fmod": guarded(lambda x: math.fmod(x, x - 0.5)),
    "a tuple of exceptions": by_name,
    "in a helper": in_a_helper,
    "in a loop": in_a_loop,
    "nothing to raise": guarded(lambda x: math.log(x) + math.exp(x)),
    "NaN goes through": guarded(lambda x: x + 0.0 * (math.isnan(math.sqrt(math.nan)) - 1.0)),
}

OF_PYTHON: dict[str, Function] = {
    "1 / 0": guarded(lambda x: 1.0 / (x - 0.5)),
    "x / 0": guarded(lambda x: x / (x - 0.5)),
    "x // 0": guarded(lambda x: x // (x - 0.5)),
    "x % 0": guarded(lambda x: x % (x - 0.5)),
    "divmod": guarded(lambda x: divmod(x, x - 0.5)[1]),
    "0 ** -1": guarded(lambda x: (x - 0.5) ** -1),
    "too large": guarded(lambda x: (1e300 * x) ** 2),
    "an integer": guarded(lambda x: x + 5 // int(x)),
    "integer of infinity": guarded(lambda x: x + 0.0 * int(np.log(0.0 * x))),
    "bare except": bare,
    "nothing to raise": guarded(lambda x: 1.0 / x + x**-2 + x % 0.3),
}

WAYS: dict[str, Callable[[Function], Function]] = {
    "as it stands": fg.value_and_grad,
    "compiled": lambda f: fg.value_and_grad(fg.jit(f)),
    "compiled whole": lambda f: fg.jit(fg.value_and_grad(f)),
}


def wanted(f: Function, x: float) -> tuple[float, float]:
    """Value and slope; what raises here is a jump, so the slope is what holds at the point itself."""
    return f(x), 7.0 if f(x) == 7.0 * x else (f(x + 1e-6) - f(x - 1e-6)) / 2e-6


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", [*OF_MATH, *OF_PYTHON])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_handler_runs_as_in_python(name: str, way: str) -> None:
    f = (OF_MATH | OF_PYTHON)[name]
    np.testing.assert_allclose(WAYS[way](f)(0.5), wanted(f, 0.5), rtol=1e-6)


WHICH: dict[str, Function] = {
    "a pole of log": lambda x: math.log(x - 0.5),
    "exp too large": lambda x: math.exp(5000.0 * x),
    "sinh too large": lambda x: math.sinh(-5000.0 * x),
    "pow too large": lambda x: math.pow(-1e300 * x, 3.0),
    "a pole of pow": lambda x: math.pow(x - 0.5, -1.0),
    "a pole of gamma": lambda x: math.gamma(x - 0.5),
    "gamma too large": lambda x: math.gamma(600.0 * x),
    "prod raises nothing": lambda x: x * 0.0 * math.prod([1.0, x]),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", WHICH)
def test_each_exception_has_its_handler(name: str, way: str) -> None:
    f = each_its_own(WHICH[name])
    np.testing.assert_allclose(WAYS[way](f)(0.5)[0], f(0.5))


@pytest.mark.parametrize("name", OF_MATH)
def test_each_element_of_a_batch_goes_its_way(name: str) -> None:
    f = OF_MATH[name]
    points = np.array([0.5, 0.3, 0.5])
    values, slopes = fg.vmap(fg.value_and_grad(f))(points)
    np.testing.assert_allclose(np.stack([values, slopes], 1), [wanted(f, x) for x in points], rtol=1e-6)


def test_a_compiled_function_takes_either_way_at_each_call() -> None:
    f = guarded(lambda x: math.log(x) + 0.0)
    compiled = fg.jit(f)
    for x in (0.5, -2.0, 0.25, -1.0):
        np.testing.assert_allclose(compiled(x), f(x))


def test_numbers_of_numpys_give_infinity_there_as_they_do() -> None:
    f = guarded(lambda x: 1.0 / (x[0] - 0.5))
    with np.errstate(divide="ignore"):
        assert np.isinf(f(np.array([0.5])))
        assert np.isinf(fg.value_and_grad(f)(np.array([0.5]))[0])
        assert np.isinf(fg.jit(f)(np.array([0.5])))


def test_with_is_no_handler() -> None:
    def f(x: Any) -> Any:
        with np.errstate(invalid="ignore"):
            return math.log(x)

    assert len(fg.jit(f).program(0.5).equations) == 1


# -- exceptions that NumPy is asked for ----------------------------------------------------------------------


def in_the_block(x: Any) -> Any:
    with np.errstate(all="raise"):
        try:
            return np.log(x[0] - 0.5) * x[1]
        except FloatingPointError:
            return x[1] ** 3


def around_the_block(x: Any) -> Any:
    try:
        with np.errstate(divide="raise", invalid="raise"):
            return np.log(x[0] - 0.5) * x[1]
    except ArithmeticError:
        return x[1] ** 3


def set_for_all(x: Any) -> Any:
    before = np.seterr(divide="raise")
    try:
        return np.log(x[0] - 0.5) * x[1]
    except FloatingPointError:
        return x[1] ** 3
    finally:
        np.seterr(**before)


def by_warnings(x: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return np.log(x[0] - 0.5) * x[1]
        except RuntimeWarning:
            return x[1] ** 3


def by_a_filter(x: Any) -> Any:
    with warnings.catch_warnings():
        warnings.filterwarnings("error", category=RuntimeWarning)
        try:
            return np.log(x[0] - 0.5) * x[1]
        except Warning:
            return x[1] ** 3


@pytest.mark.parametrize("transform", [fg.grad, fg.jit, fg.vmap, lambda f: fg.grad(fg.jit(f))])
@pytest.mark.parametrize("f", [in_the_block, around_the_block, set_for_all, by_warnings, by_a_filter])
def test_exceptions_that_numpy_is_asked_for_are_refused_where_handled(f: Any, transform: Any) -> None:
    assert f(np.array([0.5, 2.0])) == 8.0
    state = np.geterr()
    with pytest.raises(UnsupportedFunctionError, match="is asked to raise") as caught:
        transform(f)(np.ones((2, 2)) / 2.0 if transform is fg.vmap else np.array([0.5, 2.0]))
    assert "np.isfinite" in str(caught.value)
    assert np.geterr() == state


def test_without_a_handler_nothing_is_refused() -> None:
    def f(x: Any) -> Any:
        with np.errstate(all="raise"), warnings.catch_warnings():
            warnings.simplefilter("error", DeprecationWarning)
            return np.log(x) * 2.0

    def with_another_handler(x: Any) -> Any:
        with np.errstate(divide="ignore"):
            try:
                return f(x)
            except FloatingPointError:
                return x

    assert fg.grad(f)(0.5) == fg.grad(fg.jit(f))(0.5) == 4.0
    with pytest.raises(UnsupportedFunctionError, match=r"np\.errstate is asked"):
        fg.grad(with_another_handler)(0.5)


class Package:
    """Stands for a module that has exceptions of its own."""

    Error = ZeroDivisionError
    several = (KeyError, ZeroDivisionError)


def test_a_handler_may_name_an_attribute_or_a_tuple() -> None:
    def by_attribute(x: float) -> float:
        try:
            return 1.0 / (x - x)
        except Package.Error:
            return 5.0 * x

    def by_tuple(x: float) -> float:
        try:
            return 1.0 / (x - x)
        except Package.several:
            return 5.0 * x

    for f in (by_attribute, by_tuple):
        assert fg.value_and_grad(f)(0.5) == (2.5, 5.0)
        assert fg.jit(f)(0.5) == 2.5


def raising() -> None:
    np.seterr(all="raise")


def handling(x: Any) -> Any:
    try:
        return np.log(x - x)
    except FloatingPointError:
        return 7.0 * x


def test_exceptions_are_refused_where_a_function_that_is_called_handles_them() -> None:
    def by_a_helper(x: Any) -> Any:
        raising()
        return handling(x)

    def around(x: Any) -> Any:
        with np.errstate(all="raise"):
            return handling(x)

    for f in (by_a_helper, around):
        for transform in (fg.grad, fg.jit):
            with pytest.raises(fg.errors.UnsupportedFunctionError, match="traced operations raise none"):
                transform(f)(np.float64(0.5))


# -- errors that are asked for from outside, by a decorator, or counted -------------------------------------


def log_or_five(x: Any) -> Any:
    try:
        return np.sum(np.log(x - 0.5))
    except FloatingPointError:
        return 5.0 * np.sum(x)


@np.errstate(all="raise")
def decorated_log(x: Any) -> Any:
    return np.sum(np.log(x - 0.5))


@np.errstate(divide="raise", invalid="raise")
def handles_its_own(x: Any) -> Any:
    return log_or_five(x)


@np.errstate(all="ignore")
def ignores(x: Any) -> Any:
    return np.sum(np.log(x + 0.5))


def calls_a_decorated_one(x: Any) -> Any:
    try:
        return decorated_log(x)
    except FloatingPointError:
        return 5.0 * np.sum(x)


def calls_one_that_handles(x: Any) -> Any:
    return handles_its_own(x) * 2.0


def counts_errors(x: Any) -> Any:
    seen: list[Any] = []
    with np.errstate(invalid="call", call=lambda *_: seen.append(1)):
        total = np.nansum(np.sqrt(x - 0.5))
    return total * (1 + len(seen))


def counts_warnings(x: Any) -> Any:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        total = np.nansum(np.sqrt(x - 0.5))
    return total * (1 + len(seen))


TRANSFORMS: dict[str, Callable[[Function], Function]] = {
    "grad": fg.grad,
    "jacfwd": fg.jacfwd,
    "jit": lambda f: fg.jit(fg.grad(f)),
    "vmap": lambda f: lambda x: fg.vmap(f)(x[None]),
}


@pytest.mark.parametrize("way", TRANSFORMS)
@pytest.mark.parametrize("f", [calls_a_decorated_one, calls_one_that_handles, counts_errors, counts_warnings])
def test_errors_that_a_decorator_raises_or_a_list_counts_are_refused(f: Function, way: str) -> None:
    with pytest.raises(UnsupportedFunctionError, match="traced operations"):
        TRANSFORMS[way](f)(np.array([0.3, 0.9]))


@pytest.mark.parametrize("way", TRANSFORMS)
def test_errors_that_numpy_was_told_to_raise_before_are_refused_where_handled(way: str) -> None:
    x = np.array([0.3, 0.9])
    before = np.seterr(all="raise")
    try:
        with pytest.raises(UnsupportedFunctionError, match=r"np\.seterr is asked to raise"):
            TRANSFORMS[way](log_or_five)(x)
        np.testing.assert_allclose(fg.grad(ignores)(x), 1.0 / (x + 0.5))
    finally:
        np.seterr(**before)
    np.testing.assert_allclose(fg.grad(log_or_five)(x + 1.0), 1.0 / (x + 0.5))


def test_warnings_that_nobody_reads_are_no_matter() -> None:
    def f(x: Any) -> Any:
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            warnings.warn("an own one", stacklevel=1)
            count = len(seen)
            total = np.sum(x * x)
        return total * count

    np.testing.assert_allclose(fg.grad(f)(np.array([0.3, 0.9])), [0.6, 1.8])


# -- indices beyond the end ---------------------------------------------------------------------------------


def of_a_list(x: Any) -> Any:
    try:
        return [1.0, 2.0][int(x)] * x
    except IndexError:
        return x**3


def of_a_tuple(x: Any) -> Any:
    try:
        return (1.0, 2.0)[int(x)] * x
    except Exception:  # noqa: BLE001 - as people write it
        return x**3


def set_in_a_list(x: Any) -> Any:
    numbers = [x, 2.0 * x]
    try:
        numbers[int(x)] = 3.0
    except LookupError:
        return x**3
    return numbers[0] * numbers[1]


@pytest.mark.parametrize("f", [of_a_list, of_a_tuple, set_in_a_list])
def test_an_index_beyond_the_end_takes_the_way_of_the_handler(f: Function) -> None:
    compiled, batched = fg.jit(fg.grad(f)), fg.vmap(fg.grad(f))
    for x in (0.5, 1.5, 2.5, 0.25):
        slope = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
        np.testing.assert_allclose([fg.grad(f)(x), compiled(x), batched(np.array([x]))[0]], slope, rtol=1e-6)


def test_floats_that_divide_where_a_handler_waits_are_refused_without_values() -> None:
    def f(x: Any) -> Any:
        try:
            scale = 1.0 / float(int(x))
        except ZeroDivisionError:
            scale = 7.0
        return scale * x

    assert fg.grad(f)(0.5) == 7.0
    with pytest.raises(fg.errors.FuncgradError, match=r"float\(\) makes a number of Python's"):
        fg.jit(f)(0.5)


def test_so_are_they_where_a_class_of_the_users_divides(monkeypatch: pytest.MonkeyPatch) -> None:
    """Divisions are calls there, which ask for the class's: `jit` gave infinity instead."""
    monkeypatch.setattr(attributes, "_HELD", {*attributes._HELD})

    class Ratio:
        def __truediv__(self, other: Any) -> Any:
            return other

    def f(x: Any) -> Any:
        try:
            scale = 1.0 / float(int(x))
        except ZeroDivisionError:
            scale = 7.0
        return x if isinstance(scale, Ratio) else scale * x

    assert fg.grad(f)(0.5) == 7.0
    with pytest.raises(fg.errors.FuncgradError, match=r"float\(\) makes a number of Python's"):
        fg.jit(f)(0.5)
