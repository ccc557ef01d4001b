"""The disk cache: whatever happens to it, answers are right, nothing crashes, one warning at most."""

import ctypes
import errno
import os
import stat
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import funcgrad.compile.runtime.cache as cache_module
from funcgrad.compile.engines.build import build, pack, unpack
from funcgrad.compile.runtime.binaries import FLAGS, binary_of
from funcgrad.compile.runtime.cache import (
    Cache,
    CacheWarning,
    cache_info,
    clear_cache,
    current,
    lookup,
    store,
)

SOURCE = """
def run(p, n):
    x = as_f64(p[0])
    for i in range(n[0]):
        x[i] = x[i] * 3.0
"""

# Builds one kernel, runs it, and says what the cache saw; Numba must not be loaded.
SCRIPT = """
import sys
import numpy as np
from funcgrad.compile.runtime.binaries import binary_of
from funcgrad.compile.runtime.cache import cache_info
from funcgrad.compile.runtime.caller import make_caller
from funcgrad.compile.runtime.call_layout import CallLayout, Input, Output

source = '''
def run(p, n):
    x = as_f64(p[0])
    y = as_f64(p[1])
    for i in range(n[0]):
        y[i] = x[i] * 3.0
'''
loaded = binary_of(source, ('run',)).load()
f8 = np.dtype(float)
layout = CallLayout((Input(0, f8, (4,)),), (Output(1, f8, (4,)),), sizes=(4,), single=True)
y = make_caller(loaded.addresses['run'], layout, loaded)(np.ones(4))
info = cache_info()
print(y.tolist() == [3.0] * 4, info.hits, info.misses, 'numba' in sys.modules, 'scipy' in sys.modules)
"""


def run_script(directory, **environment) -> subprocess.Popen:
    variables = {**os.environ, "FUNCGRAD_CACHE_DIR": str(directory), **environment}
    variables["PYTHONPATH"] = str(Path(cache_module.__file__).parents[3])
    return subprocess.Popen(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", SCRIPT],
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path / "kept")


def test_what_is_stored_is_found(cache):
    assert cache.lookup(b"key") is None
    cache.store(b"key", b"payload")
    assert cache.lookup(b"key") == b"payload"
    assert cache.lookup(b"another key") is None
    assert Cache(cache.directory).lookup(b"key") == b"payload"
    info = cache.info()
    assert (info.entries, info.hits, info.misses, info.stores) == (1, 1, 2, 1)


def test_the_directory_and_its_files_are_private(cache):
    cache.store(b"key", b"payload")
    assert stat.S_IMODE(cache.directory.stat().st_mode) == 0o700
    (entry,) = cache.directory.iterdir()
    assert stat.S_IMODE(entry.stat().st_mode) == 0o600


def test_a_second_build_is_a_lookup(monkeypatch):
    first = binary_of(SOURCE, ("run",))
    monkeypatch.setattr("funcgrad.compile.engines.build.build", None)
    assert binary_of(SOURCE, ("run",)) == first
    assert cache_info().hits == 1


def test_other_flags_and_other_versions_are_other_entries(monkeypatch):
    binary_of(SOURCE, ("run",))
    binary_of(SOURCE, ("run",), frozenset())
    assert cache_info().entries == 2
    monkeypatch.setattr(cache_module, "_environment", lambda: b"another machine")
    binary_of(SOURCE, ("run",))
    assert cache_info().entries == 3


def test_the_key_knows_versions_processor_and_the_compiler_itself():
    import llvmlite

    from funcgrad.compile.engines.llvm import host_cpu

    parts = repr(cache_module._environment_parts())
    assert llvmlite.__version__ in parts
    assert np.__version__ in parts
    assert host_cpu()[0] in parts
    assert "translate.py" in parts


def test_a_binary_is_the_same_after_the_cache():
    binary = build(SOURCE, ["run"])
    assert unpack(pack(binary)) == binary


