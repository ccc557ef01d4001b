"""What takes long to compile says so once, in one line; what does not says nothing and starts no thread."""

import os
import re
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import funcgrad as fg
from funcgrad import config
from funcgrad.compile.engines import object_code
from funcgrad.compile.engines.build import NUMBERS
from funcgrad.compile.engines.compiler_process import CompilerProcess, CompilerProcessError
from funcgrad.compile.engines.direct.translate import translate
from funcgrad.compile.engines.llvm import CodeError, compile_ir
from funcgrad.compile.runtime import binaries, machine_code, waiting_notices


@pytest.fixture(autouse=True)
def given(monkeypatch, tmp_path):
    monkeypatch.setenv("FUNCGRAD_NOTICES", "1")
    monkeypatch.setattr(binaries, "LARGE_SOURCE", waiting_notices.LARGE_SOURCE)
    monkeypatch.setenv("FUNCGRAD_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def loss(x):
    return np.sum(np.sin(x) * 2.0)


def slow(monkeypatch, seconds=300):
    """Make LLVM as slow as for a Program of thousands of equations: until something is said."""
    plain, write, said = binaries.built, waiting_notices._write, threading.Event()

    def waiting(*args):
        said.wait(seconds)
        return plain(*args)

    def noted(text):
        write(text)
        said.set()

    monkeypatch.setattr(waiting_notices, "_write", noted)
    monkeypatch.setattr(binaries, "built", waiting)
    monkeypatch.setattr(binaries, "_LOADED", {})
    monkeypatch.setattr(waiting_notices, "LARGE_SOURCE", 0)
    monkeypatch.setattr(waiting_notices, "PATIENCE", 0.02)


def test_a_long_compilation_says_so_in_one_line(monkeypatch, capsys, given):
    slow(monkeypatch)
    f = fg.jit(loss)
    f(np.ones((10, 20)))
    said = capsys.readouterr()
    assert said.out == ""
    first, rest = said.err.split(" … ")
    assert first == "funcgrad: compiling loss for f64[10,20]"
    assert rest.endswith(f" s, kept in {given}\n")
    f(np.ones((10, 20)))
    assert capsys.readouterr().err == ""


def test_a_very_long_one_says_what_makes_it_long_and_what_to_do(monkeypatch, capsys, given):
    slow(monkeypatch)
    monkeypatch.setattr(waiting_notices, "EXPLAINED_FROM", 0.0)

    def unrolled(x):
        for _ in range(110):
            x = np.sin(x)
        return x

    fg.jit(unrolled, control_flow=False)(np.ones(3))
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith("funcgrad: compiling unrolled for f64[3] … ")
    line = unrolled.__code__.co_firstlineno + 2
    why = (
        f"funcgrad: unrolled has 110 operations, 110 of them made by line {line} of "
        "test_long_compilations.py: a loop that is recorded trip by trip. fg.scan compiles its body once, "
        "and so does fg.jit where it keeps the loop a loop; fg.explain says why it did not"
    )
    assert said[1:] == [why]


def test_a_short_one_says_nothing_and_starts_no_thread(monkeypatch, capsys):
    def start(self):
        raise AssertionError("a thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    fg.jit(lambda x: np.sum(np.cos(x) * 2.5))(np.ones(7))
    assert capsys.readouterr().err == ""


def test_it_can_be_turned_off(monkeypatch, capsys):
    slow(monkeypatch, 0.1)
    config.notices(False)
    fg.jit(loss)(np.ones((10, 21)))
    assert capsys.readouterr().err == ""
    config.notices(True)
    assert config.notices_are_given()


def test_one_that_is_left_says_that_too(monkeypatch, capsys):
    slow(monkeypatch)
    plain = binaries.built

    def interrupted(*args):
        plain(*args)
        raise KeyboardInterrupt

    f = fg.jit(loss)
    with monkeypatch.context() as patch:
        patch.setattr(binaries, "built", interrupted)
        with pytest.raises(KeyboardInterrupt):
            f(np.ones((10, 22)))
    assert re.search(r" … left after \d+\.\d s\n", capsys.readouterr().err)
    np.testing.assert_allclose(f(np.ones((10, 22))), loss(np.ones((10, 22))))


def test_nothing_half_written_is_left_in_the_cache(monkeypatch, given):
    from funcgrad.compile.runtime import cache

    def interrupted(source, target):
        raise KeyboardInterrupt

    monkeypatch.setattr(binaries, "_LOADED", {})

    f = fg.jit(lambda x: np.sum(np.cos(x) * 3.5))
    with monkeypatch.context() as patch:
        patch.setattr(cache.os, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            f(np.ones(7))
    assert list(given.iterdir()) == []
    np.testing.assert_allclose(f(np.ones(7)), 7 * np.cos(1.0) * 3.5)


INTERRUPTED = """
import functools, os, signal, threading, numpy as np, funcgrad as fg
from funcgrad.compile.engines import compiler_process

def f(x):
    # One step after the other: a loop would be recorded as one.
    return np.sum(functools.reduce(lambda y, k: np.sin(y) * (1.0 + k) + y * y, range(STEPS), x))

fg.jit(lambda x: np.sum(x * 1.5))(np.ones(5))  # what all kernels need is there
f = fg.jit(f)
f.program(np.ones(5))
began = threading.Event()
work = compiler_process.CompilerProcess.compiled
processes = []
def noted(compiler, *args):
    processes.append(compiler._process)
    began.set()
    return work(compiler, *args)
compiler_process.CompilerProcess.compiled = noted

def stop():
    assert began.wait(300)
    ELSEWHERE
    INTERRUPT
stopping = threading.Thread(target=stop)
stopping.start()
try:
    f(np.ones(5))
except KeyboardInterrupt:
    print("interrupted", fg.jit(lambda x: x * 2.5)(2.0))
    child = os.fork()
    if child == 0:
        os._exit(0 if fg.jit(lambda x: x * 3.5)(2.0) == 7.0 else 1)
    print("forked", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    stopping.join()
    # What was at work did not come to its end, so nobody waited for it.
    print("at once", processes[0].poll() not in (0, None), [t.name for t in threading.enumerate()][1:])
    try:
        print(os.waitpid(-1, os.WNOHANG))
    except ChildProcessError:
        print("no process left")
"""
ELSEWHERE = """assert fg.jit(lambda x: x * 4.5)(2.0) == 9.0
    child = os.fork()
    if child == 0:
        os._exit(0 if fg.jit(lambda x: x * 5.5)(2.0) == 11.0 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0"""
TO_ALL = "os.kill(os.getpid(), signal.SIGINT)"
# The call that waits is not interrupted, as by a signal that comes just before it.
TO_ANOTHER_THREAD = "signal.pthread_kill(threading.get_ident(), signal.SIGINT)"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="signals and processes of POSIX")
@pytest.mark.parametrize(
    ("elsewhere", "interrupt", "steps"),
    [("pass", TO_ALL, 800), (ELSEWHERE, TO_ALL, 3000), ("pass", TO_ANOTHER_THREAD, 800)],
    ids=["alone", "beside", "to another thread"],
)
def test_ctrl_c_while_compiling_is_heard_at_once_and_leaves_nothing_behind(
    given, elsewhere, interrupt, steps
):
    script = INTERRUPTED.replace("ELSEWHERE", elsewhere).replace("INTERRUPT", interrupt)
    script = script.replace("STEPS", str(steps))
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    lines = ["interrupted 5.0", "forked 0", "at once True []", "no process left"]
    assert (done.stdout.splitlines(), done.returncode) == (lines, 0), done.stderr
    assert not list(given.glob("*.tmp"))


def long_source(name):
    """A kernel that takes long enough for a process of its own."""
    lines = [f"    x[0] = x[0] * {k}.5 + math.sin(x[0])" for k in range(400)]
    return f"def {name}(p, n):\n    x = as_f64(p[0])\n" + "\n".join(lines) + "\n"


def test_a_process_makes_the_same_code(monkeypatch):
    source = long_source("run")
    assert len(source) > waiting_notices.LARGE_SOURCE
    apart = binaries.built(source, ("run",), frozenset())
    monkeypatch.setattr(binaries, "LARGE_SOURCE", 1 << 30)
    assert binaries.built(source, ("run",), frozenset()) == apart


def test_what_llvm_refuses_is_the_same_error_from_a_process():
    with CompilerProcess() as process, pytest.raises(CodeError) as apart:
        compile_ir(["define i64 @f() { ret i32 1 }"], ["f"], process=process)
    with pytest.raises(CodeError) as here:
        compile_ir(["define i64 @f() { ret i32 1 }"], ["f"])
    assert str(apart.value) == str(here.value)


@pytest.mark.parametrize("python", ["", "/no/such/python", "/usr/bin/application", sys.executable])
def test_where_no_process_can_be_had_it_is_compiled_here(monkeypatch, python):
    monkeypatch.setattr(sys, "executable", python)
    if python == sys.executable:
        monkeypatch.setattr(sys, "path", [])  # where llvmlite is not found
    with CompilerProcess() as process:
        code, needs = compile_ir(["define i64 @f() { ret i64 1 }"], ["f"], process=process)
    assert code
    assert needs == ()


def test_a_process_compiles_one_after_the_other():
    texts = [f"define i64 @f() {{ ret i64 {k} }}" for k in range(3)]
    works = [object_code.Work((text,), ("f",), loops=True, assembly=False) for text in texts]
    with CompilerProcess() as process:
        process.begin(*works)
        found = process.compiled()
    assert found == [object_code.compiled_object(work) for work in works]


def test_one_that_has_ended_before_it_was_given_anything_is_passed_over():
    with CompilerProcess() as process:
        process._process.kill()
        process._process.wait()
        code, _ = compile_ir(["define i64 @f() { ret i64 1 }"], ["f"], process=process)
    assert code


RUN_TIME = """
import sys, numpy as np, funcgrad as fg
from funcgrad.compile.engines import compiler_process, llvm
from funcgrad.compile.runtime import beside, binaries, machine_code

binaries.LARGE_SOURCE = MOST
processors = PROCESSORS
beside.available_processors = binaries.available_processors = lambda: processors
begun, here = [], []
begin, compiled = compiler_process.CompilerProcess.begin, llvm.compiled_object

def noted(process, *works):
    begun.extend([work.exported[0] for work in works])
    begin(process, *works)

def counted(work):
    here.append(work.exported[0])
    return compiled(work)

compiler_process.CompilerProcess.begin, llvm.compiled_object = noted, counted

def f(x):
    before.append(begun[:])
    for k in range(9):
        x = np.sin(x) * x[::-1] + x[k] * np.tanh(np.cumsum(x))
    return np.sum(x)

before = []
f = fg.jit(f, unroll=10**6)
x = np.linspace(0.0, 1.0, 40)
first = f(x)
print(before[0], begun, here, machine_code.runtime_difference())
assert np.array_equal(first, f(x))
"""


@pytest.mark.skipif(not machine_code.supported(), reason="a run time in machine code")
@pytest.mark.parametrize(
    ("large", "processors", "wanted"),
    [
        (10**9, 2, "['call'] ['call'] ['f1'] None"),
        (0, 2, "['call'] ['call', 'f1'] [] None"),
        (0, 1, "[] ['f1'] ['call'] None"),
    ],
    ids=["the kernel here", "the kernel after it", "one core"],
)
def test_the_run_time_is_compiled_beside_the_first_kernel(given, large, processors, wanted):
    script = RUN_TIME.replace("MOST", str(large)).replace("PROCESSORS", str(processors))
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout == wanted + "\n", done.stderr
    again = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert again.stdout == "[] [] [] None\n", again.stderr


UNUSED = """
import os, sys, warnings
import numpy as np, funcgrad as fg
from funcgrad.compile.runtime.beside import BEGINNING

warnings.simplefilter("error")

def f(x):
    child = os.fork()
    if child == 0:
        os._exit(BEGINNING.process is not None)
    print("forked", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    raise ValueError

try:
    fg.jit(f)(1.0)
except ValueError:
    print("begun", BEGINNING.process is not None)
if sys.argv[1] == "more":
    print(fg.jit(lambda x: x * 2.0)(1.0), BEGINNING.process)
"""


@pytest.mark.skipif(
    not (machine_code.supported() and hasattr(os, "fork")), reason="a run time in machine code; a fork"
)
@pytest.mark.parametrize("then", ["more", "nothing"])
def test_what_the_first_call_begins_is_ended_or_used_whatever_becomes_of_the_call(given, then):
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", UNUSED, then]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    lines = ["forked 0", "begun True", *(["2.0 None"] if then == "more" else [])]
    assert (done.stdout.splitlines(), done.returncode, done.stderr) == (lines, 0, "")


def test_a_process_that_is_killed_at_work_is_an_error(monkeypatch):
    text = translate(long_source("run"), ["run"], frozenset(), NUMBERS)
    with CompilerProcess() as process:
        inner = process._process
        said = inner.stdout.read(len(object_code.READY))
        inner.kill()
        inner.wait()
        monkeypatch.setattr(inner, "communicate", lambda timeout: (said, None))
        with pytest.raises(CompilerProcessError, match="ended with"):
            compile_ir([text], ["run"], process=process)


def test_a_process_ends_with_its_parent():
    ended = []
    object_code.leave_with(os.getppid() + 1, ended.append)
    assert ended == [1]


def test_threads_that_need_the_same_kernel_build_it_once(monkeypatch):
    made = []
    plain = binaries.built

    def counted(*args):
        made.append(args)
        time.sleep(0.1)
        return plain(*args)

    monkeypatch.setattr(binaries, "built", counted)
    found = []
    source = "def run(p, n):\n    x = as_f64(p[0])\n    x[0] = 0.125\n"
    several = [
        threading.Thread(target=lambda: found.append(binaries.loaded_kernel(source, ("run",))))
        for _ in range(4)
    ]
    for thread in several:
        thread.start()
    for thread in several:
        thread.join()
    assert len(made) == 1
    assert len({id(loaded) for loaded in found}) == 1
    del found[:]
    assert source not in binaries._LOADED
    assert not binaries._TURNS


def test_another_kernel_does_not_wait_for_a_long_one(monkeypatch):
    plain, go_on, began = binaries.built, threading.Event(), threading.Event()

    def slowly(source, *rest):
        if "def waits" in source:
            began.set()
            assert go_on.wait(300)
        return plain(source, *rest)

    def waits(x):
        return x * 0.375

    def goes_on(x):
        return x - 0.375

    monkeypatch.setattr(binaries, "built", slowly)
    slow_one = threading.Thread(target=fg.jit(waits), args=(2.0,))
    slow_one.start()
    try:
        assert began.wait(300)
        assert fg.jit(goes_on)(2.0) == 1.625
    finally:
        go_on.set()
        slow_one.join()
