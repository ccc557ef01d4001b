"""Calls of compiled code: what is accepted, what is returned, that nothing leaks. Both callers are alike."""

import gc
import sys
import threading

import numpy as np
import pytest
from numpy._core.multiarray import get_handler_name

from funcgrad.compile.engines.build import build
from funcgrad.compile.runtime.callers.call_layout import Accept, CallLayout, Constant, Input, Output, Scratch
from funcgrad.compile.runtime.callers.caller import make_caller
from funcgrad.compile.runtime.callers.ctypes_caller import PlainCaller
from funcgrad.compile.runtime.callers.native_caller import make_native_caller
from funcgrad.compile.runtime.machine.offsets import LARGE
from funcgrad.compile.runtime.machine.words import atomic_load
from funcgrad.compile.runtime.machine_code import drop_memory, kept_memory, limit_memory, runtime

F8 = np.dtype(np.float64)
ANY = Accept.ARRAY | Accept.NUMPY_SCALAR | Accept.FLOAT | Accept.INT | Accept.BOOL | Accept.COMPLEX

DOUBLE = """
def run(p, n):
    x = as_f64(p[0])
    y = as_f64(p[1])
    for i in range(n[0]):
        y[i] = x[i] * 2.0
"""


def native(address, layout, keep=None, fallback=None):
    found = runtime()
    if found is None:
        pytest.skip("no native caller here")
    return make_native_caller(found, address, layout, keep, fallback)


@pytest.fixture(params=[native, PlainCaller], ids=["native", "plain"])
def make(request):
    return request.param


def doubling(shape, **options) -> CallLayout:
    size = int(np.prod(shape))
    return CallLayout((Input(0, F8, shape),), (Output(1, F8, shape),), sizes=(size,), single=True, **options)


def test_an_array_goes_in_and_a_new_one_comes_out(load, make):
    call = make(load(DOUBLE)["run"], doubling((3, 2)))
    x = np.arange(6.0).reshape(3, 2)
    y = call(x)
    np.testing.assert_array_equal(y, 2 * x)
    assert type(y) is np.ndarray
    assert y.dtype is F8
    assert y.flags.owndata
    assert y.flags.writeable
    assert call(x) is not y


class Subclass(np.ndarray):
    pass


def misaligned() -> np.ndarray:
    return np.zeros(6 * 8 + 1, np.uint8)[1:].view(np.float64).reshape(3, 2)


OTHERS = {
    "another shape": lambda: np.zeros((2, 3)),
    "another rank": lambda: np.zeros(6),
    "another dtype": lambda: np.zeros((3, 2), np.float32),
    "another dtype of the same size": lambda: np.zeros((3, 2), np.int64),
    "a foreign byte order": lambda: np.zeros((3, 2), F8.newbyteorder()),
    "columns first": lambda: np.zeros((2, 3)).T,
    "every other row": lambda: np.zeros((6, 2))[::2],
    "an unaligned array": misaligned,
    "a subclass": lambda: np.zeros((3, 2)).view(Subclass),
    "a masked array": lambda: np.ma.zeros((3, 2)),
    "a list": lambda: [[0.0, 0.0]] * 3,
    "a number": lambda: 1.0,
    "a scalar": lambda: np.float64(1.0),
    "nothing": lambda: None,
}


@pytest.mark.parametrize("what", OTHERS)
def test_anything_else_is_refused(load, make, what):
    assert make(load(DOUBLE)["run"], doubling((3, 2)))(OTHERS[what]()) is NotImplemented


def test_another_number_of_arguments_is_refused(load, make):
    call = make(load(DOUBLE)["run"], doubling((3, 2)))
    x = np.zeros((3, 2))
    assert call() is NotImplemented
    assert call(x, x) is NotImplemented


def test_what_is_refused_goes_to_the_fallback(load, make):
    seen = []

    def fallback(*arguments):
        seen.append(arguments)
        return "fallen back"

    call = make(load(DOUBLE)["run"], doubling((3,)), fallback=fallback)
    assert call(1, "a") == "fallen back"
    assert seen == [(1, "a")]
    np.testing.assert_array_equal(call(np.ones(3)), 2.0)


