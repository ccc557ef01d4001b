"""Object code in memory: symbols that are missing, code that is given up, forks, and other threads."""

import ctypes
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from funcgrad import syntax
from funcgrad.compile.engines.build import build
from funcgrad.compile.engines.elf import undefined_symbols
from funcgrad.compile.engines.llvm import CodeError, compile_ir, link_object

ANSWER = "define i64 @answer() {{ ret i64 {} }}"


def answer(number: int):
    return link_object(compile_ir([ANSWER.format(number)], ["answer"])[0], ["answer"])


def called(loaded) -> int:
    return ctypes.CFUNCTYPE(ctypes.c_int64)(loaded.addresses["answer"])()


def test_one_symbol_may_be_in_many_objects():
    several = [answer(k) for k in range(5)]
    assert [called(loaded) for loaded in several] == list(range(5))


def test_code_is_given_up_with_its_last_reference():
    for k in range(50):
        loaded = answer(k)
        assert called(loaded) == k
        del loaded


def test_a_missing_symbol_is_named():
    text = "declare i64 @no_such_symbol_anywhere()\n"
    text += "define i64 @answer() { %x = call i64 @no_such_symbol_anywhere() ret i64 %x }"
    code, needs = compile_ir([text], ["answer"])
    if needs:
        assert needs == ("no_such_symbol_anywhere",)
    with pytest.raises(CodeError, match="no_such_symbol_anywhere"):
        link_object(code, ["answer"])


def test_a_missing_symbol_can_be_supplied():
    text = "declare i64 @supplied()\ndefine i64 @answer() { %x = call i64 @supplied() ret i64 %x }"
    seven = ctypes.CFUNCTYPE(ctypes.c_int64)(lambda: 7)
    address = ctypes.cast(seven, ctypes.c_void_p).value
    loaded = link_object(compile_ir([text], ["answer"])[0], ["answer"], {"supplied": address})
    assert called(loaded) == 7


def test_bad_code_is_an_error():
    with pytest.raises(CodeError):
        compile_ir(["define i64 @answer() { ret i32 1 }"], ["answer"])
    with pytest.raises(CodeError):
        link_object(b"not an object file", ["answer"])


def test_the_mathematics_of_c_is_found():
    binary = build("def run(p, n):\n    x = as_f64(p[0])\n    x[0] = math.lgamma(x[0])\n", ["run"])
    x = np.array([5.0])
    table = np.array([x.ctypes.data], np.uintp)
    loaded = binary.load()
    ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(loaded.addresses["run"])(table.ctypes.data, 0)
    assert x[0] == pytest.approx(np.log(24.0))


def test_other_formats_name_no_symbols():
    assert undefined_symbols(b"MZ") == ()
    assert undefined_symbols(b"") == ()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_both_halves_of_a_fork_compile_and_call():
    before = answer(1)
    child = os.fork()
    if child == 0:
        os._exit(0 if called(before) == 1 and called(answer(2)) == 2 else 1)
    assert called(before) == 1
    assert called(answer(3)) == 3
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_several_threads_compile_at_once():
    found = {}

    def work(number):
        found[number] = called(answer(number))

    several = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in several:
        thread.start()
    for thread in several:
        thread.join()
    assert found == {k: k for k in range(8)}


def test_a_tree_that_other_threads_have_disturbed_is_made_again(monkeypatch):
    answers = [SystemError("AST constructor recursion depth mismatch (before=54, after=48)")] * 3
    plain = syntax.ast.parse

    def parse(source, file):
        if answers:
            raise answers.pop()
        return plain(source, file)

    monkeypatch.setattr(syntax.ast, "parse", parse)
    assert len(syntax.parsed("a = 1\nb = 2").body) == 2
    answers.append(SystemError("something else"))
    with pytest.raises(SystemError, match="something else"):
        syntax.parsed("a = 1")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_fork_while_another_thread_compiles_leaves_the_child_able_to():
    done = threading.Event()

    def compile_on_and_on():
        while not done.is_set():
            answer(0)

    thread = threading.Thread(target=compile_on_and_on)
    thread.start()
    try:
        for k in range(5):
            child = os.fork()
            if child == 0:
                os._exit(0 if called(answer(k)) == k else 1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        done.set()
        thread.join()


# Large results, callers and worker threads are left in a module, a cycle and a thread.
LEFT_BEHIND = """
import threading, time
import numpy as np
from funcgrad.compile.engines.build import build
from funcgrad.compile.runtime.callers.caller import make_caller
from funcgrad.compile.runtime.callers.call_layout import CallLayout, Input, Output
from funcgrad.compile.runtime.threads import placed, set_threads

source = '''
def stage(p, n, begin, end):
    x = as_f64(p[0])
    y = as_f64(p[1])
    for i in range(begin, end):
        y[i] = x[i] * 2.0

def run(p, n):
    parallel(stage, p, n, 0, n[0], 100)
'''
set_threads(3)
size = 50_000
f8 = np.dtype(float)
loaded = placed(build(source, ["run", "stage"]))
ends = (Input(0, f8, (size,)),), (Output(1, f8, (size,)),)
layout = CallLayout(*ends, sizes=(size,), long=True, single=True)
call = make_caller(loaded.addresses["run"], layout, loaded)
x = np.ones(size)
cycle = [call, call(x)]
cycle.append(cycle)
np.kept = call(x)

def work():
    while True:
        call(x)

threading.Thread(target=work, daemon=True).start()
time.sleep(0.05)
print("fine")
"""


def test_a_process_ends_well_whatever_it_leaves_behind(cache_directory):
    for _ in range(3):
        ended = subprocess.run(
            [sys.executable, "-c", LEFT_BEHIND], capture_output=True, text=True, timeout=300, check=False
        )
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, "fine\n", "")
