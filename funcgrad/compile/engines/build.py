"""Emitted source to a `Binary`: object code with plain C symbols that needs no Python to run.

A kernel is ``def run(p, n)``, a stage of a parallel kernel ``def stage(p, n, begin, end)``. ``p`` is the
table of buffers, ``n`` the table of integers. In C: ``void run(char **p, int64_t *n)``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from funcgrad.compile.engines.binary import Binary
from funcgrad.compile.engines.direct.translate import translate
from funcgrad.compile.engines.llvm import compile_ir

__all__ = ["FASTMATH", "NUMBERS", "assembly", "build", "translate"]

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


def build(
    source: str,
    functions: Sequence[str],
    fastmath: frozenset[str] = FASTMATH,
    namespace: Mapping[str, object] | None = None,
    modules: Sequence[str | bytes] = (),
) -> Binary:
    """Compile the named functions of ``source``, or raise `Unsupported` for what is outside the subset.

    ``namespace`` holds what the source may use beside the views: `External` functions, NumPy's, constants.
    ``modules`` are LLVM modules (text or bitcode) that define functions which the source calls.
    """
    text = _translated(source, functions, fastmath, namespace)
    code, needs = compile_ir([text, *modules], functions)
    return Binary(code, tuple(functions), needs)


def assembly(
    source: str,
    functions: Sequence[str],
    fastmath: frozenset[str] = FASTMATH,
    namespace: Mapping[str, object] | None = None,
    modules: Sequence[str | bytes] = (),
) -> str:
    """The assembly text of what `build` would make."""
    text = _translated(source, functions, fastmath, namespace)
    return compile_ir([text, *modules], functions, assembly=True)[0].decode()


def _translated(
    source: str, functions: Sequence[str], fastmath: frozenset[str], namespace: Mapping[str, object] | None
) -> str:
    return translate(source, functions, fastmath, {**NUMBERS, **(namespace or {})})