def test_an_error_of_the_fallback_comes_through(load, make):
    def fallback(*arguments):
        raise KeyError(arguments)

    with pytest.raises(KeyError):
        make(load(DOUBLE)["run"], doubling((3,)), fallback=fallback)(1)


def test_read_only_inputs_are_fine_and_unchanged(load, make):
    x = np.arange(3.0)
    x.flags.writeable = False
    make(load(DOUBLE)["run"], doubling((3,)))(x)
    np.testing.assert_array_equal(x, [0.0, 1.0, 2.0])


@pytest.mark.parametrize("shape", [(0,), (3, 0, 2), ()])
def test_arrays_without_elements_and_without_axes(load, make, shape):
    y = make(load(DOUBLE)["run"], doubling(shape))(np.ones(shape))
    assert y.shape == shape
    assert type(y) is np.ndarray


COPY = """
def run(p, n):
    x = as_{0}(p[0])
    y = as_{0}(p[1])
    y[0] = x[0]
"""
NAMES = {
    np.float64: "f64", np.float32: "f32", np.complex128: "c128", np.complex64: "c64", np.int64: "i64",
    np.int32: "i32", np.int8: "i8", np.uint16: "u16", np.uint64: "u64", np.bool_: "bool",
}  # fmt: skip
SCALARS = [
    1.5,
    -0.0,
    float("inf"),
    1e300,
    3,
    -1,
    0,
    127,
    128,
    65535,
    2**31,
    2**63 - 1,
    2**63,
    2**70,
    True,
    False,
    1j,
]


def expected_scalar(dtype: np.dtype, value: object) -> object:
    """The value in the dtype, or NotImplemented where the call must leave it to others."""
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return NotImplemented
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        fits = isinstance(value, int) and info.min <= value <= info.max
        return dtype.type(value) if fits else NotImplemented
    if dtype.kind == "b":
        return dtype.type(value) if isinstance(value, bool) else NotImplemented
    if isinstance(value, complex) and dtype.kind != "c":
        return NotImplemented
    with np.errstate(over="ignore"):
        return dtype.type(value)


@pytest.mark.parametrize("kind", NAMES, ids=NAMES.values())
def test_scalars_convert_where_they_fit(load, make, kind):
    dtype = np.dtype(kind)
    layout = CallLayout((Input(0, dtype, (), ANY),), (Output(1, dtype, scalar=True),), single=True)
    call = make(load(COPY.format(NAMES[kind]))["run"], layout)
    for value in SCALARS:
        expected = expected_scalar(dtype, value)
        found = call(value)
        if expected is NotImplemented:
            assert found is NotImplemented, value
        else:
            assert type(found) is kind
            assert repr(found) == repr(expected)
    assert call(kind(1)) == 1
    assert call(np.ones((), dtype)) == 1
    assert call(np.ones(1, dtype)) is NotImplemented
    assert call("1") is NotImplemented
    assert call(np.float16(1)) is NotImplemented


@pytest.mark.parametrize(
    ("accept", "fits"),
    [
        (Accept.ARRAY, np.array(1.0)),
        (Accept.NUMPY_SCALAR, np.float64(1)),
        (Accept.FLOAT, 1.0),
        (Accept.INT, 1),
        (Accept.BOOL, True),
    ],
)
def test_only_the_kinds_asked_for_are_accepted(load, make, accept, fits):
    layout = CallLayout((Input(0, F8, (), accept),), (Output(1, F8, scalar=True),), single=True)
    call = make(load(COPY.format("f64"))["run"], layout)
    for value in (np.array(1.0), np.float64(1), 1.0, 1, True, 1j):
        assert (call(value) is not NotImplemented) == (type(value) is type(fits)), value


MANY = """
def run(p, n):
    for k in range(n[0]):
        x = as_f64(p[k])
        y = as_f64(p[k + n[0]])
        for i in range(3):
            y[i] = x[i] + k
"""


