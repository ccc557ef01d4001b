"""The machine code guards itself: every number it relies on, once wrong, is found before the first call."""

import ast
import ctypes
import inspect
import subprocess
import sys
import threading
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.compile import differs
from funcgrad.compile.differs import Differs, UnfamiliarWarning
from funcgrad.compile.engines import llvm as engine
from funcgrad.compile.runtime import machine_code
from funcgrad.compile.runtime.addresses import numpy_functions, ufuncs
from funcgrad.compile.runtime.addresses.readable_memory import Memory, Unreadable
from funcgrad.compile.runtime.callers import call_trial, caller, native_caller, object_probe
from funcgrad.compile.runtime.callers.call_layout import CallLayout, Input, Output
from funcgrad.compile.runtime.callers.ctypes_caller import PlainCaller
from funcgrad.compile.runtime.callers.object_probe import object_difference
from funcgrad.compile.runtime.machine import call, objects, signals, structures
from funcgrad.compile.runtime.machine import threads as pool

NUMBERS = sorted(name for name, value in vars(objects).items() if isinstance(value, int))
F8 = np.dtype(float)
DOUBLE = """
def run(p, n):
    x = as_f64(p[0])
    y = as_f64(p[1])
    for i in range(n[0]):
        y[i] = x[i] * 2.0
"""


@pytest.fixture
def fresh(monkeypatch):
    """What a new process has: nothing tried, nothing said."""
    monkeypatch.setattr(differs, "_SAID", set())
    forget()
    yield
    monkeypatch.undo()
    forget()


def forget() -> None:
    caller.trusted_runtime.cache_clear()
    machine_code._runtime_or_difference.cache_clear()
    machine_code.build_difference.cache_clear()


def doubled_by_portable_caller(load, words: str) -> None:
    """A call is right and portable, and the first one says why, once."""
    layout = CallLayout((Input(0, F8, (4,)),), (Output(1, F8, (4,)),), sizes=(4,), single=True)
    address = load(DOUBLE)["run"]
    with pytest.warns(UnfamiliarWarning, match=words):
        made = caller.make_caller(address, layout)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = caller.make_caller(address, layout)
    assert type(made) is type(again) is PlainCaller
    np.testing.assert_array_equal(made(np.arange(4.0)), [0.0, 2.0, 4.0, 6.0])


native_only = pytest.mark.skipif(machine_code.runtime() is None, reason="no native caller here")


# -- objects -------------------------------------------------------------------------------------------------


@native_only
def test_this_process_is_as_machine_code_expects():
    assert object_difference() is None
    assert machine_code.runtime_difference() is None
    assert caller.trusted_runtime() is machine_code.runtime()


@pytest.mark.parametrize("name", NUMBERS)
def test_each_number_that_is_wrong_is_found_and_named(monkeypatch, name):
    right = getattr(objects, name)
    for wrong in {
        0,
        1,
        8,
        24,
        right - 8,
        right - 1,
        right + 1,
        right + 4,
        right + 8,
        right ^ 0x400,
        2 * right,
    }:
        if wrong == right:
            continue
        with monkeypatch.context() as patch:
            patch.setattr(objects, name, wrong)
            found = object_difference()
        assert found is not None, f"{name} = {wrong}"
        # An address in an object that is none is found as memory that is not there.
        assert name in found or "there is no memory" in found, found


@native_only
@pytest.mark.parametrize("name", NUMBERS)
def test_each_number_that_is_wrong_chooses_the_portable_caller(monkeypatch, fresh, load, name):
    monkeypatch.setattr(objects, name, getattr(objects, name) + 8)
    doubled_by_portable_caller(load, "leads to|there is no memory")


def test_machine_code_reads_objects_by_those_numbers_only():
    # What is imported is used (the linter sees to that), and a plain number in an address would be unprobed.
    for module in (call, structures, pool, signals):
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "").startswith(("peek", "poke")):
                address = node.args[0]
                if isinstance(address, ast.BinOp) and "argument" in ast.unparse(address.left):
                    assert not isinstance(address.right, ast.Constant), ast.unparse(node)
    imported = {
        alias.name
        for module in (call, structures)
        for node in ast.walk(ast.parse(inspect.getsource(module)))
        if isinstance(node, ast.ImportFrom) and node.module == objects.__name__
        for alias in node.names
    }
    assert imported == set(NUMBERS)


def test_samples_cover_every_rank_flag_and_type_that_matters():
    samples = object_probe.array_samples()
    assert {x.ndim for x in samples} >= {0, 1, 2, 7}
    for flag in ("c_contiguous", "f_contiguous", "aligned", "writeable", "owndata"):
        assert {getattr(x.flags, flag) for x in samples} == {True, False}
    assert {x.dtype.isnative for x in samples} == {True, False}
    assert {type(x) for x in object_probe.numbers()} >= {float, complex, np.float64, np.int8, np.bool_}