@pytest.mark.parametrize("damage", ["truncated", "empty", "garbled", "other format", "longer"])
def test_a_damaged_entry_is_absent_and_written_again(cache, damage):
    cache.store(b"key", b"payload" * 100)
    (entry,) = cache.directory.iterdir()
    content = entry.read_bytes()
    entry.write_bytes(
        {
            "truncated": content[:-50],
            "empty": b"",
            "garbled": content[:100] + b"?" + content[101:],
            "other format": b"?" + content[1:],
            "longer": content + b"?",
        }[damage]
    )
    assert cache.lookup(b"key") is None
    cache.store(b"key", b"payload")
    assert cache.lookup(b"key") == b"payload"


def foreign(status: os.stat_result) -> os.stat_result:
    fields = list(status)
    fields[4] += 1
    return os.stat_result(fields)


def test_a_directory_of_somebody_else_is_refused_with_one_warning(cache, monkeypatch):
    cache.store(b"key", b"payload")
    again = Cache(cache.directory)
    original = os.stat
    monkeypatch.setattr(os, "stat", lambda *args, **kwargs: foreign(original(*args, **kwargs)))
    with pytest.warns(CacheWarning, match="somebody else"):
        assert again.lookup(b"key") is None
    again.store(b"key", b"payload")
    assert again.lookup(b"key") is None


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no owners")
def test_an_entry_of_somebody_else_is_absent(cache, monkeypatch):
    cache.store(b"key", b"payload")
    original = os.fstat
    monkeypatch.setattr(os, "fstat", lambda number: foreign(original(number)))
    assert cache.lookup(b"key") is None


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no owners")
def test_a_directory_that_others_may_write_is_refused(tmp_path):
    tmp_path.chmod(0o777)
    with pytest.warns(CacheWarning, match="somebody else"):
        Cache(tmp_path).store(b"key", b"payload")
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_cannot_be_made_is_one_warning(tmp_path):
    (tmp_path / "file").write_text("")
    cache = Cache(tmp_path / "file" / "cache")
    with pytest.warns(CacheWarning, match="cannot be made"):
        cache.store(b"key", b"payload")
    assert cache.lookup(b"key") is None


def failing(number: int):
    def replacement(*args, **kwargs):
        raise OSError(number, os.strerror(number))

    return replacement


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT])
def test_a_disk_that_cannot_be_written_is_one_warning(cache, monkeypatch, number):
    monkeypatch.setattr(cache_module, "_write", failing(number))
    with pytest.warns(CacheWarning, match="cannot write"):
        cache.store(b"key", b"payload")
    cache.store(b"another", b"payload")  # a second warning would be an error
    assert cache.lookup(b"key") is None
    assert list(cache.directory.iterdir()) == []


