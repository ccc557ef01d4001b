"""What blocks on traced values say: at the calls that come to it, and not while they are recorded."""

import logging
import warnings
from typing import Any

import numpy as np
import pytest

import funcgrad as fg


def root(x: float) -> float:
    y, steps = 1.0 * x, 0
    while abs(y * y - x) > 1e-12 and steps < 4:
        y = 0.5 * (y + x / y)
        steps += 1
    if abs(y * y - x) > 1e-12:
        warnings.warn("did not converge", RuntimeWarning, stacklevel=2)
    return y


@pytest.mark.parametrize("transform", [fg.jit, lambda f: fg.jit(fg.grad(f)), lambda f: fg.jit(fg.jit(f))])
def test_a_warning_is_given_by_the_calls_that_come_to_it(transform: Any) -> None:
    f = transform(root)
    f(1.0)  # warnings are errors here
    for _ in range(2):
        with pytest.warns(RuntimeWarning, match="did not converge"):
            f(900.0)
    f(1.1)


def test_the_gradient_of_a_jitted_function_warns_when_it_comes_to_it() -> None:
    f = fg.grad(fg.jit(root))
    f(1.0)
    with pytest.warns(RuntimeWarning, match="did not converge"):
        f(900.0)


def test_a_warning_in_a_branch_of_a_loop() -> None:
    @fg.jit
    def clipped(x: Any) -> Any:
        total = 0.0
        for i in range(len(x)):
            if x[i] < 0.0:
                warnings.warn("negative", stacklevel=1)
                continue
            total += x[i] ** 0.5
        return total

    assert clipped(np.ones(50)) == 50.0
    x = np.ones(50)
    x[30] = -1.0
    with pytest.warns(UserWarning, match="negative") as given:
        assert clipped(x) == 49.0
    assert len(given) == 1
    assert given[0].filename == __file__


def test_prints_and_logs_of_branches(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    log = logging.getLogger("of a test")

    @fg.jit
    def f(x: float) -> float:
        if x > 1.0:
            print("large")  # noqa: T201 - what is tested
            log.warning("large %s", "x")
        return 2.0 * x

    f(0.5)
    assert capsys.readouterr().out == ""
    assert not caplog.records
    f(1.5)
    assert capsys.readouterr().out == "large\n"
    assert [x.getMessage() for x in caplog.records] == ["large x"]


def test_examples_of_a_batch_say_nothing_and_a_notice_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FUNCGRAD_NOTICES", "1")
    f = fg.jit(fg.vmap(root))
    np.testing.assert_allclose(f(np.array([1.0, 1.2])), [1.0, 1.2**0.5])
    assert "it is not said" in capsys.readouterr().err


def test_exports_leave_out_what_is_said() -> None:
    assert fg.export(root, engine="numpy")(2.0).module().root(1.0) == 1.0