def test_memory_that_is_not_there_is_an_error():
    with Memory() as memory:
        for address in (1, (1 << 47) - 4096, -8 % (1 << 64)):
            with pytest.raises(Unreadable, match="there is no memory"):
                memory.word(address)
        x = np.array([-5], np.int32)
        assert memory.half(x.ctypes.data) == -5


def test_a_build_that_is_laid_out_otherwise_is_named(monkeypatch, fresh, load):
    monkeypatch.setattr(machine_code.sysconfig, "get_config_var", lambda name: name == "Py_GIL_DISABLED")
    doubled_by_portable_caller(load, "built to run without its lock")
    forget()
    monkeypatch.setattr(machine_code.sysconfig, "get_config_var", lambda name: name == "Py_TRACE_REFS")
    assert machine_code.runtime_difference() == "this CPython is built to trace references"


# -- NumPy's functions ---------------------------------------------------------------------------------------


@native_only
@pytest.mark.parametrize("name", sorted(numpy_functions.POSITIONS.values()))
@pytest.mark.parametrize("step", [-1, 1])
def test_each_position_in_numpys_table_is_compared_with_numpys_header(monkeypatch, fresh, load, name, step):
    monkeypatch.setattr(numpy_functions, name, getattr(numpy_functions, name) + step)
    doubled_by_portable_caller(load, "is at position .* of NumPy's _ARRAY_API")


@native_only
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"TYPES": {2: np.dtype}}, "position 2 of NumPy's _ARRAY_API is not dtype"),
        ({"TYPES": {2: np.ndarray, 11: np.generic}}, "position 11 of NumPy's _ARRAY_API is not generic"),
        ({"ABI": 3}, "NumPy's ABI has version 2, not 3"),
        ({"HANDLERS_SINCE": 1 << 20}, "older than 0x100000"),
        ({"sys": SimpleNamespace(modules={})}, "NumPy has no numpy._core._multiarray_umath._ARRAY_API"),
    ],
)
def test_another_table_than_expected_is_named(monkeypatch, fresh, load, change, words):
    for name, value in change.items():
        monkeypatch.setattr(numpy_functions, name, value)
    doubled_by_portable_caller(load, words)


@pytest.mark.parametrize("capsule", [None, 3.5, np.zeros(3)])
def test_a_table_that_is_no_capsule_is_named(monkeypatch, capsule):
    module = SimpleNamespace(_ARRAY_API=capsule)
    modules = SimpleNamespace(modules={"numpy._core._multiarray_umath": module})
    monkeypatch.setattr(numpy_functions, "sys", modules)
    with pytest.raises(Differs, match="_ARRAY_API"):
        numpy_functions.numpy_functions()


@native_only
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"HANDLER_NAME": b"another name"}, "is not a capsule named another name"),
        (
            {
                "Handler": type(
                    "Short",
                    (ctypes.Structure,),
                    {"_fields_": [("name", ctypes.c_char * 126), *numpy_functions.Handler._fields_[1:]]},
                )
            },
            "have version",
        ),
    ],
    ids=["name", "layout"],
)
def test_a_handler_of_another_kind_leaves_results_in_numpys_memory(monkeypatch, fresh, load, change, words):
    for name, value in change.items():
        monkeypatch.setattr(numpy_functions, name, value)
    with pytest.warns(UnfamiliarWarning, match=words):
        found = numpy_functions.numpy_functions()
    assert found.set_handler == 0
    monkeypatch.undo()
    monkeypatch.setattr(machine_code, "numpy_functions", lambda: found)
    forget()
    layout = CallLayout((Input(0, F8, (10_000,)),), (Output(1, F8, (10_000,)),), sizes=(10_000,), single=True)
    made = caller.make_caller(load(DOUBLE)["run"], layout)
    assert type(made) is not PlainCaller
    result = made(np.ones(10_000))
    assert np._core.multiarray.get_handler_name(result) == "default_allocator"
    np.testing.assert_array_equal(result, 2.0)


# -- the trial of calls --------------------------------------------------------------------------------------


@native_only
def test_another_convention_of_calls_is_found_in_the_trial(monkeypatch, fresh, load):
    monkeypatch.setattr(native_caller, "_FASTCALL", 0x8)  # METH_O
    doubled_by_portable_caller(load, "a trial of the native caller failed .TypeError")


