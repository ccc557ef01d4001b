"""Emitted source to a `Binary`: object code with plain C symbols that needs no Python to run.

A kernel is ``def run(p, n)``, a stage of a parallel kernel ``def stage(p, n, begin, end)``. ``p`` is the
table of buffers, ``n`` the table of integers. In C: ``void run(char **p, int64_t *n)``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from funcgrad.compile.engines.llvm import Loaded, compile_ir, link_object

__all__ = ["FASTMATH", "NUMBERS", "Binary", "assembly", "build", "pack", "unpack"]

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
    engine: str = "direct"
    """What made it of the text."""

    def load(self) -> Loaded:
        """Place the code in this process."""
        return replace(link_object(self.code, self.functions, self._imports()), engine=self.engine)

    def _imports(self) -> dict[str, int]:
        if "funcgrad_parallel" not in self.needs:
            return {}
        from funcgrad.compile.runtime.threads import imports  # noqa: PLC0415 - few kernels need threads

        return imports()


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
    # A process that finds its kernels in the cache needs no front end.
    from funcgrad.compile.engines.direct.translate import translate  # noqa: PLC0415

    return translate(source, functions, fastmath, {**NUMBERS, **(namespace or {})})


def pack(binary: Binary) -> bytes:
    """The bytes of a binary, for the cache."""
    header = "\n".join((" ".join(binary.functions), " ".join(binary.needs), binary.engine)).encode()
    return len(header).to_bytes(4, "little") + header + binary.code


def unpack(payload: bytes) -> Binary:
    """The binary that `pack` made bytes of."""
    start = 4 + int.from_bytes(payload[:4], "little")
    functions, needs, engine = payload[4:start].decode().split("\n")
    return Binary(payload[start:], tuple(functions.split()), tuple(needs.split()), engine)