@pytest.mark.parametrize("count", [0, 1, 2, 100, 3000])
def test_any_number_of_arrays(load, count):
    layout = CallLayout(
        tuple(Input(k, F8, (3,)) for k in range(count)),
        tuple(Output(k + count, F8, (3,)) for k in range(count)),
        sizes=(count,),
    )
    results = make_caller(load(MANY)["run"], layout)(*[np.ones(3)] * count)
    assert type(results) is tuple
    assert [y[2] for y in results] == [k + 1.0 for k in range(count)]


SUM = """
def run(p, n):
    x = as_f64(p[3])
    c = as_f64(p[0])
    t = as_f64(p[1])
    u = as_f64(p[2])
    y = as_f64(p[4])
    for i in range(n[0]):
        t[i] = x[i] + c[i]
    for i in range(n[0]):
        u[i] = t[i] * 2.0
    y[0] = 0.0
    for i in range(n[0]):
        y[0] += u[i]
"""


@pytest.mark.parametrize("size", [8, 5000, 100_000])
@pytest.mark.parametrize("long", [False, True])
def test_constants_and_scratch_memory(load, make, size, long):
    constant = np.arange(size) * 1.0
    step = -(-8 * size // 64) * 64
    layout = CallLayout(
        (Input(3, F8, (size,)),),
        (Output(4, F8, scalar=True),),
        (Constant(0, constant),),
        (Scratch(1, 0), Scratch(2, step)),
        2 * step,
        (size,),
        long=long,
        single=True,
    )
    call = make(load(SUM)["run"], layout)
    x = np.ones(size)
    assert call(x) == 2 * (constant + 1).sum()
    assert call(x) == call(x)


def test_several_results_of_several_kinds(load, make):
    source = """
def run(p, n):
    x = as_f64(p[0])
    a = as_f32(p[1])
    b = as_i64(p[2])
    c = as_bool(p[3])
    for i in range(3):
        a[i] = x[i]
        c[i] = x[i] > 1.0
    b[0] = 7
"""
    layout = CallLayout(
        (Input(0, F8, (3,)),),
        (
            Output(1, np.dtype(np.float32), (3,)),
            Output(2, np.dtype(np.int64), scalar=True),
            Output(3, np.dtype(bool), (3, 1)),
        ),
    )
    a, b, c = make(load(source)["run"], layout)(np.arange(3.0))
    assert a.dtype == np.float32
    assert type(b) is np.int64
    assert c.tolist() == [[False], [False], [True]]
    assert b == 7


DONATED = """
def run(p, n):
    x = as_f64(p[0], 0)
    y = as_f64(p[1], 0)
    z = as_f64(p[2])
    for i in range(n[0]):
        y[i] = x[i] * 2.0 + z[i]
"""


def test_a_donated_input_is_the_memory_of_its_output(load, make):
    layout = CallLayout(
        (Input(0, F8, (4,)), Input(2, F8, (4,))), (Output(1, F8, (4,), donor=0),), sizes=(4,), single=True
    )
    call = make(load(DONATED)["run"], layout)
    x, z = np.arange(4.0), np.ones(4)
    assert call(x, z) is x
    assert x.tolist() == [1.0, 3.0, 5.0, 7.0]
    assert call(x, x) is NotImplemented
    both = np.zeros(6)
    assert call(both[:4], both[2:]) is NotImplemented
    x.flags.writeable = False
    assert call(x, z) is NotImplemented


def test_a_constant_cannot_be_donated(load, make):
    constant = np.ones(4)
    layout = CallLayout(
        (Input(0, F8, (4,)),),
        (Output(1, F8, (4,), donor=0),),
        (Constant(2, constant),),
        sizes=(4,),
        single=True,
    )
    call = make(load(DONATED)["run"], layout)
    x = np.arange(4.0)
    assert call(x) is x
    assert call(constant) is NotImplemented
    assert constant.tolist() == [1.0] * 4


@pytest.mark.parametrize(
    "arguments",
    [
        {"inputs": (Input(1, F8),), "outputs": ()},
        {"inputs": (Input(0, F8),), "outputs": (Output(0, F8),)},
        {"inputs": (Input(0, F8, (3,), ANY),), "outputs": ()},
        {"inputs": (), "outputs": (Output(0, F8, (3,), scalar=True),)},
        {"inputs": (), "outputs": (Output(0, F8), Output(1, F8)), "single": True},
        {"inputs": (), "outputs": (), "scratch": (Scratch(0, 8),), "scratch_bytes": 64},
        {"inputs": (Input(0, F8, (2,)),), "outputs": (Output(1, F8, (3,), donor=0),)},
        {"inputs": (), "outputs": (), "constants": (Constant(0, np.zeros((4, 4)).T[1:]),)},
    ],
)
def test_layouts_that_cannot_be_are_refused(arguments):
    with pytest.raises(ValueError, match=r"\w"):
        CallLayout(**arguments)


def test_a_hundred_thousand_calls_leak_no_reference_and_no_memory(load):
    loaded = load(DOUBLE)
    call = make_caller(loaded["run"], doubling((3,)))
    copy = CallLayout((Input(0, F8, (), ANY),), (Output(1, F8, scalar=True),), single=True)
    scalar = make_caller(load(COPY.format("f64"))["run"], copy)
    x = np.ones(3)
    things = [x, F8, np.float64, NotImplemented, call, scalar, None]

    def calls(count):
        for _ in range(count):
            call(x)
            call(None)
            scalar(1.5)
            scalar(2**70)
            scalar(np.float64(2.0))

    calls(1000)
    gc.collect()
    counts = [sys.getrefcount(thing) for thing in things]
    blocks = sys.getallocatedblocks()
    calls(100_000)
    gc.collect()
    # Other threads of the process (pytest-xdist's) hold a few of them, for a moment or longer.
    assert max(abs(sys.getrefcount(thing) - n) for thing, n in zip(things, counts, strict=True)) < 1000
    assert abs(sys.getallocatedblocks() - blocks) < 1000


def test_a_caller_keeps_its_code_and_gives_it_up(load):
    class Kept:
        pass

    import weakref

    kept = Kept()
    alive = weakref.ref(kept)
    call = make_caller(load(DOUBLE)["run"], doubling((3,)), kept)
    del kept
    gc.collect()
    assert alive() is not None
    np.testing.assert_array_equal(call(np.ones(3)), 2.0)
    del call
    gc.collect()
    assert alive() is None


def test_a_call_within_a_call_has_memory_of_its_own(load, make):
    size = 20_000
    step = -(-8 * size // 64) * 64
    layout = CallLayout(
        (Input(3, F8, (size,)),),
        (Output(4, F8, scalar=True),),
        (Constant(0, np.zeros(size)),),
        (Scratch(1, 0), Scratch(2, step)),
        2 * step,
        (size,),
        single=True,
    )
    inner = make(load(SUM)["run"], layout)

    def fallback(x):
        return inner(np.asarray(x)) + inner(np.ones(size))

    outer = make(load(SUM)["run"], layout, fallback=fallback)
    assert outer([1.0] * size) == 4 * size


def test_many_threads_call_at_once(load):
    size = 30_000
    step = -(-8 * size // 64) * 64
    layout = CallLayout(
        (Input(3, F8, (size,)),),
        (Output(4, F8, scalar=True),),
        (Constant(0, np.zeros(size)),),
        (Scratch(1, 0), Scratch(2, step)),
        2 * step,
        (size,),
        long=True,
        single=True,
    )
    call = make_caller(load(SUM)["run"], layout)
    array = make_caller(load(DOUBLE)["run"], doubling((size,), long=True))
    wrong = []

    def work(number):
        x = np.full(size, float(number))
        fine = (call(x) == 2.0 * number * size and (array(x) == 2.0 * number).all() for _ in range(40))
        wrong.extend(number for each in fine if not each)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


WAIT = """
def run(p, n):
    y = as_i64(p[0])
    k = 0
    while k < n[1] and atomic_load(n[0]) == 0:
        k += 1
    y[0] = atomic_load(n[0])
"""


def test_a_long_call_lets_other_threads_run(make):
    # The call waits in machine code for what only another Python thread can do.
    flag = np.zeros(1, np.int64)
    loaded = build(WAIT, ["run"], namespace={"atomic_load": atomic_load}).load()
    layout = CallLayout(
        (), (Output(0, flag.dtype, scalar=True),), sizes=(flag.ctypes.data, 1 << 36), long=True, single=True
    )
    timer = threading.Timer(0.02, flag.__setitem__, (0, 1))
    timer.start()
    assert make(loaded.addresses["run"], layout, loaded)() == 1
    timer.join()


def large_layout(count: int) -> CallLayout:
    return doubling((count,))


def test_memory_of_large_results_is_used_again(load):
    found = runtime()
    if found is None:
        pytest.skip("no native caller here")
    call = make_caller(load(DOUBLE)["run"], large_layout(LARGE))
    found.drop_memory()
    x = np.ones(LARGE)
    y = call(x)
    assert get_handler_name(y) == "funcgrad"
    assert y.flags.owndata
    assert y.ctypes.data % 64 == 0
    place = y.ctypes.data
    view = y[5:]
    del y
    assert found.kept_memory == 0
    del view
    assert found.kept_memory >= LARGE * 8
    assert call(x).ctypes.data == place
    found.drop_memory()
    assert found.kept_memory == 0


def test_small_results_have_numpys_memory(load):
    y = make_caller(load(DOUBLE)["run"], doubling((8,)))(np.ones(8))
    assert get_handler_name(y) == "default_allocator"
    assert get_handler_name() == "default_allocator"


def test_the_memory_that_is_kept_is_bounded(load):
    found = runtime()
    if found is None:
        pytest.skip("no native caller here")
    found.drop_memory()
    limit = int(found.pool[2])
    found.pool[2] = 4 << 20
    try:
        call = make_caller(load(DOUBLE)["run"], large_layout(1 << 17))
        x = np.ones(1 << 17)
        results = [call(x) for _ in range(10)]
        del results
        assert (2 << 20) < found.kept_memory <= 4 << 20
        many = [make_caller(load(DOUBLE)["run"], large_layout(LARGE // 8 + 600 * k)) for k in range(3)]
        small = [call(np.ones(LARGE // 8 + 600 * k)) for k, call in enumerate(many) for _ in range(30)]
        del small
        assert found.kept_memory <= 4 << 20
    finally:
        found.pool[2] = limit
        found.drop_memory()


def test_the_memory_that_is_kept_can_be_set_and_dropped(load):
    if runtime() is None:
        pytest.skip("no native caller here")
    call = make_caller(load(DOUBLE)["run"], large_layout(LARGE))
    limit_memory(0)
    try:
        call(np.ones(LARGE))
        assert kept_memory() == 0
    finally:
        limit_memory(256 << 20)
    call(np.ones(LARGE))
    assert kept_memory() >= 8 * LARGE
    drop_memory()
    assert kept_memory() == 0
    with pytest.raises(ValueError, match="not -1"):
        limit_memory(-1)


def test_a_large_result_may_be_resized(load):
    y = make_caller(load(DOUBLE)["run"], large_layout(LARGE))(np.ones(LARGE))
    y.resize(2 * LARGE, refcheck=False)
    np.testing.assert_array_equal(y[:LARGE], 2.0)
    np.testing.assert_array_equal(y[LARGE:], 0.0)
    y.resize(10, refcheck=False)
    np.testing.assert_array_equal(y, 2.0)


def test_memory_that_is_not_to_be_had_is_an_error(load):
    huge = 1 << 58
    layout = CallLayout((), (Output(0, F8, (huge // 8,)),))
    nothing = load("def run(p, n):\n    pass\n")["run"]
    with pytest.raises(MemoryError):
        make_caller(nothing, layout)()
    scratch = CallLayout((), (Output(0, F8, (3,)),), scratch=(Scratch(1, 0),), scratch_bytes=huge)
    with pytest.raises(MemoryError):
        make_caller(nothing, scratch)()
