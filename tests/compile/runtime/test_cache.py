"""The disk cache: whatever happens to it, answers are right, nothing crashes, one warning at most."""

import ctypes
import errno
import itertools
import os
import shutil
import stat
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import funcgrad.compile.runtime.cache as cache_module
from funcgrad.compile.engines.binary import pack, unpack
from funcgrad.compile.engines.build import build
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
from funcgrad.compile.runtime.callers.caller import make_caller
from funcgrad.compile.runtime.callers.call_layout import CallLayout, Input, Output

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


def place(cache, key: bytes) -> Path:
    """The file of an entry."""
    return cache._path(cache_module._digest(key))


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
    with pytest.warns(CacheWarning, match="cannot keep all"):
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
    cache = Cache(tmp_path / "kept")
    for k in range(20):
        cache.store(b"%d" % k, bytes(900))
        path = place(cache, b"%d" % k)
        assert path.exists()
        os.utime(path, (k + 1e6, k + 1e6))
    assert cache.lookup(b"0") is not None  # of use now, whatever its age
    cache.limit = 10_000
    cache._evict()
    assert cache.info().bytes <= 10_000
    assert cache.lookup(b"0") is not None
    assert cache.lookup(b"1") is None
    assert cache.lookup(b"19") is not None


def test_files_left_behind_are_removed(cache):
    cache.store(b"key", b"payload")
    left = cache.directory / f"{'ab' * 20}-1-2.fgctmp"
    left.write_text("")
    recent = cache.directory / f"{'ab' * 20}-1-3.fgctmp"
    recent.write_text("")
    os.utime(left, (1e6, 1e6))
    cache._evict()
    assert not left.exists()
    assert recent.exists()


def test_other_peoples_files_stay(cache):
    cache.store(b"key", b"payload" * 50)
    others = ["work.tmp", "notes.fgc", "left-1-2.tmp", f"{'AB' * 20}.fgc", f"{'ab' * 20}.fgc.bak", "a.fgctmp"]
    for name in others:
        (cache.directory / name).write_text("mine")
        os.utime(cache.directory / name, (1e6, 1e6))
    folder = cache.directory / f"{'cd' * 20}.fgc"
    folder.mkdir()
    elsewhere = cache.directory.parent / "elsewhere"
    elsewhere.write_text("mine")
    link = cache.directory / f"{'ef' * 20}.fgc"
    link.symlink_to(elsewhere)
    assert cache.info().entries == 1
    cache.limit = 10
    cache._evict()
    cache.clear()
    left = {path.name for path in cache.directory.iterdir()}
    assert left == {*others, folder.name, link.name}
    assert elsewhere.read_text() == "mine"


def test_an_entry_that_is_a_link_is_absent(cache, tmp_path):
    cache.store(b"key", b"payload")
    entry = place(cache, b"key")
    entry.rename(tmp_path / "elsewhere")
    entry.symlink_to(tmp_path / "elsewhere")
    assert cache.lookup(b"key") is None
    cache.store(b"key", b"another")
    assert cache.lookup(b"key") == b"another"
    assert not entry.is_symlink()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_an_entry_that_is_a_pipe_is_absent_and_nobody_waits_for_it(cache):
    cache.store(b"key", b"payload")
    entry = place(cache, b"key")
    entry.unlink()
    os.mkfifo(entry, 0o600)
    assert cache.lookup(b"key") is None


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no owners")
@pytest.mark.parametrize("whose", ["mine", "the system's", "somebody's"])
@pytest.mark.parametrize("where", ["itself", "above", "behind another"])
def test_links_of_somebody_else_are_not_followed(tmp_path, monkeypatch, whose, where):
    real = tmp_path / "real"
    real.mkdir(mode=0o700)
    link = tmp_path / "link"
    link.symlink_to(real if where != "above" else tmp_path)
    asked = {"itself": link, "above": link / "real", "behind another": tmp_path / "mine"}[where]
    if where == "behind another":
        asked.symlink_to(link)
    owner = {"mine": os.geteuid(), "the system's": 0, "somebody's": os.geteuid() + 4321}[whose]
    original = os.lstat

    def lstat(path, *rest, **named):
        status = original(path, *rest, **named)
        if os.fspath(path) != str(link):
            return status
        return os.stat_result([owner if k == 4 else field for k, field in enumerate(status)])

    monkeypatch.setattr(os, "lstat", lstat)
    cache = Cache(asked)
    if whose == "somebody's":
        with pytest.warns(CacheWarning, match="link of somebody else's"):
            cache.store(b"key", b"payload")
        assert list(real.iterdir()) == []
    else:
        cache.store(b"key", b"payload")
        assert cache.lookup(b"key") == b"payload"


