"""The LLVM modules that kernels are linked with: vector mathematics, ciphers, calls of NumPy's loops."""

from __future__ import annotations

import re
from collections.abc import Iterator

from funcgrad.compile.language.assembly_functions import outlined_modules
from funcgrad.compile.vecmath.registry import function_assembly

_SYMBOL = re.compile(r"@\"?funcgrad\.(\w+)\.(f32|f64)\b")


def modules_called_by(text: str) -> Iterator[str]:
    """The LLVM modules that define what a module calls, and what those call."""
    yield from outlined_modules(text)
    seen: set[tuple[str, str]] = set()
    texts = [text]
    while texts:
        for name, kind in set(_SYMBOL.findall(texts.pop())):
            if (name, kind) not in seen:
                seen.add((name, kind))
                found = function_assembly(name, kind)
                texts.append(found)
                yield found
