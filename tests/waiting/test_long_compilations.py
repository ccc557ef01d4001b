"""What takes long to compile says so once, in one line; what does not says nothing and starts no thread."""

import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import funcgrad as fg
from funcgrad import config
from funcgrad.compile.runtime import waiting_notices


@pytest.fixture(autouse=True)
def given(monkeypatch, tmp_path):
    monkeypatch.setenv("FUNCGRAD_NOTICES", "1")
    monkeypatch.setenv("FUNCGRAD_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def loss(x):
    return np.sum(np.sin(x) * 2.0)


def slow(monkeypatch, seconds):
    """Make LLVM as slow as for a Program of thousands of equations."""
    from funcgrad.compile.runtime import binaries

    plain = binaries.built

    def waiting(*args):
        time.sleep(seconds)
        return plain(*args)

    monkeypatch.setattr(binaries, "built", waiting)
    monkeypatch.setattr(binaries, "_LOADED", {})
    monkeypatch.setattr(waiting_notices, "LARGE_SOURCE", 0)
    monkeypatch.setattr(waiting_notices, "PATIENCE", 0.02)


def test_a_long_compilation_says_so_in_one_line(monkeypatch, capsys, given):
    slow(monkeypatch, 0.1)
    f = fg.jit(loss)
    f(np.ones((10, 20)))
    said = capsys.readouterr()
    assert said.out == ""
    first, rest = said.err.split(" … ")
    assert first == "funcgrad: compiling loss for f64[10,20]"
    assert rest.endswith(f" s, kept in {given}\n")
    f(np.ones((10, 20)))
    assert capsys.readouterr().err == ""


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
    slow(monkeypatch, 0.1)
    from funcgrad.compile.runtime import binaries

    plain = binaries.built

    def interrupted(*args):
        plain(*args)
        raise KeyboardInterrupt

    f = fg.jit(loss)
    with monkeypatch.context() as patch:
        patch.setattr(binaries, "built", interrupted)
        with pytest.raises(KeyboardInterrupt):
            f(np.ones((10, 22)))
    assert " … left after 0." in capsys.readouterr().err
    np.testing.assert_allclose(f(np.ones((10, 22))), loss(np.ones((10, 22))))


def test_nothing_half_written_is_left_in_the_cache(monkeypatch, given):
    from funcgrad.compile.runtime import binaries, cache

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


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_while_compiling_is_heard_at_once(given):
    script = """
import signal, time, numpy as np, funcgrad as fg
def f(x):
    for k in range(3000):
        x = np.sin(x) * (1.0 + k) + x * x
    return np.sum(x)
f = fg.jit(f)
f.program(np.ones(5))
def handler(number, frame):
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 2.0)
start = time.perf_counter()
try:
    f(np.ones(5))
except KeyboardInterrupt:
    print("interrupted", time.perf_counter() - start < 20.0)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stdout, done.returncode) == ("interrupted True\n", 0), done.stderr
    assert not list(given.glob("*.tmp"))