def test_a_disk_that_fills_up_half_way_leaves_nothing_behind(cache, monkeypatch):
    original = cache_module._write

    def half(path, content):
        original(path, content[: len(content) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(cache_module, "_write", half)
    with pytest.warns(CacheWarning, match="No space left"):
        cache.store(b"key", b"payload")
    assert list(cache.directory.iterdir()) == []


def test_kernels_are_compiled_all_the_same(monkeypatch):
    monkeypatch.setattr(cache_module, "_write", failing(errno.ENOSPC))
    with pytest.warns(CacheWarning):
        binary = binary_of(SOURCE, ("run",))
    assert binary.code == build(SOURCE, ["run"]).code


@pytest.mark.parametrize("value", ["0", "off"])
def test_the_cache_can_be_disabled(monkeypatch, cache_directory, value):
    monkeypatch.setenv("FUNCGRAD_CACHE", value)
    store(b"key", b"payload")
    assert lookup(b"key") is None
    assert not cache_info().enabled
    assert not cache_directory.exists()


def test_the_environment_moves_the_cache(monkeypatch, tmp_path):
    store(b"key", b"payload")
    monkeypatch.setenv("FUNCGRAD_CACHE_DIR", str(tmp_path / "elsewhere"))
    assert lookup(b"key") is None
    store(b"key", b"payload")
    assert list((tmp_path / "elsewhere").iterdir())


def test_without_a_setting_the_cache_follows_the_platforms_customs(monkeypatch, tmp_path):
    monkeypatch.delenv("FUNCGRAD_CACHE_DIR")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert current().directory == tmp_path / "funcgrad"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative is not allowed")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert current().directory == tmp_path / "home" / ".cache" / "funcgrad"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert cache_module._default_directory() == tmp_path / "home" / "Library" / "Caches" / "funcgrad"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert cache_module._default_directory() == tmp_path / "local" / "funcgrad" / "cache"


def test_the_least_recently_used_entries_go_first(tmp_path):
    cache = Cache(tmp_path / "kept", limit=10_000)
    for k in range(20):
        cache.store(b"%d" % k, bytes(900))
        (path,) = [path for path, _ in cache._files() if path == cache._path(b"%d" % k)]
        os.utime(path, (k + 1e6, k + 1e6))
    assert cache.lookup(b"0") is not None  # of use now, whatever its age
    cache._evict()
    assert cache.info().bytes <= 10_000
    assert cache.lookup(b"0") is not None
    assert cache.lookup(b"1") is None
    assert cache.lookup(b"19") is not None


def test_files_left_behind_are_removed(cache):
    cache.store(b"key", b"payload")
    left = cache.directory / "left-1-2.tmp"
    left.write_text("")
    recent = cache.directory / "left-1-3.tmp"
    recent.write_text("")
    os.utime(left, (1e6, 1e6))
    cache._evict()
    assert not left.exists()
    assert recent.exists()


def test_clearing_removes_every_entry():
    store(b"key", b"payload")
    clear_cache()
    assert lookup(b"key") is None
    assert cache_info().entries == 0


def tripled_in_a_child(ready: int) -> bool:
    os.read(ready, 1)  # all start at once
    loaded = binary_of(SOURCE, ("run",)).load()
    x = np.ones(4)
    table, sizes = np.array([x.ctypes.data], np.uintp), np.array([4])
    run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(loaded.addresses["run"])
    run(table.ctypes.data, sizes.ctypes.data)
    return x.tolist() == [3.0] * 4


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_twenty_processes_on_an_empty_cache(cache_directory):
    ready, start = os.pipe()
    children = []
    for _ in range(20):
        child = os.fork()
        if child == 0:
            fine = False
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    fine = tripled_in_a_child(ready)
            finally:
                os._exit(0 if fine else 1)
        children.append(child)
    os.write(start, b"!" * 20)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    os.close(ready)
    os.close(start)
    assert codes == [0] * 20
    assert [path.suffix for path in cache_directory.iterdir()] == [".fgc"]
    assert binary_of(SOURCE, ("run",)) == build(SOURCE, ["run"], FLAGS)
    assert cache_info().hits == 1


def test_a_second_process_compiles_nothing_and_loads_no_numba(tmp_path):
    outs = [run_script(tmp_path / "cache").communicate(timeout=60) for _ in range(2)]
    assert outs[0][0].split()[:2] == ["True", "0"], outs[0][1]
    assert outs[1][0].split() == ["True", "2", "0", "False", "False"], outs[1][1]


def test_a_missing_home_is_at_most_a_warning(tmp_path):
    process = run_script("", HOME=str(tmp_path / "missing"), XDG_CACHE_HOME="")
    out, err = process.communicate(timeout=60)
    assert out.split()[0] == "True", err
    assert err.count("CacheWarning") <= 1


def test_a_read_only_cache_still_serves(cache):
    cache.store(b"key", b"payload")
    cache.directory.chmod(0o500)
    try:
        again = Cache(cache.directory)
        assert again.lookup(b"key") == b"payload"
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            again.store(b"another", b"payload")
        # The superuser may write anywhere.
        assert len(caught) == (0 if os.geteuid() == 0 else 1)
    finally:
        cache.directory.chmod(0o700)