def test_links_in_a_circle_are_refused(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.warns(CacheWarning, match="link of somebody else's"):
        assert Cache(tmp_path / "a").lookup(b"key") is None


def test_entries_in_each_others_places_are_absent(cache):
    keys = [b"key %d" % k for k in range(4)]
    for key in keys:
        cache.store(key, b"payload of " + key)
    contents = [place(cache, key).read_bytes() for key in keys]
    for order in itertools.permutations(range(4)):
        for key, k in zip(keys, order, strict=True):
            place(cache, key).write_bytes(contents[k])
        found = [cache.lookup(key) for key in keys]
        assert found == [b"payload of " + keys[k] if k == at else None for at, k in enumerate(order)]


SWAPPED = """
import numpy as np, funcgrad as fg
x = np.linspace(0.1, 1.0, 5)
cases = [(lambda x: x * 2, x * 2), (lambda x: np.sum(x) + x[0], x.sum() + x[0]), (np.cumsum, np.cumsum(x))]
print(all(np.allclose(fg.jit(f)(x), wanted) for f, wanted in cases), fg.cache_info().misses)
"""


def test_a_process_whose_entries_were_permuted_computes_what_is_right(tmp_path):
    directory = tmp_path / "cache"
    environment = {**os.environ, "FUNCGRAD_CACHE_DIR": str(directory)}
    environment["PYTHONPATH"] = str(Path(cache_module.__file__).parents[3])

    def run() -> str:
        command = [sys.executable, "-c", SWAPPED]
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    first = run()
    entries = sorted(directory.iterdir())
    assert first == f"True {len(entries)}\n"
    assert run() == "True 0\n"
    for shift in (1, len(entries) - 1):
        contents = [entry.read_bytes() for entry in entries]
        for entry, content in zip(entries, contents[shift:] + contents[:shift], strict=True):
            entry.write_bytes(content)
        assert run() == f"True {len(entries)}\n"


def test_a_directory_in_an_entrys_place_costs_that_entry_only(cache):
    place(cache, b"key").mkdir(parents=True)
    assert cache.lookup(b"key") is None
    with pytest.warns(CacheWarning, match="Is a directory"):
        cache.store(b"key", b"payload")
    cache.store(b"another", b"payload")
    assert cache.lookup(b"another") == b"payload"
    assert cache.lookup(b"key") is None
    assert len(list(cache.directory.iterdir())) == 2


def test_a_directory_that_is_removed_at_that_moment_is_made_again(cache, monkeypatch):
    cache.store(b"key", b"payload")
    original = os.replace

    def removed(source, target):
        monkeypatch.setattr(os, "replace", original)
        shutil.rmtree(cache.directory)
        original(source, target)

    monkeypatch.setattr(os, "replace", removed)
    cache.store(b"another", b"payload")
    assert cache.lookup(b"another") == b"payload"
    shutil.rmtree(cache.directory)
    cache.store(b"third", b"payload")
    assert cache.lookup(b"third") == b"payload"
    assert stat.S_IMODE(cache.directory.stat().st_mode) == 0o700


def test_a_disk_that_is_full_for_a_while_costs_what_was_stored_meanwhile(cache, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(cache_module, "_write", failing(errno.ENOSPC))
        with pytest.warns(CacheWarning, match="No space left"):
            cache.store(b"key", b"payload")
    cache.store(b"another", b"payload")
    assert cache.lookup(b"another") == b"payload"


def test_the_limit_holds_after_every_store(tmp_path):
    cache = Cache(tmp_path / "kept", limit=10_000)
    for k in range(100):
        cache.store(b"%d" % k, bytes(37 * (k % 50)))
        assert sum(path.stat().st_size for path in cache.directory.iterdir()) <= 10_000
        assert cache.lookup(b"%d" % k) is not None
    cache.store(b"too large", bytes(10_000))
    assert cache.lookup(b"too large") is None
    assert Cache(tmp_path / "none", limit=0).store(b"key", b"payload") is None


def test_the_limit_holds_between_processes_but_for_a_part(tmp_path):
    caches = [Cache(tmp_path / "kept", limit=32_000) for _ in range(3)]
    for k in range(300):
        caches[k % 3].store(b"%d" % k, bytes(500))
        assert caches[0].info().bytes <= 32_000 + 3 * 32_000 // 16


def test_many_files_are_counted_by_a_sample_of_them(tmp_path, monkeypatch):
    monkeypatch.setattr(cache_module, "_COUNTED_EXACTLY", 48)
    sizes = np.random.default_rng(0).integers(200, 1800, 300)
    cache = Cache(tmp_path / "kept", limit=100_000)
    for k, size in enumerate(sizes):
        cache.store(b"key%d" % k, bytes(int(size)))
        assert cache.info().bytes <= 1.1 * cache.limit
    assert cache.info().bytes > 60_000
    looked_at = []
    monkeypatch.setattr(os, "lstat", lambda path, lstat=os.lstat: looked_at.append(path) or lstat(path))
    other = Cache(tmp_path / "kept", limit=10_000_000)
    for k in range(40):
        other.store(b"other%d" % k, bytes(100))
    assert other.info().entries > 80
    looked_at.clear()
    other._evict()
    assert len(looked_at) <= 48


def test_a_sample_that_is_high_does_not_have_every_file_looked_at_again(tmp_path, monkeypatch):
    cache = Cache(tmp_path / "kept", limit=1 << 30)
    for k in range(300):
        cache.store(b"key%d" % k, bytes(900))
    monkeypatch.setattr(cache_module, "_COUNTED_EXACTLY", 48)
    counted = cache.info().bytes
    cache.limit = counted * 5 // 4  # the files fill 0.8 of it
    estimate = cache._estimate
    monkeypatch.setattr(cache, "_estimate", lambda names: estimate(names) * 6 // 5)
    looked_at = []
    monkeypatch.setattr(os, "lstat", lambda path, lstat=os.lstat: looked_at.append(path) or lstat(path))
    cache._evict()
    assert len(looked_at) > 300
    looked_at.clear()
    cache._evict()
    assert len(looked_at) <= 48
    assert cache.info().bytes > counted // 2


def test_a_process_that_stores_much_counts_by_what_it_stores(tmp_path, monkeypatch):
    cache = Cache(tmp_path / "kept", limit=1 << 20)
    counts = []
    evict = cache._evict
    monkeypatch.setattr(cache, "_evict", lambda: counts.append(1) or evict())
    for k in range(400):
        cache.store(b"key%d" % k, bytes(400))
    assert 5 <= len(counts) <= 400 * 500 * 64 // (1 << 20) + 1


def test_a_store_seldom_looks_at_what_is_there(tmp_path, monkeypatch):
    for k in range(50):
        Cache(tmp_path / "kept").store(b"key%d" % k, b"payload")
    counts = []
    monkeypatch.setattr(Cache, "_evict", lambda cache: counts.append(1))
    for k in range(160):
        Cache(tmp_path / "kept").store(b"new%d" % k, b"payload")
    assert 0 < len(counts) < 30


def test_a_limit_from_the_environment_holds(monkeypatch):
    monkeypatch.setenv("FUNCGRAD_CACHE_SIZE", "5000")
    for k in range(20):
        store(b"%d" % k, bytes(900))
        assert cache_info().bytes <= cache_info().limit == 5000


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
    outs = [run_script(tmp_path / "cache").communicate(timeout=300) for _ in range(2)]
    assert outs[0][0].split()[:2] == ["True", "0"], outs[0][1]
    assert outs[1][0].split() == ["True", "2", "0", "False", "False"], outs[1][1]


def test_a_missing_home_is_at_most_a_warning(tmp_path):
    process = run_script("", HOME=str(tmp_path / "missing"), XDG_CACHE_HOME="")
    out, err = process.communicate(timeout=300)
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
