"""Emitted source to a `Binary`: object code with plain C symbols that needs neither Numba nor Python to run.

A kernel is ``def run(p, n)``, a stage of a parallel kernel ``def stage(p, n, begin, end)``. ``p`` is the table of
buffers, ``n`` the table of integers. In C: ``void run(char **p, int64_t *n)``.
"""

from __future__ import annotations

import linecache
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from funcgrad.compile.native.front.translate import translate
from funcgrad.compile.native.front.values import Unsupported
from funcgrad.compile.native.llvm import Loaded, compile_ir, link_object

__all__ = ["FASTMATH", "Binary", "assembly", "build"]

#: The names that source may use without bringing them, beside the views and Python's builtins.
NUMBERS: dict[str, object] = {
    kind.__name__: kind
    for kind in (
        *(np.float32, np.float64, np.complex64, np.complex128, np.intp),
        *(np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64),
    )
}
NUMBERS["math"] = math
NUMBERS["np"] = np

#: Contract and reassociate, never assume that NaN, infinities or signed zeros do not occur.
FASTMATH: frozenset[str] = frozenset({"contract", "reassoc"})


@dataclass(frozen=True, slots=True)
class Binary:
    """Object code, the functions it offers, and the symbols it needs from the process."""

    code: bytes = field(repr=False)
    functions: tuple[str, ...]
    needs: tuple[str, ...]

    def load(self) -> Loaded:
        """Place the code in this process."""
        return link_object(self.code, self.functions)


def build(
    source: str,
    functions: Sequence[str],
    fastmath: frozenset[str] = FASTMATH,
    namespace: Mapping[str, object] | None = None,
    modules: Sequence[str | bytes] = (),
) -> Binary:
    """Compile the named functions of ``source``.

    ``namespace`` holds what the source may use beside the views: intrinsics, Numba functions, constants.
    ``modules`` are LLVM modules (text or bitcode) that define functions which intrinsics call.
    """
    code, needs = compile_ir([*_lowered(source, functions, fastmath, namespace), *modules], functions)
    return Binary(code, tuple(functions), needs)


def assembly(
    source: str,
    functions: Sequence[str],
    fastmath: frozenset[str] = FASTMATH,
    namespace: Mapping[str, object] | None = None,
    modules: Sequence[str | bytes] = (),
) -> str:
    """The assembly text of what `build` would make."""
    lowered = [*_lowered(source, functions, fastmath, namespace), *modules]
    return compile_ir(lowered, functions, assembly=True)[0].decode()


def _lowered(
    source: str, functions: Sequence[str], fastmath: frozenset[str], namespace: Mapping[str, object] | None
) -> list[str | bytes]:
    names = {**NUMBERS, **(namespace or {})}
    try:
        return [translate(source, functions, fastmath, names)]
    except Unsupported:
        return _lowered_by_numba(source, functions, fastmath, names)


def _lowered_by_numba(
    source: str, functions: Sequence[str], fastmath: frozenset[str], namespace: Mapping[str, object]
) -> list[str | bytes]:
    # Numba takes half a second to load.
    from funcgrad.compile.native.lowering import lower  # noqa: PLC0415

    filename = f"<funcgrad {functions[0]}>"
    names: dict[str, object] = {"__name__": "funcgrad.kernels", **namespace}
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    return lower(compile(source, filename, "exec"), functions, names, set(fastmath))
