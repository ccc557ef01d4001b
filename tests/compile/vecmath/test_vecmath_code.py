"""What LLVM makes of the vector mathematics: packed instructions, and little work for the compiler."""

from __future__ import annotations

import platform
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from funcgrad.compile.engines import build
from funcgrad.compile.engines.build import FASTMATH, NUMBERS, translate
from funcgrad.compile.engines.linked_functions import modules_called_by
from funcgrad.compile.vecmath.registry import FUNCTIONS, function_assembly, function_symbol

x86 = pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="the registers of x86-64")


def widest() -> str:
    """The widest vector registers that LLVM uses on this processor."""
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features()
    if features.get("avx512f") and features.get("avx512vl"):
        return "zmm" if not features.get("prefer-256-bit") else "ymm"
    return "ymm" if features.get("avx2") else "xmm"


@x86
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", [n for n, (module, _) in FUNCTIONS.items() if module != "complexes"])
@pytest.mark.at_length
def test_loops_are_vectorised(name: str, dtype: str, loop: Any) -> None:
    if widest() == "xmm":
        pytest.skip("no fused multiplication, and vectors of two")
    assembly = next(iter(loop(name, dtype).inspect_asm().values()))
    # Some processors of Intel are told to prefer half of their width.
    register = "%[yz]mm" if widest() == "zmm" else "%ymm"
    operation = r"f(?:n?m)(?:add|sub)\w+p[sd]"
    if FUNCTIONS[name][0] == "remainders":
        operation = r"(?:mul|div|add|sub|rndscale|cmp|and)\w*"
    packed = re.findall(rf"\tv{operation}\t.*{register}", assembly)
    assert len(packed) >= 2


def test_pointers_are_vectorised_too() -> None:
    import numba

    from funcgrad.compile.vecmath import VECTOR_MATH

    tanh, pointer = VECTOR_MATH["tanh"], numba.types.CPointer(numba.types.float64)

    @numba.njit(numba.types.void(pointer, pointer, numba.types.int64))
    def kernel(x: Any, y: Any, n: int) -> None:
        for i in range(n):
            y[i] = tanh(x[i])

    text = next(iter(kernel.inspect_llvm().values()))
    assert re.search(r"<\d+ x double> @llvm\.fma", text)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_the_assembly_is_valid_and_defines_the_function(name: str, kind: str) -> None:
    import llvmlite.binding as llvm

    module = llvm.parse_assembly(function_assembly(name, kind))
    module.verify()
    assert not module.get_function(function_symbol(name, kind)).is_declaration


def test_no_function_of_the_c_library_is_called() -> None:
    declared = re.compile(r"^declare \S+ @(?!llvm\.)", re.M)
    assert not [name for name in FUNCTIONS if declared.search(function_assembly(name, "f64"))]


def test_no_instruction_has_fast_math_flags() -> None:
    words = re.compile(r"\b(fast|nnan|ninf|nsz|arcp|contract|afn|reassoc)\b")
    assert not [name for name in FUNCTIONS if words.search(function_assembly(name, "f64"))]


def test_the_registry_imports_no_numba() -> None:
    code = "import sys; import funcgrad.compile.vecmath.registry as r; r.function_assembly('exp', 'f64')"
    check = f"{code}; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0


def test_functions_refuse_mixed_types() -> None:
    import numba

    from funcgrad.compile.vecmath import VECTOR_MATH

    pow = VECTOR_MATH["pow"]

    @numba.njit
    def mixed(x: Any, y: Any) -> Any:
        return pow(x, y)

    assert mixed(2.0, 3.0) == 8.0
    with pytest.raises(numba.TypingError):
        mixed(np.float32(2), 3.0)


def test_what_mends_numbers_is_inlined_and_what_mends_vectors_called() -> None:
    head = ["def run(p, n):", "    x = as_f64(p[0])", "    y = as_f64(p[1])", "    a = x[0]"]

    def called(*lines: str) -> set[str]:
        source = "\n".join([*head, "    for i in range(n[0]):", *[f"        {line}" for line in lines]])
        modules = list(modules_called_by(translate(source, ["run"], FASTMATH, NUMBERS)))
        text = build.assembly(source, ["run"], FASTMATH, NUMBERS, modules)
        return set(re.findall(r'\b(?:callq?|bl)\s+"?(funcgrad\.[\w.]+)', text))

    assert called("a = sin(a) + x[i]", "y[i] = a") == {"funcgrad.mended.sine.double.all"}
    # What vectors leave over calls the one for numbers: inlined there it would make compilations longer.
    lanes = {name.rpartition(".")[2] for name in called("y[i] = sin(x[i])")} - {"all", "double"}
    assert lanes
    assert all(map(str.isdigit, lanes)), lanes