@native_only
@pytest.mark.parametrize("wrong", ["value", "type", "dtype", "count", "refused"])
def test_a_wrong_result_is_found_in_the_trial(monkeypatch, fresh, load, wrong):
    right = native_caller.make_native_caller

    def made(*arguments):
        function = right(*arguments)

        def falsified(*args):
            out = function(*args)
            if wrong == "refused" or out is NotImplemented:
                return NotImplemented
            first = {
                "value": out[0] + 1,
                "type": out[0].tolist(),
                "dtype": out[0].astype(np.float32),
                "count": out[0],
            }[wrong]
            return out[1:] if wrong == "count" else (first, *out[1:])

        return falsified

    monkeypatch.setattr(call_trial, "make_native_caller", made)
    doubled_by_portable_caller(load, "the native caller returned")


@native_only
def test_whatever_goes_wrong_in_setting_up_is_named(monkeypatch, fresh, load):
    def failing(*_):
        raise OSError("no room left")

    monkeypatch.setattr(machine_code, "machine_binary", failing)
    doubled_by_portable_caller(load, "could not be set up .OSError: no room left.")


@native_only
def test_a_user_with_another_layout_has_right_gradients_and_one_notice():
    script = """
import numpy as np, warnings
from funcgrad.compile.runtime.machine import objects
objects.ARRAY_RANK = 28
import funcgrad as fg
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    for k in range(3):
        slope = fg.jit(fg.grad(lambda x: np.sum(np.sin(x) * (k + 1))))
        for shape in (5, (2, 2)):
            assert np.allclose(slope(np.ones(shape)), np.cos(1.0) * (k + 1))
print(len(said), said[0].message)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.stdout.startswith("1 funcgrad: ARRAY_RANK of a ndarray leads to"), done.stdout + done.stderr
    assert "called through ctypes" in done.stdout


def test_results_are_the_same_either_way(monkeypatch):
    def f(x, k):
        return np.cumsum(np.sin(x) * k), np.sum(x) * k

    x = np.linspace(0.0, 2.0, 9)
    native = fg.jit(f)(x, 3.0)
    monkeypatch.setattr(caller, "trusted_runtime", lambda: None)
    plain = fg.jit(f)(x, 3.0)
    assert [np.asarray(a).tobytes() for a in native] == [np.asarray(a).tobytes() for a in plain]
    assert [type(a) for a in native] == [type(a) for a in plain]


# -- llvmlite ------------------------------------------------------------------------------------------------


def test_the_lock_that_forks_wait_for_is_the_one_that_llvmlite_takes():
    taken = []
    callbacks = (lambda: taken.append(1), lambda: None)
    engine.llvm.ffi.register_lock_callback(*callbacks)
    try:
        with engine.llvmlite_lock():
            assert taken == [1]
        engine.llvm.get_host_cpu_name()
        assert len(taken) > 1
    finally:
        engine.llvm.ffi.unregister_lock_callback(*callbacks)


@pytest.mark.parametrize(
    "library",
    [
        SimpleNamespace(),
        SimpleNamespace(_lock=3),
        SimpleNamespace(_lock=threading.RLock(), LLVMPY_GetVersionInfo=SimpleNamespace()),
        SimpleNamespace(
            _lock=threading.RLock(), LLVMPY_GetVersionInfo=SimpleNamespace(_lock=threading.RLock())
        ),
    ],
    ids=["none", "no lock", "a function without", "another lock"],
)
def test_a_lock_that_is_elsewhere_is_named(monkeypatch, fresh, library):
    monkeypatch.setattr(engine.llvm.ffi, "lib", library)
    assert engine.llvmlite_lock() is None
    with pytest.warns(UnfamiliarWarning, match="a fork waits for compilations of funcgrad's own"):
        engine.say_without_lock()


# -- loops of NumPy's ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fields", [("nout", "nin"), ("nargs", "nin"), ("data", "identity"), ("ntypes", "data")]
)
def test_loops_that_are_elsewhere_are_named(monkeypatch, fresh, fields):
    first, second = fields
    swap = {first: second, second: first}
    kinds = dict(ufuncs._Head._fields_)
    moved = [(swap.get(name, name), kinds[swap.get(name, name)]) for name, _ in ufuncs._Head._fields_]
    head = type("Head", (ctypes.Structure,), {"_fields_": moved})
    monkeypatch.setattr(ufuncs, "_Head", head)
    with pytest.warns(UnfamiliarWarning, match="loops of NumPy's logaddexp are not where they were"):
        assert ufuncs.loop.__wrapped__("logaddexp", F8) is None


def test_a_loop_that_computes_something_else_is_named(monkeypatch, fresh):
    other = ufuncs.loop("exp", F8)
    monkeypatch.setattr(ufuncs, "_in_table", lambda *_: other)
    with pytest.warns(UnfamiliarWarning, match="NumPy's log1p"):
        assert ufuncs.loop.__wrapped__("log1p", F8) is None
