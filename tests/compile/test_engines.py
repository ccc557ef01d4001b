"""Two engines make machine code of kernels' text: which is chosen, what is shared, what can be pasted."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import funcgrad as fg
from funcgrad.compile.engines import choice
from funcgrad.compile.engines.choice import engine_by_name, modules_of
from funcgrad.compile.engines.linked_functions import modules_called_by
from funcgrad.compile.engines.llvm import compile_ir
from funcgrad.compile.language import sizes, table
from funcgrad.compile.language.rows import CONSTANTS, WORDS
from funcgrad.compile.language.values import Unsupported
from funcgrad.compile.passes.kernel import Kernel, make_kernel
from funcgrad.compile.passes.rewriting.expand import expand
from funcgrad.compile.runtime.signals import no_signal_words
from funcgrad.transforms.simplify import simplify_program
from tests.scripts import module_at

X = np.linspace(0.1, 2.0, 40)


@pytest.fixture(autouse=True)
def _default_engine() -> Iterator[None]:
    fg.config.engine("direct")
    yield
    fg.config.engine("direct")


def wave(x: Any) -> Any:
    return np.sin(x) * x - np.exp(-x) / (1.0 + x * x)


def total(x: Any) -> Any:
    return np.sum(wave(x))


def stepped(x: Any) -> Any:
    return fg.lax.scan(lambda c, v: (np.cos(c) * v, c), 0.5, x)


def halved(x: Any) -> Any:
    return fg.lax.while_loop(lambda c: np.sum(c) > 1.0, lambda c: 0.5 * c, x)


def products(x: Any) -> Any:
    z = x + 1j * x[::-1]
    return np.abs(z * z / (1.0 + z)), np.outer(x, x) @ x


# -- which one -----------------------------------------------------------------------------------------------


def test_numba_compiles_where_it_is_asked_to(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FUNCGRAD_CACHE_DIR", str(tmp_path))
    direct = fg.jit(wave)(X)
    fg.config.engine("numba")
    assert fg.jit(wave)(X).tobytes() == direct.tobytes()
    assert "by Numba" in str(fg.explain(wave)(X))
    fg.config.engine("direct")
    assert "by Numba" not in str(fg.explain(wave)(X))


def test_numba_multiplies_complex_numbers_of_two_widths_in_one_kernel(monkeypatch) -> None:
    """What it compiles of one function of its own for two types has one name."""
    monkeypatch.setenv("FUNCGRAD_CACHE", "0")

    def both(x: fg.Array, y: fg.Array) -> fg.Array:
        return np.sum(np.abs(x * (1 + 0.5j))) + np.sum(np.abs(np.sin(0.3 * y)) ** 2)

    single = (X[:3] + 1j * X[1:4]).astype(np.complex64)
    direct = fg.jit(both)(X[:3], single)
    fg.config.engine("numba")
    np.testing.assert_allclose(fg.jit(both)(X[:3], single), direct, rtol=1e-6)


def test_an_engine_that_is_not_there_is_an_error(monkeypatch) -> None:
    with pytest.raises(ValueError, match="engines are 'direct' and 'numba', not 'gcc'"):
        fg.config.engine("gcc")  # type: ignore[arg-type]
    monkeypatch.setenv("FUNCGRAD_ENGINE", "gcc")
    with pytest.raises(ValueError, match="FUNCGRAD_ENGINE is 'gcc': engines are 'direct' and 'numba'"):
        fg.jit(lambda x: np.tanh(x) + 0.123)(X)


ONLY_NUMBA = """
def run(p, n):
    out = as_f64(p[0])
    whole, rest = divmod(n[0], 3)
    out[0] = f64(whole * 10 + rest)
