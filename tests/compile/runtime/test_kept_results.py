"""Small arrays of results that callers keep: given out again once nobody has them, and never before."""

import weakref

import numpy as np
import pytest

from funcgrad.compile.runtime.callers.call_layout import CallLayout, Input, Output
from funcgrad.compile.runtime.callers.kept_results import times_kept
from funcgrad.compile.runtime.callers.native_caller import make_native_caller
from funcgrad.compile.runtime.machine.offsets import KEPT_BYTES, KEPT_FROM
from funcgrad.compile.runtime.machine_code import runtime
from funcgrad.numpy.tracers.memory_elsewhere import held_elsewhere

F8 = np.dtype(np.float64)
SHAPE = (3, 2)

MANY = """
def run(p, n):
    x = as_f64(p[0])
    for k in range(n[0]):
        y = as_f64(p[k + 1])
        for i in range(6):
            y[i] = x[i] + k
"""


@pytest.fixture
def many(load):
    """A call whose result k is its argument plus k."""

    def made(count: int = KEPT_FROM, shape: tuple[int, ...] = SHAPE):
        found = runtime()
        if found is None:
            pytest.skip("no native caller here")
        outputs = tuple(Output(k + 1, F8, shape) for k in range(count))
        layout = CallLayout((Input(0, F8, shape),), outputs, sizes=(count,))
        return make_native_caller(found, load(MANY)["run"], layout)

    return made


def places(results) -> list[int]:
    return [y.ctypes.data for y in results]


def test_what_nobody_has_is_given_out_again_and_what_somebody_has_is_not(many):
    call = many()
    seen = [places(call(np.zeros(SHAPE))) for _ in range(6)]
    assert seen[0] == seen[2] == seen[4]
    assert seen[1] == seen[3] == seen[5]
    assert not set(seen[0]) & set(seen[1])
    held = [call(np.full(SHAPE, float(k))) for k in range(5)]
    some = [held.pop()[k] for k in (2, 7)]  # of the calls with 4 and with 3
    for _ in range(4):
        call(np.full(SHAPE, -1.0))
    for k, results in enumerate(held):
        for j, y in enumerate(results):
            np.testing.assert_array_equal(y, np.full(SHAPE, float(k + j)))
    np.testing.assert_array_equal(some, [np.full(SHAPE, 6.0), np.full(SHAPE, 10.0)])


def reshaped(y):
    y.shape = (6,)


def retyped(y):
    y.dtype = np.int64


def locked(y):
    y.flags.writeable = False


def resized(y):
    y.resize((4, 2), refcheck=False)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("change", [reshaped, retyped, locked, resized])
def test_an_array_that_was_changed_is_not_given_out(many, change):
    call = many()
    for y in call(np.zeros(SHAPE)):
        change(y)
    del y
    for _ in range(4):
        for k, y in enumerate(call(np.ones(SHAPE))):
            assert (y.shape, y.dtype, y.flags.writeable, y.flags.owndata) == (SHAPE, F8, True, True)
            np.testing.assert_array_equal(y, np.full(SHAPE, 1.0 + k))


@pytest.mark.parametrize("hold", [lambda y: y[1:], memoryview, lambda y: y.flat, lambda y: y.T])
def test_memory_that_something_else_reads_is_not_given_out(many, hold):
    call = many()
    held = [hold(y) for y in call(np.zeros(SHAPE))]
    for _ in range(4):
        call(np.full(SHAPE, -1.0))
    for k, part in enumerate(held):
        assert set(np.asarray(part).ravel().tolist()) == {float(k)}


def test_an_array_with_a_weak_reference_is_not_given_out_and_goes_in_time(many):
    call = many()
    gone: list[object] = []
    weak = [weakref.ref(y, gone.append) for y in call(np.zeros(SHAPE))]
    call(np.zeros(SHAPE))
    call(np.zeros(SHAPE))
    assert len(gone) == len(weak)


def test_what_is_kept_goes_with_the_caller(many):
    call = many()
    results = call(np.zeros(SHAPE))
    assert times_kept(results[0]) == 1
    weak = weakref.ref(results[0])
    del results
    assert weak() is not None
    del call
    assert weak() is None


def test_few_results_and_long_ones_are_not_kept(many):
    long = (-(-KEPT_BYTES // (8 * KEPT_FROM)) + 1,)
    for call, shape in ((many(KEPT_FROM - 1), SHAPE), (many(KEPT_FROM, long), long)):
        assert not any(times_kept(y) for y in call(np.zeros(shape)))


def test_a_kept_array_is_not_held_elsewhere(many):
    """Traced values may be written into results: that a caller keeps them is nobody's view of them."""
    results = list(many()(np.zeros(SHAPE)))
    owned = [results.pop()]
    other = list(owned)
    assert not held_elsewhere(owned)
    view = memoryview(owned[0])
    assert held_elsewhere(owned)
    del view, other