"""


def test_what_the_direct_engine_declines_numba_compiles() -> None:
    with pytest.raises(Unsupported):
        engine_by_name("direct")(ONLY_NUMBA, ["run"], frozenset())
    assert modules_of(ONLY_NUMBA, ["run"], frozenset())[0] == "numba"
    with pytest.raises(Unsupported, match="no_such_word"):
        modules_of(ONLY_NUMBA.replace("divmod", "no_such_word"), ["run"], frozenset())


def test_where_the_direct_engine_knows_no_machine_numba_compiles_all(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FUNCGRAD_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(choice, "direct_declines", lambda: "words of this machine are odd")
    found = fg.jit(lambda x: wave(x) * 1.25)(X)
    np.testing.assert_allclose(found, wave(X) * 1.25, rtol=1e-13)
    assert "by Numba" in str(fg.explain(lambda x: wave(x) * 1.25)(X))


SCRIPT = """
import sys, warnings
warnings.simplefilter("error")
import numpy as np, funcgrad as fg
from funcgrad.compile.runtime.binaries import COUNTS
print(fg.jit(fg.grad(lambda x: np.sum(np.sin(x) * x)))(np.linspace(0, 1, 9)).tobytes().hex())
print(COUNTS.built, COUNTS.found, "numba" in sys.modules)
"""


def test_a_warm_start_imports_no_numba_with_either_engine(tmp_path: Path) -> None:
    place = Path(fg.__file__).parent.parent
    found = []
    for engine in ("numba", "numba", "direct", "direct"):
        given = {
            **os.environ,
            "FUNCGRAD_CACHE_DIR": str(tmp_path),
            "PYTHONPATH": str(place),
            "FUNCGRAD_ENGINE": engine,
        }
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env=given,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        found.append(done.stdout.split("\n"))
    assert [lines[1] for lines in found] == ["1 0 True", "0 1 False", "1 0 False", "0 1 False"]
    assert len({lines[0] for lines in found}) == 1


# -- text that is pasted -------------------------------------------------------------------------------------


def kernel_of(f: Callable[..., Any], *args: Any) -> Kernel:
    """The one kernel of a function."""
    return make_kernel(simplify_program(expand(fg.make_program(f)(*args))))


def memory_of(kernel: Kernel, args: tuple[Any, ...]) -> list[np.ndarray]:
    """An array for each slot of the kernel's table."""
    arrays = []
    for buffer in kernel.buffers:
        if buffer.role == "input":
            arrays.append(np.array(args[buffer.source], buffer.dtype))
        elif buffer.role == "captured":
            arrays.append(np.array(buffer.source, buffer.dtype))
        elif buffer.role == "signals":
            arrays.append(no_signal_words())
        else:
            arrays.append(np.zeros(max(buffer.size, 1), buffer.dtype))
    return arrays


def outputs_of(kernel: Kernel, arrays: list[np.ndarray]) -> list[np.ndarray]:
    found = {b.source: x for b, x in zip(kernel.buffers, arrays, strict=True) if b.role == "output"}
    return [found[k] for k in sorted(found)]


CASES = {
    "elements": (wave, X),
    "gradient": (fg.grad(total), X),
    "scan": (stepped, X),
    "its gradient": (fg.grad(lambda x: np.sum(stepped(x)[1])), X),
    "while": (halved, X),
    "complex and matrices": (products, X),
    "threads": (fg.grad(total), np.linspace(0.0, 1.0, 100_000)),
    "indices": (lambda x: np.take(x, np.array([3, 1, 39])) + np.cumsum(x)[:3], X),
}


DECORATORS = ("numba.njit", 'numba.njit(error_model="numpy", fastmath={"contract"})')


@pytest.mark.parametrize("decorated", DECORATORS)
@pytest.mark.parametrize("case", CASES)
def test_a_kernels_text_in_a_file_of_its_own_computes_the_same(
    case: str, decorated: str, tmp_path: Path
) -> None:
    f, x = CASES[case]
    kernel = kernel_of(f, x)
    assert kernel.source == str(fg.jit(f).kernel_source(x)) or case == "threads"
    text = re.sub(r"^def ", f"@{decorated}\ndef ", kernel.source, flags=re.MULTILINE)
    path = tmp_path / "pasted.py"
    path.write_text(f"import numba\nfrom funcgrad.compile.language import *\n\n\n{text}")
    module = module_at(path, "pasted")
    arrays = memory_of(kernel, (x,))
    getattr(module, kernel.name)(table(*arrays), sizes(*kernel.sizes))
    expected = fg.jit(f)(x)
    for mine, wanted in zip(outputs_of(kernel, arrays), fg.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(mine.reshape(np.shape(wanted)), wanted, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("case", [case for case in CASES if case != "threads"])
def test_python_runs_a_kernels_text(case: str) -> None:
    f, x = CASES[case]
    kernel = kernel_of(f, x)
    names: dict[str, Any] = {**CONSTANTS, **{name: word.python for name, word in WORDS.items()}}
    exec(kernel.source, names)
    arrays = memory_of(kernel, (x,))
    with np.errstate(all="ignore"):
        names[kernel.name](table(*arrays), sizes(*kernel.sizes))
    for mine, wanted in zip(outputs_of(kernel, arrays), fg.tree.leaves(fg.jit(f)(x)), strict=True):
        np.testing.assert_allclose(mine.reshape(np.shape(wanted)), wanted, rtol=1e-12, atol=1e-14)


@pytest.mark.skipif(platform.machine().lower() not in ("x86_64", "amd64"), reason="reads x86 assembly")
@pytest.mark.parametrize("engine", ["direct", "numba"])
def test_loops_of_either_engine_compute_several_elements_at_once(engine: str) -> None:
    kernel = kernel_of(wave, X)
    modules = engine_by_name(engine)(kernel.code, kernel.functions, frozenset({"contract"}))
    texts = "\n".join([module for module in modules if isinstance(module, str)])
    code, _ = compile_ir([*modules, *modules_called_by(texts)], kernel.functions, assembly=True)
    assert re.search(rb"\bv?(mul|fmadd\d+)pd\b", code)
    assert re.search(rb"\bv?divpd\b", code)
    # Scopes say that arrays do not overlap: nothing compares their addresses to choose a loop.
    assert code.count(b"divsd") <= 2
